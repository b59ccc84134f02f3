/* Durations of one name: sums, extremes, spread, percentiles. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "analyze/math/stats.h"

static uint64_t random_state = 1;

static uint64_t random_bits(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return random_state >> 16;
}

/* From nanoseconds to days, as durations are. */
static int64_t random_duration(void)
{
	return (int64_t)(random_bits() >> random_bits() % 48);
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Nearest rank, by definition. */
static int64_t reference_percentile(const int64_t *sorted, size_t n, double q)
{
	size_t rank = (size_t)ceil(q * (double)n);

	return sorted[rank < 1 ? 0 : rank - 1];
}

static void add_all(stats *s, const int64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		stats_add(s, values[i]);
	stats_finish(s);
}

static const double quantiles[] = { 0.0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0 };
enum { N_QUANTILES = sizeof quantiles / sizeof quantiles[0] };

static void percentiles_are_exact_for_up_to_1024_calls(void **state)
{
	static const size_t sizes[] = { 1, 2, 3, 4, 7, 10, 99, 100, 101, 1000, 1023, 1024 };
	int64_t values[STATS_EXACT];

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		stats s = { 0 };
		for (size_t k = 0; k < sizes[i]; k++)
			values[k] = random_duration();
		add_all(&s, values, sizes[i]);
		qsort(values, sizes[i], sizeof values[0], compare);
		for (size_t k = 0; k < N_QUANTILES; k++)
			assert_int_equal(stats_percentile(&s, quantiles[k]),
					 reference_percentile(values, sizes[i], quantiles[k]));
		stats_done(&s);
	}
}

/* 128 steps per doubling, the middle of one: at most 1/256 off. */
static void percentiles_of_more_calls_are_within_4_in_a_thousand(void **state)
{
	static const size_t sizes[] = { 1025, 1026, 5000, 100000 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		int64_t *values = malloc(sizes[i] * sizeof *values);
		stats s = { 0 };
		for (size_t k = 0; k < sizes[i]; k++)
			values[k] = random_duration();
		add_all(&s, values, sizes[i]);
		qsort(values, sizes[i], sizeof values[0], compare);
		for (size_t k = 0; k < N_QUANTILES; k++) {
			double exact = (double)reference_percentile(values, sizes[i], quantiles[k]);
			double got = (double)stats_percentile(&s, quantiles[k]);
			assert_true(fabs(got - exact) <= exact * 0.004);
		}
		stats_done(&s);
		free(values);
	}
}

static void small_numbers_stay_exact_however_many_there_are(void **state)
{
	stats s = { 0 };

	(void)state;
	for (int64_t i = 0; i < 10000; i++)
		stats_add(&s, i % 100);
	assert_int_equal(stats_percentile(&s, 0.5), 49);
	assert_int_equal(stats_percentile(&s, 0.95), 94);
	assert_int_equal(stats_percentile(&s, 0.01), 0);
	stats_done(&s);
}

static void percentiles_never_leave_the_extremes(void **state)
{
	static const int64_t values[] = { 1, 127, 128, 129, 1000003, INT64_MAX / 4 };

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		stats s = { 0 };
		for (int k = 0; k < 2000; k++)
			stats_add(&s, values[i]);
		for (size_t k = 0; k < N_QUANTILES; k++)
			assert_int_equal(stats_percentile(&s, quantiles[k]), values[i]);
		stats_done(&s);
	}
}

/* Two passes in long double: what the one pass in whole numbers must give as well. */
static int64_t reference_deviation(const int64_t *values, size_t n)
{
	long double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += (long double)values[i] / (long double)n;
	for (size_t i = 0; i < n; i++)
		squares += ((long double)values[i] - mean) * ((long double)values[i] - mean);
	return (int64_t)llroundl(sqrtl(squares / (long double)n));
}

