#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t proc_start_time(int32_t pid)
{
	char path[32], text[1024];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t len = read(fd, text, sizeof text - 1);
	close(fd);
	if (len <= 0)
		return 0;
	text[len] = 0;
	/* The second field is the command in brackets and may hold anything; the start time is field 22. */
	char *at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

bool proc_is_gone(int32_t pid, uint64_t start_time)
{
	if (kill(pid, 0) != 0 && errno == ESRCH)
		return true;
	uint64_t now = proc_start_time(pid);
	return now && start_time && now != start_time;
}
