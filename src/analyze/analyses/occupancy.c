/*
 * How well kernels fill the device: blocks per SM and estimated occupancy by kernel, and by the operator and the size
 * of launch that it ran with. Means are over time, of the calls that say. Copies are no kernels.
 */
#include "analyze/tables/evidence.h"
#include "analyze/tables/op_tree.h"
#include "analyze/tables/work.h"

#include <stdlib.h>
#include <string.h>
#include "base/intern.h"

enum { BLOCKS, OCCUPANCY, GRID, BLOCK, REGISTERS, SHARED, N_ARGS };

#define SUM_COLUMNS                                                                                                    \
	{ "rank", "rank", CELL_INTEGER, 4, false }, { "count", "count", CELL_COUNT, 0, false },                        \
		{ "sum_ns", "total", CELL_NS, 0, false }, { "mean_ns", "mean", CELL_NS, 1, false },                    \
		{ "min_ns", "min", CELL_NS, 3, false }, { "max_ns", "max", CELL_NS, 3, false },                        \
		{ "blocks_per_sm", "blocks/SM", CELL_NUMBER, 0, false },                                               \
		{ "occupancy_percent", "occupancy %", CELL_PERCENT, 0, false },                                        \
		{ "uses_tensor_cores", "tensor cores", CELL_BOOL, 2, false },                                          \
	{                                                                                                              \
		"percent", "%", CELL_PERCENT, 0, true                                                                  \
	}
static const column kernel_columns[] = { { "name", "kernel", CELL_STRING, 0, false }, SUM_COLUMNS };
static const column launch_columns[] = {
	{ "name", "kernel", CELL_STRING, 0, false },
	{ "op", "operator", CELL_STRING, 0, false },
	{ "grid", "grid", CELL_STRING, 2, false },
	{ "block", "block", CELL_STRING, 2, false },
	{ "registers", "registers", CELL_COUNT, 3, false },
	{ "shared_bytes", "shared", CELL_BYTES, 3, false },
	SUM_COLUMNS,
};
enum { N_SUM = sizeof kernel_columns / sizeof kernel_columns[0] };

typedef struct kernel_sum {
	uint32_t sample; /* a row */
	uint32_t op;	 /* a row, or ROW_NONE */
	uint64_t n;
	int64_t sum_ns, min_ns, max_ns;
	double blocks, occupancy;	 /* times nanoseconds */
	int64_t blocks_ns, occupancy_ns; /* of the calls that have it */
} kernel_sum;

typedef struct kernel_table {
	const work *w;
	op_tree tree;
	args_column args[N_ARGS];
	bool has_args;
	intern_table keys;
	VEC(kernel_sum) sums;
	int64_t whole_ns;
} kernel_table;

typedef struct kernel_key {
	uint32_t name;
	int32_t rank;
	uint32_t op_name, reserved;
	int64_t args[N_ARGS - GRID];
} kernel_key;

static kernel_key key_of(const kernel_table *t, const row *at, uint32_t op, bool by_launch)
{
	const rows *r = &t->w->rows;
	kernel_key key;

	memset(&key, 0, sizeof key);
	key.name = r->sites[at->site].name;
	key.rank = row_rank(r, at);
	if (!by_launch)
		return key;
	key.op_name = op == ROW_NONE ? INDEX_NONE : r->sites[rows_at(r, op).site].name;
	for (int i = GRID; t->has_args && at->args && i < N_ARGS; i++) {
		args_value value = args_column_value(r->ix, &t->args[i], at->args);
		key.args[i - GRID] = value.kind == ARGS_MISSING ? -1 : value.value;
	}
	return key;
}

static void add_call(const kernel_table *t, kernel_sum *s, const row *at)
{
	double blocks = t->has_args ? args_column_f64(t->w->rows.ix, &t->args[BLOCKS], at->args, -1) : -1;
	double occupancy = t->has_args ? args_column_f64(t->w->rows.ix, &t->args[OCCUPANCY], at->args, -1) : -1;

	s->min_ns = !s->n || at->dur_ns < s->min_ns ? at->dur_ns : s->min_ns;
	s->max_ns = at->dur_ns > s->max_ns ? at->dur_ns : s->max_ns;
	s->sum_ns = add_bounded(s->sum_ns, at->dur_ns);
	s->n++;
	if (blocks >= 0) {
		s->blocks += blocks * (double)at->dur_ns;
		s->blocks_ns = add_bounded(s->blocks_ns, at->dur_ns);
	}
	if (occupancy >= 0) {
		s->occupancy += occupancy * (double)at->dur_ns;
		s->occupancy_ns = add_bounded(s->occupancy_ns, at->dur_ns);
	}
}

static bool add_rows(kernel_table *t, bool by_launch)
{
	const rows *r = &t->w->rows;

	t->whole_ns = 0;
	for (size_t i = 0; i < r->n_device; i++) {
		const row *at = ROW_AT(r, r->device_rows[i]);
		if (at->class != CLASS_KERNEL)
			continue;
		uint32_t op = at->launch == ROW_NONE ? ROW_NONE : op_tree_op(&t->tree, at->launch);
		kernel_key key = key_of(t, at, op, by_launch);
		uint32_t number = intern(&t->keys, (const char *)&key, sizeof key);
		kernel_sum *s = number == INTERN_NONE ? NULL
				: number < t->sums.n  ? &t->sums.items[number]
						      : VEC_ADD(&t->sums);
		if (!s)
			return false;
		if (!s->n)
			s->sample = r->device_rows[i], s->op = op;
		add_call(t, s, at);
		t->whole_ns = add_bounded(t->whole_ns, at->dur_ns);
	}
	return true;
}

