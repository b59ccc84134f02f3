/*
 * How much memory and time commands take for traces of many slices.
 *
 *   bench_scale [--json FILE] [--sonde PROGRAM] [--slices N] [--long] [--output FILE] [--keep]
 *
 * --long: 100 M slices instead of 10 M. --keep leaves the traces there.
 *
 * Three traces go straight into the builder (tests/unit/analyze/scale_trace.h): *plain* has 64 threads of operators and
 * no device; *training* has steps, frames, operators, launches and what they launched, a fifth of its slices on a
 * device; *counters* has a range with hardware counters for each launch, and is read by `counters` alone. A trace is
 * compared with itself. A figure is one run of a process, its page cache warm: the clock, CPU time, and the largest
 * resident set, in which pages of the mapped trace count.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "common/measure.h"
#include "common/options.h"
#include "common/process.h"
#include "common/results.h"
#include "store/build/builder.h"
#include "../tests/unit/analyze/scale_trace.h"

enum { MOST_MIB = 1000000000 >> 20 };

static bool write_trace(const char *path, void (*fill)(builder *b, size_t n_slices), size_t n_slices)
{
	builder *b = builder_new(NULL);
	sonde_index *ix = NULL;
	sonde_error err = { .message = "out of memory" };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (b)
		fill(b, n_slices);
	bool ok = b && fd >= 0 && !builder_finish(b, &ix, &err) && !index_write(ix, fd, &err);
	if (!ok)
		fprintf(stderr, "bench_scale: %s: %s\n", path, err.message);
	if (fd >= 0)
		close(fd);
	index_free(ix);
	builder_free(b);
	return ok;
}

static const char *keep_text(const char *first, const char *second, const char *third)
{
	char *text = NULL;

	return asprintf(&text, "%s, %s%s", first, second, third) < 0 ? "" : text; /* to the end of the program */
}

static bool add_command(results *r, const char *trace, const char *what, const char *const *argv)
{
	process_run run;

	if (!process_measure(argv, &run))
		return false;
	const result figures[] = {
		{ .name = keep_text(trace, what, ""), .unit = "s", .best = run.clock_s, .kind = NO_GOAL },
		{ .name = keep_text(trace, what, ", CPU time"), .unit = "s", .best = run.cpu_s, .kind = NO_GOAL },
		{ .name = keep_text(trace, what, ", peak memory"),
		  .unit = "MiB",
		  .best = run.peak_mib,
		  .goal = MOST_MIB,
		  .kind = BEST_AT_MOST },
	};
	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
		result one = figures[i];
		one.median = one.ratio = NAN;
		results_add(r, one);
	}
	return true;
}

static bool measure(results *r, const char *sonde, const char *trace, const char *path)
{
	static const char *const names[] = { "report", "bottlenecks", "hta" };
	static const char *const analyses[] = { "call_tree", "counters", "ops", "operators" };
	static const char *const queries[] = { "select name, count(*), sum(dur) from slices group by name",
					       "select count(*), sum(dur) from kernels" };
	bool ok = true;

	for (size_t i = 0; ok && i < sizeof names / sizeof *names; i++)
		ok = add_command(r, trace, names[i], (const char *const[]){ sonde, names[i], path, NULL });
	for (size_t i = 0; ok && i < sizeof analyses / sizeof *analyses; i++)
		ok = add_command(r, trace, analyses[i],
				 (const char *const[]){ sonde, "analyze", analyses[i], path, NULL });
	ok = ok && add_command(r, trace, "compare", (const char *const[]){ sonde, "compare", path, path, NULL }) &&
	     add_command(r, trace, "compare by tree",
			 (const char *const[]){ sonde, "compare", "--by", "tree", path, path, NULL }) &&
	     add_command(r, trace, "compare as HTA",
			 (const char *const[]){ sonde, "compare", "--compat", "hta", path, path, NULL });
	for (size_t i = 0; ok && i < sizeof queries / sizeof *queries; i++)
		ok = add_command(r, trace, i ? "sum of kernels" : "slices by name",
				 (const char *const[]){ sonde, "query", path, queries[i], NULL });
	return ok;
}

static bool measure_counters(results *r, const char *sonde, const char *path)
{
	return add_command(r, "counters", "counters",
			   (const char *const[]){ sonde, "analyze", "counters", path, NULL });
}

int main(int argc, char **argv)
{
	results r = { .program = "many slices", .floor_ns = NAN };
	const char *output = "bench_scale.sonde", *sonde = "sonde";
	size_t n_slices = 10000000;
	bool keeps = false, is_long = false;
	char paths[3][1200];
	const bench_option options[] = {
		{ "--json", .text = &r.json_path },  { "--output", .text = &output }, { "--sonde", .text = &sonde },
		{ "--slices", .number = &n_slices }, { "--long", .flag = &is_long },  { "--keep", .flag = &keeps },
	};

	options_read(argc, argv, options, sizeof options / sizeof *options);
	n_slices = is_long ? 100000000 : n_slices;
	measure_begin();
	snprintf(paths[0], sizeof paths[0], "%.1100s.plain", output);
	snprintf(paths[1], sizeof paths[1], "%.1100s.training", output);
	snprintf(paths[2], sizeof paths[2], "%.1100s.counters", output);
	r.broken = !write_trace(paths[0], scale_plain, n_slices) || !write_trace(paths[1], scale_training, n_slices) ||
		   !write_trace(paths[2], scale_counters, n_slices) || !measure(&r, sonde, "plain", paths[0]) ||
		   !measure(&r, sonde, "training", paths[1]) || !measure_counters(&r, sonde, paths[2]);
	for (size_t i = 0; i < 3 && !keeps; i++)
		unlink(paths[i]);
	return results_finish(&r) ? 0 : 1;
}
