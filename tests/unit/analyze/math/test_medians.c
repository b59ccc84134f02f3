/* Medians, quantiles, and intervals that hold as often as they say. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/math/medians.h"
#include "analyze/tables/warmup.h"

static void quantiles_are_those_of_tables(void **state)
{
	static const struct {
		double p, freedom, q;
	} cases[] = { { 0.975, 1, 12.7062 }, { 0.975, 2, 4.3027 },  { 0.975, 5, 2.5706 },  { 0.975, 30, 2.0423 },
		      { 0.995, 10, 3.1693 }, { 0.9995, 4, 8.6103 }, { 0.025, 5, -2.5706 }, { 0.975, 1000, 1.9600 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_float_equal(student_quantile(cases[i].p, cases[i].freedom), cases[i].q, 2e-4);
	assert_float_equal(normal_quantile(0.5), 0, 1e-9);
	assert_float_equal(normal_quantile(0.999), 3.0902, 1e-4);
	assert_float_equal(level_for(10), 0.995, 1e-12);
}

static void medians_and_their_distances_are_exact(void **state)
{
	static const struct {
		int64_t samples[8];
		size_t n;
		double median, mad;
	} cases[] = {
		{ { 5 }, 1, 5, 0 },
		{ { 1, 3 }, 2, 2, 1 },
		{ { 9, 1, 5 }, 3, 5, 4 },
		{ { 1, 2, 4, 8 }, 4, 3, 1.5 },
		{ { 7, 7, 7, 7, 100 }, 5, 7, 0 },
		{ { 10, 20, 30, 40, 50, 60, 70, 1000 }, 8, 45, 20 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int64_t copy[8];
		memcpy(copy, cases[i].samples, sizeof copy);
		summary s = summary_of(copy, cases[i].n);
		assert_int_equal(s.n, cases[i].n);
		assert_float_equal(s.median, cases[i].median, 1e-12);
		assert_float_equal(s.mad, cases[i].mad, 1e-12);
	}
	assert_int_equal(summary_of(NULL, 0).n, 0);
}

/* 4 against 4: the outermost of 16 pairs may be left out (1 of 70 orders is 1.4 %), a second may not. */
static void few_samples_get_the_exact_interval(void **state)
{
	int64_t a[] = { 100, 110, 120, 130 }, b[] = { 200, 220, 240, 260 };
	summary x = summary_of(a, 4), y = summary_of(b, 4);
	difference d = difference_of(&x, &y, 0.95);

	(void)state;
	assert_float_equal(d.change, 1.0, 1e-12);
	assert_float_equal(d.low, 200.0 / 130 - 1, 1e-12);
	assert_float_equal(d.high, 260.0 / 100 - 1, 1e-12);
	assert_true(d.is_certain);
	/* For a thousand names four samples are too few; the other interval is a wide one. */
	difference many = difference_of(&x, &y, level_for(1000));
	assert_true(many.high - many.low > d.high - d.low);
}

/* One outlier among five must not hide that the others are apart, and two that overlap must not be called certain. */
static void an_outlier_does_not_decide(void **state)
{
	int64_t a[] = { 100, 101, 102, 103, 104, 105 }, b[] = { 110, 111, 112, 113, 114, 900 };
	int64_t c[] = { 100, 101, 102, 103, 104, 90 };
	summary x = summary_of(a, 6), y = summary_of(b, 6), z = summary_of(c, 6);

	(void)state;
	assert_true(difference_of(&x, &y, 0.95).is_certain);
	assert_false(difference_of(&x, &z, 0.95).is_certain);
}

static void what_is_not_known_is_not_certain(void **state)
{
	int64_t one[] = { 100 }, many[] = { 100, 101, 102, 103, 104 }, none[] = { 0, 0, 0 };
	summary a = summary_of(one, 1), b = summary_of(many, 5), zero = summary_of(none, 3);
	difference d = difference_of(&a, &b, 0.95);

	(void)state;
	assert_float_equal(d.change, 0.02, 1e-12);
	assert_true(isnan(d.low) && isnan(d.high) && !d.is_certain);
	d = difference_of(&zero, &b, 0.9); /* from nothing to something is no share, but it is certain */
	assert_true(isnan(d.change) && d.is_certain && d.low > 0);
	assert_true(isnan(difference_of(&a, &zero, 0.95).low));
	assert_false(difference_of(&b, &b, 0.95).is_certain);
}

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* About normal with a deviation of 2 %, and one in twenty takes half as long again. */
static int64_t noisy(uint64_t *state, int64_t ns)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += (double)(next(state) % 1000000) / 1e6;
	double factor = 1 + 0.02 * (sum - 6);
	return (int64_t)((double)ns * (next(state) % 20 ? factor : 1.5 * factor));
}

enum { TRIES = 400 };

