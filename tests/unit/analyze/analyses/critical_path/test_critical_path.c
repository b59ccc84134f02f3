/* The longest way through graphs, and what a trace that can be worked out on paper depends on. */
#include "unit/analyze/device_trace.h"
#include "unit/analyze/analyze_json.h"

#include "analyze/analyses/critical_path/graph.h"

enum { A = 100, B }; /* names */

static edge operator_of(uint32_t from, uint32_t to, int64_t weight, uint32_t name)
{
	return (edge){ from, to, weight, name, EDGE_OPERATOR };
}

static void the_longest_way_is_found(void **state)
{
	critical_graph g = { 0 };
	uint32_t end;

	(void)state;
	graph_edge(&g, operator_of(0, 1, 5, A));
	graph_edge(&g, operator_of(1, 3, 5, A));
	graph_edge(&g, operator_of(0, 2, 4, B));
	graph_edge(&g, operator_of(2, 3, 4, B));
	graph_edge(&g, operator_of(2, 3, 5, B)); /* in the place of the one before */
	graph_edge(&g, operator_of(4, 3, -3, B));
	assert_true(graph_prepare(&g));
	assert_int_equal(g.n_edges, 5);
	assert_int_equal(graph_longest(&g, NODE_NONE, 1, &end), 10);
	assert_int_equal(end, 3);
	assert_int_equal(graph_before(&g, 3)->from, 1);
	assert_null(graph_before(&g, 0));
	/* A twice as fast takes 4: then B's 9 are the longest. */
	assert_int_equal(graph_longest(&g, A, 2, &end), 9);
	assert_int_equal(graph_before(&g, 3)->from, 2);
	assert_int_equal(graph_longest(&g, B, 2, &end), 10);
	graph_done(&g);
}

static void of_two_longest_ways_the_first_counts(void **state)
{
	critical_graph g = { 0 };
	uint32_t end;

	(void)state;
	graph_edge(&g, operator_of(0, 2, 3, A));
	graph_edge(&g, operator_of(1, 2, 3, B));
	graph_edge(&g, operator_of(1, 3, 3, B));
	assert_true(graph_prepare(&g));
	assert_int_equal(graph_longest(&g, NODE_NONE, 1, &end), 3);
	assert_int_equal(end, 2);
	assert_int_equal(graph_before(&g, 2)->from, 0);
	graph_done(&g);
}

static void what_goes_in_a_circle_is_left_out(void **state)
{
	critical_graph g = { 0 };
	uint32_t end;

	(void)state;
	assert_true(graph_prepare(&g));
	assert_int_equal(graph_longest(&g, NODE_NONE, 1, &end), 0);
	assert_int_equal(end, NODE_NONE);
	graph_clear(&g);
	graph_edge(&g, operator_of(0, 1, 1, A));
	graph_edge(&g, operator_of(2, 3, 7, A));
	graph_edge(&g, operator_of(3, 2, 7, A));
	assert_true(graph_prepare(&g));
	assert_int_equal(graph_longest(&g, NODE_NONE, 1, &end), 1);
	assert_int_equal(end, 1);
	graph_done(&g);
}

/*
 *   thread      ProfilerStep#1  0 ..................................................... 100
 *               launch   10.15   20.25   Synchronize 30 ................... 85   mul 85..95
 *   stream 7                 first 20 .............. 60  second 60 .... 80
 */
