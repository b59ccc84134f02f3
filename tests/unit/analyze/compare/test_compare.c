/* Runs side by side: what is certain, what is not, what came and went. */
#include "unit/analyze/compare/compare_trace.h"

#include <dirent.h>
#include <math.h>
#include <unistd.h>
#include <sonde/compare.h>

enum { MOST = 4 };

/* Makes the runs, compares, frees them. */
static sonde_result *compare_with(const run_shape *shapes, size_t n, sonde_compare_options how)
{
	sonde_trace *traces[MOST] = { NULL };
	sonde_result *r = NULL;
	sonde_error err = { .message = "" };

	how.struct_size = sizeof how;
	for (size_t i = 0; i < n; i++)
		traces[i] = make_run(shapes[i]);
	sonde_status status = sonde_compare((const sonde_trace *const *)traces, n, &how, &r, &err);
	if (status)
		print_error("%s\n", err.message);
	assert_int_equal(status, SONDE_OK);
	for (size_t i = 0; i < n; i++)
		sonde_trace_free(traces[i]);
	return r;
}

static sonde_result *compare(const run_shape *shapes, size_t n)
{
	return compare_with(shapes, n, (sonde_compare_options){ .by = NULL });
}

/* The cell of a name in a table; unknown when the name is not there. */
static sonde_value cell_of(const sonde_result *r, const char *table_key, const char *name, const char *column_key)
{
	const sonde_table *t = sonde_result_find_table(r, table_key);
	sonde_column c;

	for (size_t i = 0; t && i < sonde_table_n_rows(t); i++) {
		if (strcmp(sonde_table_cell(t, i, 0).string, name) != 0)
			continue;
		for (size_t k = 0; sonde_table_column(t, k, &c); k++)
			if (strcmp(c.key, column_key) == 0)
				return sonde_table_cell(t, i, k);
	}
	return (sonde_value){ .type = SONDE_VALUE_UNKNOWN };
}

static const char *verdict_of(const sonde_result *r, const char *table_key, const char *name)
{
	const char *text = cell_of(r, table_key, name, "verdict").string;

	return text ? text : "(not there)";
}

static double real(const sonde_result *r, const char *key)
{
	return sonde_result_value(r, key).number;
}

static bool has_note(const sonde_result *r, const char *label, const char *part)
{
	const char *key, *text;

	for (size_t i = 0; sonde_result_note(r, i, &key, &text); i++)
		if (strcmp(key, label) == 0 && strstr(text, part))
			return true;
	return false;
}

/* Of 40 questions two may be answered wrongly by chance. */
static void equal_runs_are_not_told_apart(void **state)
{
	size_t n_wrong = 0;

	(void)state;
	for (uint64_t i = 0; i < 20; i++) {
		const run_shape shapes[] = { { .n_steps = 50, .kernel_ns = 800000, .seed = 2 * i + 1 },
					     { .n_steps = 50, .kernel_ns = 800000, .seed = 2 * i + 2 } };
		sonde_result *r = compare(shapes, 2);
		bool is_certain = sonde_result_value(r, "is_certain").integer;
		const char *says = "no difference above the noise (50 steps";
		n_wrong += is_certain;
		n_wrong += strcmp(verdict_of(r, "kernels", "gemm"), "same") != 0;
		assert_int_equal(strstr(sonde_result_headline(r), says) == NULL, is_certain);
		assert_true(fabs(real(r, "change_percent")) < 1);
		assert_true(real(r, "high_percent") - real(r, "low_percent") < 2);
		assert_string_equal(verdict_of(r, "names", "forward"), "same");
		assert_int_equal(sonde_result_n_findings(r), 0);
		sonde_result_free(r);
	}
	assert_in_range(n_wrong, 0, 4);
}

