/* What a stretch of time sums up to, by name and by track. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "analyze/math/intervals.h"
#include "serve/routes.h"

enum { NAMES_MAX = 1000, OVERLAPPING_MAX = 2000000 };

typedef struct track_sum {
	uint32_t track;
	uint64_t n_slices;
	int64_t covered_ns; /* by slices, however deep; -1: there are too many that overlap */
} track_sum;

typedef struct sums {
	const sonde_index *ix;
	size_t n_sites, n_tracks, n_all_tracks;
	site_sum *sites, *of_track; /* one per site */
	uint32_t *order;
	track_sum *tracks;
	uint8_t *wanted; /* one per track; NULL: all */
	int64_t from_ns, to_ns;
} sums;

static void want_track(void *context, uint64_t track)
{
	((uint8_t *)context)[track] = 1;
}

static bool make_sums(call *c, sums *s)
{
	*s = (sums){ .ix = c->opened->ix };
	index_sites(s->ix, &s->n_sites);
	index_tracks(s->ix, &s->n_all_tracks);
	call_range(c, &s->from_ns, &s->to_ns);
	s->sites = calloc(s->n_sites + 1, sizeof *s->sites);
	s->of_track = calloc(s->n_sites + 1, sizeof *s->of_track);
	s->order = calloc(s->n_sites + 1, sizeof *s->order);
	s->tracks = calloc(s->n_all_tracks + 1, sizeof *s->tracks);
	if (request_text(c->request, "tracks")) {
		s->wanted = calloc(s->n_all_tracks + 1, 1);
		if (!s->wanted)
			return false;
		request_numbers(c->request, "tracks", s->n_all_tracks, want_track, s->wanted);
	}
	return s->sites && s->of_track && s->order && s->tracks;
}

static void free_sums(sums *s)
{
	free(s->sites);
	free(s->of_track);
	free(s->order);
	free(s->tracks);
	free(s->wanted);
}

/* The sums of one track go to those of all. */
static void add_up(sums *s, uint32_t track)
{
	track_sum *t = &s->tracks[s->n_tracks];

	*t = (track_sum){ .track = track };
	for (size_t i = 0; i < s->n_sites; i++) {
		site_sum *from = &s->of_track[i], *to = &s->sites[i];
		if (!from->n_slices)
			continue;
		to->min_ns = to->n_slices && to->min_ns < from->min_ns ? to->min_ns : from->min_ns;
		to->max_ns = to->max_ns > from->max_ns ? to->max_ns : from->max_ns;
		to->n_slices += from->n_slices;
		to->total_ns += from->total_ns;
		to->self_ns += from->self_ns;
		t->n_slices += from->n_slices;
		t->covered_ns += from->self_ns;
		*from = (site_sum){ 0 };
	}
	s->n_tracks += t->n_slices > 0;
}

static void add_outermost(const sums *s, uint32_t lane, intervals *to)
{
	uint64_t behind = lane_find_start(s->ix, lane, s->to_ns);
	lane_cursor c;
	index_slice slice;

	lane_first(&c, s->ix, lane, lane_find_end(s->ix, lane, s->from_ns));
	while (c.row < behind && lane_next(&c, &slice)) {
		int64_t end = slice.start_ns + slice.dur_ns;
		intervals_add(to, slice.start_ns > s->from_ns ? slice.start_ns : s->from_ns,
			      end < s->to_ns ? end : s->to_ns);
	}
}

/* Slices of a track that overlap lie in several stacks: what the outermost of all of them cover. */
static int64_t covered_by_stacks(const sums *s, const index_track *track, const index_lane *lanes, int64_t otherwise)
{
	intervals all = { 0 };
	uint64_t n = 0;
	unsigned n_stacks = 0;
	uint32_t end = track->first_lane + track->n_lanes;

	for (uint32_t i = track->first_lane; i < end; i++) {
		n_stacks += lanes[i].depth == 0;
		n += lanes[i].depth == 0 ? lanes[i].n_slices : 0;
	}
	if (n_stacks < 2)
		return otherwise;
	if (n > OVERLAPPING_MAX)
		return -1;
	for (uint32_t i = track->first_lane; i < end; i++)
		if (lanes[i].depth == 0)
			add_outermost(s, i, &all);
	int64_t covered = intervals_merge(&all) ? intervals_length(&all) : -1;
	intervals_done(&all);
	return covered;
}

