/* Numbers are sorted and described right, whole ones that lie close together and any others. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "analyze/math/describe.h"

enum { MANY = 5000 };

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* n numbers: random bits below `range`, plus the first one, times the unit. */
static void check_sort(size_t n, uint64_t range, double first, double unit)
{
	double values[MANY], sorted[MANY];
	uint64_t seed = n + range;

	for (size_t i = 0; i < n; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		values[i] = sorted[i] = (first + (double)(range ? (seed >> 20) % range : 0)) * unit;
	}
	qsort(sorted, n, sizeof *sorted, by_value);
	assert_true(sort_numbers(values, n));
	assert_memory_equal(values, sorted, n * sizeof *values);
}

static void numbers_are_sorted_whatever_their_range(void **state)
{
	static const uint64_t ranges[] = { 0,
					   1,
					   2,
					   255,
					   256,
					   257,
					   65536,
					   65537,
					   1 << 24,
					   (1 << 24) + 1,
					   UINT64_C(1) << 32,
					   UINT64_C(1) << 33,
					   UINT64_C(1) << 43 };

	(void)state;
	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		for (size_t n = 0; n <= MANY; n = n ? n * 17 : 1) {
			check_sort(n, ranges[i], 0, 1);
			check_sort(n, ranges[i], -1000, 1);
			check_sort(n, ranges[i], 0x1p52, 1);
			check_sort(n, ranges[i], 3, 0.001);
		}
}

static void a_description_is_that_of_paper(void **state)
{
	double values[] = { 4, 1, 3, 2 };
	description d;

	(void)state;
	assert_true(describe(values, 4, &d));
	assert_true(d.n == 4 && d.sum == 10 && d.mean == 2.5 && d.min == 1 && d.max == 4);
	assert_true(d.q25 == 1.75 && d.q50 == 2.5 && d.q75 == 3.25);
	assert_true(fabs(d.std - sqrt(5.0 / 3)) < 1e-15);
	assert_true(describe(values, 0, &d) && d.n == 0 && isnan(d.std));
}

/* To the last bit. */
static void counts_are_described_as_their_numbers_are(void **state)
{
	static const uint64_t counts[] = { 3, 0, 7, 1, 0, 0, 250, 12 };
	enum { N = sizeof counts / sizeof *counts };
	double values[300];

	(void)state;
	for (size_t n = 0; n <= N; n++) {
		description wanted, got;
		size_t n_values = 0;
		if (n && !counts[n - 1])
			continue;
		for (size_t i = 0; i < n; i++)
			for (uint64_t k = 0; k < counts[i]; k++)
				values[n_values++] = (double)i - 2;
		assert_true(describe(values, n_values, &wanted));
		describe_counts(counts, n, -2, &got);
		assert_int_equal(wanted.n, got.n);
		assert_true(wanted.sum == got.sum && wanted.mean == got.mean && wanted.min == got.min &&
			    wanted.max == got.max && wanted.q25 == got.q25 && wanted.q50 == got.q50 &&
			    wanted.q75 == got.q75);
		assert_true(wanted.std == got.std || (isnan(wanted.std) && isnan(got.std)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_sorted_whatever_their_range),
		cmocka_unit_test(a_description_is_that_of_paper),
		cmocka_unit_test(counts_are_described_as_their_numbers_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
