/* Hardware counters by the operators that launched the kernels: see scale_trace.h for the trace. */
#include "unit/analyze/device_trace.h"
#include "unit/analyze/analyze_json.h"
#include "unit/analyze/scale_trace.h"

static void the_nth_range_is_of_the_nth_launch(void **state)
{
	static const says cases[] = {
		{ "counters", NULL,
		  "'operator': 'aten::op2', 'rank': 0, 'counter': 'smsp__inst_executed.sum', 'short': "
		  "'smsp__inst_executed.sum', 'n_kernels': 1, 'sum': 2, 'mean': 2, 'max': 2" },
		{ "counters", NULL,
		  "'number': 1, 'name': 'gemm', 'rank': 0, 'operator': 'aten::op1', 'top_operator': 'aten::op1', "
		  "'operators': 'aten::op1', 'counter': 'dram__bytes.sum', 'short': 'dram__bytes.sum', 'value': 1" },
		{ "counters", "hta", "'number': 1, 'name': 'gemm', 'rank': 0, 'operator': 'aten::op1'" },
	};
	builder *b = builder_with_threads(1);

	(void)state;
	scale_counters(b, 9);
	sonde_trace *t = finish_trace(b);
	assert_all_say(t, cases, sizeof cases / sizeof cases[0]);
	sonde_trace_free(t);
}

static void of_other_numbers_the_operator_is_unknown(void **state)
{
	static const says cases[] = {
		{ "counters", NULL, "3 kernels have counters, but the number of launches differs" },
		{ "counters", NULL, "'operator': null, 'rank': 0, 'counter': 'dram__bytes.sum'" },
	};
	builder *b = builder_with_threads(1);

	(void)state;
	scale_counters(b, 9);
	uint32_t process = builder_process(b, 0, 100, INDEX_NONE);
	uint32_t track = builder_track(b, TRACK_THREAD, process, 13, INDEX_NONE, INDEX_NONE);
	builder_slice one = { .dur_ns = 10, .site = scale_site(b, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME) };
	builder_lane_slice(b, track, 0, &one);
	sonde_trace *t = finish_trace(b);
	assert_all_say(t, cases, sizeof cases / sizeof cases[0]);
	sonde_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nth_range_is_of_the_nth_launch),
		cmocka_unit_test(of_other_numbers_the_operator_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
