/* Addresses and bodies from strangers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "serve/http/request.h"

static request r;

static void addresses_are_taken_apart(void **state)
{
	(void)state;
	assert_true(request_parse(&r, "/api/v1/a%20b/%C3%BC?q=x%26y&flag&empty=&sum=1+2&&q=second"));
	assert_string_equal(r.path, "/api/v1/a b/ü");
	assert_string_equal(request_text(&r, "q"), "x&y");
	assert_string_equal(request_text(&r, "flag"), "");
	assert_string_equal(request_text(&r, "empty"), "");
	assert_string_equal(request_text(&r, "sum"), "1 2");
	assert_null(request_text(&r, "none"));
	assert_true(request_parse(&r, "/"));
	assert_string_equal(r.path, "/");
	assert_true(request_parse(&r, "/a+b?"));
	assert_string_equal(r.path, "/a+b");
}

static void what_is_no_address_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",	"a",	"*",	 "http://a/", "/%",    "/%4",	     "/%zz",
		"/%00", "/%ff", "/\xc3", "/?a=%00",   "/?%=1", "/?a=%c0%ae", "/?a=\xed\xa0\x80"
	};
	char many[4 * (REQUEST_PARAMS_MAX + 1) + 3] = "/?", *longest = malloc(REQUEST_URI_MAX + 2);

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_false(request_parse(&r, wrong[i]));
		assert_true(*r.problem);
	}
	for (int i = 0; i <= REQUEST_PARAMS_MAX; i++)
		strcat(many, "a=1&");
	assert_false(request_parse(&r, many));
	assert_non_null(longest);
	memset(longest, '/', REQUEST_URI_MAX + 1);
	longest[REQUEST_URI_MAX + 1] = 0;
	assert_false(request_parse(&r, longest));
	longest[REQUEST_URI_MAX] = 0;
	assert_true(request_parse(&r, longest));
	free(longest);
}

static void numbers_are_whole_and_within_bounds(void **state)
{
	static const char *const wrong[] = { "/?n=",
					     "/?n=x",
					     "/?n=1x",
					     "/?n=1.5",
					     "/?n=+1",
					     "/?n=--1",
					     "/?n=0x1",
					     "/?n=101",
					     "/?n=-6",
					     "/?n=99999999999999999999",
					     "/?n=9223372036854775808" };

	(void)state;
	assert_true(request_parse(&r, "/?n=100&m=-5"));
	assert_int_equal(request_number(&r, "n", -5, 100, 7), 100);
	assert_int_equal(request_number(&r, "m", -5, 100, 7), -5);
	assert_int_equal(request_number(&r, "none", -5, 100, 7), 7);
	assert_string_equal(r.problem, "");
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_true(request_parse(&r, wrong[i]));
		assert_int_equal(request_number(&r, "n", -5, 100, 7), 7);
		assert_string_equal(r.problem, "n must be a whole number from -5 to 100.");
	}
	assert_true(request_parse(&r, "/?n=9223372036854775807"));
	assert_true(request_number(&r, "n", 0, INT64_MAX, 0) == INT64_MAX);
}

static void note_number(void *context, uint64_t number)
{
	*(uint64_t *)context = *(uint64_t *)context * 10 + number;
}

static void lists_are_of_numbers_and_ranges(void **state)
{
	static const struct {
		const char *uri;
		int64_t sum; /* the numbers as digits; -1: wrong */
	} cases[] = { { "/?l=1", 1 },	  { "/?l=1,3-5", 1345 }, { "/?l=8-99999", 89 },
		      { "/?l=", 0 },	  { "/?l=1,,2", -1 },	 { "/?l=2-1", -1 },
		      { "/?l=a", -1 },	  { "/?l=1-", -1 },	 { "/?l=18446744073709551616", -1 },
		      { "/?l=1,2,", 12 }, { "/?l=-1", -1 },	 { "/?l=18446744073709551615", 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint64_t sum = 0;
		assert_true(request_parse(&r, cases[i].uri));
		bool ok = request_numbers(&r, "l", 10, note_number, &sum);
		assert_int_equal(ok, cases[i].sum >= 0);
		assert_int_equal(*r.problem != 0, cases[i].sum < 0);
		if (ok)
			assert_int_equal(sum, cases[i].sum);
	}
	assert_false(request_numbers(&r, "none", 10, note_number, NULL));
}

static void words_are_among_a_list(void **state)
{
	static const char *const choices[] = { "time", "self", NULL };

	(void)state;
	assert_true(request_parse(&r, "/?by=self&yes=yes&no=0&bad=x"));
	assert_int_equal(request_choice(&r, "by", choices), 1);
	assert_int_equal(request_choice(&r, "none", choices), 0);
	assert_true(request_truth(&r, "yes", false));
	assert_false(request_truth(&r, "no", true));
	assert_true(request_truth(&r, "none", true));
	assert_string_equal(r.problem, "");
	request_choice(&r, "bad", choices);
	assert_string_equal(r.problem, "bad must be one of time, self.");
}

static void set_body(const char *body)
{
	assert_true(request_parse(&r, "/"));
	r.body = body;
	r.body_len = body ? strlen(body) : 0;
}

static void bodies_are_json_objects(void **state)
{
	static const char *const wrong[] = { NULL,
					     "",
					     "{",
					     "[]",
					     "1",
					     "{\"text\":1}",
					     "{\"text\":\"a\\u0000b\"}",
					     "{\"text\":\"123456789\"}",
					     "{\"other\":\"a\"}",
					     "{\"text\":\"a\"}x" };

	(void)state;
	set_body("{\"text\": \"a\\n\\u00fc\", \"n\": 12, \"null\": null, \"big\": 1e5}");
	char *text = request_body_text(&r, "text", 8);
	assert_string_equal(text, "a\nü");
	free(text);
	assert_int_equal(request_body_number(&r, "n", 0, 100, 5), 12);
	assert_int_equal(request_body_number(&r, "null", 0, 100, 5), 5);
	assert_int_equal(request_body_number(&r, "none", 0, 100, 5), 5);
	assert_string_equal(r.problem, "");
	assert_int_equal(request_body_number(&r, "big", 0, 1000000, 5), 5);
	assert_true(*r.problem);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		set_body(wrong[i]);
		assert_null(request_body_text(&r, "text", 8));
		assert_true(*r.problem);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_taken_apart),
		cmocka_unit_test(what_is_no_address_is_refused),
		cmocka_unit_test(numbers_are_whole_and_within_bounds),
		cmocka_unit_test(lists_are_of_numbers_and_ranges),
		cmocka_unit_test(words_are_among_a_list),
		cmocka_unit_test(bodies_are_json_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
