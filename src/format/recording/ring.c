/* See ring.h. */
#define _GNU_SOURCE
#include "format/recording/ring.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/proc.h"

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len > end_len && strcmp(text + len - end_len, end) == 0;
}

bool ring_locate(const char *named, const char *recording, char *out, size_t size)
{
	static const char shared[] = "/dev/shm/sonde-";
	const char *slash = strrchr(named, '/'), *name = slash ? slash + 1 : named;

	if (strncmp(named, shared, sizeof shared - 1) == 0 && name == named + strlen("/dev/shm/") &&
	    strstr(name, ".ring"))
		return snprintf(out, size, "%s", named) < (int)size;
	if (!recording || !ends_with(name, ".ring"))
		return false;
	/* Beside the recording, wherever both were moved to. */
	slash = strrchr(recording, '/');
	int directory_len = slash ? (int)(slash + 1 - recording) : 0;
	return snprintf(out, size, "%.*s%s", directory_len, recording, name) < (int)size;
}

/* The caller's own, and the ring of that very recording. */
static bool is_ring_of(const char *path, uint64_t stream)
{
	struct stat st;
	ring_header ring;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool is = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		  read(fd, &ring, sizeof ring) == sizeof ring && ring.magic == RING_MAGIC && ring.stream == stream;

	if (fd >= 0)
		close(fd);
	return is;
}

void ring_remove_of(const char *recording)
{
	stream_start start;
	char path[1024]; /* a thread's stack may be small */
	int fd = open(recording, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool is_left = fd >= 0 && read(fd, &start, sizeof start) == sizeof start &&
		       start.header.magic == FORMAT_MAGIC && start.info.state == STREAM_OPEN &&
		       memchr(start.info.ring_path, 0, sizeof start.info.ring_path) &&
		       proc_is_gone((int32_t)start.info.pid, start.info.pid_start);

	if (fd >= 0)
		close(fd);
	if (is_left && ring_locate(start.info.ring_path, recording, path, sizeof path) &&
	    is_ring_of(path, start.header.stream))
		unlink(path);
}
