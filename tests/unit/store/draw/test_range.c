/* What to draw: the same as a simple loop finds with plain arithmetic, at every zoom, and never over a gap. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <setjmp.h>
#include <cmocka.h>

#include "store/build/builder.h"
#include "unit/store/make_index.h"

enum { MAX_PIXELS = 2000 };

__extension__ typedef __int128 wide_int;

static range_rect rects[MAX_PIXELS];

/* ---- The simple loop --------------------------------------------------------------------------------------------- */

typedef struct simple {
	const struct model_lane *lane;
	uint64_t first_slice;
	wide_int from, to; /* from the trace's start */
	uint32_t n_pixels;
	range_rect rects[MAX_PIXELS];
	double busy_ns[MAX_PIXELS];
	uint64_t longest[MAX_PIXELS];
	bool is_wide[MAX_PIXELS];
	int owner[MAX_PIXELS]; /* rectangle of a pixel, -1: none */
	size_t n;
} simple;

/* How much of [start, end) lies in the pixels [x, x_end). */
static double covered(const simple *s, wide_int start, wide_int end, uint32_t x, uint32_t x_end)
{
	double width = (double)(s->to - s->from) / s->n_pixels;

	return fmin((double)(end - s->from), x_end * width) - fmax((double)(start - s->from), x * width);
}

/* n slices from the one with this number on. */
static void simple_draw(simple *s, image_sum sum, uint64_t slice, uint32_t n, bool is_wide)
{
	wide_int width = s->to - s->from, start = sum.start, end = start + sum.span;

	start = start < s->from ? s->from : start;
	end = end > s->to ? s->to : end;
	uint32_t x = (uint32_t)((start - s->from) * s->n_pixels / width), x_end = x + 1;
	if (is_wide)
		x_end = (uint32_t)(((end - s->from) * s->n_pixels + width - 1) / width);
	double busy = is_wide ? covered(s, start, end, x, x + 1) : (double)(end - start) * sum.busy;
	int owner = s->owner[x];
	if (owner >= 0) {
		s->busy_ns[owner] += busy;
		if (!s->is_wide[owner]) {
			s->rects[owner].n_slices += n;
			if (sum.longest > s->longest[owner]) {
				s->longest[owner] = sum.longest;
				s->rects[owner].site = sum.site;
			}
		}
		if (!is_wide || ++x == x_end)
			return;
	}
	s->rects[s->n] = (range_rect){ x, x_end - x, sum.site, n, slice, 0 };
	s->is_wide[s->n] = is_wide;
	s->longest[s->n] = sum.longest;
	s->busy_ns[s->n] = is_wide ? covered(s, start, end, x, x_end) : busy;
	for (uint32_t i = x; i < x_end; i++)
		s->owner[i] = (int)s->n;
	s->n++;
}

static bool simple_sees(const simple *s, wide_int start, wide_int end)
{
	return start < s->to && (end > s->from || start >= s->from);
}

static void simple_slice(simple *s, size_t i)
{
	const image_slice *slice = &s->lane->slices[i];
	image_sum sum = { slice->start, slice->dur, slice->site, 1, (uint64_t)slice->dur };
	wide_int dur = slice->dur;

	if (simple_sees(s, slice->start, slice->start + dur))
		simple_draw(s, sum, s->first_slice + i, 1, dur * s->n_pixels >= s->to - s->from);
}

/* Slices [first, first + n), a summary of the level that has per of them. */
static void simple_descend(simple *s, size_t first, size_t per)
{
	size_t n = s->lane->n - first < per ? s->lane->n - first : per;
	image_sum sum = image_sum_of(s->lane->slices + first, n);
	wide_int start = sum.start, end = start + sum.span;

	if (start >= s->to || end < s->from)
		return;
	/* Where it ends at the left edge there may be a slice of no length, and nothing else of it is seen. */
	if ((end - start) * s->n_pixels <= s->to - s->from && (end > s->from || start >= s->from)) {
		simple_draw(s, sum, s->first_slice + first, (uint32_t)n, false);
	} else if (per > INDEX_GROUP) {
		for (size_t i = 0; i < n; i += per / INDEX_FAN)
			simple_descend(s, first + i, per / INDEX_FAN);
	} else {
		for (size_t i = 0; i < n; i++)
			simple_slice(s, first + i);
	}
}

