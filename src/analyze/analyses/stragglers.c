/*
 * Which rank the others wait for (straggler_search.h), how long and in which steps.
 *
 * Where none makes them wait all the time, a rank that costs stragglers.step_share of a single step is named for it.
 */
#include "analyze/analysis.h"

#include <inttypes.h>
#include "analyze/tables/straggler_search.h"
#include "analyze/tables/work.h"
#include "base/format_number.h"

static const setting_def factor_setting = { "stragglers.factor", SETTING_NUMBER, "1.1",
					    "minimum factor by which a straggler makes steps longer" };
static const setting_def step_setting = { "stragglers.step_share", SETTING_SHARE, "20%",
					  "minimum share of one step for which a rank is named" };

static const column straggler_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },	    { "lost_per_step_ns", "lost/step", CELL_NS, 0, false },
	{ "lost_ns", "lost", CELL_NS, 0, false },	    { "percent", "%", CELL_PERCENT, 0, false },
	{ "n_steps", "steps", CELL_COUNT, 0, false },	    { "first_step", "from step", CELL_INTEGER, 0, false },
	{ "last_step", "to step", CELL_INTEGER, 0, false },
};
static const column step_columns[] = {
	{ "step", "step", CELL_INTEGER, 0, false },
	{ "rank", "latest rank", CELL_INTEGER, 0, false },
	{ "lost_ns", "lost", CELL_NS, 0, false },
	{ "percent", "% of step", CELL_PERCENT, 0, true },
};
static const column rank_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },	  { "n_collectives", "collectives", CELL_COUNT, 0, false },
	{ "n_matched", "matched", CELL_COUNT, 1, false }, { "n_last", "came last", CELL_COUNT, 0, false },
	{ "late_ns", "late", CELL_NS, 0, false },	  { "lost_ns", "lost by it", CELL_NS, 0, false },
	{ "waited_ns", "waited", CELL_NS, 0, false },	  { "clock_offset_ns", "clock", CELL_NS, 0, false },
};

/* ---- The answer -------------------------------------------------------------------------------------------------- */

static int64_t step_ns(const straggler_search *s, size_t step)
{
	return s->steps ? s->steps[step].dur_ns : s->span_ns;
}

static cell step_number(const straggler_search *s, size_t step)
{
	return s->steps ? cell_integer(s->steps[step].number) : cell_unknown();
}

static void put_straggler(const straggler_search *s, sonde_result *r, table *t, size_t rank, int64_t per_step,
			  int64_t in_all, size_t first, size_t last)
{
	cell *c = table_row(r, t, 0);
	int64_t of_ns = first == last ? step_ns(s, first) : s->span_ns;

	c[0] = cell_integer(s->found.ranks[rank].rank);
	c[1] = cell_ns(per_step);
	c[2] = cell_ns(in_all);
	c[3] = of_ns > 0 ? cell_percent(100.0 * (double)in_all / (double)of_ns) : cell_unknown();
	c[4] = cell_count(last - first + 1);
	c[5] = step_number(s, first);
	c[6] = step_number(s, last);
}

static bool find_lasting(const straggler_search *s, const sonde_analyze_options *options, sonde_result *r, table *t)
{
	size_t worst;

	if (!stragglers_lasting(s, (straggler_limits){ setting(options, &factor_setting), 0.5 }, &worst))
		return false;
	int64_t lost = s->ranks[worst].lost_ns;
	put_straggler(s, r, t, worst, lost / (int64_t)s->n_steps, lost, 0, s->n_steps - 1);
	return true;
}

static void find_in_steps(const straggler_search *s, const sonde_analyze_options *options, sonde_result *r, table *t)
{
	double share = setting(options, &step_setting);

	for (size_t i = 0; i < s->n_steps; i++) {
		int64_t next;
		size_t worst = stragglers_worst(s, i, &next);
		int64_t late = s->ranks[worst].by_step[i];
		if (late > 0 && late >= 3 * next && (double)late >= share * (double)step_ns(s, i))
			put_straggler(s, r, t, worst, late, late, i, i);
	}
}

