/*
 * The matcher: events whose layout is known. See chrome.h.
 *
 * Compiled twice from chrome_match.inc, with AVX2 and without; the results are the same. The text is followed by at
 * least INPUT_SLACK zeros, which match no piece and end every scan.
 */
#include "import/chrome/chrome.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include "base/json_read.h"

/* Room for one more event and its values. */
static bool reserve(chrome_batch *b)
{
	if (b->events.capacity == b->events.n) {
		size_t more = b->events.capacity ? b->events.capacity * 2 : 4096;
		void *grown = realloc(b->events.items, more * sizeof *b->events.items);
		if (!grown)
			return false;
		b->events.items = grown;
		b->events.capacity = more;
	}
	if (b->values.capacity - b->values.n < ARGS_GAPS_MAX) {
		size_t more = b->values.capacity ? b->values.capacity * 2 : 65536;
		void *grown = realloc(b->values.items, more * sizeof *b->values.items);
		if (!grown)
			return false;
		b->values.items = grown;
		b->values.capacity = more;
	}
	return true;
}

/* Eight digits, each in its byte, the first in the lowest: pairs, fours, all. */
static inline uint64_t join_digits(uint64_t digits)
{
	digits = digits * 10 + (digits >> 8);
	return ((digits & 0x000000ff000000ffu) * (100 + (UINT64_C(1000000) << 32)) +
		(digits >> 16 & 0x000000ff000000ffu) * (1 + (UINT64_C(10000) << 32))) >>
	       32;
}

/* The digits at the start of eight bytes; *ret_n of them. */
static inline uint64_t leading_digits(const uint8_t *at, unsigned *ret_n)
{
	uint64_t digits;

	__builtin_memcpy(&digits, at, 8);
	digits ^= 0x3030303030303030u;
	/* The high bit of every byte above 9; carries only spoil what follows the first. */
	uint64_t other = ((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u;
	if (!other) {
		*ret_n = 8;
		return join_digits(digits);
	}
	unsigned n_bits = (unsigned)__builtin_ctzll(other) & 56;
	*ret_n = n_bits / 8;
	/* In front of them, as zeros, go the bytes that are none. */
	return n_bits ? join_digits(digits << (64 - n_bits)) : 0;
}

static const uint8_t *read_more_digits(const uint8_t *at, uint64_t *value)
{
	static const uint32_t powers[9] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000 };
	const uint8_t *p = at + 8;

	for (unsigned n = 8; n == 8 && p - at <= 16; p += n) {
		uint64_t more = leading_digits(p, &n);
		*value = *value * powers[n] + more;
	}
	return p - at > 18 ? at : p;
}

/* Up to 18 digits; returns where they end, `at` when there are none or too many. */
static inline const uint8_t *read_digits_scalar(const uint8_t *at, uint64_t *ret_value)
{
	unsigned n;

	*ret_value = leading_digits(at, &n);
	return n < 8 ? at + n : read_more_digits(at, ret_value);
}

static const uint8_t *read_unusual_time(const uint8_t *at, int64_t *ret_ns, uint32_t *repairs)
{
	const uint8_t *p = at;

	while ((*p >= '0' && *p <= '9') || *p == '.' || *p == '-' || *p == '+' || (*p | 32) == 'e')
		p++;
	return chrome_time(at, (size_t)(p - at), ret_ns, repairs) ? p : NULL;
}

/* ---- Without vector instructions --------------------------------------------------------------------------------- */

static inline bool same_text_scalar(const uint8_t *at, const uint8_t *piece, size_t len)
{
	/* Byte by byte at first: the text may end before the piece does. */
	for (; len >= 8; at += 8, piece += 8, len -= 8) {
		uint64_t a, b;
		__builtin_memcpy(&a, at, 8);
		__builtin_memcpy(&b, piece, 8);
		if (a != b)
			return false;
	}
	for (size_t i = 0; i < len; i++)
		if (at[i] != piece[i])
			return false;
	return true;
}

/* The first quote, backslash or control character. */
static inline const uint8_t *find_special_scalar(const uint8_t *at)
{
	while (*at >= 0x20 && *at != '"' && *at != '\\')
		at++;
	return at;
}

/* From a bracket to behind its partner; NULL where the careful reader should look. */
static const uint8_t *skip_brackets_scalar(const uint8_t *at, const uint8_t *end)
{
	int depth = 0;

	while (at < end) {
		uint8_t c = *at++;
		if (c == '"') {
			at = find_special_scalar(at);
			if (*at++ != '"')
				return NULL;
		} else if (c == '\\') {
			return NULL;
		} else if ((c | 32) == '{') {
			if (++depth == JSON_READ_DEPTH)
				return NULL;
		} else if ((c | 32) == '}' && --depth == 0) {
			return at;
		}
	}
	return NULL;
}

#define FN(name) name##_scalar
#include "import/chrome/match.inc"
#undef FN

/* ---- AVX2 -------------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#endif

/* Reads behind both, where another thread may be writing a text; what is there does not matter. */
__attribute__((no_sanitize_thread)) static inline bool same_text_avx2(const uint8_t *at, const uint8_t *piece,
								      size_t len)
{
	for (;;) {
		__m256i a = _mm256_loadu_si256((const __m256i *)at), b = _mm256_loadu_si256((const __m256i *)piece);
		uint32_t differ = ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b));
		if (len <= 32)
			return !_bzhi_u32(differ, (uint32_t)len);
		if (differ)
			return false;
		at += 32, piece += 32, len -= 32;
	}
}

