/*
 * Which rank the others wait for. A collective begins when the last rank has come: how much sooner it could have if
 * that rank had come with the one before it is what the rank costs. Summed up by step and rank, on one clock.
 *
 * A rank is a straggler when it costs at least stragglers.share of the time, twice as much as any other, and is the
 * worst one in two of three steps. Where none is, a rank that costs stragglers.step_share of a single step is named for
 * it.
 */
#include "analyze/analysis.h"

#include <inttypes.h>
#include <stdlib.h>
#include "analyze/collective_match.h"
#include "analyze/intervals.h"
#include "analyze/work.h"
#include "base/format_number.h"

static const setting_def share_setting = { "stragglers.share", SETTING_SHARE, "2%",
					   "a rank that costs less of the time is none" };
static const setting_def step_setting = { "stragglers.step_share", SETTING_SHARE, "20%",
					  "a rank that costs as much of one step is named for it" };

static const column straggler_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },	    { "lost_per_step_ns", "lost a step", CELL_NS, 0, false },
	{ "lost_ns", "lost in all", CELL_NS, 0, false },    { "percent", "%", CELL_PERCENT, 0, false },
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

/* By rank: how late it was, what that cost and how it waited. */
typedef struct lateness {
	intervals compute; /* by its own clock */
	int64_t late_ns, lost_ns, waited_ns;
	uint64_t n_last;
	uint64_t n_worst; /* steps */
	int64_t *by_step; /* lost */
} lateness;

typedef struct straggler_search {
	const work *w;
	const rows *rows;
	collectives found;
	lateness *ranks;
	const rows_step *steps; /* of the reference; NULL: there are none, and everything is one */
	size_t n_steps;		/* at least 1 */
	int64_t span_ns;
	int64_t *values; /* room for one a rank */
} straggler_search;

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

/* The step in which the reference launched it; n_steps: none. */
static size_t step_of(const straggler_search *s, const collective *c)
{
	const row *at = &s->rows->items[c->row];
	int64_t ns = at->launch != ROW_NONE ? s->rows->items[at->launch].start_ns : at->start_ns;
	size_t low = 0, high = s->n_steps;

	if (!s->steps)
		return 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->steps[middle].start_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	bool is_in = low > 0 && ns < s->steps[low - 1].start_ns + s->steps[low - 1].dur_ns;
	return is_in ? low - 1 : s->n_steps;
}

static int64_t start_of(const straggler_search *s, size_t rank, uint32_t item)
{
	return s->found.ranks[rank].items[item].start_ns - s->found.ranks[rank].offset_ns;
}

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Of n >= 1 values, which it sorts. */
static int64_t middle_of(int64_t *values, size_t n)
{
	qsort(values, n, sizeof *values, compare_ns);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* What the ranks that wait from `from` to `to` do not compute meanwhile. */
static int64_t lost_between(straggler_search *s, const uint32_t *match, size_t latest, int64_t from, int64_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < s->found.n_ranks; i++) {
		int64_t offset = s->found.ranks[i].offset_ns;
		if (match[i] == COLLECTIVE_NONE || i == latest)
			continue;
		s->values[n++] = to - from - intervals_overlap_with(&s->ranks[i].compute, from + offset, to + offset);
	}
	return n ? middle_of(s->values, n) : 0;
}

static void add_collective(straggler_search *s, size_t item)
{
	const collectives *c = &s->found;
	const uint32_t *match = &c->matches[item * c->n_ranks];
	int64_t last = INT64_MIN, before = INT64_MIN;
	size_t latest = 0, n = 0, step = step_of(s, &c->ranks[c->reference].items[item]);

	for (size_t i = 0; i < c->n_ranks; i++) {
		if (match[i] == COLLECTIVE_NONE)
			continue;
		int64_t start = start_of(s, i, match[i]);
		n++;
		if (start > last) {
			before = last;
			last = start;
			latest = i;
		} else if (start > before) {
			before = start;
		}
	}
	if (n < 2)
		return;
	for (size_t i = 0; i < c->n_ranks; i++)
		if (match[i] != COLLECTIVE_NONE)
			s->ranks[i].waited_ns += last - start_of(s, i, match[i]);
	int64_t lost = lost_between(s, match, latest, before, last);
	s->ranks[latest].n_last++;
	s->ranks[latest].late_ns += last - before;
	s->ranks[latest].lost_ns += lost;
	if (step < s->n_steps)
		s->ranks[latest].by_step[step] += lost;
}

/* The rank that cost the most in a step, or in all. */
static size_t worst_of(const straggler_search *s, size_t step, int64_t *ret_next)
{
	size_t worst = 0;
	int64_t most = INT64_MIN, next = INT64_MIN;

	for (size_t i = 0; i < s->found.n_ranks; i++) {
		int64_t late = step < s->n_steps ? s->ranks[i].by_step[step] : s->ranks[i].lost_ns;
		if (late > most) {
			next = most;
			most = late;
			worst = i;
		} else if (late > next) {
			next = late;
		}
	}
	*ret_next = next > 0 ? next : 0;
	return worst;
}

static bool find_compute(straggler_search *s, size_t rank)
{
	const rows_rank *from = &s->rows->ranks[rank];

	for (size_t i = 0; i < from->n_device; i++) {
		const row *at = &s->rows->items[from->device[i]];
		if (work_kind(s->w, at->site) == KERNEL_COMPUTE)
			intervals_add(&s->ranks[rank].compute, at->start_ns, row_end_ns(at));
	}
	return intervals_merge(&s->ranks[rank].compute);
}