static void simple_start(simple *s, const struct model_lane *lane, uint64_t first_slice, wide_int from, wide_int to,
			 uint32_t n_pixels)
{
	*s = (simple){ .lane = lane, .first_slice = first_slice, .from = from, .to = to, .n_pixels = n_pixels };
	memset(s->owner, -1, sizeof s->owner);
}

static void simple_finish(simple *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->rects[i].busy =
			(float)fmin(1, s->busy_ns[i] / (s->rects[i].width * ((double)(s->to - s->from) / s->n_pixels)));
}

static void simple_range(simple *s, const struct model_lane *lane, uint64_t first_slice, wide_int from, wide_int to,
			 uint32_t n_pixels)
{
	size_t per = INDEX_GROUP;

	simple_start(s, lane, first_slice, from, to, n_pixels);
	while ((lane->n + per - 1) / per > INDEX_COARSE)
		per *= INDEX_FAN;
	for (size_t i = 0; i < lane->n; i += per)
		simple_descend(s, i, per);
	simple_finish(s);
}

/* Slice after slice, without the hidden ones. */
static void simple_filtered(simple *s, const struct model_lane *lane, uint64_t first_slice, wide_int from, wide_int to,
			    uint32_t n_pixels, const range_filter *filter)
{
	simple_start(s, lane, first_slice, from, to, n_pixels);
	for (size_t i = 0; i < lane->n; i++)
		if (lane->slices[i].dur >= filter->min_ns && !filter->hidden_sites[lane->slices[i].site])
			simple_slice(s, i);
	simple_finish(s);
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static void assert_same(const simple *want, size_t n)
{
	assert_int_equal(n, want->n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rects[i].x, want->rects[i].x);
		assert_int_equal(rects[i].width, want->rects[i].width);
		assert_int_equal(rects[i].site, want->rects[i].site);
		assert_int_equal(rects[i].n_slices, want->rects[i].n_slices);
		assert_int_equal(rects[i].slice, want->rects[i].slice);
		assert_true(fabsf(rects[i].busy - want->rects[i].busy) < 1e-4f);
	}
}

static void assert_in_order(size_t n, uint32_t n_pixels)
{
	uint32_t next = 0;

	for (size_t i = 0; i < n; i++) {
		assert_true(rects[i].x >= next && rects[i].width > 0 && rects[i].width <= n_pixels - rects[i].x);
		assert_true(rects[i].n_slices > 0 && rects[i].busy >= 0 && rects[i].busy <= 1);
		next = rects[i].x + rects[i].width;
	}
}

/* Straight from the slices, whatever the summaries say: what is drawn is there, and what is there is drawn, both to a
   pixel. */
static void assert_true_to_slices(const struct model_lane *lane, int64_t from, int64_t to, size_t n, uint32_t n_pixels)
{
	static bool touched[MAX_PIXELS + 2], drawn[MAX_PIXELS + 2]; /* by pixel + 1 */
	double width = (double)(to - from) / n_pixels;

	memset(touched, 0, sizeof touched);
	memset(drawn, 0, sizeof drawn);
	for (size_t i = 0; i < n; i++)
		for (uint32_t x = 0; x < rects[i].width; x++)
			drawn[rects[i].x + x + 1] = true;
	for (size_t i = 0; i < lane->n; i++) {
		const image_slice *s = &lane->slices[i];
		if (s->start >= to || (s->start + s->dur <= from && s->start < from))
			continue;
		double x = fmax(0, floor((double)(s->start - from) / width));
		double x_end = fmin(n_pixels, ceil((double)(s->start + s->dur - from) / width));
		for (size_t p = (size_t)x; p < (size_t)fmax(x_end, x + 1) && p < n_pixels; p++)
			touched[p + 1] = true;
	}
	for (uint32_t p = 1; p <= n_pixels; p++) {
		if (drawn[p])
			assert_true(touched[p - 1] || touched[p] || touched[p + 1]);
		if (touched[p])
			assert_true(drawn[p - 1] || drawn[p] || drawn[p + 1]);
	}
}

