/*
 * Operators by what they took on the device: by category, by name, by arguments, and the kernels of each.
 *
 * Direct time is that of what the operator launched itself, subtree time that of everything inside it. Both count what
 * overlaps once, so the direct times of two operators may still add up to more than the device was busy.
 */
#include "analyze/tables/op_calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"

static const column category_columns[] = {
	{ "category", "category", CELL_STRING, 0, false }, { "rank", "rank", CELL_INTEGER, 0, false },
	{ "count", "calls", CELL_COUNT, 0, false },	   { "direct_ns", "direct", CELL_NS, 0, false },
	{ "percent", "%", CELL_PERCENT, 0, true },
};
static const column name_columns[] = {
	{ "name", "operator", CELL_STRING, 0, false }, { "category", "category", CELL_STRING, 2, false },
	{ "rank", "rank", CELL_INTEGER, 1, false },    { "count", "calls", CELL_COUNT, 0, false },
	{ "direct_ns", "direct", CELL_NS, 0, false },  { "subtree_ns", "subtree", CELL_NS, 0, false },
	{ "percent", "%", CELL_PERCENT, 0, true },     { "cumulative_percent", "sum %", CELL_PERCENT, 3, false },
};
static const column args_columns[] = {
	{ "name", "operator", CELL_STRING, 0, false },
	{ "shapes", "shapes", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 2, false },
	{ "args_id", "args", CELL_INTEGER, -1, false },
	{ "category", "category", CELL_STRING, 3, false },
	{ "input_dims", "dims", CELL_STRING, -1, false },
	{ "input_types", "types", CELL_STRING, 4, false },
	{ "input_strides", "strides", CELL_STRING, 5, false },
	{ "concrete_inputs", "inputs", CELL_STRING, 5, false },
	{ "count", "calls", CELL_COUNT, 0, false },
	{ "direct_ns", "direct", CELL_NS, 0, false },
	{ "mean_ns", "mean", CELL_NS, 0, false },
	{ "median_ns", "median", CELL_NS, 3, false },
	{ "std_ns", "std", CELL_NS, 4, false },
	{ "min_ns", "min", CELL_NS, 4, false },
	{ "max_ns", "max", CELL_NS, 4, false },
	{ "subtree_ns", "subtree", CELL_NS, 1, false },
	{ "percent", "%", CELL_PERCENT, 0, true },
};
static const column kernel_columns[] = {
	{ "name", "kernel", CELL_STRING, 0, false },
	{ "op", "operator", CELL_STRING, 0, false },
	{ "category", "category", CELL_STRING, 3, false },
	{ "rank", "rank", CELL_INTEGER, 2, false },
	{ "args_id", "args", CELL_INTEGER, -1, false },
	{ "stream", "stream", CELL_INTEGER, 2, false },
	{ "count", "count", CELL_COUNT, 0, false },
	{ "sum_ns", "total", CELL_NS, 0, false },
	{ "mean_ns", "mean", CELL_NS, 0, false },
	{ "min_ns", "min", CELL_NS, 3, false },
	{ "max_ns", "max", CELL_NS, 3, false },
	{ "percent", "%", CELL_PERCENT, 0, true },
};
#define N_COLUMNS(of) (sizeof(of) / sizeof(of)[0])

/* Sums of direct time by rank. */
static double *rank_totals(const op_calls *o)
{
	double *totals = calloc(o->w->n_ranks + 1, sizeof *totals);

	for (size_t i = 0; totals && i < o->groups.n; i++)
		totals[o->groups.items[i].rank] += (double)o->groups.items[i].direct;
	return totals;
}

static const char *text_of(const op_calls *o, sonde_result *r, uint32_t string)
{
	return result_string(r, index_text(o->w->rows.ix, string));
}

/* ---- By category and by name ------------------------------------------------------------------------------------- */

/* Groups that have something in common. */
typedef struct op_sum {
	uint32_t name, rank;
	uint64_t categories; /* bits */
	uint64_t n;
	__int128 direct, subtree;
} op_sum;
typedef VEC(op_sum) op_sums;
_Static_assert(OP_CATEGORIES <= 64, "a bit each");

