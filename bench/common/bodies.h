/*
 * What a scope has inside: work that lasts a chosen time, a different one each time.
 */
#ifndef BENCH_COMMON_BODIES_H
#define BENCH_COMMON_BODIES_H

#include <stddef.h>

/* Once, before any thread runs: bodies of min_ns to max_ns, the same sequence in every run. */
void bodies_choose(unsigned min_ns, unsigned max_ns);

/* Body number i; they repeat. */
void body_run(size_t i);

#endif