static bool sum_up(straggler_search *s)
{
	const rows_rank *reference = &s->rows->ranks[s->found.reference];
	int64_t next;

	s->steps = reference->n_steps ? reference->steps : NULL;
	s->n_steps = reference->n_steps ? reference->n_steps : 1;
	s->span_ns = s->steps ? 0 : reference->end_ns - reference->start_ns;
	for (size_t i = 0; s->steps && i < s->n_steps; i++)
		s->span_ns += s->steps[i].dur_ns;
	s->ranks = calloc(s->found.n_ranks + 1, sizeof *s->ranks);
	s->values = calloc(s->found.n_ranks + 1, sizeof *s->values);
	for (size_t i = 0; s->ranks && i < s->found.n_ranks; i++)
		if (!(s->ranks[i].by_step = calloc(s->n_steps + 1, sizeof(int64_t))) || !find_compute(s, i))
			return false;
	if (!s->ranks || !s->values)
		return false;
	for (size_t i = 0; i < s->found.ranks[s->found.reference].n; i++)
		add_collective(s, i);
	for (size_t i = 0; i < s->n_steps; i++)
		s->ranks[worst_of(s, i, &next)].n_worst++;
	return true;
}

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
	int64_t next;
	size_t worst = worst_of(s, SIZE_MAX, &next);
	const lateness *l = &s->ranks[worst];

	if ((double)l->lost_ns < setting(options, &share_setting) * (double)s->span_ns || l->lost_ns < 2 * next ||
	    3 * l->n_worst < 2 * s->n_steps || l->lost_ns <= 0)
		return false;
	put_straggler(s, r, t, worst, l->lost_ns / (int64_t)s->n_steps, l->lost_ns, 0, s->n_steps - 1);
	return true;
}

static void find_in_steps(const straggler_search *s, const sonde_analyze_options *options, sonde_result *r, table *t)
{
	double share = setting(options, &step_setting);

	for (size_t i = 0; i < s->n_steps; i++) {
		int64_t next;
		size_t worst = worst_of(s, i, &next);
		int64_t late = s->ranks[worst].by_step[i];
		if (late > 0 && late >= 3 * next && (double)late >= share * (double)step_ns(s, i))
			put_straggler(s, r, t, worst, late, late, i, i);
	}
}

static void put_steps(const straggler_search *s, sonde_result *r, table *t)
{
	for (size_t i = 0; i < s->n_steps; i++) {
		int64_t next, of_ns = step_ns(s, i);
		size_t worst = worst_of(s, i, &next);
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
		c[7] = cell_ns(rank->offset_ns);
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
		result_note_add(r, "straggler", "rank %" PRId64 ": the others lost %s waiting for it", c[0].integer,
				late);
	else if (c[4].count == 1)
		result_note_add(r, "straggler", "rank %" PRId64 ": the others lost %s waiting for it in step %" PRId64,
				c[0].integer, late, c[5].integer);
	else
		result_note_add(r, "straggler", "rank %" PRId64 ": the others lose %s waiting for it in a step",
				c[0].integer, late);
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
	limit_rows(r, ranks, options, "ranks");
	if (t && !t->n_rows)
		t->n_shown = 0;
	put_answer(s, r, t);
	result_note_add(r, "matched", "%s by name and %s; clocks by their common end",
			s->found.on_host ? "collectives on the host" : "communication kernels",
			s->found.by_time ? "order, where some are missing by the nearest end" : "order");
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
	straggler_search s = { .w = w, .rows = &w->rows };
	size_t n_with = 0;

	if (w->is_hta)
		return hta_stragglers(w, r, err);
	if (w->rows.n_ranks < 2) {
		put_none(r, "there is one rank; open the traces of several together");
		return SONDE_OK;
	}
	sonde_status status = collectives_find(&w->rows, &s.found, err);
	for (size_t i = 0; !status && i < s.found.n_ranks; i++)
		n_with += s.found.ranks[i].n > 0;
	if (!status && n_with < 2)
		put_none(r, "no two ranks communicate");
	else if (!status && !sum_up(&s))
		status = out_of_memory(err);
	else if (!status)
		put_all(&s, options, r);
	for (size_t i = 0; s.ranks && i < s.found.n_ranks; i++)
		free(s.ranks[i].by_step), intervals_done(&s.ranks[i].compute);
	free(s.ranks);
	free(s.values);
	collectives_done(&s.found);
	return status;
}

const work_analysis stragglers_work = { .add = add_stragglers, .needs_no_device = true };

static sonde_status run(const sonde_trace *trace, const sonde_analyze_options *options, sonde_result *r,
			sonde_error *err)
{
	return work_run(&stragglers_work, trace, options, r, err);
}

static const setting_def *settings(size_t index)
{
	static const setting_def *const all[] = { &share_setting, &step_setting };

	return index < 2 ? all[index] : NULL;
}

const analysis stragglers_analysis = {
	.name = "stragglers",
	.summary = "Which rank the others wait for, how long and in which steps; none where there is none",
	.compat = WORK_COMPAT,
	.setting = settings,
	.run = run,
};
