/*
 * The steps at the start that are not like the others: caches fill, kernels are tuned, memory is found.
 *
 * "auto": the leading steps that take 10 % longer than the median of the later half and more than three deviations
 * (1.4826 MAD of that half), until the first one that does not; of four steps and more, half of them at most. "none",
 * or a number of steps. NULL is "auto". Steps or times that were asked for, and another tool's definitions, have no
 * warm-up of their own accord.
 *
 * sonde_analyze() decides once: warmup_find() puts the number in place of the rule and says so in the result. Analyses
 * find it in warmup_given(), most of them through rows_options_from() and profile_options_from().
 */
#ifndef SONDE_ANALYZE_TABLES_WARMUP_H
#define SONDE_ANALYZE_TABLES_WARMUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analyze/result/result.h"
#include <sonde/trace.h>

bool warmup_is_rule(const char *text);

/* How many of the steps, in the order of time, are to be left out; at least one stays. SIZE_MAX when out of
   memory. */
size_t warmup_steps(const char *rule, const int64_t *dur_ns, size_t n);

/* Sets o->warmup to a number, which lies in the result's memory. */
sonde_status warmup_find(const sonde_trace *trace, sonde_analyze_options *o, sonde_result *r, sonde_error *err);
/* The number; 0 where the options still have a rule. */
size_t warmup_given(const sonde_analyze_options *o);

#endif
