/*
 * What to draw of a lane: at most one rectangle a pixel, whatever the number of slices. See index/sections.h.
 *
 * Summaries are followed from the coarsest level down. One that is not wider than a pixel is drawn as it is, in the
 * pixel where it starts; a wider one is never drawn, since it may hide gaps, but those below it, and in the end its
 * slices. So the work grows with the pixels, not with the slices.
 *
 *   - A slice of at least a pixel is wide. It gets a rectangle of its own, from the pixel where it starts to the one
 *     where it ends, less a first pixel that is taken.
 *   - Everything else is small and goes to the pixel where it starts. Small ones that share a pixel share a rectangle:
 *     they are counted, the longest gives the site; that of a summary is rounded (short_time.h). In a pixel that a wide
 *     one has taken they only count as busy.
 *
 * With a filter, what it hides is not there: summaries are followed down to the slices, as far as they may hold one
 * that is long enough. A rough filter ends at the finest summaries, of which those with a hidden longest slice go as a
 * whole.
 *
 * Times in here count from the trace's start (t) or from the view's left edge (v).
 */
#include "base/search.h"
#include "format/recording/short_time.h"
#include "store/index/image.h"
#include "store/draw/runs.h"

/* Rectangles as they come; `busy` is in nanoseconds until the end. A copy of it in a loop stays in registers. */
typedef struct pen {
	range_rect *rects;
	size_t n;
	/* Of the last rectangle: */
	double longest_ns;
	uint32_t next; /* pixel behind it */
	bool is_wide;
} pen;

typedef struct view {
	const sonde_index *ix;
	const index_lane *lane;
	lane_levels levels;
	pixel_scale scale;
	uint64_t from, to;  /* t: what is seen of the trace */
	uint64_t offset;    /* t of the left edge, modulo 2^64 */
	uint64_t narrow_ns; /* a summary of that span or less is drawn */
	double width_ns, ns_per_pixel;
	const range_filter *filter; /* NULL: everything is drawn */
	pen pen;
	uint64_t block_number; /* of the block that is prepared; UINT64_MAX: none */
	runs_block prepared;
} view;

/* One or several slices, as they are drawn. */
typedef struct item {
	uint32_t pixel; /* where it starts */
	uint32_t site;
	uint64_t slice;
	uint32_t n_slices;
	double busy_ns, longest_ns;
} item;

enum { GROUPS_PER_BLOCK = COLUMNS_ROWS / INDEX_GROUP, BLOCKS_AHEAD = 2 };

#define INLINE static inline __attribute__((always_inline))

/* ---- Rectangles -------------------------------------------------------------------------------------------------- */

/* A new one at [x, end). */
INLINE void add_rect(pen *p, const item *it, uint32_t x, uint32_t end, bool is_wide, double busy_ns)
{
	p->rects[p->n++] = (range_rect){ .x = x,
					 .width = end - x,
					 .site = it->site,
					 .n_slices = it->n_slices,
					 .slice = it->slice,
					 .busy = (float)busy_ns };
	p->next = end;
	p->longest_ns = it->longest_ns;
	p->is_wide = is_wide;
}

/* The item starts in the last pixel of the last rectangle. */
INLINE void share_rect(pen *p, const item *it, double busy_ns)
{
	range_rect *r = &p->rects[p->n - 1];

	r->busy += (float)busy_ns;
	if (p->is_wide)
		return;
	r->n_slices = it->n_slices < UINT32_MAX - r->n_slices ? r->n_slices + it->n_slices : UINT32_MAX;
	if (it->longest_ns > p->longest_ns) {
		p->longest_ns = it->longest_ns;
		r->site = it->site;
	}
}

/* From nanoseconds to a share of its pixels. */
static void finish_rects(const view *w)
{
	float pixels_per_ns = (float)w->scale.pixels_per_ns;

	for (size_t i = 0; i < w->pen.n; i++) {
		range_rect *r = &w->pen.rects[i];
		float busy = r->busy * pixels_per_ns / (float)r->width;
		busy = busy > 0 ? busy : 0; /* it was rounded */
		r->busy = busy < 1 ? busy : 1;
	}
}

INLINE void draw_small(pen *p, const item *it)
{
	if (it->pixel < p->next)
		share_rect(p, it, it->busy_ns);
	else
		add_rect(p, it, it->pixel, it->pixel + 1, false, it->busy_ns);
}