/* All digits of a number are read at once, moved to the right of zeros. */
static inline const uint8_t *read_digits_avx2(const uint8_t *at, uint64_t *ret_value)
{
	static const uint8_t slide[32] = { 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
					   128, 128, 128, 128, 128, 0,	 1,   2,   3,	4,   5,
					   6,	7,   8,	  9,   10,  11,	 12,  13,  14,	15 };
	__m128i digits = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)at), _mm_set1_epi8('0'));
	uint32_t is_digit = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits));

	if (is_digit == 0xffff && (uint8_t)(at[16] - '0') <= 9)
		return read_digits_scalar(at, ret_value);
	unsigned n = (unsigned)__builtin_ctz(~is_digit);
	digits = _mm_shuffle_epi8(digits, _mm_loadu_si128((const __m128i *)(slide + n)));
	__m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010a));
	__m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x00010064));
	__m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(0x00012710));
	uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
	*ret_value = (both & UINT32_MAX) * 100000000 + (both >> 32);
	return at + n;
}

static inline const uint8_t *find_special_avx2(const uint8_t *at)
{
	const __m256i quote = _mm256_set1_epi8('"'), backslash = _mm256_set1_epi8('\\'),
		      control = _mm256_set1_epi8(0x1f);

	for (;; at += 32) {
		__m256i v = _mm256_loadu_si256((const __m256i *)at);
		__m256i hit =
			_mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(v, quote), _mm256_cmpeq_epi8(v, backslash)),
					_mm256_cmpeq_epi8(_mm256_min_epu8(v, control), v));
		uint32_t mask = (uint32_t)_mm256_movemask_epi8(hit);
		if (mask)
			return at + __builtin_ctz(mask);
	}
}

/* A bit is set from every odd bit of x up to the next one. */
static inline uint32_t between(uint32_t x)
{
	x ^= x << 1;
	x ^= x << 2;
	x ^= x << 4;
	x ^= x << 8;
	x ^= x << 16;
	return x;
}

static const uint8_t *skip_brackets_avx2(const uint8_t *at, const uint8_t *end)
{
	const __m256i quote = _mm256_set1_epi8('"'), backslash = _mm256_set1_epi8('\\'),
		      control = _mm256_set1_epi8(0x1f);
	const __m256i low = _mm256_set1_epi8(0x20), open = _mm256_set1_epi8('{'), close = _mm256_set1_epi8('}');
	uint32_t in_string = 0;
	int depth = 0;

	for (; at < end; at += 32) {
		__m256i v = _mm256_loadu_si256((const __m256i *)at), lowered = _mm256_or_si256(v, low);
		uint32_t quotes = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, quote));
		uint32_t opens = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(lowered, open));
		uint32_t closes = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(lowered, close));
		uint32_t strange = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, backslash));
		uint32_t strings = between(quotes) ^ in_string;
		uint32_t controls = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(v, control), v));
		in_string = (uint32_t)((int32_t)strings >> 31);
		strange |= controls & strings;
		closes &= ~strings;
		opens &= ~strings;
		if (depth + __builtin_popcount(opens) >= JSON_READ_DEPTH)
			return NULL;
		/* Each closing bracket, with the opening ones before it. */
		while (closes) {
			uint32_t before = _blsmsk_u32(closes) >> 1;
			depth += __builtin_popcount(opens & before) - 1;
			if (depth == 0) {
				const uint8_t *behind = at + __builtin_ctz(closes) + 1;
				return strange & before ? NULL : behind <= end ? behind : NULL;
			}
			opens &= ~before;
			closes = _blsr_u32(closes);
		}
		if (strange)
			return NULL;
		depth += __builtin_popcount(opens);
	}
	return NULL;
}

#define FN(name) name##_avx2
#include "import/chrome/match.inc"
#undef FN
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#else
#define match_events_avx2 match_events_scalar
#endif

const uint8_t *chrome_match(chrome_reader *r, chrome_batch *b, const uint8_t *at, const uint8_t *end,
			    const uint8_t *base)
{
	return r->scalar ? match_events_scalar(r, b, at, end, base) : match_events_avx2(r, b, at, end, base);
}