static const device_slice waits[] = {
	{ 0, 0, 100, "ProfilerStep#1", "user_annotation", CLASS_STEP, 0 },
	{ 0, 10, 15, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 1 },
	{ 0, 20, 25, "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME, 2 },
	{ 0, 30, 85, "cudaDeviceSynchronize", "cuda_runtime", CLASS_RUNTIME, 0 },
	{ 0, 85, 95, "aten::mul", "cpu_op", CLASS_COMPUTE, 0 },
	{ 1, 20, 60, "first", "kernel", CLASS_KERNEL, 1 },
	{ 1, 60, 80, "second", "kernel", CLASS_KERNEL, 2 },
};

static const struct {
	const char *times, *faster, *part;
} wait_cases[] = {
	{ "2", "", "'what': 'operator', 'sum_ns': 25000, 'step_ns': 25000, 'percent': 25" }, /* 0..10, 85..100 */
	{ "2", "", "'what': 'launch', 'sum_ns': 10000" },				     /* 10..20 */
	{ "2", "", "'what': 'kernel', 'sum_ns': 60000" },
	{ "2", "", "'what': 'kernel-kernel', 'sum_ns': 0" },
	{ "2", "", "'what': 'sync', 'sum_ns': 5000" }, /* 80..85 */
	{ "2", "", "'rank': 0, 'n_steps': 1, 'span_ns': 100000, 'path_ns': 100000" },
	{ "2", "", "'name': 'aten::mul', 'rank': 0, 'what': 'operator', 'count': 1, 'sum_ns': 10000" },
	{ "2", "first", "'name': 'first', 'rank': 0, 'times': 2, 'path_ns': 80000, 'saved_ns': 20000" },
	/* Then it is the second launch that counts: 20, and the 10 that launching takes. */
	{ "100", "first", "'name': 'first', 'rank': 0, 'times': 100, 'path_ns': 70000, 'saved_ns': 30000" },
	{ "2", "aten::mul", "'saved_ns': 5000, 'saved_step_ns': 5000, 'percent': 5" },
	/* What was waited for is not the call's doing. */
	{ "2", "cudaDeviceSynchronize", "'saved_ns': 0," },
	{ "2", "nobody", "no name \\'nobody\\'" },
};

static void a_step_is_as_long_as_its_path(void **state)
{
	builder *b = builder_with_threads(1);

	(void)state;
	add_device_rank(b, 0, waits, sizeof waits / sizeof waits[0]);
	sonde_trace *t = finish_trace(b);
	for (size_t i = 0; i < sizeof wait_cases / sizeof wait_cases[0]; i++) {
		sonde_setting s[] = { { "critical_path.faster", wait_cases[i].faster },
				      { "critical_path.times", wait_cases[i].times } };
		sonde_analyze_options o = { .struct_size = sizeof o, .settings = s, .n_settings = 2 };
		char *text = analyze(t, "critical_path", &o);
		assert_says(text, wait_cases[i].part);
		free(text);
	}
	sonde_trace_free(t);
}

/* The kernels of device_trace.h end while the host still works: all of the path is on the host. */
static void a_host_that_is_never_waited_for_is_the_path(void **state)
{
	sonde_trace *t = make_device_trace(2);
	sonde_analyze_options o = { .struct_size = sizeof o };
	char *text = analyze(t, "critical_path", &o);

	(void)state;
	assert_says(text, "'rank': 1, 'what': 'operator', 'sum_ns': 200000, 'step_ns': 100000, 'percent': 100");
	assert_says(text, "'name': '(outside operators)', 'rank': 0, 'what': 'operator', 'count': ");
	assert_says(text, "'name': 'aten::mm', 'rank': 0, 'what': 'operator', 'count': 2, 'sum_ns': 15000");
	free(text);
	sonde_trace_free(t);
}

/* By itself it is an error, as a part of hta a note; the other parts are there. */
static void a_graph_that_takes_too_much_memory_is_refused(void **state)
{
	static const char why[] =
		"its graph of 22 rows would take about 3.44 KiB of memory, more than critical_path.memory "
		"(1.00 KiB); select steps with --steps, or raise it with --set";
	sonde_setting s = { "critical_path.memory", "1KiB" };
	sonde_analyze_options o = { .struct_size = sizeof o, .settings = &s, .n_settings = 1 };
	sonde_trace *t = make_device_trace(2);
	sonde_result *r = NULL;
	sonde_error err = { .message = "" };

	(void)state;
	assert_int_equal(sonde_analyze(t, "critical_path", &o, &r, &err), SONDE_E_UNSUPPORTED);
	assert_non_null(strstr(err.message, why));
	char *text = analyze(t, "hta", &o);
	assert_says(text, "{'label': 'left out', 'text': 'critical path: its graph of 22 rows would take");
	assert_says(text, "'op_delays': [");
	assert_says(text, "'stragglers': ");
	assert_null(strstr(text, "\"critical_path\": ["));
	free(text);
	sonde_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_way_is_found),
		cmocka_unit_test(of_two_longest_ways_the_first_counts),
		cmocka_unit_test(what_goes_in_a_circle_is_left_out),
		cmocka_unit_test(a_step_is_as_long_as_its_path),
		cmocka_unit_test(a_host_that_is_never_waited_for_is_the_path),
		cmocka_unit_test(a_graph_that_takes_too_much_memory_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
