/* The slope of a series with its interval, worked out on paper. */
#include "unit/analyze/bottlenecks/rule_kit.h"

#include <math.h>
#include "analyze/tables/memory_growth.h"

static void the_slope_is_the_median_of_all_pairs(void **state)
{
	static const struct {
		int64_t values[10];
		size_t n;
		double slope, low, high; /* low > high: there is no interval */
	} cases[] = {
		{ { 0 }, 0, NAN, 1, 0 },
		{ { 5 }, 1, NAN, 1, 0 },
		{ { 5, 8 }, 2, 3, 1, 0 },
		{ { 5, 8, 8 }, 3, 1.5, 1, 0 },					/* 3, 1.5, 0 */
		{ { 10, 20, 30, 40 }, 4, 10, 10, 10 },				/* the fewest that have an interval */
		{ { 40, 30, 20, 10 }, 4, -10, -10, -10 },			/* it may shrink */
		{ { 7, 7, 7, 7, 7 }, 5, 0, 0, 0 },				/* nothing happens */
		{ { 0, 10, 20, 900, 40, 50, 60, 70, 80, 90 }, 10, 10, 10, 10 }, /* one outlier changes nothing */
		{ { INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX }, 4, 0x1p64 / 3 / 2, -0x1p64, 0x1p64 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double slope, low, high;
		assert_true(robust_slope(cases[i].values, cases[i].n, &slope, &low, &high));
		if (isnan(cases[i].slope) ? !isnan(slope)
					  : !(fabs(slope - cases[i].slope) <= 1e-9 * fabs(cases[i].slope)))
			fail_msg("case %zu: slope %g, not %g", i, slope, cases[i].slope);
		if (cases[i].low > cases[i].high ? !isnan(low) || !isnan(high)
						 : low != cases[i].low || high != cases[i].high)
			fail_msg("case %zu: %g to %g", i, low, high);
	}
}

/* Ten times as many values as are looked at, with noise that has no direction. */
static void many_steps_take_a_few_of_them(void **state)
{
	enum { N = 10 * GROWTH_POINTS };
	static int64_t values[N];
	double slope, low, high;

	(void)state;
	for (int64_t i = 0; i < N; i++)
		values[i] = 1000 * i + (i * 7919 % 101) * 300;
	assert_true(robust_slope(values, N, &slope, &low, &high));
	assert_true(low <= slope && slope <= high);
	assert_true(low > 990 && low <= 1000.0 && high >= 1000.0 && high < 1010);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_slope_is_the_median_of_all_pairs),
		cmocka_unit_test(many_steps_take_a_few_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