static void compare(const sonde_index *ix, const model *made, uint32_t lane, int64_t from, int64_t to,
		    uint32_t n_pixels)
{
	static simple want;
	size_t n_lanes;
	uint64_t first = index_lanes(ix, &n_lanes)[lane].first_slice;

	simple_range(&want, &made->lanes[lane], first, from, to, n_pixels);
	memset(rects, 0xff, sizeof rects);
	size_t n = index_range(ix, lane, made->start_ns + from, made->start_ns + to, n_pixels, rects);
	assert_in_order(n, n_pixels);
	assert_same(&want, n);
	assert_true_to_slices(&made->lanes[lane], from, to, n, n_pixels);
}

static sonde_index *open_model(const model *made)
{
	sonde_index *ix = NULL;

	assert_int_equal(index_open_memory(made->image, made->len, &ix, NULL), SONDE_OK);
	return ix;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void every_zoom_shows_what_a_simple_loop_finds(void **state)
{
	static const uint32_t pixels[] = { 1, 2, 3, 7, 100, 333, 1920 };
	static const struct {
		size_t n;
		int64_t longest;
	} sizes[] = {
		{ 1, 1 },	  { INDEX_GROUP, 1 }, { INDEX_GROUP + 1, 1000 }, { 1000, 3 },
		{ 3000, 100000 }, { 300000, 50 },     { 1200000, 2000 },
	};
	uint64_t seed = 1;

	(void)state;
	for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
		model made = model_make(1, sizes[k].n > 100000 ? 1 : 3, sizes[k].n, sizes[k].longest, k);
		sonde_index *ix = open_model(&made);
		int64_t all = made.end_ns - made.start_ns;
		for (int i = 0; i < (sizes[k].n > 100000 ? 60 : 400); i++) {
			int64_t width = all;
			for (int64_t zoom = image_between(&seed, 0, 20); zoom && width; zoom--)
				width /= image_between(&seed, 1, 3);
			int64_t from = image_between(&seed, -width, all);
			if (i % 4 == 0) /* slices begin and end exactly at the edge */
				from = made.lanes[0].slices[image_random(&seed) % made.lanes[0].n].start;
			compare(ix, &made, (uint32_t)(image_random(&seed) % made.n_lanes), from, from + width + 1,
				pixels[image_random(&seed) % 7]);
		}
		compare(ix, &made, 0, 0, all + 1, 1920);
		compare(ix, &made, 0, -1, all + 2, 1);
		compare(ix, &made, 0, -all, 2 * all + 1, 1920);
		index_free(ix);
		model_done(&made);
	}
}

static void compare_filtered(const sonde_index *ix, const model *made, int64_t from, int64_t to, uint32_t n_pixels,
			     const range_filter *filter)
{
	static simple want;
	size_t n_lanes;
	uint64_t first = index_lanes(ix, &n_lanes)[0].first_slice;
	range_filter rough = *filter;

	simple_filtered(&want, &made->lanes[0], first, from, to, n_pixels, filter);
	size_t n = index_range_filtered(ix, 0, made->start_ns + from, made->start_ns + to, n_pixels, filter, rects);
	assert_in_order(n, n_pixels);
	assert_same(&want, n);
	/* The quick way shows nothing that is hidden either, and not more. */
	rough.is_rough = true;
	n = index_range_filtered(ix, 0, made->start_ns + from, made->start_ns + to, n_pixels, &rough, rects);
	assert_in_order(n, n_pixels);
	assert_true(n <= want.n);
	for (size_t i = 0; i < n; i++)
		assert_false(filter->hidden_sites[rects[i].site]);
}

