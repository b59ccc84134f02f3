/*
 * Bytes of an index from a stranger, looked at twice: as they are, and with magic, version, length and the checksums
 * set right, which would stop a fuzzer at the door.
 */
#ifndef SONDE_FUZZ_INDEX_BYTES_H
#define SONDE_FUZZ_INDEX_BYTES_H

#include <stdlib.h>
#include <string.h>
#include "../tests/unit/store/seal_index.h"

static inline void set_right(uint8_t *bytes, size_t size)
{
	index_header *h = (index_header *)bytes;

	if (size < sizeof *h)
		return;
	h->magic = INDEX_MAGIC;
	h->version = INDEX_VERSION;
	if (h->length > size)
		h->length = size;
	seal_index(bytes, size);
}

static inline void look_at_index_bytes(const uint8_t *data, size_t size, void (*look_at)(const uint8_t *, size_t))
{
	/* Aligned as a mapped file is, and no byte longer. */
	uint8_t *bytes = malloc(size ? size : 1);

	if (!bytes)
		abort();
	memcpy(bytes, data, size);
	look_at(bytes, size);
	set_right(bytes, size);
	look_at(bytes, size);
	free(bytes);
}

#endif
