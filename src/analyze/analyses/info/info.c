/*
 * What a file contains, and every count of what was kept, lost, repaired or skipped: events of each kind and the bytes
 * they take, processes, devices. Of a recording also its streams, threads, blocks and how good its clock is.
 */
#include "analyze/analyses/info/info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/format_number.h"
#include "format/recording/file.h"

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

/* What belongs together in the eyes of a person: sections [first, last]. */
static const struct {
	const char *name;
	index_kind first, last;
	index_kind rows; /* the section whose rows are counted */
} parts[] = {
	{ "slices", SECTION_BLOCKS, SECTION_SLICES, SECTION_SLICES },
	{ "summaries of slices", SECTION_FINE, SECTION_FINE, SECTION_FINE },
	{ "coarse summaries", SECTION_COARSE, SECTION_COARSE, SECTION_COARSE },
	{ "lanes", SECTION_LANES, SECTION_LANES, SECTION_LANES },
	{ "tracks", SECTION_TRACKS, SECTION_TRACKS, SECTION_TRACKS },
	{ "processes", SECTION_PROCESSES, SECTION_PROCESSES, SECTION_PROCESSES },
	{ "names with category", SECTION_SITES, SECTION_SITES, SECTION_SITES },
	{ "steps", SECTION_STEPS, SECTION_STEPS, SECTION_STEPS },
	{ "instants", SECTION_INSTANT_BLOCKS, SECTION_INSTANTS, SECTION_INSTANTS },
	{ "flow points", SECTION_FLOW_BLOCKS, SECTION_FLOWS, SECTION_FLOWS },
	{ "launches", SECTION_LAUNCH_BLOCKS, SECTION_LAUNCHES, SECTION_LAUNCHES },
	{ "allocations", SECTION_ALLOCATION_BLOCKS, SECTION_ALLOCATIONS, SECTION_ALLOCATIONS },
	{ "counters", SECTION_COUNTERS, SECTION_COUNTERS, SECTION_COUNTERS },
	{ "counter values", SECTION_VALUE_BLOCKS, SECTION_VALUES, SECTION_VALUES },
	{ "samples", SECTION_SAMPLE_BLOCKS, SECTION_SAMPLES, SECTION_SAMPLES },
	{ "arguments", SECTION_ARG_BLOCKS, SECTION_ARGS, SECTION_ARGS },
	{ "forms of arguments", SECTION_TEMPLATES, SECTION_TEMPLATES, SECTION_TEMPLATES },
	{ "texts of arguments", SECTION_ARG_TEXTS, SECTION_ARG_TEXT_BYTES, SECTION_ARG_TEXTS },
	{ "strings", SECTION_STRINGS, SECTION_STRING_BYTES, SECTION_STRINGS },
	{ "metadata", SECTION_META, SECTION_META, SECTION_META },
	{ "diagnostics", SECTION_DIAGNOSTICS, SECTION_DIAGNOSTICS, SECTION_DIAGNOSTICS },
};

static const column part_columns[] = {
	{ "holds", "holds", CELL_STRING, 0, false },
	{ "count", "count", CELL_COUNT, 0, false },
	{ "bytes", "bytes", CELL_BYTES, 0, false },
	{ "bytes_per_event", "per event", CELL_NUMBER, 0, false },
};

/* Where the sections are was checked when the index was opened. */
static uint64_t section_bytes(const sonde_index *ix, index_kind first, index_kind last)
{
	size_t len;
	const uint8_t *bytes = index_bytes(ix, &len);
	index_header h;
	uint64_t sum = 0;

	memcpy(&h, bytes, sizeof h);
	for (uint32_t i = 0; i < h.n_sections; i++) {
		index_section s;
		memcpy(&s, bytes + sizeof h + i * sizeof s, sizeof s);
		if (s.kind >= (uint32_t)first && s.kind <= (uint32_t)last)
			sum += s.length;
	}
	return sum;
}

static void add_parts(sonde_result *r, const sonde_index *ix, uint64_t n_events)
{
	table *t = result_table(r, "holds", NULL, part_columns, sizeof part_columns / sizeof part_columns[0]);

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		uint64_t bytes = section_bytes(ix, parts[i].first, parts[i].last);
		uint64_t n = index_n_rows(ix, parts[i].rows);
		bool counted = parts[i].rows != SECTION_TEMPLATES;
		if (counted ? !n : !bytes)
			continue;
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(parts[i].name);
		c[1] = counted ? cell_count(n) : cell_unknown();
		c[2] = cell_bytes(bytes);
		if (bytes > n_events / 200) /* less is noise */
			c[3] = cell_number((double)bytes / (double)n_events);
	}
}

