/*
 * What a killed program left in its ring.
 *
 * Every chunk that is not free is encoded as the writer would have done, from its `flushed` word on. A kill between
 * write() and the note of it leaves words in both places; trace_finish() drops what it has already, by thread and word.
 *
 * When the program is certainly gone, the new blocks and a final stream header go to the end of the file, and the ring
 * is removed: the next reader finds a whole file. Until then nothing is written, so that a running program can be
 * watched.
 */
#define _GNU_SOURCE
#include "store/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif
#include "base/clock.h"
#include "base/proc.h"
#include "format/events.h"
#include "format/ring.h"

typedef struct join {
	sonde_trace *trace;
	const ring_header *ring;
	size_t len;
	uint64_t stream;
	VEC(block_header *) blocks; /* made here, owned by the trace */
} join;

static const ring_header *map_ring(const char *path, size_t *ret_len, int *ret_fd)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size < RING_HEADER_BYTES + RING_NAMES_BYTES) {
		close(fd);
		return NULL;
	}
	void *memory = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		close(fd);
		return NULL;
	}
	*ret_len = (size_t)st.st_size;
	*ret_fd = fd;
	return memory;
}

/* A block of `length` bytes to fill in; sealed and added to the trace by keep(). */
static block_header *make_block(join *j, size_t length)
{
	block_header *b = malloc(sizeof *b + block_padded(length) + BLOCK_ALIGN);
	block_header **place = b ? VEC_ADD(&j->blocks) : NULL;

	if (!place) {
		free(b);
		return NULL;
	}
	*place = b;
	return b;
}

static void keep(join *j, block_header *b, block_kind kind, size_t length, uint32_t n_events)
{
	block_seal(b, kind, j->stream, length, n_events);
	trace_add_block(j->trace, b, (const uint8_t *)(b + 1));
}

static void join_bytes(join *j, block_kind kind, const void *bytes, size_t length)
{
	block_header *b = length ? make_block(j, length) : NULL;

	if (!b)
		return;
	memcpy(b + 1, bytes, length);
	keep(j, b, kind, length, 0);
}

/* Words that follow the first empty one: a kill inside a signal handler that had interrupted an event. */
static uint64_t stray_words(const ring_chunk *chunk, size_t from, size_t limit)
{
	uint64_t n = 0;

	for (size_t i = from; i < limit; i++)
		n += chunk->words[i] != 0;
	return n;
}

static uint32_t join_chunk(join *j, const ring_chunk *chunk)
{
	size_t limit = chunk->state == CHUNK_SEALED ? chunk->n_words : CHUNK_WORDS;
	size_t from = chunk->flushed;

	if (limit > CHUNK_WORDS || from >= limit)
		return 0;
	block_header *b = make_block(j, sizeof(events_head) + (limit - from) * EVENT_BYTES_PER_WORD + VARINT_MAX);
	if (!b)
		return 0;
	events_head *head = (events_head *)(b + 1);
	events_encoded e = events_encode(chunk->words + from, limit - from, chunk->base_ticks, (uint8_t *)(head + 1));
	*head = (events_head){
		.thread = chunk->thread,
		.tid = chunk->tid,
		.first_word = chunk->first_word + from,
		.base_ticks = chunk->base_ticks,
		.n_lost = chunk->n_lost,
		.n_words = e.n_words,
	};
	if (!e.n_events) {
		free(b);
		j->blocks.n--;
		return 0;
	}
	j->trace->diagnostics.n_lost_signal += stray_words(chunk, from + e.n_words, limit);
	keep(j, b, BLOCK_EVENTS, sizeof *head + e.n_bytes, e.n_events);
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
	join_bytes(j, BLOCK_CLOCK, pairs, n * sizeof pairs[0]);
}

static uint32_t count_chunks(const join *j)
{
	size_t room = (j->len - RING_HEADER_BYTES - RING_NAMES_BYTES) / RING_CHUNK_BYTES;

	return j->ring->n_chunks < room ? j->ring->n_chunks : (uint32_t)room;
}

static void read_ring(join *j)
{
	const char *base = (const char *)j->ring;
	trace_stream *s = trace_stream_of(j->trace, j->stream);
	stream_block info = j->ring->info;
	uint32_t names_bytes = j->ring->names_bytes;

	if (names_bytes <= RING_NAMES_BYTES)
		join_bytes(j, BLOCK_NAMES, base + RING_HEADER_BYTES, names_bytes);
	join_clock(j, &info);
	const ring_chunk *chunks = (const ring_chunk *)(base + RING_HEADER_BYTES + RING_NAMES_BYTES);
	for (uint32_t i = 0; i < count_chunks(j); i++)
		if (__atomic_load_n(&chunks[i].state, __ATOMIC_ACQUIRE) != CHUNK_FREE)
			s->n_joined += join_chunk(j, &chunks[i]);
	info.state = s->info.state;
	memcpy(info.ring_path, s->info.ring_path, sizeof info.ring_path);
	s->info = info;
}

static bool write_all(int fd, const void *bytes, size_t len)
{
	for (const char *at = bytes; len;) {
		ssize_t n = write(fd, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* Appends the joined blocks to the file. False, with the file as it was, when that is not possible. */
static bool append(const join *j, const char *path, stream_block info)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	struct {
		block_header header;
		stream_block info;
	} end = { .info = info };

	if (fd < 0)
		return false;
	off_t size = lseek(fd, 0, SEEK_END), aligned = (off_t)block_padded((size_t)size);
	bool ok = size >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && ftruncate(fd, aligned) == 0 &&
		  lseek(fd, aligned, SEEK_SET) >= 0;
	for (size_t i = 0; ok && i < j->blocks.n; i++) {
		const block_header *b = j->blocks.items[i];
		ok = write_all(fd, b, sizeof *b + block_padded(b->length));
	}
	end.info.state = STREAM_RECOVERED;
	end.info.n_events = 0; /* nobody counted */
	end.info.ring_path[0] = 0;
	block_seal(&end.header, BLOCK_STREAM, j->stream, sizeof end.info, 0);
	ok = ok && write_all(fd, &end, sizeof end);
	if (!ok && size >= 0 && ftruncate(fd, size) != 0)
		ok = false;
	close(fd);
	return ok;
}

void trace_join(sonde_trace *t, uint64_t stream, const char *path)
{
	join j = { .trace = t, .stream = stream };
	trace_stream *s = trace_stream_of(t, stream);
	bool gone = proc_is_gone((int32_t)s->info.pid, s->info.pid_start);
	int fd = -1;

	s->live = !gone;
	j.ring = s->info.ring_path[0] ? map_ring(s->info.ring_path, &j.len, &fd) : NULL;
	if (!j.ring || j.ring->magic != RING_MAGIC || j.ring->version != FORMAT_VERSION || j.ring->stream != stream) {
		s->ring_missing = 1;
	} else {
		read_ring(&j);
		s = trace_stream_of(t, stream);
		if (gone && path && append(&j, path, s->info)) {
			unlink(s->info.ring_path);
			s->info.state = STREAM_RECOVERED;
		}
	}
	for (size_t i = 0; i < j.blocks.n; i++) {
		void **place = VEC_ADD(&t->owned);
		if (place)
			*place = j.blocks.items[i]; /* out of memory here leaks: the trace points into it */
	}
	VEC_DONE(&j.blocks);
	if (j.ring)
		munmap((void *)j.ring, j.len);
	if (fd >= 0)
		close(fd);
}
