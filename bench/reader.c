/*
 * How fast recordings are read: `sonde report`, `summary` and `info` over 100 M events, `sonde export` over fewer.
 *
 *   bench_reader [--json FILE] [--rounds N] [--scopes N] [--output FILE] [--sonde PATH]
 *
 * The recording is what a training program makes: steps, nested scopes of 10 names, leaves of 20-150 ns. The commands
 * run as processes of their own, so that the kernel tells their time and the peak of their memory; the file is in the
 * page cache.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sonde/record.h>
#include "common/bodies.h"
#include "common/measure.h"
#include "common/options.h"
#include "common/results.h"

enum { MAX_ROUNDS = 20, N_LAYERS = 8, SCOPES_PER_STEP = 1 + 2 * (1 + N_LAYERS * 4) };

/* ---- The recording ----------------------------------------------------------------------------------------------- */

#define LEAF(name, i)                                                                                                  \
	do {                                                                                                           \
		SONDE_SCOPE(name);                                                                                     \
		body_run(i);                                                                                           \
	} while (0)

static void forward(size_t i)
{
	SONDE_SCOPE("forward");

	for (size_t layer = 0; layer < N_LAYERS; layer++) {
		SONDE_SCOPE("layer");
		LEAF("norm", i + layer);
		LEAF("attention", i + 3 * layer);
		LEAF("mlp", i + 7 * layer);
	}
}

static void backward(size_t i)
{
	SONDE_SCOPE("backward");

	for (size_t layer = 0; layer < N_LAYERS; layer++) {
		SONDE_SCOPE("layer, backward");
		LEAF("mlp, backward", i + layer);
		LEAF("attention, backward", i + 3 * layer);
		LEAF("norm, backward", i + 7 * layer);
	}
}

static bool record(const char *path, size_t n_scopes)
{
	sonde_config config = { .struct_size = sizeof config, .output = path };
	sonde_error err;

	unlink(path); /* a recording that exists is never replaced */
	sonde_status status = sonde_start(&config, &err);
	for (size_t step = 0; step < n_scopes / SCOPES_PER_STEP && !status; step++) {
		SONDE_STEP(step);
		forward(step);
		backward(step);
	}
	if (!status)
		status = sonde_stop(&err);
	if (status)
		fprintf(stderr, "bench_reader: %s\n", err.message);
	return !status;
}

/* ---- A command --------------------------------------------------------------------------------------------------- */

typedef struct run {
	double seconds;
	double peak_mib;
	double bytes; /* it wrote */
} run;

/* sonde <command> <file>, with its output in another file. */
static bool run_once(const char *sonde, const char *command, const char *file, run *ret)
{
	char out[4096];
	struct rusage usage;
	struct stat st;
	int status = -1;

	snprintf(out, sizeof out, "%s.out", file);
	int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int64_t start = now_ns();
	pid_t child = fd < 0 ? -1 : fork();
	if (child == 0) {
		dup2(fd, STDOUT_FILENO);
		execl(sonde, "sonde", command, file, (char *)NULL);
		perror(sonde);
		_exit(127);
	}
	if (child > 0 && wait4(child, &status, 0, &usage) == child && fstat(fd, &st) == 0)
		*ret = (run){ (double)(now_ns() - start) / 1e9, (double)usage.ru_maxrss / 1024, (double)st.st_size };
	if (fd >= 0)
		close(fd);
	unlink(out);
	return status == 0;
}

typedef struct runs {
	double best_s, median_s, peak_mib, bytes;
	bool ok;
} runs;

static runs run_often(const char *sonde, const char *command, const char *file, size_t n_rounds)
{
	double seconds[MAX_ROUNDS];
	runs all = { .ok = true };

	for (size_t i = 0; i < n_rounds; i++) {
		run one;
		if (!run_once(sonde, command, file, &one))
			return (runs){ .ok = false };
		seconds[i] = one.seconds;
		all.peak_mib = fmax(all.peak_mib, one.peak_mib);
		all.bytes = one.bytes;
	}
	all.median_s = median_of(seconds, n_rounds);
	all.best_s = seconds[0];
	return all;
}

