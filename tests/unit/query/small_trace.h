/*
 * Traces to ask: a small one whose answers can be worked out on paper, and a large one of random slices.
 *
 *   small, times in ns since its start (1,000,000):
 *
 *   main        |ProfilerStep#1 0-1000                        |ProfilerStep#2 1000-2000
 *                  |aten::mm 100-400 |aten::relu 500-600         |aten::mm 1100-1300
 *                    |launch 200-250   |launch 520-540             |launch 1150-1200
 *   stream 7       |ann 250-1800, around the kernels but no kernel
 *                    |gemm 300-900     |relu_kernel 900-950      |gemm 1250-1700
 */
#ifndef TESTS_UNIT_QUERY_SMALL_TRACE_H
#define TESTS_UNIT_QUERY_SMALL_TRACE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "store/build/builder.h"

enum { SMALL_START = 1000000 };

static inline uint32_t small_string(builder *b, const char *text)
{
	return builder_string(b, text, strlen(text));
}

static inline uint32_t small_site(builder *b, const char *name, const char *category, site_class class)
{
	return builder_site(b, small_string(b, name), small_string(b, category), class, 0);
}

/* {"Ev Idx": 4, "Input Dims": [[2, 3]]} */
static inline uint32_t small_args(builder *b, int64_t index, const char *dims)
{
	static const args_piece pieces[] = { { "{\"Ev Idx\": ", 11 }, { ", \"Input Dims\": ", 16 }, { "}", 1 } };
	static const uint8_t kinds[] = { ARG_INT, ARG_TEXT };
	uint32_t t = builder_template(b, &(args_template){ 2, 3, pieces, kinds });

	return builder_args(b, t, (int64_t[]){ index, (int64_t)builder_arg_text(b, dims, strlen(dims)) });
}

/* Arguments that are all of one template's text. */
static inline uint32_t small_fixed_args(builder *b, const char *json)
{
	args_piece piece = { json, (uint32_t)strlen(json) };
	uint32_t t = builder_template(b, &(args_template){ 0, 1, &piece, NULL });

	return builder_args(b, t, NULL);
}

static inline void small_slice(builder *b, uint32_t track, uint32_t site, int64_t from, int64_t to, uint32_t args,
			       uint64_t correlation, unsigned flags)
{
	builder_slice s = { .start_ns = SMALL_START + from,
			    .dur_ns = to - from,
			    .site = site,
			    .args = args,
			    .correlation = correlation,
			    .flags = (uint8_t)flags };

	builder_slices(b, track, &s, 1);
}

static inline void small_events(builder *b, uint32_t thread, uint32_t stream)
{
	uint32_t steps[2] = { small_site(b, "ProfilerStep#1", "user_annotation", CLASS_STEP),
			      small_site(b, "ProfilerStep#2", "user_annotation", CLASS_STEP) };
	uint32_t mm = small_site(b, "aten::mm", "cpu_op", CLASS_COMPUTE);
	uint32_t relu = small_site(b, "aten::relu", "cpu_op", CLASS_COMPUTE);
	uint32_t launch = small_site(b, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME);
	uint32_t gemm = small_site(b, "gemm", "kernel", CLASS_KERNEL);
	uint32_t relu_kernel = small_site(b, "relu_kernel", "kernel", CLASS_KERNEL);
	uint32_t ann = small_site(b, "ann", "gpu_user_annotation", CLASS_ANNOTATION);

	small_slice(b, thread, steps[0], 0, 1000, 0, 0, 0);
	small_slice(b, thread, steps[1], 1000, 2000, 0, 0, SLICE_IS_OPEN);
	small_slice(b, thread, mm, 100, 400, small_args(b, 4, "[[2, 3]]"), 0, 0);
	small_slice(b, thread, launch, 200, 250, 0, 11 + 1, 0);
	small_slice(b, thread, relu, 500, 600, small_args(b, 5, "[[7]]"), 0, SLICE_IS_REPAIRED);
	small_slice(b, thread, launch, 520, 540, 0, 12 + 1, 0);
	small_slice(b, thread, mm, 1100, 1300, small_args(b, 6, "[[2, 3]]"), 0, 0);
	small_slice(b, thread, launch, 1150, 1200, 0, 13 + 1, 0);
	small_slice(b, stream, ann, 250, 1800, 0, 0, 0);
	small_slice(b, stream, gemm, 300, 900,
		    small_fixed_args(
			    b, "{\"a\\u0062\": \"x\\ny\", \"r\": 2.5, \"t\": true, \"f\": false, \"n\": null, "
			       "\"big\": 12345678901234567890, \"o\": {\"p\": [1]}, \"neg\": -3, \"s\": \"plain\", "
			       "\"no\": NaN, \"py\": True, \"nan\": nan}"),
		    11 + 1, 0);
	small_slice(b, stream, relu_kernel, 900, 950, 0, 12 + 1, 0);
	small_slice(b, stream, gemm, 1250, 1700, 0, 13 + 1, 0);
}

