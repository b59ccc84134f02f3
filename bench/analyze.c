/*
 * How fast a trace is loaded and analysed, beside Holistic Trace Analysis.
 *
 *   bench_analyze [--json FILE] [--rounds N] [--output FILE] [--sonde PROGRAM] [--generator gen_trace.py]
 *                 [--hta PYTHON,SCRIPT] [--long]
 *
 *   bench_analyze --reports FILE ANALYSIS TIMES   opens a trace once and analyses it again and again; prints the best
 *                                                 and the middle by the clock, and the best by CPU time, in seconds
 *
 * The seven reports of HTA (temporal breakdown, kernels, overlap, bandwidth, queue lengths, launches, idle time) are
 * all in `hta` with hta.more=no, and three more. *Load and reports* is a process from the JSON text to the printed
 * report; *reports* start from a trace that is open and end with the text. HTA is a process of its own too, once; its
 * script says what of its time was loading and what was reports. The time its modules take to import is not counted.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/measure.h"
#include "common/options.h"
#include "common/process.h"
#include "common/results.h"
#include <sonde/analyze.h>
#include <sonde/trace.h>

enum { MAX_ROUNDS = 100, SMALL = 100000, LARGE = 1000000, LONG = 10000000 };

/* ---- Reports of a trace that is open ----------------------------------------------------------------------------- */

static sonde_status report_once(const sonde_trace *trace, const char *analysis, FILE *out, sonde_error *err)
{
	sonde_setting basic = { "hta.more", "no" };
	sonde_analyze_options options = { .struct_size = sizeof options, .settings = &basic, .n_settings = 1 };
	bool is_hta = strcmp(analysis, "hta") == 0;
	sonde_result *result = NULL;
	sonde_status status = sonde_analyze(trace, analysis, is_hta ? &options : NULL, &result, err);

	if (!status)
		status = sonde_result_print(result, SONDE_TEXT, NULL, out, err);
	sonde_result_free(result);
	return status;
}

static int reports_main(int argc, char **argv)
{
	double seconds[MAX_ROUNDS], cpu = INFINITY;
	sonde_error err = { .message = "" };
	sonde_trace *trace = NULL;
	FILE *out = fopen("/dev/null", "w");

	if (argc < 5 || !out)
		return 2;
	size_t n = strtoul(argv[4], NULL, 10);
	n = n < 1 || n > MAX_ROUNDS ? MAX_ROUNDS : n;
	sonde_status status = sonde_trace_open(argv[2], &trace, &err);
	for (size_t i = 0; !status && i < n; i++) {
		int64_t start = now_ns();
		double cpu_start = cpu_now_ns(CLOCK_PROCESS_CPUTIME_ID);
		status = report_once(trace, argv[3], out, &err);
		seconds[i] = (double)(now_ns() - start) / 1e9;
		cpu = fmin(cpu, (cpu_now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_start) / 1e9);
	}
	sonde_trace_free(trace);
	fclose(out);
	if (status) {
		fprintf(stderr, "bench_analyze: %s: %s\n", argv[2], err.message);
		return 1;
	}
	double middle = median_of(seconds, n);
	printf("%.6f %.6f %.6f\n", seconds[0], middle, cpu);
	return 0;
}

/* ---- Figures ----------------------------------------------------------------------------------------------------- */

typedef struct bench {
	results r;
	const char *self, *sonde, *generator;
	const char *hta_python, *hta_script; /* NULL: no HTA */
	const char *dir;
	size_t n_rounds;
} bench;

typedef struct timed {
	double best_s, median_s, cpu_s, peak_mib;
} timed;

static void add(bench *b, const char *name, const char *unit, double best, double median, goal_kind kind, double goal)
{
	results_add(&b->r, (result){ .name = name,
				     .unit = unit,
				     .best = best,
				     .median = median,
				     .ratio = NAN,
				     .kind = kind,
				     .goal = goal });
}

/* An analysis of a trace that is open. */
static bool time_reports(const bench *b, const char *path, const char *analysis, size_t n, timed *ret)
{
	char times[32];
	const char *const argv[] = { b->self, "--reports", path, analysis, times, NULL };
	process_run run;

	snprintf(times, sizeof times, "%zu", n);
	if (!process_measure(argv, &run) ||
	    sscanf(run.said, "%lf %lf %lf", &ret->best_s, &ret->median_s, &ret->cpu_s) != 3)
		return false;
	ret->peak_mib = run.peak_mib;
	return true;
}

/* From the text to the report. */
static bool time_load(const bench *b, const char *path, timed *ret)
{
	const char *const argv[] = { b->sonde, "hta", "--set", "hta.more=no", path, NULL };
	double seconds[MAX_ROUNDS];
	process_run run;

	*ret = (timed){ .cpu_s = INFINITY };
	for (size_t i = 0; i < b->n_rounds; i++) {
		if (!process_measure(argv, &run))
			return false;
		seconds[i] = run.clock_s;
		ret->cpu_s = fmin(ret->cpu_s, run.cpu_s);
		ret->peak_mib = fmax(ret->peak_mib, run.peak_mib);
	}
	ret->median_s = median_of(seconds, b->n_rounds);
	ret->best_s = seconds[0];
	return true;
}

static bool import(const bench *b, const trace_file *from, char *to, size_t size)
{
	const char *const argv[] = { b->sonde, "import", from->path, "-o", to, NULL };

	snprintf(to, size, "%.1100s.sonde", from->path);
	return process_do(argv);
}

