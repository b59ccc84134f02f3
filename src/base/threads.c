/* See threads.h. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { THREADS_MAX = 16 };

typedef struct thread_pool {
	threads_job *run;
	void *context;
	size_t n_jobs;
	atomic_size_t next;
} thread_pool;

static void *work(void *context)
{
	thread_pool *pool = context;

	for (size_t job; (job = atomic_fetch_add(&pool->next, 1)) < pool->n_jobs;)
		pool->run(pool->context, job);
	return NULL;
}

/* Signals are for the program's own threads. */
static bool start(pthread_t *thread, thread_pool *pool)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool ok = pthread_create(thread, NULL, work, pool) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ok;
}

void threads_run(unsigned n_threads, size_t n_jobs, threads_job *run, void *context)
{
	thread_pool pool = { .run = run, .context = context, .n_jobs = n_jobs, .next = 1 };
	pthread_t threads[THREADS_MAX];
	size_t n = 0;

	while (n + 1 < n_threads && n + 1 < n_jobs && n < THREADS_MAX && start(&threads[n], &pool))
		n++;
	if (n_jobs)
		run(context, 0);
	work(&pool);
	while (n)
		pthread_join(threads[--n], NULL);
}

unsigned threads_available(void)
{
	cpu_set_t cpus;
	int n = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;

	return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}
