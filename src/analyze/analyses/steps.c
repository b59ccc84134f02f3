/*
 * Step by step: how long each took on the host, and what the device did meanwhile. What the device does of a step after
 * its end counts where it runs: for that, see --steps with the other analyses, which go by launches.
 */
#include "analyze/tables/work.h"

#include <stdlib.h>

static const column step_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },	   { "step", "step", CELL_INTEGER, 0, false },
	{ "start_ns", "start", CELL_NS, 1, false },	   { "dur_ns", "time", CELL_NS, 0, false },
	{ "busy_ns", "busy", CELL_NS, 0, false },	   { "compute_ns", "compute", CELL_NS, 0, false },
	{ "communication_ns", "comm", CELL_NS, 0, false }, { "memory_ns", "memory", CELL_NS, 2, false },
	{ "idle_ns", "idle", CELL_NS, 0, false },	   { "busy_percent", "busy %", CELL_PERCENT, 0, true },
};

/* How much of a rank's time lies in a set up to each moment, for moments that are in order. */
typedef struct covered {
	int64_t *at, *lengths[KERNEL_KINDS + 1]; /* by kind, and of all */
	size_t n;
} covered;

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void cover_until(const work_spans *s, const covered *c, int64_t *lengths)
{
	span_walk w = spans_first(s);
	work_span one;
	bool has_one = spans_next(&w, &one);
	int64_t before = 0;

	for (size_t i = 0; i < c->n; i++) {
		for (; has_one && one.end <= c->at[i]; has_one = spans_next(&w, &one))
			before += one.end - one.start;
		bool is_inside = has_one && one.start < c->at[i];
		lengths[i] = before + (is_inside ? c->at[i] - one.start : 0);
	}
}

/* By our rules, also where those of the rank's own are HTA's. */
static bool make_spans(const work *w, const rows_rank *rank, work_spans *spans)
{
	bool ok = true;

	for (size_t i = 0; i < rank->n_device; i++) {
		const row *at = ROW_AT(&w->rows, rank->device[i]);
		spans_add(&spans[work_kind(w, at->site)], at->start_ns, row_end_ns(at));
		spans_add(&spans[KERNEL_KINDS], at->start_ns, row_end_ns(at));
	}
	for (int k = 0; k <= KERNEL_KINDS; k++)
		ok = !spans[k].failed && ok;
	return ok;
}

static bool cover_steps(const work *w, const rows_rank *rank, const work_spans *given, covered *ret)
{
	work_spans own[KERNEL_KINDS + 1] = { 0 };
	bool ok = (ret->at = malloc(2 * rank->n_steps * sizeof *ret->at)) && (!w->is_hta || make_spans(w, rank, own));

	for (size_t i = 0; ok && i < rank->n_steps; i++) {
		ret->at[ret->n++] = rank->steps[i].start_ns;
		ret->at[ret->n++] = rank->steps[i].start_ns + rank->steps[i].dur_ns;
	}
	if (ok)
		qsort(ret->at, ret->n, sizeof *ret->at, compare);
	for (int k = 0; ok && k <= KERNEL_KINDS; k++) {
		ok = (ret->lengths[k] = malloc(ret->n * sizeof *ret->lengths[k])) != NULL;
		if (ok)
			cover_until(w->is_hta ? &own[k] : &given[k], ret, ret->lengths[k]);
	}
	for (int k = 0; k <= KERNEL_KINDS; k++)
		spans_done(&own[k]);
	return ok;
}

static void covered_done(covered *c)
{
	free(c->at);
	for (int k = 0; k <= KERNEL_KINDS; k++)
		free(c->lengths[k]);
}

/* Between two of the moments. */
static int64_t covered_between(const covered *c, int kind, int64_t start, int64_t end)
{
	const int64_t *from = bsearch(&start, c->at, c->n, sizeof *c->at, compare);
	const int64_t *to = bsearch(&end, c->at, c->n, sizeof *c->at, compare);

	return c->lengths[kind][to - c->at] - c->lengths[kind][from - c->at];
}

static void put_step(const rows_rank *rank, const rows_step *s, const covered *sets, sonde_result *r, table *t)
{
	int64_t end = s->start_ns + s->dur_ns, busy = covered_between(sets, KERNEL_KINDS, s->start_ns, end);
	cell *c = table_row(r, t, 0);

	c[0] = cell_integer(rank->rank);
	c[1] = cell_integer(s->number);
	c[2] = cell_ns(s->start_ns);
	c[3] = cell_ns(s->dur_ns);
	if (!rank->n_device)
		return;
	c[4] = cell_ns(busy);
	c[5] = cell_ns(covered_between(sets, KERNEL_COMPUTE, s->start_ns, end));
	c[6] = cell_ns(covered_between(sets, KERNEL_COMMUNICATION, s->start_ns, end));
	c[7] = cell_ns(covered_between(sets, KERNEL_MEMORY, s->start_ns, end));
	c[8] = cell_ns(s->dur_ns - busy);
	c[9] = s->dur_ns ? cell_percent(100.0 * (double)busy / (double)s->dur_ns) : cell_unknown();
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	table *t = result_table(r, "steps", "Steps", step_columns, sizeof step_columns / sizeof step_columns[0]);
	bool ok = true;

	for (size_t i = 0; ok && i < w->rows.n_ranks; i++) {
		const rows_rank *rank = &w->rows.ranks[i];
		covered sets = { 0 };
		if (rank->n_steps)
			ok = cover_steps(w, rank, w->ranks[i].spans, &sets);
		for (size_t k = 0; ok && k < rank->n_steps; k++)
			if (rank->steps[k].start_ns < w->ranks[i].cut_ns)
				put_step(rank, &rank->steps[k], &sets, r, t);
		covered_done(&sets);
	}
	limit_rows(r, t, options, "steps");
	if (t)
		table_chart(t, CHART_BARS, "step", "dur_ns", "rank");
	if (ok && !w->rows.n_steps) {
		if (t)
			t->n_shown = 0;
		result_note_add(r, "steps", "%s",
				w->rows.n_left_out
					? "no step in the selection"
					: "the trace has no steps: profiler.step() or sonde_step() records them");
	}
	return ok ? SONDE_OK : out_of_memory(err);
}

const work_analysis steps_work = { .add = add, .needs_no_device = true, .few_rows = true };

const analysis steps_analysis = {
	.name = "steps",
	.summary = "Time of each step, and device activity during it",
	.compat = WORK_COMPAT,
	.work = &steps_work,
};
