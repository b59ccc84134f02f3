/* Strings of JSON become UTF-8, with what was wrong told; texts are valid JSON or they are not. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/json_read.h"
#include "base/utf8.h"

static void strings_become_utf8(void **state)
{
	static const struct {
		const char *json, *text;
		unsigned repairs;
	} cases[] = {
		{ "", "", 0 },
		{ "plain", "plain", 0 },
		{ "\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t", 0 },
		{ "\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac", 0 },
		{ "\\ud83d\\ude00", "\xf0\x9f\x98\x80", 0 },
		{ "\xc3\xa9\xf0\x9f\x98\x80", "\xc3\xa9\xf0\x9f\x98\x80", 0 },
		{ "\\ud83d", "\xef\xbf\xbd", JSON_BAD_ESCAPE },
		{ "\\ude00\\ud83d", "\xef\xbf\xbd\xef\xbf\xbd", JSON_BAD_ESCAPE },
		{ "\\ud83d\\u0041",
		  "\xef\xbf\xbd"
		  "A",
		  JSON_BAD_ESCAPE },
		{ "\\q\\", "\\q\\", JSON_BAD_ESCAPE },
		{ "\\u12g4 \\u12", "\\u12g4 \\u12", JSON_BAD_ESCAPE },
		{ "a\nb\x01", "a\nb\x01", JSON_CONTROL },
		{ "a\"b", "a\"b", JSON_BARE_QUOTES },
		{ "\xff", "\xef\xbf\xbd", JSON_BAD_UTF8 },
		{ "\xc3", "\xef\xbf\xbd", JSON_BAD_UTF8 },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", JSON_BAD_UTF8 },
		{ "\xc0\x80\"\n\\x", "\xef\xbf\xbd\xef\xbf\xbd\"\n\\x",
		  JSON_BAD_UTF8 | JSON_BARE_QUOTES | JSON_CONTROL | JSON_BAD_ESCAPE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[256];
		unsigned repairs = 99;
		size_t len = json_unescape(cases[i].json, strlen(cases[i].json), text, &repairs);
		text[len] = 0;
		assert_string_equal(text, cases[i].text);
		assert_int_equal(repairs, cases[i].repairs);
	}
}

static void the_escape_of_zero_is_a_byte(void **state)
{
	char text[64];
	unsigned repairs;

	(void)state;
	assert_int_equal(json_unescape("a\\u0000b", 8, text, &repairs), 3);
	assert_memory_equal(text, "a\0b", 3);
	assert_int_equal(repairs, 0);
}

/* Whatever goes in, valid UTF-8 of at most three times the length comes out. */
static void any_bytes_become_valid_utf8(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint8_t bytes[24];
		size_t len = seed >> 33 & 15;
		char *json = malloc(len + 1), *text = malloc(len * 3 + 1);
		unsigned repairs;
		assert_true(json && text);
		for (size_t k = 0; k < sizeof bytes; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			bytes[k] = seed >> 40 & 3 ? (uint8_t)(seed >> 56) : (uint8_t) "\\ud8\"0aD"[seed >> 50 & 7];
		}
		memcpy(json, bytes, len);
		size_t n = json_unescape(json, len, text, &repairs);
		assert_true(n <= len * 3);
		for (size_t at = 0; at < n;) {
			uint32_t code;
			size_t step = (uint8_t)text[at] < 0x80 ? 1 : utf8_decode(text + at, n - at, &code);
			assert_true(step > 0);
			at += step;
		}
		free(json);
		free(text);
	}
}

static void texts_are_json_or_not(void **state)
{
	static const char *const valid[] = {
		"0",
		"-0",
		"12",
		"-1.5",
		"1e5",
		"1E+5",
		"0.5e-10",
		"true",
		"false",
		"null",
		"\"\"",
		"\"a\\n\\u00e9\"",
		"[]",
		"{}",
		" [ 1 , 2 ] ",
		"{\"a\":1}",
		"{\"a\" : [{\"b\":[[]]}], \"c\":{}}\n",
		"\"\xc3\xa9\"",
		"123456789012345678901234567890",
	};
	static const char *const invalid[] = {
		"",
		" ",
		"01",
		"+1",
		".5",
		"1.",
		"1e",
		"-",
		"tru",
		"True",
		"NaN",
		"Infinity",
		"\"",
		"\"a",
		"\"\n\"",
		"\"\\q\"",
		"\"\\u12\"",
		"\"\xff\"",
		"[",
		"]",
		"[1,]",
		"[,1]",
		"[1 2]",
		"{",
		"{\"a\"}",
		"{a:1}",
		"{\"a\":}",
		"{\"a\":1,}",
		"{\"a\":1 \"b\":2}",
		"[1}",
		"{\"a\":1]",
		"1 2",
		"[]]",
		"\"a\" \"b\"",
		"{1:2}",
		"'a'",
		"1x",
	};

	(void)state;
	for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++)
		if (!json_is_valid(valid[i], strlen(valid[i])))
			fail_msg("%s", valid[i]);
	for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++)
		if (json_is_valid(invalid[i], strlen(invalid[i])))
			fail_msg("%s", invalid[i]);
}

static void nesting_is_bounded(void **state)
{
	enum { DEEP = 100000 };
	char *text = malloc(2 * DEEP + 1);

	(void)state;
	assert_non_null(text);
	for (int depth = 1; depth <= DEEP; depth *= 10) {
		memset(text, '[', (size_t)depth);
		memset(text + depth, ']', (size_t)depth);
		assert_int_equal(json_is_valid(text, 2 * (size_t)depth), depth < JSON_READ_DEPTH);
	}
	free(text);
}

/* Lists are decided about in a way of their own, not so inside an object. */
static void a_text_is_as_valid_by_itself_as_in_an_object(void **state)
{
	static const char bytes[] = "[[[]]],,,  00123.\"\"a-e\\{:";
	uint64_t random = 1;
	unsigned n_valid = 0;

	(void)state;
	for (unsigned i = 0; i < 2000000; i++) {
		char text[32] = "{\"k\":";
		size_t len = 5, n = 1 + i % 12;
		for (size_t k = 0; k < n; k++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			text[len++] = bytes[(random >> 33) % (sizeof bytes - 1)];
		}
		text[len] = '}';
		bool valid = json_is_valid(text, len + 1);
		if (json_is_valid(text + 5, n) != valid)
			fail_msg("%.*s", (int)n, text + 5);
		n_valid += valid;
	}
	assert_true(n_valid > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_become_utf8),
		cmocka_unit_test(the_escape_of_zero_is_a_byte),
		cmocka_unit_test(any_bytes_become_valid_utf8),
		cmocka_unit_test(texts_are_json_or_not),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(a_text_is_as_valid_by_itself_as_in_an_object),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
