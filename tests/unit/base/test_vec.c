/* Growing arrays. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/vec.h"

typedef struct item {
	uint64_t number;
	char text[13];
} item;

static void items_begin_zeroed_and_survive_growth(void **state)
{
	VEC(item) v = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 10000; i++) {
		item *at = VEC_ADD(&v);
		assert_non_null(at);
		assert_int_equal(at->number, 0);
		assert_int_equal(at->text[12], 0);
		at->number = i;
		memset(at->text, 'x', sizeof at->text);
	}
	assert_int_equal(v.n, 10000);
	assert_true(v.capacity >= v.n);
	for (uint64_t i = 0; i < v.n; i++)
		assert_int_equal(v.items[i].number, i);
	VEC_DONE(&v);
}

static void a_place_that_is_used_again_is_zeroed_again(void **state)
{
	VEC(int) v = { 0 };

	(void)state;
	*VEC_ADD(&v) = 7;
	v.n--;
	assert_int_equal(*VEC_ADD(&v), 0);
	VEC_DONE(&v);
}

static void a_size_that_overflows_is_refused_and_changes_nothing(void **state)
{
	item only = { .number = 1 };
	void *items = &only;
	size_t n = SIZE_MAX / 2 / sizeof(item) + 1, capacity = n;

	(void)state;
	assert_null(vec_add(&items, &n, &capacity, sizeof(item)));
	assert_ptr_equal(items, &only);
	assert_int_equal(n, capacity);
}

static void done_leaves_an_empty_array_to_use_again(void **state)
{
	VEC(char) v = { 0 };

	(void)state;
	VEC_DONE(&v);
	*VEC_ADD(&v) = 'a';
	VEC_DONE(&v);
	assert_null(v.items);
	assert_int_equal(v.n + v.capacity, 0);
	*VEC_ADD(&v) = 'b';
	assert_int_equal(v.items[0], 'b');
	VEC_DONE(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_begin_zeroed_and_survive_growth),
		cmocka_unit_test(a_place_that_is_used_again_is_zeroed_again),
		cmocka_unit_test(a_size_that_overflows_is_refused_and_changes_nothing),
		cmocka_unit_test(done_leaves_an_empty_array_to_use_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