static void what_a_filter_hides_leaves_the_rest_as_if_alone(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (size_t k = 0; k < 6; k++) {
		static const int64_t longest[] = { 50, 2000, 1000000 };
		model made = model_make(1, 1, k < 3 ? 3000 : 300000, longest[k % 3], k);
		sonde_index *ix = open_model(&made);
		int64_t all = made.end_ns - made.start_ns;
		for (int i = 0; i < 60; i++) {
			uint8_t hidden[MODEL_SITES];
			for (size_t site = 0; site < MODEL_SITES; site++)
				hidden[site] = image_random(&seed) % 3 == 0;
			/* As long as a slice is, or a little more. */
			int64_t dur = made.lanes[0].slices[image_random(&seed) % made.lanes[0].n].dur;
			range_filter filter = { .min_ns = i % 3 ? dur + i % 2 : 0, .hidden_sites = hidden };
			int64_t width = all >> image_between(&seed, 0, 12), from = image_between(&seed, -10, all);
			compare_filtered(ix, &made, from, from + width + 1, (uint32_t)image_between(&seed, 1, 1920),
					 &filter);
		}
		index_free(ix);
		model_done(&made);
	}
}

/* The same slices through the builder, in any order. */
static sonde_index *build_lane(const model *made, uint64_t *seed)
{
	const struct model_lane *lane = &made->lanes[0];
	builder *b = builder_new(NULL);
	builder_slice *slices = calloc(lane->n, sizeof *slices);
	sonde_index *ix = NULL;

	assert_true(b && slices);
	for (uint32_t i = 0; i < MODEL_SITES; i++) {
		char name[] = { (char)('a' + i), 0 };
		assert_int_equal(builder_site(b, builder_string(b, name, 1), INDEX_NONE, CLASS_OTHER, 0), i);
	}
	for (size_t i = 0; i < lane->n; i++) {
		const image_slice *s = &lane->slices[i];
		slices[i] = (builder_slice){ .start_ns = made->start_ns + s->start, .dur_ns = s->dur, .site = s->site };
	}
	for (size_t i = 0; i + 1 < lane->n; i++)
		if (image_random(seed) % 2) {
			builder_slice other = slices[i];
			slices[i] = slices[i + 1];
			slices[i + 1] = other;
		}
	uint32_t process = builder_process(b, 0, 1, INDEX_NONE);
	builder_slices(b, builder_track(b, TRACK_THREAD, process, 1, INDEX_NONE, INDEX_NONE), slices, lane->n);
	assert_int_equal(builder_finish(b, &ix, NULL), SONDE_OK);
	builder_free(b);
	free(slices);
	return ix;
}

static void compare_with_built(int64_t longest)
{
	uint64_t seed = 9;
	model made = model_make(1, 1, 300000, longest, 4);
	struct model_lane *lane = &made.lanes[0];

	/* The builder counts from the first slice on, and puts slices of no length that start with another below it:
	   here all have some. */
	for (size_t i = lane->n; i-- > 0;) {
		lane->slices[i].start -= lane->slices[0].start;
		lane->slices[i].dur += lane->slices[i].dur == 0;
		lane->slices[i].start += (int64_t)i;
	}
	made.end_ns = made.start_ns + lane->slices[lane->n - 1].start + lane->slices[lane->n - 1].dur;
	sonde_index *ix = build_lane(&made, &seed);
	int64_t all = made.end_ns - made.start_ns;
	assert_int_equal(index_start_ns(ix), made.start_ns);
	assert_int_equal(index_end_ns(ix), made.end_ns);
	for (int i = 0; i < 100; i++) {
		int64_t width = all >> image_between(&seed, 0, 16);
		int64_t from = image_between(&seed, -10, all - width + 10);
		compare(ix, &made, 0, from, from + width + 1, (uint32_t)image_between(&seed, 1, 1920));
	}
	index_free(ix);
	model_done(&made);
}

static void what_the_builder_sums_up_is_drawn_the_same(void **state)
{
	(void)state;
	compare_with_built(50);
	compare_with_built(100000); /* of these, summaries have but eleven digits */
}