/* ---- Processes and devices --------------------------------------------------------------------------------------- */

static const column process_columns[] = {
	{ "process", "process", CELL_STRING, 0, false },    { "pid", "pid", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 0, false },	    { "device", "device", CELL_INTEGER, 1, false },
	{ "n_threads", "threads", CELL_COUNT, 0, false },   { "n_streams", "streams", CELL_COUNT, 0, false },
	{ "n_lanes", "lanes", CELL_COUNT, 2, false },	    { "n_slices", "slices", CELL_COUNT, 0, false },
	{ "n_counters", "counters", CELL_COUNT, 2, false },
};

typedef struct process_counts {
	uint64_t n_threads, n_streams, n_lanes, n_slices, n_counters;
} process_counts;

static process_counts *count_processes(const sonde_index *ix, size_t n)
{
	size_t n_tracks, n_counters;
	const index_track *tracks = index_tracks(ix, &n_tracks);
	const index_counter *counters = index_counters(ix, &n_counters);
	process_counts *counts = calloc(n + 1, sizeof *counts);

	for (size_t i = 0; counts && i < n_tracks; i++) {
		process_counts *c = &counts[tracks[i].process];
		c->n_threads += tracks[i].kind == TRACK_THREAD;
		c->n_streams += tracks[i].kind == TRACK_STREAM;
		c->n_lanes += tracks[i].n_lanes;
		c->n_slices += tracks[i].n_slices;
	}
	for (size_t i = 0; counts && i < n_counters; i++)
		counts[tracks[counters[i].track].process].n_counters++;
	return counts;
}

static const char *process_name(sonde_result *r, const sonde_index *ix, const index_process *p)
{
	const char *name = index_text(ix, p->name), *labels = index_text(ix, p->labels);

	if (!*name && !*labels)
		return NULL;
	return result_format(r, "%s%s%s", name, *name && *labels ? ", " : "", labels);
}

static void put_process(sonde_result *r, table *t, const sonde_index *ix, const index_process *p,
			const process_counts *counts)
{
	cell *c = table_row(r, t, 0);

	c[0] = cell_string(process_name(r, ix, p));
	c[1] = cell_string(p->pid_text != INDEX_NONE ? result_string(r, index_text(ix, p->pid_text))
						     : result_format(r, "%" PRId64, p->pid));
	c[2] = p->rank >= 0 ? cell_integer(p->rank) : cell_unknown();
	c[3] = p->device >= 0 ? cell_integer(p->device) : cell_unknown();
	c[4] = cell_count(counts->n_threads);
	c[5] = cell_count(counts->n_streams);
	c[6] = cell_count(counts->n_lanes);
	c[7] = cell_count(counts->n_slices);
	c[8] = cell_count(counts->n_counters);
}

static sonde_status add_processes(sonde_result *r, const sonde_trace *trace, sonde_error *err)
{
	enum { MOST = 10000, SHOWN = 20 };
	const sonde_index *ix = trace->index;
	size_t n;
	const index_process *processes = index_processes(ix, &n);
	process_counts *counts = count_processes(ix, n);

	if (!counts)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	table *t =
		result_table(r, "processes", NULL, process_columns, sizeof process_columns / sizeof process_columns[0]);
	size_t n_busy = 0;
	for (int pass = 0; pass < 2; pass++) /* those that do something come first */
		for (size_t i = 0; i < n && i < MOST; i++) {
			bool is_busy = counts[i].n_slices || counts[i].n_counters;
			if (is_busy == (pass == 0))
				put_process(r, t, ix, &processes[i], &counts[i]);
			n_busy += is_busy && pass == 0;
		}
	free(counts);
	if (t && t->n_rows > n_busy) {
		t->n_shown = n_busy;
		t->more = result_format(r, "%zu more without slices: --json has them", t->n_rows - n_busy);
	}
	if (t && t->n_shown > SHOWN && t->n_rows > SHOWN) {
		t->n_shown = SHOWN;
		t->more = result_format(r, "%zu more processes: --json has them", t->n_rows - SHOWN);
	}
	return SONDE_OK;
}

static const column device_columns[] = {
	{ "device", "device", CELL_INTEGER, 0, false },	   { "name", "name", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 1, false },	   { "memory_bytes", "memory", CELL_BYTES, 0, false },
	{ "n_sms", "processors", CELL_INTEGER, 1, false }, { "compute", "compute", CELL_STRING, 2, false },
};

