/*
 * A recording that is still being written, opened again and again: what `sonde serve` does while a program runs.
 *
 *   bench_follow [--json FILE] [--long] [--output FILE]
 *
 * A program in a process of its own records nested scopes flat out until there are so many events, and a million a
 * second from then on. Then the recording is opened once from scratch, and every 0.7 s from where it was. --long goes
 * to 100 M events instead of 10 M.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "common/measure.h"
#include "common/options.h"
#include "common/results.h"
#include "import/recording/follow.h"
#include <sonde/record.h>

enum { N_UPDATES = 7, LAYERS = 10, EVENTS_PER_STEP = 2 * (1 + 2 * LAYERS) };
#define PAUSE_NS 700000000

/* What the two processes share. */
typedef struct control {
	_Atomic uint64_t wanted, n_events;
	atomic_bool stop;
} control;

/* ---- The program ------------------------------------------------------------------------------------------------- */

__attribute__((noinline)) static void run_step(void)
{
	SONDE_SCOPE("step");
	for (int i = 0; i < LAYERS; i++) {
		SONDE_SCOPE("layer");
		SONDE_SCOPE("matmul");
		__asm__ volatile("");
	}
}

static int run_program(control *c, const char *output)
{
	sonde_config config = { .struct_size = sizeof config, .output = output };
	sonde_error err;

	unlink(output); /* a recording that exists is never replaced */
	if (sonde_start(&config, &err)) {
		fprintf(stderr, "bench_follow: %s\n", err.message);
		return 1;
	}
	for (int64_t next = now_ns(); !atomic_load(&c->stop); next += 1000000) {
		bool flat_out = atomic_load(&c->n_events) < atomic_load(&c->wanted);
		for (int i = 0; i < 1000; i += EVENTS_PER_STEP)
			run_step();
		atomic_fetch_add(&c->n_events, (1000 + EVENTS_PER_STEP - 1) / EVENTS_PER_STEP * EVENTS_PER_STEP);
		int64_t left = next - now_ns();
		if (flat_out)
			next = now_ns();
		else if (left > 0)
			nanosleep(&(struct timespec){ .tv_nsec = left }, NULL);
	}
	return sonde_stop(&err) ? 1 : 0;
}

/* ---- The reader -------------------------------------------------------------------------------------------------- */

typedef struct reader {
	const char *path;
	recording_follow *follow;
	recording *before;
} reader;

typedef struct update {
	double cpu_ns, n_walked;
} update;

static bool open_again(reader *r, bool from_scratch, update *ret)
{
	const recording_source source = { .path = r->path, .before = from_scratch ? NULL : r->before };
	double start = cpu_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	recording *t = NULL;
	sonde_index *ix = NULL;
	sonde_error err;

	sonde_status status = recording_open(&source, 1, &t, &err);
	if (!status && from_scratch)
		status = recording_build_index(t, 1, &ix, &err);
	else if (!status)
		status = recording_follow_index(r->follow, t, NULL, NULL, &ix, &err);
	ret->cpu_ns = cpu_now_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
	ret->n_walked = (double)recording_follow_cost(r->follow);
	index_free(ix);
	if (status)
		fprintf(stderr, "bench_follow: %s\n", err.message);
	recording_free(from_scratch ? t : r->before);
	r->before = from_scratch ? r->before : t;
	return !status;
}

static void pause_for(int64_t ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

/* ---- Figures ----------------------------------------------------------------------------------------------------- */

static void add(results *all, const char *what, unsigned millions, const char *unit, double best, double median)
{
	char *name = NULL;

	if (asprintf(&name, "%u M events recorded: %s", millions, what) < 0)
		abort();
	results_add(all,
		    (result){ .name = name, .unit = unit, .best = best, .median = median, .ratio = NAN, .goal = NAN });
}

static bool measure_at(results *all, control *c, reader *r, unsigned millions)
{
	double cpu[N_UPDATES], walked[N_UPDATES];
	update u;

	atomic_store(&c->wanted, millions * UINT64_C(1000000));
	while (atomic_load(&c->n_events) < atomic_load(&c->wanted))
		pause_for(1000000);
	pause_for(PAUSE_NS);
	if (!open_again(r, true, &u))
		return false;
	add(all, "from scratch, CPU time", millions, "ms", u.cpu_ns / 1e6, NAN);
	if (!open_again(r, false, &u)) /* takes what has come since the last size */
		return false;
	for (int i = 0; i < N_UPDATES; i++) {
		pause_for(PAUSE_NS);
		if (!open_again(r, false, &u))
			return false;
		cpu[i] = u.cpu_ns / 1e6;
		walked[i] = u.n_walked / 1e6;
	}
	double median = median_of(cpu, N_UPDATES);
	add(all, "an update, CPU time", millions, "ms", cpu[0], median);
	median = median_of(walked, N_UPDATES);
	add(all, "an update, events that it reads", millions, "M", walked[0], median);
	add(all, "memory that follows it", millions, "MiB", resident_kib() / 1024, NAN);
	return true;
}

int main(int argc, char **argv)
{
	static const unsigned sizes[] = { 1, 10, 50, 100 };
	results all = { .program = "following a recording", .floor_ns = NAN };
	reader r = { .path = "bench_follow.sonde", .follow = recording_follow_new() };
	bool is_long = false;
	const bench_option options[] = {
		{ .name = "--json", .text = &all.json_path },
		{ .name = "--output", .text = &r.path },
		{ .name = "--long", .flag = &is_long },
	};

	options_read(argc, argv, options, sizeof options / sizeof options[0]);
	control *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c == MAP_FAILED || !r.follow)
		return 1;
	pid_t child = fork();
	if (child == 0)
		exit(run_program(c, r.path)); /* not _exit: the library removes its ring */
	measure_begin();
	for (size_t i = 0; i < (is_long ? 4 : 2) && !all.broken; i++)
		all.broken = !measure_at(&all, c, &r, sizes[i]);
	atomic_store(&c->stop, true);
	int status;
	all.broken |= waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status);
	unlink(r.path);
	recording_free(r.before);
	recording_follow_free(r.follow);
	return results_finish(&all) ? 0 : 1;
}
