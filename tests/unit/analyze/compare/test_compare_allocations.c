/* Every allocation fails once while runs are compared: no crash, no leak, and either SONDE_E_MEMORY or an answer. */
#include "unit/analyze/compare/compare_trace.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

int main(void)
{
	printf("skipped: the sanitizer has its own malloc\n");
	return 77;
}

#else

#include <sonde/compare.h>
#include "unit/failing_malloc.h"

static sonde_trace *traces[3];
static size_t n_traces;
static sonde_compare_options how;

static sonde_status compare(sonde_error *err)
{
	sonde_result *r = NULL;
	sonde_status status = sonde_compare((const sonde_trace *const *)traces, n_traces, &how, &r, err);

	sonde_result_free(r);
	return status;
}

static void make_traces(void)
{
	static const run_shape shapes[] = {
		{ .n_steps = 12, .kernel_ns = 800000, .seed = 1, .n_slow = 1, .peak_bytes = 100 },
		{ .n_steps = 12, .kernel_ns = 900000, .seed = 2, .extra = "new", .extra_ns = 1000, .n_ranks = 2 },
		{ .n_steps = 12, .kernel_ns = 900000, .seed = 3, .no_steps = true },
	};

	for (size_t i = 0; i < 3; i++)
		traces[i] = make_run(shapes[i]);
}

static void every_allocation_may_fail(void **state)
{
	static const sonde_analyze_options hta = { .struct_size = sizeof hta, .compat = "hta" };

	(void)state;
	make_traces();
	how = (sonde_compare_options){ .struct_size = sizeof how, .fail_above = 0.01 };
	n_traces = 2;
	fail_each_allocation("two runs", compare, 1);
	n_traces = 3;
	fail_each_allocation("three runs, without steps", compare, 1);
	how.select = &hta;
	n_traces = 2;
	fail_each_allocation("trace diff", compare, 1);
	for (size_t i = 0; i < 3; i++)
		sonde_trace_free(traces[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
