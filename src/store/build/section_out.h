/*
 * The sections of an image while they are written, each from its first byte to its last, to memory or to a file, with
 * the checksums of its pages.
 *
 *   sections_begin()   the lengths are known
 *   section_room(), section_add()   room for the next bytes, which the caller fills in; then how many those were
 *   section_put()      bytes that lie elsewhere
 *   section_back()     bytes that were written
 *   sections_end()     everything else: checksums, directory, header
 *
 * Threads may write different sections at once. What fails is seen at the end.
 */
#ifndef SONDE_STORE_BUILD_SECTION_OUT_H
#define SONDE_STORE_BUILD_SECTION_OUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "format/index/sections.h"

enum { SECTION_ROOM = 256 << 10 }; /* most that section_room() gives */

typedef struct section_out {
	uint8_t *bytes;	  /* from `from` on: in the image, or in a buffer */
	uint64_t from, n; /* n: written so far */
	uint64_t summed;  /* of those, with a checksum */
	uint32_t *crcs;	  /* of its pages */
} section_out;

typedef struct sections_out {
	uint8_t *bytes; /* the image; NULL: it goes to the file */
	int fd;
	uint64_t at; /* of the image in the file */
	size_t len;
	index_section sections[SECTION_KINDS];
	section_out outs[SECTION_KINDS];
	uint32_t *crcs;
	atomic_int error; /* errno of a file that cannot be written or read; 0: none */
} sections_out;

/* sections[].length and .n_rows are there. Allocates the image where fd is -1. False when out of memory. The header
   says what it will, but that of a file is not right before the end: it is the start of an index that was cut off. */
bool sections_begin(sections_out *o, const index_header *header);
/* len: at most SECTION_ROOM. Sections that are not as long as was said are a mistake of the caller. */
uint8_t *section_room(sections_out *o, index_kind kind, size_t len);
void section_add(sections_out *o, index_kind kind, size_t len);
void section_put(sections_out *o, index_kind kind, const void *bytes, uint64_t len);
/* Bytes [at, at + len) as they were written; in the image, or in `buffer`. section_sync() comes between. */
const void *section_back(sections_out *o, index_kind kind, uint64_t at, size_t len, void *buffer);
void section_sync(sections_out *o, index_kind kind);
/* False: see error. */
bool sections_end(sections_out *o, index_header *header);
void sections_done(sections_out *o); /* the image is the caller's */

#endif
