/*
 * builder_finish: from what was collected to the index.
 *
 *   tracks_build()      lanes of every track
 *   number_all()        the order of processes, tracks and lanes in the image; from here on slices have numbers
 *   tables, launches, steps, diagnostics
 *   image_build()
 *
 * Nothing depends on which thread did what: the same calls give the same bytes.
 */
#include "base/error.h"
#include "store/build/builder_state.h"

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static bool process_before(const build_process *a, const build_process *b)
{
	if (a->info.rank != b->info.rank)
		return a->info.rank < b->info.rank;
	if (a->info.sort != b->info.sort)
		return a->info.sort < b->info.sort;
	if (a->info.pid != b->info.pid)
		return a->info.pid < b->info.pid;
	return a->file < b->file;
}

/* Tracks have their process's number in the image by then. */
static bool track_before(const build_track *a, const build_track *b)
{
	if (a->info.process != b->info.process)
		return a->info.process < b->info.process;
	if (a->info.sort != b->info.sort)
		return a->info.sort < b->info.sort;
	if (a->info.kind != b->info.kind)
		return a->info.kind < b->info.kind;
	return a->info.id < b->info.id;
}

static bool lane_before(const build_lane *a, const build_lane *b)
{
	return a->group < b->group || (a->group == b->group && a->depth < b->depth);
}

#define SORT_NAME sort_processes
#define SORT_TYPE build_process *
#define SORT_BEFORE(a, b) process_before(*(a), *(b))
#include "base/sort_template.h"

#define SORT_NAME sort_tracks
#define SORT_TYPE build_track *
#define SORT_BEFORE(a, b) track_before(*(a), *(b))
#include "base/sort_template.h"

#define SORT_NAME sort_lanes
#define SORT_TYPE build_lane *
#define SORT_BEFORE(a, b) lane_before(*(a), *(b))
#include "base/sort_template.h"

#define SORT_NAME sort_steps
#define SORT_TYPE index_step
#define SORT_BEFORE(a, b) ((a)->start_ns < (b)->start_ns || ((a)->start_ns == (b)->start_ns && (a)->slice < (b)->slice))
#include "base/sort_template.h"

#define SORT_NAME sort_step_numbers
#define SORT_TYPE build_step
#define SORT_BEFORE(a, b) ((a)->track < (b)->track || ((a)->track == (b)->track && (a)->start_ns < (b)->start_ns))
#include "base/sort_template.h"

static bool number_processes(builder *b)
{
	size_t n = b->processes.n;

	b->process_order = malloc((n + 1) * sizeof(build_process *));
	if (!b->process_order)
		return false;
	for (size_t i = 0; i < n; i++) {
		build_process *p = &b->processes.items[i];
		if (p->info.rank == -1 && p->file < b->files.n)
			p->info.rank = b->files.items[p->file].rank;
		b->process_order[i] = p;
	}
	if (!sort_processes(b->process_order, n))
		return false;
	for (size_t i = 0; i < n; i++)
		b->process_order[i]->number = (uint32_t)i;
	return true;
}

static int32_t settled_rank(const builder *b, int32_t rank)
{
	uint32_t file = BUILDER_RANK_OF(rank); /* the way back is the same */

	if (rank >= -1)
		return rank;
	return file < b->files.n ? b->files.items[file].rank : -1;
}

static void settle_metas(builder *b)
{
	for (size_t i = 0; i < b->metas.n; i++)
		b->metas.items[i].rank = settled_rank(b, b->metas.items[i].rank);
	for (size_t i = 0; i < b->devices.n; i++)
		b->devices.items[i].rank = settled_rank(b, b->devices.items[i].rank);
}

static bool is_mostly_device(const build_track *t)
{
	uint64_t n_device = 0, n_plain = 0;

	for (uint32_t i = 0; i < track_n_lanes(t); i++) {
		n_device += track_lane(t, i)->n_device;
		n_plain += track_lane(t, i)->n_plain;
	}
	return n_device > n_plain / 2;
}

/* A thread whose slices are mostly a device's work is a queue of that device. */
static void decide_kind(const builder *b, build_track *t)
{
	const build_process *p = t->info.process < b->processes.n ? &b->processes.items[t->info.process] : NULL;

	if (t->info.kind == TRACK_THREAD && is_mostly_device(t))
		t->info.kind = TRACK_STREAM;
	if (t->info.kind == TRACK_STREAM && t->info.device == -1 && p)
		t->info.device = p->info.device;
	t->info.process = p ? p->number : INDEX_NONE;
}

