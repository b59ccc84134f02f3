/*
 * What to draw: at most one rectangle a pixel and lane, from the summaries of the index, and one instant a pixel and
 * track.
 *
 *   u32 magic "SNR1", u32 n_lanes, n_lanes x { u32 lane, u32 n_rects }, then all rectangles, lane after lane:
 *   { u16 x, u16 width, u32 site, u32 n_slices (24 bits) | busy << 24, u32 slice - the lane's first slice }
 *   behind them, in pieces of as many bytes: { u32 flags, u32 n_tracks, 8 bytes of 0 }, n_tracks x { u32 track,
 *   u32 n_instants, 8 bytes of 0 }, then all instants, track after track, as rectangles of a pixel
 *
 * Slices that are hidden leave a gap and nothing else. That takes a look at every slice in sight, so beyond EXACT_MAX
 * of them it is done by their summaries, and the answer says so.
 */
#include <stdlib.h>
#include <string.h>
#include "serve/routes.h"

enum { PIXELS_MAX = 16384, LANES_MAX = 4096, RECT_BYTES = 16, HEAD_BYTES = 8, EXACT_MAX = 2000000 };
#define RANGE_MAGIC 0x31524e53u /* "SNR1" */
#define MANY 0xffffffu
enum { FLAG_ROUGH = 1, FLAG_ROUGH_INSTANTS = 2 };

typedef struct range_call {
	const sonde_index *ix;
	int64_t from_ns, to_ns;
	uint32_t n_pixels, max_depth;
	uint8_t *hidden; /* one byte per site; NULL: none */
	range_filter filter;
	uint64_t n_looked_at; /* slices, for the filter */
	uint32_t *lanes;
	size_t n_lanes;
	range_rect *rects; /* of one lane */
	uint8_t *tracks;   /* one byte per track: are its instants wanted? */
	range_instant *instants;
	size_t n_instants;
	uint32_t flags;
	uint8_t *bytes; /* all, as they are sent */
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

static void add_track(void *context, uint64_t track)
{
	((range_call *)context)->tracks[track] = 1;
}

static void hide_python(range_call *r)
{
	size_t n;
	const index_site *sites = index_sites(r->ix, &n);

	r->hidden = calloc(n + 1, 1);
	r->failed |= !r->hidden;
	for (size_t i = 0; r->hidden && i < n; i++)
		r->hidden[i] = sites[i].class == CLASS_PYTHON;
	r->filter.hidden_sites = r->hidden;
}

static void find_instants(range_call *r)
{
	instants_wanted wanted = { .from_ns = r->from_ns,
				   .to_ns = r->to_ns,
				   .n_pixels = r->n_pixels,
				   .tracks = r->tracks,
				   .hidden_sites = r->hidden };
	bool is_exact = true;

	r->failed |= !index_instants(r->ix, &wanted, &r->instants, &r->n_instants, &is_exact);
	r->flags |= is_exact ? 0 : FLAG_ROUGH_INSTANTS;
}

static void read_call(call *c, range_call *r)
{
	size_t n_all, n_tracks;
	const char *hide = request_text(c->request, "hide");

	r->ix = c->opened->ix;
	call_range(c, &r->from_ns, &r->to_ns);
	r->n_pixels = (uint32_t)request_number(c->request, "px", 1, PIXELS_MAX, 1000);
	r->filter.min_ns = request_number(c->request, "min_dur", 0, INT64_MAX, 0);
	r->max_depth = (uint32_t)request_number(c->request, "max_depth", 0, UINT16_MAX, UINT16_MAX);
	index_lanes(r->ix, &n_all);
	index_tracks(r->ix, &n_tracks);
	r->lanes = calloc(LANES_MAX, sizeof *r->lanes);
	r->rects = calloc(r->n_pixels, sizeof *r->rects);
	r->tracks = calloc(n_tracks + 1, 1);
	r->failed = !r->lanes || !r->rects || !r->tracks;
	if (r->failed)
		return;
	if (!request_numbers(c->request, "lanes", n_all, add_lane, r) && !request_text(c->request, "lanes"))
		for (size_t i = 0; i < n_all; i++)
			add_lane(r, i);
	if (hide && strcmp(hide, "python") == 0)
		hide_python(r);
	if (request_numbers(c->request, "instants", n_tracks, add_track, r) && !r->failed)
		find_instants(r);
}

/* ---- Rectangles -------------------------------------------------------------------------------------------------- */

/* The filter looks at every slice of the lane that is in sight, but for short ones that it knows by their summaries. */
static uint64_t n_to_look_at(const range_call *r, uint32_t lane)
{
	if (!r->hidden && r->filter.min_ns >= (r->to_ns - r->from_ns) / r->n_pixels)
		return 0;
	return lane_find_start(r->ix, lane, r->to_ns) - lane_find_end(r->ix, lane, r->from_ns);
}

static size_t draw(range_call *r, size_t i)
{
	uint32_t lane = r->lanes[i];
	range_filter filter = r->filter;

	if (!filter.hidden_sites && !filter.min_ns)
		return index_range(r->ix, lane, r->from_ns, r->to_ns, r->n_pixels, r->rects);
	r->n_looked_at += n_to_look_at(r, lane);
	filter.is_rough = r->n_looked_at > EXACT_MAX;
	r->flags |= filter.is_rough ? FLAG_ROUGH : 0;
	return index_range_filtered(r->ix, lane, r->from_ns, r->to_ns, r->n_pixels, &filter, r->rects);
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

static void pack(uint8_t *to, uint32_t x_and_width, uint32_t site, uint32_t n, uint32_t busy, uint64_t number)
{
	put_u32(to, x_and_width);
	put_u32(to + 4, site);
	put_u32(to + 8, (n < MANY ? n : MANY) | busy << 24);
	put_u32(to + 12, number < UINT32_MAX ? (uint32_t)number : UINT32_MAX);
}

static bool pack_lanes(range_call *r)
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
		for (size_t k = 0; k < n_rects; k++, r->len += RECT_BYTES) {
			const range_rect *rect = &r->rects[k];
			pack(r->bytes + r->len, rect->x | rect->width << 16, rect->site, rect->n_slices,
			     (uint32_t)(rect->busy * 255 + 0.5f), rect->slice - lanes[r->lanes[i]].first_slice);
		}
		put_u32(r->bytes + HEAD_BYTES + 8 * i, r->lanes[i]);
		put_u32(r->bytes + HEAD_BYTES + 8 * i + 4, (uint32_t)n_rects);
	}
	put_u32(r->bytes, RANGE_MAGIC);
	put_u32(r->bytes + 4, (uint32_t)r->n_lanes);
	return true;
}

