/* Runs of groups of which few slices share a pixel. See runs.c. */
#if defined(__x86_64__)
#include "store/draw/runs_vector.h"

/* Of the eight those in [from, to), the others 0. */
AVX2 __m256i only(__m256i eight, unsigned from, unsigned to)
{
	static const int32_t below[16] = { -1, -1, -1, -1, -1, -1, -1, -1 };
	__m256i before_to = _mm256_loadu_si256((const __m256i *)(below + 8 - to));
	__m256i before_from = _mm256_loadu_si256((const __m256i *)(below + 8 - from));

	return _mm256_and_si256(_mm256_andnot_si256(before_from, before_to), eight);
}

AVX2 __m128i pixels_4(__m128i starts, __m256d v, __m256d scale)
{
	return _mm256_cvttpd_epi32(_mm256_mul_pd(_mm256_add_pd(_mm256_cvtepi32_pd(starts), v), scale));
}

AVX2 __m256i pixels_8(__m256i starts, __m256d v, __m256d scale, __m256i last)
{
	__m128i low = pixels_4(_mm256_castsi256_si128(starts), v, scale);
	__m128i high = pixels_4(_mm256_extracti128_si256(starts, 1), v, scale);

	return _mm256_min_epi32(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), last);
}

/* What the first pass over the groups leaves for the second. */
typedef struct slice_pixels {
	uint32_t pixel[COLUMNS_ROWS];
	uint32_t ranked[COLUMNS_ROWS + 8];
	uint32_t busy[COLUMNS_ROWS + 1];    /* durations of all before */
	uint8_t is_first[COLUMNS_ROWS / 8]; /* bits: another pixel than that of the one before */
} slice_pixels;

/* False when one is wide or the last does not end where it should. */
AVX2 bool find_pixels(const runs_block *b, size_t first, size_t n_slices, double v, uint64_t span_ns,
		      const pixel_scale *scale, slice_pixels *g)
{
	unpacker gaps = unpacker_of(&b->gap, first), durs = unpacker_of(&b->dur, first);
	__m256i zero = _mm256_setzero_si256(), gap_sum = zero, dur_sum = zero;
	__m256i place = _mm256_setr_epi32(255, 254, 253, 252, 251, 250, 249, 248);
	/* Durations longer than this are wide. */
	__m256i narrow = _mm256_set1_epi32(scale->wide_ns > INT32_MAX ? INT32_MAX : (int)(scale->wide_ns - 1));
	__m256i last = _mm256_set1_epi32((int)(scale->n_pixels - 1)), pixel_before = _mm256_set1_epi32(-1);
	__m256d left = _mm256_set1_pd(v), per_ns = _mm256_set1_pd(scale->pixels_per_ns);

	g->busy[0] = 0;
	for (size_t i = 0; i < n_slices; i += 8, place = _mm256_sub_epi32(place, _mm256_set1_epi32(8))) {
		__m256i gap = unpack_8(&gaps), dur = unpack_8(&durs), wide = _mm256_cmpgt_epi32(dur, narrow);
		if (!_mm256_testz_si256(wide, wide))
			return false;
		if (i == 0) /* v is behind it */
			gap = _mm256_blend_epi32(gap, zero, 1);
		__m256i busy = add_up_8(dur, &dur_sum), end = _mm256_add_epi32(add_up_8(gap, &gap_sum), busy);
		__m256i pixel = pixels_8(_mm256_sub_epi32(end, dur), left, per_ns, last);
		/* Each beside the one before. */
		__m256i turned = _mm256_permutevar8x32_epi32(pixel, _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6));
		__m256i same = _mm256_cmpeq_epi32(pixel, _mm256_blend_epi32(turned, pixel_before, 1));
		pixel_before = turned;
		g->is_first[i / 8] = (uint8_t)~_mm256_movemask_ps(_mm256_castsi256_ps(same));
		_mm256_storeu_si256((__m256i *)(g->pixel + i), pixel);
		_mm256_storeu_si256((__m256i *)(g->busy + i + 1), busy);
		_mm256_storeu_si256((__m256i *)(g->ranked + i), rank(dur, place));
	}
	return (uint32_t)_mm256_cvtsi256_si32(_mm256_add_epi32(gap_sum, dur_sum)) == span_ns;
}

AVX2 uint32_t largest_in(const uint32_t *values, unsigned from, unsigned to)
{
	__m256i most = _mm256_setzero_si256();

	for (; from < to; from += 8) {
		__m256i eight = _mm256_loadu_si256((const __m256i *)(values + from));
		most = _mm256_max_epu32(most, only(eight, 0, to - from < 8 ? to - from : 8));
	}
	return largest_of(most);
}

/* Where runs begin, and the end of the last. Returns how many there are. */
static size_t find_starts(const slice_pixels *g, size_t n_slices, uint16_t *ret_starts)
{
	size_t n = 0;
	uint32_t left;

	for (size_t i = 0; i < n_slices; i += 32)
		for (memcpy(&left, g->is_first + i / 8, sizeof left); left; left &= left - 1)
			ret_starts[n++] = (uint16_t)(i + (size_t)__builtin_ctz(left));
	ret_starts[n] = (uint16_t)n_slices;
	return n;
}

__attribute__((target("avx2"))) size_t runs_find_many(const runs_block *b, size_t first, size_t n_groups, double v,
						      uint64_t span_ns, const pixel_scale *scale, slice_run *ret_runs)
{
	uint16_t starts[COLUMNS_ROWS + 1];
	size_t n_slices = n_groups * INDEX_GROUP;
	slice_pixels g;

	if (!find_pixels(b, first, n_slices, v, span_ns, scale, &g))
		return 0;
	size_t n = find_starts(&g, n_slices, starts);
	for (size_t i = 0; i < n; i++) {
		unsigned from = starts[i], to = starts[i + 1];
		ret_runs[i] =
			run_of(g.pixel[from], from, to, largest_in(g.ranked, from, to), g.busy[to] - g.busy[from]);
	}
	return n;
}

#endif
