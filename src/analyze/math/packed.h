/*
 * Numbers of 1 to 9 bytes, for lists of millions: intervals.c, work_spans.c. The trailing zero bits of the first byte
 * tell the length, so that one load and one shift read a number. PACKED_SLACK bytes behind the last one can be read.
 */
#ifndef SONDE_ANALYZE_MATH_PACKED_H
#define SONDE_ANALYZE_MATH_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PACKED_MAX = 9, PACKED_SLACK = 8, PACKED_HEAP = 1 << 20, PACKED_APART = 64 << 20 };

/* Writes up to PACKED_MAX bytes and returns the end of the number. */
static inline uint8_t *packed_put(uint8_t *to, uint64_t value)
{
	unsigned n = 1u + (value >= 1u << 7) + (value >= 1u << 14);

	if (__builtin_expect(value >= 1u << 21, 0)) {
		if (value >> 56) {
			to[0] = 0;
			memcpy(to + 1, &value, 8);
			return to + 9;
		}
		n = (70u - (unsigned)__builtin_clzll(value)) / 7;
	}
	value = value << n | 1u << (n - 1);
	memcpy(to, &value, 8);
	return to + n;
}

static inline const uint8_t *packed_get(const uint8_t *at, uint64_t *ret)
{
	uint64_t word;

	if (__builtin_expect(!at[0], 0)) {
		memcpy(ret, at + 1, 8);
		return at + 9;
	}
	unsigned n = (unsigned)__builtin_ctz(at[0]) + 1;
	memcpy(&word, at, 8);
	*ret = word >> n & (~UINT64_C(0) >> (64 - 7 * n));
	return at + n;
}

/* Small whatever the sign. */
static inline uint64_t packed_sign(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}
static inline int64_t packed_signed(uint64_t value)
{
	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* Room for two more numbers; false when out of memory. Large ones lie apart from the heap, where growing moves no bytes
   and leaves no holes. */
static inline bool packed_reserve(uint8_t **bytes, size_t n, size_t *capacity)
{
	if (*capacity >= n + 2 * PACKED_MAX + PACKED_SLACK)
		return true;
	size_t more = *capacity < 256 ? 256 : *capacity + *capacity / 2;
	more = more > PACKED_HEAP && more < PACKED_APART ? PACKED_APART : more;
	uint8_t *grown = realloc(*bytes, more);
	if (!grown)
		return false;
	*bytes = grown;
	*capacity = more;
	return true;
}

#endif
