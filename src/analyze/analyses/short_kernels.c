/*
 * Kernels that are so short that launching them may take longer than they do: how many, how much of the device's time,
 * and whose they are.
 *
 * By TraceLens's rules the list has only what an operator launched; the histogram has them all.
 */
#include "analyze/tables/op_calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"
#include "base/format_number.h"

static const column short_columns[] = {
	{ "name", "kernel", CELL_STRING, 0, false },   { "op", "operator", CELL_STRING, 0, false },
	{ "shapes", "shapes", CELL_STRING, 2, false }, { "rank", "rank", CELL_INTEGER, 1, false },
	{ "count", "count", CELL_COUNT, 0, false },    { "sum_ns", "total", CELL_NS, 0, false },
	{ "mean_ns", "mean", CELL_NS, 0, false },      { "percent", "% of device time", CELL_PERCENT, 0, false },
};
static const column bin_columns[] = {
	{ "from_ns", "from", CELL_NS, 0, false },
	{ "to_ns", "to", CELL_NS, 0, false },
	{ "count", "count", CELL_COUNT, 0, false },
};
#define N_COLUMNS(of) (sizeof(of) / sizeof(of)[0])

static const setting_def limit_setting = { "short_kernels.limit", SETTING_NS, "10us", "a kernel below this is short" };

typedef struct short_sum {
	uint32_t name, op; /* row of an operator, or ROW_NONE */
	uint32_t rank;
	uint64_t n;
	int64_t sum_ns;
} short_sum;

typedef struct shorts {
	const op_calls *o;
	double limit_ns;
	intern_table keys;
	VEC(short_sum) sums;
	VEC(int64_t) durations; /* of all short ones */
	int64_t sum_ns, all_ns;
	size_t n_kernels;
	coverage covered;
} shorts;

#define SORT_NAME sort_shorts
#define SORT_TYPE short_sum
#define SORT_BEFORE(a, b) ((a)->sum_ns > (b)->sum_ns)
#include "base/sort_template.h"

static bool add_to_list(shorts *s, uint32_t rank, size_t number, int64_t dur_ns)
{
	const rows *r = &s->o->w->rows;
	const work_item *item = WORK_AT(s->o->w, &s->o->w->ranks[rank], number);
	uint32_t op = op_of_item(s->o, rank, number);
	op_key key = op == ROW_NONE ? (op_key){ .name = INDEX_NONE, .rank = rank } : op_key_of(s->o, rank, op);

	key.track = 0;
	/* TraceLens tells arguments apart by their values, not by their types. */
	key.args[s->o->w->is_tracelens ? OP_TYPES : OP_INPUTS] = 0;
	key.more = r->sites[item->site].name;
	uint32_t at = intern(&s->keys, (const char *)&key, sizeof key);
	if (at == INTERN_NONE || (at == s->sums.n && !VEC_ADD(&s->sums)))
		return false;
	short_sum *to = &s->sums.items[at];
	if (!to->n++)
		*to = (short_sum){ key.more, op, rank, 1, 0 };
	to->sum_ns = add_bounded(to->sum_ns, dur_ns);
	return true;
}

static bool add_item(shorts *s, uint32_t rank, size_t number)
{
	const work *w = s->o->w;
	const work_item *item = WORK_AT(w, &w->ranks[rank], number);
	const row *at = ROW_AT(&w->rows, item->row);
	bool is_short = at->class == CLASS_KERNEL && (double)at->dur_ns < s->limit_ns;
	uint32_t op = op_of_item(s->o, rank, number);
	bool is_listed = is_short && (!w->is_tracelens || (op != ROW_NONE && s->o->is_op[rows_at(&w->rows, op).site]));

	s->n_kernels += at->class == CLASS_KERNEL;
	s->all_ns = add_bounded(s->all_ns, at->dur_ns);
	cover(&s->covered, item, is_listed);
	if (!is_short)
		return true;
	int64_t *duration = VEC_ADD(&s->durations);
	if (!duration)
		return false;
	*duration = at->dur_ns;
	s->sum_ns = add_bounded(s->sum_ns, at->dur_ns);
	return !is_listed || add_to_list(s, rank, number, at->dur_ns);
}

