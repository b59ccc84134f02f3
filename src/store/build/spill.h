/*
 * What a builder packed and does not need in memory until the end: bytes appended to a temporary file.
 *
 *   spill s = SPILL_NONE;
 *   spill_add()     the file is made with the first call
 *   spill_read()
 *   spill_done()
 *
 *   extents         the pieces that one lane has there, in order
 */
#ifndef SONDE_STORE_BUILD_SPILL_H
#define SONDE_STORE_BUILD_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/vec.h"

typedef struct spill {
	const char *dir; /* preferred; NULL: none */
	int fd;		 /* -1: nothing was spilled */
	uint64_t len;
	int error; /* errno of what failed; 0: nothing did */
} spill;
#define SPILL_NONE ((spill){ .fd = -1 })

typedef struct spill_extent {
	uint64_t at;
	uint64_t len;
} spill_extent;
typedef VEC(spill_extent) spill_extents;

/* Appends. False with s->error set. */
bool spill_add(spill *s, const void *bytes, size_t len);
bool spill_read(spill *s, void *to, size_t len, uint64_t at);
void spill_done(spill *s);

/* Adds [at, s->len) to the extents, as a part of the last one where it goes on there. */
bool spill_note(const spill *s, spill_extents *extents, uint64_t at);

/* Reads the bytes of the extents from the first to the last. */
typedef struct spill_reader {
	spill *from;
	const spill_extents *extents;
	size_t extent;
	uint64_t read; /* of that extent */
} spill_reader;
/* Up to `room` bytes; *ret_n is 0 at the end. False with from->error set. */
bool spill_next(spill_reader *r, void *to, size_t room, size_t *ret_n);

#endif
