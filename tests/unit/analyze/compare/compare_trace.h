/*
 * Runs to compare. A step, 1 ms apart from the noise, on one thread and one stream:
 *
 *   ProfilerStep#n   0 ............................. step_ns
 *     forward        10 us .............. forward_ns
 *       launch         10 us, of the kernel
 *     <extra>        after it, extra_ns, when there is one
 *   gemm             on the stream, kernel_ns
 *
 * Noise is a deviation of 1 % of everything but the frame, always the same for a seed.
 */
#ifndef TESTS_UNIT_ANALYZE_COMPARE_TRACE_H
#define TESTS_UNIT_ANALYZE_COMPARE_TRACE_H

#include <stdio.h>
#include "store/trace.h"
#include "unit/store/make_builder.h"

typedef struct run_shape {
	size_t n_steps;
	int64_t kernel_ns;
	uint64_t seed;
	const char *extra; /* NULL: none */
	int64_t extra_ns;
	size_t extra_every; /* only every n-th step has it; 0: every */
	size_t n_slow;	    /* steps at the start that take three times as long */
	bool no_steps;
	uint32_t n_ranks; /* 0: 1 */
	int64_t peak_bytes;
} run_shape;

static inline int64_t with_noise(uint64_t *state, int64_t ns)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += (double)(random_next(state) % 1000000) / 1e6;
	return (int64_t)((double)ns * (1 + 0.01 * (sum - 6)));
}

static inline void put_run_slice(builder *b, uint32_t track, int64_t start_ns, int64_t dur_ns, const char *name,
				 site_class class, uint64_t correlation)
{
	builder_slice s = { .start_ns = start_ns,
			    .dur_ns = dur_ns,
			    .site = builder_site(b, string_of(b, name), string_of(b, "test"), class, 0),
			    .correlation = correlation };

	builder_slices(b, track, &s, 1);
}

static inline void put_run_rank(builder *b, uint32_t file, const run_shape *shape)
{
	uint32_t cpu = builder_process(b, file, 100, INDEX_NONE), gpu = builder_process(b, file, 900, INDEX_NONE);
	uint32_t thread = thread_track(b, cpu, 1);
	uint32_t stream = builder_track(b, TRACK_STREAM, gpu, 7, INDEX_NONE, INDEX_NONE);
	uint64_t state = shape->seed + 1000 * file;
	int64_t now = 1000000;
	char name[40];

	for (size_t i = 0; i < shape->n_steps; i++) {
		bool has_extra = shape->extra && (!shape->extra_every || i % shape->extra_every == 0);
		int64_t slow = i < shape->n_slow ? 3 : 1, kernel = slow * with_noise(&state, shape->kernel_ns);
		int64_t extra = has_extra ? with_noise(&state, shape->extra_ns) : 0;
		int64_t dur = kernel + extra + slow * with_noise(&state, 200000);
		snprintf(name, sizeof name, "ProfilerStep#%zu", i);
		if (!shape->no_steps)
			put_run_slice(b, thread, now, dur, name, CLASS_STEP, 0);
		put_run_slice(b, thread, now + 10000, 50000, "forward", CLASS_COMPUTE, 0);
		put_run_slice(b, thread, now + 20000, 10000, "launch", CLASS_RUNTIME, i + 1);
		put_run_slice(b, stream, now + 40000, kernel, "gemm", CLASS_KERNEL, i + 1);
		if (has_extra)
			put_run_slice(b, thread, now + 70000, extra, shape->extra, CLASS_COMPUTE, 0);
		now += dur + 1000;
	}
	if (shape->peak_bytes)
		builder_allocation_add(b, &(builder_allocation){ .time_ns = 1000000,
								 .track = thread,
								 .site = site_named(b, "[memory]", CLASS_MEMORY),
								 .device_type = 1,
								 .bytes = shape->peak_bytes,
								 .total_bytes = shape->peak_bytes,
								 .reserved_bytes = -1 });
	builder_file_rank(b, file, (int32_t)file);
}

static inline sonde_trace *make_run(run_shape shape)
{
	builder *b = builder_with_threads(1);
	sonde_trace *t = NULL;

	for (uint32_t i = 0; i < (shape.n_ranks ? shape.n_ranks : 1); i++)
		put_run_rank(b, i, &shape);
	assert_int_equal(trace_of_index(finish(b), &t, NULL), SONDE_OK);
	return t;
}

#endif
