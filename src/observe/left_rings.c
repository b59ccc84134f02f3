/*
 * Rings that killed programs left in shared memory, for sonde_recorder_left().
 *
 * A ring is named sonde-UID-PID-START.ring. It is left when that process is certainly gone and no process holds the
 * lock of the file: a container may share the memory and have processes that are not seen here. The ring says where its
 * recording is; the recording takes the events only while its stream is open and the same.
 */
#define _GNU_SOURCE
#include <sonde/recorder.h>

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/proc.h"
#include "format/recording/ring.h"

/* The process that a ring's name tells, if it is of this user and certainly gone; otherwise 0. */
static int32_t gone_process(const char *name)
{
	unsigned user;
	int32_t pid;
	uint64_t start_time;
	bool is_ring = sscanf(name, "sonde-%u-%" SCNd32 "-%" SCNx64 ".ring", &user, &pid, &start_time) == 3 &&
		       strstr(name, ".ring");

	return is_ring && user == geteuid() && pid > 0 && proc_is_gone(pid, start_time) ? pid : 0;
}

static bool is_text(const char *field, size_t size)
{
	return memchr(field, 0, size) && *field;
}

/* Whether the file at path is the recording that waits for the events of this stream. */
static bool waits_for(const char *path, uint64_t stream)
{
	stream_start start;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool waits = fd >= 0 && read(fd, &start, sizeof start) == sizeof start && start.header.magic == FORMAT_MAGIC &&
		     start.header.stream == stream && start.info.state == STREAM_OPEN;

	if (fd >= 0)
		close(fd);
	return waits;
}

/* False when the file is another's or a process still holds it. */
static bool look_at(int fd, ring_header *ret_header, uint64_t *ret_bytes)
{
	struct stat st;

	*ret_header = (ring_header){ 0 };
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || flock(fd, LOCK_SH | LOCK_NB) != 0)
		return false;
	*ret_bytes = (uint64_t)st.st_blocks * 512;
	if (pread(fd, ret_header, sizeof *ret_header, 0) != sizeof *ret_header || ret_header->magic != RING_MAGIC)
		*ret_header = (ring_header){ 0 }; /* killed before it was made */
	return true;
}

static bool describe(const char *path, int32_t pid, ring_header *ret_header, sonde_left_ring *ret_ring)
{
	uint64_t bytes = 0;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool is_left = fd >= 0 && look_at(fd, ret_header, &bytes);
	const ring_header *h = ret_header;

	if (fd >= 0)
		close(fd);
	if (!is_left)
		return false;
	*ret_ring = (sonde_left_ring){
		.path = path,
		.bytes = bytes,
		.pid = pid,
		.program = is_text(h->info.program, sizeof h->info.program) ? h->info.program : "",
		.recording = is_text(h->recording, sizeof h->recording) ? h->recording : "",
		.has_events = h->stream != 0,
	};
	ret_ring->can_save = ret_ring->has_events && *ret_ring->recording && waits_for(ret_ring->recording, h->stream);
	return true;
}

size_t sonde_recorder_left(const char *directory, void (*each)(void *context, const sonde_left_ring *ring),
			   void *context)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir))) {
		char path[PATH_MAX];
		ring_header header;
		sonde_left_ring ring;
		int32_t pid = gone_process(entry->d_name);

		if (!pid || snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) >= (int)sizeof path ||
		    !describe(path, pid, &header, &ring))
			continue;
		n++;
		each(context, &ring);
	}
	if (dir)
		closedir(dir);
	return n;
}