#define SORT_NAME sort_sums
#define SORT_TYPE op_sum
#define SORT_BEFORE(a, b) ((a)->direct > (b)->direct)
#include "base/sort_template.h"

static bool sum_up(const op_calls *o, bool by_name, op_sums *ret)
{
	intern_table keys = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < o->groups.n; i++) {
		const op_group *g = &o->groups.items[i];
		uint32_t key[] = { by_name ? g->name : (uint32_t)g->category, g->rank };
		uint32_t number = intern(&keys, (const char *)key, sizeof key);
		ok = number != INTERN_NONE && (number < ret->n || VEC_ADD(ret));
		if (!ok)
			break;
		op_sum *s = &ret->items[number];
		s->name = g->name;
		s->rank = g->rank;
		s->categories |= UINT64_C(1) << g->category;
		s->n += g->n;
		s->direct += g->direct;
		s->subtree += g->subtree;
	}
	intern_done(&keys);
	return ok && sort_sums(ret->items, ret->n);
}

static const char *category_names(sonde_result *r, uint64_t categories)
{
	const char *text = NULL;

	for (op_category c = 0; c < OP_CATEGORIES; c++)
		if (categories >> c & 1)
			text = text ? result_format(r, "%s, %s", text, op_category_name(c)) : op_category_name(c);
	return text;
}

static bool put_categories(const op_calls *o, const double *totals, sonde_result *r)
{
	table *t = result_table(r, "op_categories", "Operators by category", category_columns,
				N_COLUMNS(category_columns));
	op_sums sums = { 0 };
	bool ok = sum_up(o, false, &sums);

	for (size_t i = 0; ok && i < sums.n; i++) {
		const op_sum *s = &sums.items[i];
		cell *c = table_row(r, t, 0);
		*c++ = cell_string(category_names(r, s->categories));
		*c++ = cell_integer(o->w->ranks[s->rank].rank);
		*c++ = cell_count(s->n);
		*c++ = work_cell_f64(o->w, (double)s->direct);
		*c++ = percent_of((double)s->direct, totals[s->rank]);
	}
	VEC_DONE(&sums);
	return ok;
}

static bool put_names(const op_calls *o, const double *totals, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "ops", "Operators", name_columns, N_COLUMNS(name_columns));
	double *so_far = calloc(o->w->n_ranks + 1, sizeof *so_far);
	op_sums sums = { 0 };
	bool ok = so_far && sum_up(o, true, &sums);

	for (size_t i = 0; ok && i < sums.n; i++) {
		const op_sum *s = &sums.items[i];
		cell *c = table_row(r, t, 0);
		so_far[s->rank] += (double)s->direct;
		*c++ = cell_string(text_of(o, r, s->name));
		*c++ = cell_string(category_names(r, s->categories));
		*c++ = cell_integer(o->w->ranks[s->rank].rank);
		*c++ = cell_count(s->n);
		*c++ = work_cell_f64(o->w, (double)s->direct);
		*c++ = work_cell_f64(o->w, (double)s->subtree);
		*c++ = percent_of((double)s->direct, totals[s->rank]);
		*c++ = percent_of(so_far[s->rank], totals[s->rank]);
	}
	limit_rows(r, t, options, "operators");
	VEC_DONE(&sums);
	free(so_far);
	return ok;
}

/* ---- By arguments ------------------------------------------------------------------------------------------------ */

typedef struct group_order {
	__int128 direct;
	uint32_t group;
} group_order;

#define SORT_NAME sort_groups
#define SORT_TYPE group_order
#define SORT_BEFORE(a, b) ((a)->direct > (b)->direct)
#include "base/sort_template.h"

