/*
 * See input.h. A window is filled by one function, fill(), called from input_next() or, with more than one thread, by a
 * thread that runs ahead until no window is free. Windows that are ready wait in a queue in the order of the text.
 *
 * What fill() finds out about the end, damage or an error is written before the window that it belongs to is queued,
 * and looked at by the caller only after it took that window.
 */
#define _GNU_SOURCE
#include "import/input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/big.h"
#include "import/input/source.h"

enum {
	AHEAD = 2, /* windows beyond those that the caller may hold */
	N_WINDOWS = INPUT_WINDOWS + AHEAD,
	PIPE_BYTES = 1 << 20,
};

struct input {
	input_source source;
	const input_decoder *codec; /* NULL: plain */
	void *decoder;
	bool closes_fd;

	/* of fill() */
	uint64_t n_text; /* bytes delivered */
	bool is_last;
	char damage[160];
	uint64_t damage_at;
	sonde_error error; /* status not 0: what input_next() returns when the windows before it are taken */

	/* of the caller */
	input_window first; /* input_peek() took it already */
	bool has_first, took_last;

	/* windows, under the lock: they may be released from any thread */
	pthread_mutex_t lock;
	pthread_cond_t ready_or_done, freed;
	pthread_t thread;
	bool has_thread, stopping, done; /* done: the thread queued its last window */
	uint8_t *made[N_WINDOWS];	 /* all there are */
	uint8_t *spare[N_WINDOWS];	 /* nobody has them; the warm ones last */
	unsigned n_spare, n_made, n_held;
	input_window ready[N_WINDOWS];
	unsigned first_ready, n_ready;
};

/* ---- The file ---------------------------------------------------------------------------------------------------- */

/* A pipe may stay silent for ever: waits for it or, in the thread, for input_close(). False: stop. */
static bool wait_for(const input_source *s)
{
	struct pollfd fds[] = { { .fd = s->fd, .events = POLLIN }, { .fd = s->wake_fd, .events = POLLIN } };

	if (!s->may_wait)
		return true;
	while (poll(fds, 2, -1) < 0) /* a wake_fd of -1 is skipped */
		if (errno != EINTR)
			return true; /* read() will tell */
	return fds[1].revents == 0;
}

static size_t read_some(input_source *s, uint8_t *to, size_t room)
{
	ssize_t n;

	if (s->fd < 0) {
		n = (ssize_t)(s->memory_left < room ? s->memory_left : room);
		if (n)
			memcpy(to, s->memory, (size_t)n);
		s->memory += n;
		s->memory_left -= (size_t)n;
		return (size_t)n;
	}
	do {
		if (!wait_for(s))
			return 0;
		n = read(s->fd, to, room);
	} while (n < 0 && (errno == EINTR || (errno == EAGAIN && s->may_wait)));
	if (n < 0)
		s->read_errno = errno;
	return n < 0 ? 0 : (size_t)n;
}

/* Fills `room` bytes as far as there are any, past the buffer. Returns how many; fewer: the source ended. */
static size_t read_past(input_source *s, uint8_t *to, size_t room)
{
	size_t n = 0;

	while (n < room && !s->ended) {
		size_t some = read_some(s, to + n, room - n);
		n += some;
		s->ended = some == 0;
		atomic_fetch_add_explicit(&s->n_read, some, memory_order_relaxed);
	}
	return n;
}

bool source_more(input_source *s)
{
	if (s->ended)
		return false;
	memmove(s->buffer, s->at, s->n);
	s->at = s->buffer;
	size_t some = read_some(s, s->buffer + s->n, SOURCE_BUFFER - s->n);
	s->n += some;
	s->ended = some == 0;
	atomic_fetch_add_explicit(&s->n_read, some, memory_order_relaxed);
	return some != 0;
}

static size_t read_plain(input_source *s, uint8_t *to, size_t room)
{
	size_t n = s->n < room ? s->n : room; /* what was read to see what it is */

	memcpy(to, s->at, n);
	s->at += n;
	s->n -= n;
	return n + read_past(s, to + n, room - n);
}

