/* Times in 16 bits: never too short, hardly too long, and in order. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "format/recording/short_time.h"

static void eleven_digits_are_kept_and_the_rest_rounded_up(void **state)
{
	static const struct {
		uint64_t ns, kept;
	} cases[] = {
		{ 0, 0 },
		{ 1, 1 },
		{ 2047, 2047 },
		{ 2048, 2048 },
		{ 2049, 2050 },
		{ 4094, 4094 },
		{ 4095, 4096 },
		{ 4097, 4100 },
		{ 1000000, 1000448 }, /* 1954 * 512 */
		{ (uint64_t)1 << 62, (uint64_t)1 << 62 },
		{ ((uint64_t)1 << 62) + 1, ((uint64_t)1 << 62) + ((uint64_t)1 << 52) },
		{ INT64_MAX, (uint64_t)1 << 63 },
		{ (uint64_t)2047 << 53, (uint64_t)2047 << 53 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(short_time_ns(short_time_of(cases[i].ns)), cases[i].kept);
}

static void every_number_of_a_time_comes_back(void **state)
{
	uint16_t last = short_time_of(INT64_MAX);

	(void)state;
	for (uint16_t i = 0; i < last; i++) {
		uint64_t ns = short_time_ns(i), next = short_time_ns((uint16_t)(i + 1));
		assert_true(ns < next);
		assert_true(next - ns == 1 || (next - ns) * 1024 <= ns);
		assert_int_equal(short_time_of(ns), i);
		assert_int_equal(short_time_of(ns + 1), i + 1);
		assert_int_equal(short_time_of(next), i + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eleven_digits_are_kept_and_the_rest_rounded_up),
		cmocka_unit_test(every_number_of_a_time_comes_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
