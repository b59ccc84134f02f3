/*
 * Eight threads that do nothing but record, and an end that is not theirs to choose.
 *
 *   prog_work COUNTERS ROUNDS HOW [MS [PAUSE]]
 *
 * Each thread makes ROUNDS rounds (0: no end) of EVENTS_A_ROUND events without a system call in between, and after each
 * adds one to its own number in the file COUNTERS, which is mapped shared: what it says there has happened, however the
 * program ends. With ROUNDS the program ends when all threads have; else after MS milliseconds. HOW is exit, kill,
 * abort or segv. With PAUSE the threads do sleep, for so many milliseconds after every hundred rounds.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <sonde/record.h>

enum { THREADS = 8, EVENTS_A_ROUND = 9, APART = 16 };

static uint64_t *counters; /* one in a cache line */
static uint64_t n_rounds;
static long pause_ms;

static void do_round(const char *name, uint64_t i)
{
	sonde_scope work = sonde_begin(name);
	{
		SONDE_SCOPE_ARGS("detail", SONDE_I64("round", (int64_t)i), SONDE_STR("thread", name));
		SONDE_PHASE("first");
		SONDE_PHASE("second");
		SONDE_COUNTER("rounds", i);
		{
			SONDE_SCOPE("inner");
		}
	}
	sonde_end(work);
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void *run(void *arg)
{
	size_t number = (size_t)arg;
	char name[16];

	snprintf(name, sizeof name, "work-%zu", number);
	for (uint64_t i = 0; !n_rounds || i < n_rounds; i++) {
		do_round(name, i);
		__atomic_store_n(&counters[number * APART], i + 1, __ATOMIC_RELEASE);
		if (pause_ms && i % 100 == 99)
			sleep_ms(pause_ms);
	}
	return NULL;
}

static uint64_t *map_counters(const char *path)
{
	size_t bytes = THREADS * APART * sizeof *counters;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
		return MAP_FAILED;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return memory;
}

static void end(const char *how)
{
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "segv") == 0) {
		volatile int *nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*nothing = 1;
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc < 4)
		return 2;
	n_rounds = strtoull(argv[2], NULL, 10);
	pause_ms = argc > 5 ? strtol(argv[5], NULL, 10) : 0;
	counters = map_counters(argv[1]);
	if (counters == MAP_FAILED)
		return 2;
	SONDE_SCOPE("main"); /* open when it is killed */
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	if (n_rounds) {
		for (size_t i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	} else {
		sleep_ms(argc > 4 ? strtol(argv[4], NULL, 10) : 1000);
	}
	end(argv[3]);
	printf("done\n");
	fflush(stdout);
	return 3;
}