static sonde_status sum_tracks(sums *s, sonde_error *err)
{
	size_t n;
	const index_track *tracks = index_tracks(s->ix, &n);
	const index_lane *lanes = index_lanes(s->ix, &n);

	for (uint32_t i = 0; i < s->n_all_tracks; i++) {
		aggregate_options what = { .from_ns = s->from_ns, .to_ns = s->to_ns, .tracks = &i, .n_tracks = 1 };
		if (s->wanted && !s->wanted[i])
			continue;
		sonde_status status = index_aggregate(s->ix, &what, s->of_track, err);
		if (status)
			return status;
		add_up(s, i);
		track_sum *last = s->n_tracks ? &s->tracks[s->n_tracks - 1] : NULL;
		if (last && last->track == i)
			last->covered_ns = covered_by_stacks(s, &tracks[i], lanes, last->covered_ns);
	}
	return SONDE_OK;
}

static int by_total(const void *a, const void *b, void *context)
{
	const site_sum *all = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (all[x].total_ns != all[y].total_ns)
		return all[x].total_ns > all[y].total_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void put_names(json_writer *w, sums *s)
{
	size_t n = 0, unused;
	const index_site *sites = index_sites(s->ix, &unused);

	for (uint32_t i = 0; i < s->n_sites; i++)
		if (s->sites[i].n_slices)
			s->order[n++] = i;
	qsort_r(s->order, n, sizeof *s->order, by_total, s->sites);
	put_u64(w, "n_names", n);
	put_list(w, "names");
	for (size_t i = 0; i < n && i < NAMES_MAX; i++) {
		const site_sum *sum = &s->sites[s->order[i]];
		const index_site *site = &sites[s->order[i]];
		json_begin_object(w);
		put_u64(w, "site", s->order[i]);
		put_text(w, "name", index_text(s->ix, site->name));
		put_text(w, "category", index_text(s->ix, site->category));
		put_text(w, "class", class_name(site->class));
		put_u64(w, "n_slices", sum->n_slices);
		put_i64(w, "total_ns", sum->total_ns);
		put_i64(w, "self_ns", sum->self_ns);
		put_i64(w, "min_ns", sum->min_ns);
		put_i64(w, "max_ns", sum->max_ns);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_tracks(json_writer *w, const sums *s)
{
	put_list(w, "tracks");
	for (size_t i = 0; i < s->n_tracks; i++) {
		json_begin_object(w);
		put_u64(w, "track", s->tracks[i].track);
		put_u64(w, "n_slices", s->tracks[i].n_slices);
		put_known(w, "covered_ns", s->tracks[i].covered_ns >= 0, s->tracks[i].covered_ns);
		json_end_object(w);
	}
	json_end_array(w);
}

void api_aggregate(call *c, reply *out)
{
	sonde_error err = { .position = -1 };
	sums s;
	bool ok = make_sums(c, &s);

	if (!ok) {
		reply_out_of_memory(out);
	} else if (!call_failed(c, out)) {
		sonde_status status = sum_tracks(&s, &err);
		json_writer *w = reply_json(out);
		json_begin_object(w);
		put_i64(w, "from", since_start(s.ix, s.from_ns));
		put_i64(w, "to", since_start(s.ix, s.to_ns));
		put_names(w, &s);
		put_tracks(w, &s);
		json_end_object(w);
		if (status)
			reply_failure(out, status, &err);
	}
	free_sums(&s);
}
