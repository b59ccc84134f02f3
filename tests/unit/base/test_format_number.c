#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/format_number.h"

static void times_have_three_digits_and_a_unit(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 s" },
		{ 1, "1 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 12345, "12.3 us" },
		{ 999499, "999 us" },
		{ 999500, "1.00 ms" },
		{ 62100000, "62.1 ms" },
		{ 1940000000, "1.94 s" },
		{ 9996000000, "10.0 s" },
		{ 99960000000, "100 s" },
		{ 86400000000000, "86,400 s" },
		{ -1500, "-1.50 us" },
		{ INT64_MIN, "-9,223,372,037 s" },
	};
	char text[NUMBER_TEXT];
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(format_ns(text, cases[i].ns), cases[i].text);
}

static void bytes_have_binary_units(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{ 0, "0 B" },
		{ 1023, "1,023 B" },
		{ 1024, "1.00 KiB" },
		{ 327155712, "312 MiB" },
		{ 1048064, "1.00 MiB" },
		{ UINT64_MAX, "16,777,216 TiB" },
	};
	char text[NUMBER_TEXT];
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(format_bytes(text, cases[i].bytes), cases[i].text);
}

static void what_is_not_zero_never_prints_as_zero(void **state)
{
	number_unit second = number_unit_for(NUMBER_NS, 1e9);
	char text[NUMBER_TEXT];
	(void)state;

	assert_string_equal(format_in_unit(text, 4999999, second), "<0.01 s");
	assert_string_equal(format_in_unit(text, 5000001, second), "0.01 s");
	assert_string_equal(format_in_unit(text, -1, second), ">-0.01 s");
	assert_string_equal(format_in_unit(text, 0, second), "0 s");
	assert_string_equal(format_percent(text, 1e-9), "<0.01");
	assert_string_equal(format_number(text, 1e-9), "1.00e-09");
	assert_string_equal(format_number(text, 0.0123), "0.012");
	assert_string_equal(format_number(text, NAN), "-");
}

static void a_unit_fits_the_magnitude(void **state)
{
	(void)state;
	assert_string_equal(number_unit_for(NUMBER_NS, 5e9).name, "s");
	assert_string_equal(number_unit_for(NUMBER_NS, 5e5).name, "us");
	assert_string_equal(number_unit_for(NUMBER_NS, 0).name, "s");
	assert_string_equal(number_unit_for(NUMBER_BYTES, 0).name, "B");
}

static void the_locale_does_not_matter(void **state)
{
	char text[NUMBER_TEXT];
	(void)state;

	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
		print_message("skipped: no locale de_DE.UTF-8\n");
		skip();
	}
	assert_string_equal(format_exact(text, 1234.5), "1234.5");
	assert_string_equal(format_number(text, 1.5e-5), "1.50e-05");
	assert_string_equal(format_ns(text, 1500), "1.50 us");
	setlocale(LC_NUMERIC, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_three_digits_and_a_unit),
		cmocka_unit_test(bytes_have_binary_units),
		cmocka_unit_test(what_is_not_zero_never_prints_as_zero),
		cmocka_unit_test(a_unit_fits_the_magnitude),
		cmocka_unit_test(the_locale_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
