/* See analyses/compile/times.h. */
#include "analyze/analyses/compile/times.h"

#include <stdlib.h>
#include "analyze/math/stats.h"
#include "analyze/tables/work.h"
#include "base/search.h"

static const column share_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "time_ns", "time", CELL_NS, 0, false },
	{ "compiling_ns", "compiling", CELL_NS, 0, false },
	{ "compiled_ns", "compiled", CELL_NS, 0, false },
	{ "eager_ns", "eager", CELL_NS, 0, false },
	{ "other_ns", "other", CELL_NS, 0, false },
	{ "compiled_percent", "compiled %", CELL_PERCENT, 1, false },
	{ "compiled_device_ns", "device compiled", CELL_NS, 1, false },
	{ "eager_device_ns", "device eager", CELL_NS, 1, false },
};
static const column step_columns[] = {
	{ "step", "step", CELL_INTEGER, 0, false },	  { "rank", "rank", CELL_INTEGER, 1, false },
	{ "dur_ns", "time", CELL_NS, 0, false },	  { "compiling_ns", "compiling", CELL_NS, 0, false },
	{ "compiled_ns", "compiled", CELL_NS, 0, false }, { "eager_ns", "eager", CELL_NS, 0, false },
	{ "other_ns", "other", CELL_NS, 0, false },	  { "n_runs", "compilations", CELL_COUNT, 0, false },
	{ "n_breaks", "breaks", CELL_COUNT, 1, false },	  { "compiled_percent", "compiled %", CELL_PERCENT, 0, true },
};
static const char *const split_parts[] = { "compiling_ns", "compiled_ns", "eager_ns", "other_ns", NULL };
#define N_COLUMNS(of) (sizeof(of) / sizeof(of)[0])

const rows_rank *compile_rank_of(const rows *r, int32_t rank)
{
	const rows_rank *ranks = r->ranks;
	size_t at = FIRST_NOT(i, 0, r->n_ranks, ranks[i].rank < rank);

	return at < r->n_ranks && ranks[at].rank == rank ? &ranks[at] : NULL;
}

/* ---- When what ran ----------------------------------------------------------------------------------------------- */

static rank_times *times_of(compile_times *c, int32_t rank)
{
	const rows_rank *of = compile_rank_of(c->calls->rows, rank);

	return of ? &c->ranks[of - c->calls->rows->ranks] : NULL;
}

static void add_compiled(compile_times *c)
{
	const rows *r = c->calls->rows;

	for (size_t i = 0; i < c->calls->calls.n; i++) {
		const compile_call *call = &c->calls->calls.items[i];
		const row *at = ROW_AT(r, call->row);
		rank_times *t = times_of(c, row_rank(r, at));
		if (!t || call->around != COMPILE_OUTSIDE)
			continue;
		intervals_add(&t->compiled, at->start_ns, row_end_ns(at));
		t->device_ns = add_bounded(t->device_ns, op_tree_ns(c->tree, call->row));
	}
	for (uint32_t i = 0, end = 0; i < r->n; i++) {
		const row *at = ROW_AT(r, i);
		if (i < end || c->calls->kinds[at->site] != COMPILE_WORK || at->flags & ROW_ON_STREAM)
			continue;
		rank_times *t = times_of(c, row_rank(r, at));
		if (t)
			intervals_add(&t->compiling, at->start_ns, row_end_ns(at));
		end = at->end;
	}
}

/* The outermost operators; what is compiled within them is taken out again. */
static void add_eager(compile_times *c)
{
	const rows *r = c->calls->rows;

	for (uint32_t i = 0, end = 0; i < r->n; i++) {
		const row *at = ROW_AT(r, i);
		if (i < end || at->flags & ROW_ON_STREAM)
			continue;
		if (c->tree->is_op[at->site] && c->calls->kinds[at->site] == COMPILE_NONE) {
			rank_times *t = times_of(c, row_rank(r, at));
			if (t)
				intervals_add(&t->eager, at->start_ns, row_end_ns(at));
			end = at->end;
		}
	}
}

/* Each moment belongs to one of them. */
static bool tell_apart(rank_times *t)
{
	intervals left = { 0 }, both = { 0 };
	bool ok = intervals_merge(&t->compiling) && intervals_merge(&t->compiled) && intervals_merge(&t->eager) &&
		  intervals_union(&t->compiling, &t->compiled, &both) && intervals_subtract(&t->eager, &both, &left);

	intervals_done(&t->eager);
	t->eager = left;
	left = (intervals){ 0 };
	ok = ok && intervals_subtract(&t->compiled, &t->compiling, &left);
	intervals_done(&t->compiled);
	t->compiled = left;
	intervals_done(&both);
	return ok;
}

bool compile_times_load(compile_times *c, const compile_calls *calls, const op_tree *tree)
{
	const rows *r = calls->rows;
	bool ok = true;

	*c = (compile_times){ .calls = calls, .tree = tree };
	c->ranks = calloc(r->n_ranks + 1, sizeof *c->ranks);
	if (!c->ranks)
		return false;
	for (size_t i = 0; i < r->n_ranks; i++)
		c->ranks[i].of = &r->ranks[i];
	add_compiled(c);
	add_eager(c);
	for (size_t i = 0; i < r->n_ranks; i++)
		ok = tell_apart(&c->ranks[i]) && ok;
	return ok;
}

void compile_times_done(compile_times *c)
{
	for (size_t i = 0; c->ranks && i < c->calls->rows->n_ranks; i++) {
		intervals_done(&c->ranks[i].compiling);
		intervals_done(&c->ranks[i].compiled);
		intervals_done(&c->ranks[i].eager);
	}
	free(c->ranks);
}

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

