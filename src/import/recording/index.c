/* Puts the index behind the blocks of a recording. See trace.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "base/file.h"
#include "import/recording/trace.h"

static sonde_status check_finished(const recording *t, sonde_error *err)
{
	for (size_t i = 0; i < t->streams.n; i++)
		if (!t->streams.items[i].has_info || t->streams.items[i].info.state == STREAM_OPEN)
			return error_set(err, SONDE_E_STATE, -1, "the recording is not finished");
	return SONDE_OK;
}

/* A recording that is to end with an index. */
typedef struct behind {
	const recording_file *file;
	int fd;
	uint64_t len; /* of its blocks */
	builder_target target;
} behind;

/* Another user's file is left alone, whoever may write it. */
static bool is_own(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid();
}

/* What is there of an index that is cut off gives way. */
static sonde_status open_behind(behind *to, const recording_file *file, sonde_error *err)
{
	static const uint8_t zeros[BLOCK_ALIGN];

	*to = (behind){ .file = file, .len = file->truncated ? file->len : file->cut };
	to->fd = open(file->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (to->fd >= 0 && !is_own(to->fd))
		return error_set(err, SONDE_E_IO, -1, "cannot add its index: it belongs to another user");
	if (to->fd < 0 || flock(to->fd, LOCK_EX | LOCK_NB) != 0)
		return error_set(err, SONDE_E_IO, -1, "cannot append the index: %s",
				 errno == EWOULDBLOCK ? "another process has locked it" : strerror(errno));
	if (lseek(to->fd, 0, SEEK_END) != (off_t)file->len)
		return error_set(err, SONDE_E_IO, -1, "cannot append the index: the file has changed");
	to->target = (builder_target){ to->fd, block_padded(to->len) };
	if (ftruncate(to->fd, (off_t)to->len) != 0 || !file_write_at(to->fd, zeros, to->target.at - to->len, to->len))
		return error_set(err, SONDE_E_IO, -1, "cannot append the index: %s", strerror(errno));
	return SONDE_OK;
}

static sonde_status write_footer(const behind *to, const sonde_index *ix, sonde_error *err)
{
	size_t len;

	index_bytes(ix, &len);
	index_footer f = { .magic = INDEX_FOOTER, .offset = to->target.at, .length = len };
	f.crc = crc32c(0, &f, offsetof(index_footer, crc));
	if (!file_write_at(to->fd, &f, sizeof f, to->target.at + len))
		return error_set(err, SONDE_E_IO, -1, "cannot append the index: %s", strerror(errno));
	return SONDE_OK;
}

static sonde_status check(const recording *r, sonde_error *err)
{
	if (r->files.n != 1 || !r->files.items[0].path || r->files.items[0].bytes_are != BYTES_MAPPED || r->is_window)
		return error_set(err, SONDE_E_STATE, -1, "not a recording of one file");
	return check_finished(r, err);
}

sonde_status recording_append_index(recording *r, recording_progress *progress, void *context, sonde_error *err)
{
	sonde_index *ix = NULL;
	size_t len = 0;
	behind to;
	sonde_status status = check(r, err);

	if (status)
		return status;
	status = open_behind(&to, &r->files.items[0], err);
	bool is_open = !status;
	if (!status)
		status = recording_build_index_as(
			r, &(builder_options){ .progress = progress, .context = context, .target = &to.target }, &ix,
			err);
	if (!status)
		status = write_footer(&to, ix, err);
	if (!status)
		index_bytes(ix, &len);
	index_free(ix);
	if (status && is_open && ftruncate(to.fd, (off_t)to.len) != 0)
		error_prefix(err, status, "a part of the index stays");
	if (to.fd >= 0)
		close(to.fd);
	r->index_bytes = len ? len : r->index_bytes;
	return status;
}
