#include "base/bulk.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

enum { ROWS = 1 << 20 };

static void fill(bulk *b, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t *row = bulk_add(b, sizeof *row);
		assert_non_null(row);
		*row = i * i;
	}
}

static void check(const bulk *b, uint64_t from, uint64_t n)
{
	assert_int_equal(b->n, n * sizeof(uint64_t));
	assert_true(b->capacity >= b->n);
	for (uint64_t i = from; i < n; i++)
		assert_int_equal(((const uint64_t *)b->bytes)[i], i * i);
}

/* From what malloc has into mappings that move. */
static void bytes_stay_while_it_grows(void **state)
{
	bulk b = { 0 };

	(void)state;
	fill(&b, ROWS);
	check(&b, 0, ROWS);
	bulk_done(&b);
	assert_null(b.bytes);
	assert_int_equal(b.n, 0);
}

static void many_bytes_come_at_once(void **state)
{
	static const size_t sizes[] = { 1, 4096, 1 << 20, (1 << 20) + 1, 3 << 20, (2 << 20) - 1 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		bulk b = { 0 };
		fill(&b, 3);
		uint8_t *more = bulk_add(&b, sizes[i]);
		assert_non_null(more);
		more[0] = more[sizes[i] - 1] = 1;
		assert_int_equal(b.n, 3 * sizeof(uint64_t) + sizes[i]);
		assert_int_equal(((const uint64_t *)b.bytes)[2], 4);
		bulk_done(&b);
	}
}

static void more_than_there_is_is_refused(void **state)
{
	bulk b = { 0 };

	(void)state;
	fill(&b, 3);
	assert_null(bulk_add(&b, SIZE_MAX));
	assert_null(bulk_add(&b, SIZE_MAX / 4));
	check(&b, 0, 3);
	bulk_done(&b);
}

static void a_copy_is_of_its_own(void **state)
{
	bulk b = { 0 }, c = { 0 }, none = { 0 };

	(void)state;
	fill(&b, ROWS / 4);
	assert_true(bulk_copy(&c, &b));
	bulk_done(&b);
	check(&c, 0, ROWS / 4);
	bulk_done(&c);
	assert_true(bulk_copy(&c, &none));
	assert_int_equal(c.n, 0);
}

static void what_was_released_is_gone_and_the_rest_stays(void **state)
{
	const size_t half = ROWS / 2 * sizeof(uint64_t);
	size_t released = 0;
	bulk b = { 0 };

	(void)state;
	fill(&b, ROWS);
	bulk_release(&b, &released, half + 100);
	assert_true(released > 0 && released <= half);
	assert_int_equal(((const uint64_t *)b.bytes)[1], 0);
	check(&b, ROWS / 2, ROWS);
	bulk_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_stay_while_it_grows),
		cmocka_unit_test(many_bytes_come_at_once),
		cmocka_unit_test(more_than_there_is_is_refused),
		cmocka_unit_test(a_copy_is_of_its_own),
		cmocka_unit_test(what_was_released_is_gone_and_the_rest_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
