/*
 * LEB128: integers in groups of 7 bits, the lowest group first. The high bit of a byte says that another one follows.
 * Protobuf calls them varints. 64 bits take at most LEB128_MAX bytes.
 *
 * Up to eight bytes are decoded by one load and three shifts, without a branch on the length.
 */
#ifndef SONDE_BASE_LEB128_H
#define SONDE_BASE_LEB128_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LEB128_MAX = 10 };

/* Returns how many bytes leb128_put() writes: 1 to LEB128_MAX. */
static inline size_t leb128_size(uint64_t value)
{
	unsigned bits = 64u - (unsigned)__builtin_clzll(value | 1);

	return (bits * 9 + 64) >> 6; /* (bits + 6) / 7 for 1 to 64 bits */
}

/* Writes at out, which has room for LEB128_MAX bytes, and returns the end. */
static inline uint8_t *leb128_put(uint8_t *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*out++ = (uint8_t)(value | 0x80);
	*out++ = (uint8_t)value;
	return out;
}

/* Decodes byte by byte. Returns NULL if the number goes on at the end or has more than 64 bits. */
__attribute__((noinline, unused)) static const uint8_t *leb128_get_slow(const uint8_t *in, const uint8_t *end,
									uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; in < end && shift < 70; shift += 7) {
		uint8_t byte = *in++;
		if (shift == 63 && byte > 1)
			return NULL;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_value = value;
			return in;
		}
	}
	return NULL;
}

/* Moves the low 7 bits of each of eight bytes next to each other. */
static inline uint64_t leb128_join(uint64_t bytes)
{
	bytes = (bytes & 0x007f007f007f007fu) | (bytes & 0x7f007f007f007f00u) >> 1;
	bytes = (bytes & 0x00003fff00003fffu) | (bytes & 0x3fff00003fff0000u) >> 2;
	return (bytes & 0x000000000fffffffu) | (bytes & 0x0fffffff00000000u) >> 4;
}

/*
 * Reads at in, which ends at end. Returns the position behind the number; NULL if the number is cut off or has more
 * than 64 bits. Padded numbers, such as 80 00 for 0, are accepted up to LEB128_MAX bytes. Bytes up to `readable`, at or
 * behind end, may be loaded: a short message inside of a longer one is read as fast as the longer one.
 */
static inline const uint8_t *leb128_get_near(const uint8_t *in, const uint8_t *end, const uint8_t *readable,
					     uint64_t *ret_value)
{
	uint64_t word;

	if (__builtin_expect(in < end && *in < 0x80, 1)) {
		*ret_value = *in;
		return in + 1;
	}
	if (__builtin_expect(readable - in < (ptrdiff_t)sizeof word, 0))
		return leb128_get_slow(in, end, ret_value);
	memcpy(&word, in, sizeof word);
	uint64_t last = ~word & 0x8080808080808080u;
	if (__builtin_expect(!last, 0))
		return leb128_get_slow(in, end, ret_value);
	/* All bits up to the high bit of the last byte. */
	*ret_value = leb128_join(word & (last ^ (last - 1)));
	in += __builtin_ctzll(last) / 8 + 1;
	return __builtin_expect(in <= end, 1) ? in : NULL;
}

static inline const uint8_t *leb128_get(const uint8_t *in, const uint8_t *end, uint64_t *ret_value)
{
	return leb128_get_near(in, end, end, ret_value);
}

/* Signed numbers as unsigned ones that are small where the number is near 0: 0, -1, 1, -2 become 0, 1, 2, 3. */
static inline uint64_t leb128_zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t leb128_unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
