/* Two traces by the tree of their operators. */
#include "unit/analyze/device_trace.h"
#include "unit/analyze/analyze_json.h"

#include <sonde/compare.h>

/* Two steps; a convolution that runs other kernels through other operators on B; an add that is slower there; and on B
   a kernel that nobody launched. */
static const device_slice a[] = {
	{ 0, 0, 100, "ProfilerStep#1", "user_annotation", CLASS_STEP, 0 },
	{ 0, 10, 40, "aten::_convolution", "cpu_op", CLASS_COMPUTE, 0 },
	{ 0, 12, 30, "aten::cudnn_convolution", "cpu_op", CLASS_COMPUTE, 0 },
	{ 0, 15, 20, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 1 },
	{ 0, 100, 200, "ProfilerStep#2", "user_annotation", CLASS_STEP, 0 },
	{ 0, 110, 125, "aten::add", "cpu_op", CLASS_COMPUTE, 0 },
	{ 0, 115, 118, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 2 },
	{ 1, 25, 65, "cudnn_conv", "kernel", CLASS_KERNEL, 1 },
	{ 1, 130, 150, "add", "kernel", CLASS_KERNEL, 2 },
};
static const device_slice b[] = {
	{ 0, 0, 100, "ProfilerStep#1", "user_annotation", CLASS_STEP, 0 },
	{ 0, 10, 40, "aten::_convolution", "cpu_op", CLASS_COMPUTE, 0 },
	{ 0, 12, 30, "aten::miopen_convolution", "cpu_op", CLASS_COMPUTE, 0 },
	{ 0, 15, 20, "hipLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 1 },
	{ 0, 100, 200, "ProfilerStep#2", "user_annotation", CLASS_STEP, 0 },
	{ 0, 110, 125, "aten::add", "cpu_op", CLASS_COMPUTE, 0 },
	{ 0, 115, 118, "hipLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 2 },
	{ 1, 25, 85, "miopen_conv", "kernel", CLASS_KERNEL, 1 },
	{ 1, 130, 154, "add", "kernel", CLASS_KERNEL, 2 },
	{ 2, 30, 36, "stray", "kernel", CLASS_KERNEL, 9 },
};

static sonde_trace *make(const device_slice *slices, size_t n)
{
	builder *to = builder_with_threads(1);

	add_device_rank(to, 0, slices, n);
	return finish_trace(to);
}

static char *compare(const sonde_trace *x, const sonde_trace *y)
{
	const sonde_trace *traces[] = { x, y };
	sonde_analyze_options all = { .struct_size = sizeof all, .warmup = "none" };
	sonde_compare_options how = { .struct_size = sizeof how, .by = "tree", .select = &all };
	sonde_result *r = NULL;
	sonde_error err = { .message = "" };

	if (sonde_compare(traces, 2, &how, &r, &err))
		fail_msg("%s", err.message);
	return json_of(r);
}

static void what_differs_hangs_below_what_both_have(void **state)
{
	sonde_trace *x = make(a, sizeof a / sizeof a[0]), *y = make(b, sizeof b / sizeof b[0]);
	char *text = compare(x, y);

	(void)state;
	assert_says(text, "'name': 'aten::_convolution', 'in': 'both', 'calls_a': 0.5, 'calls_b': 0.5, "
			  "'time_a_ns': 20000, 'time_b_ns': 30000, 'difference_ns': 10000, 'change_percent': 50");
	assert_says(text, "'name': 'aten::cudnn_convolution', 'in': 'only A'");
	assert_says(text, "'name': 'cudnn_conv', 'op': 'aten::cudnn_convolution', 'common': 'aten::_convolution', "
			  "'in': 'only A'");
	assert_says(text, "'name': 'add', 'op': 'aten::add', 'common': 'add', 'in': 'both', 'calls_a': 0.5, "
			  "'calls_b': 0.5, 'time_a_ns': 10000, 'time_b_ns': 12000, 'difference_ns': 2000");
	assert_says(text, "'name': 'stray', 'op': '(launch not in the trace)', 'common': '(everything)'");
	assert_says(text, "'change_percent': 50"); /* 30 and 45 us a step */
	assert_says(text, "B: 2 of 3 device rows, 84.0 us of 90.0 us");
	free(text);
	sonde_trace_free(x);
	sonde_trace_free(y);
}

static void without_a_device_the_host_is_compared(void **state)
{
	sonde_trace *x = make(a, 7), *y = make(b, sizeof b / sizeof b[0]);
	char *text = compare(x, y);

	(void)state;
	assert_says(text, "'name': 'aten::add', 'in': 'both', 'calls_a': 0.5, 'calls_b': 0.5, 'time_a_ns': 7500, "
			  "'time_b_ns': 7500, 'difference_ns': 0");
	assert_says(text, "host times are compared");
	free(text);
	sonde_trace_free(x);
	sonde_trace_free(y);
}

static void three_runs_have_no_tree(void **state)
{
	sonde_trace *x = make(a, 7);
	const sonde_trace *traces[] = { x, x, x };
	sonde_compare_options how = { .struct_size = sizeof how, .by = "tree" };
	sonde_result *r = NULL;

	(void)state;
	assert_int_equal(sonde_compare(traces, 3, &how, &r, NULL), SONDE_E_USAGE);
	sonde_trace_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_differs_hangs_below_what_both_have),
		cmocka_unit_test(without_a_device_the_host_is_compared),
		cmocka_unit_test(three_runs_have_no_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