static void add_device(sonde_result *r, table *t, const sonde_index *ix, const index_device *d)
{
	cell *c = table_row(r, t, 0);

	c[0] = d->id >= 0 ? cell_integer(d->id) : cell_unknown();
	if (d->name != INDEX_NONE)
		c[1] = cell_string(result_string(r, index_text(ix, d->name)));
	c[2] = d->rank >= 0 ? cell_integer(d->rank) : cell_unknown();
	c[3] = d->memory_bytes >= 0 ? cell_bytes((uint64_t)d->memory_bytes) : cell_unknown();
	c[4] = d->n_sms >= 0 ? cell_integer(d->n_sms) : cell_unknown();
	if (d->compute_major >= 0 && d->compute_minor >= 0)
		c[5] = cell_string(result_format(r, "%" PRId32 ".%" PRId32, d->compute_major, d->compute_minor));
}

static void add_devices(sonde_result *r, const sonde_index *ix)
{
	enum { MOST = 4096, SHOWN = 8 };
	size_t n;
	const index_device *devices = index_devices(ix, &n);
	table *t =
		n ? result_table(r, "devices", NULL, device_columns, sizeof device_columns / sizeof device_columns[0])
		  : NULL;

	for (size_t i = 0; t && i < n && i < MOST; i++)
		add_device(r, t, ix, &devices[i]);
	if (t && t->n_rows > SHOWN) {
		t->n_shown = SHOWN;
		t->more = result_format(r, "%zu more devices: --json has them", t->n_rows - SHOWN);
	}
}

/* ---- The rest ---------------------------------------------------------------------------------------------------- */

static const column meta_columns[] = {
	{ "key", "key", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "value", "value", CELL_STRING, 0, false },
};

/* For programs; people get the names. */
static void add_meta(sonde_result *r, const sonde_index *ix)
{
	enum { MOST = 1000, LONGEST = 4096 };
	size_t n, len;
	const index_meta *metas = index_metas(ix, &n);
	const char *names = "";
	table *t = n ? result_table(r, "meta", NULL, meta_columns, sizeof meta_columns / sizeof meta_columns[0]) : NULL;

	for (size_t i = 0; i < n && i < MOST && names; i++) {
		const char *key = result_string(r, index_text(ix, metas[i].key));
		const char *value = index_textn(ix, metas[i].value, &len);
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(key);
		c[1] = metas[i].rank >= 0 ? cell_integer(metas[i].rank) : cell_unknown();
		c[2] = len <= LONGEST ? cell_string(result_string(r, value)) : cell_unknown();
		bool ours = key && strncmp(key, "sonde.", 6) == 0, again = false;
		for (size_t k = 0; k < i && !again; k++)
			again = metas[k].key == metas[i].key;
		if (!ours && !again && strlen(names) < LONGEST)
			names = result_format(r, "%s%s%s", names, *names ? ", " : "", key ? key : "");
	}
	if (t)
		t->n_shown = 0;
	if (names && *names)
		result_note_add(r, "metadata", "%s", names);
}

static void add_origin(sonde_result *r, const sonde_trace *trace)
{
	static const char *const clocks[] = { "trace", "epoch", "monotonic" };
	static const char *const texts[] = { "zero is known only to the traced program", "nanoseconds since 1970",
					     "CLOCK_MONOTONIC of the machine" };
	index_clock clock = index_clock_of(trace->index);
	const char *file;
	int32_t rank;

	result_add(r, "clock", cell_string(clocks[clock]));
	result_add(r, "start_ns", cell_integer(trace->start_ns));
	result_note_add(r, "clock", "%s", texts[clock]);
	for (size_t i = 0; i < 16 && sonde_trace_rank(trace, i, &rank, &file); i++)
		result_note_add(r, "rank", "%" PRId32 " from %s", rank, file);
}

/* Bytes of an event: of a recording in its blocks, otherwise in the index. */
static double event_size(const sonde_trace *trace, uint64_t n_events, size_t index_len)
{
	uint64_t bytes = trace->recording ? trace->recording->event_bytes : index_len;

	return n_events ? (double)bytes / (double)n_events : 0;
}