/* Mean, median, sample deviation, least and most of its calls' direct times. False when out of memory. */
static bool put_direct(const op_calls *o, const op_group *g, cell *c)
{
	int64_t *directs = op_group_directs(g);
	double mean = (double)g->direct / g->n, squares = 0;

	if (!directs)
		return false;
	for (uint32_t i = 0; i < g->n; i++) {
		double away = (double)directs[i] - mean;
		squares += away * away;
	}
	double low = (double)directs[(g->n - 1) / 2];
	double high = (double)directs[g->n / 2];
	*c++ = work_cell_f64(o->w, mean);
	*c++ = work_cell_f64(o->w, (low + high) / 2);
	*c++ = work_cell_f64(o->w, g->n > 1 ? sqrt(squares / (g->n - 1)) : NAN);
	*c++ = work_cell(o->w, directs[0]);
	*c++ = work_cell(o->w, directs[g->n - 1]);
	free(directs);
	return true;
}

static bool put_group(const op_calls *o, uint32_t number, double total, sonde_result *r, table *t)
{
	const op_group *g = &o->groups.items[number];
	cell *c = table_row(r, t, 0);

	*c++ = cell_string(text_of(o, r, g->name));
	*c++ = cell_string(op_shapes(o, g->sample, r));
	*c++ = cell_integer(o->w->ranks[g->rank].rank);
	*c++ = cell_integer(number);
	*c++ = cell_string(op_category_name(g->category));
	*c++ = cell_string(op_args(o, g->sample, OP_DIMS, r));
	*c++ = cell_string(op_args(o, g->sample, OP_TYPES, r));
	*c++ = cell_string(op_args(o, g->sample, OP_STRIDES, r));
	*c++ = cell_string(op_args(o, g->sample, OP_INPUTS, r));
	*c++ = cell_count(g->n);
	*c++ = work_cell_f64(o->w, (double)g->direct);
	bool ok = put_direct(o, g, c);
	c += 5;
	*c++ = work_cell_f64(o->w, (double)g->subtree);
	*c++ = percent_of((double)g->direct, total);
	return ok;
}

static bool put_groups(const op_calls *o, const double *totals, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "op_args", "Operators by arguments", args_columns, N_COLUMNS(args_columns));
	group_order *order = malloc((o->groups.n + 1) * sizeof *order);
	bool ok = order != NULL;

	for (size_t i = 0; ok && i < o->groups.n; i++)
		order[i] = (group_order){ o->groups.items[i].direct, (uint32_t)i };
	ok = ok && sort_groups(order, o->groups.n);
	for (size_t i = 0; ok && i < o->groups.n; i++)
		ok = put_group(o, order[i].group, totals[o->groups.items[order[i].group].rank], r, t);
	limit_rows(r, t, options, "operators");
	free(order);
	return ok;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

typedef struct kernel_key {
	uint32_t name, op; /* strings; INDEX_NONE: its launch is not there */
	uint32_t group;	   /* or OP_NONE */
	uint32_t rank;
	int64_t stream;
} kernel_key;

typedef struct kernel_sum {
	kernel_key key;
	uint64_t n;
	int64_t sum_ns, min_ns, max_ns;
} kernel_sum;
typedef VEC(kernel_sum) kernel_sums;

#define SORT_NAME sort_kernels
#define SORT_TYPE kernel_sum
#define SORT_BEFORE(a, b) ((a)->sum_ns > (b)->sum_ns)
#include "base/sort_template.h"

static bool add_kernel(const op_calls *o, uint32_t rank, size_t number, intern_table *keys, kernel_sums *to)
{
	const rows *r = &o->w->rows;
	const work_item *item = WORK_AT(o->w, &o->w->ranks[rank], number);
	uint32_t op = op_of_item(o, rank, number);
	int64_t dur_ns = rows_at(r, item->row).dur_ns;
	kernel_key key = { .name = r->sites[item->site].name,
			   .op = op == ROW_NONE ? INDEX_NONE : r->sites[rows_at(r, op).site].name,
			   .group = op_group_of(o, rank, number),
			   .rank = rank,
			   .stream = item->stream };
	uint32_t at = intern(keys, (const char *)&key, sizeof key);

	if (at == INTERN_NONE || (at == to->n && !VEC_ADD(to)))
		return false;
	kernel_sum *s = &to->items[at];
	if (!s->n++)
		*s = (kernel_sum){ key, 1, 0, dur_ns, dur_ns };
	s->sum_ns = add_bounded(s->sum_ns, dur_ns);
	s->min_ns = dur_ns < s->min_ns ? dur_ns : s->min_ns;
	s->max_ns = dur_ns > s->max_ns ? dur_ns : s->max_ns;
	return true;
}

