/*
 * What the devices of each rank do, one value per pixel and kind.
 *
 * It is summed up slice by slice as long as there are at most EXACT_MAX of them in the range. Beyond, it comes from the
 * same rectangles that a timeline draws, FINER of them a pixel, so that it costs pixels, not slices; where several
 * slices share one, the kind of the longest counts for all of them. The kinds are apart: what communicates while
 * something computes is not told, and copies only where neither does.
 */
#include <stdlib.h>
#include <string.h>
#include "analyze/math/intervals.h"
#include "analyze/names/kernel_kind.h"
#include "serve/part.h"
#include "serve/routes.h"

enum { PIXELS_MAX = 16384, SHOWN_KINDS = 3, EXACT_MAX = 1000000, FINER = 16 };
static const char *const shown_names[SHOWN_KINDS] = { "compute", "communication", "copy" };

typedef struct device_view {
	const sonde_index *ix;
	int64_t from_ns, to_ns;
	size_t n_pixels;
	bool is_exact;
	range_rect *rects; /* room for FINER a pixel */
	uint8_t *kinds;	   /* of each site: of shown_names, or SHOWN_KINDS: none; UNSEEN: not looked at */
	float *share;	   /* SHOWN_KINDS x n_pixels */
	intervals *busy;   /* of the rank, exactly: one for each kind */
	bool *failed;	   /* out of memory */
} device_view;

enum { UNSEEN = 255 };

static unsigned kind_of(const device_view *v, const index_site *sites, uint32_t site)
{
	const index_site *s = &sites[site];

	if (v->kinds[site] != UNSEEN)
		return v->kinds[site];
	kernel_kind kind = kernel_kind_of(index_text(v->ix, s->name), (site_class)s->class);
	bool is_work = s->class == CLASS_KERNEL || s->class == CLASS_COPY || s->class == CLASS_COMMUNICATION;
	return v->kinds[site] = (uint8_t)(!is_work			 ? SHOWN_KINDS
					  : kind == KERNEL_COMMUNICATION ? 1
					  : kind == KERNEL_MEMORY	 ? 2
									 : 0);
}

static void add_rects(const device_view *v, const index_site *sites, uint32_t lane)
{
	size_t n = index_range(v->ix, lane, v->from_ns, v->to_ns, (uint32_t)(v->n_pixels * FINER), v->rects);

	for (size_t i = 0; i < n; i++) {
		unsigned kind = kind_of(v, sites, v->rects[i].site);
		for (uint32_t x = 0; kind < SHOWN_KINDS && x < v->rects[i].width; x++)
			v->share[kind * v->n_pixels + (v->rects[i].x + x) / FINER] += v->rects[i].busy / FINER;
	}
}

static void add_slices(const device_view *v, const index_site *sites, uint32_t lane)
{
	lane_cursor c;
	index_slice s;

	lane_first(&c, v->ix, lane, lane_find_end(v->ix, lane, v->from_ns));
	while (lane_next(&c, &s) && s.start_ns < v->to_ns) {
		unsigned kind = kind_of(v, sites, s.site);
		if (kind < SHOWN_KINDS)
			intervals_add(&v->busy[kind], s.start_ns, s.start_ns + s.dur_ns);
	}
}

/* Each pixel gets its part of the interval. */
static void add_interval(const device_view *v, unsigned kind, const interval *i)
{
	double per_pixel = (double)(v->to_ns - v->from_ns) / (double)v->n_pixels;
	double start = (double)(i->start - v->from_ns) / per_pixel, end = (double)(i->end - v->from_ns) / per_pixel;

	start = start > 0 ? start : 0;
	end = end < (double)v->n_pixels ? end : (double)v->n_pixels;
	for (size_t x = (size_t)start; (double)x < end; x++) {
		double from = start > (double)x ? start : (double)x, to = end < (double)x + 1 ? end : (double)x + 1;
		v->share[kind * v->n_pixels + x] += (float)(to - from);
	}
}

/* What is left of a kind when those before it are taken away; they grow by it. False when out of memory. */
static bool add_kind(const device_view *v, unsigned kind, intervals *taken)
{
	intervals left = { 0 }, both = { 0 };
	bool ok = intervals_merge(&v->busy[kind]) && intervals_subtract(&v->busy[kind], taken, &left) &&
		  intervals_union(taken, &v->busy[kind], &both);

	interval one;
	for (interval_walk w = intervals_first(&left); ok && intervals_next(&w, &one);)
		add_interval(v, kind, &one);
	intervals_done(taken);
	*taken = both;
	intervals_done(&left);
	intervals_done(&v->busy[kind]);
	return ok;
}

