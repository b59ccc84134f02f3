/* Errors: what, where, and what the caller knows on top. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/error.h"

static void an_error_has_a_code_a_place_and_a_sentence(void **state)
{
	sonde_error err;

	(void)state;
	assert_int_equal(error_set(&err, SONDE_E_FORMAT, 81, "expected '%c'", ','), SONDE_E_FORMAT);
	assert_int_equal(err.status, SONDE_E_FORMAT);
	assert_int_equal(err.position, 81);
	assert_string_equal(err.message, "expected ','");
}

static void whoever_calls_adds_what_they_know(void **state)
{
	sonde_error err;

	(void)state;
	error_set(&err, SONDE_E_IO, -1, "no space");
	assert_int_equal(error_prefix(&err, SONDE_E_IO, "run.sonde"), SONDE_E_IO);
	error_prefix(&err, SONDE_E_IO, "rank 3");
	assert_string_equal(err.message, "rank 3: run.sonde: no space");
}

static void nobody_has_to_ask_for_the_error(void **state)
{
	(void)state;
	assert_int_equal(error_set(NULL, SONDE_E_MEMORY, -1, "%s", "text"), SONDE_E_MEMORY);
	assert_int_equal(error_prefix(NULL, SONDE_E_MEMORY, "text"), SONDE_E_MEMORY);
}

static void a_long_message_is_cut(void **state)
{
	char text[2000];
	sonde_error err;

	(void)state;
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = 0;
	error_set(&err, SONDE_E_USAGE, -1, "%s", text);
	assert_int_equal(strlen(err.message), sizeof err.message - 1);
	error_prefix(&err, SONDE_E_USAGE, text);
	assert_true(strlen(err.message) < sizeof err.message);
	assert_non_null(strstr(err.message, ": xxx"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_has_a_code_a_place_and_a_sentence),
		cmocka_unit_test(whoever_calls_adds_what_they_know),
		cmocka_unit_test(nobody_has_to_ask_for_the_error),
		cmocka_unit_test(a_long_message_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
