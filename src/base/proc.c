#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fields of /proc/PID/stat, see proc(5). The second one is the command in brackets and may hold anything. */
enum { FIELD_STATE = 3, FIELD_THREADS = 20, FIELD_START_TIME = 22 };

static const char *find_field(const char *text, int number)
{
	const char *at = strrchr(text, ')');

	for (int field = 2; at && field < number; field++)
		at = strchr(at + 1, ' ');
	return at ? at + 1 : NULL;
}

static bool read_stat(int32_t pid, char *text, size_t size)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t len = read(fd, text, size - 1);
	close(fd);
	text[len > 0 ? len : 0] = 0;
	return len > 0;
}

uint64_t proc_start_time(int32_t pid)
{
	char text[1024];
	const char *start = read_stat(pid, text, sizeof text) ? find_field(text, FIELD_START_TIME) : NULL;

	return start ? strtoull(start, NULL, 10) : 0;
}

/* Dead, and nobody has waited for it. A process whose first thread ended before the others looks alike but for them. */
static bool is_zombie(const char *text)
{
	const char *state = find_field(text, FIELD_STATE), *threads = find_field(text, FIELD_THREADS);

	return state && threads && (*state == 'Z' || *state == 'X') && strtol(threads, NULL, 10) <= 1;
}

bool proc_is_gone(int32_t pid, uint64_t start_time)
{
	char text[1024];

	if (kill(pid, 0) != 0 && errno == ESRCH)
		return true;
	if (!read_stat(pid, text, sizeof text))
		return false;
	const char *start = find_field(text, FIELD_START_TIME);
	uint64_t now = start ? strtoull(start, NULL, 10) : 0;
	return (now && start_time && now != start_time) || is_zombie(text);
}

uint64_t proc_anonymous_bytes(void)
{
	unsigned long long resident, file_backed;
	FILE *f = fopen("/proc/self/statm", "re");
	bool ok = f && fscanf(f, "%*u %llu %llu", &resident, &file_backed) == 2 && resident > file_backed;

	if (f)
		fclose(f);
	return ok ? (uint64_t)(resident - file_backed) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}