/* One lane of these; frees nothing of them. */
static sonde_index *open_slices(image_slice *slices, size_t n, int64_t end, uint8_t **ret_image)
{
	image_maker m = { 0 };
	sonde_index *ix = NULL;
	size_t len;

	for (int i = 0; i < 10; i++)
		image_site(&m, "x");
	image_track(&m, TRACK_THREAD);
	for (size_t i = 0; i < n; i++)
		slices[i].args = -1;
	image_lane(&m, 0, 0, slices, n);
	*ret_image = image_finish(&m, 0, end, &len);
	assert_int_equal(index_open_memory(*ret_image, len, &ix, NULL), SONDE_OK);
	return ix;
}

static void assert_rect(const range_rect *r, uint32_t x, uint32_t width, uint32_t site, uint32_t n, uint64_t slice,
			float busy)
{
	assert_int_equal(r->x, x);
	assert_int_equal(r->width, width);
	assert_int_equal(r->site, site);
	assert_int_equal(r->n_slices, n);
	assert_int_equal(r->slice, slice);
	assert_true(fabsf(r->busy - busy) < 1e-5f);
}

static void slices_that_share_a_pixel_are_one_rectangle(void **state)
{
	image_slice slices[] = {
		{ .start = 0, .dur = 2, .site = 1 },   { .start = 3, .dur = 4, .site = 2 },  /* both in pixel 0 */
		{ .start = 20, .dur = 10, .site = 3 },					     /* pixel 2, exactly */
		{ .start = 30, .dur = 0, .site = 4 },  { .start = 30, .dur = 5, .site = 5 }, /* both in pixel 3 */
		{ .start = 36, .dur = 20, .site = 6 },					     /* 3.6 to 5.6 */
		{ .start = 57, .dur = 1, .site = 7 }, /* in the last pixel of it */
		{ .start = 60, .dur = 1, .site = 8 },  { .start = 99, .dur = 1, .site = 9 },
	};
	uint8_t *image;
	sonde_index *ix = open_slices(slices, sizeof slices / sizeof slices[0], 100, &image);

	(void)state;
	assert_int_equal(index_range(ix, 0, 0, 100, 10, rects), 6);
	assert_rect(&rects[0], 0, 1, 2, 2, 0, 0.6f);
	assert_rect(&rects[1], 2, 1, 3, 1, 2, 1);
	assert_rect(&rects[2], 3, 1, 6, 3, 3, 0.9f);
	assert_rect(&rects[3], 4, 2, 6, 1, 5, 0.85f);
	assert_rect(&rects[4], 6, 1, 8, 1, 7, 0.1f);
	assert_rect(&rects[5], 9, 1, 9, 1, 8, 0.1f);
	index_free(ix);
	free(image);
}

static void the_edges_of_the_view_cut(void **state)
{
	image_slice slices[] = {
		{ .start = 0, .dur = 100, .site = 1 },
		{ .start = 100, .dur = 0, .site = 2 },
		{ .start = 100, .dur = 100, .site = 3 },
		{ .start = 300, .dur = 50, .site = 4 },
	};
	uint8_t *image;
	sonde_index *ix = open_slices(slices, 4, 350, &image);

	(void)state;
	/* The first ends where the view begins; the one of no length is there. It takes the first pixel. */
	assert_int_equal(index_range(ix, 0, 100, 300, 20, rects), 2);
	assert_rect(&rects[0], 0, 1, 3, 2, 1, 1);
	assert_rect(&rects[1], 1, 9, 3, 1, 2, 1);
	assert_int_equal(index_range(ix, 0, 99, 100, 20, rects), 1);
	assert_rect(&rects[0], 0, 20, 1, 1, 0, 1);
	/* The first keeps the pixel in which the next ones start. */
	assert_int_equal(index_range(ix, 0, 50, 350, 3, rects), 3);
	assert_rect(&rects[0], 0, 1, 1, 1, 0, 1);
	assert_rect(&rects[1], 1, 1, 3, 1, 2, 0.5f);
	assert_rect(&rects[2], 2, 1, 4, 1, 3, 0.5f);
	assert_int_equal(index_range(ix, 0, 200, 300, 20, rects), 0);
	assert_int_equal(index_range(ix, 0, 350, 400, 20, rects), 0);
	assert_int_equal(index_range(ix, 0, 349, 400, 51, rects), 1);
	assert_rect(&rects[0], 0, 1, 4, 1, 3, 1);
	index_free(ix);
	free(image);
}

