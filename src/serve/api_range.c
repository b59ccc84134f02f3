/*
 * What to draw: at most one rectangle a pixel and lane, from the summaries of the index.
 *
 *   u32 magic "SNR1", u32 n_lanes, n_lanes x { u32 lane, u32 n_rects }, then all rectangles, lane after lane:
 *   { u16 x, u16 width, u32 site, u32 n_slices (24 bits) | busy << 24, u32 slice - the lane's first slice }
 *
 * Slices that are hidden leave a gap: rectangles of hidden sites are left out, one by one, so what shares a pixel with
 * longer ones that are hidden goes with them.
 */
#include <stdlib.h>
#include <string.h>
#include "serve/routes.h"

enum { PIXELS_MAX = 16384, LANES_MAX = 4096, RECT_BYTES = 16, HEAD_BYTES = 8 };
#define RANGE_MAGIC 0x31524e53u /* "SNR1" */
#define MANY 0xffffffu

typedef struct range_call {
	const sonde_index *ix;
	int64_t from_ns, to_ns, min_ns;
	uint32_t n_pixels, max_depth;
	bool hides_python;
	uint32_t *lanes;
	size_t n_lanes;
	range_rect *rects; /* of one lane */
	uint32_t *n_rects; /* of each lane */
	uint8_t *bytes;	   /* all, as they are sent */
	size_t len, capacity;
	bool failed; /* out of memory */
} range_call;

/* ---- What is asked ----------------------------------------------------------------------------------------------- */

static void add_lane(void *context, uint64_t lane)
{
	range_call *r = context;
	size_t n;
	const index_lane *lanes = index_lanes(r->ix, &n);

	if (r->n_lanes < LANES_MAX && lanes[lane].depth <= r->max_depth)
		r->lanes[r->n_lanes++] = (uint32_t)lane;
}

static void read_call(call *c, range_call *r)
{
	size_t n_all;
	const char *hide = request_text(c->request, "hide");

	r->ix = c->opened->ix;
	call_range(c, &r->from_ns, &r->to_ns);
	r->n_pixels = (uint32_t)request_number(c->request, "px", 1, PIXELS_MAX, 1000);
	r->min_ns = request_number(c->request, "min_dur", 0, INT64_MAX, 0);
	r->max_depth = (uint32_t)request_number(c->request, "max_depth", 0, UINT16_MAX, UINT16_MAX);
	r->hides_python = hide && strcmp(hide, "python") == 0;
	index_lanes(r->ix, &n_all);
	r->lanes = calloc(LANES_MAX, sizeof *r->lanes);
	r->n_rects = calloc(LANES_MAX, sizeof *r->n_rects);
	r->rects = calloc(r->n_pixels, sizeof *r->rects);
	r->failed = !r->lanes || !r->n_rects || !r->rects;
	if (r->failed)
		return;
	if (!request_numbers(c->request, "lanes", n_all, add_lane, r) && !request_text(c->request, "lanes"))
		for (size_t i = 0; i < n_all; i++)
			add_lane(r, i);
}

/* ---- Rectangles -------------------------------------------------------------------------------------------------- */

static bool is_hidden(const range_call *r, const index_site *sites, const range_rect *rect)
{
	index_slice s;

	if (r->hides_python && sites[rect->site].class == CLASS_PYTHON)
		return true;
	if (!r->min_ns)
		return false;
	/* Several share a pixel: the longest is not longer than that. */
	if (rect->n_slices != 1)
		return (r->to_ns - r->from_ns) / r->n_pixels < r->min_ns;
	return !index_slice_at(r->ix, rect->slice, &s) || s.dur_ns < r->min_ns;
}

static size_t draw(const range_call *r, size_t lane)
{
	size_t n_sites, n = index_range(r->ix, r->lanes[lane], r->from_ns, r->to_ns, r->n_pixels, r->rects), kept = 0;
	const index_site *sites = index_sites(r->ix, &n_sites);

	if (!r->hides_python && !r->min_ns)
		return n;
	for (size_t i = 0; i < n; i++)
		if (!is_hidden(r, sites, &r->rects[i]))
			r->rects[kept++] = r->rects[i];
	return kept;
}

