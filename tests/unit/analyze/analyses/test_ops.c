/* Device time that adds up, and whose it is: see device_trace.h for the trace. */
#include "unit/analyze/device_trace.h"
#include "unit/analyze/analyze_json.h"

#include "analyze/names/op_category.h"

static const says cases[] = {
	/* 25..60, 50..80, 130..150, 140..180 of 25..180: computing 55, communication after 150, the copy after 60 */
	{ "timeline", NULL,
	  "'rank': 0, 'rows': 'all', 'n_rows': 4, 'total_ns': 155000, 'busy_ns': 105000, 'computation_ns': 55000, "
	  "'exposed_communication_ns': 30000, 'exposed_copy_ns': 20000, 'idle_ns': 50000, 'communication_ns': 40000, "
	  "'copy_ns': 30000" },
	/* without the collective, which nobody launched */
	{ "timeline", NULL,
	  "'rank': 1, 'rows': 'linked', 'n_rows': 3, 'total_ns': 125000, 'busy_ns': 75000, 'computation_ns': 55000, "
	  "'exposed_communication_ns': 0, 'exposed_copy_ns': 20000, 'idle_ns': 50000" },
	{ "timeline", NULL, "'n_rows': 6, 'n_all_rows': 8, 'time_ns': 170000, 'all_time_ns': 250000, 'percent': 68" },
	/* The file has no arrows: nothing is linked by TraceLens's rules. */
	{ "timeline", "tracelens", "'rank': 0, 'rows': 'all', 'n_rows': 4, 'total_ns': 155000, 'busy_ns': 105000" },
	{ "timeline", "tracelens", "'n_rows': 0, 'n_all_rows': 8" },
	{ "ops", NULL, "'category': 'GEMM', 'rank': 0, 'count': 1, 'direct_ns': 35000" },
	{ "ops", NULL, "'category': 'copy', 'rank': 1, 'count': 1, 'direct_ns': 30000" },
	{ "ops", NULL,
	  "'name': 'aten::add', 'category': 'elementwise', 'rank': 0, 'count': 1, 'direct_ns': 20000, "
	  "'subtree_ns': 20000" },
	{ "ops", NULL, "'name': 'cudaMemcpyAsync', 'category': 'copy', 'rank': 0, 'count': 1, 'direct_ns': 30000" },
	{ "ops", NULL, "'name': 'ncclDevKernel_AllReduce_Sum_f32', 'op': null, 'category': null, 'rank': 0" },
	{ "ops", NULL, "'name': 'gemm', 'op': 'aten::mm', 'category': 'GEMM', 'rank': 0" },
	{ "ops", NULL, "'table': 'op_categories, ops, op_args', 'n_rows': 6, 'n_all_rows': 8, 'time_ns': 170000" },
	{ "short_kernels", NULL, "'short_kernels': []" },
};

static void analyses_say_what_paper_says(void **state)
{
	sonde_trace *t = make_device_trace(2);

	(void)state;
	assert_all_say(t, cases, sizeof cases / sizeof cases[0]);
	sonde_trace_free(t);
}

static void a_limit_makes_kernels_short(void **state)
{
	sonde_setting limit = { "short_kernels.limit", "25us" };
	sonde_analyze_options o = { .struct_size = sizeof o, .settings = &limit, .n_settings = 1 };
	sonde_trace *t = make_device_trace(1);
	char *text = analyze(t, "short_kernels", &o);

	(void)state;
	assert_says(text, "'name': 'add', 'op': 'aten::add', 'shapes': null, 'rank': 0, 'count': 1, 'sum_ns': 20000, "
			  "'mean_ns': 20000, 'percent': 16");
	assert_says(text, "{'from_ns': 20000, 'to_ns': 22500, 'count': 1}");
	free(text);
	sonde_trace_free(t);
}

/* An operator inside another: both launch, and the outer one's subtree has both, overlaps once. */
static void a_subtree_has_what_is_inside(void **state)
{
	static const device_slice nested[] = {
		{ 0, 0, 100, "aten::outer", "cpu_op", CLASS_COMPUTE, 0 },
		{ 0, 10, 15, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 1 },
		{ 0, 20, 60, "aten::_scaled_dot_product_flash_attention", "cpu_op", CLASS_COMPUTE, 0 },
		{ 0, 25, 50, "custom::attention", "cpu_op", CLASS_COMPUTE, 0 },
		{ 0, 30, 35, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 2 },
		{ 1, 20, 50, "a", "kernel", CLASS_KERNEL, 1 },
		{ 2, 40, 70, "b", "kernel", CLASS_KERNEL, 2 },
	};
	builder *b = builder_with_threads(1);

	(void)state;
	add_device_rank(b, 0, nested, sizeof nested / sizeof nested[0]);
	sonde_trace *t = finish_trace(b);
	char *text = analyze(t, "ops", NULL);
	assert_says(text, "'name': 'aten::outer', 'category': 'other', 'rank': 0, 'count': 1, 'direct_ns': 30000, "
			  "'subtree_ns': 50000");
	assert_says(text, "'name': 'custom::attention', 'category': 'SDPA_fwd', 'rank': 0, 'count': 1, "
			  "'direct_ns': 30000, 'subtree_ns': 30000");
	free(text);
	sonde_trace_free(t);
}

static void names_tell_categories(void **state)
{
	(void)state;
	assert_int_equal(op_category_of_name("aten::mm", true), OP_GEMM);
	assert_int_equal(op_category_of_name("aten::mm_", false), OP_OTHER);
	assert_int_equal(op_category_of_name("aten::", false), OP_OTHER);
	assert_int_equal(op_category_of_name("", false), OP_OTHER);
	assert_int_equal(op_category_of_name("aten::_softmax", true), OP_OTHER);
	assert_int_equal(op_category_of_name("aten::_softmax", false), OP_SOFTMAX);
	assert_int_equal(op_category_of_name("triton_poi_fused_add_0", true), OP_TRITON);
	assert_int_equal(op_category_of_kernel("void at::native::reduce_kernel<512>"), OP_REDUCE);
	assert_int_equal(op_category_of_kernel("reduce_kernel"), OP_OTHER);
	for (op_category c = 0; c < OP_CATEGORIES; c++)
		assert_non_null(op_category_name(c));
}

static void nothing_on_a_device_is_one_sentence(void **state)
{
	static const char *const names[] = { "timeline", "ops", "short_kernels", "recompute" };
	static const char *const compats[] = { NULL, "tracelens" };
	builder *b = builder_with_threads(1);

	(void)state;
	add_device_rank(b, 0, device_slices, 7); /* the host alone */
	sonde_trace *t = finish_trace(b);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		for (size_t k = 0; k < 2; k++) {
			sonde_analyze_options o = { .struct_size = sizeof o, .compat = compats[k] };
			char *text = analyze(t, names[i], &o);
			assert_says(text, "no device rows: ");
			free(text);
		}
	sonde_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(analyses_say_what_paper_says),	       cmocka_unit_test(a_limit_makes_kernels_short),
		cmocka_unit_test(a_subtree_has_what_is_inside),	       cmocka_unit_test(names_tell_categories),
		cmocka_unit_test(nothing_on_a_device_is_one_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
