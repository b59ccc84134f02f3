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
#include "analyze/tables/streams.h"

#include <stdlib.h>
#include "analyze/math/stats.h"
#include "base/big.h"

typedef enum cause { HOST_WAIT, KERNEL_WAIT, OTHER, CAUSES } cause;
static const char *const cause_names[CAUSES] = { "host_wait", "kernel_wait", "other" };

static const setting_def kernel_wait = { "idle.kernel_wait", SETTING_NS, "30us",
					 "maximum pause of a device between two kernels" };

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

typedef struct stream_gaps {
	const work *w;
	const work_rank *rank;
	int64_t limit;		 /* ticks */
	double *lengths[CAUSES]; /* of the gaps of a stream */
	size_t n_lengths[CAUSES];
	table *sums, *intervals;
	sonde_result *r;
} stream_gaps;

static cause cause_of(const stream_gaps *g, const work_item *item, int64_t end, int64_t length)
{
	if (item->launch != WORK_NONE && work_call_at(g->w, g->rank, item->launch).start > end)
		return HOST_WAIT;
	return length < g->limit ? KERNEL_WAIT : OTHER;
}

/* What the gaps of a stream come to. */
typedef struct gap_sums {
	int64_t sums[CAUSES], total;
	size_t n[CAUSES];
} gap_sums;

static void add_gap(gap_sums *s, cause c, int64_t length)
{
	s->sums[c] = add_bounded(s->sums[c], length);
	s->total = add_bounded(s->total, length);
	s->n[c]++;
}

/* By HTA's rules the first row has a gap of no length, which is no interval, and none is too short. */
static void find_gaps(stream_gaps *g, const uint32_t *items, size_t n, gap_sums *ret)
{
	bool is_hta = g->w->is_hta, is_first = true;
	int64_t end = 0;

	for (cause c = 0; c < CAUSES; c++)
		g->n_lengths[c] = 0;
	for (size_t i = 0; i < n; i++) {
		const work_item *item = WORK_AT(g->w, g->rank, items[i]);
		int64_t length = item->start - end, own_end = item->start + item->dur;
		if (!item->is_work)
			continue;
		if (!is_first && (is_hta || length > 0)) {
			cause c = cause_of(g, item, end, length);
			add_gap(ret, c, length);
			g->lengths[c][g->n_lengths[c]++] = (double)length;
		} else if (is_hta) {
			add_gap(ret, OTHER, 0);
		}
		end = is_first || own_end > end || is_hta ? own_end : end;
		is_first = false;
	}
}

static void name_row(const stream_gaps *g, int64_t stream, cause c, cell *to)
{
	to[0] = cell_integer(g->rank->rank);
	to[1] = cell_integer(stream);
	to[2] = cell_string(cause_names[c]);
}

static bool add_cause(stream_gaps *g, int64_t stream, cause c, const gap_sums *s)
{
	description d;
	cell *to = table_row(g->r, g->sums, 0);

	name_row(g, stream, c, to);
	to[3] = work_cell(g->w, s->sums[c]);
	to[4] = s->total ? cell_percent(100.0 * (double)s->sums[c] / (double)s->total) : cell_unknown();
	if (!describe(g->lengths[c], g->n_lengths[c], &d))
		return false;
	if (!d.n)
		return true;
	to = table_row(g->r, g->intervals, 0);
	name_row(g, stream, c, to);
	describe_cells(g->w, &d, true, to + 3);
	return true;
}

static bool add_stream(stream_gaps *g, int64_t stream, const uint32_t *items, size_t n)
{
	gap_sums s = { 0 };
	bool ok = true;

	find_gaps(g, items, n, &s);
	for (cause c = 0; ok && c < CAUSES; c++)
		if (s.n[c])
			ok = add_cause(g, stream, c, &s);
	return ok;
}

static bool add_rank(stream_gaps *g)
{
	streams s;
	bool ok = streams_find(g->w, g->rank, &s);

	for (cause c = 0; c < CAUSES; c++)
		ok = (g->lengths[c] = big_alloc(g->rank->n + 1, sizeof(double))) && ok;
	for (size_t i = 0; ok && i < s.n; i++)
		ok = add_stream(g, s.items[i].stream, s.order + s.items[i].first, s.items[i].n);
	for (cause c = 0; c < CAUSES; c++)
		free(g->lengths[c]);
	streams_done(&s);
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
	work_differs(w, r, "a gap begins at the largest end so far, not at the end of the previous row");
	return ok ? SONDE_OK : out_of_memory(err);
}

const work_analysis idle_work = { .add = add, .few_rows = true };

static const setting_def *settings(size_t index)
{
	return index == 0 ? &kernel_wait : NULL;
}

const analysis idle_analysis = {
	.name = "idle",
	.summary = "Causes of idle streams: late host, short gap between kernels, other",
	.compat = WORK_COMPAT,
	.setting = settings,
	.work = &idle_work,
};
