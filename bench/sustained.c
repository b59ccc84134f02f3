/*
 * Recording flat out for a while: what the minimum of bench_record hides.
 *
 *   bench_sustained [--json FILE] [--rounds N] [--long] [--output FILE]
 *
 * Each round is a process of its own: it measures the floor, runs the loop without a recording, then with one, and
 * stops. The parent learns the peak of its memory from the kernel and reads the file, so that the number of scopes in
 * it is known and not assumed. --long adds one round of 200 M scopes in one go.
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <sonde/analyze.h>
#include <sonde/record.h>
#include "common/bodies.h"
#include "common/measure.h"
#include "common/options.h"
#include "common/results.h"

enum { MAX_ROUNDS = 100, N_SCOPES = 10000000 };

/* The ring of 64 MiB, which is used as far as the writer lags behind, and the program. */
enum { PEAK_MIB = 64 + 8 };

/* What a round found out; in memory that parent and child share. */
typedef struct round_figures {
	double floor_ns;
	double off_ns, on_ns; /* of the loop as a whole, without and with a recording */
	double cpu_ns;	      /* of the first thread, with a recording */
	double writer_ns;     /* CPU time of all others, up to the end of closing */
	double close_ns;
	double growth_kib; /* from the first 10 M scopes to the end */
	double file_bytes;
	double peak_kib;
	double n_lost, n_slices;
} round_figures;

typedef struct scenario {
	measure_loop loop;
	size_t n_scopes; /* of each thread */
	size_t n_threads;
	const char *output;
	round_figures *shared;
} scenario;

/* ---- What is recorded -------------------------------------------------------------------------------------------- */

__attribute__((noinline)) static void flat_out(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		SONDE_SCOPE("scope");
		__asm__ volatile("");
	}
}

__attribute__((noinline)) static void with_bodies(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		SONDE_SCOPE("scope");
		body_run(i);
	}
}

/* ---- A round ----------------------------------------------------------------------------------------------------- */

static void *run_thread(void *arg)
{
	const scenario *s = arg;

	s->loop(s->n_scopes);
	return NULL;
}

static double run_threads(scenario *s)
{
	pthread_t others[8];
	int64_t start = now_ns();

	for (size_t i = 1; i < s->n_threads; i++)
		if (pthread_create(&others[i], NULL, run_thread, s))
			_exit(1);
	run_thread(s);
	for (size_t i = 1; i < s->n_threads; i++)
		pthread_join(others[i], NULL);
	return (double)(now_ns() - start);
}

/* In two pieces when it is long, to see whether memory grows. */
static double run_recorded(scenario *s, double *ret_growth_kib)
{
	scenario first = *s, rest = *s;

	if (s->n_scopes <= N_SCOPES) {
		*ret_growth_kib = 0;
		return run_threads(s);
	}
	first.n_scopes = N_SCOPES;
	rest.n_scopes -= N_SCOPES;
	double ns = run_threads(&first), before = resident_kib();
	ns += run_threads(&rest);
	*ret_growth_kib = resident_kib() - before;
	return ns;
}

static int run_child(scenario *s)
{
	sonde_config config = { .struct_size = sizeof config, .output = s->output };
	round_figures *f = s->shared;
	scenario unrecorded = *s;
	sonde_error err;

	measure_begin();
	f->floor_ns = measure_floor_ns();
	unrecorded.n_scopes = s->n_scopes < N_SCOPES ? s->n_scopes : N_SCOPES;
	f->off_ns = run_threads(&unrecorded) / (double)unrecorded.n_scopes * (double)s->n_scopes;
	unlink(s->output); /* a recording that exists is never replaced */
	sonde_status status = sonde_start(&config, &err);
	if (!status) {
		double before = cpu_now_ns(CLOCK_THREAD_CPUTIME_ID), before_all = cpu_now_ns(CLOCK_PROCESS_CPUTIME_ID);
		f->on_ns = run_recorded(s, &f->growth_kib);
		f->cpu_ns = cpu_now_ns(CLOCK_THREAD_CPUTIME_ID) - before;
		int64_t start = now_ns();
		status = sonde_stop(&err);
		f->close_ns = (double)(now_ns() - start);
		f->writer_ns = cpu_now_ns(CLOCK_PROCESS_CPUTIME_ID) - before_all - f->cpu_ns;
	}
	if (status)
		fprintf(stderr, "bench_sustained: %s\n", err.message);
	f->floor_ns = fmin(f->floor_ns, measure_floor_ns());
	return status ? 1 : 0;
}

static double number_after(const char *json, const char *key)
{
	const char *at = strstr(json, key);

	return at ? strtod(at + strlen(key), NULL) : NAN;
}

