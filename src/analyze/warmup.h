/*
 * The steps at the start that are not like the others: caches fill, kernels are tuned, memory is found.
 *
 * "auto": the leading steps that take 10 % longer than the median of the later half and more than three deviations
 * (1.4826 MAD of that half), until the first one that does not; of four steps and more, half of them at most. "none",
 * or a number of steps. NULL is "auto".
 */
#ifndef SONDE_ANALYZE_WARMUP_H
#define SONDE_ANALYZE_WARMUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool warmup_is_rule(const char *text);

/* How many of the steps, in the order of time, are to be left out; at least one stays. SIZE_MAX when out of
   memory. */
size_t warmup_steps(const char *rule, const int64_t *dur_ns, size_t n);

#endif