/* First pixel that begins at v or behind it. */
static uint32_t pixel_behind(const view *w, double v)
{
	/* Divided, not multiplied: of a time at a pixel's very edge that gives a whole number. */
	double pixel = v * w->scale.n_pixels / w->width_ns;

	if (pixel >= w->scale.n_pixels)
		return w->scale.n_pixels;
	return (uint32_t)pixel + ((uint32_t)pixel < pixel);
}

INLINE void draw_wide(const view *w, pen *p, const item *it, double start, double end)
{
	uint32_t x = it->pixel < p->next ? p->next : it->pixel, x_end = pixel_behind(w, end);
	double edge = x * w->ns_per_pixel;

	if (it->pixel < p->next)
		share_rect(p, it, (end < edge ? end : edge) - start);
	if (x < x_end)
		add_rect(p, it, x, x_end, true, end - (start > edge ? start : edge));
}

/* ---- Slices ------------------------------------------------------------------------------------------------------ */

INLINE uint32_t checked_site(const view *w, uint64_t site)
{
	return site < w->ix->n_sites ? (uint32_t)site : 0;
}

INLINE bool is_seen(const view *w, uint64_t start, uint64_t end)
{
	return start < w->to && (end > w->from || start >= w->from);
}

/* From t to v, cut to what is seen. */
INLINE double seen_from(const view *w, uint64_t t)
{
	return (double)((t > w->from ? t : w->from) - w->offset);
}

INLINE double seen_to(const view *w, uint64_t t)
{
	return (double)((t < w->to ? t : w->to) - w->offset);
}

INLINE bool hides_site(const range_filter *f, uint32_t site)
{
	return f->hidden_sites && f->hidden_sites[site];
}

INLINE bool is_hidden(const view *w, uint32_t site, int64_t dur)
{
	return w->filter && (dur < w->filter->min_ns || hides_site(w->filter, site));
}

/* Slice after slice: of a group that is seen in part, that holds a wide slice, or where runs.c has no quicker way. */
static void draw_slices(view *w, uint64_t group, const index_summary *summary)
{
	int64_t starts[INDEX_GROUP], durs[INDEX_GROUP];
	columns block;
	pen p = w->pen;
	uint64_t row = group * INDEX_GROUP;
	size_t n = group_times(w->ix, w->lane, group, summary, &block, starts, durs);

	for (size_t i = 0; i < n && (uint64_t)starts[i] < w->to; i++, row++) {
		uint64_t t = (uint64_t)starts[i], dur = (uint64_t)durs[i];
		if (!is_seen(w, t, t + dur))
			continue;
		uint32_t site = checked_site(w, (uint64_t)columns_get(&block, SLICE_SITE, row % COLUMNS_ROWS));
		if (is_hidden(w, site, durs[i]))
			continue;
		double start = seen_from(w, t), end = dur ? seen_to(w, t + dur) : start;
		item it = {
			.pixel = pixel_of(&w->scale, start),
			.site = site,
			.slice = w->lane->first_slice + row,
			.n_slices = 1,
			.busy_ns = end - start,
			.longest_ns = (double)durs[i],
		};
		if (dur >= w->scale.wide_ns)
			draw_wide(w, &p, &it, start, end);
		else
			draw_small(&p, &it);
	}
	w->pen = p;
}

/* A block that is likely to be asked for soon. */
static void fetch_block(const view *w, uint64_t block)
{
	const uint64_t *offsets = w->ix->data[SECTION_BLOCKS];
	uint64_t number = w->lane->first_block + block, length = w->ix->sections[SECTION_SLICES].length;

	if (number >= w->ix->sections[SECTION_BLOCKS].n_rows || w->ix->places)
		return;
	uint64_t from = offsets[number], to = offsets[number + 1];
	if (to > length || from > to || to - from > 4096)
		return;
	for (const uint8_t *at = (const uint8_t *)w->ix->data[SECTION_SLICES] + from; from < to; from += 64, at += 64)
		__builtin_prefetch(at);
}

/* The block that holds the row, prepared. */
static bool prepare_block(view *w, uint64_t row)
{
	columns block;

	if (w->block_number != row / COLUMNS_ROWS) {
		w->block_number = row / COLUMNS_ROWS;
		w->prepared.n_rows = 0;
		if (lane_block(w->ix, w->lane, row, &block))
			runs_prepare(&block, &w->prepared);
		fetch_block(w, w->block_number + BLOCKS_AHEAD);
	}
	return w->prepared.n_rows;
}

