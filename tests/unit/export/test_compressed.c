/* Streams that compress: what comes out is what went in, whatever the pieces, and a full disk is seen. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "export/compressed.h"
#include "import/input/input.h"

static const compression kinds[] = { COMPRESSION_GZIP, COMPRESSION_ZSTD };

/* Unpacked by the importer's own reader, which compares checksums. The caller frees it. */
static char *unpack(const char *packed, size_t len, size_t *ret_len)
{
	input *in;
	input_window w;
	sonde_error err = { .message = "" };
	uint64_t damage;
	char *text;
	FILE *to = open_memstream(&text, ret_len);
	bool last = false;

	assert_int_equal(input_open_memory((const uint8_t *)packed, len, &in), SONDE_OK);
	while (!last) {
		if (input_next(in, &w, &err))
			fail_msg("%s", err.message);
		fwrite(w.bytes, 1, w.len, to);
		last = w.last;
		input_release(in, &w);
	}
	assert_null(input_damage(in, &damage));
	input_close(in);
	fclose(to);
	return text;
}

/* Writes `len` bytes in pieces, packs, unpacks, compares. Returns the packed length. */
static size_t round_trip(compression kind, const char *bytes, size_t len, size_t piece)
{
	char *packed;
	size_t packed_len, again_len;
	FILE *file = open_memstream(&packed, &packed_len), *out = compressed_open(file, kind);

	assert_non_null(out);
	for (size_t at = 0; at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;
		assert_int_equal(fwrite(bytes + at, 1, n, out), n);
	}
	assert_int_equal(fclose(out), 0);
	fclose(file);
	char *again = unpack(packed, packed_len, &again_len);
	assert_int_equal(again_len, len);
	assert_memory_equal(again, bytes, len);
	free(again);
	free(packed);
	return packed_len;
}

static char *make_bytes(size_t len, bool is_random)
{
	char *bytes = malloc(len ? len : 1);
	uint64_t seed = 3;

	assert_non_null(bytes);
	for (size_t i = 0; i < len; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = is_random ? (char)(seed >> 33) : (char)('a' + i / 100 % 26);
	}
	return bytes;
}

static void everything_comes_back(void **state)
{
	static const size_t lengths[] = { 0, 1, 100, 131071, 131072, 131073, 3000000 }, pieces[] = { 7, 4096, 5000000 };

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
		for (size_t k = 0; k < 3; k++)
			for (int is_random = 0; is_random < 2; is_random++) {
				char *bytes = make_bytes(lengths[i], is_random);
				round_trip(COMPRESSION_GZIP, bytes, lengths[i], pieces[k]);
				round_trip(COMPRESSION_ZSTD, bytes, lengths[i], pieces[k]);
				free(bytes);
			}
}

static void text_gets_smaller(void **state)
{
	char *bytes = make_bytes(1000000, false);

	(void)state;
	for (size_t i = 0; i < 2; i++)
		assert_true(round_trip(kinds[i], bytes, 1000000, 1000) < 100000);
	free(bytes);
}

/* Not all of it waits for the end. */
static void what_is_written_leaves_while_more_comes(void **state)
{
	char *bytes = make_bytes(4000000, true);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char *packed;
		size_t packed_len;
		FILE *file = open_memstream(&packed, &packed_len), *out = compressed_open(file, kinds[i]);
		fwrite(bytes, 1, 4000000, out);
		fflush(file);
		assert_true(packed_len > 3000000);
		fclose(out);
		fclose(file);
		free(packed);
	}
	free(bytes);
}

static void a_full_disk_is_seen_by_the_writer(void **state)
{
	char *bytes = make_bytes(4000000, true);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		FILE *full = fopen("/dev/full", "w");
		if (!full)
			skip();
		FILE *out = compressed_open(full, kinds[i]);
		assert_non_null(out);
		errno = 0;
		fwrite(bytes, 1, 4000000, out);
		assert_true(ferror(out));
		assert_int_equal(errno, ENOSPC);
		assert_int_equal(fclose(out), EOF);
		fclose(full);
	}
	free(bytes);
}

static void the_name_says_how_it_is_compressed(void **state)
{
	(void)state;
	assert_int_equal(compression_of("a.json"), COMPRESSION_NONE);
	assert_int_equal(compression_of(""), COMPRESSION_NONE);
	assert_int_equal(compression_of("gz"), COMPRESSION_NONE);
	assert_int_equal(compression_of("a.gz"), COMPRESSION_GZIP);
	assert_int_equal(compression_of("dir/a.Zst"), COMPRESSION_ZSTD);
	assert_int_equal(compression_of("dir/.zst"), COMPRESSION_NONE);
	assert_string_equal(compression_end(COMPRESSION_GZIP), ".gz");
	assert_string_equal(compression_end(COMPRESSION_ZSTD), ".zst");
	assert_string_equal(compression_end(COMPRESSION_NONE), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_comes_back),
		cmocka_unit_test(text_gets_smaller),
		cmocka_unit_test(what_is_written_leaves_while_more_comes),
		cmocka_unit_test(a_full_disk_is_seen_by_the_writer),
		cmocka_unit_test(the_name_says_how_it_is_compressed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