/* Whole groups that end with a slice of no length at the view's very end, which shows nothing of it. */
static void what_starts_at_the_end_of_the_view_is_not_seen(void **state)
{
	enum { N = 256 };
	static image_slice slices[N + 64];
	uint8_t *image;

	(void)state;
	for (size_t i = 0; i < N + 64; i++)
		slices[i] = (image_slice){ .start = (int64_t)i * 10, .dur = 10, .site = 1 };
	slices[N - 1] = (image_slice){ .start = 10 * (N - 1), .dur = 0, .site = 2 };
	sonde_index *ix = open_slices(slices, N + 64, 10 * (N + 64), &image);
	for (uint32_t n_pixels = 1; n_pixels <= 300; n_pixels++) {
		memset(rects, 0xff, sizeof rects);
		size_t n = index_range(ix, 0, 0, 10 * (N - 1), n_pixels, rects);
		assert_in_order(n, n_pixels);
		uint64_t n_slices = 0;
		for (size_t i = 0; i < n; i++)
			n_slices += rects[i].n_slices;
		if (n_pixels > 8 && n_pixels < N - 1) /* no summary is drawn, and no slice in two rectangles */
			assert_int_equal(n_slices, N - 1);
		assert_int_equal(rects[n].x, UINT32_MAX);
	}
	index_free(ix);
	free(image);
}

static void nothing_to_draw_is_nothing(void **state)
{
	model made = model_make(1, 1, 100, 100, 1), empty = model_make(1, 1, 0, 100, 1);
	sonde_index *ix = open_model(&made), *none = open_model(&empty);

	(void)state;
	assert_int_equal(index_range(ix, 0, made.start_ns, made.end_ns, 0, rects), 0);
	assert_int_equal(index_range(ix, 1, made.start_ns, made.end_ns, 10, rects), 0);
	assert_int_equal(index_range(ix, 0, made.end_ns, made.start_ns, 10, rects), 0);
	assert_int_equal(index_range(ix, 0, made.start_ns, made.start_ns, 10, rects), 0);
	assert_int_equal(index_range(ix, 0, made.end_ns + 1, INT64_MAX, 10, rects), 0);
	assert_int_equal(index_range(ix, 0, INT64_MIN, made.start_ns, 10, rects), 0);
	assert_int_equal(index_range(none, 0, INT64_MIN, INT64_MAX, 10, rects), 0);
	/* All of time: the trace is in one pixel, or it lies where two meet. */
	size_t n = index_range(ix, 0, INT64_MIN, INT64_MAX, 10, rects);
	assert_int_equal(n, 1);
	assert_int_equal(rects[0].x, 5);
	assert_int_equal(rects[0].n_slices, 100);
	index_free(ix);
	index_free(none);
	model_done(&made);
	model_done(&empty);
}

