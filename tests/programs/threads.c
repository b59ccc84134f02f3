/*
 * Threads, as many as a recording must bear.
 *
 *   prog_threads count T N    T threads record N scopes "same" each, all at once
 *   prog_threads churn N      N threads one after the other, each records one scope "short"; prints the resident memory
 * in KB after a tenth of them and at the end prog_threads barrier T    T threads record one scope each inside an open
 * one, meet at a barrier, and record another
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sonde/record.h>

static long n_scopes;
static pthread_barrier_t barrier;

static void *record_same(void *arg)
{
	(void)arg;
	for (long i = 0; i < n_scopes; i++) {
		SONDE_SCOPE("same");
	}
	return NULL;
}

static void *record_short(void *arg)
{
	(void)arg;
	SONDE_SCOPE("short");
	return NULL;
}

static void *meet(void *arg)
{
	(void)arg;
	SONDE_SCOPE("around");
	{
		SONDE_SCOPE("before");
	}
	pthread_barrier_wait(&barrier);
	SONDE_SCOPE("after");
	return NULL;
}

static void run_all(long n, void *(*run)(void *))
{
	pthread_t *threads = calloc((size_t)n, sizeof *threads);

	for (long i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0) {
			printf("no thread %ld\n", i);
			exit(1);
		}
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static long resident_kb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = -1;

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmRSS: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static void churn(long n)
{
	enum { AT_ONCE = 4 };
	long early = 0;

	for (long i = 0; i < n; i += AT_ONCE) {
		run_all(AT_ONCE, record_short);
		if (i <= n / 10)
			early = resident_kb();
	}
	printf("%ld %ld\n", early, resident_kb());
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	if (n <= 0)
		return 2;
	n_scopes = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
	if (strcmp(argv[1], "count") == 0) {
		run_all(n, record_same);
	} else if (strcmp(argv[1], "churn") == 0) {
		churn(n);
	} else {
		pthread_barrier_init(&barrier, NULL, (unsigned)n);
		run_all(n, meet);
	}
	return 3;
}
