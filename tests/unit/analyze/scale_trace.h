/*
 * Traces of any size, made with the builder: for tests and benchmarks of how much memory analyses take.
 *
 *   scale_plain()      64 threads of operators, 2 to 50 us each, nothing inside them, no device
 *   scale_training()   one rank: steps on one thread, in them Python frames, operators inside operators, launches, and
 *                      what they launched on two streams; copies, collectives, arguments
 *
 *   scale_counters()   one rank: operators that launch, and for each launch a range of CUPTI's profiler with two
 * counters
 *
 * The slices of a track come in the order of their ends and are packed at once, so that the builder needs little
 * memory.
 */
#ifndef TESTS_UNIT_ANALYZE_SCALE_TRACE_H
#define TESTS_UNIT_ANALYZE_SCALE_TRACE_H

#include <stdio.h>
#include <string.h>
#include "import/chrome/facts.h"
#include "store/build/builder.h"

static inline uint64_t scale_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static inline uint32_t scale_site(builder *b, const char *name, const char *category, site_class class)
{
	return builder_site(b, builder_string(b, name, strlen(name)), builder_string(b, category, strlen(category)),
			    class, 0);
}

static inline void scale_plain(builder *b, size_t n_slices)
{
	enum { THREADS = 64, NAMES = 200 };
	uint32_t process = builder_process(b, 0, 1, INDEX_NONE), sites[NAMES];

	for (int i = 0; i < NAMES; i++) {
		char name[40];
		snprintf(name, sizeof name, "aten::operator_%d", i);
		sites[i] = scale_site(b, name, "cpu_op", CLASS_COMPUTE);
	}
	for (uint32_t t = 0; t < THREADS; t++) {
		uint32_t track = builder_track(b, TRACK_THREAD, process, t, INDEX_NONE, INDEX_NONE);
		uint64_t seed = 88172645463325252u + t;
		int64_t at = 0;
		for (size_t i = 0; i < n_slices / THREADS; i++) {
			uint64_t random = scale_random(&seed);
			builder_slice s = { .start_ns = at + (int64_t)(random % 4096),
					    .dur_ns = 2000 + (int64_t)((random >> 16) % 48000),
					    .site = sites[(random >> 40) % NAMES] };
			builder_lane_slice(b, track, 0, &s);
			at = s.start_ns + s.dur_ns;
		}
	}
}

enum { SCALE_OPS = 24, SCALE_FRAMES = 40, SCALE_KERNELS = 60, SCALE_OPS_A_STEP = 2000 };

typedef struct scale_training_state {
	builder *b;
	uint32_t host, streams[2];
	uint32_t ops[SCALE_OPS], inner[SCALE_OPS], frames[SCALE_FRAMES], kernels[SCALE_KERNELS];
	uint32_t launch, copy_call, copy, collective, sync, loader, op_args, kernel_args, call_args;
	uint64_t seed, correlation;
	int64_t now, free_at[2];
} scale_training_state;

static inline uint32_t scale_template(builder *b, const char *const *pieces, uint32_t n_gaps)
{
	args_piece made[8];
	uint8_t kinds[8] = { 0 };

	for (uint32_t i = 0; i <= n_gaps; i++)
		made[i] = (args_piece){ pieces[i], (uint32_t)strlen(pieces[i]) };
	return builder_template(b, &(args_template){ n_gaps, n_gaps + 1, made, kinds });
}

