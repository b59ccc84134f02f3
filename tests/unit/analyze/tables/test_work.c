/* The basic analyses on a trace small enough to work them out on paper: see device_trace.h. */
#include "unit/analyze/device_trace.h"
#include "unit/analyze/analyze_json.h"

#include "analyze/math/describe.h"
#include "analyze/names/kernel_kind.h"
#include <math.h>
#include <sonde/analyze.h>
#include <stdio.h>

static const says cases[] = {
	/* 25..60 and 50..80 and 130..150 and 140..180 of 25..180 */
	{ "temporal", NULL,
	  "'rank': 0, 'span_ns': 155000, 'idle_ns': 50000, 'compute_ns': 55000, 'non_compute_ns': 50000, "
	  "'communication_ns': 40000, 'memory_ns': 30000, 'exposed_communication_ns': 30000" },
	/* The last step goes: 25..60 and 50..80 are left. */
	{ "temporal", "hta", "'span_ns': 55000, 'idle_ns': 0, 'compute_ns': 35000, 'non_compute_ns': 20000" },
	/* Stream 7: 60..130, launched at 115. Stream 9: 80..140, launched nobody knows when. */
	{ "idle", NULL, "'rank': 0, 'stream': 7, 'cause': 'host_wait', 'idle_ns': 70000, 'percent': 100" },
	{ "idle", NULL, "'rank': 0, 'stream': 9, 'cause': 'other', 'idle_ns': 60000, 'percent': 100" },
	{ "kernels", NULL, "'type': 'compute', 'sum_ns': 70000" }, /* 25..50, 130..140, twice */
	{ "kernels", NULL, "'type': 'communication', 'sum_ns': 60000" },
	{ "kernels", NULL, "'type': 'memory', 'sum_ns': 40000" },
	{ "kernels", NULL, "'type': 'compute and communication', 'sum_ns': 20000" },
	{ "kernels", NULL, "'type': 'compute and memory', 'sum_ns': 20000" },
	{ "kernels", NULL,
	  "'name': 'gemm', 'type': 'compute', 'rank': 0, 'count': 1, 'sum_ns': 35000, 'mean_ns': 35000, "
	  "'std_ns': null, 'min_ns': 35000, 'max_ns': 35000" },
	{ "overlap", NULL,
	  "'communication_ns': 40000, 'overlap_ns': 10000, 'exposed_ns': 30000, 'overlap_percent': 25" },
	{ "overlap", "hta", "'communication_ns': 0, 'overlap_ns': 0, 'exposed_ns': 0, 'overlap_percent': null" },
	/* The arguments do not tell the bandwidth. */
	{ "bandwidth", NULL, "'name': 'Memcpy HtoD', 'count': 0, 'mean_gbps': null" },
	/* 15 +1, 25 -1, 115 +1, 130 -1: the one whose launch is not there does not count */
	{ "queue", NULL, "'rank': 0, 'stream': 7, 'count': 4, 'mean': 0.5" },
	{ "queue", NULL, "'rank': 0, 'stream': 9, 'count': 2, 'mean': 0.5" },
	/* 20..25, 45..50, 118..130 */
	{ "launches", NULL,
	  "'rank': 0, 'count': 3, 'cpu_ns': 13000, 'gpu_ns': 85000, 'delay_ns': 22000, 'n_short': 0, "
	  "'n_slow_calls': 0, 'n_long_delays': 0, 'n_unknown': 1" },
	{ "annotations", NULL, "'name': 'ProfilerStep#1', 'where': 'host', 'rank': 0, 'count': 1, 'sum_ns': 100000" },
	{ "steps", NULL,
	  "'rank': 0, 'step': 1, 'start_ns': 0, 'dur_ns': 100000, 'busy_ns': 55000, 'compute_ns': 35000, "
	  "'communication_ns': 0, 'memory_ns': 30000, 'idle_ns': 45000" },
	{ "hta", NULL, "'queue_blocked': []" },
	/* 25..60, 60..80, 15..20, 10..15 and 20..25. The second step launched one, the first two: it is cut off. */
	{ "roles", NULL,
	  "'rank': 0, 'step': 1, 'start_ns': 0, 'dur_ns': 100000, 'kernel_ns': 35000, 'memcpy_ns': 20000, 'memset_ns': "
	  "0, "
	  "'communication_ns': 0, 'runtime_ns': 5000, 'loader_ns': 0, 'host_ns': 10000, 'other_ns': 30000" },
	{ "roles", NULL, "2 steps at the end skipped" },
	{ "utilization", NULL,
	  "'span_ns': 100000, 'busy_ns': 35000, 'utilization_percent': 35, 'sm_efficiency_percent': null, "
	  "'occupancy_percent': null, 'tensor_core_percent': 0, 'n_kernels': 3" },
	{ "occupancy", NULL, "'name': 'gemm', 'rank': 0, 'count': 1, 'sum_ns': 35000, 'mean_ns': 35000" },
	{ "occupancy", NULL, "'name': 'gemm', 'op': 'aten::mm', 'grid': null" },
	{ "operators", NULL,
	  "'name': 'aten::mm', 'rank': 0, 'calls': 1, 'device_self_ns': 35000, 'device_ns': 35000, "
	  "'host_self_ns': 15000, 'host_ns': 20000, 'tensor_core_percent': 0" },
	{ "distributed", NULL,
	  "'rank': 0, 'step': 1, 'dur_ns': 100000, 'computation_ns': 35000, 'overlap_ns': 0, 'communication_ns': 0, "
	  "'other_ns': 65000" },
	/* Twice, a millisecond apart: 10..30, 40..45, 110..125 and 25..80, 130..180. */
	{ "report", NULL, "'cpu_active_ns': 80000," },
	{ "report", NULL, "'device_active_ns': 210000," },
	{ "report", NULL, "'overlap_ns': 20000," },
	{ "distributed", NULL, "'rank': 1, 'count': 1, 'total_ns': 40000, 'transfer_ns': 40000, 'wait_ns': 0" },
};

