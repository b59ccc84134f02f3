/*
 * Blocks of rows, each column packed into as few bits as its values need.
 *
 *   block = columns_head, int64 base[n_columns], n_columns runs of packed bits
 *
 * A value is base + its bits. The runs follow each other, each rounded up to a multiple of 8 bytes; a column whose
 * values are all the same takes no bits. Any value is found without reading the others.
 *
 *   columns_pack()     writes a block
 *   columns_open()     checks one that came from a file, once; afterwards every access is in bounds
 *   columns_get()      one value
 *   columns_unpack()   a stretch of one column
 */
#ifndef SONDE_FORMAT_INDEX_COLUMNS_H
#define SONDE_FORMAT_INDEX_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COLUMNS_ROWS = 256, COLUMNS_MAX = 12 };

typedef struct columns_head {
	uint16_t n_rows; /* 1 to COLUMNS_ROWS */
	uint8_t n_columns;
	uint8_t reserved;
	uint8_t width[COLUMNS_MAX]; /* bits per value, 0 to 64 */
} columns_head;
_Static_assert(sizeof(columns_head) == 16, "on disk");

/* An opened block. */
typedef struct columns {
	uint32_t n_rows;
	uint32_t n_columns;
	const uint8_t *widths;
	const uint8_t *bases; /* int64 each, little endian */
	const uint8_t *bits[COLUMNS_MAX];
} columns;

/* Most that a block of so many columns takes. */
#define COLUMNS_BYTES(n_columns) (sizeof(columns_head) + (size_t)(n_columns) * (8 + COLUMNS_ROWS * 8))

/* Packs n_rows of every column; `values` holds COLUMNS_ROWS values per column, one column behind the other. Returns the
   bytes written to `to`, a multiple of 8, which has room for COLUMNS_BYTES(n_columns). */
size_t columns_pack(uint8_t *to, const int64_t *values, size_t n_columns, size_t n_rows);
/* The same without vector instructions: what columns_pack() is on an old machine. */
size_t columns_pack_plain(uint8_t *to, const int64_t *values, size_t n_columns, size_t n_rows);

/* False when the bytes are not a whole block of n_columns. `bytes` must be readable for 8 bytes beyond len. */
bool columns_open(columns *c, const uint8_t *bytes, size_t len, size_t n_columns);

/* Rows [first, first + n) of a column, which must exist. */
void columns_unpack(const columns *c, size_t column, size_t first, size_t n, int64_t *ret_values);

static inline int64_t columns_base(const columns *c, size_t number)
{
	int64_t base;

	__builtin_memcpy(&base, c->bases + 8 * number, 8);
	return base;
}

static inline int64_t columns_get(const columns *c, size_t number, size_t row)
{
	unsigned width = c->widths[number];
	uint64_t low = 0, high = 0;

	if (width) {
		size_t bit = row * width;
		__builtin_memcpy(&low, c->bits[number] + bit / 8, 8);
		low >>= bit % 8;
		if (width + bit % 8 > 64) {
			high = c->bits[number][bit / 8 + 8];
			low |= high << (64 - bit % 8);
		}
		if (width < 64)
			low &= ((uint64_t)1 << width) - 1;
	}
	return (int64_t)((uint64_t)columns_base(c, number) + low);
}

#endif
