/*
 * Blocks of memory that are allocated now, by owner and address.
 *
 *   blocks_add(), blocks_remove()   in the order of time
 *   blocks_sort()                   the largest first; then only items[0..n) may be used
 */
#ifndef SONDE_SERVE_BLOCKS_H
#define SONDE_SERVE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct block {
	uint64_t address;
	int64_t time_ns, bytes;
	uint32_t owner, track;
} block;

typedef struct blocks {
	block *items; /* a hash table; those with bytes < 0 are empty */
	size_t n;     /* that are there */
	size_t n_slots;
} blocks;

/* One at the same address takes the place of the one before. False when out of memory. */
bool blocks_add(blocks *b, const block *added);
void blocks_remove(blocks *b, uint32_t owner, uint64_t address); /* one that is not there is ignored */
void blocks_sort(blocks *b);
void blocks_done(blocks *b);

#endif
