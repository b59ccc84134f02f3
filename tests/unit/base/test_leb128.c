/* LEB128: sizes, padding, cuts, and that the fast way and the slow way agree. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/leb128.h"

typedef struct leb128_case {
	const char *bytes;
	size_t len;
	uint64_t value;
} leb128_case;

/* From protobuf's guide to its encoding, and the ends of every length. */
static const leb128_case cases[] = {
	{ "\x00", 1, 0 },
	{ "\x01", 1, 1 },
	{ "\x7f", 1, 127 },
	{ "\x80\x01", 2, 128 },
	{ "\x96\x01", 2, 150 },
	{ "\xff\x7f", 2, 16383 },
	{ "\x80\x80\x01", 3, 16384 },
	{ "\xff\xff\x7f", 3, (1 << 21) - 1 },
	{ "\xff\xff\xff\xff\x0f", 5, UINT32_MAX },
	{ "\xff\xff\xff\xff\xff\xff\x7f", 7, (UINT64_C(1) << 49) - 1 },
	{ "\xff\xff\xff\xff\xff\xff\xff\x7f", 8, (UINT64_C(1) << 56) - 1 },
	{ "\x80\x80\x80\x80\x80\x80\x80\x80\x01", 9, UINT64_C(1) << 56 },
	{ "\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9, INT64_MAX },
	{ "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10, UINT64_C(1) << 63 },
	{ "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, (uint64_t)-2 },
	{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX },
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

/* Reads from a block of exactly this size, so that a sanitizer sees a read behind it. *ret_n: bytes read, 0: refused.
 */
static uint64_t read_exact(const char *bytes, size_t len, size_t *ret_n)
{
	uint8_t *copy = malloc(len ? len : 1);
	uint64_t value = 77;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	const uint8_t *end = leb128_get(copy, copy + len, &value);
	*ret_n = end ? (size_t)(end - copy) : 0;
	free(copy);
	return value;
}

static void numbers_have_the_bytes_that_protobuf_gives_them(void **state)
{
	uint8_t bytes[LEB128_MAX];

	(void)state;
	for (size_t i = 0; i < N_CASES; i++) {
		assert_int_equal(leb128_put(bytes, cases[i].value) - bytes, cases[i].len);
		assert_memory_equal(bytes, cases[i].bytes, cases[i].len);
		assert_int_equal(leb128_size(cases[i].value), cases[i].len);
	}
}

static void what_follows_a_number_does_not_change_it(void **state)
{
	char padded[LEB128_MAX + 16];
	size_t n;

	(void)state;
	for (size_t i = 0; i < N_CASES; i++)
		for (size_t more = 0; more <= 16; more++)
			for (int byte = 0; byte < 256; byte += 85) {
				memset(padded, byte, sizeof padded);
				memcpy(padded, cases[i].bytes, cases[i].len);
				assert_int_equal(read_exact(padded, cases[i].len + more, &n), cases[i].value);
				assert_int_equal(n, cases[i].len);
			}
}

static void a_number_that_is_cut_off_is_refused(void **state)
{
	size_t n;

	(void)state;
	for (size_t i = 0; i < N_CASES; i++)
		for (size_t len = 0; len < cases[i].len; len++) {
			read_exact(cases[i].bytes, len, &n);
			assert_int_equal(n, 0);
		}
}

static void bytes_behind_the_end_may_be_loaded_but_are_not_read(void **state)
{
	uint8_t bytes[LEB128_MAX + 16];
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < N_CASES; i++)
		for (size_t len = 0; len <= cases[i].len; len++) {
			memset(bytes, 0, sizeof bytes);
			memcpy(bytes, cases[i].bytes, cases[i].len);
			const uint8_t *end = leb128_get_near(bytes, bytes + len, bytes + sizeof bytes, &value);
			assert_ptr_equal(end, len == cases[i].len ? bytes + len : NULL);
			if (end)
				assert_int_equal(value, cases[i].value);
		}
}

static void padding_is_accepted_up_to_ten_bytes(void **state)
{
	char bytes[20];
	size_t n;

	(void)state;
	for (size_t len = 2; len <= sizeof bytes; len++) {
		memset(bytes, 0x80, sizeof bytes);
		bytes[0] = (char)0x85;
		bytes[len - 1] = 0;
		uint64_t value = read_exact(bytes, sizeof bytes, &n);
		assert_int_equal(n, len <= LEB128_MAX ? len : 0);
		if (n)
			assert_int_equal(value, 5);
	}
}

static void more_than_64_bits_are_refused(void **state)
{
	char bytes[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
	size_t n;

	(void)state;
	for (int last = 2; last < 256; last++) {
		bytes[9] = (char)last;
		read_exact(bytes, 10, &n);
		assert_int_equal(n, 0);
	}
}

static void random_numbers_come_back_by_both_ways(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint64_t value = seed >> (seed % 64), fast = 0, slow = 0;
		uint8_t bytes[LEB128_MAX + 8];
		memset(bytes, i, sizeof bytes);
		const uint8_t *end = leb128_put(bytes, value);
		assert_int_equal(end - bytes, leb128_size(value));
		assert_ptr_equal(leb128_get(bytes, bytes + sizeof bytes, &fast), end);
		assert_ptr_equal(leb128_get_slow(bytes, end, &slow), end);
		assert_true(fast == value && slow == value);
	}
}

static void zigzag_keeps_small_numbers_small(void **state)
{
	static const struct {
		int64_t number;
		uint64_t encoded;
	} pairs[] = { { 0, 0 },
		      { -1, 1 },
		      { 1, 2 },
		      { -2, 3 },
		      { INT32_MAX, 0xfffffffe },
		      { INT32_MIN, 0xffffffff },
		      { INT64_MAX, UINT64_MAX - 1 },
		      { INT64_MIN, UINT64_MAX } };

	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		assert_true(leb128_zigzag(pairs[i].number) == pairs[i].encoded);
		assert_true(leb128_unzigzag(pairs[i].encoded) == pairs[i].number);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_the_bytes_that_protobuf_gives_them),
		cmocka_unit_test(what_follows_a_number_does_not_change_it),
		cmocka_unit_test(a_number_that_is_cut_off_is_refused),
		cmocka_unit_test(bytes_behind_the_end_may_be_loaded_but_are_not_read),
		cmocka_unit_test(padding_is_accepted_up_to_ten_bytes),
		cmocka_unit_test(more_than_64_bits_are_refused),
		cmocka_unit_test(random_numbers_come_back_by_both_ways),
		cmocka_unit_test(zigzag_keeps_small_numbers_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
