/*
 * A recording from a stranger, through the whole reader: an analysis or the export of its index.
 *
 * Checksums would stop a fuzzer at the door, so each input is read twice: as it is, and with the checksums of whatever
 * looks like a block set right. Nothing but the bytes is read: no ring, no other file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "look.h"
#include "import/recording/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Everything that can be recorded can be indexed. */
static sonde_trace *trace_of(recording *r)
{
	sonde_index *index = NULL;
	sonde_trace *trace = NULL;

	if (recording_build_index(r, 1, &index, NULL) || index_verify(index, NULL) ||
	    recording_trace(r, index, &trace, NULL))
		abort();
	return trace;
}

static void read_all(const uint8_t *bytes, size_t size)
{
	recording *r;
	sonde_error err;

	if (recording_open_memory(bytes, size, &r, &err))
		return;
	sonde_trace *trace = trace_of(r);
	look(trace, crc32c(0, bytes, size));
	sonde_trace_free(trace);
}

/* Returns how many blocks were set right. */
static size_t set_right(uint8_t *bytes, size_t size)
{
	size_t n = 0;

	for (size_t at = 0; at < size && size - at >= sizeof(block_header);) {
		block_header *h = (block_header *)(bytes + at);
		size_t left = size - at - sizeof *h;
		if (h->magic != FORMAT_MAGIC) {
			at += BLOCK_ALIGN;
			continue;
		}
		if (h->length > left)
			h->length = (uint32_t)left;
		h->version = FORMAT_VERSION;
		h->payload_crc = crc32c(0, h + 1, h->length);
		h->header_crc = crc32c(0, h, offsetof(block_header, header_crc));
		at += sizeof *h + block_padded(h->length);
		n++;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Aligned as a mapped file is, and no byte longer. */
	uint8_t *bytes = malloc(size ? size : 1);

	if (!bytes)
		abort();
	memcpy(bytes, data, size);
	read_all(bytes, size);
	if (set_right(bytes, size) && memcmp(bytes, data, size) != 0)
		read_all(bytes, size);
	free(bytes);
	return 0;
}