/* The groups are 960 long each, and a pause of 1000 lies in the middle of each. */
static void a_pause_is_never_drawn_over(void **state)
{
	enum { N = INDEX_GROUP * 400, DUR = 960 / INDEX_GROUP };
	image_slice *slices = calloc(N, sizeof *slices);
	uint8_t *image;
	int64_t t = 0;

	(void)state;
	assert_non_null(slices);
	for (size_t i = 0; i < N; i++) {
		t += i % INDEX_GROUP == INDEX_GROUP / 2 ? 1000 : 0;
		slices[i] = (image_slice){ .start = t, .dur = DUR };
		t += DUR;
	}
	sonde_index *ix = open_slices(slices, N, t, &image);
	for (int64_t pixel = 1; pixel < 500; pixel += 7) {
		size_t n = index_range(ix, 0, 0, pixel * 1500, 1500, rects);
		assert_in_order(n, 1500);
		for (size_t i = 0; i < n; i++) {
			/* Each pixel of it has a slice in it, up to what a summary of less than a pixel reaches over.
			 */
			int64_t from = rects[i].x * pixel, to = from + rects[i].width * pixel;
			assert_true(from % 1960 < 480 || from % 1960 >= 1480 - pixel);
			assert_true(rects[i].width == 1 || rects[i].n_slices == 1);
			assert_true(to - from <= DUR + 2 * pixel);
		}
	}
	index_free(ix);
	free(image);
	free(slices);
}

static void the_longest_gives_the_site_from_level_to_level(void **state)
{
	enum { N = 300000 };
	image_slice *slices = calloc(N, sizeof *slices);
	uint8_t *image;

	(void)state;
	assert_non_null(slices);
	for (size_t i = 0; i < N; i++)
		slices[i] = (image_slice){ .start = (int64_t)i * 10,
					   .dur = i == 123456 ? 9 : 5,
					   .site = i == 123456 ? 7 : 1 };
	sonde_index *ix = open_slices(slices, N, 10 * N, &image);
	for (uint32_t n_pixels = 1; n_pixels <= 1920; n_pixels += 19) {
		size_t n = index_range(ix, 0, 0, 10 * N, n_pixels, rects);
		uint64_t n_slices = 0, n_long = 0;
		for (size_t i = 0; i < n; i++) {
			n_slices += rects[i].n_slices;
			n_long += rects[i].site == 7;
		}
		assert_int_equal(n_slices, N);
		assert_int_equal(n_long, 1);
	}
	index_free(ix);
	free(image);
	free(slices);
}

static void a_damaged_lane_stays_within_the_pixels(void **state)
{
	model made = model_make(1, 1, 300000, 100, 3);
	sonde_index *ix = open_model(&made);
	const index_section *sections = (const index_section *)(made.image + sizeof(index_header));
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		/* Everything from the summaries on, but for what opening has checked. */
		static const index_kind kinds[] = { SECTION_COARSE, SECTION_FINE, SECTION_BLOCKS, SECTION_SLICES };
		const index_section *s = &sections[kinds[image_random(&seed) % 4]];
		if (s->length)
			made.image[s->offset + image_random(&seed) % s->length] = (uint8_t)image_random(&seed);
		int64_t width = image_between(&seed, 1, made.end_ns - made.start_ns);
		int64_t from = image_between(&seed, made.start_ns, made.end_ns);
		uint32_t n_pixels = (uint32_t)image_between(&seed, 1, MAX_PIXELS);
		range_filter filter = { .min_ns = i % 5, .is_rough = i % 2 };
		size_t n = index_range_filtered(ix, 0, from, from + width, n_pixels, i % 3 ? NULL : &filter, rects);
		assert_in_order(n, n_pixels);
		for (size_t k = 0; k < n; k++)
			assert_true(rects[k].site < MODEL_SITES);
	}
	index_free(ix);
	model_done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_zoom_shows_what_a_simple_loop_finds),
		cmocka_unit_test(what_a_filter_hides_leaves_the_rest_as_if_alone),
		cmocka_unit_test(what_the_builder_sums_up_is_drawn_the_same),
		cmocka_unit_test(slices_that_share_a_pixel_are_one_rectangle),
		cmocka_unit_test(the_edges_of_the_view_cut),
		cmocka_unit_test(what_starts_at_the_end_of_the_view_is_not_seen),
		cmocka_unit_test(nothing_to_draw_is_nothing),
		cmocka_unit_test(a_pause_is_never_drawn_over),
		cmocka_unit_test(the_longest_gives_the_site_from_level_to_level),
		cmocka_unit_test(a_damaged_lane_stays_within_the_pixels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
