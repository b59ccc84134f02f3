#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/json_write.h"

typedef struct written {
	json_writer w;
	char *text;
	size_t len;
} written;

static void begin(written *t)
{
	*t = (written){ 0 };
	t->w = json_to(open_memstream(&t->text, &t->len));
	assert_non_null(t->w.out);
}

static void assert_written(written *t, const char *expected)
{
	assert_true(json_ok(&t->w));
	fclose(t->w.out);
	assert_string_equal(t->text, expected);
	free(t->text);
}

static void commas_come_by_themselves(void **state)
{
	written t;
	(void)state;

	begin(&t);
	json_begin_object(&t.w);
	json_key(&t.w, "a"), json_i64(&t.w, -1);
	json_key(&t.w, "b"), json_begin_array(&t.w);
	json_bool(&t.w, true), json_null(&t.w), json_begin_array(&t.w), json_end_array(&t.w);
	json_begin_object(&t.w), json_end_object(&t.w), json_raw(&t.w, "[1]", 3);
	json_end_array(&t.w);
	json_key(&t.w, "c"), json_begin_object(&t.w), json_key(&t.w, "d"), json_u64(&t.w, 2), json_end_object(&t.w);
	json_end_object(&t.w);
	assert_written(&t, "{\"a\": -1, \"b\": [true, null, [], {}, [1]], \"c\": {\"d\": 2}}");
}

static void text_in_a_page_ends_nothing_and_has_an_end(void **state)
{
	written t;
	(void)state;

	begin(&t);
	t.w.in_page = true;
	t.w.max_text = 8;
	json_begin_array(&t.w);
	json_string(&t.w, "</script");
	json_string(&t.w, "0123456789");
	json_string(&t.w, "012\u00e9456\u00e989"); /* not into the middle of a character */
	json_end_array(&t.w);
	size_t n_bytes = t.w.n_bytes;
	assert_written(&t, "[\"\\u003c/script\", \"0123\u20266789\", \"012\u2026\u00e989\"]");
	assert_int_equal(n_bytes, t.len);
}

static void lines_are_indented_by_their_depth(void **state)
{
	written t;
	(void)state;

	begin(&t);
	json_begin_array(&t.w);
	json_line(&t.w), json_u64(&t.w, 1);
	json_line(&t.w), json_begin_object(&t.w), json_line(&t.w), json_key(&t.w, "k"), json_u64(&t.w, 2);
	json_end_object(&t.w);
	json_line(&t.w), json_end_array(&t.w);
	assert_written(&t, "[\n 1,\n {\n  \"k\": 2}\n]");
}

static void nesting_may_be_as_deep_as_promised(void **state)
{
	written t;
	char expected[2 * JSON_MAX_DEPTH + 1] = "";
	(void)state;

	begin(&t);
	for (int i = 0; i < JSON_MAX_DEPTH; i++)
		json_begin_array(&t.w), expected[i] = '[', expected[2 * JSON_MAX_DEPTH - 1 - i] = ']';
	for (int i = 0; i < JSON_MAX_DEPTH; i++)
		json_end_array(&t.w);
	assert_written(&t, expected);
}

static void text_is_valid_whatever_goes_in(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *written;
	} cases[] = {
		{ "plain", 5, "\"plain\"" },
		{ "\"\\/\b\f\n\r\t", 8, "\"\\\"\\\\/\\b\\f\\n\\r\\t\"" },
		{ "a\0b", 3, "\"a\\u0000b\"" },
		{ "\033[1m\x7f", 5, "\"\\u001b[1m\\u007f\"" },
		{ "\xc2\x9b", 2, "\"\\u009b\"" },
		{ "\xe2\x80\xa8\xe2\x80\xa9", 6, "\"\\u2028\\u2029\"" },
		{ "<script>", 8, "\"<script>\"" },
		{ "Größe \xf0\x9f\x98\x80", 12, "\"Größe \xf0\x9f\x98\x80\"" },
		{ "\xff", 1, "\"\uFFFD\"" },
		{ "\xc3", 1, "\"\uFFFD\"" },				   /* cut off */
		{ "\xc0\xaf", 2, "\"\uFFFD\uFFFD\"" },			   /* overlong */
		{ "\xed\xa0\x80", 3, "\"\uFFFD\uFFFD\uFFFD\"" },	   /* surrogate */
		{ "\xf4\x90\x80\x80", 4, "\"\uFFFD\uFFFD\uFFFD\uFFFD\"" }, /* above U+10FFFF */
		{ "\xe2\x82x", 3, "\"\uFFFD\uFFFDx\"" },
		{ "", 0, "\"\"" },
	};
	written t;
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin(&t);
		json_stringn(&t.w, cases[i].text, cases[i].len);
		assert_written(&t, cases[i].written);
		char quoted[JSON_QUOTED(16) + 1];
		quoted[json_quote(quoted, cases[i].text, cases[i].len)] = 0;
		assert_string_equal(quoted, cases[i].written);
	}
	begin(&t);
	json_string(&t.w, NULL);
	assert_written(&t, "null");
}

