/* Runs of slices that begin in the same pixel: found eight at a time, they are those that a loop finds one by one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "store/draw/runs.h"
#include "unit/store/make_index.h"

enum { ROWS = COLUMNS_ROWS };

typedef struct block {
	int64_t values[SLICE_COLUMNS * ROWS];
	uint8_t bytes[COLUMNS_BYTES(SLICE_COLUMNS) + INDEX_PAD];
	columns c;
} block;

static void pack(block *b, size_t n)
{
	size_t len = columns_pack(b->bytes, b->values, SLICE_COLUMNS, n);

	assert_true(columns_open(&b->c, b->bytes, len, SLICE_COLUMNS));
}

/* Up to so many bits. */
static void fill(block *b, size_t n, unsigned gap_bits, unsigned dur_bits, uint64_t *seed)
{
	for (size_t i = 0; i < n; i++) {
		b->values[SLICE_GAP * ROWS + i] = (int64_t)(image_random(seed) & ((1u << gap_bits) - 1));
		b->values[SLICE_DUR * ROWS + i] = (int64_t)(image_random(seed) & ((1u << dur_bits) - 1));
		b->values[SLICE_SITE * ROWS + i] = (int64_t)(i % 7);
	}
	pack(b, n);
}

/* One by one; returns 0 where a slice is wide. */
static size_t simple_runs(const block *b, size_t first, size_t n_slices, double v, const pixel_scale *scale,
			  slice_run *runs)
{
	int64_t t = 0;
	size_t n = 0;

	for (size_t i = 0; i < n_slices; i++) {
		uint32_t dur = (uint32_t)b->values[SLICE_DUR * ROWS + first + i];
		t += i ? b->values[SLICE_GAP * ROWS + first + i] : 0;
		uint32_t pixel = pixel_of(scale, v + (double)t);
		if (dur >= scale->wide_ns)
			return 0;
		if (!n || runs[n - 1].pixel != pixel)
			runs[n++] = (slice_run){
				.pixel = pixel, .first = (uint16_t)i, .longest_at = (uint16_t)i, .longest_ns = dur
			};
		slice_run *r = &runs[n - 1];
		r->n++;
		r->busy_ns += dur;
		if (dur > r->longest_ns) {
			r->longest_ns = dur;
			r->longest_at = (uint16_t)i;
		}
		t += dur;
	}
	return n;
}

static uint64_t span_of(const block *b, size_t first, size_t n_slices)
{
	uint64_t span = 0;

	for (size_t i = 0; i < n_slices; i++)
		span += (uint64_t)(b->values[SLICE_DUR * ROWS + first + i] +
				   (i ? b->values[SLICE_GAP * ROWS + first + i] : 0));
	return span;
}

static bool can_do_it(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("avx2");
#else
	return false;
#endif
}

static void skip_without_avx2(void)
{
	if (!can_do_it()) {
		print_message("skipped: this machine has no AVX2\n");
		skip();
	}
}

static void compare_with_loop(bool by_16)
{
	static block b;
	static runs_block prepared;
	uint64_t seed = 1, n_found = 0, n_several = 0;

	for (int round = 0; round < 4000; round++) {
		unsigned gap_bits = (unsigned)image_between(&seed, 0, 23),
			 dur_bits = (unsigned)image_between(&seed, 0, 23);
		size_t n_rows = round % 3 ? ROWS : INDEX_GROUP * (size_t)image_between(&seed, 1, ROWS / INDEX_GROUP);
		fill(&b, n_rows, gap_bits, dur_bits, &seed);
		runs_prepare(&b.c, &prepared);
		assert_int_equal(prepared.n_rows, n_rows);
		assert_true(prepared.by_16 || !by_16);
		prepared.by_16 = by_16;
		size_t groups = n_rows / INDEX_GROUP, first = image_random(&seed) % groups;
		size_t n_groups = 1 + image_random(&seed) % (groups - first), n_slices = n_groups * INDEX_GROUP;
		first *= INDEX_GROUP;
		uint64_t span = span_of(&b, first, n_slices), before = image_random(&seed) % (span + 1);
		uint64_t behind = image_random(&seed) % (span + 1);
		pixel_scale scale = pixel_scale_of(before + span + behind + 1,
						   (uint32_t)image_between(&seed, 1, round % 2 ? 15 : 200));
		slice_run want[ROWS], got[ROWS];
		size_t n_want = simple_runs(&b, first, n_slices, (double)before, &scale, want);
		size_t n = runs_find(&prepared, first, n_groups, (double)before, span, &scale, got);
		if (n_groups > 1 && n == 0)
			continue; /* they are asked for one by one */
		assert_int_equal(n, n_want);
		n_several += n_groups > 1;
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(got[i].pixel, want[i].pixel);
			assert_int_equal(got[i].first, want[i].first);
			assert_int_equal(got[i].n, want[i].n);
			assert_int_equal(got[i].busy_ns, want[i].busy_ns);
			assert_int_equal(got[i].longest_ns, want[i].longest_ns);
			assert_int_equal(got[i].longest_at, want[i].longest_at);
		}
		n_found += n;
	}
	assert_true(n_found > 10000 && n_several > 200);
}

static void runs_are_those_of_a_loop(void **state)
{
	(void)state;
	skip_without_avx2();
	compare_with_loop(false);
}

static void by_sixteen_they_are_the_same(void **state)
{
	static block b;
	static runs_block prepared;
	uint64_t seed = 1;

	(void)state;
	fill(&b, ROWS, 5, 5, &seed);
	runs_prepare(&b.c, &prepared);
	if (!prepared.by_16) {
		print_message("skipped: this machine has no AVX-512\n");
		skip();
	}
	compare_with_loop(true);
}

static void what_it_cannot_do_it_leaves(void **state)
{
	static block b;
	static runs_block prepared;
	slice_run runs[INDEX_GROUP];
	pixel_scale scale = pixel_scale_of(1000000, 10);
	uint64_t seed = 1;

	(void)state;
	skip_without_avx2();
	fill(&b, ROWS, 5, 5, &seed);
	runs_prepare(&b.c, &prepared);
	uint64_t span = span_of(&b, 0, INDEX_GROUP);
	assert_true(runs_find(&prepared, 0, 1, 0, span, &scale, runs) > 0);
	assert_int_equal(runs_find(&prepared, 0, 1, 0, span + 1, &scale, runs), 0); /* it ends elsewhere */
	assert_int_equal(runs_find(&prepared, 232, 1, 0, span, &scale, runs), 0);   /* no whole group */
	b.values[SLICE_DUR * ROWS + 7] = 100000;				    /* wide */
	pack(&b, ROWS);
	runs_prepare(&b.c, &prepared);
	assert_int_equal(runs_find(&prepared, 0, 1, 0, span_of(&b, 0, INDEX_GROUP), &scale, runs), 0);
	b.values[SLICE_DUR * ROWS + 7] = 1 << 24;
	pack(&b, ROWS);
	runs_prepare(&b.c, &prepared);
	assert_int_equal(prepared.n_rows, 0);
	b.values[SLICE_DUR * ROWS + 7] = -1;
	pack(&b, ROWS);
	runs_prepare(&b.c, &prepared);
	assert_int_equal(prepared.n_rows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_those_of_a_loop),
		cmocka_unit_test(by_sixteen_they_are_the_same),
		cmocka_unit_test(what_it_cannot_do_it_leaves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
