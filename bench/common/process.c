/* See process.h. */
#define _GNU_SOURCE /* wait4 */
#include "common/process.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/kineto.h"
#include "common/measure.h"

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* All of it, so that the program does not wait; the beginning is kept. */
static void read_all(int fd, char *said, size_t size)
{
	char rest[4096];
	size_t n = 0;

	for (;;) {
		bool is_full = n + 1 >= size;
		ssize_t some = is_full ? read(fd, rest, sizeof rest) : read(fd, said + n, size - 1 - n);
		if (some <= 0)
			break;
		n += is_full ? 0 : (size_t)some;
	}
	said[n] = 0;
}

static bool run(const char *const *argv, bool is_quiet, process_run *ret_run)
{
	int ends[2], status = -1;
	struct rusage used;

	if (pipe(ends))
		return false;
	int64_t start = now_ns();
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		if (is_quiet)
			dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		execvp(argv[0], (char **)(uintptr_t)argv);
		perror(argv[0]);
		_exit(127);
	}
	close(ends[1]);
	read_all(ends[0], ret_run->said, sizeof ret_run->said);
	close(ends[0]);
	if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0)
		return false;
	ret_run->clock_s = (double)(now_ns() - start) / 1e9;
	ret_run->cpu_s = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
	ret_run->peak_mib = (double)used.ru_maxrss / 1024;
	return true;
}

bool process_measure(const char *const *argv, process_run *ret_run)
{
	return run(argv, false, ret_run);
}

bool process_do(const char *const *argv)
{
	process_run done;

	return run(argv, true, &done);
}

const char *process_beside(const char *self, const char *name, char *out, size_t size)
{
	const char *slash = strrchr(self, '/');

	snprintf(out, size, "%.*s%s", slash ? (int)(slash + 1 - self) : 0, self, name);
	return access(out, X_OK) == 0 ? out : NULL;
}

bool trace_make(const char *dir, const char *generator, size_t n_events, trace_file *ret_file)
{
	char count[32], folder[1100], made[1200];
	struct stat st;
	bool ok;

	snprintf(folder, sizeof folder, "%s/%zu", dir, n_events);
	snprintf(ret_file->path, sizeof ret_file->path, "%s/%zu.json", dir, n_events);
	snprintf(count, sizeof count, "%zu", n_events);
	if (generator) {
		const char *const argv[] = { "python3", generator, "--events", count, "--out", folder, NULL };
		snprintf(made, sizeof made, "%s/rank0.json", folder);
		ok = process_do(argv) && rename(made, ret_file->path) == 0;
		rmdir(folder);
	} else {
		ok = kineto_write(ret_file->path, n_events);
	}
	if (!ok || stat(ret_file->path, &st))
		return false;
	ret_file->bytes = (double)st.st_size;
	return true;
}