static void integers_are_exact(void **state)
{
	written t;
	(void)state;

	begin(&t);
	json_begin_array(&t.w);
	json_u64(&t.w, UINT64_MAX), json_i64(&t.w, INT64_MIN), json_i64(&t.w, INT64_MAX), json_u64(&t.w, 0);
	json_end_array(&t.w);
	assert_written(&t, "[18446744073709551615, -9223372036854775808, 9223372036854775807, 0]");
}

static void nanoseconds_are_written_as_exact_microseconds(void **state)
{
	written t;
	(void)state;

	begin(&t);
	json_begin_array(&t.w);
	json_us(&t.w, 0), json_us(&t.w, 7), json_us(&t.w, -12345), json_us(&t.w, INT64_MIN), json_us(&t.w, INT64_MAX);
	json_end_array(&t.w);
	assert_written(&t, "[0.000, 0.007, -12.345, -9223372036854775.808, 9223372036854775.807]");
}

/* Around the length up to which text is put together before it is written. */
static void texts_of_any_length_are_whole(void **state)
{
	char text[200], expected[1400];
	(void)state;

	for (size_t len = 0; len < sizeof text; len++) {
		written t;
		size_t n = 0;

		begin(&t);
		json_begin_array(&t.w), json_stringn(&t.w, text, len), json_raw(&t.w, text, len), json_end_array(&t.w);
		expected[n++] = '[', expected[n++] = '"';
		for (size_t i = 0; i < len; i++)
			n += (size_t)snprintf(expected + n, 8, text[i] == '\n' ? "\\n" : "%c", text[i]);
		n += (size_t)snprintf(expected + n, 8, "\", ");
		for (size_t i = 0; i < len; i++)
			expected[n++] = text[i];
		expected[n++] = ']', expected[n] = 0;
		assert_written(&t, expected);
		text[len] = len % 9 ? (char)('a' + len % 26) : '\n';
	}
}

static void doubles_are_as_short_as_they_can_be(void **state)
{
	static const struct {
		double value;
		const char *written;
	} cases[] = {
		{ 0.1, "0.1" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 100, "100" },
		{ 1e300, "1e+300" },
		{ DBL_MIN, "2.2250738585072014e-308" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ NAN, "null" },
		{ INFINITY, "null" },
		{ -INFINITY, "null" },
		{ -0.5, "-0.5" },
		{ 123456789012345680.0, "1.2345678901234568e+17" },
	};
	written t;
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin(&t);
		json_f64(&t.w, cases[i].value);
		assert_written(&t, cases[i].written);
	}
}

static void the_decimal_point_does_not_depend_on_the_locale(void **state)
{
	written t;
	(void)state;

	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
		print_message("skipped: no locale de_DE.UTF-8\n");
		skip();
	}
	begin(&t);
	json_f64(&t.w, -1.5e-300);
	setlocale(LC_NUMERIC, "C");
	assert_written(&t, "-1.5e-300");
}

static void a_failing_stream_is_noticed(void **state)
{
	(void)state;
	json_writer w = json_to(fopen("/dev/full", "w"));

	assert_non_null(w.out);
	setvbuf(w.out, NULL, _IONBF, 0);
	json_begin_array(&w);
	json_end_array(&w);
	assert_false(json_ok(&w));
	fclose(w.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_come_by_themselves),
		cmocka_unit_test(text_in_a_page_ends_nothing_and_has_an_end),
		cmocka_unit_test(lines_are_indented_by_their_depth),
		cmocka_unit_test(nesting_may_be_as_deep_as_promised),
		cmocka_unit_test(text_is_valid_whatever_goes_in),
		cmocka_unit_test(integers_are_exact),
		cmocka_unit_test(doubles_are_as_short_as_they_can_be),
		cmocka_unit_test(the_decimal_point_does_not_depend_on_the_locale),
		cmocka_unit_test(a_failing_stream_is_noticed),
		cmocka_unit_test(nanoseconds_are_written_as_exact_microseconds),
		cmocka_unit_test(texts_of_any_length_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
