/*
 * How long it takes from an operator to its kernel: from the operator's start to the launch, and from the launch to the
 * start on the device. By operator and by the kernels that it launched itself, in the order of their launches; both
 * delays are those of the first launch.
 *
 *   operator    the nearest one around the call
 *   launch      a call that launched something, whatever its name
 *
 * By HTA's rules a launch is one of four calls, and its operator is the one of any thread that began last, is named
 * aten:: and lasts until the call has ended.
 */
#include "analyze/tables/calls.h"

#include <stdlib.h>
#include <string.h>
#include "base/intern.h"
#include "base/search.h"

static const column delay_columns[] = {
	{ "operator", "operator", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 1, false },
	{ "count", "count", CELL_COUNT, 0, false },
	{ "launch_delay_ns", "to launch", CELL_NS, 0, false },
	{ "device_delay_ns", "to device", CELL_NS, 0, false },
	{ "kernels", "kernels", CELL_STRING, 0, false },
};

/* A call that launched something. */
typedef struct launch {
	uint32_t op, call;
} launch;
typedef VEC(launch) launch_list;

#define SORT_NAME sort_launches
#define SORT_TYPE launch
#define SORT_BEFORE(a, b) ((a)->op < (b)->op)
#include "base/sort_template.h"

/* ---- Operators of launches ----------------------------------------------------------------------------------------
 */

static bool add_launch(launch_list *to, uint32_t op, uint32_t at)
{
	launch *l = op == CALL_NONE ? NULL : VEC_ADD(to);

	if (l)
		*l = (launch){ op, at };
	return l || op == CALL_NONE;
}

static bool find_ours(const calls *c, const calls_rank *k, launch_list *to)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < k->n; i++)
		if (call_direct(k, i).n)
			ok = add_launch(to, call_op(c, k, i), i);
	return ok;
}

typedef struct by_time {
	int64_t start;
	uint32_t call, row;
} by_time;

#define SORT_NAME sort_by_time
#define SORT_TYPE by_time
#define SORT_BEFORE(a, b) ((a)->start != (b)->start ? (a)->start < (b)->start : (a)->row < (b)->row)
#include "base/sort_template.h"

