/* Text on its way to a file: numbers, quotes, growth, and what leaves when. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "export/text_out.h"

static void expect(text_out *o, const char *wanted)
{
	assert_int_equal(o->n, strlen(wanted));
	assert_memory_equal(o->bytes, wanted, o->n);
	o->n = 0;
}

static void numbers_are_written_to_both_ends_of_their_range(void **state)
{
	static const struct {
		int64_t value;
		const char *number, *microseconds;
	} cases[] = {
		{ 0, "0", "0.000" },
		{ 1, "1", "0.001" },
		{ -1, "-1", "-0.001" },
		{ 999, "999", "0.999" },
		{ 1000, "1000", "1.000" },
		{ -12345, "-12345", "-12.345" },
		{ INT64_MAX, "9223372036854775807", "9223372036854775.807" },
		{ INT64_MIN, "-9223372036854775808", "-9223372036854775.808" },
	};
	text_out o = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		text_i64(&o, cases[i].value);
		expect(&o, cases[i].number);
		text_us(&o, cases[i].value);
		expect(&o, cases[i].microseconds);
	}
	text_u64(&o, UINT64_MAX);
	expect(&o, "18446744073709551615");
	text_done(&o);
}

static void strings_stay_inside_their_quotes(void **state)
{
	text_out o = { 0 };

	(void)state;
	text_quoted(&o, "a\"b\\c\n\x01", 7);
	expect(&o, "\"a\\\"b\\\\c\\n\\u0001\"");
	text_quoted(&o, "", 0);
	expect(&o, "\"\"");
	text_quoted(&o, "\xff", 1); /* no UTF-8 */
	expect(&o, "\"\xef\xbf\xbd\"");
	text_done(&o);
}

static void what_is_json_stays_and_what_is_none_becomes_a_string(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "[1, {\"a\": null}]", "[1, {\"a\": null}]" },
		{ "NaN", "\"NaN\"" },
		{ "{\"a\"", "\"{\\\"a\\\"\"" },
		{ "", "\"\"" },
	};
	text_out o = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		text_json(&o, cases[i].in, strlen(cases[i].in));
		expect(&o, cases[i].out);
	}
	text_done(&o);
}

static void large_pieces_leave_and_memory_stays_small(void **state)
{
	char *text;
	size_t len, n_written = 0;
	FILE *out = open_memstream(&text, &len);
	text_out o = { .out = out };

	(void)state;
	for (int i = 0; i < 100000; i++) {
		text_put(&o, "0123456789");
		n_written += 10;
		assert_true(o.capacity < 1 << 18);
	}
	text_flush(&o);
	assert_int_equal(o.n, 0);
	fclose(out);
	assert_int_equal(len, n_written);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(text[i], '0' + (int)(i % 10));
	text_done(&o);
	free(text);
}

static void without_a_file_everything_stays(void **state)
{
	text_out o = { 0 };

	(void)state;
	for (int i = 0; i < 20000; i++)
		text_put(&o, "0123456789");
	text_flush(&o);
	assert_int_equal(o.n, 200000);
	assert_memory_equal(o.bytes + 199990, "0123456789", 10);
	text_done(&o);
	assert_null(o.bytes);
}

static void a_size_that_overflows_fails_and_keeps_what_is_there(void **state)
{
	text_out o = { 0 };

	(void)state;
	text_put(&o, "kept");
	assert_null(text_room(&o, SIZE_MAX - 2));
	assert_true(o.failed);
	expect(&o, "kept");
	text_done(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_written_to_both_ends_of_their_range),
		cmocka_unit_test(strings_stay_inside_their_quotes),
		cmocka_unit_test(what_is_json_stays_and_what_is_none_becomes_a_string),
		cmocka_unit_test(large_pieces_leave_and_memory_stays_small),
		cmocka_unit_test(without_a_file_everything_stays),
		cmocka_unit_test(a_size_that_overflows_fails_and_keeps_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
