/*
 * The table of flows: the points of each file by site, id and time. Tracks have bound their points to slices by then;
 * here those get their numbers. Each track's points are put in order, most often the order they have, then the tracks
 * are merged: a heap says whose next point comes first.
 */
#include "base/search.h"
#include "store/build/builder_state.h"

/* A track's points that have not been put into the table yet. */
typedef struct flow_run {
	const flow_event *next;	  /* NULL: none is left */
	const flow_event **order; /* of those that are not in order: where they are; else NULL */
	size_t at, n;
	build_track *track;
	size_t released[2]; /* of flows, of binds */
} flow_run;

static inline bool point_before(const flow_event *a, const flow_event *b)
{
	if (a->site != b->site)
		return a->site < b->site;
	if (a->id != b->id)
		return a->id < b->id;
	return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->arrival < b->arrival);
}

#define SORT_NAME sort_points
#define SORT_TYPE const flow_event *
#define SORT_BEFORE(a, b) point_before(*(a), *(b))
#include "base/sort_template.h"

#define SORT_NAME sort_events
#define SORT_TYPE flow_event
#define SORT_BEFORE(a, b) ((a)->time_ns < (b)->time_ns)
#include "base/sort_template.h"

bool flows_prepare(build_track *t, int64_t shift_ns)
{
	flow_event *flows = (flow_event *)t->flows.bytes;
	size_t n = t->flows.n / sizeof *flows;
	flow_bind *binds = n ? bulk_add(&t->binds, n * sizeof *binds) : NULL;

	if (n && !binds)
		return false;
	for (size_t i = 0; i < n; i++) {
		flows[i].time_ns = trace_bounded_ns(flows[i].time_ns + shift_ns);
		binds[i] = (flow_bind){ { NO_LANE, 0 }, 0 };
	}
	return sort_events(flows, n);
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static const flow_event *events_of(const flow_run *run)
{
	return (const flow_event *)run->track->flows.bytes;
}

static bool begin_run(flow_run *run, build_track *t)
{
	size_t i = 1;

	*run = (flow_run){ .track = t, .n = t->flows.n / sizeof(flow_event) };
	const flow_event *events = run->next = events_of(run);
	while (i < run->n && !point_before(&events[i], &events[i - 1]))
		i++;
	if (i == run->n)
		return true;
	run->order = malloc(run->n * sizeof(flow_event *));
	for (i = 0; run->order && i < run->n; i++)
		run->order[i] = &events[i];
	if (!run->order || !sort_points(run->order, run->n))
		return false;
	run->next = run->order[0];
	return true;
}

static inline void advance(flow_run *run)
{
	enum { RELEASE_POINTS = 1 << 14 };
	size_t at = ++run->at;

	run->next = at == run->n ? NULL : run->order ? run->order[at] : run->next + 1;
	if (!run->order && at % RELEASE_POINTS == 0) {
		bulk_release(&run->track->flows, &run->released[0], at * sizeof(flow_event));
		bulk_release(&run->track->binds, &run->released[1], at * sizeof(flow_bind));
	}
}

static void end_run(flow_run *run)
{
	free(run->order);
	bulk_done(&run->track->flows);
	bulk_done(&run->track->binds);
}

static uint32_t args_of(const builder *b, const flow_event *f)
{
	const flow_args *all = (const flow_args *)b->flow_args.bytes;
	size_t n = b->flow_args.n / sizeof *all, at = FIRST_NOT(i, 0, n, all[i].arrival < f->arrival);

	return at < n && all[at].arrival == f->arrival ? all[at].args : 0;
}

static void put_flow(const builder *b, build_table *t, const flow_run *run)
{
	static const char phases[FLOW_PHASES] = {
		[FLOW_START] = 's', [FLOW_STEP] = 't', [FLOW_NEXT] = 'f', [FLOW_ENCLOSING] = 'F'
	};
	const flow_event *f = run->next;
	const flow_bind *bind = (const flow_bind *)run->track->binds.bytes + (f - events_of(run));
	const build_lane *l = bind->place.lane == NO_LANE ? NULL : track_lane(run->track, bind->place.lane);
	int64_t row[COLUMNS_MAX];

	row[FLOW_SLICE] = l ? (int64_t)(l->first_slice + bind->place.row + 1) : 0;
	row[FLOW_TIME] = l ? bind->from_ns : f->time_ns - b->start_ns;
	row[FLOW_TRACK] = run->track->number;
	row[FLOW_SITE] = f->site;
	row[FLOW_ID] = (int64_t)f->id;
	row[FLOW_PHASE] = phases[f->phase];
	row[FLOW_ARGS] = args_of(b, f);
	table_add(t, row);
}

/* ---- A file ------------------------------------------------------------------------------------------------------ */

/* Moves the run at the place down to where it belongs; the one whose next point is first is at the top. */
static void sift(flow_run **heap, size_t n, size_t place)
{
	flow_run *run = heap[place];

	for (size_t child = 2 * place + 1; child < n; child = 2 * place + 1) {
		child += child + 1 < n && point_before(heap[child + 1]->next, heap[child]->next);
		if (!point_before(heap[child]->next, run->next))
			break;
		heap[place] = heap[child];
		place = child;
	}
	heap[place] = run;
}

static void merge_runs(const builder *b, build_table *t, flow_run **heap, size_t n)
{
	for (size_t i = n / 2; i > 0; i--)
		sift(heap, n, i - 1);
	while (n) {
		put_flow(b, t, heap[0]);
		advance(heap[0]);
		if (!heap[0]->next)
			heap[0] = heap[--n];
		if (n > 1)
			sift(heap, n, 0);
	}
}

static bool put_file_flows(builder *b, build_table *t, uint32_t file, flow_run *runs, flow_run **heap)
{
	size_t n_tracks, n = 0;
	build_track *tracks = builder_tracks(b, &n_tracks);
	bool ok = true;

	for (size_t i = 0; ok && i < n_tracks; i++) {
		if (tracks[i].file != file || !tracks[i].flows.n)
			continue;
		heap[n] = &runs[n];
		ok = begin_run(&runs[n++], &tracks[i]);
	}
	if (ok)
		merge_runs(b, t, heap, n);
	for (size_t i = 0; i < n; i++)
		end_run(&runs[i]);
	return ok;
}

/* File by file: each counts its ids anew. */
bool flows_build(builder *b, build_table *t)
{
	size_t n_tracks;
	const build_track *tracks = builder_tracks(b, &n_tracks);
	uint32_t n_files = 0;

	if (!b->n_flows)
		return true;
	for (size_t i = 0; i < n_tracks; i++)
		n_files = tracks[i].file >= n_files ? tracks[i].file + 1 : n_files;
	flow_run *runs = malloc(n_tracks * sizeof *runs), **heap = malloc(n_tracks * sizeof *heap);
	bool ok = runs && heap;
	for (uint32_t file = 0; ok && file < n_files; file++)
		ok = put_file_flows(b, t, file, runs, heap);
	free(runs);
	free(heap);
	return ok;
}