static inline void small_others(builder *b, uint32_t thread, uint32_t stream, uint32_t process_track)
{
	uint32_t mark = small_site(b, "mark", "user", CLASS_OTHER),
		 arrow = small_site(b, "fwdbwd", "flow", CLASS_OTHER);
	uint32_t memory = small_site(b, "[memory]", "cpu_instant_event", CLASS_MEMORY);
	uint32_t loss = small_string(b, "loss"), sample = small_site(b, "main.py:7", "py", CLASS_PYTHON);

	builder_instant(b, thread, SMALL_START + 50, mark, small_fixed_args(b, "{\"why\": 1}"), 't');
	builder_instant(b, process_track, SMALL_START + 60, mark, 0, 'g');
	builder_flow(b, thread, SMALL_START + 150, arrow, 5, 's', 0);
	builder_flow(b, thread, SMALL_START + 550, arrow, 5, 't', 0);
	builder_flow(b, thread, SMALL_START + 1150, arrow, 5, 'F', 0);
	builder_flow(b, thread, SMALL_START + 560, arrow, 6, 's', 0); /* alone */
	builder_value(b, process_track, loss, INDEX_NONE, INDEX_NONE, SMALL_START + 10, 2.5);
	builder_value(b, process_track, loss, INDEX_NONE, INDEX_NONE, SMALL_START + 1010, 1.25);
	builder_value(b, thread, small_string(b, "mem used"), small_string(b, "used"), INDEX_NONE, SMALL_START + 20, 7);
	builder_allocation_add(b, &(builder_allocation){ .time_ns = SMALL_START + 120,
							 .track = thread,
							 .site = memory,
							 .device_type = 1,
							 .device = 0,
							 .address = 4096,
							 .bytes = 1024,
							 .total_bytes = 1024,
							 .reserved_bytes = -1 });
	builder_allocation_add(b, &(builder_allocation){ .time_ns = SMALL_START + 1220,
							 .track = thread,
							 .site = memory,
							 .device = -1,
							 .address = 4096,
							 .bytes = -1024,
							 .total_bytes = 0,
							 .reserved_bytes = 2048 });
	builder_sample(b, thread, SMALL_START + 30, sample, 0);
	builder_meta(b, -1, "host", 4, "box", 3, false);
	builder_meta(b, 0, "world", 5, "[1, 2]", 6, true);
	builder_diagnostic(b, &(builder_problem){ .kind = DIAGNOSTIC_TEXT_UTF8,
						  .text = "invalid UTF-8",
						  .n = 3,
						  .file = "x.json",
						  .position = 77 });
	(void)stream;
}

static inline sonde_index *small_finish(builder *b)
{
	sonde_index *ix = NULL;
	sonde_error err = { 0 };

	if (builder_finish(b, &ix, &err))
		fail_msg("builder_finish: %s", err.message);
	builder_free(b);
	return ix;
}

static inline sonde_index *small_trace(void)
{
	builder *b = builder_new(&(builder_options){ .n_threads = 1 });
	assert_non_null(b);
	uint32_t host = builder_process(b, 0, 100, INDEX_NONE), device = builder_process(b, 0, 0, INDEX_NONE);
	uint32_t thread = builder_track(b, TRACK_THREAD, host, 101, INDEX_NONE, INDEX_NONE);
	uint32_t stream = builder_track(b, TRACK_STREAM, device, 7, INDEX_NONE, INDEX_NONE);
	uint32_t own = builder_track(b, TRACK_PROCESS, host, 0, INDEX_NONE, INDEX_NONE);
	index_process *p = builder_process_of(b, host);
	p->name = small_string(b, "python");
	p->rank = 0;
	builder_process_of(b, device)->device = 0;
	builder_track_of(b, thread)->name = small_string(b, "main");
	builder_track_of(b, stream)->device = 0;
	small_events(b, thread, stream);
	small_others(b, thread, stream, own);
	return small_finish(b);
}

/* Nested and overlapping slices of 40 names on 9 tracks. */
static inline sonde_index *random_trace(size_t n)
{
	static const site_class classes[] = { CLASS_COMPUTE, CLASS_KERNEL, CLASS_COPY, CLASS_PYTHON, CLASS_ANNOTATION };
	builder *b = builder_new(&(builder_options){ .n_threads = 1 });
	uint32_t tracks[9], sites[40];
	uint64_t seed = 7;

	assert_non_null(b);
	for (uint32_t i = 0; i < 9; i++) {
		uint32_t process = builder_process(b, 0, 10 + i / 3, INDEX_NONE);
		builder_process_of(b, process)->rank = (int32_t)(i / 3);
		tracks[i] = builder_track(b, i % 3 ? TRACK_THREAD : TRACK_STREAM, process, i, INDEX_NONE, INDEX_NONE);
	}
	for (uint32_t i = 0; i < 40; i++) {
		char name[32], category[32];
		snprintf(name, sizeof name, "%s%02u", i % 2 ? "op_" : "Kernel<",
			 i % 25); /* some names in two categories */
		snprintf(category, sizeof category, "cat%u", i % 4);
		sites[i] = small_site(b, name, category, classes[i % 5]);
	}
	for (size_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint64_t r = seed >> 20;
		int64_t from = (int64_t)(r % 1000000), dur = (int64_t)(r >> 20) % (r % 7 ? 50 : 5000);
		uint32_t args = r % 5 ? 0 : small_args(b, (int64_t)i, "[1]");
		small_slice(b, tracks[r >> 8 & 7], sites[(r >> 11) % 40], from, from + dur, args, r % 3 ? i / 2 + 1 : 0,
			    0); /* two and two */
	}
	return small_finish(b);
}

#endif
