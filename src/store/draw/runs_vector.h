/*
 * Eight values at a time, for the files behind runs.h. Only where there is AVX2: runs.c asks the machine.
 */
#ifndef SONDE_STORE_DRAW_RUNS_VECTOR_H
#define SONDE_STORE_DRAW_RUNS_VECTOR_H

#include <immintrin.h>
#include <string.h>
#include "store/draw/runs.h"

#define AVX2 __attribute__((target("avx2"), always_inline)) static inline

typedef struct unpacker {
	__m256i shuffle, shift, mask, base;
	const uint8_t *at;
	size_t width, half;
} unpacker;

AVX2 unpacker unpacker_of(const runs_column *c, size_t row)
{
	return (unpacker){ .shuffle = _mm256_load_si256((const __m256i *)c->bytes_of_8),
			   .shift = _mm256_loadu_si256((const __m256i *)c->shift),
			   .mask = _mm256_set1_epi32((int)c->mask),
			   .base = _mm256_set1_epi32((int)c->base),
			   .at = c->bits + row / 8 * c->width,
			   .width = c->width,
			   .half = c->half };
}

/* Reads up to 16 bytes behind the last value: an image has INDEX_PAD. */
AVX2 __m256i unpack_8(unpacker *u)
{
	__m128i low = _mm_loadu_si128((const __m128i *)u->at);
	__m128i high = _mm_loadu_si128((const __m128i *)(u->at + u->half));
	__m256i bytes = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);

	u->at += u->width;
	bytes = _mm256_srlv_epi32(_mm256_shuffle_epi8(bytes, u->shuffle), u->shift);
	return _mm256_add_epi32(_mm256_and_si256(bytes, u->mask), u->base);
}

/* Of a row where eight begin. */
static inline uint32_t first_gap(const runs_column *c, size_t row)
{
	uint32_t word;

	memcpy(&word, c->bits + row / 8 * c->width, sizeof word);
	return (word & c->mask) + c->base;
}

/* Each plus all before it. *before: the sum of all eights before, eight times. */
AVX2 __m256i add_up_8(__m256i x, __m256i *before)
{
	x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
	x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8));
	__m256i low_sum = _mm256_shuffle_epi32(_mm256_permute2x128_si256(x, x, 0x08), 0xff);
	x = _mm256_add_epi32(_mm256_add_epi32(x, low_sum), *before);
	*before = _mm256_permutevar8x32_epi32(x, _mm256_set1_epi32(7));
	return x;
}

/* Of which the largest is the longest, and of several that are as long the first. place: 255 - number. */
AVX2 __m256i rank(__m256i dur, __m256i place)
{
	return _mm256_or_si256(_mm256_slli_epi32(dur, 8), place);
}

AVX2 uint32_t largest_of(__m256i eight)
{
	__m128i four = _mm_max_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));

	four = _mm_max_epu32(four, _mm_shuffle_epi32(four, 0x4e));
	four = _mm_max_epu32(four, _mm_shuffle_epi32(four, 0xb1));
	return (uint32_t)_mm_cvtsi128_si32(four);
}

AVX2 uint32_t sum_of(__m256i eight)
{
	__m128i four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));

	four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
	four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1));
	return (uint32_t)_mm_cvtsi128_si32(four);
}

static inline slice_run run_of(uint32_t pixel, unsigned from, unsigned to, uint32_t longest, uint32_t busy)
{
	return (slice_run){ .pixel = pixel,
			    .first = (uint16_t)from,
			    .n = (uint16_t)(to - from),
			    .longest_at = (uint16_t)(255 - longest % 256),
			    .busy_ns = busy,
			    .longest_ns = longest / 256 };
}

/* For groups of few pixels and of many; as runs_find(). */
size_t runs_find_few(const runs_block *b, size_t first, size_t n_groups, double v, uint64_t span_ns,
		     const pixel_scale *scale, slice_run *ret_runs);
size_t runs_find_few_16(const runs_block *b, size_t first, size_t n_groups, double v, uint64_t span_ns,
			const pixel_scale *scale, slice_run *ret_runs);
size_t runs_find_many(const runs_block *b, size_t first, size_t n_groups, double v, uint64_t span_ns,
		      const pixel_scale *scale, slice_run *ret_runs);

#endif
