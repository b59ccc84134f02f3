/*
 * How the host launches: how long each call took, how long what it launched, and how long that waited.
 *
 *   delay    from the end of the call to the start on the device; 0 when it started before the call returned
 *   short    the call took longer than what it launched, and at most launches.slow_call
 *
 * A call that launches a graph counts once, with the first of its kernels for the delay and all of them for the rest.
 * By HTA's rules every pair of call and kernel counts.
 */
#include "analyze/work.h"

#include <stdlib.h>
#include "analyze/stats.h"

static const setting_def slow_call = { "launches.slow_call", SETTING_NS, "50us", "calls that took longer are counted" };
static const setting_def long_delay = { "launches.long_delay", SETTING_NS, "100us",
					"delays that were longer are counted" };

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

typedef struct launch_sums {
	double *values[WHATS];
	size_t n[WHATS];
	uint64_t n_short, n_slow, n_long;
} launch_sums;

typedef struct launch_limits {
	int64_t slow, late; /* ticks */
} launch_limits;

static void add_launch(launch_sums *s, const launch_limits *limits, const work_call *call, int64_t launched,
		       int64_t start)
{
	int64_t delay = start - call->start - call->dur;

	delay = delay > 0 ? delay : 0;
	s->values[CALL][s->n[CALL]++] = (double)call->dur;
	s->values[DELAY][s->n[DELAY]++] = (double)delay;
	s->n_short += call->dur <= limits->slow && launched < call->dur;
	s->n_slow += call->dur > limits->slow;
	s->n_long += delay > limits->late;
}

/* What a call launched. */
typedef struct launched {
	int64_t ticks, start;
	bool any;
} launched;

static bool collect_calls(const work_rank *rank, const launch_limits *limits, launch_sums *s)
{
	launched *calls = calloc(rank->n_calls + 1, sizeof *calls);

	for (size_t i = 0; calls && i < rank->n_launches; i++) {
		const work_item *item = &rank->items[rank->launches[i].item];
		launched *l = &calls[rank->launches[i].call];
		l->ticks = add_bounded(l->ticks, item->dur);
		l->start = !l->any || item->start < l->start ? item->start : l->start;
		l->any = true;
		s->values[KERNEL][s->n[KERNEL]++] = (double)item->dur;
	}
	for (size_t i = 0; calls && i < rank->n_calls; i++)
		if (calls[i].any)
			add_launch(s, limits, &rank->calls[i], calls[i].ticks, calls[i].start);
	free(calls);
	return calls != NULL;
}

static void collect_pairs(const work_rank *rank, const launch_limits *limits, launch_sums *s)
{
	for (size_t i = 0; i < rank->n_launches; i++) {
		const work_item *item = &rank->items[rank->launches[i].item];
		s->values[KERNEL][s->n[KERNEL]++] = (double)item->dur;
		add_launch(s, limits, &rank->calls[rank->launches[i].call], item->dur, item->start);
	}
}

static bool put_rank(const work *w, const work_rank *rank, launch_sums *s, sonde_result *r, table *t, table *times)
{
	static const char *const what[] = { "call", "kernel", "delay" };
	cell *c = table_row(r, t, 0);
	size_t n_unknown = 0;

	for (size_t i = 0; i < rank->n; i++)
		n_unknown += rank->items[i].launch == WORK_NONE;
	c[0] = cell_integer(rank->rank);
	c[1] = cell_count(s->n[CALL]);
	c[5] = cell_count(s->n_short);
	c[6] = cell_count(s->n_slow);
	c[7] = cell_count(s->n_long);
	c[8] = cell_count(n_unknown);
	for (int k = 0; k < WHATS; k++) {
		description d;
		if (!describe(s->values[k], s->n[k], &d))
			return false;
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
	launch_sums s = { 0 };
	bool ok = true;

	for (int k = 0; k < WHATS; k++)
		ok = (s.values[k] = malloc((rank->n_launches + 1) * sizeof(double))) && ok;
	if (ok && w->is_hta)
		collect_pairs(rank, &limits, &s);
	else if (ok)
		ok = collect_calls(rank, &limits, &s);
	ok = ok && put_rank(w, rank, &s, r, t, times);
	for (int k = 0; k < WHATS; k++)
		free(s.values[k]);
	return ok;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	table *t = result_table(r, "launches", "Launches", launche_columns,
				sizeof launche_columns / sizeof launche_columns[0]);
	table *times = result_table(r, "launch_times", "Calls, what they launched, and how long it waited",
				    time_columns, sizeof time_columns / sizeof time_columns[0]);
	bool ok = true;

	for (size_t i = 0; ok && i < w->n_ranks; i++)
		if (w->ranks[i].n)
			ok = add_rank(w, &w->ranks[i], options, r, t, times);
	work_differs(w, r,
		     "launches are found by correlation whatever the call's name, HIP's too, and a call that "
		     "launches a graph counts once");
	return ok ? SONDE_OK : out_of_memory(err);
}

const work_analysis launches_work = { .add = add };

static sonde_status run(const sonde_trace *trace, const sonde_analyze_options *options, sonde_result *r,
			sonde_error *err)
{
	return work_run(&launches_work, trace, options, r, err);
}

static const setting_def *settings(size_t index)
{
	static const setting_def *const all[] = { &slow_call, &long_delay, NULL };

	return index < 2 ? all[index] : NULL;
}

const analysis launches_analysis = {
	.name = "launches",
	.summary = "How long launching took, what it launched, and how long that waited",
	.compat = WORK_COMPAT,
	.setting = settings,
	.run = run,
};