/* ---- Windows ----------------------------------------------------------------------------------------------------- */

static bool expands_too_far(const input *in)
{
	return in->codec && in->n_text > INPUT_RATIO_FREE &&
	       in->n_text / INPUT_MAX_RATIO > source_position(&in->source);
}

static void set_damage(input *in, const char *what)
{
	snprintf(in->damage, sizeof in->damage, "%s", what);
	in->damage_at = source_position(&in->source);
}

/* A file that cannot be read to its end keeps what could be read. */
static void set_read_error(input *in)
{
	char text[sizeof in->damage];

	snprintf(text, sizeof text, "cannot be read: %s", strerror(in->source.read_errno));
	set_damage(in, text);
	if (in->n_text == 0)
		error_set(&in->error, SONDE_E_IO, -1, "%s", strerror(in->source.read_errno));
}

/* Fills a window with the next text. False: there is an error instead. */
static bool fill(input *in, uint8_t *bytes, input_window *ret_window)
{
	const char *damage = NULL;
	input_source *s = &in->source;

	if (expands_too_far(in)) {
		error_set(&in->error, SONDE_E_FORMAT, (int64_t)source_position(s),
			  "the %s data expands more than %d-fold, the limit", in->codec->name, INPUT_MAX_RATIO);
		return false;
	}
	size_t n = in->codec ? in->codec->read(in->decoder, s, bytes, INPUT_WINDOW, &damage)
			     : read_plain(s, bytes, INPUT_WINDOW);
	memset(bytes + n, 0, INPUT_SLACK);
	*ret_window = (input_window){ .bytes = bytes, .len = n, .offset = in->n_text };
	in->n_text += n;
	in->is_last = n < INPUT_WINDOW;
	if (s->read_errno)
		set_read_error(in);
	else if (damage)
		set_damage(in, damage);
	if (in->damage[0] && !in->error.status && in->n_text == 0)
		error_set(&in->error, SONDE_E_FORMAT, (int64_t)in->damage_at, "%s", in->damage);
	ret_window->last = in->is_last = in->is_last || in->damage[0];
	return !in->error.status;
}

static uint8_t *take_spare(input *in)
{
	if (in->n_spare)
		return in->spare[--in->n_spare];
	if (in->n_made == N_WINDOWS)
		return NULL;
	uint8_t *bytes = big_alloc(INPUT_WINDOW + INPUT_SLACK, 1);
	if (bytes)
		in->made[in->n_made++] = bytes;
	return bytes;
}

static void *run_ahead(void *argument)
{
	input *in = argument;
	bool more = true;

	while (more) {
		input_window w;
		pthread_mutex_lock(&in->lock);
		while (!in->stopping && in->n_spare == 0 && in->n_made == N_WINDOWS)
			pthread_cond_wait(&in->freed, &in->lock);
		uint8_t *bytes = in->stopping ? NULL : take_spare(in);
		bool is_short = !bytes && !in->stopping;
		pthread_mutex_unlock(&in->lock);

		bool ok = bytes && fill(in, bytes, &w);
		pthread_mutex_lock(&in->lock);
		if (is_short)
			error_set(&in->error, SONDE_E_MEMORY, -1, "out of memory");
		if (ok)
			in->ready[(in->first_ready + in->n_ready++) % N_WINDOWS] = w;
		more = ok && !w.last && !in->stopping;
		in->done = !more;
		pthread_cond_signal(&in->ready_or_done);
		pthread_mutex_unlock(&in->lock);
	}
	return NULL;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static sonde_status find_codec(input *in, sonde_error *err)
{
	static const input_decoder *const codecs[] = { &gzip_decoder, &zstd_decoder };
	input_source *s = &in->source;

	while (s->n < 4 && source_more(s))
		;
	for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++)
		if (codecs[i]->is_it(s->at, s->n))
			in->codec = codecs[i];
	if (!in->codec)
		return SONDE_OK;
	in->decoder = in->codec->open();
	return in->decoder ? SONDE_OK : error_set(err, SONDE_E_MEMORY, -1, "out of memory");
}