static inline void scale_training_begin(scale_training_state *s, builder *b)
{
	static const char *const op_args[] = { "{\"External id\": ", ", \"Sequence number\": ", ", \"Input Dims\": [[",
					       ", 1024]]}" };
	static const char *const kernel_args[] = { "{\"stream\": ", ", \"correlation\": ",
						   ", \"est. achieved occupancy %\": ", "}" };
	static const char *const call_args[] = { "{\"correlation\": ", "}" };
	uint32_t cpu = builder_process(b, 0, 100, INDEX_NONE), gpu = builder_process(b, 0, 900, INDEX_NONE);
	char name[80];

	static const char roles[] = "{\"est. achieved occupancy %\": 0, \"Input Dims\": [], \"Sequence number\": 0}";
	chrome_facts_put(b, 0, roles, sizeof roles - 1);
	*s = (scale_training_state){ .b = b, .seed = 4711, .correlation = 1 };
	s->host = builder_track(b, TRACK_THREAD, cpu, 11, INDEX_NONE, INDEX_NONE);
	s->streams[0] = builder_track(b, TRACK_STREAM, gpu, 7, INDEX_NONE, INDEX_NONE);
	s->streams[1] = builder_track(b, TRACK_STREAM, gpu, 20, INDEX_NONE, INDEX_NONE);
	for (int i = 0; i < SCALE_OPS; i++) {
		snprintf(name, sizeof name, "aten::op%d", i);
		s->ops[i] = scale_site(b, name, "cpu_op", CLASS_COMPUTE);
		snprintf(name, sizeof name, "aten::inner%d", i);
		s->inner[i] = scale_site(b, name, "cpu_op", CLASS_COMPUTE);
	}
	for (int i = 0; i < SCALE_FRAMES; i++) {
		snprintf(name, sizeof name, "torch/nn/modules/module.py(%d): forward", 1500 + i);
		s->frames[i] = scale_site(b, name, "python_function", CLASS_PYTHON);
	}
	for (int i = 0; i < SCALE_KERNELS; i++) {
		snprintf(name, sizeof name, i % 3 ? "vectorized_elementwise_kernel_%d" : "ampere_sgemm_%d", i);
		s->kernels[i] = scale_site(b, name, "kernel", CLASS_KERNEL);
	}
	s->launch = scale_site(b, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME);
	s->copy_call = scale_site(b, "cudaMemcpyAsync", "cuda_runtime", CLASS_RUNTIME);
	s->sync = scale_site(b, "cudaDeviceSynchronize", "cuda_runtime", CLASS_RUNTIME);
	s->copy = scale_site(b, "Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", CLASS_COPY);
	s->collective = scale_site(b, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "kernel", CLASS_KERNEL);
	s->loader = scale_site(b, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation",
			       CLASS_ANNOTATION);
	s->op_args = scale_template(b, op_args, 3);
	s->kernel_args = scale_template(b, kernel_args, 3);
	s->call_args = scale_template(b, call_args, 1);
}

/* A call at the depth, and what it launches on the stream. */
static inline void scale_launch(scale_training_state *s, uint32_t depth, uint32_t call, uint32_t site, int stream)
{
	uint64_t random = scale_random(&s->seed), id = s->correlation++;
	int64_t length = 2000 + (int64_t)(random % 5000), ready = s->now + length + 1000;
	int64_t start = ready > s->free_at[stream] + 700 ? ready : s->free_at[stream] + 700;
	int64_t call_values[] = { (int64_t)id };
	int64_t values[] = { stream ? 20 : 7, (int64_t)id, (int64_t)(random >> 50) % 100 };
	builder_slice host = { .start_ns = s->now,
			       .dur_ns = length,
			       .site = call,
			       .args = builder_args(s->b, s->call_args, call_values),
			       .correlation = id + 1 };
	builder_slice device = { .start_ns = start,
				 .dur_ns = 1000 + (int64_t)((random >> 20) % (stream ? 80000 : 16000)),
				 .site = site,
				 .args = builder_args(s->b, s->kernel_args, values),
				 .correlation = id + 1 };

	builder_lane_slice(s->b, s->host, depth, &host);
	builder_lane_slice(s->b, s->streams[stream], 0, &device);
	s->free_at[stream] = start + device.dur_ns;
	s->now += length + (int64_t)((random >> 40) % 1500);
	if (s->free_at[0] - s->now > 3000000)
		s->now = s->free_at[0] - 3000000; /* the queue is full: the host waits */
}

