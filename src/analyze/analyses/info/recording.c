/* The file of a recording, beside its index. See info.c. */
#include "analyze/analyses/info/info.h"

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

void info_add_streams(sonde_result *r, const recording_facts *f)
{
	enum { MOST = 1000 };
	table *t = result_table(r, "streams", NULL, stream_columns, sizeof stream_columns / sizeof stream_columns[0]);

	for (size_t i = 0; i < f->streams.n && i < MOST; i++) {
		const stream_facts *s = &f->streams.items[i];
		cell *c = table_row(r, t, 0);
		c[3] = cell_count(s->n_events);
		if (!s->has_info)
			continue;
		c[0] = cell_string(result_string(r, s->program));
		c[1] = cell_integer(s->pid);
		c[2] = cell_string(s->state);
		c[4] = cell_count(s->n_lost);
		c[12] = cell_string(result_string(r, s->host));
		c[11] = cell_string(result_string(r, s->writer));
		c[13] = cell_string(s->is_observer ? "observer" : "program");
		if (s->is_observer)
			continue;
		c[5] = cell_string(s->clock);
		c[6] = s->tick_ns > 0 ? cell_number(s->tick_ns) : cell_unknown();
		c[7] = cell_count(s->n_clock_pairs);
		c[8] = s->tick_ns > 0 ? cell_ns(s->clock_error_ns) : cell_unknown();
		c[9] = cell_bytes(s->ring_bytes);
		c[10] = cell_string(s->full);
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
void info_add_threads(sonde_result *r, const recording_facts *f)
{
	enum { MOST = 10000 };
	table *t = result_table(r, "threads", NULL, thread_columns, sizeof thread_columns / sizeof thread_columns[0]);
	uint64_t n_lost_by_all = 0;

	for (size_t i = 0; i < f->threads.n && i < MOST; i++) {
		const thread_facts *thread = &f->threads.items[i];
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(*thread->name ? result_string(r, thread->name) : NULL);
		c[1] = cell_integer(thread->tid);
		c[2] = cell_integer(thread->pid);
		c[3] = cell_count(thread->n_events);
		c[4] = cell_count(thread->n_lost);
		n_lost_by_all += thread->n_lost;
	}
	if (t)
		t->n_shown = n_lost_by_all ? 20 : 0;
}

static const column block_columns[] = {
	{ "kind", "blocks", CELL_STRING, 0, false },
	{ "n_blocks", "count", CELL_COUNT, 0, false },
	{ "bytes", "bytes", CELL_BYTES, 0, false },
};

void info_add_blocks(sonde_result *r, const recording_facts *f)
{
	table *t = result_table(r, "blocks", NULL, block_columns, sizeof block_columns / sizeof block_columns[0]);

	for (size_t i = 0; i < f->blocks.n; i++) {
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(f->blocks.items[i].kind);
		c[1] = cell_count(f->blocks.items[i].n);
		c[2] = cell_bytes(f->blocks.items[i].bytes);
	}
}
