/*
 * Integers of 1 to 9 bytes: the number of trailing zero bits of the first byte, plus one, is the length. One load and
 * one shift decode it, one store encodes it. A first byte of 0 means that 8 plain bytes follow.
 */
#ifndef SONDE_BASE_VARINT_H
#define SONDE_BASE_VARINT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { VARINT_MAX = 9 };

/* Writes at out, which has room for VARINT_MAX bytes, and returns the end. */
static inline uint8_t *varint_put(uint8_t *out, uint64_t value)
{
	/* Nearly all are short, and without -mlzcnt counting zeros is bsr, which is microcode on AMD. */
	unsigned n = 1u + (value >= 1u << 7) + (value >= 1u << 14);

	if (__builtin_expect(value >= 1u << 21, 0)) {
		if (value >> 56) {
			out[0] = 0;
			memcpy(out + 1, &value, 8);
			return out + 9;
		}
		n = (70u - (unsigned)__builtin_clzll(value)) / 7;
	}
	value = value << n | 1u << (n - 1);
	memcpy(out, &value, 8);
	return out + n;
}

/* The same without a branch: for words of texts, whose length nobody foresees. */
static inline uint8_t *varint_put_any(uint8_t *out, uint64_t value)
{
	unsigned bits = 64u - (unsigned)__builtin_clzll(value | 1), is_plain = bits > 56;
	unsigned n = (bits * 37 + 222) >> 8; /* (bits + 6) / 7, up to 56 */
	uint64_t packed = is_plain ? value : value << n | UINT64_C(1) << (n - 1);

	memcpy(out + is_plain, &packed, 8);
	out[0] = is_plain ? 0 : (uint8_t)packed;
	return out + (is_plain ? VARINT_MAX : n);
}

/* Reads a number that ends within VARINT_MAX bytes from in, all of them readable, and returns its length. */
static inline unsigned varint_get_whole(const uint8_t *in, uint64_t *ret_value)
{
	unsigned n = in[0] ? (unsigned)__builtin_ctz(in[0]) + 1 : VARINT_MAX;
	uint64_t word;

	if (__builtin_expect(n == VARINT_MAX, 0)) {
		memcpy(ret_value, in + 1, 8);
	} else {
		memcpy(&word, in, 8);
		*ret_value = word >> n & (~UINT64_C(0) >> (64 - 7 * n));
	}
	return n;
}

/* Apart, as the array would give every function that reads numbers a stack protector. */
__attribute__((noinline, cold, unused)) static const uint8_t *varint_get_last(const uint8_t *in, const uint8_t *end,
									      uint64_t *ret_value)
{
	uint8_t padded[VARINT_MAX] = { 0 };

	if (in >= end)
		return NULL;
	memcpy(padded, in, (size_t)(end - in));
	in += varint_get_whole(padded, ret_value);
	return in <= end ? in : NULL;
}

/* Reads at in, which ends at end, and returns the next position, or NULL when the number is cut off. */
static inline const uint8_t *varint_get(const uint8_t *in, const uint8_t *end, uint64_t *ret_value)
{
	if (__builtin_expect(end - in < VARINT_MAX, 0))
		return varint_get_last(in, end, ret_value);
	return in + varint_get_whole(in, ret_value);
}

/* Passes over n numbers; NULL when they are cut off. Those of one byte have its lowest bit set: up to eight of them are
   passed at once. */
static inline const uint8_t *varint_skip(const uint8_t *in, const uint8_t *end, uint32_t n)
{
	const uint64_t low_bits = UINT64_C(0x0101010101010101);
	uint64_t word;

	while (n && end - in > 2 * VARINT_MAX) {
		memcpy(&word, in, 8);
		uint64_t longer = ~word & low_bits;
		unsigned short_ones = longer ? (unsigned)__builtin_ctzll(longer) / 8 : 8;
		if (short_ones >= n)
			return in + n;
		in += short_ones;
		n -= short_ones;
		if (short_ones < 8) {
			unsigned byte = word >> 8 * short_ones & 0xff;
			in += byte ? (unsigned)__builtin_ctz(byte) + 1 : 9;
			n--;
		}
	}
	for (; n && in < end; n--)
		in += *in ? (unsigned)__builtin_ctz(*in) + 1 : 9;
	return n || in > end ? NULL : in;
}

static inline uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