/* Groups [group, group + n_groups), which have these summaries. False when they must be drawn another way. */
static bool draw_runs(view *w, uint64_t group, size_t n_groups, const index_summary *summaries)
{
	slice_run runs[COLUMNS_ROWS];
	const index_summary *last = &summaries[n_groups - 1];
	uint64_t row = group * INDEX_GROUP, end = last->start_ns + last->span_ns;
	size_t in_block = row % COLUMNS_ROWS;
	pen p = w->pen;

	/* One that ends at the right edge may have a slice of no length there, which is not seen. */
	if (summaries->start_ns < w->from || end >= w->to || end < summaries->start_ns || !prepare_block(w, row))
		return false;
	size_t n = runs_find(&w->prepared, in_block, n_groups, seen_from(w, summaries->start_ns),
			     end - summaries->start_ns, &w->scale, runs);
	for (size_t i = 0; i < n; i++) {
		uint64_t site = runs_site(&w->prepared, in_block + runs[i].longest_at);
		item it = {
			.pixel = runs[i].pixel,
			.site = checked_site(w, site),
			.slice = w->lane->first_slice + row + runs[i].first,
			.n_slices = runs[i].n,
			.busy_ns = runs[i].busy_ns,
			.longest_ns = runs[i].longest_ns,
		};
		draw_small(&p, &it);
	}
	w->pen = p;
	return n > 0;
}

/* ---- Summaries --------------------------------------------------------------------------------------------------- */

INLINE bool is_sound(const view *w, const index_summary *s)
{
	uint64_t span = (uint64_t)w->ix->span_ns;

	return s->start_ns <= span && s->span_ns <= span - s->start_ns;
}

/* Not wider than a pixel, and seen. One that ends at the left edge is seen only if its last slice has no length: its
   slices are asked. */
INLINE bool is_narrow(const view *w, const index_summary *s)
{
	return s->span_ns <= w->narrow_ns && is_seen(w, s->start_ns, s->start_ns + s->span_ns);
}

/* Summary i of a level where one stands for n_rows. */
INLINE void draw_summary(const view *w, pen *p, const index_summary *s, uint64_t i, uint64_t n_rows)
{
	double start = seen_from(w, s->start_ns), end = seen_to(w, s->start_ns + s->span_ns);
	uint64_t row = i * n_rows, left = w->lane->n_slices - row, n = left < n_rows ? left : n_rows;
	item it = {
		.pixel = pixel_of(&w->scale, start),
		.site = checked_site(w, s->site),
		.slice = w->lane->first_slice + row,
		.n_slices = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX,
		.busy_ns = (end - start) * s->busy * (1.0 / UINT16_MAX),
		.longest_ns = (double)short_time_ns(s->longest),
	};

	draw_small(p, &it);
}

/* The narrow ones that come first of [first, behind), each of which stands for n_rows. Returns the first that is not.
 */
static uint64_t draw_narrow(view *w, const index_summary *all, uint64_t n_rows, uint64_t first, uint64_t behind)
{
	pen p = w->pen;
	uint64_t i = first;

	for (; i < behind && is_sound(w, &all[i]) && is_narrow(w, &all[i]); i++)
		draw_summary(w, &p, &all[i], i, n_rows);
	w->pen = p;
	return i;
}

/* The first of [first, behind) that is not seen or not wider than a pixel. */
static uint64_t end_of_broad(const view *w, const index_summary *all, uint64_t first, uint64_t behind)
{
	uint64_t i = first;

	while (i < behind && all[i].span_ns > w->narrow_ns && all[i].start_ns < w->to && is_sound(w, &all[i]))
		i++;
	return i;
}

/* Groups from the first on, as many as can be drawn at once. Returns how many that were. */
static size_t draw_groups(view *w, const index_summary *all, uint64_t first, uint64_t behind)
{
	uint64_t block_end = (first / GROUPS_PER_BLOCK + 1) * GROUPS_PER_BLOCK;
	uint64_t end = end_of_broad(w, all, first + 1, behind < block_end ? behind : block_end);

	if (end - first > 1 && draw_runs(w, first, end - first, &all[first]))
		return end - first;
	if (!draw_runs(w, first, 1, &all[first]))
		draw_slices(w, first, &all[first]);
	return 1;
}

