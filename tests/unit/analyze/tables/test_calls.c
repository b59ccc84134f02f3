/* What the host called and launched, and the analyses over it: see device_trace.h for the trace. */
#include "unit/analyze/device_trace.h"
#include "unit/analyze/analyze_json.h"

static const says cases[] = {
	/* 10, 15, 25 and 110, 115, 130 */
	{ "op_delays", NULL,
	  "'operator': 'aten::mm', 'rank': 0, 'count': 1, 'launch_delay_ns': 5000, 'device_delay_ns': 10000, "
	  "'kernels': 'gemm'" },
	{ "op_delays", NULL,
	  "'operator': 'aten::add', 'rank': 1, 'count': 1, 'launch_delay_ns': 5000, 'device_delay_ns': 15000, "
	  "'kernels': 'add'" },
	{ "op_delays", NULL, "2 of 8 kernels and copies (80.0 us) are omitted" },
	{ "sequences", NULL, "'sequences': []" },
	{ "call_tree", NULL,
	  "'name': 'aten::mm', 'rank': 0, 'calls': 1, 'host_ns': 20000, 'n_kernels': 1, 'kernel_ns': 35000, "
	  "'direct_ns': 0" },
	{ "call_tree", NULL,
	  "'name': 'cudaLaunchKernel', 'rank': 0, 'calls': 2, 'host_ns': 8000, 'n_launching': 2, 'n_kernels': 2, "
	  "'kernel_ns': 55000, 'span_ns': 55000" },
	/* The last step goes. */
	{ "call_tree", "hta", "'rank': 0, 'depth': 1, 'calls': 2, 'height': 2" },
	{ "op_delays", "hta", "'operator': 'aten::mm', 'rank': 1, 'count': 1, 'launch_delay_ns': 5000" },
	{ "counters", NULL, "no hardware counters" },
};

static void operators_are_told_with_their_kernels(void **state)
{
	sonde_trace *t = make_device_trace(2);

	(void)state;
	assert_all_say(t, cases, sizeof cases / sizeof cases[0]);
	sonde_trace_free(t);
}

/* mm launches a, b, c; add launches a, b, c too, in an operator that is inside another; relu launches one alone. */
static const device_slice repeated[] = {
	{ 0, 0, 20, "aten::mm", "cpu_op", CLASS_COMPUTE, 0 },
	{ 0, 1, 2, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 1 },
	{ 0, 3, 9, "aten::mm_out", "cpu_op", CLASS_COMPUTE, 0 },
	{ 0, 4, 5, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 2 },
	{ 0, 6, 7, "hipLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 3 },
	{ 0, 30, 50, "aten::mm", "cpu_op", CLASS_COMPUTE, 0 },
	{ 0, 31, 32, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 4 },
	{ 0, 34, 35, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 5 },
	{ 0, 36, 37, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 6 },
	{ 0, 60, 70, "aten::relu", "cpu_op", CLASS_COMPUTE, 0 },
	{ 0, 61, 62, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 7 },
	{ 1, 10, 12, "a", "kernel", CLASS_KERNEL, 1 },
	{ 1, 14, 16, "b", "kernel", CLASS_KERNEL, 2 },
	{ 2, 9, 11, "c", "kernel", CLASS_KERNEL, 3 }, /* before a, on another stream */
	{ 1, 40, 43, "a", "kernel", CLASS_KERNEL, 4 },
	{ 1, 44, 46, "b", "kernel", CLASS_KERNEL, 5 },
	{ 1, 48, 50, "c", "kernel", CLASS_KERNEL, 6 },
	{ 1, 64, 65, "relu", "kernel", CLASS_KERNEL, 7 },
};

static sonde_trace *make_repeated(void)
{
	builder *b = builder_with_threads(1);

	add_device_rank(b, 0, repeated, sizeof repeated / sizeof repeated[0]);
	return finish_trace(b);
}

static void the_same_kernels_in_a_row_are_one_sequence(void **state)
{
	static const struct {
		const char *setting, *value, *compat, *part;
	} settings[] = {
		{ "sequences.length", "3", NULL,
		  "'operator': 'aten::mm', 'rank': 0, 'count': 2, 'n_kernels': 3, 'kernel_ns': 13000, 'host_ns': "
		  "40000, 'kernels': 'a -> b -> c'" },
		{ "sequences.length", "1", NULL, "'operator': 'aten::relu', 'rank': 0, 'count': 1" },
		{ "sequences.operator", "mm_out", NULL, "no operator with mm_out launches 3 kernels or more" },
		/* In the order in which they ran. */
		{ "sequences.operator", "mm", "hta",
		  "'count': 1, 'n_kernels': 3, 'kernel_ns': 6000, 'host_ns': 20000, "
		  "'kernels': 'c -> a -> b'" },
	};
	sonde_trace *t = make_repeated();

	(void)state;
	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
		sonde_setting s = { settings[i].setting, settings[i].value };
		sonde_analyze_options o = {
			.struct_size = sizeof o, .settings = &s, .n_settings = 1, .compat = settings[i].compat
		};
		char *text = analyze(t, "sequences", &o);
		assert_says(text, settings[i].part);
		free(text);
	}
	sonde_trace_free(t);
}

static void an_operator_has_only_its_own_launches(void **state)
{
	sonde_analyze_options o = { .struct_size = sizeof o };
	sonde_trace *t = make_repeated();
	char *text = analyze(t, "op_delays", &o);

	(void)state;
	assert_says(text, "'operator': 'aten::mm_out', 'rank': 0, 'count': 1, 'launch_delay_ns': 1000, "
			  "'device_delay_ns': 10000, 'kernels': 'b -> c'");
	assert_says(text, "'operator': 'aten::mm', 'rank': 0, 'count': 1, 'launch_delay_ns': 1000, "
			  "'device_delay_ns': 9000, 'kernels': 'a'");
	free(text);
	sonde_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_are_told_with_their_kernels),
		cmocka_unit_test(the_same_kernels_in_a_row_are_one_sequence),
		cmocka_unit_test(an_operator_has_only_its_own_launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