/* How many from i on are of the same track. */
static size_t n_of_track(const range_call *r, size_t i)
{
	size_t end = i;

	while (end < r->n_instants && r->instants[end].track == r->instants[i].track)
		end++;
	return end - i;
}

static void pack_head(range_call *r, uint32_t what, size_t n)
{
	memset(r->bytes + r->len, 0, RECT_BYTES);
	put_u32(r->bytes + r->len, what);
	put_u32(r->bytes + r->len + 4, (uint32_t)n);
	r->len += RECT_BYTES;
}

static bool pack_instants(range_call *r)
{
	size_t n_tracks = 0;

	for (size_t i = 0; i < r->n_instants; i += n_of_track(r, i))
		n_tracks++;
	if (!make_room(r, (1 + n_tracks + r->n_instants) * RECT_BYTES))
		return false;
	pack_head(r, r->flags, n_tracks);
	for (size_t i = 0; i < r->n_instants; i += n_of_track(r, i))
		pack_head(r, r->instants[i].track, n_of_track(r, i));
	for (size_t i = 0; i < r->n_instants; i++, r->len += RECT_BYTES) {
		const range_instant *one = &r->instants[i];
		pack(r->bytes + r->len, one->x | 1 << 16, one->site, one->n, 255, one->row);
	}
	return true;
}

/* ---- The same for people and scripts ----------------------------------------------------------------------------- */

static void put_rects(json_writer *w, const range_call *r, size_t n)
{
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
}

static void put_track(json_writer *w, const range_instant *instants, size_t n)
{
	json_begin_object(w);
	put_u64(w, "track", instants->track);
	put_list(w, "instants");
	for (size_t i = 0; i < n; i++) {
		json_begin_object(w);
		put_u64(w, "x", instants[i].x);
		put_u64(w, "site", instants[i].site);
		put_u64(w, "n", instants[i].n);
		put_u64(w, "instant", instants[i].row);
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}

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
		put_rects(w, r, n);
		json_end_object(w);
	}
	json_end_array(w);
	put_list(w, "tracks");
	for (size_t i = 0; i < r->n_instants; i += n_of_track(r, i))
		put_track(w, &r->instants[i], n_of_track(r, i));
	json_end_array(w);
	put_bool(w, "is_exact", !(r->flags & FLAG_ROUGH));
	put_bool(w, "is_instants_exact", !(r->flags & FLAG_ROUGH_INSTANTS));
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
	} else if (pack_lanes(&r) && pack_instants(&r)) {
		reply_bytes(out, "application/octet-stream", r.bytes, r.len);
		r.bytes = NULL;
	} else {
		reply_out_of_memory(out);
	}
	free(r.bytes);
	free(r.lanes);
	free(r.rects);
	free(r.tracks);
	free(r.hidden);
	free(r.instants);
}
