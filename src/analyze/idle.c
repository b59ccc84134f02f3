/*
 * Why a stream had nothing to do between two of its kernels or copies:
 *
 *   host_wait     the host launched the next one only after the last had ended
 *   kernel_wait   it was launched in time; the gap is shorter than idle.kernel_wait: what a device needs between two
 *   other         it was launched in time and waited all the same: for another stream, an event, memory
 *
 * A gap begins at the largest end so far: what overlaps leaves none. HTA takes the end of the row before, so that
 * overlapping rows give it negative gaps.
 */
#include "analyze/work.h"

#include <stdlib.h>
#include "analyze/stats.h"

typedef enum cause { HOST_WAIT, KERNEL_WAIT, OTHER, CAUSES } cause;
static const char *const cause_names[CAUSES] = { "host_wait", "kernel_wait", "other" };

static const setting_def kernel_wait = { "idle.kernel_wait", SETTING_NS, "30us",
					 "gaps shorter than this are what a device needs between two kernels" };

static const column idle_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },  { "stream", "stream", CELL_INTEGER, 0, false },
	{ "cause", "cause", CELL_STRING, 0, false }, { "idle_ns", "idle", CELL_NS, 0, false },
	{ "percent", "%", CELL_PERCENT, 0, true },
};
static const column interval_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "stream", "stream", CELL_INTEGER, 0, false },
	{ "cause", "cause", CELL_STRING, 0, false },
	DESCRIBE_TIME_COLUMNS(""),
};

typedef struct gap {
	int64_t length;
	cause cause; /* CAUSES: it is none */
	bool is_interval;
} gap;

/* Items of a stream behind each other, by start. */
typedef struct stream_item {
	int64_t stream;
	uint32_t item;
} stream_item;

#define SORT_NAME sort_streams
#define SORT_TYPE stream_item
#define SORT_BEFORE(a, b) ((a)->stream < (b)->stream)
#include "store/sort_template.h"

typedef struct stream_gaps {
	const work *w;
	const work_rank *rank;
	int64_t limit; /* ticks */
	gap *gaps;
	double *lengths; /* of one cause */
	table *sums, *intervals;
	sonde_result *r;
} stream_gaps;

static cause cause_of(const stream_gaps *g, const work_item *item, int64_t end, int64_t length)
{
	if (item->launch != WORK_NONE && g->rank->calls[item->launch].start > end)
		return HOST_WAIT;
	return length < g->limit ? KERNEL_WAIT : OTHER;
}

/* By HTA's rules the first row has a gap of no length, and none is too short. */
static void find_gaps(stream_gaps *g, const stream_item *items, size_t n)
{
	bool is_hta = g->w->is_hta;
	int64_t end = 0;

	for (size_t i = 0; i < n; i++) {
		const work_item *item = &g->rank->items[items[i].item];
		int64_t length = item->start - end, own_end = item->start + item->dur;
		gap *to = &g->gaps[i];
		if (i && (is_hta || length > 0))
			*to = (gap){ length, cause_of(g, item, end, length), true };
		else
			*to = (gap){ 0, is_hta ? OTHER : CAUSES, false };
		end = !i || own_end > end || is_hta ? own_end : end;
	}
}

static void name_row(const stream_gaps *g, int64_t stream, cause c, cell *to)
{
	to[0] = cell_integer(g->rank->rank);
	to[1] = cell_integer(stream);
	to[2] = cell_string(cause_names[c]);
}

static bool add_cause(stream_gaps *g, int64_t stream, size_t n, cause c, int64_t sum, int64_t total)
{
	size_t n_lengths = 0;
	description d;
	cell *to = table_row(g->r, g->sums, 0);

	name_row(g, stream, c, to);
	to[3] = work_cell(g->w, sum);
	to[4] = total ? cell_percent(100.0 * (double)sum / (double)total) : cell_unknown();
	for (size_t i = 0; i < n; i++)
		if (g->gaps[i].cause == c && g->gaps[i].is_interval)
			g->lengths[n_lengths++] = (double)g->gaps[i].length;
	if (!describe(g->lengths, n_lengths, &d))
		return false;
	if (!n_lengths)
		return true;
	to = table_row(g->r, g->intervals, 0);
	name_row(g, stream, c, to);
	describe_cells(g->w, &d, true, to + 3);
	return true;
}

static bool add_stream(stream_gaps *g, const stream_item *items, size_t n)
{
	int64_t sums[CAUSES + 1] = { 0 }, total = 0;
	size_t n_of[CAUSES + 1] = { 0 };
	bool ok = true;

	find_gaps(g, items, n);
	for (size_t i = 0; i < n; i++) {
		sums[g->gaps[i].cause] = add_bounded(sums[g->gaps[i].cause], g->gaps[i].length);
		total = add_bounded(total, g->gaps[i].length);
		n_of[g->gaps[i].cause]++;
	}
	for (cause c = 0; ok && c < CAUSES; c++)
		if (n_of[c])
			ok = add_cause(g, items->stream, n, c, sums[c], total);
	return ok;
}

static bool add_rank(stream_gaps *g)
{
	const work_rank *rank = g->rank;
	stream_item *items = malloc((rank->n + 1) * sizeof *items);
	size_t n = 0;

	g->gaps = malloc((rank->n + 1) * sizeof *g->gaps);
	g->lengths = malloc((rank->n + 1) * sizeof *g->lengths);
	bool ok = items && g->gaps && g->lengths;
	for (uint32_t i = 0; ok && i < rank->n; i++)
		if (rank->items[i].is_work)
			items[n++] = (stream_item){ rank->items[i].stream, i };
	ok = ok && sort_streams(items, n);
	for (size_t i = 0, end; ok && i < n; i = end) {
		for (end = i; end < n && items[end].stream == items[i].stream;)
			end++;
		ok = add_stream(g, items + i, end - i);
	}
	free(items);
	free(g->gaps);
	free(g->lengths);
	return ok;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	stream_gaps g = { .w = w, .r = r, .limit = whole_bounded(setting(options, &kernel_wait) / w->ns_per_tick) };
	bool ok = true;

	g.sums = result_table(r, "idle", "Idle time of streams, by cause", idle_columns,
			      sizeof idle_columns / sizeof idle_columns[0]);
	g.intervals = result_table(r, "idle_intervals", "Gaps", interval_columns,
				   sizeof interval_columns / sizeof interval_columns[0]);
	for (size_t i = 0; ok && i < w->n_ranks; i++) {
		g.rank = &w->ranks[i];
		ok = add_rank(&g);
	}
	if (g.intervals)
		g.intervals->n_shown = 0;
	work_differs(w, r, "a gap begins at the largest end so far, not at the end of the row before");
	return ok ? SONDE_OK : out_of_memory(err);
}

const work_analysis idle_work = { .add = add };

static sonde_status run(const sonde_trace *trace, const sonde_analyze_options *options, sonde_result *r,
			sonde_error *err)
{
	return work_run(&idle_work, trace, options, r, err);
}

static const setting_def *settings(size_t index)
{
	return index == 0 ? &kernel_wait : NULL;
}

const analysis idle_analysis = {
	.name = "idle",
	.summary = "Why streams had nothing to do: the host was late, the device took a breath, or something else",
	.compat = WORK_COMPAT,
	.setting = settings,
	.run = run,
};