static void add_totals(sonde_result *r, const sonde_trace *trace, const trace_counts *c)
{
	size_t len, file_bytes = 0;
	char size[NUMBER_TEXT], each[NUMBER_TEXT], index[NUMBER_TEXT];
	bool is_recording = trace->recording != NULL;
	int version = is_recording ? FORMAT_VERSION : INDEX_VERSION;
	uint64_t n_events = is_recording ? c->n_events - c->n_lost : c->n_events;

	index_bytes(trace->index, &len);
	for (size_t i = 0; i < trace->files.n; i++)
		file_bytes += trace->files.items[i].len;
	double per_event = event_size(trace, n_events, len);
	result_headline(r, "%s   %s %d   %s   %s%s%s%s", trace_title(trace), is_recording ? "format" : "index", version,
			format_bytes(size, file_bytes ? file_bytes : len),
			result_counted(r, n_events, "event", "events"), per_event > 0 ? "   " : "",
			per_event > 0 ? format_number(each, per_event) : "", per_event > 0 ? " bytes each" : "");
	result_add(r, "file", cell_string(result_string(r, trace_title(trace))));
	result_add(r, "n_files", cell_count(trace->files.n));
	if (is_recording)
		result_add(r, "format_version", cell_integer(FORMAT_VERSION));
	result_add(r, "index_version", cell_integer(INDEX_VERSION));
	result_add(r, "file_bytes", file_bytes ? cell_bytes(file_bytes) : cell_unknown());
	result_add(r, "index_bytes", cell_bytes(len));
	if (n_events)
		result_add(r, "bytes_per_event", cell_number(per_event));
	result_add(r, "duration_ns", cell_ns(trace->end_ns - trace->start_ns));
	result_add(r, "n_ranks", cell_count(c->n_ranks));
	result_add(r, "n_processes", cell_count(c->n_processes));
	result_add(r, "n_threads", cell_count(c->n_threads));
	result_add(r, "n_streams", cell_count(c->n_streams));
	result_note_add(r, "size", "%s as an index", format_bytes(index, len));
}

static void add_events(sonde_result *r, const sonde_index *ix)
{
	static const struct {
		const char *key;
		index_kind kind;
	} counts[] = {
		{ "n_slices", SECTION_SLICES },
		{ "n_instants", SECTION_INSTANTS },
		{ "n_flow_points", SECTION_FLOWS },
		{ "n_launches", SECTION_LAUNCHES },
		{ "n_allocations", SECTION_ALLOCATIONS },
		{ "n_counters", SECTION_COUNTERS },
		{ "n_counter_values", SECTION_VALUES },
		{ "n_samples", SECTION_SAMPLES },
		{ "n_steps", SECTION_STEPS },
		{ "n_lanes", SECTION_LANES },
		{ "n_tracks", SECTION_TRACKS },
		{ "n_names", SECTION_SITES },
		{ "n_strings", SECTION_STRINGS },
		{ "n_args", SECTION_ARGS },
	};

	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		result_add(r, counts[i].key, cell_count(index_n_rows(ix, counts[i].kind)));
}

/* Reads everything once: that is what `info` is for. */
static void add_checksums(sonde_result *r, const sonde_index *ix)
{
	bool whole = index_verify(ix, NULL) == SONDE_OK;

	result_add(r, "checksums_ok", cell_bool(whole));
	if (whole) /* result_note_losses() says what is damaged */
		result_note_add(r, "checksums", "right");
}

/* Reads as much as the checksums of an index do. */
static sonde_status info_run(const sonde_trace *trace, const sonde_analyze_options *o, sonde_result *r,
			     sonde_error *err)
{
	trace_counts c = trace_count(trace);
	const walk_sink nothing = { 0 };
	walk_counts counts;

	(void)o;
	sonde_status status = trace_walk(trace, &nothing, &counts, err);
	if (status)
		return status;
	add_totals(r, trace, &c);
	if (trace->recording) {
		info_add_streams(r, trace->recording);
		info_add_threads(r, trace->recording);
		info_add_blocks(r, trace->recording);
	}
	add_parts(r, trace->index, c.n_events);
	status = add_processes(r, trace, err);
	if (status)
		return status;
	add_devices(r, trace->index);
	result_add_diagnostics(r, trace);
	add_events(r, trace->index);
	add_origin(r, trace);
	add_meta(r, trace->index);
	result_add_losses(r, trace, &counts);
	add_checksums(r, trace->index);
	return SONDE_OK;
}

const analysis info_analysis = {
	.name = "info",
	.summary = "Contents of a file, and lost or repaired events",
	.about_file = true,
	.run = info_run,
};