/* The kernel is 80 % of the step and takes 10 % longer: 8 % a step. */
static void a_slower_kernel_is_found_with_its_size(void **state)
{
	const run_shape shapes[] = { { .n_steps = 50, .kernel_ns = 800000, .seed = 1 },
				     { .n_steps = 50, .kernel_ns = 880000, .seed = 2 } };
	sonde_result *r = compare(shapes, 2);

	(void)state;
	assert_non_null(strstr(sonde_result_headline(r), "% slower than A per step"));
	assert_float_equal(real(r, "change_percent"), 8, 0.7);
	assert_true(real(r, "low_percent") < 8.2 && real(r, "high_percent") > 7.8);
	assert_string_equal(verdict_of(r, "kernels", "gemm"), "slower");
	assert_float_equal(cell_of(r, "kernels", "gemm", "change_percent").number, 10, 0.7);
	assert_float_equal(cell_of(r, "kernels", "gemm", "diff_ns").number, 80000, 6000);
	assert_string_equal(cell_of(r, "kernels", "gemm", "samples").string, "steps");
	assert_string_equal(verdict_of(r, "phases", "device computes"), "slower");
	assert_string_equal(verdict_of(r, "names", "forward"), "same");
	/* Without what it calls: 50 us less 10 us. */
	assert_int_equal(cell_of(r, "names", "forward", "a_ns").integer, 40000);
	assert_true(has_note(r, "mostly", "device computes"));
	sonde_result_free(r);
}

static void names_come_and_go(void **state)
{
	const run_shape shapes[] = {
		{ .n_steps = 20, .kernel_ns = 800000, .seed = 1, .extra = "old", .extra_ns = 30000 },
		{ .n_steps = 20, .kernel_ns = 800000, .seed = 2, .extra = "new", .extra_ns = 60000 }
	};
	sonde_result *r = compare(shapes, 2);

	(void)state;
	assert_string_equal(verdict_of(r, "names", "old"), "removed");
	assert_string_equal(verdict_of(r, "names", "new"), "added");
	assert_int_equal(cell_of(r, "names", "old", "b_ns").type, SONDE_VALUE_UNKNOWN);
	assert_float_equal(cell_of(r, "names", "new", "diff_ns").number, 60000, 1000);
	assert_int_equal(cell_of(r, "names", "new", "b_calls").integer, 20);
	assert_true(has_note(r, "names", "1 added, 1 removed"));
	/* What changed most comes first. */
	assert_string_equal(sonde_table_cell(sonde_result_find_table(r, "names"), 0, 0).string, "new");
	sonde_result_free(r);
}

/* A name of every fourth step: call by call, as much as it is per step. */
static void what_is_rare_is_compared_call_by_call(void **state)
{
	run_shape a = { .n_steps = 80, .kernel_ns = 800000, .seed = 1, .extra = "eval", .extra_ns = 40000 }, b;

	(void)state;
	a.extra_every = 4;
	b = a;
	b.seed = 2;
	b.extra_ns = 60000;
	sonde_result *r = compare((run_shape[]){ a, b }, 2);
	assert_string_equal(cell_of(r, "names", "eval", "samples").string, "calls");
	assert_float_equal(cell_of(r, "names", "eval", "a_ns").number, 10000, 100);
	assert_float_equal(cell_of(r, "names", "eval", "change_percent").number, 50, 1);
	assert_string_equal(verdict_of(r, "names", "eval"), "slower");
	sonde_result_free(r);
}

static void the_warm_up_is_left_out_and_said(void **state)
{
	const run_shape shapes[] = { { .n_steps = 30, .kernel_ns = 800000, .seed = 1, .n_slow = 4 },
				     { .n_steps = 30, .kernel_ns = 800000, .seed = 2 } };
	sonde_analyze_options all = { .struct_size = sizeof all, .warmup = "none" };
	sonde_result *r = compare(shapes, 2);

	(void)state;
	assert_int_equal(cell_of(r, "runs", "A", "warmup_steps").integer, 4);
	assert_int_equal(cell_of(r, "runs", "A", "steps").integer, 26);
	assert_int_equal(cell_of(r, "runs", "B", "warmup_steps").integer, 0);
	assert_true(has_note(r, "warm-up", "A 4, B 0"));
	assert_int_equal(cell_of(r, "kernels", "gemm", "a_calls").integer, 26);
	sonde_result_free(r);

	r = compare_with(shapes, 2, (sonde_compare_options){ .select = &all });
	assert_int_equal(cell_of(r, "runs", "A", "steps").integer, 30);
	assert_false(has_note(r, "warm-up", ""));
	sonde_result_free(r);

	all = (sonde_analyze_options){ .struct_size = sizeof all, .use_steps = true, .first_step = 5, .last_step = 9 };
	r = compare_with(shapes, 2, (sonde_compare_options){ .select = &all });
	assert_int_equal(cell_of(r, "runs", "A", "steps").integer, 5);
	assert_int_equal(cell_of(r, "kernels", "gemm", "b_calls").integer, 5);
	sonde_result_free(r);
}

