/*
 * What a device's own counters say (CUPTI's range profiler: one row of category cuda_profiler_range for each kernel,
 * its arguments are the counters), by the operator that launched the kernel.
 *
 * Such rows say neither when a kernel ran nor who launched it, only in which order: the n-th is of the n-th launch of a
 * kernel. Where there are more or fewer launches than rows nobody can say whose they are, and the operator is unknown.
 */
#include "analyze/tables/calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/intern.h"

static const column counter_columns[] = {
	{ "operator", "operator", CELL_STRING, 0, false }, { "rank", "rank", CELL_INTEGER, 1, false },
	{ "counter", "counter", CELL_STRING, -1, false },  { "short", "counter", CELL_STRING, 0, false },
	{ "n_kernels", "kernels", CELL_COUNT, 0, false },  { "sum", "sum", CELL_NUMBER, 0, false },
	{ "mean", "mean", CELL_NUMBER, 1, false },	   { "max", "max", CELL_NUMBER, 2, false },
};
static const column kernel_columns[] = {
	{ "number", "number", CELL_COUNT, 2, false },	     { "name", "kernel", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 1, false },	     { "operator", "operator", CELL_STRING, 0, false },
	{ "top_operator", "within", CELL_STRING, 1, false }, { "operators", "operators", CELL_STRING, -1, false },
	{ "counter", "counter", CELL_STRING, -1, false },    { "short", "counter", CELL_STRING, 0, false },
	{ "value", "value", CELL_NUMBER, 0, false },
};

/* A range or a launch, by start and then as in the file. */
typedef struct timed {
	int64_t start;
	uint32_t row, args;
	uint32_t call; /* of a launch */
} timed;
typedef VEC(timed) timed_list;

#define SORT_NAME sort_timed
#define SORT_TYPE timed
#define SORT_BEFORE(a, b) ((a)->start != (b)->start ? (a)->start < (b)->start : (a)->args < (b)->args)
#include "base/sort_template.h"

typedef struct counter_sum {
	uint32_t op, counter; /* name or WORK_NONE; of the intern table */
	uint64_t n;
	double sum, max;
} counter_sum;

typedef struct reader {
	const work *w;
	const calls *c;
	sonde_result *r;
	table *kernels;
	args_reader *args;
	intern_table counters;
	intern_table found;
	VEC(counter_sum) sums;
	bool *is_range; /* by site */
	/* of the row that is being read */
	cell about[6];
	uint32_t op;
	bool failed;
} reader;

static bool add_timed(timed_list *to, const rows *r, uint32_t number, uint32_t at)
{
	timed *added = VEC_ADD(to);

	if (added)
		*added = (timed){ rows_at(r, number).start_ns, number, rows_at(r, number).args, at };
	return added != NULL;
}

static bool find_ranges(const reader *m, int32_t rank, timed_list *to)
{
	const rows *r = &m->w->rows;

	for (uint32_t i = 0; i < r->n; i++)
		if (m->is_range[rows_at(r, i).site] && row_rank(r, ROW_AT(r, i)) == rank && !add_timed(to, r, i, 0))
			return false;
	return sort_timed(to->items, to->n);
}

static bool is_launch(const reader *m, const call *at)
{
	const rows *r = &m->w->rows;
	const char *name = call_name(m->c, at->site);

	if (m->w->is_hta)
		return strncmp(name, "cudaLaunchKernel", 16) == 0;
	return rows_at(r, at->row).class == CLASS_RUNTIME && strstr(name, "LaunchKernel");
}

static bool find_launches(const reader *m, const calls_rank *k, timed_list *to)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (is_launch(m, &k->items[i]) && !add_timed(to, &m->w->rows, k->items[i].row, i))
			return false;
	return sort_timed(to->items, to->n);
}

/* ---- Values -------------------------------------------------------------------------------------------------------
 */

static bool number_of(const char *json, size_t len, double *ret)
{
	char text[64], *end;

	if (!len || len >= sizeof text || !strchr("-0123456789", *json))
		return false;
	memcpy(text, json, len);
	text[len] = '\0';
	*ret = strtod(text, &end);
	return !*end && isfinite(*ret);
}

static void add_value(reader *m, uint32_t counter, double value)
{
	uint32_t key[] = { m->op, counter };
	uint32_t number = intern_words(&m->found, key, 2);
	counter_sum *s = number == INTERN_NONE ? NULL : number < m->sums.n ? &m->sums.items[number] : VEC_ADD(&m->sums);

	m->failed |= !s;
	if (!s)
		return;
	if (!s->n)
		*s = (counter_sum){ m->op, counter, 0, 0, -INFINITY };
	s->n++;
	s->sum += value;
	s->max = value > s->max ? value : s->max;
}

/* For people: the instruction of smsp__sass_thread_inst_executed_op_ffma_pred_on.sum, else all of it. */
static cell short_name(sonde_result *r, const char *counter)
{
	const char *op = strstr(counter, "inst_executed_op_"), *end = op ? strstr(op, "_pred_on") : NULL;

	return cell_string(end ? result_format(r, "%.*s", (int)(end - op - 17), op + 17) : result_string(r, counter));
}

static void read_counter(void *context, const char *key, size_t key_len, const char *json, size_t len)
{
	reader *m = context;
	double value;

	if (!number_of(json, len, &value))
		return;
	uint32_t counter = intern(&m->counters, key, key_len);
	if (counter == INTERN_NONE) {
		m->failed = true;
		return;
	}
	add_value(m, counter, value);
	cell *c = table_row(m->r, m->kernels, 0);
	memcpy(c, m->about, sizeof m->about);
	c[6] = cell_string(result_string(m->r, intern_text(&m->counters, counter)));
	c[7] = short_name(m->r, intern_text(&m->counters, counter));
	c[8] = cell_number(value);
}

