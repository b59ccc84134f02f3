/*
 * How the host launches: how long each call took, how long what it launched, and how long that waited.
 *
 *   delay    from the end of the call to the start on the device; 0 when it started before the call returned
 *   short    the call took longer than what it launched, and at most launches.slow_call
 *
 * A call that launches a graph counts once, with the first of its kernels for the delay and all of them for the rest.
 * By HTA's rules every pair of call and kernel counts.
 */
#include "analyze/tables/work.h"

#include <stdlib.h>
#include "analyze/math/stats.h"
#include "base/big.h"

static const setting_def slow_call = { "launches.slow_call", SETTING_NS, "50us", "a call longer than this is slow" };
static const setting_def long_delay = { "launches.long_delay", SETTING_NS, "100us",
					"a delay longer than this is long" };

static const column launche_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "count", "launches", CELL_COUNT, 0, false },
	{ "cpu_ns", "calls", CELL_NS, 0, false },
	{ "gpu_ns", "kernels", CELL_NS, 0, false },
	{ "delay_ns", "delays", CELL_NS, 0, false },
	{ "n_short", "short kernels", CELL_COUNT, 0, false },
	{ "n_slow_calls", "slow calls", CELL_COUNT, 0, false },
	{ "n_long_delays", "long delays", CELL_COUNT, 0, false },
	{ "n_unknown", "not linked", CELL_COUNT, 1, false },
};
static const column time_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "what", "what", CELL_STRING, 0, false },
	DESCRIBE_TIME_COLUMNS(""),
};

enum { CALL, KERNEL, DELAY, WHATS };

typedef struct launch_limits {
	int64_t slow, late; /* ticks */
} launch_limits;

typedef struct launch_sums {
	uint64_t n_short, n_slow, n_long;
	size_t n; /* calls, or pairs */
} launch_sums;

/* What a call launched, or by HTA's rules a pair. */
typedef struct launched {
	int64_t ticks, start;
} launched;

typedef struct launch_list {
	const work *w;
	const work_rank *rank;
	work_pair *pairs;      /* by our rules: items by the call that launched them, which is a row */
	double *values[WHATS]; /* where rows are paged, one place for all: they are collected one after the other */
} launch_list;

#define SORT_NAME sort_pairs
#define SORT_TYPE work_pair
#define SORT_BEFORE(a, b) ((a)->call < (b)->call)
#include "base/sort_template.h"

static bool find_pairs(launch_list *l)
{
	const work_rank *rank = l->rank;
	size_t n = 0;

	l->pairs = big_alloc(rank->n_launches + 1, sizeof *l->pairs);
	for (uint32_t i = 0; l->pairs && i < rank->n; i++) {
		uint32_t launch = WORK_AT(l->w, rank, i)->launch;
		if (launch != WORK_NONE)
			l->pairs[n++] = (work_pair){ launch, i };
	}
	return l->pairs && sort_pairs(l->pairs, n);
}

static int64_t delay_of(const work_call *call, int64_t start)
{
	int64_t delay = start - call->start - call->dur;

	return delay > 0 ? delay : 0;
}

static void add_launch(launch_sums *s, const launch_limits *limits, const work_call *call, launched what)
{
	s->n_short += call->dur <= limits->slow && what.ticks < call->dur;
	s->n_slow += call->dur > limits->slow;
	s->n_long += delay_of(call, what.start) > limits->late;
}

/* The next of those that count, from *at on; false: there is none. */
static bool next_launch(const launch_list *l, size_t *at, work_call *ret_call, launched *ret)
{
	const work_rank *rank = l->rank;

	if (*at == rank->n_launches)
		return false;
	if (l->w->is_hta) {
		work_pair pair = rank->launches[(*at)++];
		*ret_call = rank->calls[pair.call];
		*ret = (launched){ rank->items[pair.item].dur, rank->items[pair.item].start };
		return true;
	}
	uint32_t call = l->pairs[*at].call;
	*ret_call = work_call_at(l->w, rank, call);
	*ret = (launched){ 0, INT64_MAX };
	for (; *at < rank->n_launches && l->pairs[*at].call == call; ++*at) {
		const work_item *item = WORK_AT(l->w, rank, l->pairs[*at].item);
		ret->ticks = add_bounded(ret->ticks, item->dur);
		ret->start = item->start < ret->start ? item->start : ret->start;
	}
	return true;
}

static bool keeps_all(const launch_list *l)
{
	return l->values[CALL] != l->values[DELAY];
}