/* ---- Figures ----------------------------------------------------------------------------------------------------- */

static void add(results *r, const char *name, const char *unit, double best, double median)
{
	results_add(r, (result){ .name = name, .unit = unit, .best = best, .median = median, .ratio = NAN });
}

static bool time_reading(results *r, const char *sonde, const char *file, double n_events, size_t n_rounds)
{
	static const struct {
		const char *command, *time, *rate, *memory;
	} commands[] = {
		{ "report", "sonde report", "sonde report, speed", "sonde report, peak memory" },
		{ "summary", "sonde summary", "sonde summary, speed", "sonde summary, peak memory" },
		{ "info", "sonde info", "sonde info, speed", "sonde info, peak memory" },
	};

	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		runs all = run_often(sonde, commands[i].command, file, n_rounds);
		if (!all.ok)
			return false;
		add(r, commands[i].time, "s", all.best_s, all.median_s);
		add(r, commands[i].rate, "M events/s", n_events / all.best_s / 1e6, n_events / all.median_s / 1e6);
		add(r, commands[i].memory, "MiB", all.peak_mib, NAN);
	}
	return true;
}

static bool time_export(results *r, const char *sonde, const char *file, size_t n_rounds)
{
	struct stat st;
	runs all = run_often(sonde, "export", file, n_rounds);

	if (!all.ok || stat(file, &st) != 0)
		return false;
	add(r, "sonde export, JSON written", "MB/s", all.bytes / all.best_s / 1e6, all.bytes / all.median_s / 1e6);
	add(r, "sonde export, recording read", "MB/s", (double)st.st_size / all.best_s / 1e6,
	    (double)st.st_size / all.median_s / 1e6);
	add(r, "sonde export, peak memory", "MiB", all.peak_mib, NAN);
	return true;
}

/* Beside this program. */
static const char *default_sonde(char *out, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", out, size - 1);

	out[len > 0 ? len : 0] = 0;
	char *slash = strrchr(out, '/');
	snprintf(slash ? slash : out, size - (size_t)(slash ? slash - out : 0), "/sonde");
	return out;
}

int main(int argc, char **argv)
{
	results r = { .program = "reading", .floor_ns = NAN };
	char beside[4096];
	const char *output = "bench_reader.sonde", *sonde = default_sonde(beside, sizeof beside);
	size_t n_rounds = 3, n_scopes = 50000000;
	const bench_option options[] = {
		{ "--json", .text = &r.json_path },  { "--output", .text = &output },	  { "--sonde", .text = &sonde },
		{ "--rounds", .number = &n_rounds }, { "--scopes", .number = &n_scopes },
	};

	options_read(argc, argv, options, sizeof options / sizeof *options);
	if (n_rounds > MAX_ROUNDS)
		n_rounds = 3;
	n_scopes += SCOPES_PER_STEP - 1;
	double n_events = 2.0 * (double)(n_scopes / SCOPES_PER_STEP * SCOPES_PER_STEP);
	struct stat st;

	measure_begin();
	bodies_choose(20, 150);
	r.broken = !record(output, n_scopes) || stat(output, &st) != 0;
	if (!r.broken) {
		add(&r, "events in the recording", "millions", n_events / 1e6, NAN);
		add(&r, "size of the recording", "MB", (double)st.st_size / 1e6, NAN);
		r.broken = !time_reading(&r, sonde, output, n_events, n_rounds);
	}
	/* The text is a hundred times as large as the recording. */
	r.broken = r.broken || !record(output, n_scopes / 25) || !time_export(&r, sonde, output, n_rounds);
	unlink(output);
	return results_finish(&r) ? 0 : 1;
}
