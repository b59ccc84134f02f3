/* Memory that is given back all at once. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/arena.h"

static void memory_is_zeroed_aligned_and_apart(void **state)
{
	static const size_t sizes[] = { 1, 15, 16, 17, 4095, 4096, 4097, 1 << 20, 3 << 20, 8 };
	enum { N = sizeof sizes / sizeof sizes[0], ROUNDS = 20 };
	unsigned char *given[ROUNDS][N];
	arena a = { 0 };

	(void)state;
	for (size_t k = 0; k < ROUNDS; k++)
		for (size_t i = 0; i < N; i++) {
			unsigned char *memory = given[k][i] = arena_alloc(&a, sizes[i]);
			assert_non_null(memory);
			assert_int_equal((uintptr_t)memory % 16, 0);
			assert_int_equal(memory[0] | memory[sizes[i] / 2] | memory[sizes[i] - 1], 0);
			memset(memory, (int)(k * N + i) & 255, sizes[i]);
		}
	for (size_t k = 0; k < ROUNDS; k++)
		for (size_t i = 0; i < N; i++) {
			unsigned char expected = (k * N + i) & 255;
			assert_int_equal(given[k][i][0], expected);
			assert_int_equal(given[k][i][sizes[i] - 1], expected);
		}
	arena_done(&a);
}

static void nothing_is_a_size_too(void **state)
{
	arena a = { 0 };

	(void)state;
	assert_non_null(arena_alloc(&a, 0));
	assert_int_equal(a.n_bytes, 0);
	arena_done(&a);
}

static void an_absurd_size_is_refused_and_harms_nothing(void **state)
{
	arena a = { 0 };

	(void)state;
	assert_null(arena_alloc(&a, SIZE_MAX));
	assert_null(arena_alloc(&a, SIZE_MAX / 2 + 1));
	assert_string_equal(arena_strdup(&a, "fine"), "fine");
	arena_done(&a);
}

static void strings_are_copied_and_terminated(void **state)
{
	char text[] = "forward";
	arena a = { 0 };

	(void)state;
	const char *whole = arena_strdup(&a, text), *part = arena_strndup(&a, text, 3);
	const char *empty = arena_strndup(&a, text, 0);
	text[0] = 'X';
	assert_string_equal(whole, "forward");
	assert_string_equal(part, "for");
	assert_string_equal(empty, "");
	arena_done(&a);
}

static const char *format(arena *a, const char *text, ...) __attribute__((format(printf, 2, 3)));
static const char *format(arena *a, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	const char *result = arena_vprintf(a, text, args);
	va_end(args);
	return result;
}

static void formatted_text_of_any_length_fits(void **state)
{
	arena a = { 0 };

	(void)state;
	assert_string_equal(format(&a, "%d of %s", 3, "four"), "3 of four");
	const char *wide = format(&a, "%100000d", 7);
	assert_int_equal(strlen(wide), 100000);
	assert_int_equal(wide[99999], '7');
	arena_done(&a);
}

static void an_arena_can_be_used_again_after_its_end(void **state)
{
	arena a = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_non_null(arena_alloc(&a, 100000));
		arena_done(&a);
		assert_null(a.blocks);
		assert_int_equal(a.n_bytes, 0);
	}
	arena_done(&a);
}

/* A block of its own leaves the newest one in use: long and short texts in turn do not take a block each. */
static void what_is_large_does_not_end_a_block(void **state)
{
	arena a = { 0 };
	const char *last = arena_alloc(&a, 16);

	(void)state;
	for (int i = 0; i < 20; i++) {
		memset(arena_alloc(&a, 3 << 20), 'x', 3 << 20);
		const char *small = arena_alloc(&a, 16);
		assert_ptr_equal(small, last + 16);
		last = small;
	}
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
		cmocka_unit_test(nothing_is_a_size_too),
		cmocka_unit_test(an_absurd_size_is_refused_and_harms_nothing),
		cmocka_unit_test(strings_are_copied_and_terminated),
		cmocka_unit_test(formatted_text_of_any_length_fits),
		cmocka_unit_test(an_arena_can_be_used_again_after_its_end),
		cmocka_unit_test(what_is_large_does_not_end_a_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
