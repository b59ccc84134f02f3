/* Texts as fields of CSV. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/csv_write.h"

static void assert_field(const char *text, size_t len, const char *expected)
{
	char *written = NULL;
	size_t n;
	FILE *out = open_memstream(&written, &n);

	assert_non_null(out);
	csv_put(out, text, len);
	fclose(out);
	assert_string_equal(written, expected);
	free(written);
}

static void fields_are_quoted_where_they_must_be(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "", "" },
		{ "plain text", "plain text" },
		{ " leads", "\" leads\"" },
		{ "a,b", "\"a,b\"" },
		{ "say \"x\"", "\"say \"\"x\"\"\"" },
		{ "two\nlines", "\"two\nlines\"" },
		{ "Größe", "Größe" },
		{ "=1+1", "\"'=1+1\"" },
		{ "-3", "\"'-3\"" },
		{ "\033[2J", "\xef\xbf\xbd[2J" },
		{ "\xff", "\xef\xbf\xbd" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_field(cases[i].text, strlen(cases[i].text), cases[i].expected);
}

static void length_counts_not_the_end_of_a_string(void **state)
{
	(void)state;
	assert_field("a\0b", 3,
		     "a\xef\xbf\xbd"
		     "b");
	assert_field("abc", 2, "ab");
	assert_field("\0", 1, "\xef\xbf\xbd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_quoted_where_they_must_be),
		cmocka_unit_test(length_counts_not_the_end_of_a_string),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