static void without_steps_calls_are_the_samples(void **state)
{
	const run_shape shapes[] = { { .n_steps = 40, .kernel_ns = 800000, .seed = 1, .no_steps = true },
				     { .n_steps = 40, .kernel_ns = 400000, .seed = 2, .no_steps = true } };
	sonde_result *r = compare(shapes, 2);

	(void)state;
	assert_non_null(strstr(sonde_result_headline(r), "% faster than A per call of gemm"));
	assert_float_equal(real(r, "change_percent"), -50, 1);
	assert_true(has_note(r, "samples", "no steps"));
	assert_string_equal(cell_of(r, "kernels", "gemm", "samples").string, "calls");
	assert_null(sonde_result_find_table(r, "phases"));
	sonde_result_free(r);
}

static void one_step_or_two_say_nothing_of_noise(void **state)
{
	static const char *const says[] = { "1 step is too few for a confidence interval, which needs 3",
					    "2 steps are too few for a confidence interval, which needs 3" };

	(void)state;
	for (size_t n = 1; n <= 2; n++) {
		const run_shape shapes[] = { { .n_steps = n, .kernel_ns = 800000, .seed = 1 },
					     { .n_steps = n, .kernel_ns = 600000, .seed = 2 } };
		sonde_result *r = compare_with(shapes, 2, (sonde_compare_options){ .fail_above = 0.01 });
		assert_non_null(strstr(sonde_result_headline(r), says[n - 1]));
		assert_int_equal(sonde_result_value(r, "low_percent").type, SONDE_VALUE_UNKNOWN);
		assert_int_equal(cell_of(r, "kernels", "gemm", "high_percent").type, SONDE_VALUE_UNKNOWN);
		assert_string_equal(verdict_of(r, "kernels", "gemm"), "unsure");
		assert_int_equal(sonde_result_value(r, "is_certain").integer, 0);
		sonde_result_free(r);
	}
}

static void of_three_the_fastest_is_named(void **state)
{
	run_shape shapes[] = { { .n_steps = 40, .kernel_ns = 800000, .seed = 1 },
			       { .n_steps = 40, .kernel_ns = 700000, .seed = 2 },
			       { .n_steps = 40, .kernel_ns = 600000, .seed = 3, .extra = "pack", .extra_ns = 1000 } };
	sonde_result *r = compare(shapes, 3);

	(void)state;
	assert_non_null(strstr(sonde_result_headline(r), "C is the fastest of 3"));
	assert_non_null(strstr(sonde_result_headline(r), "less than B, the next"));
	assert_int_equal(sonde_result_value(r, "best").integer, 2);
	assert_true(has_note(r, "advice", "use C"));
	assert_string_equal(verdict_of(r, "kernels", "gemm"), "B faster, C faster");
	assert_float_equal(cell_of(r, "kernels", "gemm", "c_change_percent").number, -25, 1);
	assert_string_equal(verdict_of(r, "names", "pack"), "C added");
	assert_int_equal(cell_of(r, "runs", "A", "place").integer, 3);
	sonde_result_free(r);

	shapes[2].kernel_ns = 699000; /* no more than noise apart */
	r = compare(shapes, 3);
	assert_non_null(strstr(sonde_result_headline(r), "are the fastest of 3 and equal within the noise"));
	assert_true(has_note(r, "advice", "use any of"));
	sonde_result_free(r);

	shapes[1].kernel_ns = shapes[2].kernel_ns = 800000;
	shapes[2].extra = NULL;
	r = compare(shapes, 3);
	assert_non_null(strstr(sonde_result_headline(r), "no difference between 3 runs"));
	sonde_result_free(r);
}

