/*
 * The recording's file. It is always a new one: a recording that exists is never replaced, this one takes another name
 * then. A file belongs to the process that holds its lock, from before its first block on.
 *
 * Blocks are written at a position of our own; what a full disk cut off is overwritten by the next try or cut away. The
 * descriptor is checked before each use: a program that closes all descriptors (a daemon) may
 * have given its number to another file.
 */
#define _GNU_SOURCE
#include "record/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "base/launcher.h"
#include "base/proc.h"

enum { INFO_WORDS = sizeof(stream_block) / sizeof(uint64_t), MAX_ATTEMPTS = 1000 };

void info_load(stream_block *to)
{
	const uint64_t *from = (const uint64_t *)&rt.ring->info;

	for (size_t i = 0; i < INFO_WORDS; i++)
		((uint64_t *)to)[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

void info_store(const stream_block *from)
{
	uint64_t *to = (uint64_t *)&rt.ring->info;

	for (size_t i = 0; i < INFO_WORDS; i++)
		__atomic_store_n(&to[i], ((const uint64_t *)from)[i], __ATOMIC_RELAXED);
}

/* ---- A file of our own ------------------------------------------------------------------------------------------- */

/* What has the path that was asked for. */
typedef enum occupant {
	OCCUPANT_FOREIGN, /* something that is no recording */
	OCCUPANT_OLD,	  /* a recording that no process writes any more */
	OCCUPANT_BUSY,	  /* a recording that is being written or begun, or one of this very process before an exec */
	OCCUPANT_GONE,	  /* nothing any more: sonde record took the new file for one that was left empty */
} occupant;

static occupant examine(const char *path)
{
	struct stat st;
	stream_start old;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	occupant what = OCCUPANT_FOREIGN;

	if (fd < 0)
		return errno == ENOENT ? OCCUPANT_GONE : what;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		bool is_whole = read(fd, &old, sizeof old) == sizeof old && old.header.magic == FORMAT_MAGIC;
		bool is_ours =
			is_whole && (pid_t)old.info.pid == getpid() && old.info.pid_start == proc_start_time(getpid());
		bool is_open = is_whole && old.info.state == STREAM_OPEN &&
			       !proc_is_gone((int32_t)old.info.pid, old.info.pid_start);
		if (!st.st_size || is_ours || is_open)
			what = OCCUPANT_BUSY;
		else if (is_whole)
			what = OCCUPANT_OLD;
	}
	close(fd);
	return what;
}

/* Of two processes that want the same empty file the one with the lock has it, if the file still has the name. */
static bool is_claimed(int fd, const char *path, bool is_new)
{
	struct stat st, named;
	bool is_locked = flock(fd, LOCK_EX | LOCK_NB) == 0 || (is_new && errno != EWOULDBLOCK);

	return is_locked && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0 && st.st_uid == geteuid() &&
	       lstat(path, &named) == 0 && named.st_dev == st.st_dev && named.st_ino == st.st_ino;
}

/* A new file, or one of the user's that is empty (mktemp made it, say). Nothing else is ever touched: -1 and EEXIST. */
static int claim(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool is_new = fd >= 0;

	if (fd < 0 && errno != EEXIST)
		return -1;
	if (!is_new && lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0 && st.st_uid == geteuid())
		fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && is_claimed(fd, path, is_new))
		return fd;
	if (fd >= 0)
		close(fd);
	errno = EEXIST;
	return -1;
}

/* run.sonde becomes run.PID.sonde, then run.PID-N.sonde; N begins with the number of the recording in the process. */
static void other_name(char *out, size_t size, const char *path, uint32_t attempt)
{
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
	size_t stem = dot && (!slash || dot > slash + 1) ? (size_t)(dot - path) : strlen(path);
	int n = snprintf(out, size, "%.*s.%d", (int)stem, path, (int)getpid());

	if (attempt && n >= 0 && n < (int)size)
		n += snprintf(out + n, size - (size_t)n, "-%" PRIu32, rt.n_sessions + attempt - 1);
	if (n >= 0 && n < (int)size)
		snprintf(out + n, size - (size_t)n, "%s", path + stem);
}

static int claim_any(const char *path, bool *ret_found_old)
{
	occupant what = OCCUPANT_GONE;
	int fd = -1;

	snprintf(rt.path, sizeof rt.path, "%s", path);
	*ret_found_old = false;
	for (int i = 0; what == OCCUPANT_GONE && i < MAX_ATTEMPTS; i++) {
		fd = claim(rt.path);
		if (fd >= 0 || errno != EEXIST)
			return fd;
		what = examine(path);
	}
	*ret_found_old = what == OCCUPANT_OLD;
	errno = what == OCCUPANT_FOREIGN ? ENOTEMPTY : EEXIST;
	for (uint32_t attempt = 0; fd < 0 && errno == EEXIST && attempt < MAX_ATTEMPTS; attempt++) {
		other_name(rt.path, sizeof rt.path, path, attempt);
		fd = claim(rt.path);
	}
	return fd;
}

