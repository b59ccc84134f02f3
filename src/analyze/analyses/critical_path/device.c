/*
 * The device's part of the graph, by our rules: see analyses/critical_path/build.c.
 *
 *   row       from its start to its end
 *   start     it waited for whatever came last: the end of the row before on its stream, its launch and what launching
 *             takes on an idle stream (the median of the rank), or, when it began clearly later than both, the last row
 *             of another stream that had ended. That one gets all the time up to the start; the others hold as well,
 *             with the least that they take. A launch that takes much longer is one that waits for something the trace
 *             does not show
 *   waiting   a call waits for the copy it launched when that ended before the call did, and one that synchronises for
 * the row that ended last while it ran, of those that were launched before
 *
 * What a row waited for may lie before the window: then the way begins at the window's start.
 */
#include "analyze/analyses/critical_path/build.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"
#include "base/search.h"

enum {
	CLEARLY_NS = 5000, /* more than a device needs between two rows */
	LONG_NS = 100000,  /* more than launching takes */
	LOOK_BACK = 32,
};

typedef struct ended {
	int64_t end;
	uint32_t row;
} ended;

#define SORT_NAME sort_ended
#define SORT_TYPE ended
#define SORT_BEFORE(a, b) ((a)->end < (b)->end)
#include "base/sort_template.h"

static bool sort_by_end(critical_build *b)
{
	size_t n = b->rank->n_device;
	ended *all = malloc((n + 1) * sizeof *all);

	b->by_end = malloc((n + 1) * sizeof *b->by_end);
	for (size_t i = 0; all && i < n; i++)
		all[i] = (ended){ row_end_ns(build_row(b, b->rank->device[i])), b->rank->device[i] };
	bool ok = all && b->by_end && sort_ended(all, n);
	for (size_t i = 0; ok && i < n; i++)
		b->by_end[i] = all[i].row;
	free(all);
	return ok;
}

/* The row before on each stream: the one with the largest end so far. Rows that overlap have none. */
static bool find_before(critical_build *b)
{
	uint32_t *last = malloc((b->w->rows.n_tracks + 1) * sizeof *last);

	if (last)
		memset(last, 0xff, (b->w->rows.n_tracks + 1) * sizeof *last);
	for (size_t i = 0; last && i < b->rank->n_device; i++) {
		uint32_t at = b->rank->device[i];
		const row *r = build_row(b, at);
		uint32_t *of = &last[r->track];
		if (*of != NODE_NONE && row_end_ns(build_row(b, *of)) <= r->start_ns)
			b->before[at] = *of;
		if (*of == NODE_NONE || row_end_ns(r) >= row_end_ns(build_row(b, *of)))
			*of = at;
	}
	free(last);
	return last != NULL;
}

/* From launches on streams that had nothing to do. */
static bool measure_launches(critical_build *b)
{
	double *delays = malloc((b->rank->n_device + 1) * sizeof *delays);
	description d = { 0 };
	size_t n = 0;

	for (size_t i = 0; delays && i < b->rank->n_device; i++) {
		const row *at = build_row(b, b->rank->device[i]);
		uint32_t before = b->before[b->rank->device[i]];
		int64_t launched = at->launch == ROW_NONE ? INT64_MAX : build_row(b, at->launch)->start_ns;
		bool is_idle = before == NODE_NONE || row_end_ns(build_row(b, before)) <= launched;
		if (is_idle && launched <= at->start_ns)
			delays[n++] = (double)(at->start_ns - launched);
	}
	bool ok = delays && describe(delays, n, &d);
	b->launch_ns = !ok || !n ? 0 : d.q50 < 0x1p62 ? (int64_t)d.q50 : INT64_MAX;
	free(delays);
	return ok;
}

/* How many rows of the rank have ended by then. */
static size_t count_ended(const critical_build *b, int64_t ns)
{
	return FIRST_NOT(i, 0, b->rank->n_device, row_end_ns(build_row(b, b->by_end[i])) <= ns);
}

/* ---- Waiting ------------------------------------------------------------------------------------------------------
 */

/* The row that ended last while the call ran, of those launched before it. */
static uint32_t find_waited(const critical_build *b, const row *call)
{
	size_t at = count_ended(b, row_end_ns(call));

	for (size_t looked = 0; at-- > 0 && looked < LOOK_BACK; looked++) {
		const row *r = build_row(b, b->by_end[at]);
		if (row_end_ns(r) <= call->start_ns)
			break;
		/* Of those whose launch nobody knows it may have been before the trace began. */
		if (r->launch == ROW_NONE || build_row(b, r->launch)->start_ns < call->start_ns)
			return b->by_end[at];
	}
	return NODE_NONE;
}

