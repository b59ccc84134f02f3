/*
 * A recording from a stranger, through the whole reader: an analysis, or the export.
 *
 * Checksums would stop a fuzzer at the door, so each input is read twice: as it is, and with the checksums of whatever
 * looks like a block set right. Nothing but the bytes is read: no ring, no other file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "store/trace.h"
#include <sonde/analyze.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *nowhere(void)
{
	static FILE *file;
	static char buffer[1 << 16];

	if (!file) {
		file = fopen("/dev/null", "w");
		if (!file)
			abort();
		setvbuf(file, buffer, _IOFBF, sizeof buffer);
	}
	return file;
}

static void print(const sonde_result *result, unsigned choice)
{
	static const sonde_format formats[] = { SONDE_TEXT, SONDE_TEXT, SONDE_JSON, SONDE_CSV };
	sonde_print_options wide = { .struct_size = sizeof wide, .width = 200, .color = true, .utf8 = true };

	if (sonde_result_print(result, formats[choice % 4], choice % 4 ? &wide : NULL, nowhere(), NULL))
		abort();
}

/* One way to look at it, chosen by the bytes themselves: all of them for each input would take the fuzzer's time. */
static void look(const sonde_trace *trace, unsigned choice)
{
	static const struct {
		const char *name;
		sonde_analyze_options options;
	} ways[] = {
		{ "report", { .struct_size = sizeof ways[0].options, .top = UINT64_MAX } },
		{ "report", { .struct_size = sizeof ways[0].options, .tree = true, .sort = "self" } },
		{ "report", { .struct_size = sizeof ways[0].options, .threads = true, .filter = "a" } },
		{ "report",
		  { .struct_size = sizeof ways[0].options, .use_steps = true, .first_step = 1, .last_step = 50 } },
		{ "summary", { .struct_size = sizeof ways[0].options } },
		{ "info", { .struct_size = sizeof ways[0].options } },
	};
	enum { N_WAYS = sizeof ways / sizeof ways[0] };
	unsigned way = choice % (N_WAYS + 1);
	sonde_result *result;

	if (way == N_WAYS) {
		if (sonde_export(trace, "chrome", nowhere(), NULL))
			abort();
	} else if (!sonde_analyze(trace, ways[way].name, &ways[way].options, &result, NULL)) {
		print(result, choice / (N_WAYS + 1));
		sonde_result_free(result);
	}
}

static void read_all(const uint8_t *bytes, size_t size)
{
	sonde_trace *trace;
	sonde_error err;

	if (trace_open_memory(bytes, size, &trace, &err))
		return;
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