/* The operators around a launch, the outermost first. */
static bool tell_operators(reader *m, const calls_rank *k, uint32_t at)
{
	VEC(uint32_t) names = { 0 };
	bool ok = true;

	for (at = call_op(m->c, k, at); ok && at != CALL_NONE; at = call_op(m->c, k, k->items[at].parent)) {
		uint32_t *name = VEC_ADD(&names);
		ok = name != NULL;
		if (ok)
			*name = m->w->rows.sites[k->items[at].site].name;
	}
	for (size_t i = 0; i < names.n / 2; i++) {
		uint32_t last = names.items[names.n - 1 - i];
		names.items[names.n - 1 - i] = names.items[i];
		names.items[i] = last;
	}
	if (ok && names.n) {
		m->op = names.items[names.n - 1];
		m->about[3] = cell_string(result_string(m->r, index_text(m->w->rows.ix, m->op)));
		m->about[4] = cell_string(result_string(m->r, index_text(m->w->rows.ix, names.items[0])));
		m->about[5] = cell_string(call_names(m->c, m->r, names.items, names.n));
	}
	VEC_DONE(&names);
	return ok;
}

static bool read_rank(reader *m, const calls_rank *k, size_t *ret_unknown)
{
	const rows *r = &m->w->rows;
	timed_list ranges = { 0 }, launches = { 0 };
	bool ok = find_ranges(m, k->rank, &ranges) && find_launches(m, k, &launches);
	bool same = ranges.n == launches.n;

	for (size_t i = 0; ok && i < ranges.n; i++) {
		const row *at = ROW_AT(r, ranges.items[i].row);
		m->op = WORK_NONE;
		for (size_t j = 0; j < sizeof m->about / sizeof m->about[0]; j++)
			m->about[j] = cell_unknown();
		m->about[0] = cell_count(i);
		m->about[1] = cell_string(result_string(m->r, row_name(r, at)));
		m->about[2] = cell_integer(k->rank);
		ok = !same || tell_operators(m, k, launches.items[i].call);
		if (ok)
			args_each(m->args, at->args, read_counter, m);
		ok = ok && !m->failed;
	}
	*ret_unknown += same ? 0 : ranges.n;
	VEC_DONE(&ranges);
	VEC_DONE(&launches);
	return ok;
}

/* ---- Sums ---------------------------------------------------------------------------------------------------------
 */

static int by_sum(const void *a, const void *b)
{
	const counter_sum *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	if (x->counter != y->counter)
		return x->counter < y->counter ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static void put(reader *m, int32_t rank, table *t)
{
	if (m->sums.n)
		qsort(m->sums.items, m->sums.n, sizeof *m->sums.items, by_sum);
	for (size_t i = 0; i < m->sums.n; i++) {
		const counter_sum *s = &m->sums.items[i];
		cell *c = table_row(m->r, t, 0);
		if (s->op != WORK_NONE)
			c[0] = cell_string(result_string(m->r, index_text(m->w->rows.ix, s->op)));
		c[1] = cell_integer(rank);
		c[2] = cell_string(result_string(m->r, intern_text(&m->counters, s->counter)));
		c[3] = short_name(m->r, intern_text(&m->counters, s->counter));
		c[4] = cell_count(s->n);
		c[5] = cell_number(s->sum);
		c[6] = cell_number(s->sum / (double)s->n);
		c[7] = cell_number(s->max);
	}
	intern_done(&m->found);
	m->sums.n = 0;
}

/* How many sites are ranges. */
static size_t mark_ranges(reader *m)
{
	const rows *r = &m->w->rows;
	size_t n = 0;

	m->is_range = calloc(r->n_sites + 1, 1);
	for (size_t i = 0; m->is_range && i < r->n_sites; i++)
		n += m->is_range[i] = strcmp(index_text(r->ix, r->sites[i].category), "cuda_profiler_range") == 0;
	return n;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	table *t = result_table(r, "counters", "The device's counters by operator", counter_columns,
				sizeof counter_columns / sizeof counter_columns[0]);
	table *kernels = result_table(r, "counter_kernels", "The device's counters by kernel", kernel_columns,
				      sizeof kernel_columns / sizeof kernel_columns[0]);
	reader m = { .w = w, .r = r, .kernels = kernels };
	size_t n_unknown = 0, n_sites = w->rows.ix ? mark_ranges(&m) : 0;
	bool ok = !w->rows.ix || m.is_range;

	if (n_sites) /* most traces have none */
		ok = ok && (m.c = calls_of(w, options)) && (m.args = args_reader_new(w->rows.ix));
	for (size_t i = 0; ok && n_sites && i < m.c->n_ranks; i++) {
		ok = read_rank(&m, &m.c->ranks[i], &n_unknown);
		if (ok)
			put(&m, m.c->ranks[i].rank, t);
	}
	limit_rows(r, t, options, "operators and counters");
	limit_rows(r, kernels, options, "kernels and counters");
	if (ok && t && !t->n_rows) {
		t->n_shown = kernels->n_shown = 0;
		result_note_add(r, "counters",
				"no hardware counters: they need CUPTI's range profiler, which records no kernels");
	}
	if (n_unknown)
		result_note_add(r, "counters",
				"%zu kernels have counters, but not as many were launched: whose they are "
				"cannot be told",
				n_unknown);
	args_reader_free(m.args);
	intern_done(&m.found);
	intern_done(&m.counters);
	VEC_DONE(&m.sums);
	free(m.is_range);
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis counters_work = { .add = add, .needs_no_device = true };

const analysis counters_analysis = {
	.name = "counters",
	.summary = "What the device's own counters say, by the operator that launched the kernel",
	.compat = WORK_COMPAT,
	.work = &counters_work,
};
