/*
 * For programs that fork: waits until the writer of the recording has started, which it has when it has its name.
 *
 * AddressSanitizer (of gcc 12) does not take the locks of its allocator for a fork. A thread that just starts has one
 * of them now and then, and in the child nothing can start any more.
 */
#ifndef SONDE_TESTS_WAIT_FOR_WRITER_H
#define SONDE_TESTS_WAIT_FOR_WRITER_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline bool is_writer(const char *task)
{
	char path[300], name[32] = "";
	snprintf(path, sizeof path, "/proc/self/task/%s/comm", task);
	FILE *in = fopen(path, "r");

	if (!in)
		return false;
	bool is = fgets(name, sizeof name, in) && strcmp(name, "sonde-writer\n") == 0;
	fclose(in);
	return is;
}

static inline void wait_for_writer(void)
{
	bool found = !getenv("SONDE_ENABLED");

	for (int i = 0; i < 2000 && !found; i++) {
		DIR *tasks = opendir("/proc/self/task");
		const struct dirent *task;

		while (tasks && (task = readdir(tasks)))
			found |= is_writer(task->d_name);
		if (tasks)
			closedir(tasks);
		if (!found)
			usleep(10000);
	}
}

#endif