static void analyses_say_what_paper_says(void **state)
{
	sonde_trace *t = make_device_trace(2);

	(void)state;
	assert_all_say(t, cases, sizeof cases / sizeof cases[0]);
	sonde_trace_free(t);
}

static void steps_and_ranks_are_left_out(void **state)
{
	sonde_analyze_options o = {
		.struct_size = sizeof o, .use_steps = true, .first_step = 2, .last_step = 2, .ranks = "1"
	};
	sonde_trace *t = make_device_trace(2);
	char *text = analyze(t, "temporal", &o);

	(void)state;
	assert_says(text, "'rank': 1, 'span_ns': 50000, 'idle_ns': 0");
	assert_null(strstr(text, "\"rank\": 0"));
	free(text);
	sonde_trace_free(t);
}

static void nothing_on_a_device_is_one_sentence(void **state)
{
	static const char *const names[] = { "temporal",  "idle",      "kernels",   "overlap",	    "bandwidth",
					     "queue",	  "steps",     "launches",  "annotations",  "hta",
					     "op_delays", "sequences", "call_tree", "critical_path" };
	static const char *const compats[] = { NULL, "hta", "hta-noround" };
	builder *b = builder_with_threads(1);

	(void)state;
	add_device_rank(b, 0, device_slices, 7); /* the host alone */
	sonde_trace *t = finish_trace(b);
	for (size_t i = 0; i < sizeof names / sizeof names[0] * 3; i++) {
		sonde_analyze_options o = { .struct_size = sizeof o, .compat = compats[i % 3] };
		char *text = analyze(t, names[i / 3], &o);
		if (strcmp(names[i / 3], "steps") != 0 && strcmp(names[i / 3], "annotations") != 0)
			assert_says(text, "no device rows: ");
		free(text);
	}
	sonde_trace_free(t);
}

