/*
 * An index from a stranger as a trace: an analysis of it, or its export. What the index itself answers is fuzz_index's
 * business.
 */
#include "index_bytes.h"
#include "look.h"
#include "store/trace.h"

/* A short record may name a long text a hundred times, and the export writes it each time. */
enum { MAX_TEXT_BYTES = 16384 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	look_at_index_bytes(data, size, look_at);
	return 0;
}