/* A step of several ranks is one sample and as long as its slowest; other times are the mean of the ranks. */
static void ranks_are_one_run(void **state)
{
	const run_shape shapes[] = { { .n_steps = 30, .kernel_ns = 800000, .seed = 1, .n_ranks = 4 },
				     { .n_steps = 30, .kernel_ns = 880000, .seed = 2, .n_ranks = 4 } };
	sonde_analyze_options one = { .struct_size = sizeof one, .ranks = "0" };
	sonde_result *r = compare(shapes, 2);

	(void)state;
	assert_int_equal(cell_of(r, "runs", "A", "steps").integer, 30);
	assert_int_equal(cell_of(r, "runs", "A", "ranks").integer, 4);
	assert_int_equal(cell_of(r, "kernels", "gemm", "a_calls").integer, 120);
	assert_float_equal(cell_of(r, "kernels", "gemm", "a_ns").number, 800000, 8000);
	assert_float_equal(cell_of(r, "kernels", "gemm", "change_percent").number, 10, 0.7);
	sonde_result_free(r);
	r = compare_with(shapes, 2, (sonde_compare_options){ .select = &one });
	assert_int_equal(cell_of(r, "runs", "A", "ranks").integer, 1);
	assert_int_equal(cell_of(r, "kernels", "gemm", "a_calls").integer, 30);
	sonde_result_free(r);
}

static void memory_peaks_are_compared(void **state)
{
	const run_shape shapes[] = { { .n_steps = 5, .kernel_ns = 800000, .seed = 1, .peak_bytes = 1000 },
				     { .n_steps = 5, .kernel_ns = 800000, .seed = 2, .peak_bytes = 1500 } };
	sonde_result *r = compare(shapes, 2);
	const sonde_table *t = sonde_result_find_table(r, "memory");

	(void)state;
	assert_non_null(t);
	assert_int_equal(sonde_table_n_rows(t), 2);
	assert_int_equal(sonde_table_cell(t, 1, 2).integer, 1500);
	assert_float_equal(sonde_table_cell(t, 1, 3).number, 50, 1e-9);
	assert_int_equal(cell_of(r, "runs", "B", "peak_bytes").integer, 1500);
	sonde_result_free(r);
}

static void regressions_are_findings(void **state)
{
	const run_shape shapes[] = { { .n_steps = 50, .kernel_ns = 800000, .seed = 1 },
				     { .n_steps = 50, .kernel_ns = 880000, .seed = 2 } };
	static const struct {
		double limit;
		const char *by;
		int64_t n;
	} cases[] = { { 0, NULL, 0 }, { 0.05, NULL, 1 }, { 0.2, NULL, 0 }, { 0.09, "step", 0 }, { 0.09, "kernel", 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sonde_result *r = compare_with(
			shapes, 2, (sonde_compare_options){ .fail_above = cases[i].limit, .by = cases[i].by });
		assert_int_equal(sonde_result_value(r, "n_regressions").integer, cases[i].n);
		assert_int_equal(sonde_result_n_findings(r), cases[i].n);
		if (cases[i].n)
			assert_string_equal(sonde_result_finding(r, 0)->rule, "regression");
		sonde_result_free(r);
	}
	/* What is faster is none. */
	sonde_result *r = compare_with((run_shape[]){ shapes[1], shapes[0] }, 2,
				       (sonde_compare_options){ .fail_above = 0.01, .by = "kernel" });
	assert_int_equal(sonde_result_value(r, "n_regressions").integer, 0);
	sonde_result_free(r);
}

static void wrong_questions_are_refused(void **state)
{
	sonde_trace *t = make_run((run_shape){ .n_steps = 2, .kernel_ns = 1000, .seed = 1 });
	const sonde_trace *traces[] = { t, t };
	sonde_analyze_options hta = { .struct_size = sizeof hta, .compat = "tracelens" };
	sonde_analyze_options ranks = { .struct_size = sizeof ranks, .ranks = "x" };
	sonde_analyze_options warmup = { .struct_size = sizeof warmup, .warmup = "some" };
	const struct {
		sonde_compare_options how;
		size_t n;
	} cases[] = {
		{ { .by = "colour" }, 2 },
		{ { .by = NULL }, 1 },
		{ { .by = NULL }, SONDE_COMPARE_MAX + 1 },
		{ { .baseline = "x" }, 2 },
		{ { .baseline = "x", .baseline_name = "../up" }, 1 },
		{ { .baseline = "x", .baseline_name = "" }, 1 },
		{ { .select = &hta }, 2 },
		{ { .select = &ranks }, 2 },
		{ { .select = &warmup }, 2 },
	};
	sonde_result *r = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sonde_compare_options how = cases[i].how;
		how.struct_size = sizeof how;
		assert_int_equal(sonde_compare(traces, cases[i].n, &how, &r, NULL), SONDE_E_USAGE);
	}
	sonde_trace_free(t);
}

