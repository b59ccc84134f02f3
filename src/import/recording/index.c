/* Puts the index behind the blocks of a recording: sonde_recorder_add_index of <sonde/recorder.h>. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "base/error.h"
#include "base/file.h"
#include "import/recording/recording.h"
#include <sonde/recorder.h>

static sonde_status check_finished(const sonde_trace *t, sonde_error *err)
{
	for (size_t i = 0; i < t->streams.n; i++)
		if (!t->streams.items[i].has_info || t->streams.items[i].info.state == STREAM_OPEN)
			return error_set(err, SONDE_E_STATE, -1, "the recording is not finished");
	return SONDE_OK;
}

/* A recording that is to end with an index. */
typedef struct behind {
	const trace_file *file;
	int fd;
	uint64_t len; /* of its blocks */
	builder_target target;
} behind;

/* What is there of an index that is cut off gives way. */
static sonde_status open_behind(behind *to, const trace_file *file, sonde_error *err)
{
	static const uint8_t zeros[BLOCK_ALIGN];

	*to = (behind){ .file = file, .len = file->truncated ? file->len : file->cut };
	to->fd = open(file->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (to->fd < 0 || flock(to->fd, LOCK_EX | LOCK_NB) != 0)
		return error_set(err, SONDE_E_IO, -1, "cannot add its index: %s",
				 errno == EWOULDBLOCK ? "another process has locked it" : strerror(errno));
	if (lseek(to->fd, 0, SEEK_END) != (off_t)file->len)
		return error_set(err, SONDE_E_IO, -1, "cannot add its index: it has changed");
	to->target = (builder_target){ to->fd, block_padded(to->len) };
	if (ftruncate(to->fd, (off_t)to->len) != 0 || !file_write_at(to->fd, zeros, to->target.at - to->len, to->len))
		return error_set(err, SONDE_E_IO, -1, "cannot add its index: %s", strerror(errno));
	return SONDE_OK;
}

static sonde_status write_footer(const behind *to, const sonde_index *ix, sonde_error *err)
{
	size_t len;

	index_bytes(ix, &len);
	index_footer f = { .magic = INDEX_FOOTER, .offset = to->target.at, .length = len };
	f.crc = crc32c(0, &f, offsetof(index_footer, crc));
	if (!file_write_at(to->fd, &f, sizeof f, to->target.at + len))
		return error_set(err, SONDE_E_IO, -1, "cannot add its index: %s", strerror(errno));
	return SONDE_OK;
}

/* All of it or nothing. */
static sonde_status append(const sonde_trace *t, recording_progress *progress, void *context, sonde_error *err)
{
	sonde_index *ix = NULL;
	behind to;
	sonde_status status = open_behind(&to, &t->files.items[0], err);
	bool is_open = !status;

	if (!status)
		status = trace_build_index_as(
			t, &(builder_options){ .progress = progress, .context = context, .target = &to.target }, &ix,
			err);
	if (!status)
		status = write_footer(&to, ix, err);
	index_free(ix);
	if (status && is_open && ftruncate(to.fd, (off_t)to.len) != 0)
		error_prefix(err, status, "a part of the index stays");
	if (to.fd >= 0)
		close(to.fd);
	return status;
}

sonde_status sonde_recorder_add_index(const char *path, bool (*progress)(void *context, uint64_t done, uint64_t total),
				      void *context, sonde_error *err)
{
	sonde_trace *t = NULL;
	sonde_status status = sonde_trace_open(path, &t, err);

	if (!status && trace_is_imported(t))
		status = error_set(err, SONDE_E_FORMAT, -1, "not a recording");
	if (!status)
		status = check_finished(t, err);
	if (!status && !t->index)
		status = append(t, progress, context, err);
	sonde_trace_free(t);
	return status;
}
