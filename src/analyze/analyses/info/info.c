/* What a file contains: streams, blocks, clock quality, and every count of what was kept, lost, repaired or skipped. */
#include "analyze/analysis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/tables/imported.h"
#include "base/error.h"
#include "base/format_number.h"

static const char *const states[] = { "open", "closed", "recovered" };
static const char *const clocks[] = { "tsc", "monotonic", "cntvct" };
static const char *const policies[] = { "block", "overwrite", "drop" };
static const char *const kinds[] = { "?",    "stream",	"names",   "clock",   "events",
				     "meta", "process", "samples", "modules", "samples" };
_Static_assert(sizeof kinds / sizeof kinds[0] == BLOCK_KINDS, "each has a name");

#define NAME_OF(list, i) ((i) < sizeof(list) / sizeof(list)[0] ? (list)[i] : "?")

static const column stream_columns[] = {
	{ "program", "process", CELL_STRING, 0, false },
	{ "pid", "pid", CELL_INTEGER, 0, false },
	{ "state", "state", CELL_STRING, 0, false },
	{ "n_events", "events", CELL_COUNT, 0, false },
	{ "n_lost", "lost", CELL_COUNT, 0, false },
	{ "clock", "clock", CELL_STRING, 1, false },
	{ "tick_ns", "ns per tick", CELL_NUMBER, 2, false },
	{ "n_clock_pairs", "pairs", CELL_COUNT, 2, false },
	{ "clock_error_ns", "clock error", CELL_NS, 1, false },
	{ "ring_bytes", "ring", CELL_BYTES, 3, false },
	{ "full", "when full", CELL_STRING, 4, false },
	{ "writer", "sonde", CELL_STRING, 3, false },
	{ "host", "host", CELL_STRING, 5, false },
	{ "role", "role", CELL_STRING, 6, false },
};

static uint64_t events_of(const sonde_trace *trace, size_t stream)
{
	uint64_t n = 0;

	for (size_t i = 0; i < trace->blocks.n; i++)
		if (trace->blocks.items[i].stream == stream)
			n += trace->blocks.items[i].n_events;
	return n;
}

/* Half the widest bracket: how far a time stamp may be off, apart from the straight lines between the pairs. */
static int64_t clock_error(const trace_stream *s)
{
	uint64_t widest = 0;

	for (size_t i = 0; i < s->pairs.n; i++)
		widest = s->pairs.items[i].error_ticks > widest ? s->pairs.items[i].error_ticks : widest;
	double ns = (double)widest * s->tick_ns / 2 + 0.5;
	return ns < (double)TRACE_NS_MAX ? (int64_t)ns : TRACE_NS_MAX;
}

static void add_streams(sonde_result *r, const sonde_trace *trace)
{
	enum { MOST = 1000 };
	table *t = result_table(r, "streams", NULL, stream_columns, sizeof stream_columns / sizeof stream_columns[0]);

	for (size_t i = 0; i < trace->streams.n && i < MOST; i++) {
		const trace_stream *s = &trace->streams.items[i];
		const stream_block *info = &s->info;
		cell *c = table_row(r, t, 0);
		c[3] = cell_count(events_of(trace, i));
		if (!s->has_info)
			continue;
		c[0] = cell_string(result_string(r, info->program));
		c[1] = cell_integer(info->pid);
		c[2] = cell_string(s->live && info->state == STREAM_OPEN ? "running" : NAME_OF(states, info->state));
		c[4] = cell_count(info->n_lost_full + info->n_lost_overwritten + info->n_lost_signal + info->n_lost_io);
		c[12] = cell_string(result_string(r, info->host));
		c[11] = cell_string(result_string(r, info->writer));
		c[13] = cell_string(info->role == ROLE_OBSERVER ? "observer" : "program");
		if (info->role == ROLE_OBSERVER)
			continue;
		c[5] = cell_string(NAME_OF(clocks, info->clock));
		c[6] = s->tick_ns > 0 ? cell_number(s->tick_ns) : cell_unknown();
		c[7] = cell_count(s->pairs.n);
		c[8] = s->tick_ns > 0 ? cell_ns(clock_error(s)) : cell_unknown();
		c[9] = cell_bytes(info->ring_bytes);
		c[10] = cell_string(NAME_OF(policies, info->full));
	}
}

static const column thread_columns[] = {
	{ "thread", "thread", CELL_STRING, 0, false },
	{ "tid", "tid", CELL_INTEGER, 0, false },
	{ "pid", "pid", CELL_INTEGER, 1, false },
	{ "n_events", "events", CELL_COUNT, 0, false },
	{ "n_lost_full", "lost, ring full", CELL_COUNT, 0, false },
};