static void put_steps(const straggler_search *s, sonde_result *r, table *t)
{
	for (size_t i = 0; i < s->n_steps; i++) {
		int64_t next, of_ns = step_ns(s, i);
		size_t worst = stragglers_worst(s, i, &next);
		int64_t late = s->ranks[worst].by_step[i];
		cell *c = table_row(r, t, 0);
		c[0] = step_number(s, i);
		c[1] = late > 0 ? cell_integer(s->found.ranks[worst].rank) : cell_unknown();
		c[2] = cell_ns(late);
		c[3] = of_ns > 0 ? cell_percent(100.0 * (double)late / (double)of_ns) : cell_unknown();
	}
}

static void put_ranks(const straggler_search *s, sonde_result *r, table *t)
{
	for (size_t i = 0; i < s->found.n_ranks; i++) {
		const collective_rank *rank = &s->found.ranks[i];
		cell *c = table_row(r, t, 0);
		c[0] = cell_integer(rank->rank);
		c[1] = cell_count(rank->n);
		c[2] = cell_count(rank->n_matched);
		c[3] = cell_count(s->ranks[i].n_last);
		c[4] = cell_ns(s->ranks[i].late_ns);
		c[5] = cell_ns(s->ranks[i].lost_ns);
		c[6] = cell_ns(s->ranks[i].waited_ns);
		c[7] = cell_ns(rank->offset);
	}
}

static void put_answer(const straggler_search *s, sonde_result *r, const table *t)
{
	char late[NUMBER_TEXT];
	const cell *c = t ? t->cells : NULL;

	if (!t || !t->n_rows) {
		result_add(r, "straggler", cell_unknown());
		result_note_add(r, "straggler", "none");
		return;
	}
	result_add(r, "straggler", c[0]);
	format_ns(late, c[1].integer);
	if (!s->steps)
		result_note_add(r, "straggler", "rank %" PRId64 ": the others waited %s for it", c[0].integer, late);
	else if (c[4].count == 1)
		result_note_add(r, "straggler", "rank %" PRId64 ": the others waited %s for it in step %" PRId64,
				c[0].integer, late, c[5].integer);
	else
		result_note_add(r, "straggler", "rank %" PRId64 ": the others wait %s per step for it", c[0].integer,
				late);
}

static void put_all(const straggler_search *s, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "stragglers", "Stragglers", straggler_columns,
				sizeof straggler_columns / sizeof straggler_columns[0]);
	table *steps = result_table(r, "straggler_steps", "The latest rank of each step", step_columns,
				    sizeof step_columns / sizeof step_columns[0]);
	table *ranks = result_table(r, "rank_waits", "Ranks at collectives", rank_columns,
				    sizeof rank_columns / sizeof rank_columns[0]);

	if (!find_lasting(s, options, r, t))
		find_in_steps(s, options, r, t);
	put_steps(s, r, steps);
	put_ranks(s, r, ranks);
	limit_rows(r, steps, options, "steps");
	table_chart(steps, CHART_BARS, "step", "lost_ns", "rank");
	limit_rows(r, ranks, options, "ranks");
	if (t && !t->n_rows)
		t->n_shown = 0;
	put_answer(s, r, t);
	result_note_add(r, "matched", "%s: %s; clocks by their common end",
			s->found.on_host ? "collectives on the host" : "communication kernels",
			collective_methods_text(&s->found, r));
}

static void put_none(sonde_result *r, const char *why)
{
	table *t = result_table(r, "stragglers", NULL, straggler_columns,
				sizeof straggler_columns / sizeof straggler_columns[0]);

	if (t)
		t->n_shown = 0;
	result_add(r, "straggler", cell_unknown());
	result_note_add(r, "straggler", "none: %s", why);
}

static sonde_status add_stragglers(const work *w, const sonde_analyze_options *options, sonde_result *r,
				   sonde_error *err)
{
	straggler_search s;

	if (w->is_hta)
		return hta_stragglers(w, r, err);
	sonde_status status = stragglers_search(&w->rows, &s, err);
	if (!status && s.missing)
		put_none(r, s.missing);
	else if (!status)
		put_all(&s, options, r);
	stragglers_done(&s);
	return status;
}

const work_analysis stragglers_work = { .add = add_stragglers, .needs_no_device = true, .few_rows = true };

static const setting_def *settings(size_t index)
{
	static const setting_def *const all[] = { &factor_setting, &step_setting };

	return index < 2 ? all[index] : NULL;
}

const analysis stragglers_analysis = {
	.name = "stragglers",
	.summary = "The rank that the others wait for, its cost and its steps",
	.compat = WORK_COMPAT,
	.setting = settings,
	.work = &stragglers_work,
};