/* Frame, operator, operator inside it, launch; the kernel. Returns how many slices. */
static inline size_t scale_op(scale_training_state *s)
{
	uint64_t random = scale_random(&s->seed);
	uint32_t which = random % SCALE_OPS;
	int64_t starts[3],
		values[] = { (int64_t)(2 * s->correlation), (int64_t)s->correlation, (int64_t)(random >> 52) };
	uint32_t sites[] = { s->frames[(random >> 8) % SCALE_FRAMES], s->ops[which], s->inner[which] };
	bool has_frame = random >> 63, has_inner = random >> 62 & 1;
	size_t n = 2;

	for (int i = 0; i < 3; i++, s->now += 500 + (int64_t)((random >> 10 * i) % 1000))
		starts[i] = s->now;
	uint32_t first = has_frame ? 0 : 1, last = has_inner ? 2 : 1;
	if (random >> 30 & 31)
		scale_launch(s, 1 + last - first + 1, s->launch, s->kernels[(random >> 20) % SCALE_KERNELS], 0);
	else
		scale_launch(s, 1 + last - first + 1, s->launch, s->collective, 1);
	for (uint32_t i = last + 1; i-- > first; n++, s->now += 400 + (int64_t)(random % 900)) {
		builder_slice slice = { .start_ns = starts[i],
					.dur_ns = s->now - starts[i],
					.site = sites[i],
					.args = i ? builder_args(s->b, s->op_args, values) : 0 };
		builder_lane_slice(s->b, s->host, 1 + i - first, &slice);
	}
	return n;
}

static inline size_t scale_step(scale_training_state *s, size_t number, size_t n_most)
{
	int64_t start = s->now;
	char name[40];
	size_t n = 5;

	builder_slice load = { .start_ns = s->now, .dur_ns = 100000, .site = s->loader };
	builder_lane_slice(s->b, s->host, 1, &load);
	s->now += 101000;
	scale_launch(s, 1, s->copy_call, s->copy, 0);
	for (int i = 0; i < SCALE_OPS_A_STEP && n < n_most; i++)
		n += scale_op(s);
	int64_t end = s->free_at[0] > s->free_at[1] ? s->free_at[0] : s->free_at[1];
	end = (end > s->now ? end : s->now) + 5000;
	builder_slice sync = { .start_ns = s->now, .dur_ns = end - s->now, .site = s->sync };
	builder_lane_slice(s->b, s->host, 1, &sync);
	s->now = end + 2000;
	snprintf(name, sizeof name, "ProfilerStep#%zu", number);
	builder_slice step = { .start_ns = start,
			       .dur_ns = s->now - start,
			       .site = scale_site(s->b, name, "user_annotation", CLASS_STEP) };
	builder_lane_slice(s->b, s->host, 0, &step);
	s->now += 3000;
	return n;
}

static inline void scale_training(builder *b, size_t n_slices)
{
	scale_training_state s;
	size_t n = 0;

	scale_training_begin(&s, b);
	for (size_t step = 1; n < n_slices; step++)
		n += scale_step(&s, step, n_slices - n);
}

static inline void scale_counters(builder *b, size_t n_slices)
{
	static const char *const pieces[] = { "{\"smsp__inst_executed.sum\": ", ", \"dram__bytes.sum\": ", "}" };
	uint32_t cpu = builder_process(b, 0, 100, INDEX_NONE), gpu = builder_process(b, 0, 900, INDEX_NONE);
	uint32_t host = builder_track(b, TRACK_THREAD, cpu, 11, INDEX_NONE, INDEX_NONE);
	uint32_t ranges = builder_track(b, TRACK_THREAD, gpu, 12, INDEX_NONE, INDEX_NONE);
	uint32_t launch = scale_site(b, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME);
	uint32_t range = scale_site(b, "gemm", "cuda_profiler_range", CLASS_OTHER), ops[SCALE_OPS];
	uint32_t template = scale_template(b, pieces, 2);

	for (int i = 0; i < SCALE_OPS; i++) {
		char name[40];
		snprintf(name, sizeof name, "aten::op%d", i);
		ops[i] = scale_site(b, name, "cpu_op", CLASS_COMPUTE);
	}
	for (size_t i = 0; i < n_slices / 3; i++) {
		int64_t at = (int64_t)i * 10000, values[] = { (int64_t)i % 5000, (int64_t)i % 70000 };
		builder_slice slices[] = {
			{ .start_ns = at + 1000, .dur_ns = 3000, .site = launch },
			{ .start_ns = at, .dur_ns = 8000, .site = ops[i % SCALE_OPS] },
			{ .start_ns = at, .dur_ns = 5000, .site = range, .args = builder_args(b, template, values) },
		};
		builder_lane_slice(b, host, 1, &slices[0]);
		builder_lane_slice(b, host, 0, &slices[1]);
		builder_lane_slice(b, ranges, 0, &slices[2]);
	}
}

#endif
