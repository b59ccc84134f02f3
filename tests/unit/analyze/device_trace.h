/*
 * A small trace of two ranks to try analyses on, each the same but for a shift of 1000 us:
 *
 *   thread 11   ProfilerStep#1  0 ................ 100     ProfilerStep#2  100 ............... 200
 *               aten::mm          10 ..... 30              aten::add         110 .. 125
 *               cudaLaunchKernel    15 . 20   (1)          cudaLaunchKernel     115 . 118  (3)
 *               cudaMemcpyAsync              40 . 45 (2)
 *   stream 7    gemm                     25 ......... 60 (1)      add                 130 ... 150 (3)
 *   stream 9    Memcpy HtoD                        50 ....... 80 (2)
 *               ncclDevKernel_AllReduce                           140 ................. 180 (4, its launch is not
 * there)
 */
#ifndef TESTS_UNIT_ANALYZE_DEVICE_TRACE_H
#define TESTS_UNIT_ANALYZE_DEVICE_TRACE_H

#include "store/trace.h"
#include "unit/store/make_builder.h"

typedef struct device_slice {
	int track; /* 0: the thread, 1 and 2: the streams */
	int64_t start_us, end_us;
	const char *name, *category;
	site_class class;
	uint64_t correlation; /* 0: none */
} device_slice;

static const device_slice device_slices[] = {
	{ 0, 0, 100, "ProfilerStep#1", "user_annotation", CLASS_STEP, 0 },
	{ 0, 10, 30, "aten::mm", "cpu_op", CLASS_COMPUTE, 0 },
	{ 0, 15, 20, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 1 },
	{ 0, 40, 45, "cudaMemcpyAsync", "cuda_runtime", CLASS_RUNTIME, 2 },
	{ 0, 100, 200, "ProfilerStep#2", "user_annotation", CLASS_STEP, 0 },
	{ 0, 110, 125, "aten::add", "cpu_op", CLASS_COMPUTE, 0 },
	{ 0, 115, 118, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 3 },
	{ 1, 25, 60, "gemm", "kernel", CLASS_KERNEL, 1 },
	{ 1, 130, 150, "add", "kernel", CLASS_KERNEL, 3 },
	{ 2, 50, 80, "Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", CLASS_COPY, 2 },
	{ 2, 140, 180, "ncclDevKernel_AllReduce_Sum_f32", "kernel", CLASS_KERNEL, 4 },
};

static inline uint32_t device_args(builder *b, const device_slice *s, const int64_t *streams)
{
	static const args_piece pieces[] = { { "{\"stream\": ", 11 }, { ", \"correlation\": ", 17 }, { "}", 1 } };
	static const args_piece host_pieces[] = { { "{\"correlation\": ", 16 }, { "}", 1 } };
	static const uint8_t kinds[] = { ARG_INT, ARG_INT };
	args_template device = { .n_gaps = 2, .n_args_pieces = 3, .pieces = pieces, .kinds = kinds };
	args_template host = { .n_gaps = 1, .n_args_pieces = 2, .pieces = host_pieces, .kinds = kinds };
	int64_t values[] = { streams[s->track], (int64_t)s->correlation };

	if (!s->correlation)
		return 0;
	return s->track ? builder_args(b, builder_template(b, &device), values)
			: builder_args(b, builder_template(b, &host), values + 1);
}

static inline void add_device_rank(builder *b, uint32_t file, const device_slice *slices, size_t n)
{
	static const int64_t streams[] = { 11, 7, 9 };
	uint32_t cpu = builder_process(b, file, 100 + file, INDEX_NONE),
		 gpu = builder_process(b, file, 900 + file, INDEX_NONE);
	uint32_t tracks[3];

	for (int i = 0; i < 3; i++)
		tracks[i] = builder_track(b, i ? TRACK_STREAM : TRACK_THREAD, i ? gpu : cpu, streams[i], INDEX_NONE,
					  INDEX_NONE);
	for (size_t i = 0; i < n; i++) {
		const device_slice *from = &slices[i];
		builder_slice s = { .start_ns = 1000 * (from->start_us + 1000 * (int64_t)file) + 5000000,
				    .dur_ns = 1000 * (from->end_us - from->start_us),
				    .site = builder_site(b, string_of(b, from->name), string_of(b, from->category),
							 from->class, 0),
				    .args = device_args(b, from, streams),
				    .correlation = from->correlation ? from->correlation + 1 : 0 };
		builder_slices(b, tracks[from->track], &s, 1);
	}
	builder_file_rank(b, file, (int32_t)file);
}

static inline sonde_trace *finish_trace(builder *b)
{
	sonde_trace *t = NULL;

	assert_int_equal(trace_of_index(finish(b), &t, NULL), SONDE_OK);
	return t;
}

static inline sonde_trace *make_device_trace(uint32_t n_ranks)
{
	builder *b = builder_with_threads(1);

	for (uint32_t i = 0; i < n_ranks; i++)
		add_device_rank(b, i, device_slices, sizeof device_slices / sizeof device_slices[0]);
	return finish_trace(b);
}

#endif
