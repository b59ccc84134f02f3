/* Binary search. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/search.h"

static void the_first_that_does_not_hold_is_found_wherever_it_is(void **state)
{
	(void)state;
	for (size_t n = 0; n < 70; n++)
		for (size_t wanted = 0; wanted <= n; wanted++)
			assert_int_equal(FIRST_NOT(i, 0, n, i < wanted), wanted);
}

static void only_what_is_between_the_two_ends_is_looked_at(void **state)
{
	(void)state;
	for (size_t from = 0; from < 20; from++)
		for (size_t to = from; to < 20; to++)
			for (size_t wanted = 0; wanted < 25; wanted++) {
				size_t found = FIRST_NOT(i, from, to, (assert_in_range(i, from, to - 1), i < wanted));
				assert_int_equal(found, wanted < from ? from : wanted > to ? to : wanted);
			}
}

static void an_end_before_the_start_is_nothing_to_look_at(void **state)
{
	(void)state;
	assert_int_equal(FIRST_NOT(i, 1, 0, (fail(), i < 5)), 1);
}

static void few_of_many_are_looked_at(void **state)
{
	size_t n_looked = 0;

	(void)state;
	assert_int_equal(FIRST_NOT(i, 0, SIZE_MAX, (n_looked++, i < SIZE_MAX - 1)), SIZE_MAX - 1);
	assert_true(n_looked <= 64);
}

static void of_those_that_are_equal_the_first_and_the_end_are_found(void **state)
{
	static const int ranks[] = { 0, 0, 2, 2, 2, 5 };
	size_t first = FIRST_NOT(i, 0, 6, ranks[i] < 2), end = FIRST_NOT(i, first, 6, ranks[i] == 2);

	(void)state;
	assert_int_equal(first, 2);
	assert_int_equal(end, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_that_does_not_hold_is_found_wherever_it_is),
		cmocka_unit_test(only_what_is_between_the_two_ends_is_looked_at),
		cmocka_unit_test(an_end_before_the_start_is_nothing_to_look_at),
		cmocka_unit_test(few_of_many_are_looked_at),
		cmocka_unit_test(of_those_that_are_equal_the_first_and_the_end_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
