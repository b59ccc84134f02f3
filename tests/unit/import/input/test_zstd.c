/* zstd: frames in a row, skippable ones, blocks before damage, windows beyond the limit. */
#include "unit/import/decoder.h"

static void text_of_any_size_comes_back(void **state)
{
	(void)state;
	check_rooms(&zstd_decoder, zstded);
}

static void frames_in_a_row_are_one_text(void **state)
{
	static const uint8_t skippable[] = "\x53\x2a\x4d\x18\x05\x00\x00\x00hello";
	blob text = make_text(5000), packed = copy_of(skippable, sizeof skippable - 1), all = { malloc(1), 0 };
	const char *damage;

	(void)state;
	assert_true(zstd_decoder.is_it(packed.ptr, packed.len));
	for (int i = 0; i < 20; i++) {
		blob part = { text.ptr, (size_t)i * 97 };
		packed = join(packed, zstded(part));
		packed = join(packed, copy_of(skippable, sizeof skippable - 1));
		all = join(all, copy_of(part.ptr, part.len));
	}
	expect_text(decode(&zstd_decoder, packed, 1000, &damage), all);
	assert_null(damage);
	free(packed.ptr);
	free(all.ptr);
	free(text.ptr);
}

static void cut_data_is_told(void **state)
{
	(void)state;
	check_cuts(&zstd_decoder, zstded, "the zstd data is truncated");
}

static void blocks_before_the_damage_come_whole(void **state)
{
	blob text = make_text(5 * ZSTD_BLOCKSIZE_MAX), packed = zstded(text);
	const char *damage;

	(void)state;
	packed.ptr[packed.len - 4] ^= 1; /* the checksum of the frame: behind all blocks */
	expect_text(decode(&zstd_decoder, packed, 1 << 20, &damage), text);
	assert_string_equal(damage, "the zstd data is damaged: wrong checksum");
	free(packed.ptr);
	free(text.ptr);
}

static void a_window_beyond_the_limit_is_refused(void **state)
{
	/* A frame with a window of 2^28 bytes, without a size. */
	static const uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, (28 - 10) << 3, 0x01, 0x00, 0x00 };
	const char *damage;
	blob packed = copy_of(frame, sizeof frame), got = decode(&zstd_decoder, packed, 4096, &damage);

	(void)state;
	assert_int_equal(got.len, 0);
	assert_string_equal(damage, "the zstd data needs a window of more than 128 MiB, the limit");
	free(got.ptr);
	packed.ptr[5] = (27 - 10) << 3; /* the largest that is taken: an empty frame */
	got = decode(&zstd_decoder, packed, 4096, &damage);
	assert_null(damage);
	free(got.ptr);
	free(packed.ptr);
}

static void something_else_behind_is_told(void **state)
{
	blob text = make_text(5000), packed = join(zstded(text), copy_of("hello", 5));
	const char *damage;

	(void)state;
	expect_text(decode(&zstd_decoder, packed, 1 << 20, &damage), text);
	assert_string_equal(damage, "unexpected data after the zstd data");
	free(packed.ptr);
	free(text.ptr);
}

static void four_bytes_tell_what_it_is(void **state)
{
	(void)state;
	assert_true(zstd_decoder.is_it((const uint8_t *)"\x28\xb5\x2f\xfd", 4));
	assert_true(zstd_decoder.is_it((const uint8_t *)"\x5f\x2a\x4d\x18", 4));
	assert_false(zstd_decoder.is_it((const uint8_t *)"\x60\x2a\x4d\x18", 4));
	assert_false(zstd_decoder.is_it((const uint8_t *)"\x28\xb5\x2f\xfd", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_of_any_size_comes_back),
		cmocka_unit_test(frames_in_a_row_are_one_text),
		cmocka_unit_test(cut_data_is_told),
		cmocka_unit_test(blocks_before_the_damage_come_whole),
		cmocka_unit_test(a_window_beyond_the_limit_is_refused),
		cmocka_unit_test(something_else_behind_is_told),
		cmocka_unit_test(four_bytes_tell_what_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