/* A call that ends behind the copy it launched waited for it. */
static void find_copies(critical_build *b)
{
	for (size_t i = 0; i < b->rank->n_device; i++) {
		uint32_t at = b->rank->device[i], call = build_row(b, at)->launch;
		if (call == ROW_NONE || !build_has(b, call) || build_row(b, call)->end != call + 1 ||
		    work_kind(b->w, build_row(b, at)->site) != KERNEL_MEMORY)
			continue;
		int64_t end = row_end_ns(build_row(b, at));
		bool is_last = b->waited[call] == NODE_NONE || end > row_end_ns(build_row(b, b->waited[call]));
		if (end <= row_end_ns(build_row(b, call)) && is_last)
			b->waited[call] = at;
	}
}

static void find_waits(critical_build *b)
{
	find_copies(b);
	for (size_t i = 1; i < b->nodes.n; i += 2) {
		uint32_t at = b->nodes.items[i];
		if ((build_traits(b, at) & BUILD_WAITS) && build_row(b, at)->end == at + 1)
			b->waited[at] = find_waited(b, build_row(b, at));
	}
}

bool build_device_load(critical_build *b)
{
	if (!sort_by_end(b) || !find_before(b) || !measure_launches(b))
		return false;
	find_waits(b);
	return true;
}

/* ---- Rows ---------------------------------------------------------------------------------------------------------
 */

static edge_kind kind_of(const critical_build *b, const row *at)
{
	kernel_kind kind = work_kind(b->w, at->site);

	return kind == KERNEL_COMMUNICATION ? EDGE_COMMUNICATION : kind == KERNEL_MEMORY ? EDGE_COPY : EDGE_KERNEL;
}

/* The last row of another stream that ended after `since` and before the row starts, or NODE_NONE. */
static uint32_t find_other(const critical_build *b, const row *at, int64_t since)
{
	size_t place = count_ended(b, at->start_ns);

	for (size_t looked = 0; place-- > 0 && looked < LOOK_BACK; looked++) {
		const row *r = build_row(b, b->by_end[place]);
		if (row_end_ns(r) <= since)
			break;
		if (r->track != at->track)
			return b->by_end[place];
	}
	return NODE_NONE;
}

/* From the end of a row on the device, or the window's start when that lies before it. */
static void wait_for(critical_build *b, uint32_t of, uint32_t i, edge_kind kind, bool binds)
{
	int64_t start = build_row(b, i)->start_ns;

	if (build_has(b, of))
		build_edge(b, b->node_of[of] + 1, b->node_of[i], binds ? start - row_end_ns(build_row(b, of)) : 0,
			   binds ? kind : EDGE_ORDER, build_name(b, binds ? of : NODE_NONE));
	else if (binds)
		build_edge(b, 0, b->node_of[i], start - b->start_ns, kind, NODE_NONE);
}

/* From its launch. What takes much longer than launching is waiting for something that is not in the trace. */
static void add_launch(critical_build *b, uint32_t i, bool binds)
{
	uint32_t call = build_row(b, i)->launch;
	int64_t since = build_row(b, i)->start_ns - build_row(b, call)->start_ns;
	bool is_long = binds && since > add_bounded(b->launch_ns, LONG_NS);

	if (!binds && since > b->launch_ns)
		since = b->launch_ns;
	if (build_has(b, call))
		build_edge(b, b->node_of[call], b->node_of[i], since, is_long ? EDGE_SYNC : EDGE_LAUNCH,
			   build_name(b, is_long ? i : call));
}

static void add_row(critical_build *b, uint32_t i)
{
	const row *at = build_row(b, i), *call = at->launch == ROW_NONE ? NULL : build_row(b, at->launch);
	uint32_t before = b->before[i], other = NODE_NONE;
	int64_t launched = call ? add_bounded(call->start_ns, b->launch_ns) : INT64_MIN;
	int64_t free_at = before == NODE_NONE ? INT64_MIN : row_end_ns(build_row(b, before));
	int64_t ready = launched > free_at ? launched : free_at;

	build_edge(b, b->node_of[i], b->node_of[i] + 1, at->dur_ns, kind_of(b, at), build_name(b, i));
	if (ready != INT64_MIN && at->start_ns - ready > CLEARLY_NS)
		other = find_other(b, at, ready);
	if (other != NODE_NONE)
		wait_for(b, other, i, EDGE_SYNC, true);
	/* Where nobody knows the launch a long gap says nothing about the row before. */
	bool is_known = call || before == NODE_NONE || at->start_ns - free_at <= LONG_NS;
	if (before != NODE_NONE)
		wait_for(b, before, i, EDGE_KERNEL_KERNEL, other == NODE_NONE && free_at > launched && is_known);
	if (call)
		add_launch(b, i, other == NODE_NONE && launched >= free_at);
}

void build_device_edges(critical_build *b)
{
	for (size_t i = 0; i < b->rank->n_device && !b->g->failed; i++)
		if (build_has(b, b->rank->device[i]))
			add_row(b, b->rank->device[i]);
}
