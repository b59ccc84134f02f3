/* Decimal text to whole numbers: exact, rounded to the nearest, bounded, or refused. */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/decimal.h"

typedef struct decimal_case {
	const char *text;
	int scale;
	decimal_status status;
	int64_t value;
} decimal_case;

static void check(const decimal_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t value = 77;
		decimal_status status = decimal_scaled(cases[i].text, strlen(cases[i].text), cases[i].scale, &value);
		if (status != cases[i].status || (status != DECIMAL_BAD && value != cases[i].value))
			fprintf(stderr, "%s * 10^%d: %d, %" PRId64 "\n", cases[i].text, cases[i].scale, (int)status,
				value);
		assert_int_equal(status, cases[i].status);
		if (status != DECIMAL_BAD)
			assert_int_equal(value, cases[i].value);
	}
}
#define CHECK(cases) check(cases, sizeof(cases) / sizeof(cases)[0])

static void whole_numbers_are_exact(void **state)
{
	static const decimal_case cases[] = {
		{ "0", 0, DECIMAL_EXACT, 0 },
		{ "-0", 3, DECIMAL_EXACT, 0 },
		{ "7", 3, DECIMAL_EXACT, 7000 },
		{ "-12", 0, DECIMAL_EXACT, -12 },
		{ "9223372036854775807", 0, DECIMAL_EXACT, INT64_MAX },
		{ "-9223372036854775807", 0, DECIMAL_EXACT, -INT64_MAX },
		{ "9223372036854775", 3, DECIMAL_EXACT, INT64_C(9223372036854775000) },
		{ "000000000000000000000000000000005", 0, DECIMAL_EXACT, 5 },
		{ "1e3", 0, DECIMAL_EXACT, 1000 },
		{ "12E+2", 1, DECIMAL_EXACT, 12000 },
		{ "12000e-3", 0, DECIMAL_EXACT, 12 },
		{ "1e18", 0, DECIMAL_EXACT, INT64_C(1000000000000000000) },
		{ "0e999999999999", 3, DECIMAL_EXACT, 0 },
	};

	(void)state;
	CHECK(cases);
}

static void fractions_are_exact_as_far_as_they_go(void **state)
{
	static const decimal_case cases[] = {
		{ "1.5", 3, DECIMAL_EXACT, 1500 },
		{ "0.001", 3, DECIMAL_EXACT, 1 },
		{ "1699999999999999.123", 3, DECIMAL_EXACT, INT64_C(1699999999999999123) },
		{ "9223372036854775.807", 3, DECIMAL_EXACT, INT64_MAX },
		{ "5.12300000000000000000000000", 3, DECIMAL_EXACT, 5123 },
		{ "1.5e-1", 3, DECIMAL_EXACT, 150 },
		{ "1699999999999999.1236", 3, DECIMAL_ROUNDED, INT64_C(1699999999999999124) },
		{ "1234567890123456789.6", 0, DECIMAL_ROUNDED, INT64_C(1234567890123456790) },
		{ "0.0004", 3, DECIMAL_ROUNDED, 0 },
		{ "0.0005", 3, DECIMAL_ROUNDED, 1 },
		{ "-0.0005", 3, DECIMAL_ROUNDED, -1 },
		{ "1.00049999999999999999999", 3, DECIMAL_ROUNDED, 1000 },
		{ "1.0005000000000000000000000001", 3, DECIMAL_ROUNDED, 1001 },
		{ "0.00000000000000000000000000000000001", 3, DECIMAL_ROUNDED, 0 },
		{ "1e-30", 3, DECIMAL_ROUNDED, 0 },
		{ "1e-999999999999", 3, DECIMAL_ROUNDED, 0 },
		{ "15", -1, DECIMAL_ROUNDED, 2 },
		{ "20", -1, DECIMAL_EXACT, 2 },
	};

	(void)state;
	CHECK(cases);
}

static void what_is_too_large_is_bounded(void **state)
{
	static const decimal_case cases[] = {
		{ "9223372036854775808", 0, DECIMAL_RANGE, INT64_MAX },
		{ "-9223372036854775809", 0, DECIMAL_RANGE, INT64_MIN },
		{ "18446744073709551616", 0, DECIMAL_RANGE, INT64_MAX },
		{ "9223372036854775.808", 3, DECIMAL_RANGE, INT64_MAX },
		{ "9223372036854775807.5", 0, DECIMAL_RANGE, INT64_MAX },
		{ "99999999999999999999999999999", 0, DECIMAL_RANGE, INT64_MAX },
		{ "1e19", 0, DECIMAL_RANGE, INT64_MAX },
		{ "-1e400", 0, DECIMAL_RANGE, INT64_MIN },
		{ "1e99999999999999999999", 3, DECIMAL_RANGE, INT64_MAX },
	};

	(void)state;
	CHECK(cases);
}

static void what_is_no_number_is_refused(void **state)
{
	static const char *const texts[] = { "",    "-",	"+1",  ".5", "1.",    "1.e5",  "e5",   "1e",
					     "1e+", "1e5x",	"1 ",  " 1", "0x10",  "1,5",   "NaN",  "nan",
					     "inf", "Infinity", "--1", "1-", "1.2.3", "1e5.5", "null", "\"1\"" };

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		check(&(decimal_case){ texts[i], 3, DECIMAL_BAD, 0 }, 1);
}

/* printf knows the same numbers. */
static void random_times_come_back(void **state)
{
	uint64_t seed = 3;
	char text[64];

	(void)state;
	for (int i = 0; i < 100000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		int64_t want = (int64_t)(seed >> (1 + seed % 50)) * (seed & 4 ? 1 : -1), value;
		uint64_t size = want < 0 ? -(uint64_t)want : (uint64_t)want;
		int len = snprintf(text, sizeof text, "%s%" PRIu64 ".%03u", want < 0 ? "-" : "", size / 1000,
				   (unsigned)(size % 1000));
		assert_int_equal(decimal_scaled(text, (size_t)len, 3, &value), DECIMAL_EXACT);
		assert_int_equal(value, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_are_exact),	cmocka_unit_test(fractions_are_exact_as_far_as_they_go),
		cmocka_unit_test(what_is_too_large_is_bounded), cmocka_unit_test(what_is_no_number_is_refused),
		cmocka_unit_test(random_times_come_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
