/*
 * How much memory and time the index of a recording takes: 10 M and 100 M slices, with --long also 1 G.
 *
 *   bench_indexing [--json FILE] [--output FILE] [--long]
 *
 * Two threads record nested scopes flat out. The index is put behind the recording, as `sonde record` does, in a
 * process of its own, so that the kernel tells the peak of its memory; the goal is the same for every size.
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sonde/record.h>
#include <sonde/recorder.h>
#include "common/measure.h"
#include "common/options.h"
#include "common/results.h"

enum { PER_TURN = 4, N_THREADS = 2, GOAL_MIB = 256 };

static void *work(void *n_turns)
{
	for (size_t i = *(const size_t *)n_turns; i--;) {
		SONDE_SCOPE("outer");
		for (int k = 1; k < PER_TURN; k++) {
			SONDE_SCOPE("inner");
			__asm__ volatile("" ::: "memory");
		}
	}
	return NULL;
}

static sonde_status record(const char *path, size_t n_slices, sonde_error *err)
{
	sonde_config config = { .struct_size = sizeof config, .output = path };
	size_t n_turns = n_slices / PER_TURN / N_THREADS;
	pthread_t other;

	unlink(path);
	sonde_status status = sonde_start(&config, err);
	if (status || pthread_create(&other, NULL, work, &n_turns) != 0)
		return status ? status : SONDE_E_MEMORY;
	work(&n_turns);
	pthread_join(other, NULL);
	return sonde_stop(err);
}

/* One half of the work in a child. False when it fails. */
static bool in_child(bool records, const char *path, size_t n_slices, struct rusage *ret_usage)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		sonde_error err = { .message = "" };
		sonde_status failed =
			records ? record(path, n_slices, &err) : sonde_recorder_add_index(path, NULL, NULL, &err);
		if (failed)
			fprintf(stderr, "bench_indexing: %s\n", err.message);
		exit(failed ? 1 : 0);
	}
	return child > 0 && wait4(child, &status, 0, ret_usage) == child && status == 0;
}

static bool measure(results *r, const char *path, size_t n_slices, const char *const *names)
{
	struct rusage usage;
	struct stat before, after;

	if (!in_child(true, path, n_slices, &usage) || stat(path, &before) != 0 ||
	    !in_child(false, path, n_slices, &usage) || stat(path, &after) != 0)
		return false;
	double cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	double n = (double)n_slices, bytes = (double)(after.st_size - before.st_size);
	results_add(r, (result){ names[0], "M slices/s", n / cpu_s / 1e6, NAN, NAN, NAN, NO_GOAL });
	results_add(r, (result){ names[1], "B/slice", bytes / n, NAN, NAN, NAN, NO_GOAL });
	results_add(r, (result){ names[2], "MiB", (double)usage.ru_maxrss / 1024, NAN, NAN, GOAL_MIB, BEST_AT_MOST });
	return true;
}

int main(int argc, char **argv)
{
	static const struct {
		size_t n_slices;
		const char *names[3];
	} sizes[] = {
		{ 10000000,
		  { "10 M slices: speed, CPU time", "10 M slices: size of the index", "10 M slices: peak memory" } },
		{ 100000000,
		  { "100 M slices: speed, CPU time", "100 M slices: size of the index", "100 M slices: peak memory" } },
		{ 1000000000,
		  { "1 G slices: speed, CPU time", "1 G slices: size of the index", "1 G slices: peak memory" } },
	};
	results r = { .program = "indexing", .floor_ns = NAN };
	const char *output = "bench_indexing.sonde";
	bool is_long = false;
	const bench_option options[] = {
		{ "--json", .text = &r.json_path },
		{ "--output", .text = &output },
		{ "--long", .flag = &is_long },
	};

	options_read(argc, argv, options, sizeof options / sizeof *options);
	for (size_t i = 0; i < (is_long ? 3 : 2) && !r.broken; i++)
		r.broken = !measure(&r, output, sizes[i].n_slices, sizes[i].names);
	unlink(output);
	return results_finish(&r) ? 0 : 1;
}
