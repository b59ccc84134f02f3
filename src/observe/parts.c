/* See recorder_parts.h. */
#define _GNU_SOURCE
#include "observe/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "base/file.h"
#include "base/proc.h"
#include "format/recording/ring.h"
#include <sonde/recorder.h>

/* ---- One part ---------------------------------------------------------------------------------------------------- */

typedef enum part_state {
	PART_ENDED, /* no process writes it any more */
	PART_BUSY,
	PART_EMPTY, /* ended before its first block */
} part_state;

static bool has_ring(const stream_block *info)
{
	return memchr(info->ring_path, 0, sizeof info->ring_path) && info->ring_path[0] &&
	       access(info->ring_path, F_OK) == 0;
}

/* Looks at the part behind fd and locks it if nobody else has. ret_start: its first block, 0 where it has none. */
static part_state look_at(int fd, stream_start *ret_start)
{
	*ret_start = (stream_start){ 0 };
	ssize_t n = pread(fd, ret_start, sizeof *ret_start, 0);
	bool is_locked = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	const stream_block *info = &ret_start->info;

	if (n < (ssize_t)sizeof *ret_start)
		return is_locked ? PART_BUSY : n == 0 ? PART_EMPTY : PART_ENDED;
	if (info->state != STREAM_OPEN)
		return PART_ENDED;
	bool runs = has_ring(info) && !proc_is_gone((int32_t)info->pid, info->pid_start);
	return is_locked || runs ? PART_BUSY : PART_ENDED;
}

static part_state state_of(const char *path, stream_start *ret_start)
{
	*ret_start = (stream_start){ 0 };
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	part_state state = fd >= 0 ? look_at(fd, ret_start) : PART_ENDED;

	/* Under its lock: a process that has just made it and comes too late for the lock takes another name. */
	if (state == PART_EMPTY)
		unlink(path);
	if (fd >= 0)
		close(fd);
	return state;
}

static bool is_ring(const char *path)
{
	size_t len = strlen(path);

	return len > 5 && strcmp(path + len - 5, ".ring") == 0;
}

