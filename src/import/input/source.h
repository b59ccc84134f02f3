/*
 * Beneath input.c: the bytes as they lie in the file, and the decoders that make text of them.
 *
 * A decoder takes bytes from source->at, asks source_more() for further ones, and fills what it is given. On damage it
 * hands over the text it has first; where it stands then is where the damage is.
 */
#ifndef SONDE_IMPORT_INPUT_SOURCE_H
#define SONDE_IMPORT_INPUT_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum { SOURCE_BUFFER = 256 << 10 };

typedef struct input_source {
	int fd;		/* -1: memory */
	int wake_fd;	/* readable: stop waiting for a pipe; -1: nobody will */
	bool may_wait;	/* a pipe, a terminal */
	bool ended;	/* nothing follows what is in the buffer */
	int read_errno; /* why it ended; 0: the end of the file */
	const uint8_t *memory;
	size_t memory_left;

	uint8_t *buffer;	 /* SOURCE_BUFFER */
	const uint8_t *at;	 /* bytes not taken yet, in the buffer */
	size_t n;		 /* so many */
	_Atomic uint64_t n_read; /* of the file, with those in the buffer */
	uint64_t total;		 /* of the file; 0: unknown */
} input_source;

/* Adds to the buffer, which must not be full. False: nothing came, the source ended. */
bool source_more(input_source *s);
/* Bytes that were taken. */
static inline uint64_t source_position(const input_source *s)
{
	return atomic_load_explicit(&s->n_read, memory_order_relaxed) - s->n;
}

typedef struct input_decoder {
	const char *name;
	bool (*is_it)(const uint8_t *bytes, size_t len); /* by the first bytes */
	void *(*open)(void);				 /* NULL: out of memory */
	void (*close)(void *decoder);
	/* Returns how much text it wrote; less than `room`: nothing follows, *ret_damage says what is wrong, if
	   anything. */
	size_t (*read)(void *decoder, input_source *s, uint8_t *to, size_t room, const char **ret_damage);
} input_decoder;

extern const input_decoder gzip_decoder; /* input/gzip.c */
extern const input_decoder zstd_decoder; /* input/zstd.c */

#endif
