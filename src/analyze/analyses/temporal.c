/*
 * What a device did with its time, rank by rank: from the start of its first kernel to the end of the last, how long it
 * computed, did something else, or nothing. Work that overlaps counts once.
 */
#include "analyze/tables/work.h"

static const column temporal_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "span_ns", "span", CELL_NS, 0, false },
	{ "idle_ns", "idle", CELL_NS, 0, false },
	{ "compute_ns", "compute", CELL_NS, 0, false },
	{ "non_compute_ns", "other work", CELL_NS, 0, false },
	{ "communication_ns", "comm", CELL_NS, 1, false },
	{ "memory_ns", "memory", CELL_NS, 1, false },
	{ "exposed_communication_ns", "exposed comm", CELL_NS, 2, false },
	{ "exposed_memory_ns", "exposed memory", CELL_NS, 5, false },
	{ "busy_percent", "busy %", CELL_PERCENT, 0, false },
	{ "idle_percent", "idle %", CELL_PERCENT, 3, false },
	{ "compute_percent", "compute %", CELL_PERCENT, 3, false },
	{ "non_compute_percent", "other %", CELL_PERCENT, 4, false },
	{ "communication_percent", "comm %", CELL_PERCENT, 4, false },
};

static cell share(int64_t part, int64_t whole)
{
	return whole > 0 ? cell_percent(100.0 * (double)part / (double)whole) : cell_unknown();
}

static void add_rank(const work *w, const work_rank *rank, sonde_result *r, table *t)
{
	const work_spans *all = &rank->spans[KERNEL_KINDS], *compute = &rank->spans[KERNEL_COMPUTE];
	const work_spans *communication = &rank->spans[KERNEL_COMMUNICATION];

	if (!all->n)
		return;
	int64_t span = all->last.end - all->first.start, idle = span - all->length;
	int64_t other = span - compute->length - idle;
	int64_t exposed = communication->length - spans_overlap(communication, compute);
	cell *c = table_row(r, t, 0);
	*c++ = cell_integer(rank->rank);
	*c++ = work_cell(w, span);
	*c++ = work_cell(w, idle);
	*c++ = work_cell(w, compute->length);
	*c++ = work_cell(w, other);
	*c++ = work_cell(w, communication->length);
	*c++ = work_cell(w, rank->spans[KERNEL_MEMORY].length);
	*c++ = work_cell(w, exposed);
	*c++ = work_cell(w, all->length - compute->length - exposed);
	*c++ = share(span - idle, span);
	*c++ = share(idle, span);
	*c++ = share(compute->length, span);
	*c++ = share(other, span);
	*c++ = share(communication->length, span);
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	table *t = result_table(r, "temporal", "Device time", temporal_columns,
				sizeof temporal_columns / sizeof temporal_columns[0]);

	static const char *const parts[] = { "compute_ns", "exposed_communication_ns", "exposed_memory_ns", "idle_ns",
					     NULL };

	(void)options;
	(void)err;
	for (size_t i = 0; i < w->n_ranks; i++)
		add_rank(w, &w->ranks[i], r, t);
	table_parts(t, parts);
	work_differs(w, r, "host rows that name a stream are not device rows, and the last step is included");
	return SONDE_OK;
}

const work_analysis temporal_work = { .add = add, .few_rows = true };

const analysis temporal_analysis = {
	.name = "temporal",
	.summary = "Device time: computing, communicating, copying, idle",
	.compat = WORK_COMPAT,
	.work = &temporal_work,
};