static void ranks_and_steps_that_a_run_has_not_are_named_with_it(void **state)
{
	sonde_trace *one = make_run((run_shape){ .n_steps = 4, .kernel_ns = 1000, .seed = 1 });
	sonde_trace *two = make_run((run_shape){ .n_steps = 4, .kernel_ns = 1000, .seed = 2, .n_ranks = 2 });
	const sonde_trace *traces[] = { two, one };
	const char *const names[] = { "two.json", "one.json" };
	static const struct {
		const char *ranks, *by, *says;
	} cases[] = {
		{ "7", NULL, "two.json: the trace has no rank 7, but some from 0 to 1" },
		{ "1", NULL, "one.json: the trace has no rank 1, only rank 0" },
		{ "1", "tree", "one.json: the trace has no rank 1, only rank 0" },
		{ "0,7", NULL, NULL },
	};
	sonde_analyze_options late = {
		.struct_size = sizeof late, .use_steps = true, .first_step = 50, .last_step = 60
	};
	sonde_error late_err = { .message = "" };
	sonde_result *none = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sonde_analyze_options select = { .struct_size = sizeof select, .ranks = cases[i].ranks };
		sonde_compare_options how = {
			.struct_size = sizeof how, .select = &select, .names = names, .by = cases[i].by
		};
		sonde_error err = { .message = "" };
		sonde_result *r = NULL;
		sonde_status status = sonde_compare(traces, 2, &how, &r, &err);
		assert_int_equal(status, cases[i].says ? SONDE_E_USAGE : SONDE_OK);
		if (cases[i].says)
			assert_string_equal(err.message, cases[i].says);
		sonde_result_free(r);
	}
	sonde_compare_options how = { .struct_size = sizeof how, .select = &late, .names = names };
	assert_int_equal(sonde_compare(traces, 2, &how, &none, &late_err), SONDE_E_USAGE);
	assert_string_equal(late_err.message, "two.json: the trace has no steps 50..60");
	sonde_trace_free(one);
	sonde_trace_free(two);
}

/* ---- Baselines --------------------------------------------------------------------------------------------------- */