/* Summaries [first, behind) of a level. */
static void draw_level(view *w, unsigned level, uint64_t n_rows, uint64_t first, uint64_t behind)
{
	const index_summary *all = w->levels.summaries[level];

	lane_levels_use(w->ix, &w->levels, level, first, behind);
	for (uint64_t i = first; i < behind;) {
		i = draw_narrow(w, all, n_rows, i, behind);
		if (i == behind || all[i].start_ns >= w->to)
			return;
		if (!is_sound(w, &all[i]) || all[i].start_ns + all[i].span_ns < w->from) {
			i++;
		} else if (level == 0) {
			i += draw_groups(w, all, i, behind);
		} else {
			uint64_t below = i * INDEX_FAN, n_below = w->levels.count[level - 1];
			i = end_of_broad(w, all, i + 1, behind);
			draw_level(w, level - 1, n_rows / INDEX_FAN, below,
				   i * INDEX_FAN < n_below ? i * INDEX_FAN : n_below);
		}
	}
}

/* True: none of its slices is long enough. It takes the longest for a little longer than it is. */
static bool is_all_short(const range_filter *f, const index_summary *s)
{
	return f->min_ns > 0 && short_time_ns(s->longest) < (uint64_t)f->min_ns;
}

/* The same with a filter. */
static void draw_filtered(view *w, unsigned level, uint64_t n_rows, uint64_t first, uint64_t behind)
{
	const index_summary *all = w->levels.summaries[level];

	lane_levels_use(w->ix, &w->levels, level, first, behind);
	for (uint64_t i = first; i < behind && all[i].start_ns < w->to; i++) {
		const index_summary *s = &all[i];
		if (!is_sound(w, s) || s->start_ns + s->span_ns < w->from || is_all_short(w->filter, s))
			continue;
		bool is_rough = w->filter->is_rough && is_narrow(w, s);
		if (is_rough && !hides_site(w->filter, checked_site(w, s->site))) {
			draw_summary(w, &w->pen, s, i, n_rows);
		} else if (level > 0) {
			uint64_t below = (i + 1) * INDEX_FAN, n_below = w->levels.count[level - 1];
			draw_filtered(w, level - 1, n_rows / INDEX_FAN, i * INDEX_FAN,
				      below < n_below ? below : n_below);
		} else if (!is_rough) {
			draw_slices(w, i, s);
		}
	}
}

/* First summary of the coarsest level that ends in the view or behind it. */
static uint64_t first_seen(const view *w)
{
	const index_summary *s = w->levels.summaries[w->levels.n - 1];

	lane_levels_use(w->ix, &w->levels, w->levels.n - 1, 0, w->levels.count[w->levels.n - 1]);
	return FIRST_NOT(i, 0, w->levels.count[w->levels.n - 1], s[i].start_ns + s[i].span_ns < w->from);
}

size_t index_range(const sonde_index *ix, uint32_t lane, int64_t from_ns, int64_t to_ns, uint32_t n_pixels,
		   range_rect *rects)
{
	return index_range_filtered(ix, lane, from_ns, to_ns, n_pixels, NULL, rects);
}

size_t index_range_filtered(const sonde_index *ix, uint32_t lane, int64_t from_ns, int64_t to_ns, uint32_t n_pixels,
			    const range_filter *filter, range_rect *rects)
{
	if (lane >= ix->n_lanes || from_ns >= to_ns || n_pixels == 0 || ix->n_sites == 0 || to_ns <= ix->start_ns ||
	    from_ns > index_end_ns(ix))
		return 0;
	uint64_t width = (uint64_t)to_ns - (uint64_t)from_ns;
	view w = {
		.ix = ix,
		.lane = &ix->lanes[lane],
		.scale = pixel_scale_of(width, n_pixels),
		.from = row_time(ix, from_ns),
		.to = row_time(ix, to_ns),
		.offset = (uint64_t)from_ns - (uint64_t)ix->start_ns,
		.narrow_ns = width / n_pixels,
		.width_ns = (double)width,
		.ns_per_pixel = (double)width / n_pixels,
		.filter = filter,
		.pen = { .rects = rects },
		.block_number = UINT64_MAX,
	};
	lane_levels_of(ix, w.lane, &w.levels);
	uint64_t n_rows = INDEX_GROUP;
	for (unsigned level = 1; level < w.levels.n; level++)
		n_rows *= INDEX_FAN;
	(filter ? draw_filtered : draw_level)(&w, w.levels.n - 1, n_rows, first_seen(&w),
					      w.levels.count[w.levels.n - 1]);
	finish_rects(&w);
	return w.pen.n;
}
