/*
 * Compares two or more traces: which is faster, by how much, with which confidence, and what changed. Needs libsonde.
 */
#ifndef SONDE_COMPARE_H
#define SONDE_COMPARE_H

#include <sonde/analyze.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SONDE_COMPARE_MAX = 26 }; /* traces at once */

/* Set struct_size to sizeof(sonde_compare_options); all other fields may be 0. Strings are borrowed for the call. */
typedef struct sonde_compare_options {
	size_t struct_size;
	const char *by;		  /* one table: "step", "phase", "layer", "name" or "kernel"; NULL: all of them.
				     "tree": two traces by the tree of their operators */
	const char *const *names; /* names of the traces, such as files or backends; NULL: from the traces */
	/* Selects steps, ranks, times, warm-up, filter and top. compat "hta": HTA's trace diff of two traces. NULL:
	   everything. */
	const sonde_analyze_options *select;
	double fail_above; /* a significant slowdown above this share is a finding "regression"; 0: never */
	/* A directory with the last runs of a name, each a small JSON file. The given trace (exactly one) is compared
	   with them and added, unless it is a regression; runs older than the last baseline_runs are removed. */
	const char *baseline;
	const char *baseline_name; /* letters, digits, '.', '_' and '-'; NULL: "run" */
	unsigned baseline_runs;	   /* 0: 10 */
} sonde_compare_options;

/*
 * Compares the other traces with the first one. Each needs its index: sonde_trace_prepare(). Steps are the samples, or
 * calls if there are no steps; medians are compared, with 95 % confidence intervals.
 *
 * Values of the result: "change_percent", "low_percent", "high_percent" of the time per step (negative: faster),
 * "is_certain", "n_regressions", "best" (index of the fastest). The caller frees *ret_result.
 */
SONDE_API sonde_status sonde_compare(const sonde_trace *const *traces, size_t n_traces,
				     const sonde_compare_options *options, sonde_result **ret_result, sonde_error *err);

#ifdef __cplusplus
}
#endif
#endif
