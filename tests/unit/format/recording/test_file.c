/* Blocks and their checksums. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

/* The source itself, under other names: which of the two ways a checksum is made depends on the machine. */
#define crc32c either_crc32c
#define block_describe other_block_describe
#define block_seal other_block_seal
#define block_header_ok other_block_header_ok
#include "format/recording/file.c"
#undef crc32c
#undef block_seal
#undef block_header_ok
uint32_t crc32c(uint32_t crc, const void *data, size_t len);
size_t block_seal(block_header *block, block_kind kind, uint64_t stream, size_t length, uint32_t n_events);
bool block_header_ok(const block_header *header);

/* As the polynomial says, bit by bit. */
static uint32_t reference(const uint8_t *p, size_t len)
{
	uint32_t crc = ~0u;

	while (len--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

/* RFC 3720, appendix B.4. */
static void known_texts_have_known_checksums(void **state)
{
	uint8_t zeros[32] = { 0 }, ones[32], rising[32], falling[32];

	(void)state;
	memset(ones, 0xff, sizeof ones);
	for (int i = 0; i < 32; i++) {
		rising[i] = (uint8_t)i;
		falling[i] = (uint8_t)(31 - i);
	}
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc32c(0, zeros, 32), 0x8a9136aa);
	assert_int_equal(crc32c(0, ones, 32), 0x62a8ab43);
	assert_int_equal(crc32c(0, rising, 32), 0x46dd794e);
	assert_int_equal(crc32c(0, falling, 32), 0x113fdb5c);
	assert_int_equal(crc32c(0, "", 0), 0);
}

static void both_ways_agree_with_the_definition(void **state)
{
	uint8_t bytes[300];

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 131 + (i >> 3));
	for (size_t start = 0; start < 9; start++)
		for (size_t len = 0; len < 280; len++) {
			uint32_t expected = reference(bytes + start, len);
			assert_int_equal(crc32c(0, bytes + start, len), expected);
			assert_int_equal(~crc_by_table(~0u, bytes + start, len), expected);
#if defined(__x86_64__)
			if (__builtin_cpu_supports("sse4.2"))
				assert_int_equal(~crc_by_instruction(~0u, bytes + start, len), expected);
#endif
		}
}

static void a_checksum_can_be_made_in_parts(void **state)
{
	static const char text[] = "forward, backward, optimizer and the rest of them";

	(void)state;
	for (size_t cut = 0; cut < sizeof text; cut++)
		assert_int_equal(crc32c(crc32c(0, text, cut), text + cut, sizeof text - cut),
				 crc32c(0, text, sizeof text));
}

typedef struct small_block {
	block_header header;
	uint8_t payload[24];
} small_block;

static void a_sealed_block_is_padded_with_zeros_and_sound(void **state)
{
	(void)state;
	for (size_t len = 0; len <= 16; len++) {
		small_block b;

		memset(&b, 0xee, sizeof b);
		assert_int_equal(block_seal(&b.header, BLOCK_META, 42, len, 7), 32 + (len + 7) / 8 * 8);
		assert_true(block_header_ok(&b.header));
		assert_int_equal(b.header.kind, BLOCK_META);
		assert_int_equal(b.header.version, FORMAT_VERSION);
		assert_int_equal(b.header.length, len);
		assert_int_equal(b.header.n_events, 7);
		assert_int_equal(b.header.stream, 42);
		assert_int_equal(b.header.payload_crc, crc32c(0, b.payload, len));
		for (size_t i = 0; i < sizeof b.payload; i++)
			assert_int_equal(b.payload[i], i >= len && i < block_padded(len) ? 0 : 0xee);
	}
}

static void no_bit_of_a_header_can_change_unseen(void **state)
{
	small_block b = { .payload = "payload" };

	(void)state;
	block_seal(&b.header, BLOCK_EVENTS, UINT64_C(0x123456789abcdef), 7, 3);
	for (size_t bit = 0; bit < 8 * sizeof b.header; bit++) {
		uint8_t *byte = (uint8_t *)&b.header + bit / 8;

		*byte ^= (uint8_t)(1 << bit % 8);
		assert_false(block_header_ok(&b.header));
		*byte ^= (uint8_t)(1 << bit % 8);
	}
	assert_true(block_header_ok(&b.header));
}

static void a_block_longer_than_any_is_none(void **state)
{
	block_header h = { .magic = FORMAT_MAGIC, .kind = BLOCK_META, .version = 1, .length = BLOCK_MAX_BYTES };

	(void)state;
	h.header_crc = crc32c(0, &h, offsetof(block_header, header_crc));
	assert_true(block_header_ok(&h));
	h.length++;
	h.header_crc = crc32c(0, &h, offsetof(block_header, header_crc));
	assert_false(block_header_ok(&h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_texts_have_known_checksums),
		cmocka_unit_test(both_ways_agree_with_the_definition),
		cmocka_unit_test(a_checksum_can_be_made_in_parts),
		cmocka_unit_test(a_sealed_block_is_padded_with_zeros_and_sound),
		cmocka_unit_test(no_bit_of_a_header_can_change_unseen),
		cmocka_unit_test(a_block_longer_than_any_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