static size_t count_files(const char *path)
{
	DIR *dir = opendir(path);
	size_t n = 0;

	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void remove_all(const char *path)
{
	DIR *dir = opendir(path);

	for (struct dirent *e; dir && (e = readdir(dir));)
		unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}

static sonde_result *compare_baseline(const char *dir, run_shape shape, double limit)
{
	return compare_with(
		&shape, 1,
		(sonde_compare_options){
			.baseline = dir, .baseline_name = "train", .baseline_runs = 4, .fail_above = limit });
}

static void a_baseline_keeps_the_last_runs(void **state)
{
	char root[] = "/tmp/sonde-compare.XXXXXX", dir[64];
	run_shape shape = { .n_steps = 30,
			    .kernel_ns = 800000,
			    .peak_bytes = 1 << 20,
			    .extra = "\"odd\" n\303\244me\n",
			    .extra_ns = 5000 };

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(dir, sizeof dir, "%s/base", root);
	for (uint64_t i = 1; i <= 6; i++) {
		shape.seed = i;
		sonde_result *r = compare_baseline(dir, shape, 0.03);
		if (i == 1)
			assert_non_null(strstr(sonde_result_headline(r), "no earlier run to compare with"));
		else
			assert_non_null(strstr(sonde_result_headline(r), "no difference"));
		if (i == 6) {
			assert_true(has_note(r, "noise", "4 runs"));
			assert_string_equal(verdict_of(r, "names", shape.extra), "same");
			assert_int_equal(cell_of(r, "runs", "baseline", "peak_bytes").integer, 1 << 20);
			assert_int_equal(cell_of(r, "runs", "baseline", "steps").integer, 120);
		}
		sonde_result_free(r);
		assert_int_equal(count_files(dir), i < 4 ? i : 4);
	}
	/* A regression is seen, and not learnt. */
	shape.kernel_ns = 880000;
	for (uint64_t i = 7; i <= 9; i++) {
		shape.seed = i;
		sonde_result *r = compare_baseline(dir, shape, 0.03);
		assert_non_null(strstr(sonde_result_headline(r), "% slower than the baseline"));
		assert_int_equal(sonde_result_value(r, "n_regressions").integer, 1);
		assert_true(has_note(r, "baseline", "not added"));
		sonde_result_free(r);
	}
	remove_all(dir);
	rmdir(root);
}

static void put_file(const char *dir, const char *text)
{
	char path[128];

	snprintf(path, sizeof path, "%s/train.00000001.json", dir);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void a_file_that_is_no_run_is_named(void **state)
{
	static const char *const texts[] = {
		"",
		"{}",
		"[",
		"{\"schema\": \"sonde.baseline/2\"}",
		"{\"schema\": \"sonde.baseline/1\", \"total_ns\": -1, \"ranks\": 1, \"steps\": 1, \"warmup_steps\": 0, "
		"\"items\": [], \"peaks\": []}",
		"{\"schema\": \"sonde.baseline/1\", \"total_ns\": 1, \"ranks\": 0, \"steps\": 1, \"warmup_steps\": 0, "
		"\"items\": [], \"peaks\": []}",
		"{\"schema\": \"sonde.baseline/1\", \"total_ns\": 1, \"ranks\": 1, \"steps\": 1e99, \"warmup_steps\": "
		"0, "
		"\"items\": [], \"peaks\": []}",
		"{\"schema\": \"sonde.baseline/1\", \"total_ns\": 1, \"ranks\": 1, \"steps\": 1, \"warmup_steps\": 0, "
		"\"items\": [[\"step\", \"step\", 1, 1, 1, [1, 1]]], \"peaks\": []}",
		"{\"schema\": \"sonde.baseline/1\", \"total_ns\": 1, \"ranks\": 1, \"steps\": 1, \"warmup_steps\": 0, "
		"\"items\": [[\"\", 7]], \"peaks\": [[]]}",
	};
	char dir[] = "/tmp/sonde-compare.XXXXXX";
	sonde_trace *t = make_run((run_shape){ .n_steps = 2, .kernel_ns = 1000, .seed = 1 });
	const sonde_trace *traces[] = { t };
	sonde_compare_options how = { .struct_size = sizeof how, .baseline = dir, .baseline_name = "train" };
	sonde_result *r = NULL;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		sonde_error err = { .message = "" };
		put_file(dir, texts[i]);
		assert_int_equal(sonde_compare(traces, 1, &how, &r, &err), SONDE_E_FORMAT);
		assert_non_null(strstr(err.message, "train.00000001.json"));
		assert_int_equal(count_files(dir), 1);
	}
	sonde_trace_free(t);
	remove_all(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_runs_are_not_told_apart),
		cmocka_unit_test(a_slower_kernel_is_found_with_its_size),
		cmocka_unit_test(names_come_and_go),
		cmocka_unit_test(what_is_rare_is_compared_call_by_call),
		cmocka_unit_test(the_warm_up_is_left_out_and_said),
		cmocka_unit_test(without_steps_calls_are_the_samples),
		cmocka_unit_test(one_step_or_two_say_nothing_of_noise),
		cmocka_unit_test(of_three_the_fastest_is_named),
		cmocka_unit_test(ranks_are_one_run),
		cmocka_unit_test(memory_peaks_are_compared),
		cmocka_unit_test(regressions_are_findings),
		cmocka_unit_test(wrong_questions_are_refused),
		cmocka_unit_test(ranks_and_steps_that_a_run_has_not_are_named_with_it),
		cmocka_unit_test(a_baseline_keeps_the_last_runs),
		cmocka_unit_test(a_file_that_is_no_run_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
