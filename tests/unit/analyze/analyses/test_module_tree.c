/* Modules as a tree, and what is computed again, on a step small enough to work out on paper. */
#include "unit/analyze/device_trace.h"
#include "unit/analyze/analyze_json.h"

/* Net_0 launches a (10..20), its Linear_0 b (15..40) and c (30..50, on the other stream); called once more, d. What is
   launched outside of it, e, is no module's. */
static const device_slice modules[] = {
	{ 0, 0, 100, "nn.Module: Net_0", "python_function", CLASS_PYTHON, 0 },
	{ 0, 2, 4, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 1 },
	{ 0, 10, 60, "forward", "python_function", CLASS_PYTHON, 0 },
	{ 0, 12, 50, "nn.Module: Linear_0", "python_function", CLASS_PYTHON, 0 },
	{ 0, 13, 14, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 2 },
	{ 0, 16, 17, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 3 },
	{ 0, 70, 80, "nn.Module: Linear_0", "python_function", CLASS_PYTHON, 0 },
	{ 0, 71, 72, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 4 },
	{ 0, 110, 120, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 5 },
	{ 1, 10, 20, "a", "kernel", CLASS_KERNEL, 1 },
	{ 1, 25, 40, "b", "kernel", CLASS_KERNEL, 2 },
	{ 2, 30, 50, "c", "kernel", CLASS_KERNEL, 3 },
	{ 1, 80, 90, "d", "kernel", CLASS_KERNEL, 4 },
	{ 1, 120, 130, "e", "kernel", CLASS_KERNEL, 5 },
};

static void calls_of_a_path_are_one_node(void **state)
{
	builder *b = builder_with_threads(1);

	(void)state;
	add_device_rank(b, 0, modules, sizeof modules / sizeof modules[0]);
	sonde_trace *t = finish_trace(b);
	char *text = analyze(t, "module_tree", NULL);
	assert_says(text, "'module': 'Net_0', 'rank': 0, 'count': 1, 'host_ns': 100000, 'host_own_ns': 52000, 'n_ops': "
			  "0, 'n_device_rows': 4, "
			  "'device_ns': 45000, 'own_ns': 10000, 'percent': 100, 'depth': 0");
	assert_says(text, "'module': 'Linear_0', 'rank': 0, 'count': 2, 'host_ns': 48000, 'host_own_ns': 48000, "
			  "'n_ops': 0, 'n_device_rows': 3, "
			  "'device_ns': 35000, 'own_ns': 35000");
	assert_says(text, "'n_rows': 4, 'n_all_rows': 5, 'time_ns': 55000, 'all_time_ns': 65000");
	free(text);
	sonde_trace_free(t);
}

static void a_trace_without_modules_says_so(void **state)
{
	sonde_trace *t = make_device_trace(1);
	char *text = analyze(t, "module_tree", NULL);

	(void)state;
	assert_says(text, "no nn.Module rows");
	free(text);
	text = analyze(t, "recompute", NULL);
	assert_says(text, "'n_rows': 0, 'recomputed_ns': 0, 'device_ns': 105000, 'percent': 0");
	assert_says(text, "no Python rows");
	free(text);
	sonde_trace_free(t);
}

/* A reentrant checkpoint computes f again, and runs g's backward pass itself, which is not computed again. */
static void a_checkpoint_computes_again(void **state)
{
	static const device_slice slices[] = {
		{ 0, 0, 100, "CheckpointFunctionBackward", "cpu_op", CLASS_COMPUTE, 0 },
		{ 0, 10, 30, "aten::mm", "cpu_op", CLASS_COMPUTE, 0 },
		{ 0, 11, 12, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 1 },
		{ 0, 40, 90, "autograd::engine::evaluate_function: MmBackward0", "cpu_op", CLASS_COMPUTE, 0 },
		{ 0, 41, 60, "aten::mm", "cpu_op", CLASS_COMPUTE, 0 },
		{ 0, 42, 43, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 2 },
		{ 1, 20, 40, "f", "kernel", CLASS_KERNEL, 1 },
		{ 1, 50, 80, "g", "kernel", CLASS_KERNEL, 2 },
	};
	builder *b = builder_with_threads(1);

	(void)state;
	add_device_rank(b, 0, slices, sizeof slices / sizeof slices[0]);
	sonde_trace *t = finish_trace(b);
	char *text = analyze(t, "recompute", NULL);
	assert_says(text, "'rank': 0, 'n_rows': 1, 'recomputed_ns': 20000, 'device_ns': 50000, 'percent': 40");
	assert_says(text, "'name': 'aten::mm', 'rank': 0, 'count': 1, 'recomputed_ns': 20000, 'direct_ns': 50000");
	free(text);
	sonde_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_a_path_are_one_node),
		cmocka_unit_test(a_trace_without_modules_says_so),
		cmocka_unit_test(a_checkpoint_computes_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