/* Also collects calls and delays, where there is room for both. */
static launch_sums sum_up(const launch_list *l, const launch_limits *limits)
{
	launch_sums s = { 0 };
	work_call call;
	launched what;
	size_t n = 0;

	for (size_t at = 0; next_launch(l, &at, &call, &what); n++) {
		add_launch(&s, limits, &call, what);
		if (keeps_all(l)) {
			l->values[CALL][n] = (double)call.dur;
			l->values[DELAY][n] = (double)delay_of(&call, what.start);
		}
	}
	s.n = n;
	return s;
}

static size_t collect(const launch_list *l, const launch_sums *s, int what_of)
{
	const work_rank *rank = l->rank;
	double *to = l->values[what_of];
	work_call call;
	launched what;
	size_t n = 0;

	if (what_of != KERNEL && keeps_all(l))
		return s->n;
	for (size_t i = 0; what_of == KERNEL && i < rank->n_launches; i++)
		to[n++] = (double)WORK_AT(l->w, rank, l->pairs ? l->pairs[i].item : rank->launches[i].item)->dur;
	for (size_t at = 0; what_of != KERNEL && next_launch(l, &at, &call, &what);)
		to[n++] = (double)(what_of == CALL ? call.dur : delay_of(&call, what.start));
	return n;
}

static bool put_rank(const work *w, const launch_list *l, const launch_limits *limits, sonde_result *r, table *t,
		     table *times)
{
	static const char *const what[] = { "call", "kernel", "delay" };
	const work_rank *rank = l->rank;
	launch_sums s = sum_up(l, limits);
	cell *c = table_row(r, t, 0);
	size_t n_unknown = 0;

	for (size_t i = 0; i < rank->n; i++)
		n_unknown += WORK_AT(w, rank, i)->launch == WORK_NONE;
	c[0] = cell_integer(rank->rank);
	c[5] = cell_count(s.n_short);
	c[6] = cell_count(s.n_slow);
	c[7] = cell_count(s.n_long);
	c[8] = cell_count(n_unknown);
	for (int k = 0; k < WHATS; k++) {
		description d;
		if (!describe(l->values[k], collect(l, &s, k), &d))
			return false;
		if (k == CALL)
			c[1] = cell_count(d.n);
		c[2 + k] = work_cell_f64(w, d.sum);
		cell *to = table_row(r, times, 0);
		to[0] = cell_integer(rank->rank);
		to[1] = cell_string(what[k]);
		describe_cells(w, &d, true, to + 2);
	}
	return true;
}

static bool add_rank(const work *w, const work_rank *rank, const sonde_analyze_options *options, sonde_result *r,
		     table *t, table *times)
{
	launch_limits limits = { .slow = whole_bounded(setting(options, &slow_call) / w->ns_per_tick),
				 .late = whole_bounded(setting(options, &long_delay) / w->ns_per_tick) };
	launch_list l = { .w = w, .rank = rank };

	double *delays = rows_are_paged(&w->rows) ? NULL : big_alloc(rank->n_launches + 1, sizeof *delays);
	l.values[CALL] = l.values[KERNEL] = big_alloc(rank->n_launches + 1, sizeof *delays);
	l.values[DELAY] = delays ? delays : l.values[CALL];
	bool ok = l.values[CALL] && (w->is_hta || find_pairs(&l)) && put_rank(w, &l, &limits, r, t, times);
	free(l.values[CALL]);
	free(delays);
	free(l.pairs);
	return ok;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	table *t = result_table(r, "launches", "Launches", launche_columns,
				sizeof launche_columns / sizeof launche_columns[0]);
	table *times = result_table(r, "launch_times", "Launching calls, their kernels and delays", time_columns,
				    sizeof time_columns / sizeof time_columns[0]);
	bool ok = true;

	for (size_t i = 0; ok && i < w->n_ranks; i++)
		if (w->ranks[i].n)
			ok = add_rank(w, &w->ranks[i], options, r, t, times);
	work_differs(w, r,
		     "launches are matched by correlation for all calls, including HIP; a call that launches a graph "
		     "counts once");
	return ok ? SONDE_OK : out_of_memory(err);
}

const work_analysis launches_work = { .add = add, .few_rows = true };

static const setting_def *settings(size_t index)
{
	static const setting_def *const all[] = { &slow_call, &long_delay, NULL };

	return index < 2 ? all[index] : NULL;
}

const analysis launches_analysis = {
	.name = "launches",
	.summary = "Time of launching calls and their kernels, and launch delays",
	.compat = WORK_COMPAT,
	.setting = settings,
	.work = &launches_work,
};
