/*
 * How fast a Chrome trace is imported, in what memory, and how small it gets; beside simdjson On-Demand and Python.
 *
 *   bench_ingest [--json FILE] [--rounds N] [--output FILE] [--generator gen_trace.py] [--traces DIR] [--long]
 *
 *   bench_ingest --import FILE THREADS scalar|vector [TO]   one import; this is what is measured
 *
 * Every import is a process of its own: what it allocates is new to it, and the kernel tells its time and the peak of
 * its memory. Rounds go through all cases, so that all of them see the same machine; the best of each counts. Speed is
 * that of the text, by the time on the CPU of one thread, and by the clock where there are two. The file is in the page
 * cache.
 *
 * The trace comes from common/kineto.c and, with a generator, from there: the first rows are then the generator's. With
 * --traces, the real traces in the folders of DIR are read too (*.json.gz of 10 MB of text and more), one after the
 * other; the sum over all counts.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
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
#include "common/strip.h"
#include "import/importer.h"
#include "store/build/builder.h"

enum { MAX_ROUNDS = 20, SMALL = 100000, LARGE = 1000000, LONG = 10000000, MAX_REAL = 100, REAL_BYTES = 10000000 };

/* ---- One import -------------------------------------------------------------------------------------------------- */

/* What the image needs for arguments, and for strings. */
static uint64_t section_bytes(const sonde_index *ix, index_kind from, index_kind to)
{
	size_t len;
	const index_header *header = (const index_header *)index_bytes(ix, &len);
	const index_section *sections = (const index_section *)(header + 1);
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < header->n_sections; i++)
		if (sections[i].kind >= (uint32_t)from && sections[i].kind <= (uint32_t)to)
			bytes += sections[i].length;
	return bytes;
}

static sonde_status import_file(const char *path, unsigned n_threads, bool scalar, const char *to, sonde_error *err)
{
	builder *b = builder_new(&(builder_options){ .n_threads = n_threads });
	sonde_index *ix = NULL;
	input *in = NULL;
	sonde_status status = b ? input_open(path, n_threads, &in, err) : SONDE_E_MEMORY;
	import_job job = { .in = in,
			   .builder = b,
			   .file = path,
			   .n_threads = n_threads,
			   .scalar = scalar,
			   .rank = -1,
			   .world_size = -1 };

	if (!status)
		status = chrome_importer.run(&job, err);
	input_close(in);
	if (!status)
		status = builder_finish(b, &ix, err);
	builder_free(b);
	if (!status && to) {
		int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		status = fd < 0 ? SONDE_E_IO : index_write(ix, fd, err);
		if (fd >= 0)
			close(fd);
	}
	if (!status) {
		size_t len;
		index_bytes(ix, &len);
		printf("%llu %zu %llu %llu\n", (unsigned long long)job.n_events, len,
		       (unsigned long long)section_bytes(ix, SECTION_TEMPLATES, SECTION_ARGS),
		       (unsigned long long)section_bytes(ix, SECTION_STRINGS, SECTION_STRING_BYTES));
	}
	index_free(ix);
	return status;
}

static int import_main(int argc, char **argv)
{
	sonde_error err = { .message = "no memory" };

	if (argc < 5)
		return 2;
	unsigned n_threads = (unsigned)strtoul(argv[3], NULL, 10);
	if (import_file(argv[2], n_threads, strcmp(argv[4], "scalar") == 0, argc > 5 ? argv[5] : NULL, &err)) {
		fprintf(stderr, "bench_ingest: %s: %s\n", argv[2], err.message);
		return 1;
	}
	return 0;
}

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

/* What is run, and what came of it. */
typedef struct ingest_case {
	const char *argv[8];
	const trace_file *file;
	bool by_clock;	   /* else by CPU time */
	size_t max_rounds; /* 0: as many as all */
	double seconds[MAX_ROUNDS];
	size_t n_rounds;
	double cpu_s; /* of the best round */
	double peak_mib;
	double n_events, image_bytes, args_bytes, string_bytes; /* 0 of a peer */
} ingest_case;

