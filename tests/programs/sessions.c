/*
 * Starts and stops a recording N times while 4 threads record all the time, each into session-NUMBER.sonde. Scopes
 * "session" are made by the thread that starts and stops: 10 in each.
 *
 *   prog_sessions N
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sonde/record.h>

enum { THREADS = 4, SCOPES = 10 };

static int stop;

static void *run(void *arg)
{
	(void)arg;
	for (long i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		SONDE_SCOPE("thread");
		SONDE_SCOPE_ARGS("args", SONDE_I64("i", i));
		SONDE_COUNTER("i", i);
	}
	return NULL;
}

static int record_once(void)
{
	sonde_config config = { .struct_size = sizeof config, .output = "session-%n.sonde", .buffer = 1 << 20 };
	sonde_error err;

	if (sonde_start(&config, &err)) {
		printf("start: %s\n", err.message);
		return 1;
	}
	for (int i = 0; i < SCOPES; i++) {
		SONDE_SCOPE("session");
	}
	if (sonde_stop(&err)) {
		printf("stop: %s\n", err.message);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int failed = 0;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0, n = argc > 1 ? atoi(argv[1]) : 1; i < n && !failed; i++)
		failed = record_once();
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return failed ? 1 : 3;
}
