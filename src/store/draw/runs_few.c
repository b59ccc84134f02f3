/* Runs of groups of which many slices share a pixel, with vectors of eight. See runs_few.h. */
#if defined(__x86_64__)
#include "store/draw/runs_few.h"

/* Those that start before the pixel's end go to the last run and are cleared. Returns their bits. */
AVX2 uint32_t take_those_inside(batch *t, growing *g)
{
	__m256i end = _mm256_set1_epi32(g->at.end), longest = g->longest[g->n], busy = g->busy[g->n];
	uint32_t bits = 0;

	UNROLLED
	for (unsigned k = 0; k < 4; k++) {
		__m256i start = _mm256_loadu_si256((const __m256i *)(t->start + 8 * k));
		__m256i inside = _mm256_cmpgt_epi32(end, start);
		bits |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(inside)) << 8 * k;
		longest = _mm256_max_epu32(longest, _mm256_and_si256(t->ranked[k], inside));
		busy = _mm256_add_epi32(busy, _mm256_and_si256(t->dur[k], inside));
		t->ranked[k] = _mm256_andnot_si256(inside, t->ranked[k]);
		t->dur[k] = _mm256_andnot_si256(inside, t->dur[k]);
	}
	g->longest[g->n] = longest;
	g->busy[g->n] = busy;
	return bits;
}

__attribute__((target("avx2"))) void runs_take_the_rest(batch *t, growing *g, const pixel_scale *scale, double v,
							unsigned i, unsigned to)
{
	uint32_t bits;

	do {
		enter_pixel(&g->at, scale, v, t->start[to]);
		g->n++;
		g->pixel[g->n] = g->at.pixel;
		g->first[g->n] = i + to;
		g->longest[g->n] = g->busy[g->n] = _mm256_setzero_si256();
		bits = take_those_inside(t, g);
		to = bits == UINT32_MAX ? 32 : (unsigned)__builtin_ctz(~bits);
	} while (to < 32);
}

AVX2 void take_batch(batch *t, growing *g, const pixel_scale *scale, double v, unsigned i)
{
	uint32_t bits = take_those_inside(t, g);
	__m256i longest = _mm256_max_epu32(_mm256_max_epu32(t->ranked[0], t->ranked[1]),
					   _mm256_max_epu32(t->ranked[2], t->ranked[3]));
	__m256i busy = _mm256_add_epi32(_mm256_add_epi32(t->dur[0], t->dur[1]), _mm256_add_epi32(t->dur[2], t->dur[3]));

	begin_run(t, g, scale, v, i, bits, longest, busy);
}

__attribute__((target("avx2"))) size_t runs_find_few(const runs_block *b, size_t first, size_t n_groups, double v,
						     uint64_t span_ns, const pixel_scale *scale, slice_run *ret_runs)
{
	unpacker gaps = unpacker_of(&b->gap, first), durs = unpacker_of(&b->dur, first);
	__m256i place = _mm256_setr_epi32(255, 254, 253, 252, 251, 250, 249, 248);
	unsigned n_slices = (unsigned)n_groups * INDEX_GROUP;
	growing g;
	batch t;
	/* v is behind the first gap. */
	__m256i sum = _mm256_set1_epi32(-(int32_t)first_gap(&b->gap, first));

	begin_growing(&g, scale, v);
	for (unsigned i = 0; i < n_slices; i += 32) {
		UNROLLED
		for (unsigned k = 0; k < 4; k++) {
			__m256i gap = unpack_8(&gaps), dur = unpack_8(&durs);
			__m256i start = _mm256_sub_epi32(add_up_8(_mm256_add_epi32(gap, dur), &sum), dur);
			_mm256_storeu_si256((__m256i *)(t.start + 8 * k), start);
			t.dur[k] = dur;
			t.ranked[k] = rank(dur, place);
			place = _mm256_sub_epi32(place, _mm256_set1_epi32(8));
		}
		take_batch(&t, &g, scale, v, i);
	}
	bool is_right = (uint32_t)_mm256_cvtsi256_si32(sum) == span_ns;
	return make_runs(&g, n_slices, scale, ret_runs) && is_right ? g.n + 1 : 0;
}

#endif