static bool run_once(ingest_case *c)
{
	process_run run;

	if (!process_measure(c->argv, &run))
		return false;
	c->seconds[c->n_rounds++] = c->by_clock ? run.clock_s : run.cpu_s;
	c->cpu_s = c->cpu_s > 0 ? fmin(c->cpu_s, run.cpu_s) : run.cpu_s;
	c->peak_mib = fmax(c->peak_mib, run.peak_mib);
	sscanf(run.said, "%lf %lf %lf %lf", &c->n_events, &c->image_bytes, &c->args_bytes, &c->string_bytes);
	return true;
}

/* Each round begins with another one: what runs behind a process that used gigabytes gets memory more slowly. */
static bool run_all(ingest_case *cases, size_t n, size_t n_rounds)
{
	for (size_t round = 0; round < n_rounds; round++)
		for (size_t i = 0; i < n; i++) {
			ingest_case *c = &cases[(i + round) % n];
			if (c->argv[0] && (!c->max_rounds || round < c->max_rounds) && !run_once(c))
				return false;
		}
	return true;
}

static double best_s(ingest_case *c)
{
	median_of(c->seconds, c->n_rounds);
	return c->seconds[0];
}

static double speed(ingest_case *c)
{
	return c->file->bytes / best_s(c) / 1e6;
}

static const char python_reads[] = "import json,sys; json.load(open(sys.argv[1]))";

/* ---- Figures ----------------------------------------------------------------------------------------------------- */

static bool gzip_trace(const trace_file *from, trace_file *to)
{
	const char *const argv[] = { "gzip", "-k", "-f", "-6", from->path, NULL };

	*to = *from;
	snprintf(to->path, sizeof to->path, "%.1190s.gz", from->path);
	return process_do(argv);
}

static void add(results *r, const char *name, const char *unit, double best, goal_kind kind, double goal)
{
	results_add(r, (result){ .name = name,
				 .unit = unit,
				 .best = best,
				 .median = NAN,
				 .ratio = NAN,
				 .kind = kind,
				 .goal = goal });
}

static void add_speed(results *r, const char *name, ingest_case *c, goal_kind kind, double goal)
{
	double best = speed(c);

	results_add(r, (result){ .name = name,
				 .unit = "MB/s",
				 .best = best,
				 .median = c->file->bytes / median_of(c->seconds, c->n_rounds) / 1e6,
				 .ratio = NAN,
				 .kind = kind,
				 .goal = goal });
}

/* Peak memory of the larger one over that of the smaller, each event. */
static double bytes_per_event(const ingest_case *large, const ingest_case *small)
{
	return (large->peak_mib - small->peak_mib) * 1048576 / (large->n_events - small->n_events);
}

static void add_memory(results *r, const ingest_case *large, const ingest_case *small, const ingest_case *stripped)
{
	double args = (large->args_bytes + large->string_bytes - small->args_bytes - small->string_bytes) /
		      (large->n_events - small->n_events);

	add(r, "peak memory, 1 M events", "MiB", large->peak_mib, NO_GOAL, 0);
	add(r, "memory for each event more", "B/event", bytes_per_event(large, small), NO_GOAL, 0);
	add(r, "the same, less arguments and strings", "B/event", bytes_per_event(large, small) - args, BEST_AT_MOST,
	    50);
	add(r, "index of the same without arguments", "B/event", stripped->image_bytes / stripped->n_events,
	    BEST_AT_MOST, 6);
	add(r, "index with arguments", "B/event", large->image_bytes / large->n_events, BEST_AT_MOST, 25);
	add(r, "of that, beside texts and records", "B/event",
	    (large->image_bytes - large->args_bytes) / large->n_events, NO_GOAL, 0);
}

