/*
 * The table of flows: the points of each file by site, id and time. Tracks have bound their points to slices by then;
 * here those get their numbers.
 */
#include "store/builder_state.h"
#include "store/trace.h"

enum { RELEASE_POINTS = 1 << 14 };

/* A point as it will be in the table. */
typedef struct flow_point {
	int64_t time_ns;
	uint64_t id;
	uint64_t slice;	 /* number + 1, 0: none */
	int64_t from_ns; /* from the slice's start */
	uint32_t track : 30, phase : 2;
	uint32_t site, args;
	uint32_t arrival;
} flow_point;

static inline bool point_before(const flow_point *a, const flow_point *b)
{
	if (a->id != b->id)
		return a->id < b->id;
	return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->arrival < b->arrival);
}

#define SORT_NAME sort_points
#define SORT_TYPE flow_point
#define SORT_BEFORE(a, b) point_before(a, b)
#include "store/sort_template.h"

#define SORT_NAME sort_events
#define SORT_TYPE flow_event
#define SORT_BEFORE(a, b) ((a)->time_ns < (b)->time_ns)
#include "store/sort_template.h"

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

/* Where the points of each site begin, of those in the file, from [1] on. NULL when out of memory. */
static size_t *flow_offsets(builder *b, uint32_t file)
{
	size_t n_tracks, n_sites = b->sites.n, *offsets = calloc(n_sites + 2, sizeof *offsets);
	const build_track *tracks = builder_tracks(b, &n_tracks);

	for (size_t t = 0; offsets && t < n_tracks; t++) {
		const flow_event *flows = (const flow_event *)tracks[t].flows.bytes;
		if (tracks[t].file != file)
			continue;
		for (size_t i = 0; i < tracks[t].flows.n / sizeof *flows; i++)
			offsets[flows[i].site + 2]++;
	}
	for (size_t i = 2; offsets && i < n_sites + 2; i++)
		offsets[i] += offsets[i - 1];
	return offsets;
}

static flow_point point_of(const build_track *t, const flow_event *f, const flow_bind *bind)
{
	const build_lane *l = bind->place.lane == NO_LANE ? NULL : track_lane(t, bind->place.lane);

	return (flow_point){
		.time_ns = f->time_ns,
		.id = f->id,
		.slice = l ? l->first_slice + bind->place.row + 1 : 0,
		.from_ns = bind->from_ns,
		.track = t->number & 0x3fffffff,
		.phase = f->phase & 3,
		.site = f->site,
		.args = f->args,
		.arrival = f->arrival,
	};
}

/* All points of a file by site; offsets[site] becomes where the site's begin. */
static flow_point *gather_flows(builder *b, uint32_t file, size_t *offsets, bulk *to)
{
	size_t n_tracks;
	build_track *tracks = builder_tracks(b, &n_tracks);
	flow_point *all = bulk_add(to, offsets[b->sites.n + 1] * sizeof *all);

	for (size_t t = 0; all && t < n_tracks; t++) {
		const flow_event *flows = (const flow_event *)tracks[t].flows.bytes;
		const flow_bind *binds = (const flow_bind *)tracks[t].binds.bytes;
		if (tracks[t].file != file)
			continue;
		size_t flows_released = 0, binds_released = 0;
		for (size_t i = 0; i < tracks[t].flows.n / sizeof *flows; i++) {
			all[offsets[flows[i].site + 1]++] = point_of(&tracks[t], &flows[i], &binds[i]);
			if (i % RELEASE_POINTS == 0) {
				bulk_release(&tracks[t].flows, &flows_released, i * sizeof *flows);
				bulk_release(&tracks[t].binds, &binds_released, i * sizeof *binds);
			}
		}
		bulk_done(&tracks[t].flows);
		bulk_done(&tracks[t].binds);
	}
	return all;
}

static void put_flow(builder *b, build_table *t, const flow_point *f)
{
	static const char phases[FLOW_PHASES] = {
		[FLOW_START] = 's', [FLOW_STEP] = 't', [FLOW_NEXT] = 'f', [FLOW_ENCLOSING] = 'F'
	};
	int64_t row[COLUMNS_MAX] = { [FLOW_SLICE] = (int64_t)f->slice,
				     [FLOW_TIME] = f->slice ? f->from_ns : f->time_ns - b->start_ns,
				     [FLOW_TRACK] = f->track,
				     [FLOW_SITE] = f->site,
				     [FLOW_ID] = (int64_t)f->id,
				     [FLOW_PHASE] = phases[f->phase],
				     [FLOW_ARGS] = f->args };

	table_add(t, row);
}

static bool put_file_flows(builder *b, build_table *t, uint32_t file)
{
	size_t *offsets = flow_offsets(b, file);
	bulk points = { 0 };
	size_t released = 0;

	if (!offsets)
		return false;
	if (offsets[b->sites.n + 1] == 0) {
		free(offsets);
		return true;
	}
	flow_point *all = gather_flows(b, file, offsets, &points);
	bool ok = all;
	for (size_t site = 0; ok && site < b->sites.n; site++) {
		flow_point *first = all + offsets[site];
		size_t n = offsets[site + 1] - offsets[site];
		ok = sort_points(first, n);
		for (size_t i = 0; ok && i < n; i++)
			put_flow(b, t, &first[i]);
		bulk_release(&points, &released, offsets[site + 1] * sizeof *all);
	}
	free(offsets);
	bulk_done(&points);
	return ok;
}

/* File by file: each counts its ids anew. */
bool flows_build(builder *b, build_table *t)
{
	size_t n_tracks;
	const build_track *tracks = builder_tracks(b, &n_tracks);
	uint32_t n_files = 0;
	bool ok = true;

	for (size_t i = 0; i < n_tracks; i++)
		n_files = tracks[i].file >= n_files ? tracks[i].file + 1 : n_files;
	for (uint32_t file = 0; ok && b->n_flows && file < n_files; file++)
		ok = put_file_flows(b, t, file);
	return ok;
}
