/*
 * A hash of texts, seeded so that nobody can prepare texts that collide.
 *
 *   text_hash()        reads up to 15 bytes further than the text
 *   text_hash_safe()   the same number, of a text that may end anywhere
 */
#ifndef SONDE_BASE_TEXT_HASH_H
#define SONDE_BASE_TEXT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t text_hash(const uint8_t *text, size_t len, uint64_t seed)
{
	uint64_t h = seed ^ len, a, b;

	for (; len > 16; len -= 16, text += 16) {
		memcpy(&a, text, 8);
		memcpy(&b, text + 8, 8);
		h = mix(a ^ 0x9e3779b97f4a7c15u, b ^ h);
	}
	memcpy(&a, text, 8);
	memcpy(&b, text + 8, 8);
	a = len >= 8 ? a : len ? a & (UINT64_MAX >> (64 - 8 * len)) : 0;
	b = len == 16 ? b : len > 8 ? b & (UINT64_MAX >> (128 - 8 * len)) : 0;
	return mix(a ^ 0x9e3779b97f4a7c15u, b ^ h ^ 0xe7037ed1a0b428dbu);
}

static inline uint64_t text_hash_safe(const uint8_t *text, size_t len, uint64_t seed)
{
	uint8_t tail[32] = { 0 };
	size_t whole = len > 16 ? (len - 1) / 16 * 16 : 0;
	uint64_t h = seed ^ len, a, b;

	for (size_t i = 0; i < whole; i += 16) {
		memcpy(&a, text + i, 8);
		memcpy(&b, text + i + 8, 8);
		h = mix(a ^ 0x9e3779b97f4a7c15u, b ^ h);
	}
	if (len)
		memcpy(tail, text + whole, len - whole);
	memcpy(&a, tail, 8);
	memcpy(&b, tail + 8, 8);
	return mix(a ^ 0x9e3779b97f4a7c15u, b ^ h ^ 0xe7037ed1a0b428dbu);
}

#endif