static void put_u16(uint8_t *to, uint32_t value)
{
	uint16_t v = (uint16_t)value;

	memcpy(to, &v, sizeof v);
}

static void put_u32(uint8_t *to, uint32_t value)
{
	memcpy(to, &value, sizeof value);
}

static bool make_room(range_call *r, size_t more)
{
	if (r->capacity - r->len >= more)
		return true;
	size_t capacity = 2 * r->capacity + more;
	uint8_t *grown = realloc(r->bytes, capacity);
	if (!grown)
		return false;
	r->bytes = grown;
	r->capacity = capacity;
	return true;
}

static void pack(const range_call *r, const range_rect *rect, uint64_t first_slice, uint8_t *to)
{
	uint32_t n = rect->n_slices < MANY ? rect->n_slices : MANY;
	uint64_t slice = rect->slice - first_slice;

	(void)r;
	put_u16(to, rect->x);
	put_u16(to + 2, rect->width);
	put_u32(to + 4, rect->site);
	put_u32(to + 8, n | (uint32_t)(rect->busy * 255 + 0.5f) << 24);
	put_u32(to + 12, slice < UINT32_MAX ? (uint32_t)slice : UINT32_MAX);
}

static bool pack_all(range_call *r)
{
	size_t n, head = HEAD_BYTES + 8 * r->n_lanes;
	const index_lane *lanes = index_lanes(r->ix, &n);

	if (!make_room(r, head))
		return false;
	r->len = head;
	for (size_t i = 0; i < r->n_lanes; i++) {
		size_t n_rects = draw(r, i);
		if (!make_room(r, n_rects * RECT_BYTES))
			return false;
		for (size_t k = 0; k < n_rects; k++, r->len += RECT_BYTES)
			pack(r, &r->rects[k], lanes[r->lanes[i]].first_slice, r->bytes + r->len);
		put_u32(r->bytes + HEAD_BYTES + 8 * i, r->lanes[i]);
		put_u32(r->bytes + HEAD_BYTES + 8 * i + 4, (uint32_t)n_rects);
	}
	put_u32(r->bytes, RANGE_MAGIC);
	put_u32(r->bytes + 4, (uint32_t)r->n_lanes);
	return true;
}

/* The same for people and scripts. */
static void put_json(range_call *r, reply *out)
{
	json_writer *w = reply_json(out);

	json_begin_object(w);
	put_i64(w, "from", since_start(r->ix, r->from_ns));
	put_i64(w, "to", since_start(r->ix, r->to_ns));
	put_u64(w, "px", r->n_pixels);
	put_list(w, "lanes");
	for (size_t i = 0; i < r->n_lanes; i++) {
		size_t n = draw(r, i);
		json_begin_object(w);
		put_u64(w, "lane", r->lanes[i]);
		put_list(w, "rects");
		for (size_t k = 0; k < n; k++) {
			json_begin_object(w);
			put_u64(w, "x", r->rects[k].x);
			put_u64(w, "width", r->rects[k].width);
			put_u64(w, "site", r->rects[k].site);
			put_u64(w, "n_slices", r->rects[k].n_slices);
			put_f64(w, "busy", (double)r->rects[k].busy);
			put_u64(w, "slice", r->rects[k].slice);
			json_end_object(w);
		}
		json_end_array(w);
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}

void api_range(call *c, reply *out)
{
	static const char *const formats[] = { "binary", "json", NULL };
	range_call r = { 0 };
	bool is_json = request_choice(c->request, "format", formats) == 1;

	read_call(c, &r);
	if (call_failed(c, out)) {
	} else if (r.failed) {
		reply_out_of_memory(out);
	} else if (is_json) {
		put_json(&r, out);
	} else if (pack_all(&r)) {
		reply_bytes(out, "application/octet-stream", r.bytes, r.len);
		r.bytes = NULL;
	} else {
		reply_out_of_memory(out);
	}
	free(r.bytes);
	free(r.lanes);
	free(r.n_rects);
	free(r.rects);
}
