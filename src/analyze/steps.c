/*
 * Step by step: how long each took on the host, and what the device did meanwhile. What the device does of a step after
 * its end counts where it runs: for that, see --steps with the other analyses, which go by launches.
 */
#include "analyze/work.h"

#include "analyze/intervals.h"

static const column step_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },	   { "step", "step", CELL_INTEGER, 0, false },
	{ "start_ns", "start", CELL_NS, 1, false },	   { "dur_ns", "time", CELL_NS, 0, false },
	{ "busy_ns", "busy", CELL_NS, 0, false },	   { "compute_ns", "compute", CELL_NS, 0, false },
	{ "communication_ns", "comm", CELL_NS, 0, false }, { "memory_ns", "memory", CELL_NS, 2, false },
	{ "idle_ns", "idle", CELL_NS, 0, false },	   { "busy_percent", "busy %", CELL_PERCENT, 0, true },
};

/* Of all items and of each kind; [KERNEL_KINDS]: all. */
static bool make_sets(const work *w, const rows_rank *rank, intervals *sets)
{
	bool ok = true;

	for (size_t i = 0; i < rank->n_device; i++) {
		const row *at = &w->rows.items[rank->device[i]];
		kernel_kind kind = work_kind(w, at->site);
		intervals_add(&sets[kind], at->start_ns, row_end_ns(at));
		intervals_add(&sets[KERNEL_KINDS], at->start_ns, row_end_ns(at));
	}
	for (int k = 0; k <= KERNEL_KINDS; k++)
		ok = intervals_merge(&sets[k]) && ok;
	return ok;
}

static void put_step(const rows_rank *rank, const rows_step *s, const intervals *sets, sonde_result *r, table *t)
{
	int64_t end = s->start_ns + s->dur_ns;
	int64_t busy = intervals_overlap_with(&sets[KERNEL_KINDS], s->start_ns, end);
	cell *c = table_row(r, t, 0);

	c[0] = cell_integer(rank->rank);
	c[1] = cell_integer(s->number);
	c[2] = cell_ns(s->start_ns);
	c[3] = cell_ns(s->dur_ns);
	if (!rank->n_device)
		return;
	c[4] = cell_ns(busy);
	c[5] = cell_ns(intervals_overlap_with(&sets[KERNEL_COMPUTE], s->start_ns, end));
	c[6] = cell_ns(intervals_overlap_with(&sets[KERNEL_COMMUNICATION], s->start_ns, end));
	c[7] = cell_ns(intervals_overlap_with(&sets[KERNEL_MEMORY], s->start_ns, end));
	c[8] = cell_ns(s->dur_ns - busy);
	c[9] = s->dur_ns ? cell_percent(100.0 * (double)busy / (double)s->dur_ns) : cell_unknown();
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	table *t = result_table(r, "steps", "Steps", step_columns, sizeof step_columns / sizeof step_columns[0]);
	bool ok = true;

	for (size_t i = 0; ok && i < w->rows.n_ranks; i++) {
		const rows_rank *rank = &w->rows.ranks[i];
		intervals sets[KERNEL_KINDS + 1] = { 0 };
		if (rank->n_steps)
			ok = make_sets(w, rank, sets);
		for (size_t k = 0; ok && k < rank->n_steps; k++)
			if (rank->steps[k].start_ns < w->ranks[i].cut_ns)
				put_step(rank, &rank->steps[k], sets, r, t);
		for (int k = 0; k <= KERNEL_KINDS; k++)
			intervals_done(&sets[k]);
	}
	limit_rows(r, t, options, "steps");
	if (t)
		table_chart(t, CHART_BARS, "step", "dur_ns", "rank");
	if (ok && !w->rows.n_steps) {
		if (t)
			t->n_shown = 0;
		result_note_add(r, "steps", "the trace has no steps: profiler.step() or sonde_step() make some");
	}
	return ok ? SONDE_OK : out_of_memory(err);
}

const work_analysis steps_work = { .add = add, .needs_no_device = true };

static sonde_status run(const sonde_trace *trace, const sonde_analyze_options *options, sonde_result *r,
			sonde_error *err)
{
	return work_run(&steps_work, trace, options, r, err);
}

const analysis steps_analysis = {
	.name = "steps",
	.summary = "Step by step: how long each took and what the device did meanwhile",
	.compat = WORK_COMPAT,
	.run = run,
};
