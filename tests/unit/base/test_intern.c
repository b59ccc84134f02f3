/* Strings to numbers and back. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/intern.h"

static void numbers_count_from_0_and_equal_texts_share_one(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		uint32_t number;
	} cases[] = {
		{ "forward", 7, 0 },  { "backward", 8, 1 }, { "forward", 7, 0 },  { "", 0, 2 },	    { "for", 3, 3 },
		{ "forwards", 3, 3 }, { "\0", 1, 4 },	    { "\0\0", 2, 5 },	  { "a\0b", 3, 6 }, { "a", 1, 7 },
		{ "a\0b", 3, 6 },     { "", 0, 2 },	    { "backward", 8, 1 },
	};
	intern_table t = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(intern(&t, cases[i].text, cases[i].len), cases[i].number);
	assert_int_equal(t.n, 8);
	assert_string_equal(intern_text(&t, 3), "for");
	intern_done(&t);
}

static void texts_are_copies(void **state)
{
	char text[] = "matmul";
	intern_table t = { 0 };

	(void)state;
	uint32_t number = intern(&t, text, 6);
	text[0] = 'X';
	assert_string_equal(intern_text(&t, number), "matmul");
	assert_int_not_equal(intern(&t, text, 6), number);
	intern_done(&t);
}

static void a_number_without_a_text_reads_as_a_question_mark(void **state)
{
	intern_table t = { 0 };

	(void)state;
	assert_string_equal(intern_text(&t, 0), "?");
	intern(&t, "a", 1);
	assert_string_equal(intern_text(&t, 1), "?");
	assert_string_equal(intern_text(&t, INTERN_NONE), "?");
	intern_done(&t);
}

static void a_hundred_thousand_names_keep_their_numbers(void **state)
{
	enum { N = 100000 };
	intern_table t = { 0 };
	char text[64];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < N; i++) {
			int len = snprintf(text, sizeof text, "model.layers.%u.attention.%.*s", i, (int)(i % 9),
					   "12345678");
			assert_int_equal(intern(&t, text, (size_t)len), i);
		}
	for (uint32_t i = 0; i < N; i += 997) {
		snprintf(text, sizeof text, "model.layers.%u.attention.%.*s", i, (int)(i % 9), "12345678");
		assert_string_equal(intern_text(&t, i), text);
	}
	assert_int_equal(t.n, N);
	intern_done(&t);
}

/* Nobody can prepare names that collide. */
static void every_table_hashes_differently(void **state)
{
	intern_table a = { 0 }, b = { 0 };

	(void)state;
	intern(&a, "forward", 7);
	intern(&b, "forward", 7);
	assert_true(a.seed != b.seed);
	assert_true(a.entries[0].hash != b.entries[0].hash);
	intern_done(&a);
	intern_done(&b);
}

static void a_copy_goes_on_by_itself(void **state)
{
	intern_table a = { 0 }, b, empty = { 0 }, none;

	(void)state;
	intern(&a, "forward", 7);
	intern(&a, "backward", 8);
	assert_true(intern_copy(&b, &a));
	assert_int_equal(intern(&b, "backward", 8), 1);
	assert_int_equal(intern(&b, "step", 4), 2);
	assert_int_equal(intern(&a, "load", 4), 2);
	assert_string_equal(intern_text(&b, 2), "step");
	assert_string_equal(intern_text(&b, 0), "forward");
	assert_true(intern_copy(&none, &empty));
	assert_int_equal(intern(&none, "first", 5), 0);
	intern_done(&none);
	intern_done(&b);
	intern_done(&a);
}

/* Each has memory of its own, which goes back when all texts move elsewhere; those of a copy stay the original's. */
static void long_texts_can_be_dropped_one_by_one(void **state)
{
	enum { LEN = 100000 };
	char *text = malloc(LEN);
	intern_table a = { 0 }, b;

	(void)state;
	memset(text, 'x', LEN);
	assert_int_equal(intern(&a, text, LEN), 0);
	assert_int_equal(intern(&a, "short", 5), 1);
	text[LEN - 1] = 'y';
	assert_int_equal(intern(&a, text, LEN), 2);
	assert_int_equal(intern(&a, text, LEN), 2);
	assert_int_equal(strlen(intern_text(&a, 2)), LEN);
	assert_true(intern_copy(&b, &a));
	text[0] = 'z';
	assert_int_equal(intern(&b, text, LEN), 3);
	for (uint32_t i = 0; i < b.n; i++)
		intern_drop_text(&b, i);
	assert_null(b.entries[3].text);
	assert_memory_equal(b.entries[0].text, "xxx", 3);
	intern_done(&b);
	assert_memory_equal(intern_text(&a, 2) + LEN - 2, "xy", 3);
	intern_drop_text(&a, 1);
	assert_string_equal(intern_text(&a, 1), "short");
	intern_drop_text(&a, 0);
	assert_null(a.entries[0].text);
	intern_done(&a);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_count_from_0_and_equal_texts_share_one),
		cmocka_unit_test(texts_are_copies),
		cmocka_unit_test(a_number_without_a_text_reads_as_a_question_mark),
		cmocka_unit_test(a_hundred_thousand_names_keep_their_numbers),
		cmocka_unit_test(every_table_hashes_differently),
		cmocka_unit_test(a_copy_goes_on_by_itself),
		cmocka_unit_test(long_texts_can_be_dropped_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
