/* Blocks that are allocated now, against a plain list. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "serve/blocks.h"

enum { ADDRESSES = 5000, OWNERS = 3, MOVES = 200000 };

static void blocks_come_and_go(void **state)
{
	static int64_t bytes[OWNERS][ADDRESSES]; /* 0: none */
	blocks b = { 0 };
	size_t n = 0;

	(void)state;
	srand(7);
	for (int i = 0; i < MOVES; i++) {
		uint32_t owner = (uint32_t)rand() % OWNERS, at = (uint32_t)rand() % ADDRESSES;
		/* Addresses of an allocator: multiples of a page, near each other. */
		uint64_t address = 0x7f0000000000 + (uint64_t)at * 4096;
		if (rand() % 2) {
			block added = { .owner = owner, .address = address, .bytes = i + 1, .track = at };
			assert_true(blocks_add(&b, &added));
			bytes[owner][at] = i + 1;
		} else {
			blocks_remove(&b, owner, address);
			bytes[owner][at] = 0;
		}
	}
	blocks_sort(&b);
	for (size_t i = 0; i < b.n; i++) {
		assert_true(i == 0 || b.items[i].bytes <= b.items[i - 1].bytes);
		assert_int_equal(b.items[i].bytes, bytes[b.items[i].owner][b.items[i].track]);
	}
	for (int i = 0; i < OWNERS * ADDRESSES; i++)
		n += bytes[i / ADDRESSES][i % ADDRESSES] > 0;
	assert_int_equal(b.n, n);
	blocks_done(&b);
}

static void one_that_is_not_there_is_ignored(void **state)
{
	blocks b = { 0 };

	(void)state;
	blocks_remove(&b, 0, 1);
	assert_true(blocks_add(&b, &(block){ .address = 1, .bytes = 0 }));
	blocks_remove(&b, 1, 1);
	blocks_remove(&b, 0, 2);
	assert_int_equal(b.n, 1);
	blocks_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_come_and_go),
		cmocka_unit_test(one_that_is_not_there_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
