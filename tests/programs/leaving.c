/*
 * A program that ends while its threads are in the middle of things.
 *
 *   prog_leaving COUNTERS N [stop]   8 threads record scopes "work" and count in a shared file those that they have
 *                                    completed, one number of 8 bytes each, 128 bytes apart; after N of them in all
 *                                    main calls exit(3). With "stop" main records in between: it starts the recording
 *                                    "leaving-%n.sonde" STOPS times and stops it after N more each; the counters of
 *                                    each are behind those of the one before.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <sonde/record.h>

enum { THREADS = 8, STOPS = 5 };

typedef struct counter {
	uint64_t n;
	char unshared[120];
} counter;

static counter *counters;
static int recording; /* whose counters are in use */

static void *run(void *arg)
{
	for (;;) {
		int number = __atomic_load_n(&recording, __ATOMIC_RELAXED);
		sonde_scope scope = sonde_begin("work");
		sonde_end(scope);
		if (scope)
			__atomic_fetch_add(&counters[number * THREADS + (size_t)arg].n, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static uint64_t count(void)
{
	uint64_t n = 0;

	for (int i = 0; i < THREADS; i++)
		n += __atomic_load_n(&counters[recording * THREADS + i].n, __ATOMIC_RELAXED);
	return n;
}

static int record_and_stop(uint64_t n)
{
	sonde_config config = { .struct_size = sizeof config,
				.output = "leaving-%n.sonde",
				.full = getenv("SONDE_FULL") };

	if (sonde_start(&config, NULL))
		return 1;
	while (count() < n)
		usleep(100);
	if (sonde_stop(NULL))
		return 1;
	__atomic_store_n(&recording, recording + 1, __ATOMIC_RELAXED);
	return 0;
}

int main(int argc, char **argv)
{
	size_t len = (STOPS + 1) * THREADS * sizeof(counter);
	int fd = argc > 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	pthread_t thread;

	if (fd < 0 || ftruncate(fd, (off_t)len) != 0)
		return 2;
	counters = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counters == MAP_FAILED)
		return 2;
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, run, (void *)i);
	if (argc > 3 && strcmp(argv[3], "stop") == 0) {
		while (recording < STOPS)
			if (record_and_stop(n))
				exit(1);
	}
	while (argc <= 3 && count() < n)
		usleep(100);
	exit(3);
}