static void the_deviation_is_exact(void **state)
{
	static const struct {
		int64_t values[8];
		size_t n;
		int64_t average, deviation;
	} cases[] = {
		{ { 5 }, 1, 5, 0 },
		{ { 2, 4, 4, 4, 5, 5, 7, 9 }, 8, 5, 2 },
		{ { 10, 10, 10 }, 3, 10, 0 },
		/* far from 0 and close together: squares cancel */
		{ { 1000000000000001, 1000000000000003 }, 2, 1000000000000002, 1 },
		{ { 9000000000000000, 9000000000000000, 9000000000000006 }, 3, 9000000000000002, 3 },
		{ { 1, 2 }, 2, 2, 1 }, /* 1.5 and 0.5, rounded up */
		{ { -3, 3 }, 2, 0, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		stats s = { 0 };
		add_all(&s, cases[i].values, cases[i].n);
		assert_int_equal(stats_average(&s), cases[i].average);
		assert_int_equal(stats_deviation(&s), cases[i].deviation);
		stats_done(&s);
	}
	for (int round = 0; round < 200; round++) {
		int64_t values[500];
		size_t n = 1 + random_bits() % 500;
		stats s = { 0 };
		for (size_t i = 0; i < n; i++)
			values[i] = random_duration() / 1000;
		add_all(&s, values, n);
		int64_t off = stats_deviation(&s) - reference_deviation(values, n);
		assert_true(off >= -1 && off <= 1); /* the last digit of a long double */
		stats_done(&s);
	}
}

static void sums_and_extremes_are_kept(void **state)
{
	static const int64_t values[] = { 30, -10, 25, 0 };
	stats s = { 0 };

	(void)state;
	add_all(&s, values, 4);
	assert_int_equal(s.calls, 4);
	assert_int_equal(s.sum_ns, 45);
	assert_int_equal(s.min_ns, -10);
	assert_int_equal(s.max_ns, 30);
	assert_int_equal(stats_average(&s), 11);
	stats_done(&s);
}

static void nothing_has_no_percentiles(void **state)
{
	stats s = { 0 };

	(void)state;
	assert_int_equal(stats_average(&s), 0);
	assert_int_equal(stats_deviation(&s), 0);
	assert_int_equal(stats_percentile(&s, 0.5), -1);
	stats_done(&s);
}

/* A trace may have millions of names that are called once or twice. */
static void one_call_or_two_take_no_memory(void **state)
{
	static const int64_t values[] = { 7, 3, 5 };

	(void)state;
	for (size_t n = 1; n <= 3; n++) {
		stats s = { 0 };
		add_all(&s, values, n);
		assert_int_equal(s.spread != NULL, n > 2);
		assert_int_equal(stats_percentile(&s, 0.5), n == 1 ? 7 : n == 2 ? 3 : 5);
		assert_int_equal(stats_percentile(&s, 1), 7);
		stats_done(&s);
	}
}

static void absurd_durations_do_not_overflow(void **state)
{
	static const int64_t extremes[] = { INT64_MAX, INT64_MIN, INT64_MAX / 4, -INT64_MAX / 4 };

	(void)state;
	for (size_t i = 0; i < sizeof extremes / sizeof extremes[0]; i++) {
		stats s = { 0 };
		for (int k = 0; k < 3000; k++)
			stats_add(&s, extremes[i]);
		assert_int_equal(s.min_ns, extremes[i]);
		assert_int_equal(s.sum_ns, extremes[i] > 0 ? INT64_MAX : INT64_MIN);
		stats_average(&s);
		stats_deviation(&s);
		stats_percentile(&s, 0.5);
		stats_done(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_exact_for_up_to_1024_calls),
		cmocka_unit_test(percentiles_of_more_calls_are_within_4_in_a_thousand),
		cmocka_unit_test(small_numbers_stay_exact_however_many_there_are),
		cmocka_unit_test(percentiles_never_leave_the_extremes),
		cmocka_unit_test(the_deviation_is_exact),
		cmocka_unit_test(sums_and_extremes_are_kept),
		cmocka_unit_test(nothing_has_no_percentiles),
		cmocka_unit_test(one_call_or_two_take_no_memory),
		cmocka_unit_test(absurd_durations_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