static void numbers_are_described(void **state)
{
	double few[] = { 4, 1, 3, 2 }, one[] = { 7 }, many[1000];
	description d;

	(void)state;
	assert_true(describe(few, 4, &d));
	assert_true(d.n == 4 && d.sum == 10 && d.mean == 2.5 && d.min == 1 && d.max == 4);
	assert_true(d.q25 == 1.75 && d.q50 == 2.5 && d.q75 == 3.25 && fabs(d.std - sqrt(5.0 / 3)) < 1e-15);
	assert_true(describe(one, 1, &d));
	assert_true(isnan(d.std) && d.q25 == 7 && d.q75 == 7);
	assert_true(describe(few, 0, &d));
	assert_int_equal(d.n, 0);
	for (int i = 0; i < 1000; i++) /* with negative ones and fractions */
		many[i] = (i * 7919 % 1000 - 500) / 8.0;
	assert_true(describe(many, 1000, &d));
	for (int i = 0; i < 1000; i++)
		assert_true(many[i] == (i - 500) / 8.0);
}

static void kernels_have_kinds(void **state)
{
	static const struct {
		const char *name;
		site_class class;
		kernel_kind ours, hta;
	} names[] = {
		{ "ncclKernel_AllReduce_RING_LL_Sum_float", CLASS_KERNEL, KERNEL_COMMUNICATION, KERNEL_COMMUNICATION },
		{ "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", CLASS_KERNEL,
		  KERNEL_COMMUNICATION, KERNEL_COMMUNICATION },
		{ "void ncclKernel_x", CLASS_KERNEL, KERNEL_COMMUNICATION, KERNEL_COMMUNICATION },
		{ "void ncclDevKernel_x", CLASS_KERNEL, KERNEL_COMMUNICATION, KERNEL_COMPUTE },
		{ "void vllm::cross_device_reduce_1stage<float, 8>", CLASS_KERNEL, KERNEL_COMMUNICATION,
		  KERNEL_COMPUTE },
		{ "Memcpy HtoD (Pinned -> Device)", CLASS_COPY, KERNEL_MEMORY, KERNEL_MEMORY },
		{ "hipMemcpy", CLASS_COPY, KERNEL_MEMORY, KERNEL_COMMUNICATION },
		{ "wgmma_dma_kernel", CLASS_KERNEL, KERNEL_COMPUTE, KERNEL_OTHER },
		{ "ampere_sgemm_128x64_tn", CLASS_KERNEL, KERNEL_COMPUTE, KERNEL_COMPUTE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		assert_int_equal(kernel_kind_of(names[i].name, names[i].class), names[i].ours);
		assert_int_equal(kernel_kind_hta(names[i].name), names[i].hta);
	}
}

/* 22 rows of two ranks. */
static void the_rules_of_others_take_no_more_memory_than_is_allowed(void **state)
{
	static const struct {
		const char *analysis, *compat, *part; /* NULL: it is enough */
	} limits[] = {
		{ "temporal", "hta",
		  "22 rows by the rules of HTA would take about 6.66 KiB of memory, more than "
		  "compat.memory (4.00 KiB): choose steps with --steps or ranks with --ranks, or "
		  "raise it with --set" },
		{ "hta", "hta-noround", "22 rows by the rules of HTA" },
		{ "ops", "tracelens", NULL },
		{ "temporal", NULL, NULL },
	};
	sonde_setting s = { "compat.memory", "4KiB" };
	sonde_trace *t = make_device_trace(2);

	(void)state;
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		sonde_analyze_options o = {
			.struct_size = sizeof o, .compat = limits[i].compat, .settings = &s, .n_settings = 1
		};
		sonde_result *r = NULL;
		sonde_error err = { .message = "" };
		sonde_status status = sonde_analyze(t, limits[i].analysis, &o, &r, &err);
		assert_int_equal(status, limits[i].part ? SONDE_E_UNSUPPORTED : SONDE_OK);
		if (limits[i].part && !strstr(err.message, limits[i].part))
			fail_msg("%s", err.message);
		sonde_result_free(r);
	}
	sonde_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rules_of_others_take_no_more_memory_than_is_allowed),
		cmocka_unit_test(analyses_say_what_paper_says),
		cmocka_unit_test(steps_and_ranks_are_left_out),
		cmocka_unit_test(nothing_on_a_device_is_one_sentence),
		cmocka_unit_test(numbers_are_described),
		cmocka_unit_test(kernels_have_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
