/*
 * What the benchmarks share: ticks, the floor, interleaved batches. results.h makes a table of what they find.
 *
 *   measure_begin()         once, first
 *   measure_interleaved()   loops in turn, batch by batch, so that all of them see the same machine
 *
 * The floor is two bare time stamps: no recorder that stamps begin and end can be faster. It is measured in the same
 * process between the batches of what it is compared with, and the minimum over batches is the figure: it survives a
 * busy machine, and a ratio of two minima holds on other machines as well.
 *
 * Knows nothing of Sonde: the peers use it too.
 */
#ifndef BENCH_COMMON_MEASURE_H
#define BENCH_COMMON_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { BATCH_SCOPES = 20000, N_BATCHES = 200 };

/* Does something n times. */
typedef void (*measure_loop)(size_t n);

/* Of one iteration. */
typedef struct timing {
	double best_ns, median_ns;
} timing;

static inline uint64_t ticks_now(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

/* Keeps a value, so that the compiler computes it. */
static inline void keep(uint64_t value)
{
	__asm__ volatile("" : : "r"(value));
}

int64_t now_ns(void); /* CLOCK_MONOTONIC */
double cpu_now_ns(clockid_t clock);
double resident_kib(void);
void measure_begin(void);
double ticks_to_ns(double ticks);

/* Two bare time stamps each. */
void loop_floor(size_t n);

/* Nothing, n / 8 times: beside a loop that does eight things in a turn. What is not recorded costs a fraction of a
   cycle, and in a loop of its own it would cost a whole one or none, by where the loop happens to lie in memory. */
void loop_empty_by_8(size_t n);
#define TIMES_8(something) something something something something something something something something

/* Ticks of n iterations. */
double measure_batch(measure_loop loop, size_t n);

/* Ticks of batches of n iterations; sorts them. */
timing timing_of(double *ticks, size_t n_batches, size_t n);

void measure_interleaved(const measure_loop *loops, timing *ret_timings, size_t n_loops, size_t n, size_t n_batches);

/* Alone, for where batches cannot alternate: the best of many short ones. */
double measure_floor_ns(void);

/* Loop and floor in two threads at once, all batches counted while both run. The larger one of each figure. */
void measure_two_threads(measure_loop loop, timing *ret_loop, timing *ret_floor, size_t n, size_t n_batches);

/* Sorts. */
double median_of(double *values, size_t n);

#endif
