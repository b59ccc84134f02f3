/*
 * Bytes that grow from a few to gigabytes, in one piece. Large ones are mappings: growing moves pages and copies
 * nothing, and what was read can be given back to the system from the front.
 *
 *   bulk b = { 0 };
 *   row *r = bulk_add(&b, sizeof *r);      not zeroed, NULL when out of memory
 *   bulk_release(&b, bytes_read);          the bytes before are not needed any more
 *   bulk_done(&b);
 */
#ifndef SONDE_BASE_BULK_H
#define SONDE_BASE_BULK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bulk {
	uint8_t *bytes;
	size_t n, capacity;
} bulk;

/* Makes room for so many bytes more. */
bool bulk_reserve(bulk *b, size_t bytes);

static inline void *bulk_add(bulk *b, size_t bytes)
{
	if (__builtin_expect(b->capacity - b->n < bytes, 0) && !bulk_reserve(b, bytes))
		return NULL;
	void *at = b->bytes + b->n;
	b->n += bytes;
	return at;
}

/* Bytes [*released, upto) go back to the system, as far as they are whole pages and worth a call; *released follows. */
void bulk_release(const bulk *b, size_t *released, size_t upto);
void bulk_done(bulk *b);
/* The same bytes in an empty one. False when out of memory. */
bool bulk_copy(bulk *to, const bulk *from);

/* Zeroed memory that begins where a huge page may, NULL when there is none; for munmap(). bytes: a multiple of 2 MiB.
 */
void *bulk_map(size_t bytes, bool huge);

#endif
