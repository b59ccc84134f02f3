/* See columns.h. */
#include "format/index/columns.h"

#include <string.h>

static unsigned bits_of(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

static size_t run_bytes(size_t n_rows, unsigned width)
{
	return (n_rows * width + 63) / 64 * 8;
}

/* ---- Packing ----------------------------------------------------------------------------------------------------- */

/*
 * Written once and compiled twice, for any machine and for one with AVX2: everything below is inlined into the two
 * functions that columns_pack() chooses from.
 */
#define BOTH static inline __attribute__((always_inline))

/* A word that fills up from its low end. */
typedef struct bit_writer {
	uint8_t *to;
	uint64_t word;
	unsigned filled;
} bit_writer;

/* Adds 1 to 64 bits. Without a branch: where words end is different for every width. */
BOTH void put_bits(bit_writer *w, uint64_t bits, unsigned width)
{
	unsigned filled = w->filled + width, full = filled / 64;
	uint64_t word = w->word | bits << w->filled, rest = bits >> 1 >> (63 - w->filled);

	memcpy(w->to, &word, 8);
	w->to += (size_t)8 * full;
	w->word = full ? rest : word;
	w->filled = filled % 64;
}

/* Returns how many bytes it wrote. */
BOTH size_t pack_run(uint8_t *to, const int64_t *values, size_t n, int64_t base, unsigned width)
{
	bit_writer w = { .to = to };
	size_t i = 0;

#define VALUE(k) ((uint64_t)values[i + (k)] - (uint64_t)base)
	/* Narrow ones are put together first: that is quicker than adding each to the word. */
	for (; width <= 16 && i + 4 <= n; i += 4)
		put_bits(&w, VALUE(0) | VALUE(1) << width | (VALUE(2) | VALUE(3) << width) << 2 * width, 4 * width);
	for (; width <= 32 && i + 2 <= n; i += 2)
		put_bits(&w, VALUE(0) | VALUE(1) << width, 2 * width);
	for (; i < n; i++)
		put_bits(&w, VALUE(0), width);
#undef VALUE
	if (w.filled) {
		memcpy(w.to, &w.word, 8);
		w.to += 8;
	}
	return (size_t)(w.to - to);
}

typedef struct range {
	int64_t min, max;
} range;

/* What is left of values from row `from` on is looked at one by one. */
BOTH range range_of(const int64_t *values, size_t from, size_t n, range r)
{
	for (size_t i = from; i < n; i++) {
		r.min = values[i] < r.min ? values[i] : r.min;
		r.max = values[i] > r.max ? values[i] : r.max;
	}
	return r;
}

/* Eight values at a time. */
BOTH range range_of_many(const int64_t *values, size_t n, range r)
{
	typedef int64_t four __attribute__((vector_size(32), aligned(8), may_alias));
	size_t n_wide = n & ~(size_t)7;

	if (n_wide) {
		four low = *(const four *)values, high = low, low2 = low, high2 = low;
#define SELECT(mask, a, b) (((a) & (mask)) | ((b) & ~(mask)))
		for (size_t i = 0; i < n_wide; i += 8) {
			four v = *(const four *)(values + i), v2 = *(const four *)(values + i + 4);
			low = SELECT(v < low, v, low);
			high = SELECT(v > high, v, high);
			low2 = SELECT(v2 < low2, v2, low2);
			high2 = SELECT(v2 > high2, v2, high2);
		}
		low = SELECT(low2 < low, low2, low);
		high = SELECT(high2 > high, high2, high);
#undef SELECT
		for (size_t i = 0; i < 4; i++) {
			r.min = low[i] < r.min ? low[i] : r.min;
			r.max = high[i] > r.max ? high[i] : r.max;
		}
	}
	return range_of(values, n_wide, n, r);
}

BOTH size_t pack_block(uint8_t *to, const int64_t *values, size_t n_columns, size_t n_rows, bool wide)
{
	columns_head head = { .n_rows = (uint16_t)n_rows, .n_columns = (uint8_t)n_columns };
	uint8_t *bases = to + sizeof head, *bits = bases + 8 * n_columns;

	for (size_t c = 0; c < n_columns; c++) {
		const int64_t *column = values + c * COLUMNS_ROWS;
		range r = { column[0], column[0] };
		/* Many columns are the same in all rows; that is quickly seen. */
		if (memcmp(column, column + 1, (n_rows - 1) * sizeof *column) != 0) {
			r = wide ? range_of_many(column, n_rows, r) : range_of(column, 0, n_rows, r);
			unsigned width = bits_of((uint64_t)r.max - (uint64_t)r.min);
			head.width[c] = (uint8_t)width;
			bits += pack_run(bits, column, n_rows, r.min, width);
		}
		memcpy(bases + 8 * c, &r.min, 8);
	}
	memcpy(to, &head, sizeof head);
	return (size_t)(bits - to);
}

#if defined(__x86_64__)
__attribute__((target("avx2,bmi2"))) static size_t pack_block_wide(uint8_t *to, const int64_t *values, size_t n_columns,
								   size_t n_rows)
{
	return pack_block(to, values, n_columns, n_rows, true);
}
#endif

size_t columns_pack_plain(uint8_t *to, const int64_t *values, size_t n_columns, size_t n_rows)
{
	return pack_block(to, values, n_columns, n_rows, false);
}

size_t columns_pack(uint8_t *to, const int64_t *values, size_t n_columns, size_t n_rows)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
		return pack_block_wide(to, values, n_columns, n_rows);
#endif
	return columns_pack_plain(to, values, n_columns, n_rows);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

bool columns_open(columns *c, const uint8_t *bytes, size_t len, size_t n_columns)
{
	const columns_head *head = (const columns_head *)bytes;
	size_t at = sizeof *head + 8 * n_columns;

	if (len < at || head->n_columns != n_columns || n_columns > COLUMNS_MAX || head->n_rows == 0 ||
	    head->n_rows > COLUMNS_ROWS)
		return false;
	c->n_rows = head->n_rows;
	c->n_columns = (uint32_t)n_columns;
	c->widths = head->width;
	c->bases = bytes + sizeof *head;
	for (size_t i = 0; i < n_columns; i++) {
		if (head->width[i] > 64)
			return false;
		c->bits[i] = bytes + at;
		at += run_bytes(c->n_rows, head->width[i]);
		if (at > len)
			return false;
	}
	return true;
}

/* ---- Unpacking --------------------------------------------------------------------------------------------------- */

/* A run of bits of at most this width: eight bytes from a value's first one hold all of it. */
enum { MAX_NARROW = 57 };

static void unpack_narrow(const uint8_t *bits, unsigned width, uint64_t base, size_t first, size_t n, int64_t *ret)
{
	uint64_t mask = ((uint64_t)1 << width) - 1;
	size_t bit = first * width;

	for (size_t i = 0; i < n; i++, bit += width) {
		uint64_t word;
		memcpy(&word, bits + bit / 8, 8);
		ret[i] = (int64_t)(base + (word >> bit % 8 & mask));
	}
}

#if defined(__x86_64__)
#include <immintrin.h>

/* Eight values take `width` bytes, so from eight to eight everything lies the same way. Two values are within 16 bytes
   of the first one's first byte. */
typedef struct eight {
	_Alignas(32) uint8_t shuffle[2][32]; /* of values 0 to 3, 4 to 7 */
	uint64_t shift[2][4];
	size_t pair[4]; /* first byte of values 0, 2, 4, 6 */
} eight;

static void lay_out_eight(unsigned width, eight *ret)
{
	for (unsigned i = 0; i < 8; i++) {
		unsigned byte = i * width / 8 - i / 2 * 2 * width / 8;
		uint64_t bytes = 0x0706050403020100 + byte * UINT64_C(0x0101010101010101);
		memcpy(ret->shuffle[i / 4] + i % 4 * 8, &bytes, 8);
		ret->shift[i / 4][i % 4] = i * width % 8;
		if (i % 2 == 0)
			ret->pair[i / 2] = i * width / 8;
	}
}

__attribute__((target("avx2"), always_inline)) static inline __m256i
unpack_four(const uint8_t *low, const uint8_t *high, const eight *e, unsigned half, __m256i mask, __m256i base)
{
	__m256i bytes = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low)),
						_mm_loadu_si128((const __m128i *)high), 1);
	__m256i words = _mm256_shuffle_epi8(bytes, _mm256_load_si256((const __m256i *)e->shuffle[half]));

	words = _mm256_srlv_epi64(words, _mm256_load_si256((const __m256i *)e->shift[half]));
	return _mm256_add_epi64(_mm256_and_si256(words, mask), base);
}

