/* For the tests of the decoders: one over bytes in memory, without the windows of input.c. */
#ifndef TESTS_UNIT_IMPORT_DECODER_H
#define TESTS_UNIT_IMPORT_DECODER_H

#include "unit/import/packed.h"

#include "import/input/source.h"

/* All text, `room` bytes at a time. *ret_damage: NULL if there is none. The caller frees the text. */
static inline blob decode(const input_decoder *d, blob packed, size_t room, const char **ret_damage)
{
	blob text = { malloc(1), 0 };
	uint8_t *to = malloc(room), *buffer = malloc(SOURCE_BUFFER);
	input_source s = { .fd = -1,
			   .wake_fd = -1,
			   .memory = packed.ptr,
			   .memory_left = packed.len,
			   .buffer = buffer,
			   .at = buffer,
			   .total = packed.len };
	void *decoder = d->open();
	size_t n;

	assert_true(decoder && to && buffer && text.ptr);
	*ret_damage = NULL;
	do {
		n = d->read(decoder, &s, to, room, ret_damage);
		assert_true(n <= room);
		text = join(text, copy_of(to, n));
	} while (n == room && !*ret_damage);
	assert_true(source_position(&s) <= packed.len);
	d->close(decoder);
	free(buffer);
	free(to);
	return text;
}

/* Text that packs well in some places and badly in others. */
static inline blob make_text(size_t len)
{
	uint8_t *bytes = malloc(len + 1);
	uint64_t seed = len;

	assert_non_null(bytes);
	for (size_t i = 0; i < len; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = i / 1000 % 2 ? (uint8_t)(seed >> 40) : (uint8_t)('a' + i / 50 % 20);
	}
	return (blob){ bytes, len };
}

static inline void expect_text(blob got, blob wanted)
{
	assert_int_equal(got.len, wanted.len);
	assert_memory_equal(got.ptr, wanted.ptr, got.len);
	free(got.ptr);
}

/* However long the text and however small the room, it comes back. */
static inline void check_rooms(const input_decoder *d, blob (*pack)(blob text))
{
	static const size_t lengths[] = { 0, 1, 999, 65536, 700001 }, rooms[] = { 1000, 65536, 1 << 20 };

	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
		for (size_t k = 0; k < 3; k++) {
			blob text = make_text(lengths[i]), packed = pack(text);
			const char *damage;
			assert_true(d->is_it(packed.ptr, packed.len));
			expect_text(decode(d, packed, rooms[k], &damage), text);
			assert_null(damage);
			free(packed.ptr);
			free(text.ptr);
		}
}

/* Cut anywhere: what comes is the start of the text, and the cut is told, unless nothing is left of the data. */
static inline void check_cuts(const input_decoder *d, blob (*pack)(blob text), const char *says)
{
	blob text = make_text(3000), packed = pack(text);
	const char *damage;

	for (size_t cut = 1; cut < packed.len; cut++) {
		uint8_t *exact = malloc(cut);
		assert_non_null(exact);
		memcpy(exact, packed.ptr, cut);
		blob got = decode(d, (blob){ exact, cut }, 4096, &damage);
		assert_true(got.len <= text.len && memcmp(got.ptr, text.ptr, got.len) == 0);
		if (cut >= 4) {
			assert_non_null(damage);
			assert_string_equal(damage, says);
		}
		free(got.ptr);
		free(exact);
	}
	free(packed.ptr);
	free(text.ptr);
}

#endif