static bool number_tracks(builder *b)
{
	size_t n;
	build_track *tracks = builder_tracks(b, &n);

	b->track_order = malloc((n + 1) * sizeof(build_track *));
	if (!b->track_order)
		return false;
	for (size_t i = 0; i < n; i++) {
		decide_kind(b, &tracks[i]);
		b->track_order[i] = &tracks[i];
		b->n_lanes += track_n_lanes(&tracks[i]);
	}
	if (!sort_tracks(b->track_order, n))
		return false;
	for (size_t i = 0; i < n; i++)
		b->track_order[i]->number = (uint32_t)i;
	return true;
}

static bool number_lanes(builder *b)
{
	size_t n_tracks, n = 0;

	builder_tracks(b, &n_tracks);
	b->lane_order = malloc((b->n_lanes + 1) * sizeof(build_lane *));
	if (!b->lane_order || b->n_lanes >= INDEX_NONE)
		return false;
	for (size_t k = 0; k < n_tracks; k++) {
		build_track *t = b->track_order[k];
		build_lane **lanes = b->lane_order + n;
		t->info.first_lane = (uint32_t)n;
		t->info.n_lanes = (uint32_t)track_n_lanes(t);
		t->info.n_slices = 0;
		for (uint32_t i = 0; i < t->info.n_lanes; i++)
			lanes[i] = track_lane(t, i);
		if (!sort_lanes(lanes, t->info.n_lanes))
			return false;
		for (uint32_t i = 0; i < t->info.n_lanes; i++) {
			lanes[i]->first_slice = b->n_slices;
			b->n_slices += lanes[i]->n_slices;
			t->info.n_slices += lanes[i]->n_slices;
		}
		n += t->info.n_lanes;
	}
	return true;
}

static bool number_all(builder *b)
{
	settle_metas(b);
	if (number_processes(b) && number_tracks(b) && number_lanes(b))
		return true;
	builder_fail(b, SONDE_E_MEMORY, "out of memory");
	return false;
}

/* ---- From when to when ------------------------------------------------------------------------------------------- */

static void include(builder *b, int64_t start_ns, int64_t end_ns)
{
	b->start_ns = !b->has_time || start_ns < b->start_ns ? start_ns : b->start_ns;
	b->end_ns = !b->has_time || end_ns > b->end_ns ? end_ns : b->end_ns;
	b->has_time = true;
}

