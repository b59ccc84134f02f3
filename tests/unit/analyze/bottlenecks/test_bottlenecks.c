/* All rules together: nothing in a clean run, one finding for one cause, the order, the warm-up, what is said. */
#include "unit/analyze/bottlenecks/rule_kit.h"

static const char ampere[] = "[{\"name\": \"A100\", \"totalGlobalMem\": 1000000, \"computeMajor\": 8}]";

/* A training step as it should be: data ready, the host ahead, products on tensor cores, gradients sent meanwhile. */
static void train_well(kit *k, int64_t t, bool fires)
{
	(void)fires;
	scope(k, t, t + 20, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	op(k, t + 30, t + 90, "aten::linear");
	work(k, STREAM, t + 40, 5, t + 50, t + 3000, GEMM,
	     kit_args(k, "est. achieved occupancy %", "60", "blocks per SM", "8"));
	work(k, STREAM, t + 60, 5, t + 3000, t + 4000, "void at::native::vectorized_elementwise_kernel<4>", 0);
	op(k, t + 100, t + 200, "autograd::engine::evaluate_function: AddmmBackward0");
	work(k, STREAM, t + 120, 5, t + 4000, t + 9500, GEMM, 0);
	work(k, OTHER_STREAM, t + 140, 5, t + 5000, t + 8000, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
	     kit_args(k, "In msg nelems", "20000000", "dtype", "\"BFloat16\""));
	scope(k, t + 210, t + 400, "Optimizer.step#AdamW.step");
	op(k, t + 220, t + 300, "aten::_fused_adamw_");
	work(k, STREAM, t + 240, 5, t + 9500, t + 9950, "multi_tensor_apply_kernel", 0);
	call(k, t + 9600, t + 9990, "cudaStreamSynchronize"); /* at the step's end it is in order */
}

static void wait_for_data(kit *k, int64_t t, bool fires)
{
	scope(k, t, t + 7000, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	work(k, STREAM, t + 7005, 5, t + 7010, t + 9990, fires ? "gemm_kernel_128x64" : GEMM, 0);
}

static void wait_and_leak(kit *k, int64_t t, bool fires)
{
	builder_allocation a = { .time_ns = 5000000 + (t + 10) * k->unit,
				 .track = k->tracks[MAIN],
				 .site = site_named(k->b, "[memory]", CLASS_MEMORY),
				 .device = -1,
				 .address = 64 + (uint64_t)k->step,
				 .bytes = 1 << 20,
				 .total_bytes = -1,
				 .reserved_bytes = -1 };

	wait_for_data(k, t, fires);
	builder_allocation_add(k->b, &a);
}

static sonde_result *analyze(const rule_case *c, bool fires, sonde_analyze_options *options)
{
	sonde_trace *trace = plant_trace(c, fires);
	sonde_result *result = NULL;

	options->struct_size = sizeof *options;
	assert_int_equal(sonde_analyze(trace, "bottlenecks", options, &result, NULL), SONDE_OK);
	sonde_trace_free(trace);
	return result;
}

static const char *verdict_of(const sonde_result *result, const char *name)
{
	const sonde_table *rules = sonde_result_find_table(result, "rules");

	for (size_t i = 0; i < sonde_table_n_rows(rules); i++)
		if (strcmp(sonde_table_cell(rules, i, 0).string, name) == 0)
			return sonde_table_cell(rules, i, 1).string;
	return "";
}

static void a_clean_run_has_no_findings(void **state)
{
	static const rule_case c = { .plant = train_well, .n_ranks = 2, .device = ampere };
	sonde_analyze_options options = { 0 };
	sonde_result *result = analyze(&c, false, &options);

	(void)state;
	if (sonde_result_n_findings(result))
		fail_msg("%s: %s", sonde_result_finding(result, 0)->rule, sonde_result_finding(result, 0)->evidence[0]);
	assert_non_null(strstr(sonde_result_headline(result), "no findings in"));
	const sonde_table *rules = sonde_result_find_table(result, "rules");
	assert_int_equal(sonde_table_n_rows(rules), sizeof all_rules / sizeof *all_rules);
	assert_true(sonde_result_value(result, "n_passed").integer >= 35);
	sonde_result_free(result);
}

static void one_cause_is_one_finding(void **state)
{
	static const rule_case c = { .plant = wait_for_data };
	sonde_analyze_options options = { 0 };
	sonde_result *result = analyze(&c, false, &options);

	(void)state;
	assert_int_equal(sonde_result_n_findings(result), 1);
	assert_string_equal(sonde_result_finding(result, 0)->rule, "dataloader");
	assert_true(sonde_result_finding(result, 0)->n_evidence > 1);
	assert_string_equal(verdict_of(result, "dataloader"), "found");
	assert_string_equal(verdict_of(result, "sync_loader"), "part of dataloader");
	assert_string_equal(verdict_of(result, "low_utilization"), "part of dataloader");
	assert_string_equal(verdict_of(result, "host_wait"), "part of dataloader");
	assert_string_equal(verdict_of(result, "straggler"), "no data");
	sonde_result_free(result);
}

static void what_costs_most_comes_first_but_for_what_ends_the_run(void **state)
{
	static const rule_case c = { .plant = wait_and_leak, .device = ampere };
	static const char *const order[] = { "leak", "dataloader", "tensor_cores" };
	sonde_analyze_options options = { 0 };
	sonde_result *result = analyze(&c, true, &options);

	(void)state;
	assert_int_equal(sonde_result_n_findings(result), 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(sonde_result_finding(result, i)->rule, order[i]);
	assert_int_equal(sonde_result_finding(result, 0)->severity, SONDE_CRITICAL);
	sonde_result_free(result);
}

static void slow_first_steps_are_left_out(void **state)
{
	kit k = { .b = builder_with_threads(1), .unit = 1000 };
	sonde_trace *trace = NULL;
	sonde_result *result = NULL;
	sonde_analyze_options options = { .struct_size = sizeof options };
	int64_t t = 0;

	(void)state;
	begin_rank(&k, 0);
	for (int i = 0; i < 8; i++) {
		char name[32];
		int64_t dur = i < 2 ? 30000 : 10000;
		snprintf(name, sizeof name, "ProfilerStep#%d", i + 1);
		put(&k, MAIN, t, t + dur, name, CLASS_STEP, 0, 0);
		kernel(&k, t, dur - 9900, dur, GEMM); /* idle for the rest */
		t += dur;
	}
	assert_int_equal(trace_of_index(finish(k.b), &trace, NULL), SONDE_OK);
	assert_int_equal(sonde_analyze(trace, "bottlenecks", &options, &result, NULL), SONDE_OK);
	assert_int_equal(sonde_result_value(result, "n_warmup_steps").integer, 2);
	assert_int_equal(sonde_result_value(result, "n_steps").integer, 6);
	assert_int_equal(sonde_result_value(result, "span_ns").integer, 60000000);
	assert_int_equal(sonde_result_n_findings(result), 0);
	sonde_result_free(result);

	options.warmup = "none";
	assert_int_equal(sonde_analyze(trace, "bottlenecks", &options, &result, NULL), SONDE_OK);
	assert_int_equal(sonde_result_value(result, "n_warmup_steps").integer, 0);
	assert_true(sonde_result_n_findings(result) > 0);
	sonde_result_free(result);

	options.warmup = "1";
	assert_int_equal(sonde_analyze(trace, "bottlenecks", &options, &result, NULL), SONDE_OK);
	assert_int_equal(sonde_result_value(result, "n_steps").integer, 7);
	sonde_result_free(result);
	sonde_trace_free(trace);
}

/* Follows the first n names; a circle would never end. */
static size_t depth_of_signs(const rule *of, size_t depth)
{
	size_t deepest = depth;

	if (depth > sizeof all_rules / sizeof *all_rules)
		return depth;
	for (const char *at = of->sign_of; at && *at; at += strspn(at, " ")) {
		char name[64];
		size_t len = strcspn(at, " ");
		assert_true(len < sizeof name);
		snprintf(name, sizeof name, "%.*s", (int)len, at);
		if (!rule_named(name))
			fail_msg("%s is a sign of %s, which is not there", of->name, name);
		size_t deep = depth_of_signs(rule_named(name), depth + 1);
		deepest = deep > deepest ? deep : deepest;
		at += len;
	}
	return deepest;
}

static void signs_go_in_no_circle(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof all_rules / sizeof *all_rules; i++)
		if (depth_of_signs(all_rules[i], 0) > 10)
			fail_msg("%s is a sign of itself", all_rules[i]->name);
}

static void thresholds_are_settings(void **state)
{
	static const rule_case c = { .plant = wait_for_data };
	static const sonde_setting high[] = { { "dataloader.warn", "80%" }, { "sync_loader.warn", "80%" } };
	sonde_analyze_options options = { .settings = high, .n_settings = 2 };
	sonde_result *result = analyze(&c, false, &options);

	(void)state;
	assert_string_equal(verdict_of(result, "dataloader"), "passed");
	assert_string_equal(verdict_of(result, "low_utilization"), "found");
	sonde_result_free(result);
}

static void an_empty_trace_has_no_data_and_no_error(void **state)
{
	builder *b = builder_with_threads(1);
	sonde_trace *trace = NULL;
	sonde_result *result = NULL;

	(void)state;
	assert_int_equal(trace_of_index(finish(b), &trace, NULL), SONDE_OK);
	assert_int_equal(sonde_analyze(trace, "bottlenecks", NULL, &result, NULL), SONDE_OK);
	assert_int_equal(sonde_result_n_findings(result), 0);
	assert_int_equal(sonde_result_value(result, "n_no_data").integer, sizeof all_rules / sizeof *all_rules);
	sonde_result_free(result);
	sonde_trace_free(trace);
}

static void compute_on_the_host(kit *k, int64_t t, bool fires)
{
	kernel(k, t, 50, 4000, GEMM);
	if (fires) {
		scope(k, t + 4000, t + 9900, "metrics");
		scope(k, t + 5000, t + 9000, "confusion matrix");
	}
}

static void code_that_the_device_waits_for_is_named(void **state)
{
	static const rule_case c = { .rule = "python_bound", .plant = compute_on_the_host };
	sonde_analyze_options options = { 0 };

	(void)state;
	for (int named = 0; named < 2; named++) {
		sonde_result *result = analyze(&c, named, &options);
		const sonde_finding *f = sonde_result_finding(result, 0);
		assert_string_equal(f->rule, "python_bound");
		assert_int_equal(f->n_affected, named ? 2 : 0);
		if (named) {
			assert_string_equal(f->affected[0], "confusion matrix");
			assert_string_equal(f->affected[1], "metrics");
		}
		assert_int_equal(strstr(f->suggestion, "with_stack") == NULL, named);
		sonde_result_free(result);
	}
}

/* A step three times as long behind the others; fires: because of what is in it. */
static void save_once(kit *k, int64_t t, bool fires)
{
	scope(k, t + 100, t + 300, "checkpoint");
	if (k->step != KIT_STEPS - 1)
		return;
	put(k, MAIN, t + KIT_STEP, t + KIT_STEP + 30000, "ProfilerStep#11", CLASS_STEP, 0, 0);
	scope(k, t + KIT_STEP + 100, t + KIT_STEP + (fires ? 19000 : 300), "checkpoint");
}

static void what_makes_a_step_long_is_named(void **state)
{
	static const rule_case c = { .rule = "step_outliers", .plant = save_once };
	sonde_analyze_options options = { 0 };

	(void)state;
	for (int named = 0; named < 2; named++) {
		sonde_result *result = analyze(&c, named, &options);
		const sonde_finding *f = sonde_result_finding(result, 0);
		assert_string_equal(f->rule, "step_outliers");
		assert_int_equal(f->n_evidence, named ? 2 : 1);
		assert_string_equal(f->affected[0], named ? "checkpoint" : "ProfilerStep#11");
		assert_int_equal(strstr(f->suggestion, "`checkpoint` in step 11") != NULL, named);
		sonde_result_free(result);
	}
}

static void a_trace_without_slices_cannot_be_checked(void **state)
{
	sonde_trace *trace = NULL;
	sonde_result *result;

	(void)state;
	assert_int_equal(trace_of_index(finish(builder_with_threads(1)), &trace, NULL), SONDE_OK);
	assert_int_equal(sonde_analyze(trace, "bottlenecks", NULL, &result, NULL), SONDE_OK);
	assert_string_equal(sonde_result_headline(result), "no rule could check the trace: the trace has no slices");
	sonde_result_free(result);
	sonde_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clean_run_has_no_findings),
		cmocka_unit_test(one_cause_is_one_finding),
		cmocka_unit_test(what_costs_most_comes_first_but_for_what_ends_the_run),
		cmocka_unit_test(slow_first_steps_are_left_out),
		cmocka_unit_test(signs_go_in_no_circle),
		cmocka_unit_test(thresholds_are_settings),
		cmocka_unit_test(an_empty_trace_has_no_data_and_no_error),
		cmocka_unit_test(code_that_the_device_waits_for_is_named),
		cmocka_unit_test(what_makes_a_step_long_is_named),
		cmocka_unit_test(a_trace_without_slices_cannot_be_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