static input *new_input(int fd)
{
	input *in = calloc(1, sizeof *in);
	uint8_t *buffer = malloc(SOURCE_BUFFER);

	if (!in || !buffer) {
		free(in);
		free(buffer);
		return NULL;
	}
	in->source = (input_source){ .fd = fd, .wake_fd = -1, .buffer = buffer, .at = buffer };
	pthread_mutex_init(&in->lock, NULL);
	pthread_cond_init(&in->ready_or_done, NULL);
	pthread_cond_init(&in->freed, NULL);
	return in;
}

static sonde_status prepare_file(input *in, sonde_error *err)
{
	input_source *s = &in->source;
	struct stat st;

	if (fstat(s->fd, &st) != 0)
		return error_set(err, SONDE_E_IO, -1, "%s", strerror(errno));
	if (S_ISDIR(st.st_mode))
		return error_set(err, SONDE_E_IO, -1, "is a directory");
	s->may_wait = !S_ISREG(st.st_mode);
	if (S_ISREG(st.st_mode)) {
		off_t at = lseek(s->fd, 0, SEEK_CUR); /* standard input need not stand at its start */
		s->total = at >= 0 && at < st.st_size ? (uint64_t)(st.st_size - at) : 0;
		posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	} else if (S_ISFIFO(st.st_mode)) {
		fcntl(s->fd, F_SETPIPE_SZ, PIPE_BYTES); /* fewer, longer reads; refused is as good */
	}
	return SONDE_OK;
}

