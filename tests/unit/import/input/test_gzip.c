/* gzip: members in a row, padding, checksums, cuts. */
#include "unit/import/decoder.h"

static void text_of_any_size_comes_back(void **state)
{
	(void)state;
	check_rooms(&gzip_decoder, gzipped);
}

static void members_in_a_row_are_one_text(void **state)
{
	blob text = make_text(5000), packed = { malloc(1), 0 }, all = { malloc(1), 0 };
	const char *damage;

	(void)state;
	for (int i = 0; i < 20; i++) {
		blob part = { text.ptr, (size_t)i * 97 }; /* the first is empty */
		packed = join(packed, gzipped(part));
		all = join(all, copy_of(part.ptr, part.len));
	}
	expect_text(decode(&gzip_decoder, packed, 1000, &damage), all);
	assert_null(damage);
	free(packed.ptr);
	free(all.ptr);
	free(text.ptr);
}

static void zeros_behind_the_data_are_padding(void **state)
{
	static const struct {
		size_t n_zeros;
		const char *behind, *says;
	} cases[] = {
		{ 1, "", NULL },
		{ 512 << 10, "", NULL }, /* more than the buffer */
		{ 100, "x", "unexpected data after the gzip data" },
		{ 0, "PK", "unexpected data after the gzip data" },
	};
	blob text = make_text(5000);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint8_t *zeros = calloc(1, cases[i].n_zeros + 1);
		blob packed = join(gzipped(text), copy_of(zeros, cases[i].n_zeros));
		const char *damage;
		packed = join(packed, copy_of(cases[i].behind, strlen(cases[i].behind)));
		expect_text(decode(&gzip_decoder, packed, 1 << 20, &damage), text);
		assert_int_equal(damage != NULL, cases[i].says != NULL);
		if (damage)
			assert_string_equal(damage, cases[i].says);
		free(packed.ptr);
		free(zeros);
	}
	free(text.ptr);
}

static void cut_data_is_told(void **state)
{
	(void)state;
	check_cuts(&gzip_decoder, gzipped, "the gzip data is truncated");
}

static void damage_is_told_by_its_kind(void **state)
{
	blob text = make_text(5000), packed = gzipped(text);
	const char *damage;

	(void)state;
	packed.ptr[packed.len - 6] ^= 1; /* the checksum */
	free(decode(&gzip_decoder, packed, 1 << 20, &damage).ptr);
	assert_string_equal(damage, "the gzip data is damaged: wrong checksum");
	packed.ptr[2] = 7; /* the method */
	free(decode(&gzip_decoder, packed, 1 << 20, &damage).ptr);
	assert_string_equal(damage, "the gzip data is damaged: unknown compression method");
	free(packed.ptr);
	free(text.ptr);
}

static void two_bytes_tell_what_it_is(void **state)
{
	(void)state;
	assert_true(gzip_decoder.is_it((const uint8_t *)"\x1f\x8b", 2));
	assert_false(gzip_decoder.is_it((const uint8_t *)"\x1f\x8b", 1));
	assert_false(gzip_decoder.is_it((const uint8_t *)"\x1f\x8c", 2));
	assert_false(gzip_decoder.is_it((const uint8_t *)"{", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_of_any_size_comes_back),	     cmocka_unit_test(members_in_a_row_are_one_text),
		cmocka_unit_test(zeros_behind_the_data_are_padding), cmocka_unit_test(cut_data_is_told),
		cmocka_unit_test(damage_is_told_by_its_kind),	     cmocka_unit_test(two_bytes_tell_what_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
