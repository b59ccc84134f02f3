/*
 * What a killed program left in its ring.
 *
 * Every chunk that is not free is encoded as the writer would have done, from its `flushed` word on. A kill between
 * write() and the note of it leaves words in both places; recording_finish() drops what it has already, by thread and
 * word.
 *
 * When the program is certainly gone, the new blocks and a final stream header go to the end of the file, and the ring
 * is removed: the next reader finds a whole file. Where they find no room the ring stays, and the trace says so. Until
 * then nothing is written, so that a running program can be watched.
 *
 * The recording says where its ring is, and the recording may come from a stranger: ring_locate() looks in two places
 * only, and what lies there must be a file of the caller's and know the recording's stream.
 */
#define _GNU_SOURCE
#include "import/recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif
#include "base/clock.h"
#include "base/file.h"
#include "base/format_number.h"
#include "base/proc.h"
#include "format/recording/events.h"
#include "format/recording/ring.h"

typedef struct join {
	recording *trace;
	const recording_file *file; /* the recording */
	uint64_t stream;
	char path[4096]; /* of the ring */
	const ring_header *ring;
	size_t len;
	int fd;
	bool is_mine;		    /* the ring belongs to the caller and may be removed */
	VEC(block_header *) blocks; /* made here, owned by the trace */
	uint8_t *scratch;	    /* a chunk encoded, with its head: at worst it is far larger than in fact */
	bool failed;		    /* out of memory */
} join;

/* ---- The ring ---------------------------------------------------------------------------------------------------- */

static bool open_ring(join *j)
{
	struct stat st;
	uid_t user = geteuid();

	j->fd = open(j->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (j->fd < 0 || fstat(j->fd, &st) != 0 || !S_ISREG(st.st_mode) || (st.st_uid != user && user != 0) ||
	    (size_t)st.st_size < RING_CHUNKS_AT)
		return false;
	j->is_mine = st.st_uid == user;
	void *memory = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, j->fd, 0);
	if (memory == MAP_FAILED)
		return false;
	j->ring = memory;
	j->len = (size_t)st.st_size;
	return j->ring->magic == RING_MAGIC && j->ring->version == FORMAT_VERSION && j->ring->stream == j->stream;
}

static void close_ring(join *j)
{
	if (j->ring)
		munmap((void *)j->ring, j->len);
	if (j->fd >= 0)
		close(j->fd);
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* A block of `length` bytes to fill in, the trace's from now on. */
static block_header *make_block(join *j, size_t length)
{
	block_header *b = malloc(sizeof *b + block_padded(length) + BLOCK_ALIGN);
	block_header **owned = b ? VEC_ADD(&j->trace->owned) : NULL, **place = owned ? VEC_ADD(&j->blocks) : NULL;

	if (!place) {
		j->trace->owned.n -= owned != NULL;
		free(b);
		j->failed = true;
		return NULL;
	}
	return *place = *owned = b;
}

static void join_bytes(join *j, block_kind kind, const void *bytes, size_t length, uint32_t n_events)
{
	block_header *b = length ? make_block(j, length) : NULL;

	if (!b)
		return;
	memcpy(b + 1, bytes, length);
	block_seal(b, kind, j->stream, length, n_events);
	j->failed |= !recording_add_block(j->trace, b, (const uint8_t *)(b + 1));
}

/* While the program runs, its writer may give the chunk to another thread under our eyes; its events are then in the
   file, for the next reader. */
static bool was_recycled(const ring_chunk *chunk, const events_head *head, uint64_t first_word)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&chunk->state, __ATOMIC_RELAXED) == CHUNK_FREE || chunk->thread != head->thread ||
	       chunk->first_word != first_word;
}