static size_t count_certain(size_t n, int64_t b_ns, double truth, size_t *ret_holds)
{
	int64_t *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
	uint64_t state = 7 + n;
	size_t n_certain = 0;

	*ret_holds = 0;
	for (int i = 0; i < TRIES; i++) {
		for (size_t k = 0; k < n; k++) {
			a[k] = noisy(&state, 1000000);
			b[k] = noisy(&state, b_ns);
		}
		summary x = summary_in_time(a, n), y = summary_in_time(b, n);
		difference d = difference_of(&x, &y, 0.95);
		n_certain += d.is_certain;
		*ret_holds += d.low <= truth && truth <= d.high;
	}
	free(a);
	free(b);
	return n_certain;
}

/* Of 400 pairs of equal runs 20 may be called different; three deviations more than that would be 33. */
static void intervals_hold_as_often_as_they_say(void **state)
{
	static const size_t sizes[] = { 5, 10, 16, 17, 30, 190 };
	size_t holds;

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		assert_in_range(count_certain(sizes[i], 1000000, 0, &holds), 0, 33);
		assert_in_range(holds, TRIES - 33, TRIES);
		count_certain(sizes[i], 1100000, 0.1, &holds);
		assert_in_range(holds, TRIES - 33, TRIES);
	}
}

static void a_tenth_is_seen(void **state)
{
	size_t holds;

	(void)state;
	assert_in_range(count_certain(10, 1100000, 0.1, &holds), TRIES * 9 / 10, TRIES);
	assert_int_equal(count_certain(30, 1100000, 0.1, &holds), TRIES);
	assert_in_range(count_certain(190, 1010000, 0.01, &holds), TRIES * 8 / 10, TRIES);
}

/* Steps that drift: neighbours are alike, so that a hundred of them say as much as a few. */
static void what_drifts_is_trusted_less(void **state)
{
	int64_t drift[100], mixed[100];

	(void)state;
	for (size_t i = 0; i < 100; i++) {
		drift[i] = 1000 + 10 * (int64_t)i;
		mixed[i] = 1000 + 10 * (int64_t)(i * 37 % 100);
	}
	summary a = summary_in_time(drift, 100), b = summary_in_time(mixed, 100);
	assert_float_equal(a.median, b.median, 1e-12);
	assert_true(a.error > 2 * b.error);
}

/* Runs of 100, 110 and 120 spread by 10: the next may be anywhere near, however exact each of them is. */
static void joined_runs_know_what_varies_between_them(void **state)
{
	summary runs[3] = { { .n = 50, .median = 100, .freedom = 49 },
			    { .n = 50, .median = 110, .freedom = 49 },
			    { .n = 50, .median = 120, .freedom = 49 } };
	summary two = summary_joined(runs, 2), three = summary_joined(runs, 3);
	summary now = { .n = 50, .median = 125, .freedom = 49 };

	(void)state;
	assert_float_equal(two.median, 105, 1e-12);
	assert_float_equal(two.error, 0, 1e-12);
	assert_float_equal(three.median, 110, 1e-12);
	assert_float_equal(three.error, 10 * sqrt(4.0 / 3), 1e-9);
	assert_float_equal(three.freedom, 2, 1e-12);
	assert_int_equal(three.n, 150);
	assert_true(difference_of(&two, &now, 0.95).is_certain);
	assert_false(difference_of(&three, &now, 0.95).is_certain);
}

static void the_warm_up_ends_where_steps_are_like_the_later_ones(void **state)
{
	static const struct {
		const char *rule;
		int64_t steps[10];
		size_t n, left_out;
	} cases[] = {
		{ NULL, { 900, 400, 100, 101, 102, 100, 99, 101, 100, 100 }, 10, 2 },
		{ "auto", { 100, 900, 100, 101, 102, 100, 99, 101, 100, 100 }, 10, 0 },
		{ "auto", { 109, 100, 100, 101, 102, 100, 99, 101, 100, 100 }, 10, 0 },
		{ NULL, { 900, 800, 700, 600, 100, 100 }, 6, 3 }, /* half of them at most */
		{ NULL, { 900, 100, 100 }, 3, 0 },
		{ "none", { 900, 400, 100, 101, 102, 100 }, 6, 0 },
		{ "3", { 1, 1, 1, 1, 1, 1 }, 6, 3 },
		{ "99", { 1, 1, 1, 1, 1, 1 }, 6, 5 },
		{ "3", { 0 }, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(warmup_steps(cases[i].rule, cases[i].steps, cases[i].n), cases[i].left_out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_those_of_tables),
		cmocka_unit_test(medians_and_their_distances_are_exact),
		cmocka_unit_test(few_samples_get_the_exact_interval),
		cmocka_unit_test(an_outlier_does_not_decide),
		cmocka_unit_test(what_is_not_known_is_not_certain),
		cmocka_unit_test(intervals_hold_as_often_as_they_say),
		cmocka_unit_test(a_tenth_is_seen),
		cmocka_unit_test(what_drifts_is_trusted_less),
		cmocka_unit_test(joined_runs_know_what_varies_between_them),
		cmocka_unit_test(the_warm_up_ends_where_steps_are_like_the_later_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
