/* Traces made to break analyses: many slices on one instant must not make any of them take quadratic time. */
#include <stdio.h>
#include <time.h>
#include <sonde/analyze.h>
#include <sonde/compare.h>
#include "store/trace.h"
#include "unit/analyze/device_trace.h"

typedef struct shape {
	const char *what;
	int64_t dur_ns; /* of all; 0: instants */
	int64_t apart_ns;
	bool many_names, many_threads, many_steps;
} shape;

static const shape shapes[] = {
	{ "all on one instant", 0, 0, false, false, false },
	{ "all the same time", 10000, 0, false, false, false },
	{ "each begins inside the last one", 1000000, 10, false, false, false },
	{ "a name and a stream for each", 10, 20, true, false, false },
	{ "a thread for each", 10, 20, false, true, false },
	{ "a thread for each, with a step over everything", 10, 20, false, true, true },
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static void put(builder *b, uint32_t track, const shape *s, size_t i, const device_slice *of)
{
	static const int64_t streams[] = { 11, 7 };
	char text[64];

	snprintf(text, sizeof text, s->many_names ? "%s_%zu" : "%s", of->name, i);
	builder_slice slice = { .start_ns = 1000000 + (int64_t)i * s->apart_ns,
				.dur_ns = s->dur_ns,
				.site = builder_site(b, string_of(b, text), string_of(b, of->category), of->class, 0),
				.args = device_args(b, of, streams),
				.correlation = of->correlation };
	builder_slices(b, track, &slice, 1);
}

/* A quarter each: operators, launches, kernels, collectives. */
static sonde_trace *make_hostile(const shape *s, size_t n)
{
	builder *b = builder_with_threads(1);
	uint32_t cpu = builder_process(b, 0, 100, INDEX_NONE), gpu = builder_process(b, 0, 900, INDEX_NONE);
	uint32_t thread = thread_track(b, cpu, 11);
	sonde_trace *t = NULL;

	uint32_t step = site_named(b, "ProfilerStep#1", CLASS_STEP);
	add_slice(b, thread, 0, 1000000000, step);
	for (size_t i = 0; i < n / 4; i++) {
		int64_t id = s->many_names ? (int64_t)(i % 5000) : 7;
		uint32_t stream = builder_track(b, TRACK_STREAM, gpu, id, INDEX_NONE, INDEX_NONE);
		uint32_t other = s->many_threads ? thread_track(b, cpu, (int64_t)(12 + i)) : thread;
		if (s->many_steps)
			add_slice(b, other, (int64_t)i, 1000000000, step);
		put(b, other, s, i, &(device_slice){ 0, 0, 0, "aten::mm", "cpu_op", CLASS_COMPUTE, 0 });
		put(b, thread, s, i,
		    &(device_slice){ 0, 0, 0, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 2 * i + 1 });
		put(b, stream, s, i, &(device_slice){ 1, 0, 0, "gemm", "kernel", CLASS_KERNEL, 2 * i + 1 });
		put(b, stream, s, i,
		    &(device_slice){ 1, 0, 0, "ncclDevKernel_AllReduce", "kernel", CLASS_KERNEL, 2 * i + 2 });
	}
	assert_int_equal(trace_of_index(finish(b), &t, NULL), SONDE_OK);
	return t;
}

/* Of this process: what else runs makes little difference. */
static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double seconds_of(const sonde_trace *t, const char *name, const char *compat)
{
	sonde_analyze_options options = { .struct_size = sizeof options, .compat = compat };
	double start = cpu_seconds();
	sonde_result *r;

	if (strcmp(name, "compare") == 0) {
		const sonde_trace *both[] = { t, t };
		sonde_compare_options how = { .struct_size = sizeof how, .by = compat };
		assert_int_equal(sonde_compare(both, 2, &how, &r, NULL), SONDE_OK);
	} else if (sonde_analyze(t, name, &options, &r, NULL)) {
		return 0; /* it has no such definitions */
	}
	sonde_result_free(r);
	return cpu_seconds() - start;
}

/* Four times as many slices: four times as long, sixteen times where time is quadratic. Short times are noise, and on a
   busy machine one try may be. */
static void check(const char *what, const char *name, const char *compat, const sonde_trace *few,
		  const sonde_trace *many)
{
	enum { TRIES = 3 };
	double least = 0.15, small = 0, large = 0;

	for (int i = 0; i < TRIES; i++) {
		large = seconds_of(many, name, compat);
		if (large < least)
			return;
		small = seconds_of(few, name, compat);
		if (large <= 9 * small)
			return;
	}
	fail_msg("%s, %s %s: %.3f s and %.3f s", what, name, compat ? compat : "", small, large);
}

static void no_analysis_takes_quadratic_time(void **state)
{
	static const char *const compats[] = { NULL, "hta", "tracelens" };
	const char *name, *summary;

	(void)state;
	for (size_t s = 0; s < N_SHAPES; s++) {
		sonde_trace *few = make_hostile(&shapes[s], 20000), *many = make_hostile(&shapes[s], 80000);
		for (size_t i = 0; sonde_analysis(i, &name, &summary); i++)
			for (size_t k = 0; k < sizeof compats / sizeof compats[0]; k++)
				check(shapes[s].what, name, compats[k], few, many);
		check(shapes[s].what, "compare", NULL, few, many);
		check(shapes[s].what, "compare", "tree", few, many);
		sonde_trace_free(few);
		sonde_trace_free(many);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_analysis_takes_quadratic_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
