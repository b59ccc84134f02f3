/* How much communication hides behind computation: of the time in which a rank communicates, the share in which it also
   computes. */
#include "analyze/tables/work.h"

static const column overlap_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "communication_ns", "communication", CELL_NS, 0, false },
	{ "overlap_ns", "hidden", CELL_NS, 0, false },
	{ "exposed_ns", "exposed", CELL_NS, 0, false },
	{ "overlap_percent", "hidden %", CELL_PERCENT, 0, true },
};

static int64_t add_rank(const work *w, const work_rank *rank, sonde_result *r, table *t)
{
	const work_spans *communication = &rank->spans[KERNEL_COMMUNICATION];
	int64_t length = communication->length, hidden = spans_overlap(&rank->spans[KERNEL_COMPUTE], communication);

	if (rank->n) {
		cell *c = table_row(r, t, 0);
		c[0] = cell_integer(rank->rank);
		c[1] = work_cell(w, length);
		c[2] = work_cell(w, hidden);
		c[3] = work_cell(w, length - hidden);
		c[4] = length ? cell_percent(100.0 * (double)hidden / (double)length) : cell_unknown();
	}
	return length;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	table *t = result_table(r, "overlap", "Overlap of communication and computation", overlap_columns,
				sizeof overlap_columns / sizeof overlap_columns[0]);
	int64_t total = 0;

	(void)options;
	(void)err;
	for (size_t i = 0; i < w->n_ranks; i++)
		total += add_rank(w, &w->ranks[i], r, t);
	if (t && !total && !w->is_empty) {
		t->n_shown = 0;
		result_note_add(r, "overlap", "no communication kernels on these ranks");
	}
	return SONDE_OK;
}

const work_analysis overlap_work = { .add = add, .few_rows = true };

const analysis overlap_analysis = {
	.name = "overlap",
	.summary = "Share of communication hidden behind computation",
	.compat = WORK_COMPAT,
	.work = &overlap_work,
};