static bool add_exactly(const device_view *v)
{
	intervals taken = { 0 };
	bool ok = true;

	for (unsigned kind = 0; kind < SHOWN_KINDS; kind++)
		ok = add_kind(v, kind, &taken) && ok;
	intervals_done(&taken);
	return ok;
}

static bool is_cheap(const device_view *v)
{
	size_t n_tracks, n_lanes;
	const index_track *tracks = index_tracks(v->ix, &n_tracks);
	const index_lane *lanes = index_lanes(v->ix, &n_lanes);
	uint64_t n = 0;

	for (size_t i = 0; i < n_lanes; i++)
		if (tracks[lanes[i].track].kind == TRACK_STREAM)
			n += lane_find_start(v->ix, (uint32_t)i, v->to_ns) -
			     lane_find_end(v->ix, (uint32_t)i, v->from_ns);
	return n <= EXACT_MAX;
}

/* False: the rank has no device rows. */
static bool add_rank(const device_view *v, int32_t rank)
{
	size_t n_tracks, n_sites;
	const index_track *tracks = index_tracks(v->ix, &n_tracks);
	const index_site *sites = index_sites(v->ix, &n_sites);
	bool any = false;

	memset(v->share, 0, SHOWN_KINDS * v->n_pixels * sizeof *v->share);
	for (size_t i = 0; i < n_tracks; i++) {
		bool is_ours = tracks[i].kind == TRACK_STREAM && index_rank_of(v->ix, (uint32_t)i) == rank;
		for (uint32_t k = 0; is_ours && k < tracks[i].n_lanes; k++)
			(v->is_exact ? add_slices : add_rects)(v, sites, tracks[i].first_lane + k);
		any |= is_ours && tracks[i].n_slices;
	}
	if (v->is_exact)
		*v->failed |= !add_exactly(v);
	return any;
}

static void put_rank(json_writer *w, const device_view *v, int32_t rank)
{
	float *all = v->share;

	/* What is only estimated may overlap in ways that nobody knows. */
	for (size_t i = v->n_pixels; i < SHOWN_KINDS * v->n_pixels; i++) {
		float room = 1 - all[i % v->n_pixels] - (i >= 2 * v->n_pixels ? all[i - v->n_pixels] : 0);
		all[i] = all[i] < room ? all[i] : room > 0 ? room : 0;
	}
	json_begin_object(w);
	put_known(w, "rank", rank >= 0, rank);
	for (size_t k = 0; k < SHOWN_KINDS; k++) {
		put_list(w, shown_names[k]);
		for (size_t x = 0; x < v->n_pixels; x++) {
			float share = v->share[k * v->n_pixels + x];
			json_u64(w, (uint64_t)((share < 1 ? share : 1) * 255 + 0.5f));
		}
		json_end_array(w);
	}
	json_end_object(w);
}

/* Each rank once: the first process that has it stands for it. */
static bool is_first(const index_process *p, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (p[k].rank == p[i].rank)
			return false;
	return true;
}

void api_overlap(call *c, reply *out)
{
	intervals busy[SHOWN_KINDS] = { 0 };
	bool failed = false;
	device_view v = { .ix = c->opened->ix, .busy = busy, .failed = &failed };
	size_t n_sites, n_processes;
	const index_process *processes = index_processes(v.ix, &n_processes);

	index_sites(v.ix, &n_sites);
	call_range(c, &v.from_ns, &v.to_ns);
	v.n_pixels = (size_t)request_number(c->request, "px", 1, PIXELS_MAX, 1000);
	v.is_exact = is_cheap(&v);
	v.rects = v.is_exact ? NULL : calloc(FINER * v.n_pixels, sizeof *v.rects);
	v.kinds = malloc(n_sites + 1);
	v.share = calloc(SHOWN_KINDS * v.n_pixels, sizeof *v.share);
	if ((!v.rects && !v.is_exact) || !v.kinds || !v.share) {
		reply_out_of_memory(out);
	} else if (!call_failed(c, out)) {
		memset(v.kinds, UNSEEN, n_sites + 1);
		json_writer *w = reply_json(out);
		json_begin_object(w);
		put_u64(w, "px", v.n_pixels);
		put_bool(w, "is_exact", v.is_exact);
		put_list(w, "ranks");
		for (size_t i = 0, told = 0; i < n_processes && (!c->part || told < PART_RANKS); i++)
			if (is_first(processes, i) && add_rank(&v, processes[i].rank)) {
				put_rank(w, &v, processes[i].rank);
				told++;
			}
		json_end_array(w);
		json_end_object(w);
		if (failed)
			reply_out_of_memory(out);
	}
	free(v.rects);
	free(v.kinds);
	free(v.share);
}