/* Without the thread it goes as well, only later. It must not take the signals that are meant for the program. */
static void start_thread(input *in)
{
	sigset_t all, before;

	if (in->source.may_wait) {
		in->source.wake_fd = eventfd(0, EFD_CLOEXEC);
		if (in->source.wake_fd < 0)
			return;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	in->has_thread = pthread_create(&in->thread, NULL, run_ahead, in) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

sonde_status input_open(const char *path, unsigned n_threads, input **ret_input, sonde_error *err)
{
	bool standard_input = strcmp(path, "-") == 0;
	const char *name = standard_input ? "standard input" : path;
	int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0) {
		error_set(err, SONDE_E_IO, -1, "%s", strerror(errno));
		return error_prefix(err, SONDE_E_IO, name);
	}
	input *in = new_input(fd);
	if (!in) {
		if (!standard_input)
			close(fd);
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	}
	in->closes_fd = !standard_input;
	sonde_status status = prepare_file(in, err);
	if (!status)
		status = find_codec(in, err);
	if (status) {
		input_close(in);
		return error_prefix(err, status, name);
	}
	/* Plain bytes of a file are at hand: who takes a window reads it himself and has it in his cache. */
	if (n_threads > 1 && (in->codec || in->source.may_wait))
		start_thread(in);
	*ret_input = in;
	return SONDE_OK;
}

sonde_status input_open_memory(const void *bytes, size_t len, input **ret_input)
{
	input *in = new_input(-1);

	if (!in)
		return SONDE_E_MEMORY;
	in->source.memory = bytes;
	in->source.memory_left = len;
	in->source.total = len;
	sonde_status status = find_codec(in, NULL);
	if (status)
		input_close(in);
	else
		*ret_input = in;
	return status;
}

static void stop_thread(input *in)
{
	uint64_t one = 1;

	pthread_mutex_lock(&in->lock);
	in->stopping = true;
	pthread_cond_signal(&in->freed);
	pthread_mutex_unlock(&in->lock);
	while (in->source.wake_fd >= 0 && write(in->source.wake_fd, &one, sizeof one) < 0 && errno == EINTR)
		;
	pthread_join(in->thread, NULL);
}

void input_close(input *in)
{
	if (!in)
		return;
	if (in->has_thread)
		stop_thread(in);
	while (in->n_made)
		free(in->made[--in->n_made]);
	if (in->decoder)
		in->codec->close(in->decoder);
	if (in->source.wake_fd >= 0)
		close(in->source.wake_fd);
	if (in->closes_fd)
		close(in->source.fd);
	pthread_mutex_destroy(&in->lock);
	pthread_cond_destroy(&in->ready_or_done);
	pthread_cond_destroy(&in->freed);
	free(in->source.buffer);
	free(in);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static bool take_ready(input *in, input_window *ret_window)
{
	pthread_mutex_lock(&in->lock);
	while (in->n_ready == 0 && !in->done)
		pthread_cond_wait(&in->ready_or_done, &in->lock);
	bool is_there = in->n_ready != 0;
	if (is_there) {
		*ret_window = in->ready[in->first_ready];
		in->first_ready = (in->first_ready + 1) % N_WINDOWS;
		in->n_ready--;
	}
	pthread_mutex_unlock(&in->lock);
	return is_there;
}

static bool fill_now(input *in, input_window *ret_window)
{
	pthread_mutex_lock(&in->lock);
	uint8_t *bytes = in->error.status ? NULL : take_spare(in);
	pthread_mutex_unlock(&in->lock);

	if (!bytes && !in->error.status)
		error_set(&in->error, SONDE_E_MEMORY, -1, "out of memory");
	return bytes && fill(in, bytes, ret_window);
}

/* One more is held by the caller. */
static bool hold_one(input *in)
{
	pthread_mutex_lock(&in->lock);
	bool has_room = in->n_held < INPUT_WINDOWS;
	in->n_held += has_room;
	pthread_mutex_unlock(&in->lock);
	return has_room;
}

sonde_status input_next(input *in, input_window *ret_window, sonde_error *err)
{
	if (in->has_first) {
		*ret_window = in->first;
		in->has_first = false;
		return SONDE_OK;
	}
	if (in->took_last)
		return error_set(err, SONDE_E_STATE, -1, "the input has ended");
	if (!hold_one(in))
		return error_set(err, SONDE_E_STATE, -1, "all %d windows are held", INPUT_WINDOWS);
	bool is_there = in->has_thread ? take_ready(in, ret_window) : fill_now(in, ret_window);
	if (!is_there)
		return error_set(err, in->error.status, in->error.position, "%s", in->error.message);
	in->took_last = ret_window->last;
	return SONDE_OK;
}

void input_release(input *in, input_window *window)
{
	if (!window->bytes)
		return;
	pthread_mutex_lock(&in->lock);
	in->spare[in->n_spare++] = window->bytes;
	in->n_held--;
	pthread_cond_signal(&in->freed);
	pthread_mutex_unlock(&in->lock);
	*window = (input_window){ 0 };
}

sonde_status input_peek(input *in, const uint8_t **ret_bytes, size_t *ret_len, sonde_error *err)
{
	if (!in->has_first) {
		input_window w;
		sonde_status status = input_next(in, &w, err);
		if (status)
			return status;
		in->first = w;
		in->has_first = true;
	}
	*ret_bytes = in->first.bytes;
	*ret_len = in->first.len < INPUT_PEEK ? in->first.len : INPUT_PEEK;
	return SONDE_OK;
}

const char *input_damage(const input *in, uint64_t *ret_offset)
{
	if (!in->took_last || !in->damage[0])
		return NULL;
	*ret_offset = in->damage_at;
	return in->damage;
}

void input_position(const input *in, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_done = atomic_load_explicit(&in->source.n_read, memory_order_relaxed);
	*ret_total = in->source.total;
}

uint64_t input_text_bytes(const input *in)
{
	return in->took_last ? in->n_text : 0;
}

const char *input_compression(const input *in)
{
	return in->codec ? in->codec->name : NULL;
}
