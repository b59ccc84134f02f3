/*
 * See runs.h. Gaps and durations are unpacked to 32 bits and added up to starts. Then there are two ways:
 *
 *   runs_few.c    when many slices share a pixel: 32 starts at once are compared with where the pixel ends
 *   runs_many.c   otherwise: each slice's pixel is worked out, and neighbours are compared
 *
 * The longest of a run is the largest of (duration << 8 | 255 - number).
 */
#include "store/draw/runs.h"

#include "store/index/image.h"

#if defined(__x86_64__)
#include "store/draw/runs_vector.h"

/* Widths of which a value and the bits before it in its first byte fit 32 bits; values that have a number behind them
   in 32 bits, and of which those of a block add up to less than 2^31. */
enum { MAX_WIDTH = 25, MAX_VALUE = (1 << 24) - 1, MAX_IN_BLOCK = INT32_MAX / (2 * COLUMNS_ROWS) };
_Static_assert(2 * (uint64_t)MAX_VALUE * INDEX_GROUP <= INT32_MAX, "a group's times fit");

/* Up to so many pixels to a group, runs_few.c is quicker. */
static const double few_pixels = 4;

/* Neighbouring blocks mostly have the same width. */
static void prepare_column(const columns *c, size_t column, runs_column *ret)
{
	unsigned width = c->widths[column];

	ret->bits = c->bits[column];
	ret->base = (uint32_t)columns_base(c, column);
	if (ret->width == width && ret->is_prepared)
		return;
	ret->is_prepared = true;
	ret->width = width;
	ret->half = 4 * width / 8;
	ret->mask = (1u << width) - 1;
	for (unsigned i = 0; i < 16; i++) {
		unsigned byte = i * width / 8;
		for (unsigned k = 0; k < 4; k++) {
			ret->bytes_of_16[4 * i + k] = (uint8_t)(byte + k);
			if (i < 8)
				ret->bytes_of_8[4 * i + k] = (uint8_t)(byte + k - (i < 4 ? 0 : ret->half));
		}
		ret->shift[i] = i * width % 8;
	}
}

void runs_prepare(const columns *c, runs_block *ret)
{
	ret->n_rows = 0;
	if (c->widths[SLICE_GAP] > MAX_WIDTH || c->widths[SLICE_DUR] > MAX_WIDTH || c->widths[SLICE_SITE] > 32 ||
	    !column_within(c, SLICE_GAP, MAX_VALUE) || !column_within(c, SLICE_DUR, MAX_VALUE) ||
	    !__builtin_cpu_supports("avx2"))
		return;
	prepare_column(c, SLICE_GAP, &ret->gap);
	prepare_column(c, SLICE_DUR, &ret->dur);
	ret->n_rows = c->n_rows;
	bool is_small = column_within(c, SLICE_GAP, MAX_IN_BLOCK) && column_within(c, SLICE_DUR, MAX_IN_BLOCK);
	ret->max_groups = is_small ? COLUMNS_ROWS / INDEX_GROUP : 1;
	ret->by_16 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vbmi");
	ret->site_bits = c->bits[SLICE_SITE];
	ret->site_width = c->widths[SLICE_SITE];
	ret->site_mask = ((uint64_t)1 << ret->site_width) - 1;
	ret->site_base = (uint64_t)columns_base(c, SLICE_SITE);
}

size_t runs_find(const runs_block *b, size_t first, size_t n_groups, double v, uint64_t span_ns,
		 const pixel_scale *scale, slice_run *ret_runs)
{
	if (b->n_rows < first + n_groups * INDEX_GROUP || first % 8 != 0 || n_groups > b->max_groups)
		return 0;
	if ((double)span_ns * scale->pixels_per_ns < few_pixels * (double)n_groups)
		return (b->by_16 ? runs_find_few_16 : runs_find_few)(b, first, n_groups, v, span_ns, scale, ret_runs);
	return runs_find_many(b, first, n_groups, v, span_ns, scale, ret_runs);
}

#else

void runs_prepare(const columns *c, runs_block *ret)
{
	(void)c;
	ret->n_rows = 0;
}

size_t runs_find(const runs_block *b, size_t first, size_t n_groups, double v, uint64_t span_ns,
		 const pixel_scale *scale, slice_run *ret_runs)
{
	(void)b;
	(void)first;
	(void)n_groups;
	(void)v;
	(void)span_ns;
	(void)scale;
	(void)ret_runs;
	return 0;
}

#endif
