/*
 * The command line of a benchmark: options with a value, and flags.
 *
 *   options_read()   --help prints the options and exits with 0, a wrong one with 2, before anything is measured
 */
#ifndef BENCH_COMMON_OPTIONS_H
#define BENCH_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* One of the pointers says what it takes: text, a number of at least 1, or nothing. */
typedef struct bench_option {
	const char *name; /* "--json" */
	const char **text;
	size_t *number;
	bool *flag;
} bench_option;

void options_read(int argc, char **argv, const bench_option *options, size_t n_options);

#endif