static uint32_t join_chunk(join *j, const ring_chunk *chunk)
{
	uint32_t state = __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE);
	uint32_t n_words = __atomic_load_n(&chunk->n_words, __ATOMIC_RELAXED);
	size_t from = __atomic_load_n(&chunk->flushed, __ATOMIC_ACQUIRE);
	size_t limit = state == CHUNK_SEALED ? n_words : CHUNK_WORDS;
	uint64_t first_word = chunk->first_word;

	if (state == CHUNK_FREE || limit > CHUNK_WORDS || from >= limit)
		return 0;
	events_head *head = (events_head *)j->scratch;
	*head = (events_head){
		.thread = chunk->thread,
		.tid = chunk->tid,
		.first_word = first_word + from,
		.base_ticks = chunk->base_ticks,
		.n_lost = chunk->n_lost,
	};
	events_encoded e = events_encode(chunk->words + from, limit - from, head->base_ticks, (uint8_t *)(head + 1));
	head->n_words = e.n_words;
	if (was_recycled(chunk, head, first_word))
		return 0;
	j->trace->diagnostics.n_lost_signal +=
		events_count_stray(chunk->words + from + e.n_words, limit - from - e.n_words, e.last_ticks);
	if (e.n_events)
		join_bytes(j, BLOCK_EVENTS, head, sizeof *head + e.n_bytes, e.n_events);
	return e.n_events;
}

/* The counter runs on after the program's death: one more pair makes the rate exact. */
static bool clock_pair_after(const stream_block *info, clock_pair *ret)
{
#if defined(__x86_64__)
	char host[64] = "";

	gethostname(host, sizeof host - 1);
	if (info->clock != CLOCK_TSC || strcmp(host, info->host) != 0)
		return false;
	uint64_t before = __rdtsc();
	int64_t ns = monotonic_ns();
	uint64_t after = __rdtsc();
	*ret = (clock_pair){ before + (after - before) / 2, ns, after - before };
	return true;
#else
	(void)info, (void)ret;
	return false;
#endif
}

static void join_clock(join *j, const stream_block *info)
{
	clock_pair pairs[3] = { j->ring->first, j->ring->last };
	size_t n = 2;

	if (clock_pair_after(info, &pairs[n]) && pairs[n].ticks > pairs[1].ticks)
		n++;
	recording_stream_of(j->trace, j->stream)->has_joined_pairs = true;
	join_bytes(j, BLOCK_CLOCK, pairs, n * sizeof pairs[0], 0);
}

static uint32_t count_chunks(const join *j)
{
	size_t room = (j->len - RING_CHUNKS_AT) / RING_CHUNK_BYTES;

	return j->ring->n_chunks < room ? j->ring->n_chunks : (uint32_t)room;
}

/* The loss that was being counted: see ring.h. */
static void settle_loss(const join *j, const ring_chunk *chunks, stream_block *info)
{
	ring_loss loss = j->ring->loss;

	if (!loss.chunk || loss.chunk > count_chunks(j))
		return;
	uint64_t value = chunks[loss.chunk - 1].flushed == loss.flushed ? loss.before : loss.after;
	if (loss.counter == offsetof(stream_block, n_lost_io))
		info->n_lost_io = value;
	else if (loss.counter == offsetof(stream_block, n_lost_overwritten))
		info->n_lost_overwritten = value;
}

