/*
 * Ranks that communicate, each collective with what PyTorch writes about it.
 */
#ifndef TESTS_UNIT_ANALYZE_COLLECTIVE_TRACE_H
#define TESTS_UNIT_ANALYZE_COLLECTIVE_TRACE_H

#include "import/chrome/facts.h"
#include "store/trace.h"
#include "unit/store/make_builder.h"

typedef struct collective_slice {
	uint32_t rank;
	int64_t start_us, end_us;
	const char *args; /* ' stands for "; NULL: none */
} collective_slice;

static inline uint32_t text_args(builder *b, const char *args)
{
	char text[512];
	size_t n = 0;

	if (!args)
		return 0;
	for (; args[n]; n++)
		text[n] = args[n] == '\'' ? '"' : args[n];
	args_piece piece = { text, (uint32_t)n };
	uint32_t number =
		builder_args(b, builder_template(b, &(args_template){ .n_args_pieces = 1, .pieces = &piece }), NULL);
	chrome_facts_put(b, number, text, n);
	return number;
}

static inline sonde_trace *make_collective_trace(const collective_slice *slices, size_t n, uint32_t n_ranks)
{
	builder *b = builder_with_threads(1);
	sonde_trace *t = NULL;

	for (uint32_t rank = 0; rank < n_ranks; rank++) {
		uint32_t gpu = builder_process(b, rank, 900 + rank, INDEX_NONE);
		uint32_t track = builder_track(b, TRACK_STREAM, gpu, 7, INDEX_NONE, INDEX_NONE);
		uint32_t site =
			builder_site(b, string_of(b, "ncclDevKernel_Generic"), string_of(b, "kernel"), CLASS_KERNEL, 0);
		for (size_t i = 0; i < n; i++) {
			builder_slice s = { .start_ns = 1000 * slices[i].start_us,
					    .dur_ns = 1000 * (slices[i].end_us - slices[i].start_us),
					    .site = site,
					    .args = text_args(b, slices[i].args) };
			if (slices[i].rank == rank)
				builder_slices(b, track, &s, 1);
		}
		builder_file_rank(b, rank, (int32_t)rank);
	}
	assert_int_equal(trace_of_index(finish(b), &t, NULL), SONDE_OK);
	return t;
}

#endif