size_t sonde_recorder_running(const char *path, void (*each)(void *context, int32_t pid, const char *part),
			      void *context)
{
	size_t n = 0;
	glob_t found;

	if (!recording_find_parts(path, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		stream_start start;
		if (is_ring(found.gl_pathv[i]) || state_of(found.gl_pathv[i], &start) != PART_BUSY)
			continue;
		n++;
		each(context, (int32_t)start.info.pid, found.gl_pathv[i]);
	}
	globfree(&found);
	return n;
}

/* ---- Before a recording ------------------------------------------------------------------------------------------ */

typedef struct busy_part {
	int32_t pid;
	char path[4096];
} busy_part;

static void take_busy(void *context, int32_t pid, const char *path)
{
	busy_part *b = context;

	b->pid = pid;
	snprintf(b->path, sizeof b->path, "%s", path);
}

sonde_status parts_check(const char *path, sonde_error *err)
{
	busy_part busy = { 0 };

	if (!sonde_recorder_running(path, take_busy, &busy))
		return SONDE_OK;
	return error_set(err, SONDE_E_IO, -1,
			 "%s: process %d of an earlier recording still writes %s; neither is overwritten", path,
			 (int)busy.pid, busy.path);
}

void parts_remove_recording(const char *path)
{
	ring_remove_of(path);
	unlink(path);
}

void parts_remove(const char *path)
{
	glob_t found;

	if (!recording_find_parts(path, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		parts_remove_recording(found.gl_pathv[i]);
	globfree(&found);
}

/* ---- After it ---------------------------------------------------------------------------------------------------- */

bool parts_find(parts *p, const char *path)
{
	bool any_stays = false;

	*p = (parts){ 0 };
	p->has_found = recording_find_parts(path, &p->found);
	for (size_t i = 0; p->has_found && i < p->found.gl_pathc; i++) {
		char *part = p->found.gl_pathv[i];
		stream_start start;
		bool is_part = !is_ring(part);
		part_state state = is_part ? state_of(part, &start) : PART_EMPTY;
		any_stays |= state == PART_BUSY;
		if (state != PART_ENDED)
			part[0] = 0;
	}
	return any_stays;
}

void parts_done(parts *p)
{
	if (p->has_found)
		globfree(&p->found);
}

/* Opening a part joins it with its ring when its process is gone, and makes it whole. */
static void recover(parts *p, const char *path)
{
	recording *trace;

	if (recording_open(&(recording_source){ .path = path }, 1, &trace, NULL))
		return;
	for (size_t i = 0; i < trace->streams.n; i++)
		p->n_recovered += trace->streams.items[i].n_joined;
	recording_add_unsaved(trace, &p->unsaved);
	recording_free(trace);
}

/* Returns the largest part with its rings read, NULL if there is none. */
static const char *recover_all(parts *p)
{
	const char *largest = NULL;
	off_t largest_size = -1;

	for (size_t i = 0; p->has_found && i < p->found.gl_pathc; i++) {
		const char *part = p->found.gl_pathv[i];
		struct stat st;
		if (!part[0])
			continue;
		recover(p, part);
		if (stat(part, &st) == 0 && st.st_size > largest_size) {
			largest = part;
			largest_size = st.st_size;
		}
	}
	return largest;
}

/* The next block must start aligned; a part may be cut off inside one. */
static bool align(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);

	return size >= 0 && (size % BLOCK_ALIGN == 0 ||
			     (ftruncate(fd, (off_t)block_padded((size_t)size)) == 0 && lseek(fd, 0, SEEK_END) > 0));
}

static bool copy(int to, int from, char *buffer, size_t size)
{
	ssize_t n;

	while ((n = read(from, buffer, size)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || !file_write_all(to, buffer, (size_t)n))
			return false;
	}
	return true;
}

/* True when everything that `from` has is at the end of `to`, which is as before otherwise; errno says why. */
static bool append_file(int to, const char *from)
{
	enum { PIECE = 1 << 20 };
	int fd = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char *buffer = malloc(PIECE);
	off_t before = lseek(to, 0, SEEK_END);
	bool ok = fd >= 0 && buffer && before >= 0 && copy(to, fd, buffer, PIECE) && align(to);
	int error = errno;

	if (!ok && before >= 0 && ftruncate(to, before) == 0)
		lseek(to, 0, SEEK_END);
	free(buffer);
	if (fd >= 0)
		close(fd);
	errno = error;
	return ok;
}

/* Into the largest one, each of which is removed then. */
static bool join_into(const parts *p, const char *largest, const char *path)
{
	int fd = open(largest, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	bool ok = fd >= 0 && align(fd);

	for (size_t i = 0; ok && i < p->found.gl_pathc; i++) {
		const char *part = p->found.gl_pathv[i];
		if (!part[0] || part == largest)
			continue;
		ok = append_file(fd, part);
		if (ok)
			unlink(part);
	}
	ok = ok && append_file(fd, path) && rename(largest, path) == 0;
	int error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return ok;
}

sonde_status parts_join(parts *p, const char *path, sonde_error *err)
{
	const char *largest = recover_all(p);
	char text[8192];

	p->is_joined = !largest || join_into(p, largest, path);
	if (p->unsaved.n_events) { /* then there is no room for the join either, and that would be said less exactly */
		recording_unsaved_text(&p->unsaved, path, text, sizeof text);
		return error_set(err, SONDE_E_IO, -1, "%s", text);
	}
	if (p->is_joined)
		return SONDE_OK;
	return error_set(err, SONDE_E_IO, -1,
			 "cannot join %s.part.* into %s: %s; the parts stay and are read with the file", path, path,
			 strerror(errno));
}