static void read_ring(join *j)
{
	const char *base = (const char *)j->ring;
	recording_stream *s = recording_stream_of(j->trace, j->stream);
	stream_block info = j->ring->info;

	const ring_chunk *chunks = (const ring_chunk *)(base + RING_CHUNKS_AT);
	if (!s->live)
		settle_loss(j, chunks, &info);
	recording_sanitize_info(&info);
	join_clock(j, &info);
	j->scratch = malloc(sizeof(events_head) + CHUNK_WORDS * EVENT_BYTES_PER_WORD + VARINT_MAX);
	j->failed |= !j->scratch;
	for (uint32_t i = 0, n = count_chunks(j); i < n && !j->failed; i++)
		s->n_joined += join_chunk(j, &chunks[i]);
	/* After the events: a program that runs makes a name known before its first event. */
	uint32_t names_bytes = __atomic_load_n(&j->ring->names_bytes, __ATOMIC_ACQUIRE);
	if (names_bytes <= RING_NAMES_BYTES)
		join_bytes(j, BLOCK_NAMES, base + RING_HEADER_BYTES, names_bytes, 0);
	info.state = s->info.state;
	memcpy(info.ring_path, s->info.ring_path, sizeof info.ring_path);
	s->info = info;
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

/* The joined blocks and a last header, from position start on. */
static bool write_blocks(const join *j, int fd, off_t start, const stream_block *info)
{
	stream_start end = { .info = *info };
	bool ok = ftruncate(fd, (off_t)j->file->cut) == 0 && ftruncate(fd, start) == 0 &&
		  lseek(fd, start, SEEK_SET) == start;

	for (size_t i = 0; ok && i < j->blocks.n; i++) {
		const block_header *b = j->blocks.items[i];
		ok = file_write_all(fd, b, sizeof *b + block_padded(b->length));
	}
	end.info.state = STREAM_RECOVERED;
	end.info.n_events = 0; /* nobody counted */
	end.info.ring_path[0] = 0;
	block_seal(&end.header, BLOCK_STREAM, j->stream, sizeof end.info, 0);
	return ok && file_write_all(fd, &end, sizeof end);
}

/* Beyond the limit of a file's size a write fails, and does not end the program that reads. */
static bool write_blocks_unkilled(const join *j, int fd, off_t start, const stream_block *info)
{
	const struct timespec now = { 0, 0 };
	sigset_t limit, before, pending;

	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &limit, &before);
	bool ok = write_blocks(j, fd, start, info);
	int error = errno;
	if (!sigismember(&pending, SIGXFSZ))
		sigtimedwait(&limit, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return ok;
}

/* Puts the joined blocks behind the last whole block of the file; what a block cut off there held, they hold. Returns 0
   or an errno; EWOULDBLOCK: another reader was faster. */
static int append(const join *j, const stream_block *info)
{
	int fd = open(j->file->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC), error = 0;

	if (fd < 0)
		return errno;
	off_t start = (off_t)block_padded(j->file->cut);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		error = errno;
	else if (lseek(fd, 0, SEEK_END) != (off_t)j->file->len)
		error = EWOULDBLOCK;
	else if (!write_blocks_unkilled(j, fd, start, info)) {
		error = errno;
		if (ftruncate(fd, start) != 0)
			error = errno;
	}
	close(fd);
	return error;
}

/* ---- What could not be saved ------------------------------------------------------------------------------------- */

void recording_add_unsaved(const recording *t, recording_unsaved *u)
{
	for (size_t i = 0; i < t->streams.n; i++) {
		const recording_stream *s = &t->streams.items[i];
		if (!s->unsaved_errno || !s->n_joined)
			continue;
		if (!u->n_events) {
			u->error = s->unsaved_errno;
			memcpy(u->ring_path, s->info.ring_path, sizeof u->ring_path);
		}
		u->n_events += s->n_joined;
		u->n_rings++;
	}
}

void recording_unsaved_text(const recording_unsaved *u, const char *path, char *out, size_t size)
{
	char number[NUMBER_TEXT], more[64] = "";
	bool is_memory = strncmp(u->ring_path, "/dev/shm/", 9) == 0;

	if (u->n_rings > 1)
		snprintf(more, sizeof more, " and %zu more", u->n_rings - 1);
	snprintf(out, size,
		 "%s: %s recovered event%s could not be saved into the file: %s; they stay in the ring %s%s%s; the "
		 "next command that reads the file saves them",
		 path, format_count(number, u->n_events), u->n_events == 1 ? "" : "s", strerror(u->error), u->ring_path,
		 more, is_memory ? " until the machine restarts" : "");
}

bool recording_join(recording *t, uint64_t stream)
{
	recording_stream *s = recording_stream_of(t, stream);
	join j = { .trace = t, .file = &t->files.items[s->file], .stream = stream, .fd = -1 };
	bool gone = proc_is_gone((int32_t)s->info.pid, s->info.pid_start);

	s->live = !gone;
	t->scanned_file = RECORDING_RING;
	if (ring_locate(s->info.ring_path, j.file->path, j.path, sizeof j.path) && open_ring(&j)) {
		read_ring(&j);
		bool is_file = j.file->path && j.file->bytes_are == BYTES_MAPPED;
		if (gone && !j.failed && j.is_mine && is_file) {
			int error = append(&j, &s->info);
			if (!error) {
				unlink(j.path);
				s->info.state = STREAM_RECOVERED;
			}
			s->unsaved_errno = error == EWOULDBLOCK ? 0 : error;
		}
	} else {
		s->ring_missing = 1;
	}
	close_ring(&j);
	free(j.scratch);
	VEC_DONE(&j.blocks);
	return !j.failed;
}