static void put_list(const shorts *s, const sonde_analyze_options *options, sonde_result *r)
{
	const rows *in = &s->o->w->rows;
	table *t = result_table(r, "short_kernels", "Short kernels", short_columns, N_COLUMNS(short_columns));

	for (size_t i = 0; i < s->sums.n; i++) {
		const short_sum *one = &s->sums.items[i];
		cell *c = table_row(r, t, 0);
		*c++ = cell_string(result_string(r, index_text(in->ix, one->name)));
		*c++ = one->op == ROW_NONE ? cell_unknown()
					   : cell_string(result_string(r, row_name(in, ROW_AT(in, one->op))));
		*c++ = one->op == ROW_NONE ? cell_unknown() : cell_string(op_shapes(s->o, one->op, r));
		*c++ = cell_integer(s->o->w->ranks[one->rank].rank);
		*c++ = cell_count(one->n);
		*c++ = cell_ns(one->sum_ns);
		*c++ = cell_ns(one->sum_ns / (int64_t)one->n);
		*c++ = s->all_ns ? cell_percent(100.0 * (double)one->sum_ns / (double)s->all_ns) : cell_unknown();
	}
	limit_rows(r, t, options, "kernels");
}

/* By our rules ten from 0 to the limit; by TraceLens's a hundred from the shortest to the longest, the last of which
   holds its end too. In microseconds, as it computes them. */
static void put_bins(const shorts *s, sonde_result *r)
{
	enum { MOST = 100 };
	table *t = result_table(r, "short_kernel_histogram", "Histogram of kernel durations", bin_columns,
				N_COLUMNS(bin_columns));
	size_t n = s->o->w->is_tracelens ? MOST : 10;
	uint64_t counts[MOST] = { 0 };
	double low = s->o->w->is_tracelens ? INFINITY : 0, high = s->o->w->is_tracelens ? 0 : s->limit_ns / 1000;

	for (size_t i = 0; s->o->w->is_tracelens && i < s->durations.n; i++) {
		low = fmin(low, file_us(s->durations.items[i]));
		high = fmax(high, file_us(s->durations.items[i]));
	}
	if (low >= high) { /* all alike */
		low -= 0.5;
		high = low + 1;
	}
	double width = (high - low) / (double)n;
	for (size_t i = 0; i < s->durations.n; i++) {
		double us = file_us(s->durations.items[i]);
		size_t at = width > 0 ? (size_t)((us - low) / width) : 0;
		at = at < n ? at : n - 1;
		at -= at > 0 && us < low + (double)at * width;
		at += at + 1 < n && us >= low + (double)(at + 1) * width;
		counts[at]++;
	}
	for (size_t i = 0; s->durations.n && i < n; i++) {
		cell *c = table_row(r, t, 0);
		*c++ = cell_number(1000 * (low + (double)i * width));
		*c++ = cell_number(1000 * (low + (double)(i + 1) * width));
		*c++ = cell_count(counts[i]);
		if (!s->o->w->is_tracelens) {
			c[-3] = cell_ns(llrint(c[-3].number));
			c[-2] = cell_ns(llrint(c[-2].number));
		}
	}
	table_chart(t, CHART_BARS, "from_ns", "count", NULL);
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	op_calls o;
	shorts s = { .o = &o, .limit_ns = setting(options, &limit_setting) };
	char n[NUMBER_TEXT], all[NUMBER_TEXT], limit[NUMBER_TEXT], time[NUMBER_TEXT];
	bool ok = op_calls_load(&o, w, NULL, NULL);

	for (uint32_t k = 0; ok && k < w->n_ranks; k++)
		for (size_t i = 0; ok && i < w->ranks[k].n; i++)
			ok = add_item(&s, k, i);
	ok = ok && sort_shorts(s.sums.items, s.sums.n);
	if (ok && s.n_kernels)
		result_answer(r, "%s of %s kernels take less than %s: %s, %.1f %% of the device time",
			      format_count(n, s.durations.n), format_count(all, s.n_kernels),
			      format_ns(limit, llrint(s.limit_ns)), format_ns(time, s.sum_ns),
			      s.all_ns ? 100.0 * (double)s.sum_ns / (double)s.all_ns : 0);
	if (ok) {
		put_list(&s, options, r);
		put_bins(&s, r);
		work_covers(w, r, "short_kernels", &s.covered, "copies, or longer kernels");
	}
	intern_done(&s.keys);
	VEC_DONE(&s.sums);
	VEC_DONE(&s.durations);
	op_calls_done(&o);
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis short_work = { .add = add };

static const setting_def *settings(size_t index)
{
	return index == 0 ? &limit_setting : NULL;
}

const analysis short_kernels_analysis = {
	.name = "short_kernels",
	.summary = "Kernels shorter than their launch, by operator",
	.compat = "tracelens",
	.setting = settings,
	.work = &short_work,
};
