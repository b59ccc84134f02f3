/*
 * Work on several threads.
 *
 *   threads_run()   n jobs, by the calling thread and others; returns when all are done
 */
#ifndef SONDE_BASE_THREADS_H
#define SONDE_BASE_THREADS_H

#include <stddef.h>

typedef void threads_job(void *context, size_t job);

/* Jobs begin in their order, the first one in the calling thread. Threads that the system refuses are done without:
 * with one it is a loop. */
void threads_run(unsigned n_threads, size_t n_jobs, threads_job *run, void *context);

/* How many make sense on this machine. */
unsigned threads_available(void);

#endif
