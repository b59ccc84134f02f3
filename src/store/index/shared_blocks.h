/*
 * Packed blocks of slices that a builder and the indexes of its copies use together: what is packed never changes, so
 * that an index of a recording that grows need not copy what the one before had.
 */
#ifndef SONDE_STORE_INDEX_SHARED_BLOCKS_H
#define SONDE_STORE_INDEX_SHARED_BLOCKS_H

#include <stdatomic.h>
#include <stdint.h>
#include "base/arena.h"

/* The blocks of a builder that is gone lie here until the last index is. */
typedef struct shared_blocks {
	atomic_uint n_users;
	arena blocks;
} shared_blocks;

shared_blocks *shared_blocks_new(void); /* of one user; NULL when out of memory */
shared_blocks *shared_blocks_use(shared_blocks *s);
void shared_blocks_release(shared_blocks *s); /* accepts NULL */

/* Where a block of an index lies. */
typedef struct block_place {
	const uint8_t *bytes;
	uint64_t len;
} block_place;

#endif