static bool add_hta(bench *b, const char *path, const timed *ours, const timed *reports)
{
	const char *const argv[] = { b->hta_python, b->hta_script, path, NULL };
	double load_s, reports_s, load_cpu_s, reports_cpu_s;
	process_run run;

	if (!process_measure(argv, &run) ||
	    sscanf(run.said, "%lf %lf %lf %lf", &load_s, &reports_s, &load_cpu_s, &reports_cpu_s) != 4)
		return false;
	add(b, "HTA 0.5.0: load and reports", "s", load_s + reports_s, NAN, NO_GOAL, 0);
	add(b, "HTA 0.5.0: load and reports, CPU time", "s", load_cpu_s + reports_cpu_s, NAN, NO_GOAL, 0);
	add(b, "HTA 0.5.0: reports", "s", reports_s, NAN, NO_GOAL, 0);
	add(b, "HTA 0.5.0: peak memory", "MiB", run.peak_mib, NAN, NO_GOAL, 0);
	add(b, "load and reports: times faster than HTA", "x", (load_s + reports_s) / ours->best_s, NAN, BEST_AT_LEAST,
	    100);
	add(b, "load and reports: times less CPU time", "x", (load_cpu_s + reports_cpu_s) / ours->cpu_s, NAN, NO_GOAL,
	    0);
	add(b, "reports: times faster than HTA", "x", reports_s / reports->best_s, NAN, NO_GOAL, 0);
	return true;
}

/* 10 M events: reports from the index. */
static bool add_long(bench *b, const timed *before)
{
	trace_file file;
	char index[1200];
	timed reports;

	bool ok = trace_make(b->dir, b->generator, LONG, &file) && import(b, &file, index, sizeof index);
	unlink(file.path);
	ok = ok && time_reports(b, index, "hta", b->n_rounds, &reports);
	unlink(index);
	if (!ok)
		return false;
	add(b, "reports, 10 M events", "s", reports.best_s, reports.median_s, BEST_AT_MOST, 1);
	add(b, "reports, 10 M events, CPU time", "s", reports.cpu_s, NAN, NO_GOAL, 0);
	add(b, "reports, 10 M events, peak memory", "MiB", reports.peak_mib, NAN, NO_GOAL, 0);
	add(b, "reports: CPU time for 10 M events over that for 1 M", "x", reports.cpu_s / before->cpu_s, NAN,
	    BEST_AT_MOST, 11);
	return true;
}

static bool measure(bench *b, bool is_long)
{
	trace_file small, large;
	char small_index[1200], index[1200];
	timed load, reports, few, rules;

	if (!trace_make(b->dir, b->generator, SMALL, &small) || !trace_make(b->dir, b->generator, LARGE, &large) ||
	    !import(b, &small, small_index, sizeof small_index) || !import(b, &large, index, sizeof index))
		return false;
	bool ok = time_load(b, large.path, &load) && time_reports(b, index, "hta", 10 * b->n_rounds, &reports) &&
		  time_reports(b, small_index, "hta", 10 * b->n_rounds, &few) &&
		  time_reports(b, index, "bottlenecks", b->n_rounds, &rules);
	if (ok) {
		add(b, "size of the trace, 1 M events", "MB", large.bytes / 1e6, NAN, NO_GOAL, 0);
		add(b, "load and reports", "s", load.best_s, load.median_s, NO_GOAL, 0);
		add(b, "load and reports, CPU time", "s", load.cpu_s, NAN, NO_GOAL, 0);
		add(b, "load and reports, peak memory", "MiB", load.peak_mib, NAN, NO_GOAL, 0);
		add(b, "reports", "s", reports.best_s, reports.median_s, BEST_AT_MOST, 0.1);
		add(b, "reports, CPU time", "s", reports.cpu_s, NAN, NO_GOAL, 0);
		add(b, "reports: CPU time for 1 M events over that for 100 k", "x", reports.cpu_s / few.cpu_s, NAN,
		    NO_GOAL, 0);
		add(b, "bottlenecks", "s", rules.best_s, rules.median_s, NO_GOAL, 0);
		ok = (!b->hta_script || add_hta(b, large.path, &load, &reports)) && (!is_long || add_long(b, &reports));
	}
	unlink(small.path);
	unlink(large.path);
	unlink(small_index);
	unlink(index);
	return ok;
}

int main(int argc, char **argv)
{
	bench b = { .r = { .program = "analysing a trace", .floor_ns = NAN }, .sonde = "sonde", .n_rounds = 7 };
	const char *output = "bench_analyze.sonde", *hta = NULL;
	bool is_long = false;
	char self[4000], dir[1024];
	const bench_option options[] = {
		{ "--json", .text = &b.r.json_path },
		{ "--output", .text = &output },
		{ "--sonde", .text = &b.sonde },
		{ "--generator", .text = &b.generator },
		{ "--hta", .text = &hta },
		{ "--rounds", .number = &b.n_rounds },
		{ "--long", .flag = &is_long },
	};

	if (argc > 1 && strcmp(argv[1], "--reports") == 0)
		return reports_main(argc, argv);
	options_read(argc, argv, options, sizeof options / sizeof *options);
	char *comma = hta ? strchr(hta, ',') : NULL;
	if (comma) {
		*comma = 0;
		b.hta_python = hta;
		b.hta_script = comma + 1;
	}
	ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
	self[len > 0 ? len : 0] = 0;
	if (b.n_rounds > MAX_ROUNDS / 10)
		b.n_rounds = 7;
	measure_begin();
	snprintf(dir, sizeof dir, "%.1000s.traces", output);
	mkdir(dir, 0700);
	b.self = self;
	b.dir = dir;
	b.r.broken = !measure(&b, is_long);
	rmdir(dir);
	return results_finish(&b.r) ? 0 : 1;
}