static bool is_launch_by_hta(const char *name)
{
	static const char *const names[] = { "cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel",
					     "cuLaunchKernelEx" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/*
 * Operators that have begun and may still be asked for. Those of one start are a group, in the order of the file, each
 * of which ends later than the one before it: another would never be found. A group that ends no later than one that
 * began after it goes too, so that both ends and groups can be searched by halves.
 */
typedef struct open_op {
	int64_t end;
	uint32_t call;
} open_op;
typedef struct op_group {
	int64_t start, last_end;
	size_t first, n;
} op_group;
typedef struct open_ops {
	VEC(open_op) ops;
	VEC(op_group) groups;
} open_ops;

static bool open_add(open_ops *open, const call *op, uint32_t number)
{
	op_group *last = open->groups.n ? &open->groups.items[open->groups.n - 1] : NULL;
	int64_t end = op->start + op->dur;

	if (last && last->start == op->start && end <= last->last_end)
		return true;
	open_op *new_op = VEC_ADD(&open->ops);
	if (!new_op)
		return false;
	*new_op = (open_op){ end, number };
	if (!last || last->start != op->start) {
		last = VEC_ADD(&open->groups);
		if (!last)
			return false;
		*last = (op_group){ .start = op->start, .first = open->ops.n - 1 };
	}
	last->last_end = end;
	last->n++;
	for (; last > open->groups.items && last[-1].last_end <= end; last--, open->groups.n--)
		last[-1] = *last;
	return true;
}

/* Of those that last until then: what began last, and of those that began together the first of the file. */
static uint32_t open_find(const open_ops *open, int64_t end)
{
	size_t n = FIRST_NOT(i, 0, open->groups.n, open->groups.items[i].last_end >= end);

	if (!n)
		return CALL_NONE;
	const op_group *g = &open->groups.items[n - 1];
	size_t at = FIRST_NOT(i, g->first, g->first + g->n - 1, open->ops.items[i].end < end);
	return open->ops.items[at].call;
}

static bool find_hta(const calls *c, const calls_rank *k, launch_list *to)
{
	by_time *all = malloc((k->n + 1) * sizeof *all);
	open_ops open = { 0 };
	bool ok = all != NULL;

	for (uint32_t i = 0; ok && i < k->n; i++)
		all[i] = (by_time){ k->items[i].start, i, rows_at(&c->w->rows, k->items[i].row).args };
	ok = ok && sort_by_time(all, k->n);
	for (size_t i = 0; ok && i < k->n; i++) {
		uint32_t at = all[i].call;
		const call *one = &k->items[at];
		const char *name = call_name(c, one->site);
		if (strncmp(name, "aten::", 6) == 0)
			ok = open_add(&open, one, at);
		else if (is_launch_by_hta(name) && call_direct(k, at).n)
			ok = add_launch(to, open_find(&open, one->start + one->dur), at);
	}
	VEC_DONE(&open.ops);
	VEC_DONE(&open.groups);
	free(all);
	return ok;
}

/* ---- Sums ---------------------------------------------------------------------------------------------------------
 */

typedef struct delay {
	uint32_t number; /* of found */
	uint64_t count;
	double to_launch, to_device; /* ticks */
} delay;

typedef struct summer {
	const calls *c;
	intern_table found;
	VEC(delay) sums;
	VEC(uint32_t) words;
} summer;

static int by_count(const void *a, const void *b)
{
	const delay *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static bool add_word(summer *s, uint32_t site)
{
	uint32_t *word = VEC_ADD(&s->words);

	if (word)
		*word = s->c->w->rows.sites[site].name;
	return word != NULL;
}

/* The launches of one operator. */
static bool add_op(summer *s, const calls_rank *k, const launch *launches, size_t n)
{
	const call *op = &k->items[launches->op], *first = &k->items[launches->call];
	bool ok;

	s->words.n = 0;
	ok = add_word(s, op->site);
	for (size_t i = 0; ok && i < n; i++) {
		call_span kernels = call_direct(k, launches[i].call);
		for (size_t j = 0; ok && j < kernels.n; j++)
			ok = add_word(s, kernels.items[j].site);
	}
	uint32_t number = ok ? intern_words(&s->found, s->words.items, s->words.n) : INTERN_NONE;
	if (number == INTERN_NONE)
		return false;
	delay *sum = number < s->sums.n ? &s->sums.items[number] : VEC_ADD(&s->sums);
	if (!sum)
		return false;
	sum->number = number;
	sum->count++;
	sum->to_launch += (double)(first->start - op->start);
	sum->to_device += (double)(call_direct(k, launches->call).items->start - first->start);
	return true;
}

static bool sum_up(void *context, const calls_rank *k)
{
	summer *s = context;
	launch_list launches = { 0 };
	bool ok = s->c->w->is_hta ? find_hta(s->c, k, &launches) : find_ours(s->c, k, &launches);

	ok = ok && sort_launches(launches.items, launches.n);
	for (size_t i = 0, n; ok && i < launches.n; i += n) {
		for (n = 1; i + n < launches.n && launches.items[i + n].op == launches.items[i].op;)
			n++;
		ok = add_op(s, k, &launches.items[i], n);
	}
	VEC_DONE(&launches);
	return ok;
}

static void put(summer *s, int32_t rank, sonde_result *r, table *t)
{
	if (s->sums.n)
		qsort(s->sums.items, s->sums.n, sizeof *s->sums.items, by_count);
	for (size_t i = 0; i < s->sums.n; i++) {
		const delay *d = &s->sums.items[i];
		size_t n;
		const uint32_t *words = intern_words_at(&s->found, d->number, &n);
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(result_string(r, index_text(s->c->w->rows.ix, words[0])));
		c[1] = cell_integer(rank);
		c[2] = cell_count(d->count);
		c[3] = work_cell_f64(s->c->w, d->to_launch / (double)d->count);
		c[4] = work_cell_f64(s->c->w, d->to_device / (double)d->count);
		c[5] = cell_string(call_names(s->c, r, words + 1, n - 1));
	}
	intern_done(&s->found);
	s->sums.n = 0;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	table *t = result_table(r, "op_delays", "From operators to their kernels", delay_columns,
				sizeof delay_columns / sizeof delay_columns[0]);
	calls_parts parts = { 0 };
	summer s = { .c = w->is_hta ? calls_of(w, options) : &parts.c };
	bool ok = w->is_hta ? s.c != NULL : calls_parts_init(&parts, w);

	for (size_t i = 0; ok && i < (w->is_hta ? s.c->n_ranks : w->n_ranks); i++) {
		int32_t rank = w->is_hta ? s.c->ranks[i].rank : w->ranks[i].rank;
		ok = w->is_hta ? sum_up(&s, &s.c->ranks[i]) : calls_parts_each(&parts, rank, parts.c.is_op, sum_up, &s);
		if (ok)
			put(&s, rank, r, t);
	}
	limit_rows(r, t, options, "operators and sequences");
	if (ok && t && !t->n_rows && !w->is_empty) {
		t->n_shown = 0;
		result_note_add(r, "op_delays", "no kernel was launched inside an operator");
	}
	if (ok && !w->is_hta)
		calls_parts_say_coverage(&parts, r, "op_delays");
	work_differs(
		w, r,
		"the operator is the nearest one around the launch on its thread; launches are matched by correlation");
	intern_done(&s.found);
	VEC_DONE(&s.sums);
	VEC_DONE(&s.words);
	calls_parts_done(&parts);
	return ok ? SONDE_OK : out_of_memory(err);
}

const work_analysis op_delays_work = { .add = add };

const analysis op_delays_analysis = {
	.name = "op_delays",
	.summary = "Delay from an operator to its launch and to the device",
	.compat = WORK_COMPAT,
	.work = &op_delays_work,
};
