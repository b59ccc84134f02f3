/*
 * Values over time, one per pixel: counters, and what the devices of each rank do.
 *
 * What devices do is summed up slice by slice as long as there are at most EXACT_MAX of them in the range. Beyond, it
 * comes from the same rectangles that a timeline draws, FINER of them a pixel, so that it costs pixels, not slices;
 * where several slices share one, the kind of the longest counts for all of them. Streams of a rank add up, to one at
 * most.
 */
#include <stdlib.h>
#include <string.h>
#include "analyze/kernel_kind.h"
#include "serve/routes.h"

enum { PIXELS_MAX = 16384, COUNTERS_MAX = 256 };

/* ---- Counters ---------------------------------------------------------------------------------------------------- */

typedef struct curve {
	double *min, *max, *last;
	bool *has;
	double before; /* the last value left of the first pixel */
	bool has_before;
	size_t n_pixels;
} curve;

static double as_value(int64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

/* First of the counter's rows that is not before the time. */
static uint64_t find_value(table_cursor *rows, const sonde_index *ix, const index_counter *of, int64_t time_ns)
{
	uint64_t low = of->first_value, high = of->first_value + of->n_values;
	int64_t row[COLUMNS_MAX];

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		table_first(rows, ix, SECTION_VALUES, middle);
		if (table_next(rows, row) && row[VALUE_TIME] < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_value(curve *c, size_t pixel, double value)
{
	if (!c->has[pixel] || value < c->min[pixel])
		c->min[pixel] = value;
	if (!c->has[pixel] || value > c->max[pixel])
		c->max[pixel] = value;
	c->last[pixel] = value;
	c->has[pixel] = true;
}

/* from and to count from the trace's start. */
static void read_curve(const sonde_index *ix, const index_counter *of, int64_t from, int64_t to, table_cursor *rows,
		       curve *c)
{
	int64_t row[COLUMNS_MAX];
	uint64_t first = find_value(rows, ix, of, from), end = of->first_value + of->n_values;

	memset(c->has, 0, c->n_pixels * sizeof *c->has);
	table_first(rows, ix, SECTION_VALUES, first > of->first_value ? first - 1 : first);
	c->has_before = first > of->first_value && table_next(rows, row);
	c->before = c->has_before ? as_value(row[VALUE_BITS]) : 0;
	while (rows->row < end && table_next(rows, row) && row[VALUE_TIME] < to) {
		uint64_t at = (uint64_t)row[VALUE_TIME] - (uint64_t)from, width = (uint64_t)to - (uint64_t)from;
		size_t pixel = (size_t)((unsigned __int128)at * c->n_pixels / width);
		if (row[VALUE_TIME] >= from)
			add_value(c, pixel, as_value(row[VALUE_BITS]));
	}
}

/* A value holds until the next one. */
static void put_values(json_writer *w, const char *key, const curve *c, const double *values)
{
	bool is_known = c->has_before;
	double held = c->before;

	put_list(w, key);
	for (size_t i = 0; i < c->n_pixels; i++) {
		if (c->has[i]) {
			json_f64(w, values[i]);
			held = c->last[i];
			is_known = true;
		} else if (is_known) {
			json_f64(w, held);
		} else {
			json_null(w);
		}
	}
	json_end_array(w);
}

static void put_bounds(json_writer *w, const curve *c)
{
	double lowest = c->before, highest = c->before;
	bool is_known = c->has_before;

	for (size_t i = 0; i < c->n_pixels; i++) {
		if (!c->has[i])
			continue;
		lowest = !is_known || c->min[i] < lowest ? c->min[i] : lowest;
		highest = !is_known || c->max[i] > highest ? c->max[i] : highest;
		is_known = true;
	}
	json_key(w, "lowest");
	is_known ? json_f64(w, lowest) : json_null(w);
	json_key(w, "highest");
	is_known ? json_f64(w, highest) : json_null(w);
}

static bool make_curve(curve *c, size_t n_pixels)
{
	c->n_pixels = n_pixels;
	c->min = calloc(3 * n_pixels, sizeof *c->min);
	c->has = calloc(n_pixels, sizeof *c->has);
	c->max = c->min ? c->min + n_pixels : NULL;
	c->last = c->min ? c->max + n_pixels : NULL;
	return c->min && c->has;
}

static void want_counter(void *context, uint64_t counter)
{
	((uint8_t *)context)[counter] = 1;
}

void api_counters(call *c, reply *out)
{
	const sonde_index *ix = c->opened->ix;
	size_t n, told = 0;
	const index_counter *counters = index_counters(ix, &n);
	size_t n_pixels = (size_t)request_number(c->request, "px", 1, PIXELS_MAX, 1000);
	table_cursor *rows = malloc(sizeof *rows);
	uint8_t *wanted = calloc(n + 1, 1);
	curve k = { 0 };
	int64_t from, to;

	call_range(c, &from, &to);
	from = since_start(ix, from);
	to = since_start(ix, to);
	if (wanted && !request_numbers(c->request, "ids", n, want_counter, wanted))
		memset(wanted, 1, n);
	if (!rows || !wanted || !make_curve(&k, n_pixels)) {
		reply_out_of_memory(out);
	} else if (!call_failed(c, out)) {
		json_writer *w = reply_json(out);
		json_begin_object(w);
		put_u64(w, "px", n_pixels);
		put_list(w, "counters");
		for (size_t i = 0; i < n; i++) {
			if (!wanted[i] || told++ >= COUNTERS_MAX)
				continue;
			read_curve(ix, &counters[i], from, to, rows, &k);
			json_begin_object(w);
			put_u64(w, "id", i);
			put_text(w, "name", index_text(ix, counters[i].name));
			put_values(w, "min", &k, k.min);
			put_values(w, "max", &k, k.max);
			put_values(w, "last", &k, k.last);
			put_bounds(w, &k);
			json_end_object(w);
		}
		json_end_array(w);
		json_end_object(w);
	}
	free(rows);
	free(wanted);
	free(k.min);
	free(k.has);
}

/* ---- What devices do --------------------------------------------------------------------------------------------- */

enum { SHOWN_KINDS = 3, EXACT_MAX = 1000000, FINER = 16 };
static const char *const shown_names[SHOWN_KINDS] = { "compute", "communication", "copy" };

typedef struct device_view {
	const sonde_index *ix;
	int64_t from_ns, to_ns;
	size_t n_pixels;
	bool is_exact;
	range_rect *rects; /* room for FINER a pixel */
	uint8_t *kinds;	   /* of each site: of shown_names, or SHOWN_KINDS: none; UNSEEN: not looked at */
	float *share;	   /* SHOWN_KINDS x n_pixels */
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

/* Each pixel gets its part of the slice. */
static void add_slice(const device_view *v, unsigned kind, const index_slice *s)
{
	double per_pixel = (double)(v->to_ns - v->from_ns) / (double)v->n_pixels;
	double start = (double)(s->start_ns - v->from_ns) / per_pixel, end = start + (double)s->dur_ns / per_pixel;

	start = start > 0 ? start : 0;
	end = end < (double)v->n_pixels ? end : (double)v->n_pixels;
	for (size_t x = (size_t)start; (double)x < end; x++) {
		double from = start > (double)x ? start : (double)x, to = end < (double)x + 1 ? end : (double)x + 1;
		v->share[kind * v->n_pixels + x] += (float)(to - from);
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
			add_slice(v, kind, &s);
	}
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
	size_t n_tracks, n_processes;
	const index_track *tracks = index_tracks(v->ix, &n_tracks);
	const index_process *processes = index_processes(v->ix, &n_processes);
	size_t n_sites;
	const index_site *sites = index_sites(v->ix, &n_sites);
	bool any = false;

	memset(v->share, 0, SHOWN_KINDS * v->n_pixels * sizeof *v->share);
	for (size_t i = 0; i < n_tracks; i++) {
		bool is_ours = tracks[i].kind == TRACK_STREAM && tracks[i].process < n_processes &&
			       processes[tracks[i].process].rank == rank;
		for (uint32_t k = 0; is_ours && k < tracks[i].n_lanes; k++)
			(v->is_exact ? add_slices : add_rects)(v, sites, tracks[i].first_lane + k);
		any |= is_ours && tracks[i].n_slices;
	}
	return any;
}

static void put_rank(json_writer *w, const device_view *v, int32_t rank)
{
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
	device_view v = { .ix = c->opened->ix };
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
		for (size_t i = 0; i < n_processes; i++)
			if (is_first(processes, i) && add_rank(&v, processes[i].rank))
				put_rank(w, &v, processes[i].rank);
		json_end_array(w);
		json_end_object(w);
	}
	free(v.rects);
	free(v.kinds);
	free(v.share);
}
