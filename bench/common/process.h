/* Programs that are measured as a whole, and the traces they read. */
#ifndef BENCH_COMMON_PROCESS_H
#define BENCH_COMMON_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct process_run {
	double clock_s, cpu_s; /* CPU time of all its threads */
	double peak_mib;
	char said[256]; /* the beginning of its standard output */
} process_run;

/* Runs it to its end; false when that is not exit code 0. argv ends with NULL. */
bool process_measure(const char *const *argv, process_run *ret_run);

/* Runs it, whatever it says; false when it fails. */
bool process_do(const char *const *argv);

/* The program at `name` beside this one, or NULL. */
const char *process_beside(const char *self, const char *name, char *out, size_t size);

typedef struct trace_file {
	char path[1200];
	double bytes;
} trace_file;

/* A Kineto trace in the folder, from gen_trace.py or, when that is NULL, from kineto.c. */
bool trace_make(const char *dir, const char *generator, size_t n_events, trace_file *ret_file);

#endif
