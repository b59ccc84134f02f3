/* Text for a terminal: safe, measured, cut. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/screen_text.h"
#include "base/utf8.h"

/* What screen_put_cut() writes; checks that it tells its columns truly. */
static char *cut(const char *text, unsigned max, bool utf8)
{
	char *written = NULL;
	size_t len;
	FILE *out = open_memstream(&written, &len);

	assert_non_null(out);
	unsigned columns = screen_put_cut(out, text, max, utf8);
	fclose(out);
	assert_true(columns <= max);
	assert_int_equal(columns, screen_columns(written, utf8));
	return written;
}

static void long_text_is_cut_in_the_middle(void **state)
{
	static const struct {
		const char *text;
		unsigned max;
		bool utf8;
		const char *written;
	} cases[] = {
		{ "aten::conv2d_backward", 21, true, "aten::conv2d_backward" },
		{ "aten::conv2d_backward", 20, true, "aten::conv…_backward" },
		{ "aten::conv2d_backward", 16, true, "aten::co…ackward" },
		{ "aten::conv2d_backward", 16, false, "aten::c..ackward" },
		{ "abcdef", 3, true, "a…f" },
		{ "abcdef", 2, true, "a…" },
		{ "abcdef", 1, true, "a" },
		{ "abcdef", 2, false, "ab" },
		{ "abcdef", 0, true, "" },
		{ "", 0, true, "" },
		{ "漢字漢字漢字", 12, true, "漢字漢字漢字" },
		{ "漢字漢字漢字", 8, true, "漢字…字" },
		{ "漢字漢字漢字", 7, true, "漢…字" },
		{ "a\u0301b\u0301c\u0301d\u0301", 3, true, "a\u0301…d\u0301" },
		{ "\033\033\033\033", 3, true, "?…?" },
	};
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *written = cut(cases[i].text, cases[i].max, cases[i].utf8);

		assert_string_equal(written, cases[i].written);
		free(written);
	}
}

static void every_byte_and_cut_is_safe(void **state)
{
	(void)state;
	for (unsigned first = 1; first < 256; first++) {
		for (unsigned second = 1; second < 256; second += 3) {
			char text[] = { 'a', (char)first, (char)second, 'b', 'c', 0 };
			char *written = cut(text, (first + second) % 6, second % 2);

			for (const char *at = written; *at; at++)
				assert_true((unsigned char)*at >= 0x20 && *at != 0x7f);
			free(written);
		}
	}
}

/* What stands in the middle makes no difference: only the ends are looked at. */
static void the_middle_of_a_long_text_is_not_looked_at(void **state)
{
	enum { SIZE = 100000 };
	char *text = malloc(SIZE + 1);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < SIZE; i += 2)
		memcpy(text + i, "\u00e9", 2);
	memcpy(text + SIZE - 3, "end", 4);
	char *written = cut(text, 10, true);
	assert_string_equal(written, "ééééé…?end"); /* the half character before it */
	free(written);
	assert_int_equal(screen_columns_upto(text, 10, true), 11);
	assert_int_equal(screen_columns_upto("short", 10, true), 5);
	free(text);
}

static void a_huge_name_takes_linear_time(void **state)
{
	enum { SIZE = 4 << 20 };
	char *text = malloc(SIZE + 1);
	(void)state;

	assert_non_null(text);
	memset(text, 'x', SIZE);
	text[SIZE] = '\0';
	char *written = cut(text, 10, true);
	assert_string_equal(written, "xxxxx…xxxx");
	free(written);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_text_is_cut_in_the_middle),
		cmocka_unit_test(every_byte_and_cut_is_safe),
		cmocka_unit_test(the_middle_of_a_long_text_is_not_looked_at),
		cmocka_unit_test(a_huge_name_takes_linear_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
