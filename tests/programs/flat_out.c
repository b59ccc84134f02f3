/* A program that records as fast as it can: prog_flat_out SECONDS [FILE [THREADS]]. It ends after so long, or when
   there is a file of that name. Its threads are called worker 0, worker 1 ... */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sonde/record.h>

enum { THREADS_MAX = 16, LAYERS = 1000 };

static atomic_bool stop;
static int64_t step_ns; /* that a step takes at least */
static int n_steps;	/* 0: no limit */

__attribute__((noinline)) static void run_layer(void)
{
	SONDE_SCOPE("layer");
	SONDE_SCOPE("matmul");
	__asm__ volatile("");
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void wait_until(int64_t ns)
{
	int64_t left = step_ns ? ns - now_ns() : 0;

	if (left > 0)
		nanosleep(&(struct timespec){ left / 1000000000, left % 1000000000 }, NULL);
}

static void *run_thread(void *context)
{
	char name[32];

	snprintf(name, sizeof name, "worker %d", *(int *)context);
	sonde_thread_name(name);
	int64_t start = now_ns();
	SONDE_SCOPE("train");
	for (int step = 0; !atomic_load_explicit(&stop, memory_order_relaxed); step++) {
		if (n_steps && step >= n_steps) {
			wait_until(now_ns() + 10000000);
			continue;
		}
		SONDE_STEP(step);
		for (int i = 0; i < LAYERS; i++)
			run_layer();
		wait_until(start + (step + 1) * step_ns);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	int n = argc > 3 ? atoi(argv[3]) : 2, numbers[THREADS_MAX];
	pthread_t threads[THREADS_MAX];

	if (argc > 4)
		step_ns = 1000000000 / atoi(argv[4]);
	if (argc > 5)
		n_steps = atoi(argv[5]);
	for (int i = 0; i < n && i < THREADS_MAX; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, run_thread, &numbers[i]) != 0)
			return 1;
	}
	while (time(NULL) < end && (argc < 3 || access(argv[2], F_OK) != 0))
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	atomic_store(&stop, true);
	for (int i = 0; i < n && i < THREADS_MAX; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