static sonde_status refuse(const char *path, sonde_error *err)
{
	if (errno == ENOTEMPTY)
		return error_set(err, SONDE_E_IO, -1, "%s exists and is not a recording; not overwritten", path);
	if (errno == EEXIST)
		return error_set(err, SONDE_E_IO, -1, "cannot write %s: it and %d alternative names exist", path,
				 MAX_ATTEMPTS);
	return error_set(err, SONDE_E_IO, -1, "cannot write %s: %s", path, strerror(errno));
}

sonde_status output_create(const char *path, bool *ret_found_old, sonde_error *err)
{
	struct stat st;
	int fd = claim_any(path, ret_found_old);

	if (fd < 0) {
		rt.path[0] = 0;
		return refuse(path, err);
	}
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 201);
	if (high >= 0) {
		close(fd);
		fd = high;
	}
	rt.file_fd = fd;
	rt.file_bytes = 0;
	if (fstat(fd, &st) == 0) {
		rt.file_device = st.st_dev;
		rt.file_inode = st.st_ino;
	}
	return SONDE_OK;
}

void output_remove(void)
{
	unlink(rt.path);
	output_close();
	rt.path[0] = 0;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* Behind the stream's first block, where a reader of many files finds it at once. */
static void write_rank(void)
{
	int32_t size, rank = launcher_rank(&size);
	char text[64];

	if (rank < 0)
		return;
	int len = snprintf(text, sizeof text, "rank%c%" PRId32 "%cworld_size%c%" PRId32, 0, rank, 0, 0, size) + 1;
	output_block(BLOCK_META, text, (size_t)len);
}

sonde_status output_begin(sonde_error *err)
{
	stream_start start;

	info_load(&start.info);
	block_seal(&start.header, BLOCK_STREAM, rt.stream, sizeof start.info, 0);
	if (!output_write(&start, sizeof start, 0)) {
		errno = rt.ring->info.io_errno;
		return refuse(rt.path, err);
	}
	write_rank();
	return SONDE_OK;
}

static bool is_ours(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == rt.file_device && st.st_ino == rt.file_inode;
}

/* Makes sure that file_fd is our file. */
static bool have_file(void)
{
	if (is_ours(rt.file_fd))
		return true;
	int fd = open(rt.path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (!is_ours(fd)) {
		if (fd >= 0)
			close(fd);
		errno = EBADF;
		return false;
	}
	rt.file_fd = fd;
	return true;
}

static bool write_at(const void *bytes, size_t len, uint64_t position)
{
	const char *at = bytes;

	if (!have_file())
		return false;
	while (len) {
		ssize_t n = pwrite(rt.file_fd, at, len, (off_t)position);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n == 0)
				errno = ENOSPC;
			return false;
		}
		at += n;
		position += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

static bool written(bool ok, size_t len)
{
	if (ok) {
		rt.file_bytes += len;
		return true;
	}
	rt.ring->info.io_errno = errno;
	if (is_ours(rt.file_fd) && ftruncate(rt.file_fd, (off_t)rt.file_bytes) != 0)
		rt.ring->info.io_errno = errno;
	return false;
}

bool output_write(const void *bytes, size_t len, uint64_t n_events)
{
	if (!written(write_at(bytes, len, rt.file_bytes), len))
		return false;
	__atomic_fetch_add(&rt.ring->info.n_events, n_events, __ATOMIC_RELAXED);
	return true;
}

void output_note_losses(void)
{
	output_stream_info(STREAM_OPEN); /* its space is there: the count of what was lost always finds room */
}

/* In pieces: the writer does without the program's allocator, whose locks a fork may find held. */
bool output_block(block_kind kind, const void *payload, size_t len)
{
	static const char zeros[BLOCK_ALIGN];
	block_header header = block_describe(kind, rt.stream, payload, len, 0);
	uint64_t at = rt.file_bytes + sizeof header;

	bool ok = write_at(&header, sizeof header, rt.file_bytes) && write_at(payload, len, at) &&
		  write_at(zeros, block_padded(len) - len, at + len);
	return written(ok, sizeof header + block_padded(len));
}

void output_stream_info(stream_state state)
{
	stream_start start;

	info_load(&start.info);
	start.info.state = state;
	if (state == STREAM_CLOSED)
		start.info.ring_path[0] = 0;
	block_seal(&start.header, BLOCK_STREAM, rt.stream, sizeof start.info, 0);
	if (rt.file_bytes >= sizeof start)
		write_at(&start, sizeof start, 0);
}

/* Somebody removed the file while it was written: nobody will read a single event of it. */
static void check_removed(void)
{
	struct stat st;

	if (rt.ring && is_ours(rt.file_fd) && fstat(rt.file_fd, &st) == 0 && st.st_nlink == 0) {
		rt.ring->info.io_errno = ENOENT;
		count_lost(&rt.ring->info.n_lost_io, rt.ring->info.n_events);
	}
}

void output_close(void)
{
	check_removed();
	if (is_ours(rt.file_fd))
		close(rt.file_fd);
	rt.file_fd = -1;
}

void output_forget_in_child(void)
{
	if (is_ours(rt.file_fd))
		close(rt.file_fd);
	rt.file_fd = -1;
	rt.path[0] = 0;
}