static const char *arg_text(const kernel_table *t, int which, const row *at, sonde_result *r)
{
	size_t len;
	const char *text = t->has_args ? args_column_text(t->w->rows.ix, &t->args[which], at->args, &len) : NULL;

	return text ? result_format(r, "%.*s", len > 200 ? 200 : (int)len, text) : NULL;
}

static void put_launch(const kernel_table *t, const kernel_sum *s, sonde_result *r, cell *c)
{
	const rows *all = &t->w->rows;
	const row *at = ROW_AT(all, s->sample);
	int64_t registers = t->has_args ? args_column_int(all->ix, &t->args[REGISTERS], at->args, -1) : -1;
	int64_t shared = t->has_args ? args_column_int(all->ix, &t->args[SHARED], at->args, -1) : -1;

	if (s->op != ROW_NONE)
		c[0] = cell_string(result_string(r, row_name(all, ROW_AT(all, s->op))));
	c[1] = cell_string(arg_text(t, GRID, at, r));
	c[2] = cell_string(arg_text(t, BLOCK, at, r));
	if (registers >= 0)
		c[3] = cell_count((uint64_t)registers);
	if (shared >= 0)
		c[4] = cell_bytes((uint64_t)shared);
}

static void put_sum(const kernel_table *t, const kernel_sum *s, bool by_launch, sonde_result *r, table *to)
{
	const row *at = ROW_AT(&t->w->rows, s->sample);
	const char *name = row_name(&t->w->rows, at);
	cell *c = table_row(r, to, 0);

	*c++ = cell_string(result_string(r, name));
	if (by_launch) {
		put_launch(t, s, r, c);
		c += sizeof launch_columns / sizeof launch_columns[0] - N_SUM;
	}
	c[0] = cell_integer(row_rank(&t->w->rows, at));
	c[1] = cell_count(s->n);
	c[2] = cell_ns(s->sum_ns);
	c[3] = cell_ns(add_bounded(s->sum_ns, (int64_t)s->n / 2) / (int64_t)s->n);
	c[4] = cell_ns(s->min_ns);
	c[5] = cell_ns(s->max_ns);
	if (s->blocks_ns)
		c[6] = cell_number(s->blocks / (double)s->blocks_ns);
	if (s->occupancy_ns)
		c[7] = cell_percent(s->occupancy / (double)s->occupancy_ns);
	c[8] = cell_bool(traits_of(name, "", CLASS_KERNEL) & TRAIT_TENSOR_CORE);
	c[9] = t->whole_ns ? cell_percent(100.0 * (double)s->sum_ns / (double)t->whole_ns) : cell_unknown();
}

static int by_sum(const void *a, const void *b)
{
	const kernel_sum *x = a, *y = b;

	return x->sum_ns > y->sum_ns ? -1 : x->sum_ns < y->sum_ns ? 1 : x->sample < y->sample ? -1 : 1;
}

static bool add_table(kernel_table *t, bool by_launch, const sonde_analyze_options *options, sonde_result *r)
{
	table *to = by_launch ? result_table(r, "kernel_launches", "By operator and launch size", launch_columns,
					     sizeof launch_columns / sizeof launch_columns[0])
			      : result_table(r, "kernel_occupancy", "Occupancy by kernel", kernel_columns, N_SUM);
	bool ok = add_rows(t, by_launch);

	if (t->sums.n)
		qsort(t->sums.items, t->sums.n, sizeof t->sums.items[0], by_sum);
	for (size_t i = 0; ok && i < t->sums.n; i++)
		put_sum(t, &t->sums.items[i], by_launch, r, to);
	VEC_DONE(&t->sums);
	intern_done(&t->keys);
	t->keys = (intern_table){ 0 };
	limit_rows(r, to, options, "kernels");
	return ok;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	kernel_table t = { .w = w,
			   .args = { { .role = ROLE_BLOCKS_PER_SM },
				     { .role = ROLE_OCCUPANCY },
				     { .role = ROLE_GRID },
				     { .role = ROLE_BLOCK },
				     { .role = ROLE_REGISTERS },
				     { .role = ROLE_SHARED_BYTES } } };
	bool ok = !w->rows.ix || op_tree_load(&t.tree, &w->rows);

	if (ok && w->rows.ix && index_n_rows(w->rows.ix, SECTION_ARGS))
		ok = t.has_args = args_columns_read(w->rows.ix, t.args, N_ARGS);
	ok = ok && add_table(&t, false, options, r) && add_table(&t, true, options, r);
	if (t.has_args)
		args_columns_done(t.args, N_ARGS);
	op_tree_done(&t.tree);
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis occupancy_work = { .add = add };

const analysis occupancy_analysis = {
	.name = "occupancy",
	.summary = "Blocks per SM, occupancy and tensor cores, by kernel and by launch",
	.work = &occupancy_work,
};
