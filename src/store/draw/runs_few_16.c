/* The same as runs_few.c with vectors of sixteen, for machines with AVX-512. */
#if defined(__x86_64__)
#include "store/draw/runs_few.h"

#define AVX512_TARGET "avx512f,avx512vbmi"
#define AVX512 __attribute__((target(AVX512_TARGET), always_inline)) static inline

typedef struct unpacker_16 {
	__m512i shuffle, shift, mask, base;
	const uint8_t *at;
	size_t step;
} unpacker_16;

AVX512 unpacker_16 unpacker_16_of(const runs_column *c, size_t row)
{
	return (unpacker_16){ .shuffle = _mm512_load_si512(c->bytes_of_16),
			      .shift = _mm512_loadu_si512(c->shift),
			      .mask = _mm512_set1_epi32((int)c->mask),
			      .base = _mm512_set1_epi32((int)c->base),
			      .at = c->bits + row / 8 * c->width,
			      .step = 2 * c->width };
}

/* Reads up to 64 bytes behind the last value: an image has INDEX_PAD. */
AVX512 __m512i unpack_16(unpacker_16 *u)
{
	__m512i bytes = _mm512_permutexvar_epi8(u->shuffle, _mm512_loadu_si512(u->at));

	u->at += u->step;
	return _mm512_add_epi32(_mm512_and_si512(_mm512_srlv_epi32(bytes, u->shift), u->mask), u->base);
}

AVX512 __m512i add_up_16(__m512i x, __m512i *before)
{
	__m512i zero = _mm512_setzero_si512();

	x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 15));
	x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 14));
	x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 12));
	x = _mm512_add_epi32(_mm512_add_epi32(x, *before), _mm512_alignr_epi32(x, zero, 8));
	*before = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), x);
	return x;
}

AVX512 __m256i larger_half(__m512i x)
{
	return _mm256_max_epu32(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
}

AVX512 __m256i both_halves(__m512i x)
{
	return _mm256_add_epi32(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
}

/* take_batch() of two times sixteen. */
AVX512 void take_batch_16(batch *t, growing *g, const pixel_scale *scale, double v, unsigned i, const __m512i *start,
			  const __m512i *dur, const __m512i *ranked)
{
	__m512i end = _mm512_set1_epi32(g->at.end), longest[2] = { 0 }, busy[2] = { 0 }; /* behind it, before it */
	uint32_t bits = 0;

	UNROLLED
	for (unsigned k = 0; k < 2; k++) {
		__mmask16 inside = _mm512_cmpgt_epi32_mask(end, start[k]);
		__m512i later = _mm512_maskz_mov_epi32((__mmask16)~inside, ranked[k]);
		__m512i later_dur = _mm512_maskz_mov_epi32((__mmask16)~inside, dur[k]);
		longest[0] = _mm512_max_epu32(longest[0], later);
		busy[0] = _mm512_add_epi32(busy[0], later_dur);
		longest[1] = _mm512_mask_max_epu32(longest[1], inside, longest[1], ranked[k]);
		busy[1] = _mm512_mask_add_epi32(busy[1], inside, busy[1], dur[k]);
		_mm512_storeu_si512(t->ranked + 2 * k, later);
		_mm512_storeu_si512(t->dur + 2 * k, later_dur);
		_mm512_storeu_si512(t->start + 16 * k, start[k]);
		bits |= (uint32_t)inside << 16 * k;
	}
	g->longest[g->n] = _mm256_max_epu32(g->longest[g->n], larger_half(longest[1]));
	g->busy[g->n] = _mm256_add_epi32(g->busy[g->n], both_halves(busy[1]));
	begin_run(t, g, scale, v, i, bits, larger_half(longest[0]), both_halves(busy[0]));
}

__attribute__((target(AVX512_TARGET))) size_t runs_find_few_16(const runs_block *b, size_t first, size_t n_groups,
							       double v, uint64_t span_ns, const pixel_scale *scale,
							       slice_run *ret_runs)
{
	unpacker_16 gaps = unpacker_16_of(&b->gap, first), durs = unpacker_16_of(&b->dur, first);
	__m512i place = _mm512_sub_epi32(_mm512_set1_epi32(255),
					 _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
	unsigned n_slices = (unsigned)n_groups * INDEX_GROUP;
	growing g;
	batch t;
	__m512i sum = _mm512_set1_epi32(-(int32_t)first_gap(&b->gap, first));

	begin_growing(&g, scale, v);
	for (unsigned i = 0; i < n_slices; i += 32) {
		__m512i start[2], dur[2], ranked[2];
		UNROLLED
		for (unsigned k = 0; k < 2; k++) {
			__m512i gap = unpack_16(&gaps);
			dur[k] = unpack_16(&durs);
			start[k] = _mm512_sub_epi32(add_up_16(_mm512_add_epi32(gap, dur[k]), &sum), dur[k]);
			ranked[k] = _mm512_or_si512(_mm512_slli_epi32(dur[k], 8), place);
			place = _mm512_sub_epi32(place, _mm512_set1_epi32(16));
		}
		take_batch_16(&t, &g, scale, v, i, start, dur, ranked);
	}
	bool is_right = (uint32_t)_mm512_cvtsi512_si32(sum) == span_ns;
	return make_runs(&g, n_slices, scale, ret_runs) && is_right ? g.n + 1 : 0;
}

#endif
