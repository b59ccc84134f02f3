/* UTF-8 that may be broken or hostile. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/utf8.h"

static void whole_code_points_decode_and_nothing_else(void **state)
{
	static const struct {
		const char *text;
		size_t len, n;
		uint32_t code;
	} cases[] = {
		{ "a", 1, 1, 'a' },
		{ "\0", 1, 1, 0 },
		{ "\x7f", 1, 1, 0x7f },
		{ "\xc2\x80", 2, 2, 0x80 },
		{ "\xdf\xbf", 2, 2, 0x7ff },
		{ "\xe0\xa0\x80", 3, 3, 0x800 },
		{ "\xed\x9f\xbf", 3, 3, 0xd7ff },
		{ "\xef\xbf\xbf", 3, 3, 0xffff },
		{ "\xf0\x90\x80\x80", 4, 4, 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff },
		{ "\xc3\xa4rger", 6, 2, 0xe4 },
		/* cut off */
		{ "\xc3", 1, 0, 0 },
		{ "\xe2\x82", 2, 0, 0 },
		{ "\xe2\x82\xac", 2, 0, 0 },
		{ "\xf0\x9f\x98", 3, 0, 0 },
		/* overlong */
		{ "\xc0\x80", 2, 0, 0 },
		{ "\xc1\xbf", 2, 0, 0 },
		{ "\xe0\x9f\xbf", 3, 0, 0 },
		{ "\xf0\x8f\xbf\xbf", 4, 0, 0 },
		/* surrogates, too large, lonely, not continued */
		{ "\xed\xa0\x80", 3, 0, 0 },
		{ "\xed\xbf\xbf", 3, 0, 0 },
		{ "\xf4\x90\x80\x80", 4, 0, 0 },
		{ "\xf8\x88\x80\x80\x80", 5, 0, 0 },
		{ "\x80", 1, 0, 0 },
		{ "\xff", 1, 0, 0 },
		{ "\xc3(", 2, 0, 0 },
		{ "\xe2\x28\xa1", 3, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint32_t code = 0;

		assert_int_equal(utf8_decode(cases[i].text, cases[i].len, &code), cases[i].n);
		assert_int_equal(code, cases[i].code);
	}
}

static void a_code_point_takes_0_1_or_2_columns(void **state)
{
	static const struct {
		uint32_t code;
		unsigned columns;
	} cases[] = { { 'a', 1 },     { 0xe4, 1 },   { 0x301, 0 },  { 0x4e2d, 2 }, { 0xac00, 2 },
		      { 0x1f600, 2 }, { 0x200d, 0 }, { 0xff21, 2 }, { 0x2026, 1 }, { 0x20000, 2 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(utf8_columns(cases[i].code), cases[i].columns);
}

static void what_moves_the_cursor_or_turns_text_around_is_a_control(void **state)
{
	static const uint32_t controls[] = { 0,	     '\n',   '\r',   0x1b,   0x7f,   0x85, 0x9b,
					     0x200e, 0x2028, 0x202e, 0x2066, 0x2069, 0x61c };
	static const uint32_t others[] = { ' ', 'a', 0xa0, 0xe4, 0x2026, 0x202f, 0x1f600 };

	(void)state;
	for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++)
		assert_true(utf8_is_control(controls[i]));
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		assert_false(utf8_is_control(others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_code_points_decode_and_nothing_else),
		cmocka_unit_test(a_code_point_takes_0_1_or_2_columns),
		cmocka_unit_test(what_moves_the_cursor_or_turns_text_around_is_a_control),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