/* 10 M events, three times. */
static bool add_long(results *r, const char *self, const char *dir, const char *generator, ingest_case *before)
{
	trace_file file;
	ingest_case cases[] = {
		{ .argv = { self, "--import", file.path, "1", "vector" }, .file = &file },
		{ .argv = { self, "--import", file.path, "2", "vector" }, .file = &file, .by_clock = true }
	};

	if (!trace_make(dir, generator, LONG, &file) || !run_all(cases, 2, 3))
		return false;
	unlink(file.path);
	add(r, "size of 10 M events", "MB", file.bytes / 1e6, NO_GOAL, 0);
	add_speed(r, "10 M events, one thread", &cases[0], BEST_AT_LEAST, 1000);
	add_speed(r, "10 M events, two threads", &cases[1], BEST_AT_LEAST, 1800);
	add(r, "10 M events, peak memory", "MiB", cases[0].peak_mib, NO_GOAL, 0);
	add(r, "10 M events, memory for each GB of text", "MiB", cases[0].peak_mib / (file.bytes / 1e9), BEST_AT_MOST,
	    300);
	add(r, "time for 10 M events over that for 1 M", "x",
	    best_s(&cases[0]) / best_s(before) / (cases[0].n_events / before->n_events) * 10, BEST_AT_MOST, 10.5);
	return true;
}

/* The same number of events in Kineto's own layout, with its white space and long names: more bytes each. */
static bool measure_kineto(results *r, const char *self, const char *dir, const char *peer, size_t n_rounds)
{
	trace_file file;
	enum { ONE, TWO, SIMDJSON, PYTHON, N_CASES };
	ingest_case cases[N_CASES] = {
		[ONE] = { .argv = { self, "--import", file.path, "1", "vector" }, .file = &file },
		[TWO] = { .argv = { self, "--import", file.path, "2", "vector" }, .file = &file, .by_clock = true },
		[SIMDJSON] = { .argv = { peer, file.path }, .file = &file },
		[PYTHON] = { .argv = { "python3", "-c", python_reads, file.path }, .file = &file, .max_rounds = 2 },
	};

	if (!trace_make(dir, NULL, LARGE, &file) || !run_all(cases, N_CASES, n_rounds))
		return false;
	unlink(file.path);
	add(r, "Kineto's layout, size", "MB", file.bytes / 1e6, NO_GOAL, 0);
	add_speed(r, "Kineto's layout, one thread", &cases[ONE], BEST_AT_LEAST, 1000);
	add_speed(r, "Kineto's layout, two threads", &cases[TWO], BEST_AT_LEAST, 1800);
	if (peer) {
		add_speed(r, "Kineto's layout, simdjson On-Demand", &cases[SIMDJSON], NO_GOAL, 0);
		add(r, "Kineto's layout, one thread over simdjson", "x", speed(&cases[ONE]) / speed(&cases[SIMDJSON]),
		    BEST_AT_LEAST, 1.3);
	}
	add_speed(r, "Kineto's layout, Python's json", &cases[PYTHON], NO_GOAL, 0);
	add(r, "Kineto's layout, two threads over Python's json", "x", speed(&cases[TWO]) / speed(&cases[PYTHON]),
	    BEST_AT_LEAST, 50);
	return true;
}

/* ---- Real traces ------------------------------------------------------------------------------------------------- */

static bool gunzip_trace(const char *from, const char *dir, size_t number, trace_file *to)
{
	const char *const argv[] = { "sh", "-c", "gzip -dc \"$1\" > \"$2\"", "sh", from, to->path, NULL };
	struct stat st;

	snprintf(to->path, sizeof to->path, "%.1000s/real-%zu.json", dir, number);
	if (!process_do(argv) || stat(to->path, &st) != 0)
		return false;
	to->bytes = (double)st.st_size;
	return true;
}

/* Speed over all of them. */
static void add_sum(results *r, const char *name, ingest_case *cases, size_t n, goal_kind kind, double goal)
{
	double bytes = 0, seconds = 0;

	for (size_t i = 0; i < n; i++) {
		bytes += cases[i].file->bytes;
		seconds += best_s(&cases[i]);
	}
	add(r, name, "MB/s", bytes / seconds / 1e6, kind, goal);
}

