#define _GNU_SOURCE
#include "common/bodies.h"

#include <stdint.h>
#include <stdlib.h>
#include "common/measure.h"

enum { N_BODIES = 1024 };

static uint16_t turns[N_BODIES];

/* Each turn needs the one before, so it takes the latency of a multiplication. */
static inline void work(size_t n)
{
	uint64_t x = n;

	for (size_t i = 0; i < n; i++) {
		x *= 0x9e3779b97f4a7c15;
		__asm__ volatile("" : "+r"(x));
	}
	keep(x);
}

__attribute__((noinline)) static void one_long_body(size_t n)
{
	work(n);
}

void bodies_choose(unsigned min_ns, unsigned max_ns)
{
	timing turn;

	measure_interleaved(&(measure_loop){ one_long_body }, &turn, 1, BATCH_SCOPES, N_BATCHES);
	srandom(1);
	for (size_t i = 0; i < N_BODIES; i++)
		turns[i] = (uint16_t)((min_ns + (double)(random() % (max_ns - min_ns + 1))) / turn.best_ns);
}

void body_run(size_t i)
{
	work(turns[i % N_BODIES]);
}
