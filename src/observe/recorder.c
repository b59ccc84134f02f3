/*
 * The file of `sonde record`: a stream of its own with what it saw of the processes, and in the end everything that the
 * processes recorded themselves.
 *
 * Each process writes <path>.part.<pid>; recorder_parts.h joins them in the end. While a process may still write its
 * part, and when the recorder is killed, the parts stay beside the file, whose stream stays open: it is read with them.
 */
#define _GNU_SOURCE
#include <sonde/recorder.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/launcher.h"
#include "base/proc.h"
#include "format/recording/file.h"
#include "observe/parts.h"

struct sonde_recorder {
	char *path;
	int fd;
	uint64_t stream;
	stream_block info;
	int write_errno;
	bool leave_open;
};

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static bool write_all(sonde_recorder *r, const void *bytes, size_t len)
{
	if (!r->write_errno && !file_write_all(r->fd, bytes, len))
		r->write_errno = errno;
	return !r->write_errno;
}

static void write_block(sonde_recorder *r, block_kind kind, const void *payload, size_t len)
{
	off_t before = lseek(r->fd, 0, SEEK_CUR);
	block_header *block = malloc(sizeof *block + block_padded(len));

	if (!block) {
		r->info.n_lost_io++;
		return;
	}
	memcpy(block + 1, payload, len);
	size_t size = block_seal(block, kind, r->stream, len, 0);
	if (!write_all(r, block, size)) {
		r->info.io_errno = r->write_errno;
		r->info.n_lost_io++; /* a block of samples is one loss */
		r->write_errno = 0;
		if (ftruncate(r->fd, before) == 0)
			lseek(r->fd, before, SEEK_SET);
	}
	free(block);
}

static void write_meta(sonde_recorder *r, const char *key, const char *value)
{
	char text[8192];
	int key_len = snprintf(text, sizeof text, "%s", key) + 1;
	int value_len = snprintf(text + key_len, sizeof text - (size_t)key_len, "%s", value) + 1;

	if (key_len + value_len <= (int)sizeof text)
		write_block(r, BLOCK_META, text, (size_t)(key_len + value_len));
}

static bool write_start(sonde_recorder *r)
{
	stream_start start = { .info = r->info };

	block_seal(&start.header, BLOCK_STREAM, r->stream, sizeof start.info, 0);
	return write_all(r, &start, sizeof start);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* NULL when path may be removed: a recording that is not being written, or an empty file. Otherwise why not. */
static const char *objection(const char *path)
{
	struct stat st;
	uint32_t magic = 0;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const char *why = "exists and is not a recording";

	if (fd < 0)
		return why;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_size == 0 || (read(fd, &magic, sizeof magic) == sizeof magic && magic == FORMAT_MAGIC)))
		why = flock(fd, LOCK_EX | LOCK_NB) == 0 ? NULL : "is being written by another recording";
	close(fd);
	return why;
}

