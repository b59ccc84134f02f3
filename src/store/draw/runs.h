/*
 * Slices that begin in the same pixel, as runs, found eight slices at a time: the one hot loop behind a
 * view. range.c does the same slice by slice where it cannot be done here.
 *
 *   runs_prepare()   once per block
 *   runs_find()      for its groups
 */
#ifndef SONDE_STORE_DRAW_RUNS_H
#define SONDE_STORE_DRAW_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "format/index/columns.h"
#include "format/index/sections.h"

/* How times become pixels. */
typedef struct pixel_scale {
	double pixels_per_ns; /* a trace more, so that a time at a pixel's very edge is not put before it */
	double ns_per_pixel;  /* and a trace less, so that it is found there */
	uint32_t n_pixels;
	uint64_t wide_ns; /* a slice that long is wide */
} pixel_scale;

static inline pixel_scale pixel_scale_of(uint64_t width_ns, uint32_t n_pixels)
{
	return (pixel_scale){ .pixels_per_ns = n_pixels / (double)width_ns * (1 + 0x1p-51),
			      .ns_per_pixel = (double)width_ns / n_pixels * (1 - 0x1p-51),
			      .n_pixels = n_pixels,
			      .wide_ns = width_ns / n_pixels + (width_ns % n_pixels != 0) };
}

/* Pixel of a time from the left edge. */
static inline uint32_t pixel_of(const pixel_scale *scale, double v)
{
	double pixel = v * scale->pixels_per_ns;

	return pixel < scale->n_pixels ? (uint32_t)pixel : scale->n_pixels - 1;
}

/* How values of a column lie in the bytes: eight take `width` bytes. */
typedef struct runs_column {
	_Alignas(64) uint8_t bytes_of_16[64]; /* four of each of sixteen values */
	_Alignas(32) uint8_t bytes_of_8[32];  /* of eight; the last four are counted from `half` */
	uint32_t shift[16], mask;
	uint32_t base;
	const uint8_t *bits;
	size_t width, half;
	bool is_prepared; /* for the width */
} runs_column;

typedef struct runs_block {
	runs_column gap, dur;
	const uint8_t *site_bits;
	size_t site_width;
	uint64_t site_mask, site_base;
	size_t n_rows;	   /* 0: it cannot be done here: its numbers are too large, or the machine has no AVX2 */
	size_t max_groups; /* so many at once, lest times become too large */
	bool by_16;	   /* the machine has AVX-512 */
} runs_block;

/* ret: zero, or of another block. */
void runs_prepare(const columns *c, runs_block *ret);

/* As the column has it. */
static inline uint64_t runs_site(const runs_block *b, size_t row)
{
	size_t bit = row * b->site_width;
	uint64_t word;

	__builtin_memcpy(&word, b->site_bits + bit / 8, 8);
	return (word >> bit % 8 & b->site_mask) + b->site_base;
}

typedef struct slice_run {
	uint32_t pixel;
	uint16_t first, n;   /* slices, from the first group's first */
	uint16_t longest_at; /* the first of the longest */
	uint32_t busy_ns, longest_ns;
} slice_run;

/* Groups of a block in an image, rows [first, first + n_groups * INDEX_GROUP); the first slice starts at v, the last
   one ends span_ns later, both within the view. Returns how many runs; 0: one of the slices is wide, or they are
   damaged, or it cannot be done here. ret_runs has room for a run for each slice. */
size_t runs_find(const runs_block *b, size_t first, size_t n_groups, double v, uint64_t span_ns,
		 const pixel_scale *scale, slice_run *ret_runs);

#endif
