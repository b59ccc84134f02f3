/* Texts of arguments: each once, found again, large and small ones. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/text_pool.h"

static uint32_t find(text_pool *p, const char *text, size_t len)
{
	return text_pool_find(p, (const uint8_t *)text, len, text_hash_safe((const uint8_t *)text, len, p->seed));
}

static void equal_texts_have_one_place(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		size_t same_as; /* number of the first case with this text */
	} cases[] = {
		{ "[1, 2]", 6, 0 }, { "null", 4, 1 }, { "[1, 2]", 6, 0 }, { "", 0, 3 },		 { "[1, 2", 5, 4 },
		{ "null ", 4, 1 },  { "\0", 1, 6 },   { "\0\0", 2, 7 },	  { "a\0b", 3, 8 },	 { "a\0c", 3, 9 },
		{ "", 0, 3 },	    { "a\0b", 3, 8 }, { "null", 4, 1 },	  { "\"null\"", 6, 13 },
	};
	uint32_t places[sizeof cases / sizeof cases[0]];
	text_pool *p = text_pool_new();

	(void)state;
	assert_non_null(p);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		places[i] = find(p, cases[i].text, cases[i].len);
		for (size_t k = 0; k < i; k++)
			assert_int_equal(places[k] == places[i], cases[k].same_as == cases[i].same_as);
		const pool_text *t = text_at(p, places[i]);
		assert_int_equal(t->len, cases[i].len);
		assert_memory_equal(t->text, cases[i].text, cases[i].len);
		assert_int_equal(t->note, 0);
	}
	text_pool_free(p);
}

static void many_texts_stay_what_they_are(void **state)
{
	enum { N = 300000 };
	uint32_t *places = malloc(N * sizeof *places);
	char text[80];
	text_pool *p = text_pool_new();

	(void)state;
	assert_non_null(places);
	assert_non_null(p);
	for (unsigned i = 0; i < N; i++) {
		int len = snprintf(text, sizeof text, "[%u, %0*u]", i, (int)(i % 50 + 1), i / 3);
		places[i] = find(p, text, (size_t)len);
		text_at(p, places[i])->note = (uint8_t)i;
	}
	assert_int_equal(p->n_texts, N);
	for (unsigned i = 0; i < N; i++) {
		int len = snprintf(text, sizeof text, "[%u, %0*u]", i, (int)(i % 50 + 1), i / 3);
		assert_int_equal(find(p, text, (size_t)len), places[i]);
		assert_int_equal(text_ref_of(p, places[i]), (text_ref)i << 32 | places[i]);
		assert_int_equal(text_at(p, places[i])->note, (uint8_t)i);
	}
	text_pool_free(p);
	free(places);
}

static void both_hashes_are_the_same(void **state)
{
	uint8_t text[200];

	(void)state;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (uint8_t)(i * 37 + 1);
	for (size_t len = 0; len + 16 < sizeof text; len++) {
		uint8_t *exact = malloc(len + 1);
		assert_non_null(exact);
		memcpy(exact, text, len);
		assert_int_equal(text_hash(text, len, 5), text_hash_safe(exact, len, 5));
		assert_int_not_equal(text_hash(text, len, 5), text_hash(text, len, 6));
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_texts_have_one_place),
		cmocka_unit_test(many_texts_stay_what_they_are),
		cmocka_unit_test(both_hashes_are_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
