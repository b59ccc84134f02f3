/*
 * What devices did with their time, so that the parts add up: computing, communication and copies that nothing else
 * hides, and nothing. Once over all device rows, once over those whose launch is in the trace.
 */
#include "analyze/tables/work.h"

static const column timeline_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "rows", "rows", CELL_STRING, 0, false },
	{ "n_rows", "count", CELL_COUNT, 1, false },
	{ "total_ns", "span", CELL_NS, 0, false },
	{ "busy_ns", "busy", CELL_NS, 2, false },
	{ "computation_ns", "compute", CELL_NS, 0, false },
	{ "exposed_communication_ns", "exposed comm", CELL_NS, 0, false },
	{ "exposed_copy_ns", "exposed copy", CELL_NS, 0, false },
	{ "idle_ns", "idle", CELL_NS, 0, false },
	{ "communication_ns", "comm", CELL_NS, 1, false },
	{ "copy_ns", "copy", CELL_NS, 1, false },
	{ "busy_percent", "busy %", CELL_PERCENT, 2, false },
	{ "idle_percent", "idle %", CELL_PERCENT, 3, false },
};

/* Of a kind, KERNEL_KINDS: of all; items lie by start. */
static work_spans spans(const work *w, const work_rank *rank, kernel_kind kind, bool linked)
{
	work_spans s = { 0 };

	for (size_t i = 0; i < rank->n; i++) {
		const work_item *item = WORK_AT(w, rank, i);
		if ((kind == KERNEL_KINDS || item->kind == kind) && (!linked || item->launch != WORK_NONE))
			spans_add(&s, item->start, item->start + item->dur);
	}
	return s;
}

static size_t count(const work *w, const work_rank *rank, bool linked)
{
	size_t n = 0;

	for (size_t i = 0; i < rank->n; i++)
		n += !linked || WORK_AT(w, rank, i)->launch != WORK_NONE;
	return n;
}

/* What of the copies neither computation nor communication hides: busy is the sum of the three. */
static bool add_row(const work *w, const work_rank *rank, bool linked, sonde_result *r, table *t)
{
	work_spans all = spans(w, rank, KERNEL_KINDS, linked), compute = spans(w, rank, KERNEL_COMPUTE, linked);
	work_spans communication = spans(w, rank, KERNEL_COMMUNICATION, linked),
		   copies = spans(w, rank, KERNEL_MEMORY, linked);
	bool ok = !all.failed && !compute.failed && !communication.failed && !copies.failed;

	if (ok && all.n) {
		int64_t total = all.last.end - all.first.start, busy = spans_length(&all);
		int64_t computes = spans_length(&compute), communicates = spans_length(&communication);
		int64_t exposed = communicates - spans_overlap(&communication, &compute);
		cell *c = table_row(r, t, 0);
		*c++ = cell_integer(rank->rank);
		*c++ = cell_string(linked ? "linked" : "all");
		*c++ = cell_count(count(w, rank, linked));
		*c++ = work_cell(w, total);
		*c++ = work_cell(w, busy);
		*c++ = work_cell(w, computes);
		*c++ = work_cell(w, exposed);
		*c++ = work_cell(w, busy - computes - exposed);
		*c++ = work_cell(w, total - busy);
		*c++ = work_cell(w, communicates);
		*c++ = work_cell(w, spans_length(&copies));
		*c++ = percent_of((double)busy, (double)total);
		*c++ = percent_of((double)(total - busy), (double)total);
	}
	spans_done(&all);
	spans_done(&compute);
	spans_done(&communication);
	spans_done(&copies);
	return ok;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	table *t = result_table(r, "timeline", "Device time", timeline_columns,
				sizeof timeline_columns / sizeof timeline_columns[0]);
	coverage linked = { 0 };
	bool ok = true;

	(void)options;
	for (size_t i = 0; ok && i < w->n_ranks; i++) {
		ok = add_row(w, &w->ranks[i], false, r, t) && add_row(w, &w->ranks[i], true, r, t);
		for (size_t k = 0; k < w->ranks[i].n; k++)
			cover(&linked, WORK_AT(w, &w->ranks[i], k), WORK_AT(w, &w->ranks[i], k)->launch != WORK_NONE);
	}
	work_covers(w, r, "timeline, linked", &linked, "launched before the trace began, or at an unknown place");
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis timeline_work = { .add = add };

const analysis timeline_analysis = {
	.name = "timeline",
	.summary = "Device time in parts that add up: computing, exposed communication and copies, idle",
	.compat = "tracelens",
	.work = &timeline_work,
};
