/*
 * An index from a stranger as a trace: an analysis of it, or its export. What the index itself answers is fuzz_index's
 * business.
 */
#include <stdlib.h>
#include <string.h>
#include "format/file.h"
#include "look.h"
#include "store/trace.h"

/* A short record may name a long text a hundred times, and the export writes it each time. */
enum { MAX_TEXT_BYTES = 16384 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void set_right(uint8_t *bytes, size_t size)
{
	index_header *h = (index_header *)bytes;

	if (size < sizeof *h)
		return;
	h->magic = INDEX_MAGIC;
	h->version = INDEX_VERSION;
	if (h->length > size)
		h->length = size;
	if (h->n_sections <= (size - sizeof *h) / sizeof(index_section))
		h->directory_crc = crc32c(0, h + 1, h->n_sections * sizeof(index_section));
	h->header_crc = crc32c(0, h, offsetof(index_header, header_crc));
}

static void look_at(const uint8_t *bytes, size_t size)
{
	sonde_index *index;
	sonde_trace *trace;

	if (size > (1 << 20) || index_open_memory(bytes, size, &index, NULL))
		return;
	if (trace_of_index(index, &trace, NULL))
		abort();
	if (size < MAX_TEXT_BYTES || !index_n_rows(index, SECTION_ARGS))
		look(trace, crc32c(0, bytes, size));
	sonde_trace_free(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
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
	return 0;
}