/* For people only the threads that lost something. */
static void add_threads(sonde_result *r, const sonde_trace *trace)
{
	enum { MOST = 10000 };
	table *t = result_table(r, "threads", NULL, thread_columns, sizeof thread_columns / sizeof thread_columns[0]);
	uint64_t n_lost_by_all = 0;

	for (size_t i = 0; i < trace->threads.n && i < MOST; i++) {
		const trace_thread *thread = &trace->threads.items[i];
		const trace_block *blocks = &trace->blocks.items[thread->first_block];
		uint64_t n_events = 0, n_lost = 0;
		for (size_t k = 0; k < thread->n_blocks; k++) {
			n_events += blocks[k].n_events;
			n_lost = blocks[k].head.n_lost > n_lost ? blocks[k].head.n_lost : n_lost;
		}
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(*thread->name ? result_string(r, thread->name) : NULL);
		c[1] = cell_integer(thread->tid);
		c[2] = cell_integer(trace->streams.items[thread->stream].info.pid);
		c[3] = cell_count(n_events);
		c[4] = cell_count(n_lost);
		n_lost_by_all += n_lost;
	}
	if (t)
		t->n_shown = n_lost_by_all ? 20 : 0;
}

static const column block_columns[] = {
	{ "kind", "blocks", CELL_STRING, 0, false },
	{ "n_blocks", "count", CELL_COUNT, 0, false },
	{ "bytes", "bytes", CELL_BYTES, 0, false },
};

static uint64_t add_blocks(sonde_result *r, const sonde_trace *trace)
{
	table *t = result_table(r, "blocks", NULL, block_columns, sizeof block_columns / sizeof block_columns[0]);

	for (size_t i = 1; i < BLOCK_KINDS; i++) {
		if (!trace->n_blocks_of[i])
			continue;
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(NAME_OF(kinds, i));
		c[1] = cell_count(trace->n_blocks_of[i]);
		c[2] = cell_bytes(trace->bytes_of[i]);
	}
	if (trace->index_bytes) {
		cell *c = table_row(r, t, 0);
		c[0] = cell_string("index");
		c[1] = cell_count(1);
		c[2] = cell_bytes(trace->index_bytes);
	}
	return trace->bytes_of[BLOCK_EVENTS];
}

static void add_events(sonde_result *r, const walk_counts *counts)
{
	result_add(r, "n_slices", cell_count(counts->n_slices));
	result_add(r, "n_instants", cell_count(counts->n_instants));
	result_add(r, "n_counter_values", cell_count(counts->n_counters));
	result_add(r, "n_flow_ends", cell_count(counts->n_flows));
	result_add(r, "n_memory_events", cell_count(counts->n_memory));
	result_add(r, "n_device_slices", cell_count(counts->n_device));
	result_note_add(
		r, "holds", "%s, %s, %s, %s, %s, %s", result_counted(r, counts->n_slices, "slices"),
		result_counted(r, counts->n_instants, "marks"), result_counted(r, counts->n_counters, "counter values"),
		result_counted(r, counts->n_flows, "flow ends"), result_counted(r, counts->n_memory, "memory events"),
		result_counted(r, counts->n_device, "device slices"));
}

static sonde_status info_run(const sonde_trace *trace, const sonde_analyze_options *o, sonde_result *r,
			     sonde_error *err)
{
	walk_sink sink = { 0 };
	walk_counts counts;
	char bytes[NUMBER_TEXT], each[NUMBER_TEXT];
	size_t size = 0;

	(void)o;
	if (trace_is_imported(trace))
		return info_run_imported(trace, r, err);
	sonde_status status = trace_walk(trace, &sink, &counts, err);
	if (status)
		return status;
	for (size_t i = 0; i < trace->files.n; i++)
		size += trace->files.items[i].len;
	result_add(r, "file", cell_string(result_string(r, trace_title(trace))));
	result_add(r, "format_version", cell_integer(FORMAT_VERSION));
	result_add(r, "file_bytes", cell_bytes(size));
	result_add(r, "duration_ns", cell_ns(trace->end_ns - trace->start_ns));
	result_add(r, "n_threads", cell_count(trace->threads.n));
	add_streams(r, trace);
	add_threads(r, trace);
	uint64_t event_bytes = add_blocks(r, trace);
	double per_event = trace->diagnostics.n_kept ? (double)event_bytes / (double)trace->diagnostics.n_kept : 0;
	if (trace->diagnostics.n_kept)
		result_add(r, "bytes_per_event", cell_number(per_event));
	result_headline(r, "%s   format %d   %s   %s%s%s%s", trace_title(trace), FORMAT_VERSION,
			format_bytes(bytes, size), result_counted(r, trace->diagnostics.n_kept, "events"),
			per_event > 0 ? "   " : "", per_event > 0 ? format_number(each, per_event) : "",
			per_event > 0 ? " bytes each" : "");
	add_events(r, &counts);
	result_add_losses(r, trace, &counts);
	return SONDE_OK;
}

const analysis info_analysis = {
	.name = "info",
	.summary = "What a file contains and what is missing from it",
	.about_file = true,
	.run = info_run,
};
