/*
 * How much memory analyses and queries of many slices take: the largest resident set while they run, above what it was
 * before, by slice. Told to take as little as they can, what they take does not depend on how many slices there are but
 * for a few bytes each: the bounds say how few.
 */
#include "unit/analyze/device_trace.h"
#include "unit/analyze/analyze_json.h"
#include "unit/analyze/scale_trace.h"

#include <malloc.h>
#include <stdio.h>
#include <sonde/analyze.h>
#include <sonde/compare.h>
#include <sonde/query.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

int main(void)
{
	printf("skipped: the sanitizer takes memory of its own\n");
	return 77;
}

#else

enum { SLICES = 2000000, FIXED_BYTES = 4 << 20, LITTLE_BYTES = 1000000 };

/* A line of /proc/self/status, in bytes; 0: it is not there. */
static double status_bytes(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	double kib = 0;

	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, key, strlen(key)) == 0)
			kib = strtod(line + strlen(key) + 1, NULL);
	if (f)
		fclose(f);
	return kib * 1024;
}

/* The largest resident set counts anew from here. False: the system does not let it. */
static bool forget_peak(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");
	bool ok = f && fputs("5", f) >= 0;

	return (!f || fclose(f) == 0) && ok && status_bytes("VmHWM") > 0;
}

static sonde_trace *make_trace(void (*fill)(builder *b, size_t n_slices))
{
	builder *b = builder_with_threads(1);

	fill(b, SLICES);
	return finish_trace(b);
}

/* With itself. */
static sonde_result *compare(const sonde_trace *t, const char *by, uint64_t memory_bytes)
{
	sonde_analyze_options select = { .struct_size = sizeof select, .memory_bytes = memory_bytes };
	sonde_compare_options options = { .struct_size = sizeof options, .select = &select, .by = by };
	const sonde_trace *both[] = { t, t };
	sonde_result *result = NULL;
	sonde_error err = { .message = "" };

	if (sonde_compare(both, 2, &options, &result, &err))
		fail_msg("compare: %s", err.message);
	return result;
}

/* An analysis, "compare", or "compare tree". memory_bytes: 0, as much as is usual. */
static sonde_result *run(const sonde_trace *t, const char *name, uint64_t memory_bytes)
{
	if (strncmp(name, "compare", 7) == 0)
		return compare(t, name[7] ? name + 8 : NULL, memory_bytes);
	sonde_setting small = { "critical_path.memory", "1MB" }; /* it is left out, and a note says so */
	sonde_analyze_options options = { .struct_size = sizeof options,
					  .memory_bytes = memory_bytes,
					  .settings = &small,
					  .n_settings = strcmp(name, "hta") == 0 };
	sonde_result *result = NULL;
	sonde_error err = { .message = "" };

	if (sonde_analyze(t, name, &options, &result, &err))
		fail_msg("%s: %s", name, err.message);
	return result;
}

static void ask(const sonde_trace *t, const char *sql)
{
	sonde_query *q = NULL;
	sonde_error err = { .message = "" };
	size_t at = 0;
	bool is_row = true;

	assert_int_equal(sonde_query_open(t, NULL, &q, &err), SONDE_OK);
	assert_int_equal(sonde_query_prepare(q, sql, &at, &err), SONDE_OK);
	while (is_row)
		assert_int_equal(sonde_query_step(q, &is_row, &err), SONDE_OK);
	sonde_query_free(q);
}

static void assert_small(const sonde_trace *t, const char *what, bool is_query, double bound)
{
	malloc_trim(0);
	double before = status_bytes("VmRSS");

	if (!forget_peak())
		skip();
	if (is_query)
		ask(t, what);
	else
		sonde_result_free(run(t, what, LITTLE_BYTES));
	double each = (status_bytes("VmHWM") - before - FIXED_BYTES) / SLICES;
	print_message("%s: %.1f bytes a slice\n", what, each);
	if (each > bound)
		fail_msg("%s takes %.1f bytes a slice, more than %.1f", what, each, bound);
}

static void analyses_take_few_bytes_a_slice(void **state)
{
	static const struct {
		const char *what;
		bool is_query;
		double plain, training; /* bounds */
	} cases[] = {
		{ "report", false, 2, 5 },
		{ "bottlenecks", false, 2, 10 },
		{ "hta", false, 2, 14 },
		{ "call_tree", false, 2, 16 },
		{ "counters", false, 2, 10 },
		{ "ops", false, 2, 14 },
		{ "operators", false, 2, 11 },
		{ "recompute", false, 2, 13 },
		{ "short_kernels", false, 2, 14 },
		{ "occupancy", false, 2, 14 },
		{ "module_tree", false, 2, 12 },
		{ "compare", false, 7, 12 },
		{ "compare tree", false, 2, 13 },
		{ "select name, count(*), sum(dur) from slices group by name", true, 9, 9 },
		{ "select count(*), sum(dur) from kernels", true, 1, 1 },
	};
	sonde_trace *plain = make_trace(scale_plain), *training = make_trace(scale_training);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_small(plain, cases[i].what, cases[i].is_query, cases[i].plain);
		assert_small(training, cases[i].what, cases[i].is_query, cases[i].training);
	}
	sonde_trace_free(plain);
	sonde_trace_free(training);
}

static void counters_take_few_bytes_a_slice(void **state)
{
	sonde_trace *t = make_trace(scale_counters);

	(void)state;
	assert_small(t, "counters", false,
		     180); /* half of the slices are ranges, and each has two rows of the result */
	sonde_trace_free(t);
}

static void assert_same(const sonde_trace *t, const char *name)
{
	char *usual = json_of(run(t, name, 0)), *little = json_of(run(t, name, LITTLE_BYTES));

	if (strcmp(usual, little) != 0)
		fail_msg("%s: another answer with little memory", name);
	free(usual);
	free(little);
}

static void answers_do_not_depend_on_memory(void **state)
{
	static const char *const names[] = { "call_tree", "ops",	   "operators", "compare",     "compare tree",
					     "recompute", "short_kernels", "occupancy", "module_tree", "op_delays" };
	sonde_trace *training = make_trace(scale_training), *counters = make_trace(scale_counters);

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_same(training, names[i]);
	assert_same(counters, "counters");
	sonde_trace_free(training);
	sonde_trace_free(counters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(analyses_take_few_bytes_a_slice),
		cmocka_unit_test(counters_take_few_bytes_a_slice),
		cmocka_unit_test(answers_do_not_depend_on_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
