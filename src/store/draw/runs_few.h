/*
 * Runs of groups of which many slices share a pixel: what runs_few.c and runs_few_16.c have in common. 32 slices at a
 * time are a batch. Those that start before the end of the pixel belong to the run that grows; the others, mostly none
 * or all in the next pixel, begin a new one.
 */
#ifndef SONDE_STORE_DRAW_RUNS_FEW_H
#define SONDE_STORE_DRAW_RUNS_FEW_H

#include "store/draw/runs_vector.h"

/* Before a loop over the vectors of a batch, so that they stay in registers. */
#if defined(__clang__)
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 4")
#endif

/* Where a pixel ends, from the group's start. */
static inline int32_t end_of_pixel(const pixel_scale *scale, double v, uint32_t pixel)
{
	double end = ((double)pixel + 1) * scale->ns_per_pixel - v;
	int32_t down = end < INT32_MAX ? (int32_t)end : INT32_MAX - 1;

	return down + (down < end);
}

/* The pixel that slices are put into, and the next one. Most go on in the next one: where that ends is known before it
   is asked for. */
typedef struct two_pixels {
	uint32_t pixel;
	int32_t end, next_end;
} two_pixels;

static inline void enter_pixel(two_pixels *t, const pixel_scale *scale, double v, int32_t start)
{
	if (start < t->next_end) {
		t->pixel++;
		t->end = t->next_end;
	} else {
		t->pixel = pixel_of(scale, v + start);
		t->end = end_of_pixel(scale, v, t->pixel);
		t->end = t->end > start ? t->end : start + 1; /* behind the slice, whatever was rounded */
	}
	t->next_end = end_of_pixel(scale, v, t->pixel + 1);
}

/* 32 slices, eight to a vector. */
typedef struct batch {
	__m256i dur[4], ranked[4];
	int32_t start[32];
} batch;

/* Runs as they are found. The last one, number n, grows. */
typedef struct growing {
	__m256i longest[COLUMNS_ROWS + 1],
		busy[COLUMNS_ROWS + 1]; /* eight parts each, of which make_runs() makes one */
	uint32_t pixel[COLUMNS_ROWS + 1], first[COLUMNS_ROWS + 1];
	size_t n;
	two_pixels at;
} growing;

AVX2 void begin_growing(growing *g, const pixel_scale *scale, double v)
{
	g->n = 0;
	g->at = (two_pixels){ 0 };
	enter_pixel(&g->at, scale, v, 0);
	g->pixel[0] = g->at.pixel;
	g->first[0] = 0;
	g->longest[0] = g->busy[0] = _mm256_setzero_si256();
}

/* What is left of a batch whose first slice is number i goes to the next run, or to as many as there are; `to` is the
   first that is left. */
void runs_take_the_rest(batch *t, growing *g, const pixel_scale *scale, double v, unsigned i, unsigned to);

/* After take_those_inside(): the others make the next run, of which these are the parts. Without a branch, which could
   not be foretold: the run is written whether there is one or not. */
AVX2 void begin_run(batch *t, growing *g, const pixel_scale *scale, double v, unsigned i, uint32_t bits,
		    __m256i longest, __m256i busy)
{
	uint32_t is_cut = bits != UINT32_MAX;
	unsigned to = is_cut ? (unsigned)__builtin_ctz(~bits) : 32;

	if (__builtin_expect(is_cut && t->start[31] >= g->at.next_end, 0)) {
		runs_take_the_rest(t, g, scale, v, i, to);
		return;
	}
	g->pixel[g->n + 1] = g->at.pixel + 1;
	g->first[g->n + 1] = i + to;
	g->longest[g->n + 1] = longest;
	g->busy[g->n + 1] = busy;
	g->n += is_cut;
	g->at.pixel += is_cut;
	g->at.end = is_cut ? g->at.next_end : g->at.end;
	g->at.next_end = end_of_pixel(scale, v, g->at.pixel + 1);
}

/* False when one is wide. */
AVX2 bool make_runs(growing *g, unsigned n_slices, const pixel_scale *scale, slice_run *ret_runs)
{
	uint32_t most = 0;

	g->first[g->n + 1] = n_slices;
	for (size_t i = 0; i <= g->n; i++) {
		uint32_t longest = largest_of(g->longest[i]);
		most = longest > most ? longest : most;
		uint32_t pixel = g->pixel[i] < scale->n_pixels ? g->pixel[i] : scale->n_pixels - 1; /* it was rounded */
		ret_runs[i] = run_of(pixel, g->first[i], g->first[i + 1], longest, sum_of(g->busy[i]));
	}
	return most / 256 < scale->wide_ns;
}

#endif
