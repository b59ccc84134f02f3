/*
 * A process and its child, each of which records, in every order of their ends.
 *
 *   prog_family WAY ORDER [FILE]
 *   prog_family many N         N children, which end by _exit; the parent does so after them
 *
 *   WAY    return, exit and _exit: the child is forked, and both processes end that way
 *          double: the child is forked by a process that ends by _exit at once
 *          daemon: the child is what daemon() leaves
 *          exec: the child becomes this program again
 *   ORDER  parent: the child records after its parent has ended and, if FILE is given, after FILE exists
 *          child: the parent waits for the child and records once more
 *
 * The parent records SCOPES scopes "parent", and as many again after the child; the child twice SCOPES scopes "child".
 * Its process id goes to the file "child".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sonde/record.h>
#include "wait_for_writer.h"

enum { SCOPES = 10 };

static const char *way, *order, *file;
static int alive[2]; /* a pipe whose other end closes with the parent */

static void record(const char *name, int n)
{
	for (int i = 0; i < n; i++)
		sonde_end(sonde_begin(name));
}

static int end(void)
{
	if (strcmp(way, "exit") == 0)
		exit(3);
	if (strcmp(way, "_exit") == 0 || strcmp(way, "many") == 0)
		_exit(3);
	return 3;
}

static void say_pid(void)
{
	FILE *out = fopen("child.new", "w");

	if (!out || fprintf(out, "%d\n", (int)getpid()) < 0 || fclose(out) != 0 || rename("child.new", "child") != 0)
		_exit(1);
}

static int be_child(void)
{
	char byte;

	say_pid();
	if (strcmp(order, "parent") == 0) {
		while (read(alive[0], &byte, 1) > 0)
			;
		while (file && access(file, F_OK) != 0)
			usleep(1000);
	}
	record("child", 2 * SCOPES);
	return end();
}

static int become_again(void)
{
	char number[16];

	snprintf(number, sizeof number, "%d", alive[0]);
	execl(program_invocation_name, program_invocation_name, "image", order, number, file, NULL);
	return 1;
}

static int fork_many(int n)
{
	int n_failed = 0, status;

	for (int i = 0; i < n; i++)
		if (fork() == 0) {
			record("child", 2 * SCOPES);
			_exit(3);
		}
	while (wait(&status) > 0)
		n_failed += !WIFEXITED(status) || WEXITSTATUS(status) != 3;
	record("parent", SCOPES);
	return n_failed ? 1 : end();
}

static int make_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (strcmp(way, "double") == 0 && fork() != 0)
			_exit(0);
		close(alive[1]);
		return strcmp(way, "exec") == 0 ? become_again() : be_child();
	}
	if (strcmp(way, "double") == 0 || strcmp(order, "child") == 0)
		waitpid(pid, NULL, 0);
	if (strcmp(order, "child") == 0)
		record("parent", SCOPES);
	return end();
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	way = argv[1];
	order = argv[2];
	if (strcmp(way, "image") == 0) {
		alive[0] = atoi(argv[3]);
		file = argv[4];
		return be_child();
	}
	file = argv[3];
	record("parent", SCOPES);
	wait_for_writer();
	if (strcmp(way, "many") == 0)
		return fork_many(atoi(argv[2]));
	if (pipe(alive) != 0)
		return 1;
	if (strcmp(way, "daemon") != 0)
		return make_child();
	if (daemon(1, 0) != 0) /* the parent has ended */
		return 1;
	close(alive[1]);
	return be_child();
}
