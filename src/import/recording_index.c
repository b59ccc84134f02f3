/* Puts the index behind the blocks of a recording: sonde_recorder_add_index of <sonde/recorder.h>. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "base/error.h"
#include "base/file.h"
#include "import/recording.h"
#include <sonde/recorder.h>

static sonde_status check_finished(const sonde_trace *t, sonde_error *err)
{
	for (size_t i = 0; i < t->streams.n; i++)
		if (!t->streams.items[i].has_info || t->streams.items[i].info.state == STREAM_OPEN)
			return error_set(err, SONDE_E_STATE, -1, "the recording is not finished");
	return SONDE_OK;
}

/* Writes at the end of the file, which has `len` bytes so far. */
static bool write_behind(int fd, uint64_t len, const sonde_index *ix)
{
	static const uint8_t zeros[BLOCK_ALIGN];
	index_footer f = { .magic = INDEX_FOOTER, .offset = block_padded(len) };
	size_t n;
	const uint8_t *bytes = index_bytes(ix, &n);

	f.crc = crc32c(0, &f, offsetof(index_footer, crc));
	return lseek(fd, (off_t)len, SEEK_SET) == (off_t)len && file_write_all(fd, zeros, f.offset - len) &&
	       file_write_all(fd, bytes, n) && file_write_all(fd, &f, sizeof f);
}

/* All of it or nothing. What was there of an index that is cut off gives way. */
static sonde_status append(const trace_file *file, const sonde_index *ix, sonde_error *err)
{
	int fd = open(file->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	uint64_t len = file->truncated ? file->len : file->cut;
	bool is_mine = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && lseek(fd, 0, SEEK_END) == (off_t)file->len;
	sonde_status status = SONDE_OK;

	if (fd < 0 || !is_mine) {
		status = error_set(err, SONDE_E_IO, -1, "cannot add its index: %s",
				   fd < 0 || errno ? strerror(errno) : "it has changed");
	} else if (ftruncate(fd, (off_t)len) != 0 || !write_behind(fd, len, ix)) {
		int error = errno;
		bool undone = ftruncate(fd, (off_t)len) == 0;
		status = error_set(err, SONDE_E_IO, -1, "cannot add its index: %s%s", strerror(error),
				   undone ? "" : "; a part of it stays");
	}
	if (fd >= 0)
		close(fd);
	return status;
}

sonde_status sonde_recorder_add_index(const char *path, bool (*progress)(void *context, uint64_t done, uint64_t total),
				      void *context, sonde_error *err)
{
	sonde_trace *t = NULL;
	sonde_index *ix = NULL;
	sonde_status status = sonde_trace_open(path, &t, err);

	if (!status && trace_is_imported(t))
		status = error_set(err, SONDE_E_FORMAT, -1, "not a recording");
	if (!status)
		status = check_finished(t, err);
	if (!status && !t->index) {
		status = trace_build_index_with(t, 0, progress, context, &ix, err);
		if (!status)
			status = append(&t->files.items[0], ix, err);
	}
	index_free(ix);
	sonde_trace_free(t);
	return status;
}