/* What `sonde info` says about the file. */
static bool read_back(scenario *s)
{
	round_figures *f = s->shared;
	sonde_trace *trace = NULL;
	sonde_result *info = NULL;
	struct stat st;
	sonde_error err;
	char *json = NULL;
	size_t len;

	sonde_status status = sonde_trace_open(s->output, &trace, &err);
	if (!status)
		status = sonde_analyze(trace, "info", NULL, &info, &err);
	FILE *out = open_memstream(&json, &len);
	if (!status && out)
		status = sonde_result_print(info, SONDE_JSON, NULL, out, &err);
	if (out)
		fclose(out);
	if (status)
		fprintf(stderr, "bench_sustained: %s\n", err.message);
	f->n_lost = number_after(json ? json : "", "\"n_lost\":");
	f->n_slices = number_after(json ? json : "", "\"n_slices\":");
	f->file_bytes = stat(s->output, &st) == 0 ? (double)st.st_size : NAN;
	free(json);
	sonde_result_free(info);
	sonde_trace_free(trace);
	return !status;
}

static bool run_round(scenario *s, round_figures *ret)
{
	struct rusage usage;
	int status;
	pid_t child = fork();

	if (child == 0)
		exit(run_child(s)); /* not _exit: the library removes its ring */
	if (child < 0 || wait4(child, &status, 0, &usage) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
		return false;
	s->shared->peak_kib = (double)usage.ru_maxrss;
	bool ok = read_back(s);
	unlink(s->output);
	*ret = *s->shared;
	return ok;
}

/* ---- Figures ----------------------------------------------------------------------------------------------------- */

typedef double (*figure)(const scenario *s, const round_figures *f);

static double n_events(const scenario *s)
{
	return 2.0 * (double)s->n_scopes * (double)s->n_threads;
}

static double wall(const scenario *s, const round_figures *f)
{
	return f->on_ns / (double)s->n_scopes;
}

/* What the wall shows on a machine that does nothing else. */
static double cpu(const scenario *s, const round_figures *f)
{
	return f->cpu_ns / (double)s->n_scopes;
}

static double writer(const scenario *s, const round_figures *f)
{
	return f->writer_ns / n_events(s);
}

/* The same loop while nothing is recorded. */
static double bare(const scenario *s, const round_figures *f)
{
	return f->off_ns / (double)s->n_scopes;
}

static double rate(const scenario *s, const round_figures *f)
{
	return n_events(s) / (f->on_ns + f->close_ns) * 1e3; /* millions per second */
}

static double bytes_per_event(const scenario *s, const round_figures *f)
{
	return f->file_bytes / n_events(s);
}

static double closing(const scenario *s, const round_figures *f)
{
	(void)s;
	return f->close_ns / 1e6;
}

/* What the file does not hold and what the recorder knows to be missing should be the same. */
static double lost(const scenario *s, const round_figures *f)
{
	return fmax(f->n_lost, n_events(s) - 2 * f->n_slices);
}

static double peak(const scenario *s, const round_figures *f)
{
	(void)s;
	return f->peak_kib / 1024;
}

static double growth(const scenario *s, const round_figures *f)
{
	(void)s;
	return f->growth_kib / 1024;
}

typedef struct line {
	const char *name, *unit;
	figure of, minus; /* minus may be NULL */
	double goal;
	goal_kind kind;
} line;

static double best_floor(const round_figures *rounds, size_t n)
{
	double floor_ns = rounds[0].floor_ns;

	for (size_t i = 1; i < n; i++)
		floor_ns = fmin(floor_ns, rounds[i].floor_ns);
	return floor_ns;
}

/* The best round, or the worst where that is what matters. */
static double best_of(const line *l, figure of, const scenario *s, const round_figures *rounds, size_t n,
		      double *ret_median)
{
	bool largest = l->kind == BEST_AT_LEAST || of == lost || of == peak || of == growth;
	double values[MAX_ROUNDS];

	for (size_t i = 0; i < n; i++)
		values[i] = of(s, &rounds[i]);
	*ret_median = median_of(values, n);
	return values[largest ? n - 1 : 0];
}

static void add_line(results *r, const line *l, const scenario *s, const round_figures *rounds, size_t n)
{
	result x = { .name = l->name, .unit = l->unit, .ratio = NAN, .goal = l->goal, .kind = l->kind };
	double less;

	x.best = best_of(l, l->of, s, rounds, n, &x.median);
	if (l->minus) { /* of the best, not round by round: each of the two may be disturbed */
		x.best -= best_of(l, l->minus, s, rounds, n, &less);
		x.median -= less;
	}
	if (l->of == wall || l->of == cpu)
		x.ratio = x.best / best_floor(rounds, n);
	results_add(r, x);
}

static const line flat_out_lines[] = {
	{ "10 M scopes flat out, each", "ns", wall, NULL, 1.15, RATIO_AT_MOST },
	{ "10 M scopes flat out, each, CPU time", "ns", cpu, NULL, 0, NO_GOAL },
	{ "10 M scopes flat out, writer's CPU time", "ns/event", writer, NULL, 0, NO_GOAL },
	{ "10 M scopes flat out, with closing", "M events/s", rate, NULL, 75, BEST_AT_LEAST },
	{ "10 M scopes flat out, on disk", "B/event", bytes_per_event, NULL, 2.5, BEST_AT_MOST },
	{ "10 M scopes flat out, closing", "ms", closing, NULL, 10, BEST_AT_MOST },
	{ "10 M scopes flat out, lost (worst round)", "events", lost, NULL, 0, BEST_AT_MOST },
	{ "10 M scopes flat out, peak memory (worst)", "MiB", peak, NULL, PEAK_MIB, BEST_AT_MOST },
};
static const line body_lines[] = {
	{ "10 M scopes of 20-150 ns, each over its body", "ns", wall, bare, 0, NO_GOAL },
	{ "10 M scopes of 20-150 ns, on disk", "B/event", bytes_per_event, NULL, 2.5, BEST_AT_MOST },
	{ "10 M scopes of 20-150 ns, closing", "ms", closing, NULL, 10, BEST_AT_MOST },
	{ "10 M scopes of 20-150 ns, lost (worst round)", "events", lost, NULL, 0, BEST_AT_MOST },
};
static const line two_lines[] = {
	{ "2 x 10 M scopes flat out, with closing", "M events/s", rate, NULL, 100, BEST_AT_LEAST },
	{ "2 x 10 M scopes flat out, lost (worst round)", "events", lost, NULL, 0, BEST_AT_MOST },
};
static const line long_lines[] = {
	{ "200 M scopes in one go, each", "ns", wall, NULL, 1.15, RATIO_AT_MOST },
	{ "200 M scopes in one go, with closing", "M events/s", rate, NULL, 75, BEST_AT_LEAST },
	{ "200 M scopes in one go, closing", "ms", closing, NULL, 500, BEST_AT_MOST },
	{ "200 M scopes in one go, lost", "events", lost, NULL, 0, BEST_AT_MOST },
	{ "200 M scopes in one go, peak memory", "MiB", peak, NULL, PEAK_MIB, BEST_AT_MOST },
	{ "200 M scopes in one go, growth after 10 M", "MiB", growth, NULL, 0, NO_GOAL },
};

typedef struct test {
	scenario s;
	const line *lines;
	size_t n_lines;
	size_t n_rounds; /* 0: as many as asked for */
	round_figures rounds[MAX_ROUNDS];
} test;

#define LINES(array) .lines = array, .n_lines = sizeof array / sizeof array[0]
static test tests[] = {
	{ .s = { .loop = flat_out, .n_scopes = N_SCOPES, .n_threads = 1 }, LINES(flat_out_lines) },
	{ .s = { .loop = with_bodies, .n_scopes = N_SCOPES, .n_threads = 1 }, LINES(body_lines) },
	{ .s = { .loop = flat_out, .n_scopes = N_SCOPES, .n_threads = 2 }, LINES(two_lines) },
	{ .s = { .loop = flat_out, .n_scopes = 20 * N_SCOPES, .n_threads = 1 }, LINES(long_lines), .n_rounds = 1 },
};
enum { N_TESTS = sizeof tests / sizeof tests[0] };

/* Round by round over all tests, so that a noisy minute does not hit one alone. */
static bool run_all(size_t n_tests, size_t n_rounds, results *r)
{
	bool ok = true;

	for (size_t round = 0; round < n_rounds; round++)
		for (size_t i = 0; i < n_tests && ok; i++)
			if (round < tests[i].n_rounds)
				ok = run_round(&tests[i].s, &tests[i].rounds[round]);
	for (size_t i = 0; i < n_tests && ok; i++) {
		double floor_ns = best_floor(tests[i].rounds, tests[i].n_rounds);
		r->floor_ns = isnan(r->floor_ns) ? floor_ns : fmin(floor_ns, r->floor_ns);
		for (size_t k = 0; k < tests[i].n_lines; k++)
			add_line(r, &tests[i].lines[k], &tests[i].s, tests[i].rounds, tests[i].n_rounds);
	}
	return ok;
}

int main(int argc, char **argv)
{
	results r = { .program = "recording for a while", .floor_ns = NAN };
	const char *output = "bench_sustained.sonde";
	size_t n_rounds = 7;
	bool is_long = false;
	const bench_option options[] = {
		{ "--json", .text = &r.json_path },
		{ "--output", .text = &output },
		{ "--rounds", .number = &n_rounds },
		{ "--long", .flag = &is_long },
	};

	options_read(argc, argv, options, sizeof options / sizeof *options);
	if (n_rounds > MAX_ROUNDS)
		n_rounds = 7;
	round_figures *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		perror("bench_sustained");
		return 1;
	}
	for (size_t i = 0; i < N_TESTS; i++) {
		tests[i].s.output = output;
		tests[i].s.shared = shared;
		if (!tests[i].n_rounds)
			tests[i].n_rounds = n_rounds;
	}
	measure_begin();
	bodies_choose(20, 150);
	r.broken = !run_all(is_long ? N_TESTS : N_TESTS - 1, n_rounds, &r);
	return results_finish(&r) ? 0 : 1;
}
