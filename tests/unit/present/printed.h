/* Prints a result into a string, for comparison. */
#ifndef SONDE_TESTS_PRINTED_H
#define SONDE_TESTS_PRINTED_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "analyze/result/result.h"

static inline char *printed(const sonde_result *result, sonde_format format, unsigned width, bool utf8, bool color)
{
	sonde_print_options options = { .struct_size = sizeof options, .width = width, .utf8 = utf8, .color = color };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(sonde_result_print(result, format, &options, out, NULL), SONDE_OK);
	fclose(out);
	return text;
}

static inline void assert_printed(sonde_result *result, sonde_format format, const char *expected)
{
	char *text = printed(result, format, 80, true, false);

	assert_string_equal(text, expected);
	free(text);
}

#endif
