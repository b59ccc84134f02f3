/* Integers of 1 to 9 bytes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/varint.h"

/* Both ways of writing give the same bytes. */
static size_t put(uint8_t *out, uint64_t value)
{
	uint8_t other[VARINT_MAX];
	size_t len = (size_t)(varint_put(out, value) - out);

	assert_ptr_equal(varint_put_any(other, value), other + len);
	assert_memory_equal(other, out, len);
	return len;
}

static void seven_bits_take_a_byte(void **state)
{
	static const struct {
		uint64_t value;
		size_t len;
	} cases[] = {
		{ 0, 1 },
		{ 1, 1 },
		{ 0x7f, 1 },
		{ 0x80, 2 },
		{ 0x3fff, 2 },
		{ 0x4000, 3 },
		{ 0x1fffff, 3 },
		{ 0x200000, 4 },
		{ 0xfffffff, 4 },
		{ 0x10000000, 5 },
		{ 0x7ffffffff, 5 },
		{ 0x800000000, 6 },
		{ 0x3ffffffffff, 6 },
		{ 0x40000000000, 7 },
		{ 0x1ffffffffffff, 7 },
		{ 0x2000000000000, 8 },
		{ 0xffffffffffffff, 8 },
		{ 0x100000000000000, 9 },
		{ INT64_MAX, 9 },
		{ UINT64_MAX, 9 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint8_t bytes[2 * VARINT_MAX] = { 0 };
		uint64_t value;

		assert_int_equal(put(bytes, cases[i].value), cases[i].len);
		assert_ptr_equal(varint_get(bytes, bytes + sizeof bytes, &value), bytes + cases[i].len);
		assert_true(value == cases[i].value);
		assert_ptr_equal(varint_get(bytes, bytes + cases[i].len, &value), bytes + cases[i].len);
		assert_true(value == cases[i].value);
	}
}

static void every_bit_pattern_comes_back(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		uint8_t bytes[VARINT_MAX];
		uint64_t value, in = random >> i % 64;

		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		size_t len = put(bytes, in);
		assert_ptr_equal(varint_get(bytes, bytes + len, &value), bytes + len);
		assert_true(value == in);
	}
}

/* Short and long ones in any order, at the end of their own block. */
static void numbers_are_passed_over_as_they_are_read(void **state)
{
	enum { NUMBERS = 40 };
	uint64_t random = 1, value;

	(void)state;
	for (unsigned turn = 0; turn < 2000; turn++) {
		uint8_t all[(NUMBERS + 1) * VARINT_MAX];
		size_t ends[NUMBERS + 1] = { 0 };
		for (uint32_t i = 0; i < NUMBERS; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			ends[i + 1] = ends[i] + put(all + ends[i], random >> (random % 4 ? 57 : random >> 8 & 63));
		}
		uint8_t *bytes = malloc(ends[NUMBERS]);
		assert_non_null(bytes);
		memcpy(bytes, all, ends[NUMBERS]);
		for (uint32_t n = 0; n <= NUMBERS; n++)
			assert_ptr_equal(varint_skip(bytes, bytes + ends[NUMBERS], n), bytes + ends[n]);
		assert_null(varint_skip(bytes, bytes + ends[NUMBERS], NUMBERS + 1));
		assert_null(varint_skip(bytes, bytes + ends[NUMBERS] - 1, NUMBERS));
		assert_ptr_equal(varint_get(bytes, bytes + ends[NUMBERS], &value), bytes + ends[1]);
		free(bytes);
	}
}

/* The bytes lie at the end of their own block: a sanitizer sees a read behind it. */
static void a_number_that_is_cut_off_is_none(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits <= 64; bits++) {
		uint8_t whole[VARINT_MAX];
		uint64_t in = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, value;
		size_t len = put(whole, in);

		for (size_t cut = 0; cut < len; cut++) {
			uint8_t *bytes = malloc(cut ? cut : 1);
			assert_non_null(bytes);
			memcpy(bytes, whole, cut);
			assert_null(varint_get(bytes, bytes + cut, &value));
			free(bytes);
		}
	}
}

static void numbers_lie_behind_each_other(void **state)
{
	static const uint64_t numbers[] = { 5, 300, 0, UINT64_MAX, 1 << 20, 127, 128 };
	enum { N = sizeof numbers / sizeof numbers[0] };
	uint8_t bytes[(N + 1) * VARINT_MAX], *end = bytes;
	const uint8_t *at = bytes;

	(void)state;
	for (size_t i = 0; i < N; i++)
		end = varint_put(end, numbers[i]);
	for (size_t i = 0; i < N; i++) {
		uint64_t value;
		at = varint_get(at, end, &value);
		assert_non_null(at);
		assert_true(value == numbers[i]);
	}
	assert_ptr_equal(at, end);
}

static void zigzag_keeps_small_numbers_of_both_signs_small(void **state)
{
	static const struct {
		int64_t value;
		uint64_t zigzag;
	} cases[] = { { 0, 0 },
		      { -1, 1 },
		      { 1, 2 },
		      { -2, 3 },
		      { 64, 128 },
		      { INT64_MAX, UINT64_MAX - 1 },
		      { INT64_MIN, UINT64_MAX } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_true(zigzag(cases[i].value) == cases[i].zigzag);
		assert_true(unzigzag(cases[i].zigzag) == cases[i].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seven_bits_take_a_byte),
		cmocka_unit_test(every_bit_pattern_comes_back),
		cmocka_unit_test(numbers_are_passed_over_as_they_are_read),
		cmocka_unit_test(a_number_that_is_cut_off_is_none),
		cmocka_unit_test(numbers_lie_behind_each_other),
		cmocka_unit_test(zigzag_keeps_small_numbers_of_both_signs_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