static bool measure_real(results *r, const char *self, const char *dir, const char *traces, const char *peer,
			 size_t n_rounds)
{
	enum { ONE, TWO, SIMDJSON, PYTHON, N_CASES };
	static trace_file files[MAX_REAL];
	static ingest_case cases[N_CASES][MAX_REAL];
	char pattern[1200];
	glob_t found;
	size_t n = 0;
	double bytes = 0;

	snprintf(pattern, sizeof pattern, "%.1000s/*/*.json.gz", traces);
	bool ok = glob(pattern, 0, NULL, &found) == 0;
	for (size_t i = 0; ok && i < found.gl_pathc && n < MAX_REAL; i++) {
		trace_file *file = &files[n];
		ok = gunzip_trace(found.gl_pathv[i], dir, n, file);
		if (file->bytes < REAL_BYTES) {
			unlink(file->path);
			continue;
		}
		cases[ONE][n] = (ingest_case){ .argv = { self, "--import", file->path, "1", "vector" }, .file = file };
		cases[TWO][n] = (ingest_case){ .argv = { self, "--import", file->path, "2", "vector" },
					       .file = file,
					       .by_clock = true };
		cases[SIMDJSON][n] = (ingest_case){ .argv = { peer, file->path }, .file = file };
		cases[PYTHON][n] = (ingest_case){ .argv = { "python3", "-c", python_reads, file->path },
						  .file = file,
						  .max_rounds = 1 };
		bytes += file->bytes;
		n++;
	}
	globfree(&found);
	for (int i = 0; ok && i < N_CASES; i++)
		ok = run_all(cases[i], n, n_rounds);
	for (size_t i = 0; i < n; i++)
		unlink(files[i].path);
	if (!ok || n == 0)
		return false;
	add(r, "real traces", "", (double)n, NO_GOAL, 0);
	add(r, "real traces, size of all", "MB", bytes / 1e6, NO_GOAL, 0);
	add_sum(r, "real traces, one thread", cases[ONE], n, BEST_AT_LEAST, 1000);
	add_sum(r, "real traces, two threads", cases[TWO], n, BEST_AT_LEAST, 1800);
	if (peer)
		add_sum(r, "real traces, simdjson On-Demand", cases[SIMDJSON], n, NO_GOAL, 0);
	add_sum(r, "real traces, Python's json", cases[PYTHON], n, NO_GOAL, 0);
	return true;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static bool measure(results *r, const char *self, const char *dir, const char *generator, const char *peer,
		    size_t n_rounds, bool is_long)
{
	trace_file small, large, packed, stripped;
	char image[1100];

	if (!trace_make(dir, generator, SMALL, &small) || !trace_make(dir, generator, LARGE, &large) ||
	    !gzip_trace(&large, &packed))
		return false;
	snprintf(image, sizeof image, "%s/image.sonde", dir);
	snprintf(stripped.path, sizeof stripped.path, "%.1000s/stripped.json", dir);
	if (!strip_arguments(large.path, stripped.path))
		return false;
	enum { ONE, TWO, SCALAR, GZIP_ONE, GZIP_TWO, TO_FILE, FEW, STRIPPED, SIMDJSON, PYTHON, N_CASES };
	ingest_case cases[N_CASES] = {
		[ONE] = { .argv = { self, "--import", large.path, "1", "vector" }, .file = &large },
		[TWO] = { .argv = { self, "--import", large.path, "2", "vector" }, .file = &large, .by_clock = true },
		[SCALAR] = { .argv = { self, "--import", large.path, "1", "scalar" }, .file = &large },
		[GZIP_ONE] = { .argv = { self, "--import", packed.path, "1", "vector" }, .file = &large },
		[GZIP_TWO] = { .argv = { self, "--import", packed.path, "2", "vector" },
			       .file = &large,
			       .by_clock = true },
		[TO_FILE] = { .argv = { self, "--import", large.path, "1", "vector", image }, .file = &large },
		[FEW] = { .argv = { self, "--import", small.path, "1", "vector" }, .file = &small },
		[STRIPPED] = { .argv = { self, "--import", stripped.path, "1", "vector" },
			       .file = &stripped,
			       .max_rounds = 1 },
		[SIMDJSON] = { .argv = { peer, large.path }, .file = &large },
		[PYTHON] = { .argv = { "python3", "-c", python_reads, large.path }, .file = &large, .max_rounds = 2 },
	};
	if (!run_all(cases, N_CASES, n_rounds))
		return false;
	unlink(image);
	unlink(packed.path);
	unlink(stripped.path);
	add(r, "events in the trace", "millions", cases[ONE].n_events / 1e6, NO_GOAL, 0);
	add(r, "size of the trace", "MB", large.bytes / 1e6, NO_GOAL, 0);
	add_speed(r, "one thread", &cases[ONE], BEST_AT_LEAST, 1000);
	add_speed(r, "two threads", &cases[TWO], BEST_AT_LEAST, 1800);
	add(r, "CPU time of two threads over that of one", "x", cases[TWO].cpu_s / cases[ONE].cpu_s, NO_GOAL, 0);
	add_speed(r, "one thread, without vector instructions", &cases[SCALAR], NO_GOAL, 0);
	add_speed(r, "one thread, to a file", &cases[TO_FILE], NO_GOAL, 0);
	add_speed(r, "one thread, .json.gz", &cases[GZIP_ONE], NO_GOAL, 0);
	add_speed(r, "two threads, .json.gz", &cases[GZIP_TWO], NO_GOAL, 0);
	add(r, "two threads, .json.gz over plain with one", "x", speed(&cases[GZIP_TWO]) / speed(&cases[ONE]),
	    BEST_AT_LEAST, 0.8);
	if (peer) {
		add_speed(r, "simdjson On-Demand", &cases[SIMDJSON], NO_GOAL, 0);
		add(r, "one thread over simdjson", "x", speed(&cases[ONE]) / speed(&cases[SIMDJSON]), BEST_AT_LEAST,
		    1.3);
	}
	add_speed(r, "Python's json", &cases[PYTHON], NO_GOAL, 0);
	add(r, "one thread over Python's json", "x", speed(&cases[ONE]) / speed(&cases[PYTHON]), NO_GOAL, 0);
	add(r, "two threads over Python's json", "x", speed(&cases[TWO]) / speed(&cases[PYTHON]), BEST_AT_LEAST, 50);
	add(r, "time for 1 M events over that for 100 k", "x",
	    best_s(&cases[ONE]) / best_s(&cases[FEW]) / (cases[ONE].n_events / cases[FEW].n_events) * 10, BEST_AT_MOST,
	    10.5);
	add_memory(r, &cases[ONE], &cases[FEW], &cases[STRIPPED]);
	if (is_long && !add_long(r, self, dir, generator, &cases[ONE]))
		return false;
	unlink(small.path);
	unlink(large.path);
	return true;
}

int main(int argc, char **argv)
{
	results r = { .program = "importing a Chrome trace", .floor_ns = NAN };
	const char *output = "bench_ingest.sonde", *generator = NULL, *traces = NULL;
	size_t n_rounds = 11;
	bool is_long = false;
	char self[4000], peer[4096], dir[1024];
	const bench_option options[] = {
		{ "--json", .text = &r.json_path },    { "--output", .text = &output },
		{ "--generator", .text = &generator }, { "--traces", .text = &traces },
		{ "--rounds", .number = &n_rounds },   { "--long", .flag = &is_long },
	};

	if (argc > 1 && strcmp(argv[1], "--import") == 0)
		return import_main(argc, argv);
	options_read(argc, argv, options, sizeof options / sizeof *options);
	ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
	self[len > 0 ? len : 0] = 0;
	if (n_rounds > MAX_ROUNDS)
		n_rounds = 11;
	measure_begin();
	snprintf(dir, sizeof dir, "%.1000s.traces", output);
	mkdir(dir, 0700);
	const char *beside = process_beside(self, "bench_peer_simdjson", peer, sizeof peer);
	r.broken = !measure(&r, self, dir, generator, beside, n_rounds, is_long) ||
		   (generator && !measure_kineto(&r, self, dir, beside, n_rounds)) ||
		   (traces && !measure_real(&r, self, dir, traces, beside, n_rounds));
	rmdir(dir);
	return results_finish(&r) ? 0 : 1;
}
