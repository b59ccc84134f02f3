/*
 * A program with recording threads that makes processes, in the four usual ways.
 *
 *   prog_fork loop N        N children one after the other, each records CHILD_SCOPES scopes "child" and ends by _exit
 *                           or exit; 8 threads record all the time, under names that are new now and then
 *   prog_fork spawn N       posix_spawn and vfork + exec in turns, N in all, of a program that does nothing
 *   prog_fork exec N        records IMAGE_SCOPES scopes "image", then becomes itself with N - 1, down to 0
 *   prog_fork daemon DIR    forks twice, closes every descriptor, opens files of its own in DIR and records on
 *
 * loop and spawn print how many scopes "work" the threads recorded.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sonde/record.h>
#include "wait_for_writer.h"

enum {
	THREADS = 8,
	CHILD_SCOPES = 10,
	IMAGE_SCOPES = 100,
	DAEMON_FILES = 300,
	DAEMON_SCOPES = 300000,
	DAEMON_NAMES = 3000
};

static int stop;
static uint64_t n_work;

/* AddressSanitizer (of gcc 12) does not take the locks of its allocator for a fork. A thread that just starts has one
   of them now and then, and in the child nothing can start any more, our writer neither. So no fork before all threads
   have started; afterwards they do not allocate. */
static pthread_barrier_t started;

static void *run(void *arg)
{
	size_t number = (size_t)arg;
	uint64_t n = 0;

	pthread_barrier_wait(&started);
	for (; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++) {
		char name[32];
		SONDE_SCOPE("work");
		snprintf(name, sizeof name, "name-%zu-%d", number, (int)(n / 1000 % 500));
		sonde_counter(name, (double)n);
		/* Or else the one that forks would hardly come to it; on a slow machine it needs long, and this must
		   not fill the disk. */
		if (n % 16 == 0)
			usleep(n < 100000 ? 100 : 10000);
	}
	__atomic_fetch_add(&n_work, n, __ATOMIC_RELAXED);
	return NULL;
}

static void record(const char *name, int n)
{
	for (int i = 0; i < n; i++)
		sonde_end(sonde_begin(name));
}

static void fork_child(int i)
{
	pid_t pid = fork();

	if (pid == 0) {
		record("begin", 1); /* a name that was known before */
		record("child", CHILD_SCOPES);
		if (i % 2)
			exit(7);
		_exit(7);
	}
	int status = 0;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
		printf("child %d ended with status %#x\n", i, (unsigned)status);
}

static void spawn_child(int i)
{
	char *argv[] = { (char *)"true", NULL };
	extern char **environ;
	pid_t pid;
	int status = 0;

	if (i % 2) {
		pid = vfork();
		if (pid == 0) {
			execvp(argv[0], argv);
			_exit(127);
		}
	} else if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0) {
		pid = -1;
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		printf("spawned %d ended with status %#x\n", i, (unsigned)status);
}

static void with_threads(int n, void (*make_child)(int))
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&started, NULL, THREADS + 1);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	pthread_barrier_wait(&started);
	for (int i = 0; i < n; i++)
		make_child(i);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%llu\n", (unsigned long long)n_work);
}

static void exec_again(char **argv)
{
	char left[16];
	int n = atoi(argv[2]);

	record("image", IMAGE_SCOPES);
	if (n <= 0)
		return;
	snprintf(left, sizeof left, "%d", n - 1);
	argv[2] = left;
	execv("/proc/self/exe", argv);
	printf("no exec\n");
}

/* Numbers that were the recording's are the program's now; nothing else may be written to them. */
static void open_files(const char *directory)
{
	for (int i = 0; i < DAEMON_FILES; i++) {
		char path[4096];
		snprintf(path, sizeof path, "%s/%d", directory, i);
		int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (fd < 0 || write(fd, "precious\n", 9) != 9)
			_exit(1);
	}
}

static void run_daemon(const char *directory)
{
	record("daemon", 1); /* its recording is open when the descriptors go */
	closefrom(3);
	open_files(directory);
	for (int i = 0; i < DAEMON_NAMES; i++) { /* more than fit into the room that was reserved for them before */
		char name[32];
		snprintf(name, sizeof name, "daemon %d", i);
		record(name, 1);
	}
	record("daemon", DAEMON_SCOPES - 1);
	exit(0);
}

static int become_daemon(const char *directory)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		pid = fork();
		if (pid == 0)
			run_daemon(directory);
		waitpid(pid, &status, 0); /* a real one would not wait */
		_exit(status != 0);
	}
	waitpid(pid, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	record("begin", 1);
	if (strcmp(argv[1], "exec") != 0)
		wait_for_writer();
	if (strcmp(argv[1], "loop") == 0)
		with_threads(atoi(argv[2]), fork_child);
	else if (strcmp(argv[1], "spawn") == 0)
		with_threads(atoi(argv[2]), spawn_child);
	else if (strcmp(argv[1], "exec") == 0)
		exec_again(argv);
	else if (become_daemon(argv[2]) != 0)
		printf("the daemon failed\n");
	return 3;
}
