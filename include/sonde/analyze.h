/*
 * From a trace to an answer: run an analysis by name, print what it found. Needs libsonde.
 *
 * All functions are safe on different objects from different threads.
 */
#ifndef SONDE_ANALYZE_H
#define SONDE_ANALYZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sonde/error.h>
#include <sonde/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sonde_result sonde_result;

/* Set struct_size to sizeof(sonde_analyze_options); everything else may stay 0. Strings are borrowed for the call. */
typedef struct sonde_analyze_options {
	size_t struct_size;
	const char *sort; /* a column: "total" (NULL), "self", "calls", "avg", "min", "max", "std", "p50", "p95", "p99",
			     "name" */
	const char *filter; /* only names that contain this; "^a" at the start, "a$" at the end */
	uint64_t top;	    /* rows; 0: 20 for people, all in JSON and CSV; UINT64_MAX: all */
	int64_t first_step; /* with use_steps: only what began in steps first_step..last_step */
	int64_t last_step;
	bool use_steps;
	bool tree;    /* names as a call tree */
	bool threads; /* one table per thread */
} sonde_analyze_options;

typedef enum sonde_format { SONDE_TEXT, SONDE_JSON, SONDE_CSV } sonde_format;

/* Set struct_size to sizeof(sonde_print_options). */
typedef struct sonde_print_options {
	size_t struct_size;
	unsigned width; /* columns of the terminal, 0: 80 */
	bool color;
	bool utf8; /* bars and ellipses in Unicode */
} sonde_print_options;

/* Runs the analysis: "report", "summary" or "info". options may be NULL. The caller frees *ret_result, which does not
   depend on the trace any more. */
SONDE_API sonde_status sonde_analyze(const sonde_trace *trace, const char *name, const sonde_analyze_options *options,
				     sonde_result **ret_result, sonde_error *err);

/* The analyses there are: name and one sentence each. Returns false when index is past the last. */
SONDE_API bool sonde_analysis(size_t index, const char **ret_name, const char **ret_summary);

/* options may be NULL. Fails when the stream does. */
SONDE_API sonde_status sonde_result_print(const sonde_result *result, sonde_format format,
					  const sonde_print_options *options, FILE *out, sonde_error *err);

/* Accepts NULL. */
SONDE_API void sonde_result_free(sonde_result *result);

#ifdef __cplusplus
}
#endif
#endif
