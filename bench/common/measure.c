#define _GNU_SOURCE
#include "common/measure.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	uint64_t ticks;
	int64_t ns;
} begun;

/* ---- Time -------------------------------------------------------------------------------------------------------- */

int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double cpu_now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double resident_kib(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

void measure_begin(void)
{
	begun.ns = now_ns();
	begun.ticks = ticks_now();
}

/* By the rate since measure_begin; the first 50 ms would be too short to tell. */
double ticks_to_ns(double ticks)
{
	int64_t elapsed;

	while ((elapsed = now_ns() - begun.ns) < 50000000)
		;
	return ticks * (double)elapsed / (double)(ticks_now() - begun.ticks);
}

/* ---- Loops and batches ------------------------------------------------------------------------------------------- */

__attribute__((noinline)) void loop_floor(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		keep(ticks_now());
		keep(ticks_now());
	}
}

__attribute__((noinline)) void loop_empty_by_8(size_t n)
{
	for (size_t i = 0; i < n; i += 8)
		__asm__ volatile("");
}

double measure_batch(measure_loop loop, size_t n)
{
	uint64_t start = ticks_now();

	loop(n);
	return (double)(ticks_now() - start);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median_of(double *values, size_t n)
{
	qsort(values, n, sizeof *values, compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

timing timing_of(double *ticks, size_t n_batches, size_t n)
{
	double median = median_of(ticks, n_batches);

	return (timing){ ticks_to_ns(ticks[0]) / (double)n, ticks_to_ns(median) / (double)n };
}

static double *new_values(size_t n)
{
	double *values = calloc(n, sizeof *values);

	if (!values) {
		fputs("bench: no memory\n", stderr);
		exit(1);
	}
	return values;
}

void measure_interleaved(const measure_loop *loops, timing *ret_timings, size_t n_loops, size_t n, size_t n_batches)
{
	double *ticks = new_values(n_loops * n_batches);

	for (size_t i = 0; i < n_loops; i++)
		loops[i](n); /* warm */
	for (size_t batch = 0; batch < n_batches; batch++)
		for (size_t i = 0; i < n_loops; i++)
			ticks[i * n_batches + batch] = measure_batch(loops[i], n);
	for (size_t i = 0; i < n_loops; i++)
		ret_timings[i] = timing_of(ticks + i * n_batches, n_batches, n);
	free(ticks);
}

double measure_floor_ns(void)
{
	timing t;

	measure_interleaved(&(measure_loop){ loop_floor }, &t, 1, BATCH_SCOPES / 10, N_BATCHES);
	return t.best_ns;
}

/* ---- Two threads ------------------------------------------------------------------------------------------------- */

typedef struct pair {
	measure_loop loop;
	size_t n, n_batches;
	pthread_barrier_t start;
	uint32_t n_done;
} pair;

typedef struct pair_thread {
	pthread_t id;
	pair *pair;
	timing loop, floor;
} pair_thread;

static void *run_pair_thread(void *arg)
{
	pair_thread *self = arg;
	pair *p = self->pair;
	double *ticks = new_values(2 * p->n_batches);

	p->loop(p->n); /* warm */
	pthread_barrier_wait(&p->start);
	for (size_t batch = 0; batch < p->n_batches; batch++) {
		ticks[batch] = measure_batch(p->loop, p->n);
		ticks[p->n_batches + batch] = measure_batch(loop_floor, p->n);
	}
	__atomic_add_fetch(&p->n_done, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&p->n_done, __ATOMIC_RELAXED) < 2) { /* the other one still counts on company */
		p->loop(p->n);
		loop_floor(p->n);
	}
	self->loop = timing_of(ticks, p->n_batches, p->n);
	self->floor = timing_of(ticks + p->n_batches, p->n_batches, p->n);
	free(ticks);
	return NULL;
}

void measure_two_threads(measure_loop loop, timing *ret_loop, timing *ret_floor, size_t n, size_t n_batches)
{
	pair p = { .loop = loop, .n = n, .n_batches = n_batches };
	pair_thread threads[2] = { { .pair = &p }, { .pair = &p } };

	pthread_barrier_init(&p.start, NULL, 2);
	for (size_t i = 0; i < 2; i++)
		if (pthread_create(&threads[i].id, NULL, run_pair_thread, &threads[i])) {
			fputs("bench: cannot start a thread\n", stderr);
			exit(1);
		}
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i].id, NULL);
	pthread_barrier_destroy(&p.start);
	const pair_thread *worse = &threads[threads[1].loop.best_ns / threads[1].floor.best_ns >
					    threads[0].loop.best_ns / threads[0].floor.best_ns];
	*ret_loop = worse->loop;
	*ret_floor = worse->floor;
}