/* From a row that is a multiple of 8; returns how many it could do without reading further than 8 bytes behind end. */
__attribute__((target("avx2"))) static size_t unpack_eights(const uint8_t *at, const uint8_t *end, unsigned width,
							    uint64_t base, size_t n, int64_t *ret)
{
	__m256i mask = _mm256_set1_epi64x((int64_t)(((uint64_t)1 << width) - 1)),
		bases = _mm256_set1_epi64x((int64_t)base);
	eight e;
	size_t i = 0;

	lay_out_eight(width, &e);
	for (; i + 8 <= n && end - at >= (ptrdiff_t)(e.pair[3] + 8); i += 8, at += width) {
		__m256i low = unpack_four(at, at + e.pair[1], &e, 0, mask, bases);
		__m256i high = unpack_four(at + e.pair[2], at + e.pair[3], &e, 1, mask, bases);
		_mm256_storeu_si256((__m256i *)(ret + i), low);
		_mm256_storeu_si256((__m256i *)(ret + i + 4), high);
	}
	return i;
}

static size_t unpack_fast(const columns *c, size_t column, size_t first, size_t n, int64_t *ret)
{
	unsigned width = c->widths[column];
	const uint8_t *bits = c->bits[column];

	if (n < 32 || first % 8 != 0 || !__builtin_cpu_supports("avx2"))
		return 0;
	return unpack_eights(bits + first / 8 * width, bits + run_bytes(c->n_rows, width), width,
			     (uint64_t)columns_base(c, column), n, ret);
}
#else
static size_t unpack_fast(const columns *c, size_t column, size_t first, size_t n, int64_t *ret)
{
	(void)c;
	(void)column;
	(void)first;
	(void)n;
	(void)ret;
	return 0;
}
#endif

void columns_unpack(const columns *c, size_t column, size_t first, size_t n, int64_t *ret_values)
{
	unsigned width = c->widths[column];
	int64_t base = columns_base(c, column);

	if (!width && !base) {
		memset(ret_values, 0, n * sizeof *ret_values);
	} else if (!width) {
		for (size_t i = 0; i < n; i++)
			ret_values[i] = base;
	} else if (width <= MAX_NARROW) {
		size_t done = unpack_fast(c, column, first, n, ret_values);
		unpack_narrow(c->bits[column], width, (uint64_t)base, first + done, n - done, ret_values + done);
	} else {
		for (size_t i = 0; i < n; i++)
			ret_values[i] = columns_get(c, column, first + i);
	}
}