static void find_range(builder *b)
{
	size_t n;
	const build_track *tracks = builder_tracks(b, &n);

	for (size_t i = 0; i < n; i++) {
		const build_track *t = &tracks[i];
		int64_t shift_ns = builder_shift_of(b, (uint32_t)i);
		if (t->info.n_slices)
			include(b, t->start_ns, t->end_ns);
		if (t->first_ns <= t->last_ns)
			include(b, trace_bounded_ns(t->first_ns + shift_ns), trace_bounded_ns(t->last_ns + shift_ns));
	}
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* The last digits of the name: "ProfilerStep#12". -1: it has none. */
static int64_t number_in(const char *name, size_t len)
{
	int64_t number = 0;
	size_t from;

	while (len && !(name[len - 1] >= '0' && name[len - 1] <= '9'))
		len--;
	for (from = len; from && name[from - 1] >= '0' && name[from - 1] <= '9'; from--)
		;
	if (from == len || len - from > 18)
		return -1;
	for (; from < len; from++)
		number = number * 10 + (name[from] - '0');
	return number;
}

/* The number that builder_step gave it, else the one in its name. */
static int64_t step_number(const builder *b, uint32_t track, const step_mark *m)
{
	const build_step *given = b->step_numbers.items;
	size_t low = 0, high = b->step_numbers.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (given[middle].track < track ||
		    (given[middle].track == track && given[middle].start_ns < m->start_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (low < b->step_numbers.n && given[low].track == track && given[low].start_ns == m->start_ns)
		return given[low].number;
	uint32_t name = b->sites.items[m->site].name;
	return name < b->strings.n ? number_in(b->strings.entries[name].text, b->strings.entries[name].len) : -1;
}

static bool add_steps(builder *b, uint32_t track)
{
	build_track *t = &builder_tracks(b, NULL)[track];
	const step_mark *marks = (const step_mark *)t->steps.bytes;

	for (size_t i = 0; t->info.kind == TRACK_THREAD && i < t->steps.n / sizeof *marks; i++) {
		index_step *step = bulk_add(&b->steps, sizeof *step);
		if (!step)
			return false;
		*step = (index_step){
			.number = step_number(b, track, &marks[i]),
			.slice = track_lane(t, marks[i].place.lane)->first_slice + marks[i].place.row,
			.start_ns = marks[i].start_ns - b->start_ns,
			.dur_ns = marks[i].dur_ns,
			.track = t->number,
		};
	}
	bulk_done(&t->steps);
	return true;
}

static bool find_steps(builder *b)
{
	size_t n;
	const build_track *tracks = builder_tracks(b, &n);
	bool ok = true;

	for (size_t i = 0; i < b->step_numbers.n; i++) {
		build_step *s = &b->step_numbers.items[i];
		const build_track *t = &tracks[s->track];
		s->start_ns = t->feed ? s->start_ns + t->shift_ns : trace_bounded_ns(s->start_ns + t->shift_ns);
	}
	ok = sort_step_numbers(b->step_numbers.items, b->step_numbers.n);
	for (size_t i = 0; ok && i < n; i++)
		ok = add_steps(b, (uint32_t)i);
	ok = ok && sort_steps((index_step *)b->steps.bytes, b->steps.n / sizeof(index_step));
	if (!ok)
		builder_fail(b, SONDE_E_MEMORY, "out of memory");
	return ok;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* What all threads' slices sum up to. Of very many sites the sums are large: they go before the image is made. */
static void sum_sites(builder *b)
{
	for (size_t i = 0; i < b->sites.n; i++) {
		site_sums sum = b->sums.items[i];
		for (size_t k = 0; k < b->n_packers; k++) {
			const site_sums *s = &b->packers[k].sums[i];
			bool lower = s->n_slices && (!sum.n_slices || s->min_ns < sum.min_ns);
			sum.min_ns = lower ? s->min_ns : sum.min_ns;
			sum.max_ns = s->max_ns > sum.max_ns ? s->max_ns : sum.max_ns;
			sum.n_slices += s->n_slices;
			sum.total_ns += s->total_ns;
			sum.child_ns += s->child_ns;
		}
		index_site *site = &b->sites.items[i];
		site->n_slices = sum.n_slices;
		site->total_ns = (int64_t)sum.total_ns;
		site->self_ns = (int64_t)(sum.total_ns - sum.child_ns);
		site->min_ns = sum.min_ns;
		site->max_ns = sum.max_ns;
	}
	for (size_t k = 0; k < b->n_packers; k++) {
		free(b->packers[k].sums);
		b->packers[k].sums = NULL;
	}
	VEC_DONE(&b->sums);
	intern_done(&b->site_keys);
}

static void note(builder *b, diagnostic_kind kind, uint64_t n)
{
	builder_diagnostic(b, &(builder_problem){ .kind = kind, .n = n, .position = -1 });
}

static void add_diagnostics(builder *b, uint64_t n_unbound)
{
	size_t n;
	const build_track *tracks = builder_tracks(b, &n);
	uint64_t n_overlapping = 0, n_deep = 0;

	for (size_t i = 0; i < n; i++) {
		if (tracks[i].info.kind != TRACK_ASYNC) /* they are meant to */
			n_overlapping += tracks[i].n_overlapping;
		n_deep += tracks[i].n_deep;
	}
	if (n_overlapping)
		note(b, DIAGNOSTIC_OVERLAPPING, n_overlapping);
	if (n_deep)
		note(b, DIAGNOSTIC_TOO_DEEP, n_deep);
	if (n_unbound)
		note(b, DIAGNOSTIC_UNBOUND_FLOWS, n_unbound);
	if (b->n_without_launch)
		note(b, DIAGNOSTIC_NO_LAUNCH, b->n_without_launch);
}
_Static_assert(NEST_DEPTH == 1024, "said in a diagnostic");

static uint64_t count_unbound(const builder *b)
{
	size_t n_tracks;
	const build_track *tracks = builder_tracks(b, &n_tracks);
	uint64_t n = 0;

	for (size_t t = 0; t < n_tracks; t++)
		for (size_t i = 0; i < tracks[t].binds.n / sizeof(flow_bind); i++)
			n += ((const flow_bind *)tracks[t].binds.bytes)[i].place.lane == NO_LANE;
	return n;
}

static bool build_all(builder *b)
{
	if (!tracks_build(b) || !number_all(b) || !tables_sort(b) || !counters_name(b))
		return false;
	find_range(b);
	sum_sites(b);
	uint64_t n_unbound = count_unbound(b);
	if (!find_steps(b) || !tables_build(b))
		return false;
	add_diagnostics(b, n_unbound);
	return !b->status;
}

sonde_status builder_finish(builder *b, sonde_index **ret_index, sonde_error *err)
{
	if (b->finished)
		return error_set(err, SONDE_E_STATE, -1, "the index already exists");
	b->finished = true;
	if (b->status || !build_all(b))
		return error_set(err, b->status, -1, "%s", b->why);
	return image_build(b, ret_index, err);
}