static void split_add(compile_split *s, const rank_times *t, int64_t from, int64_t to)
{
	if (to <= from)
		return;
	s->all = add_bounded(s->all, to - from);
	s->compiling = add_bounded(s->compiling, intervals_overlap_with(&t->compiling, from, to));
	s->compiled = add_bounded(s->compiled, intervals_overlap_with(&t->compiled, from, to));
	s->eager = add_bounded(s->eager, intervals_overlap_with(&t->eager, from, to));
}

static void split_sum(compile_split *to, const compile_split *s)
{
	to->all = add_bounded(to->all, s->all);
	to->compiling = add_bounded(to->compiling, s->compiling);
	to->compiled = add_bounded(to->compiled, s->compiled);
	to->eager = add_bounded(to->eager, s->eager);
	to->steady_ns = add_bounded(to->steady_ns, s->steady_ns);
	to->steady_compiled_ns = add_bounded(to->steady_compiled_ns, s->steady_compiled_ns);
	to->n_steady += s->n_steady;
	to->device_ns = add_bounded(to->device_ns, s->device_ns);
	to->compiled_device_ns = add_bounded(to->compiled_device_ns, s->compiled_device_ns);
}

/* compiling, compiled, eager, other */
static void put_split(const compile_split *s, cell *c)
{
	c[0] = cell_ns(s->compiling);
	c[1] = cell_ns(s->compiled);
	c[2] = cell_ns(s->eager);
	c[3] = cell_ns(s->all - s->compiling - s->compiled - s->eager);
}

/* Over the steps; without steps over everything. */
static void split_rank(compile_split *s, const rank_times *t, const rows *r)
{
	for (size_t i = 0; i < t->of->n_steps; i++) {
		const rows_step *step = &t->of->steps[i];
		compile_split one = { 0 };
		split_add(&one, t, step->start_ns, step->start_ns + step->dur_ns);
		split_sum(s, &one);
		if (!one.compiling) {
			s->steady_ns = add_bounded(s->steady_ns, one.all);
			s->steady_compiled_ns = add_bounded(s->steady_compiled_ns, one.compiled);
			s->n_steady++;
		}
	}
	if (!t->of->n_steps)
		split_add(s, t, t->of->start_ns, t->of->end_ns);
	for (size_t i = 0; i < t->of->n_device; i++)
		s->device_ns = add_bounded(s->device_ns, rows_at(r, t->of->device[i]).dur_ns);
	s->compiled_device_ns = t->device_ns;
}

compile_split compile_times_add_shares(const compile_times *c, sonde_result *r)
{
	table *t = result_table(r, "compile_share", "Where the time goes", share_columns, N_COLUMNS(share_columns));
	compile_split sum = { 0 };

	for (size_t i = 0; compile_has_any(c->calls) && i < c->calls->rows->n_ranks; i++) {
		const rank_times *of = &c->ranks[i];
		compile_split s = { 0 };
		split_rank(&s, of, c->calls->rows);
		split_sum(&sum, &s);
		cell *to = table_row(r, t, 0);
		to[0] = cell_integer(of->of->rank);
		to[1] = cell_ns(s.all);
		put_split(&s, to + 2);
		to[6] = percent_of((double)s.compiled, (double)s.all);
		if (of->of->n_device) {
			to[7] = cell_ns(s.compiled_device_ns);
			to[8] = cell_ns(s.device_ns - s.compiled_device_ns);
		}
	}
	table_parts(t, split_parts);
	return sum;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Adds one for what began in a step; counts lie as rows.steps do. */
static void count_in_step(const compile_times *c, uint64_t *counts, uint32_t number)
{
	const row *at = ROW_AT(c->calls->rows, number);
	const rows_rank *rank = compile_rank_of(c->calls->rows, row_rank(c->calls->rows, at));
	int64_t step = rank_step_at(rank, at->start_ns);

	if (step >= 0)
		counts[rank->steps - c->calls->rows->steps + step]++;
}

bool compile_times_add_steps(const compile_times *c, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "compile_steps", "Step by step", step_columns, N_COLUMNS(step_columns));
	const rows *all = c->calls->rows;
	uint64_t *runs = calloc(all->n_steps + 1, sizeof *runs), *breaks = calloc(all->n_steps + 1, sizeof *breaks);

	for (size_t i = 0; runs && breaks && i < c->calls->runs.n; i++)
		count_in_step(c, runs, c->calls->runs.items[i].row);
	for (size_t i = 0; runs && breaks && i < c->calls->breaks.n; i++)
		count_in_step(c, breaks, c->calls->breaks.items[i].to);
	for (size_t i = 0; runs && breaks && compile_has_any(c->calls) && i < all->n_steps; i++) {
		const rows_step *step = &all->steps[i];
		const rows_rank *rank = compile_rank_of(c->calls->rows, step->rank);
		compile_split s = { 0 };
		if (!rank)
			continue;
		split_add(&s, &c->ranks[rank - all->ranks], step->start_ns, step->start_ns + step->dur_ns);
		cell *to = table_row(r, t, 0);
		to[0] = cell_integer(step->number);
		to[1] = cell_integer(step->rank);
		to[2] = cell_ns(s.all);
		put_split(&s, to + 3);
		to[7] = cell_count(runs[i]);
		to[8] = cell_count(breaks[i]);
		to[9] = percent_of((double)s.compiled, (double)s.all);
	}
	table_parts(t, split_parts);
	table_chart(t, CHART_BARS, "step", "compiled_percent", NULL);
	limit_rows(r, t, options, "steps");
	bool ok = runs && breaks;
	free(runs);
	free(breaks);
	return ok;
}
