/* Members of objects and elements of arrays, of sound and of broken text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/json_members.h"

/* "key=value;" of each; the text lies at the end of its memory, so that a sanitizer sees what is read behind it. */
static const char *members_of(const char *text)
{
	static char out[512];
	size_t len = strlen(text), n = 0;
	char *copy = malloc(len + 1);
	json_member m;

	memcpy(copy, text, len);
	copy = realloc(copy, len ? len : 1);
	out[0] = 0;
	json_members all = json_members_of(copy, len);
	while (json_next(&all, &m))
		n += (size_t)snprintf(out + n, sizeof out - n, "%.*s=%.*s;", (int)m.key_len, m.key ? m.key : "",
				      (int)m.len, m.value);
	free(copy);
	return out;
}

static void members_come_in_order(void **state)
{
	static const struct {
		const char *text, *members;
	} cases[] = {
		{ "{\"a\": 1, \"b\" : [1, {\"c\": \"}\"}] ,\"\": null}", "a=1;b=[1, {\"c\": \"}\"}];=null;" },
		{ " [ 1 , \"x,y\" ,[] , {} ] ", "=1;=\"x,y\";=[];={};" },
		{ "{\"a\\\"b\": \"\\\\\"}", "a\\\"b=\"\\\\\";" },
		{ "{}", "" },
		{ "[]", "" },
		{ "", "" },
		{ "3", "" },
		{ "\"text\"", "" },
		{ "{\"a\": 1, \"a\": 2}", "a=1;a=2;" },
		/* broken */
		{ "{\"a\": 1, b: 2}", "a=1;" },
		{ "{\"a\": 1, \"b\": \"cut off", "a=1;" },
		{ "{\"a\": 1, \"b\"", "a=1;" },
		{ "{\"a\" 1}", "" },
		{ "{\"a\":}", "" },
		{ "{\"a", "" },
		{ "{\"a\\", "" },
		{ "{", "" },
		{ "[1,", "=1;" },
		{ "[1,,2]", "=1;" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_string_equal(members_of(cases[i].text), cases[i].members);
}

static void of_a_key_the_last_counts(void **state)
{
	static const char text[] = "{\"a\": 1, \"b\": {\"a\": 5}, \"a\": 2}";
	const char *value;
	size_t len;

	(void)state;
	assert_true(json_get(text, sizeof text - 1, "a", &value, &len));
	assert_int_equal(len, 1);
	assert_int_equal(*value, '2');
	assert_false(json_get(text, sizeof text - 1, "c", &value, &len));
	assert_false(json_get("[1]", 3, "", &value, &len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_come_in_order),
		cmocka_unit_test(of_a_key_the_last_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
