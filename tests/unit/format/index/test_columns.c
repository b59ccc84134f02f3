/* Packed columns: every width comes back, any row alone, and strangers' blocks are refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "format/index/columns.h"

enum { N_COLUMNS = 3 };

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state ^ *state >> 29;
}

/* From any row on, since some begin where eight values begin in a byte of their own. */
static void assert_stretches(const columns *c, size_t column, const int64_t *want, size_t n)
{
	static int64_t back[COLUMNS_ROWS + 1];

	for (size_t first = 0; first < n; first += 1 + n / 9) {
		back[n - first] = 4711;
		columns_unpack(c, column, first, n - first, back);
		assert_memory_equal(back, want + first, (n - first) * sizeof *want);
		assert_int_equal(back[n - first], 4711);
	}
	for (size_t len = 0; len <= n; len += 8) {
		columns_unpack(c, column, n - len, len, back);
		assert_memory_equal(back, want + n - len, len * sizeof *want);
	}
}

static void every_width_and_count_comes_back(void **state)
{
	static int64_t values[N_COLUMNS * COLUMNS_ROWS];
	static uint8_t plain[COLUMNS_BYTES(N_COLUMNS)];
	static const size_t counts[] = { 1, 2, 63, 64, 65, 255, COLUMNS_ROWS };
	uint64_t seed = 1;

	(void)state;
	for (unsigned width = 0; width <= 64; width++)
		for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
			size_t n = counts[k];
			for (size_t i = 0; i < N_COLUMNS * COLUMNS_ROWS; i++) {
				uint64_t value = width ? next_random(&seed) >> (64 - width) : 0;
				values[i] = (int64_t)(value - (i / COLUMNS_ROWS) * 1000);
			}
			/* Exactly as long as it must be, so that a sanitizer sees a read behind it. */
			uint8_t *room = malloc(COLUMNS_BYTES(N_COLUMNS));
			size_t len = columns_pack(room, values, N_COLUMNS, n);
			uint8_t *block = malloc(len + 8);
			memcpy(block, room, len);
			assert_int_equal(len % 8, 0);
			assert_int_equal(columns_pack_plain(plain, values, N_COLUMNS, n), len);
			assert_memory_equal(plain, block, len);
			columns c;
			assert_true(columns_open(&c, block, len, N_COLUMNS));
			assert_int_equal(c.n_rows, n);
			for (size_t column = 0; column < N_COLUMNS; column++) {
				const int64_t *want = values + column * COLUMNS_ROWS;
				assert_true(c.widths[column] <= width || width == 0);
				for (size_t i = 0; i < n; i++)
					assert_int_equal(columns_get(&c, column, i), want[i]);
				assert_stretches(&c, column, want, n);
			}
			free(block);
			free(room);
		}
}

static void the_same_value_takes_no_bits(void **state)
{
	static int64_t values[COLUMNS_ROWS];
	static uint8_t block[COLUMNS_BYTES(1) + 8];

	(void)state;
	for (size_t i = 0; i < COLUMNS_ROWS; i++)
		values[i] = INT64_MIN + 5;
	assert_int_equal(columns_pack(block, values, 1, COLUMNS_ROWS), sizeof(columns_head) + 8);
}

static void a_block_that_is_cut_or_strange_is_refused(void **state)
{
	static int64_t values[COLUMNS_ROWS];
	static uint8_t block[COLUMNS_BYTES(1) + 8];
	columns c;

	(void)state;
	for (size_t i = 0; i < COLUMNS_ROWS; i++)
		values[i] = (int64_t)i * 77;
	size_t len = columns_pack(block, values, 1, COLUMNS_ROWS);
	for (size_t cut = 0; cut < len; cut++)
		assert_false(columns_open(&c, block, cut, 1));
	assert_true(columns_open(&c, block, len, 1));
	assert_false(columns_open(&c, block, len, 2));
	columns_head *head = (columns_head *)block;
	head->width[0] = 65;
	assert_false(columns_open(&c, block, len, 1));
	head->width[0] = 15;
	head->n_rows = 0;
	assert_false(columns_open(&c, block, len, 1));
	head->n_rows = COLUMNS_ROWS + 1;
	assert_false(columns_open(&c, block, len, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_width_and_count_comes_back),
		cmocka_unit_test(the_same_value_takes_no_bits),
		cmocka_unit_test(a_block_that_is_cut_or_strange_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
