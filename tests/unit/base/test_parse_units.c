/* What people write on a command line. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/parse_units.h"

static void times_have_units_and_are_exact(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{ "1.5s", 1500000000 },
		{ "20ms", 20000000 },
		{ "20 ms", 20000000 },
		{ "3us", 3000 },
		{ "3\u00b5s", 3000 },
		{ "250ns", 250 },
		{ "2min", 120000000000 },
		{ "1.5h", 5400000000000 },
		{ "0", 0 },
		{ "0s", 0 },
		{ "-1ms", -1000000 },
		{ "0.0004us", 0 },
		{ "4.123456789s", 4123456789 },
	};
	static const char *const bad[] = { "",
					   "5",
					   "s",
					   "1.5",
					   "1x",
					   "1 s ",
					   "ms1",
					   "1e9999s",
					   "0x10s",
					   "99999h99",
					   " 1s",
					   "1,5s",
					   "99999999999s",
					   "nan s",
					   "9999999999999999999h" };
	int64_t ns;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_true(parse_time(good[i].text, &ns));
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (parse_time(bad[i], &ns))
			fail_msg("\"%s\" is no time", bad[i]);
}

static void sizes_are_powers_of_two(void **state)
{
	(void)state;
	uint64_t bytes;

	assert_true(parse_bytes("64M", &bytes) && bytes == 64 << 20);
	assert_true(parse_bytes("64MiB", &bytes) && bytes == 64 << 20);
	assert_true(parse_bytes("2kB", &bytes) && bytes == 2048);
	assert_true(parse_bytes("17", &bytes) && bytes == 17);
	assert_false(parse_bytes("64X", &bytes));
	assert_false(parse_bytes("64Mx", &bytes));
	assert_false(parse_bytes("-1", &bytes));
	assert_false(parse_bytes("99999999999999999999", &bytes));
	assert_false(parse_bytes("17200000000G", &bytes));
}

static void shares_need_their_sign(void **state)
{
	(void)state;
	double value;

	assert_true(parse_share("5%", &value));
	assert_float_equal(value, 0.05, 1e-15);
	assert_true(parse_share("12.5 %", &value));
	assert_float_equal(value, 0.125, 1e-15);
	assert_false(parse_share("5", &value));
	assert_false(parse_share("%", &value));
	assert_false(parse_share("5%%", &value));
	assert_true(parse_real("1e3", &value));
	assert_float_equal(value, 1000, 1e-12);
	assert_false(parse_real("inf", &value));
	assert_false(parse_real("1e999", &value));
	assert_false(parse_real("1x", &value));
	assert_false(parse_real("", &value));
}

static void truth_has_many_words(void **state)
{
	(void)state;
	bool truth;

	assert_true(parse_truth("yes", &truth) && truth);
	assert_true(parse_truth("off", &truth) && !truth);
	assert_false(parse_truth("maybe", &truth));
}

static void lists_of_numbers_have_ranges(void **state)
{
	(void)state;
	static const char *const bad[] = { "",	 ",",  "1,",   ",1",   "a",	      "4-2",
					   "1-", "-1", "1--2", "1 ,2", "99999999999", "1-2-3" };

	assert_true(number_list_is_valid("0"));
	assert_true(number_list_is_valid("0,2-4,2147483647"));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (number_list_is_valid(bad[i]))
			fail_msg("\"%s\" is no list", bad[i]);
	for (int i = 0; i < 7; i++)
		assert_int_equal(number_list_has("0,2-4,6", i), i == 0 || (i >= 2 && i <= 4) || i == 6);
	assert_false(number_list_has("0", -1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_units_and_are_exact), cmocka_unit_test(sizes_are_powers_of_two),
		cmocka_unit_test(shares_need_their_sign),	  cmocka_unit_test(truth_has_many_words),
		cmocka_unit_test(lists_of_numbers_have_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
