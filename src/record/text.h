/*
 * A short text in one look: its first 32 bytes and where it ends, without a call and without a loop. What is left of an
 * event beside its time stamp must fit into the processor's view, which is half as wide while the core's other thread
 * works; then strlen and a copy word by word cost half an event.
 */
#ifndef SONDE_RECORD_TEXT_H
#define SONDE_RECORD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHORT_TEXT = 32, PAGE = 4096 };

#ifdef __SSE2__
#include <emmintrin.h>

typedef struct short_text {
	__m128i low, high;
	uint32_t len;
} short_text;

/* What is read behind a text changes nothing: neither where it ends nor who writes there matters. */
#define READS_BEHIND __attribute__((no_sanitize_address, no_sanitize_thread))

static inline uint32_t equal_bytes(const short_text *t, __m128i low, __m128i high)
{
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(t->low, low)) |
	       (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(t->high, high)) << 16;
}

/* False when it has SHORT_TEXT bytes or more, or when they would reach into the next page, which need not exist. */
static inline READS_BEHIND bool short_text_read(short_text *t, const char *text)
{
	if (((uintptr_t)text & (PAGE - 1)) > PAGE - SHORT_TEXT)
		return false;
	t->low = _mm_loadu_si128((const __m128i_u *)text);
	t->high = _mm_loadu_si128((const __m128i_u *)text + 1);
	uint32_t zeros = equal_bytes(t, _mm_setzero_si128(), _mm_setzero_si128());
	if (!zeros)
		return false;
	t->len = (uint32_t)__builtin_ctz(zeros);
	return true;
}

/* SHORT_TEXT bytes, zeros behind the text. */
static inline void short_text_write(const short_text *t, uint64_t *to)
{
	static const uint8_t keep[2 * SHORT_TEXT] = { [0 ... SHORT_TEXT - 1] = 0xff };
	const __m128i_u *mask = (const __m128i_u *)(keep + SHORT_TEXT - t->len);

	_mm_storeu_si128((__m128i_u *)to, _mm_and_si128(t->low, _mm_loadu_si128(mask)));
	_mm_storeu_si128((__m128i_u *)to + 1, _mm_and_si128(t->high, _mm_loadu_si128(mask + 1)));
}

/* Whether `other`, which has as many bytes, not 0, and SHORT_TEXT that may be read, is the same. */
static inline READS_BEHIND bool short_text_is(const short_text *t, const char *other)
{
	uint32_t equal = equal_bytes(t, _mm_loadu_si128((const __m128i_u *)other),
				     _mm_loadu_si128((const __m128i_u *)other + 1));

	return !(~equal << 1 << (SHORT_TEXT - 1 - t->len));
}
#endif

#endif