static int create(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static sonde_status create_file(sonde_recorder *r, sonde_error *err)
{
	r->fd = -1;
	sonde_status status = parts_check(r->path, err);
	if (status)
		return status;
	r->fd = create(r->path);
	if (r->fd < 0 && errno == EEXIST) {
		const char *why = objection(r->path);
		if (why)
			return error_set(err, SONDE_E_IO, -1, "%s %s; not overwritten", r->path, why);
		parts_remove_recording(r->path);
		r->fd = create(r->path);
	}
	if (r->fd < 0)
		return error_set(err, SONDE_E_IO, -1, "cannot write %s: %s", r->path, strerror(errno));
	flock(r->fd, LOCK_EX | LOCK_NB);
	parts_remove(r->path);
	return SONDE_OK;
}

static void describe(sonde_recorder *r)
{
	r->info = (stream_block){
		.state = STREAM_OPEN,
		.clock = CLOCK_NS,
		.role = ROLE_OBSERVER,
		.pid = (uint32_t)getpid(),
		.pid_start = proc_start_time(getpid()),
		.start_ns = monotonic_ns(),
		.start_utc_ns = clock_ns(CLOCK_REALTIME),
	};
	gethostname(r->info.host, sizeof r->info.host - 1);
	snprintf(r->info.program, sizeof r->info.program, "sonde record");
	snprintf(r->info.writer, sizeof r->info.writer, "%s", SONDE_VERSION);
	r->stream = (uint64_t)r->info.pid << 32 ^ (uint64_t)r->info.start_ns;
}

/* First of all, where a reader of many files finds it at once. */
static void write_rank(sonde_recorder *r)
{
	int32_t size, rank = launcher_rank(&size);
	char text[64];

	if (rank < 0)
		return;
	int len = snprintf(text, sizeof text, "rank%c%" PRId32 "%cworld_size%c%" PRId32, 0, rank, 0, 0, size) + 1;
	write_block(r, BLOCK_META, text, (size_t)len);
}

static void write_command(sonde_recorder *r, int argc, char *const *argv)
{
	char text[4096];
	size_t n = 0;

	for (int i = 0; i < argc && n < sizeof text; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? " " : "", argv[i]);
	write_meta(r, "command", text);
}

sonde_status sonde_recorder_open(const char *path, int argc, char *const *argv, sonde_recorder **ret_recorder,
				 sonde_error *err)
{
	sonde_recorder *r = calloc(1, sizeof *r);

	if (!r || !(r->path = strdup(path))) {
		free(r);
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	}
	sonde_status status = create_file(r, err);
	if (!status) {
		describe(r);
		if (!write_start(r))
			status = error_set(err, SONDE_E_IO, -1, "cannot write %s: %s", path, strerror(r->write_errno));
	}
	if (status) {
		if (r->fd >= 0)
			unlink(path), close(r->fd);
		free(r->path);
		free(r);
		return status;
	}
	write_rank(r);
	write_command(r, argc, argv);
	*ret_recorder = r;
	return SONDE_OK;
}

/* ---- While it runs ----------------------------------------------------------------------------------------------- */

void sonde_recorder_process(sonde_recorder *r, int32_t pid, int32_t parent_pid, const char *command)
{
	struct {
		process_block block;
		char command[1024];
	} payload = { .block = { pid, parent_pid } };
	int len = snprintf(payload.command, sizeof payload.command, "%s", command);

	len = len < (int)sizeof payload.command ? len : (int)sizeof payload.command - 1;
	write_block(r, BLOCK_PROCESS, &payload, sizeof payload.block + (size_t)len);
}

void sonde_recorder_sample(sonde_recorder *r, const sonde_process_sample *samples, size_t n)
{
	process_sample *copy = n ? calloc(n, sizeof *copy) : NULL;

	if (!copy) {
		r->info.n_lost_io += n != 0;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const sonde_process_sample *s = &samples[i];
		copy[i] = (process_sample){
			.time_ns = s->time_ns,
			.pid = s->pid,
			.n_threads = s->n_threads,
			.user_ns = s->user_ns,
			.system_ns = s->system_ns,
			.rss_bytes = s->rss_bytes,
			.minor_faults = s->minor_faults,
			.major_faults = s->major_faults,
			.read_bytes = s->io_known ? s->read_bytes : UINT64_MAX,
			.write_bytes = s->io_known ? s->write_bytes : UINT64_MAX,
			.peak_rss_bytes = s->peak_rss_bytes,
		};
	}
	write_block(r, BLOCK_SAMPLES, copy, n * sizeof *copy);
	free(copy);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void write_exit(sonde_recorder *r, int status)
{
	char text[128];

	if (WIFSIGNALED(status))
		snprintf(text, sizeof text, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(text, sizeof text, "with exit code %d", WEXITSTATUS(status));
	write_meta(r, "exit", text);
}

/* The header in place: that finds room on a full disk as well. */
static void rewrite_start(sonde_recorder *r, stream_state state)
{
	r->info.state = state;
	if (lseek(r->fd, 0, SEEK_SET) == 0)
		write_start(r);
}

void sonde_recorder_leave_open(sonde_recorder *r)
{
	r->leave_open = true;
}

sonde_status sonde_recorder_close(sonde_recorder *r, int wait_status, uint64_t *ret_n_recovered, sonde_error *err)
{
	parts p;

	write_exit(r, wait_status);
	r->info.end_ns = monotonic_ns();
	bool stays_open = parts_find(&p, r->path) || r->leave_open;
	rewrite_start(r, stays_open ? STREAM_OPEN : STREAM_CLOSED);
	sonde_status status = parts_join(&p, r->path, err);
	if (!p.is_joined && !stays_open)
		rewrite_start(r, STREAM_OPEN);
	if (ret_n_recovered)
		*ret_n_recovered = p.n_recovered;
	parts_done(&p);
	close(r->fd);
	free(r->path);
	free(r);
	return status;
}

void sonde_recorder_abandon(sonde_recorder *r)
{
	if (!r)
		return;
	unlink(r->path);
	close(r->fd);
	free(r->path);
	free(r);
}