static void put_kernel(const op_calls *o, const kernel_sum *s, double total_ns, sonde_result *r, table *t)
{
	cell *c = table_row(r, t, 0);

	*c++ = cell_string(text_of(o, r, s->key.name));
	*c++ = s->key.op == INDEX_NONE ? cell_unknown() : cell_string(text_of(o, r, s->key.op));
	*c++ = s->key.group == OP_NONE ? cell_unknown()
				       : cell_string(op_category_name(o->groups.items[s->key.group].category));
	*c++ = cell_integer(o->w->ranks[s->key.rank].rank);
	*c++ = s->key.group == OP_NONE ? cell_unknown() : cell_integer(s->key.group);
	*c++ = s->key.stream < 0 ? cell_unknown() : cell_integer(s->key.stream);
	*c++ = cell_count(s->n);
	*c++ = cell_ns(s->sum_ns);
	*c++ = o->w->is_tracelens ? cell_number((double)s->sum_ns / (double)s->n) : cell_ns(s->sum_ns / (int64_t)s->n);
	*c++ = cell_ns(s->min_ns);
	*c++ = cell_ns(s->max_ns);
	*c++ = percent_of((double)s->sum_ns, total_ns);
}

/* Durations as they are in the file. By TraceLens's rules kernels only, no copies. */
static bool put_kernels(const op_calls *o, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "op_kernels", "Kernels of operators", kernel_columns, N_COLUMNS(kernel_columns));
	const work *w = o->w;
	intern_table keys = { 0 };
	kernel_sums sums = { 0 };
	coverage all = { 0 };
	double total_ns = 0;
	bool ok = true;

	for (uint32_t k = 0; ok && k < w->n_ranks; k++)
		for (size_t i = 0; ok && i < w->ranks[k].n; i++) {
			const work_item *item = WORK_AT(w, &w->ranks[k], i);
			bool is_in = !w->is_tracelens ||
				     strcmp(row_category(&w->rows, ROW_AT(&w->rows, item->row)), "kernel") == 0;
			cover(&all, item, is_in);
			total_ns += is_in ? (double)rows_at(&w->rows, item->row).dur_ns : 0;
			ok = !is_in || add_kernel(o, k, i, &keys, &sums);
		}
	ok = ok && sort_kernels(sums.items, sums.n);
	for (size_t i = 0; ok && i < sums.n; i++)
		put_kernel(o, &sums.items[i], total_ns, r, t);
	limit_rows(r, t, options, "kernels");
	work_covers(w, r, "op_kernels", &all, "copies");
	intern_done(&keys);
	VEC_DONE(&sums);
	return ok;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	op_calls o;
	coverage covered = { 0 };
	bool ok = op_calls_load(&o, w, NULL, NULL);
	double *totals = ok ? rank_totals(&o) : NULL;

	ok = totals && put_categories(&o, totals, r) && put_names(&o, totals, options, r) &&
	     put_groups(&o, totals, options, r);
	for (size_t k = 0; ok && k < w->n_ranks; k++)
		for (size_t i = 0; i < w->ranks[k].n; i++)
			cover(&covered, WORK_AT(w, &w->ranks[k], i), op_group_of(&o, k, i) != OP_NONE);
	work_covers(w, r, "op_categories, ops, op_args", &covered, "communication, or without a launch in the trace");
	ok = ok && put_kernels(&o, options, r);
	free(totals);
	op_calls_done(&o);
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis ops_work = { .add = add };

const analysis ops_analysis = {
	.name = "ops",
	.summary = "Device time of operators: by category, by name, by arguments, and their kernels",
	.compat = "tracelens",
	.work = &ops_work,
};
