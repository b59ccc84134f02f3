/*
 * The writer thread: takes sealed chunks, encodes them, writes them, gives them back.
 *
 *   drain()         sealed chunks, in batches; a chunk is given back only after write() returned. One with an event
 *                   that a signal handler interrupted, and whose handler filled the chunk, is held until the event is
 *                   there
 *   flush_active()  what threads wrote into chunks that are not full yet, so that a quiet thread's events are in the
 *                   file within FLUSH_EVERY_NS, and the 46-bit ticks of an idle one never become ambiguous
 *   a clock pair every CLOCK_EVERY_NS
 *
 * It blocks every signal: those of a failing write (SIGXFSZ, SIGPIPE) end with it, and the program's handlers never run
 * on our thread.
 */
#define _GNU_SOURCE
#include "record/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/error.h"
#include "base/sanitizer.h"

enum {
	BATCH_CHUNKS = 8,
	HELD_CHUNKS = 64,
	CHUNK_BYTES_MAX = sizeof(block_header) + sizeof(events_head) + CHUNK_WORDS * EVENT_BYTES_PER_WORD + 64,
	BATCH_BYTES = 512 << 10,
	STACK_BYTES = 256 << 10,
	FLUSH_EVERY_NS = 250000000,
	CLOCK_EVERY_NS = 1000000000,
	THREADS_NAMED = 1 << 16,
	MAX_PASSES = 1000,
};

static struct {
	uint8_t *buffer; /* BATCH_BYTES and one more chunk */
	size_t n_bytes;
	uint64_t n_events;
	ring_chunk *sealed[BATCH_CHUNKS]; /* released when the batch is written */
	uint64_t sealed_events[BATCH_CHUNKS];
	size_t n_sealed;
	ring_chunk *held[HELD_CHUNKS]; /* oldest first */
	size_t n_held;
	bool discards; /* sealed chunks are not written: a flight recorder's */
	size_t names_written;
	int64_t flushed_ns, clock_ns;
	uint8_t named[THREADS_NAMED / 8]; /* by number of thread: its name is in the file */
} w;

/* ---- Batches ----------------------------------------------------------------------------------------------------- */

static void write_names(void)
{
	size_t end = names_bytes();

	if (w.names_written < end && output_block(BLOCK_NAMES, names_at(w.names_written), end - w.names_written))
		w.names_written = end;
}

/* False when it could not be written; those of its events that are in sealed chunks are counted as lost. */
static bool write_batch(void)
{
	bool ok = true;

	if (w.n_bytes) {
		write_names(); /* after encoding: every name that the batch uses was published before its event */
		ok = output_write(w.buffer, w.n_bytes, w.n_events);
	}
	for (size_t i = 0; i < w.n_sealed; i++) {
		if (!ok)
			ring_lose(w.sealed[i], &rt.ring->info.n_lost_io, w.sealed_events[i]);
		ring_release(w.sealed[i]);
	}
	if (!ok)
		output_note_losses();
	w.n_bytes = w.n_events = w.n_sealed = 0;
	return ok;
}

/* Adds what the chunk holds from its flushed word on to the batch. Returns the number of words. */
static uint32_t add_chunk(ring_chunk *chunk, size_t limit, uint64_t *ret_ticks)
{
	block_header *block = (block_header *)(w.buffer + w.n_bytes);
	events_head *head = (events_head *)(block + 1);
	size_t from = chunk->flushed;

	events_encoded e = events_encode(chunk->words + from, limit - from, chunk->base_ticks, (uint8_t *)(head + 1));
	*ret_ticks = e.last_ticks;
	if (!e.n_events)
		return 0;
	*head = (events_head){
		.thread = chunk->thread,
		.tid = chunk->tid,
		.first_word = chunk->first_word + from,
		.base_ticks = chunk->base_ticks,
		.n_lost = chunk->n_lost,
		.n_words = e.n_words,
	};
	w.n_bytes += block_seal(block, BLOCK_EVENTS, rt.stream, sizeof *head + e.n_bytes, e.n_events);
	w.n_events += e.n_events;
	return e.n_words;
}

/* The whole events of a chunk from its flushed word on. */
typedef struct whole_events {
	size_t end; /* at `limit`, or at one that is not written yet */
	uint64_t n, last_ticks;
} whole_events;

static whole_events find_whole(const ring_chunk *chunk, size_t limit)
{
	whole_events e = { .end = chunk->flushed, .last_ticks = chunk->base_ticks };

	for (; e.end < limit; e.n++) {
		/* As in events_encode. */
		uint64_t word = __atomic_load_n(&chunk->words[e.end], __ATOMIC_ACQUIRE);
		if (!word)
			break;
		e.last_ticks = event_ticks(word, e.last_ticks);
		e.end += word & EVENT_PAYLOAD ? 2 + chunk->words[e.end + 1] : 1;
	}
	return e;
}

static bool thread_is_gone(const ring_chunk *chunk)
{
	return syscall(SYS_tgkill, getpid(), chunk->tid, 0) != 0 && errno == ESRCH;
}

static void take_sealed(ring_chunk *chunk, bool patient);

static void hold(ring_chunk *chunk)
{
	if (w.n_held == HELD_CHUNKS) {
		ring_chunk *oldest = w.held[0];
		memmove(w.held, w.held + 1, --w.n_held * sizeof w.held[0]);
		ring_bind(-1);
		take_sealed(oldest, false);
	}
	w.held[w.n_held++] = chunk;
	ring_bind(1);
}

/* Behind the whole events of a chunk that nobody will finish. */
static void lose_strays(const ring_chunk *chunk, size_t from, uint64_t ticks)
{
	count_lost(&rt.ring->info.n_lost_signal, events_count_stray(chunk->words + from, chunk->n_words - from, ticks));
}

/* The chunk is given back with the batch or, if its thread may still finish an event in it, held. */
static void add_sealed(ring_chunk *chunk, bool patient)
{
	size_t n_bytes = w.n_bytes;
	uint64_t n_events = w.n_events, ticks;
	size_t end = chunk->flushed + add_chunk(chunk, chunk->n_words, &ticks);

	if (end < chunk->n_words && patient && !thread_is_gone(chunk)) {
		w.n_bytes = n_bytes;
		w.n_events = n_events;
		hold(chunk);
		return;
	}
	lose_strays(chunk, end, ticks);
	w.sealed_events[w.n_sealed] = w.n_events - n_events;
	w.sealed[w.n_sealed++] = chunk;
	if (w.n_sealed == BATCH_CHUNKS || w.n_bytes > BATCH_BYTES)
		write_batch();
}

/* The same for one that is not to be kept. */
static void discard_sealed(ring_chunk *chunk, bool patient)
{
	whole_events e = find_whole(chunk, chunk->n_words);

	if (e.end < chunk->n_words && patient && !thread_is_gone(chunk)) {
		hold(chunk);
		return;
	}
	lose_strays(chunk, e.end, e.last_ticks);
	ring_lose(chunk, &rt.ring->info.n_lost_overwritten, e.n);
	ring_release(chunk);
}

static void take_sealed(ring_chunk *chunk, bool patient)
{
	(w.discards ? discard_sealed : add_sealed)(chunk, patient);
}

/* Those that were held: once more. */
static void take_held(bool patient)
{
	ring_chunk *held[HELD_CHUNKS];
	size_t n = w.n_held;

	if (!n)
		return;
	memcpy(held, w.held, sizeof held);
	w.n_held = 0;
	ring_bind(-(int)n);
	for (size_t i = 0; i < n; i++)
		take_sealed(held[i], patient);
}

/* Flight recorder: nothing is written until the end, the oldest chunk makes room. */
static bool is_wanted(void)
{
	return !w.discards || ring_is_short();
}

static bool drain(bool finishing)
{
	bool any = false;

	w.discards = rt.options.full == FULL_OVERWRITE && !finishing;
	take_held(true);
	for (ring_chunk *chunk; is_wanted() && (chunk = ring_next_sealed()) != NULL; any = true)
		take_sealed(chunk, true);
	write_batch();
	return any;
}

/* ---- Now and then ------------------------------------------------------------------------------------------------ */

/* The kernel's name of a thread, once, for threads that live long enough to be seen. */
static void write_thread_name(const ring_chunk *chunk)
{
	uint32_t n = chunk->thread;
	char path[64], name[16], text[64];

	if (n >= THREADS_NAMED || w.named[n / 8] & 1 << n % 8)
		return;
	w.named[n / 8] |= (uint8_t)(1 << n % 8);
	snprintf(path, sizeof path, "/proc/self/task/%u/comm", chunk->tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t len = read(fd, name, sizeof name);
	close(fd);
	if (len < 2)
		return;
	int at = snprintf(text, sizeof text, "thread.%u", n) + 1;
	at += snprintf(text + at, sizeof text - (size_t)at, "%.*s", (int)len - 1, name) + 1;
	output_block(BLOCK_META, text, (size_t)at);
}

/* A thread that ended without telling (its last events came after our destructor) leaves its chunk to us. */
static void adopt(ring_chunk *chunk)
{
	whole_events e = find_whole(chunk, CHUNK_WORDS);

	for (size_t i = 0; i < CHUNK_WORDS; i++) /* no lock was taken between the thread's stores and what follows */
		sanitizer_acquire(&chunk->words[i]);
	chunk->n_words = CHUNK_WORDS;
	lose_strays(chunk, e.end, e.last_ticks);
	ring_release(chunk);
}

/* False when there was nothing new. */
static bool flush_chunk(ring_chunk *chunk)
{
	uint64_t now = clock_ticks(), ticks;

	bool gone = thread_is_gone(chunk);
	if (chunk->flushed < CHUNK_WORDS)
		write_thread_name(chunk);
	uint32_t n = add_chunk(chunk, CHUNK_WORDS, &ticks);
	if (n) {
		uint64_t n_events = w.n_events;
		if (!write_batch()) {
			ring_lose(chunk, &rt.ring->info.n_lost_io, n_events);
			output_note_losses();
		}
		chunk->base_ticks = ticks;
		ring_set_flushed(chunk, chunk->flushed + n);
	} else if ((int64_t)(now - chunk->base_ticks) > INT64_C(1) << 44) {
		chunk->base_ticks = now - (UINT64_C(1) << 40); /* idle for long: keep near what comes next */
	}
	/* Once more: it may have sealed the chunk and ended since we looked. */
	if (gone && __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE) == CHUNK_ACTIVE)
		adopt(chunk);
	return n != 0;
}

/* False when there was nothing new. */
static bool flush_active(void)
{
	bool any = false;

	for (uint32_t i = 0; i < ring_n_chunks(); i++) {
		ring_chunk *chunk = ring_chunk_at(i);
		if (__atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE) == CHUNK_ACTIVE)
			any |= flush_chunk(chunk);
	}
	return any;
}

static void write_clock(void)
{
	clock_pair pair = clock_pair_now();

	rt.ring->last = pair;
	output_block(BLOCK_CLOCK, &pair, sizeof pair);
}

static int add_module(struct dl_phdr_info *info, size_t size, void *out)
{
	uintptr_t start = UINTPTR_MAX, end = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD)
			continue;
		uintptr_t at = info->dlpi_addr + p->p_vaddr;
		start = at < start ? at : start;
		end = at + p->p_memsz > end ? at + p->p_memsz : end;
	}
	fprintf(out, "%lx %lx %s\n", (unsigned long)start, (unsigned long)end,
		info->dlpi_name[0] ? info->dlpi_name : program_invocation_name);
	return 0;
}

static void write_modules(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	dl_iterate_phdr(add_module, out);
	if (fclose(out) == 0)
		output_block(BLOCK_MODULES, text, len);
	free(text);
}

/* Everything that was emitted before is in the file when it returns. */
static void flush_all(void)
{
	/* Events of a thread come in the order of its chunks: first the full ones, then the one at work, and once more
	   for a thread that filled that one meanwhile. */
	drain(false);
	if (rt.options.full != FULL_OVERWRITE)
		flush_active();
	drain(false);
	write_names();
	write_clock();
}

/* Gives up on events that are still unfinished in sealed chunks. */
static void finish_held(void)
{
	for (int i = 0; w.n_held && i < 20; i++) {
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
		drain(true);
	}
	take_held(false);
	write_batch();
}

/* Passes over all chunks until one finds nothing new. Threads may still run, but begin nothing any more: what they add
   are the ends of scopes that are open. A program that calls sonde_end in a loop must not keep us for ever. */
static void flush_until_quiet(void)
{
	for (int i = 0; i < MAX_PASSES; i++) {
		bool any = drain(true);
		any |= flush_active();
		if (!any)
			return;
	}
}

/* Adds to *n the events behind an unfinished one in an active chunk: a signal handler's that interrupted it. False when
   it was finished meanwhile: all of them can be written then. */
static bool count_behind_unfinished(const ring_chunk *chunk, uint64_t *n)
{
	whole_events e = find_whole(chunk, CHUNK_WORDS);
	uint64_t n_strays =
		e.end < CHUNK_WORDS ? events_count_stray(chunk->words + e.end, CHUNK_WORDS - e.end, e.last_ticks) : 0;

	*n += n_strays;
	return !n_strays || !__atomic_load_n(&chunk->words[e.end], __ATOMIC_ACQUIRE);
}

static bool count_unfinished(uint64_t *ret_n)
{
	bool all = true;

	*ret_n = 0;
	for (uint32_t i = 0; i < ring_n_chunks(); i++) {
		const ring_chunk *chunk = ring_chunk_at(i);
		if (__atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE) == CHUNK_ACTIVE)
			all &= count_behind_unfinished(chunk, ret_n);
	}
	return all;
}

/* What was stored before the last pass began is in the file or counted as lost; what comes later is not part of the
   recording. */
static void finish_events(void)
{
	uint64_t n_unfinished;
	bool ended = false;

	flush_until_quiet();
	finish_held();
	for (int i = 0; !ended; i++) {
		flush_until_quiet();
		take_held(false);
		write_batch();
		bool counted = count_unfinished(&n_unfinished);
		ended = (counted || i >= MAX_PASSES) && ring_end_session(i >= MAX_PASSES);
	}
	count_lost(&rt.ring->info.n_lost_signal, n_unfinished);
}

static void finish(void)
{
	finish_events();
	write_names();
	write_clock();
	if (rt.options.stacks)
		write_modules();
	rt.ring->info.end_ns = monotonic_ns();
	output_stream_info(STREAM_CLOSED);
	output_close();
	__atomic_store_n(&rt.ring->stream, 0, __ATOMIC_RELEASE);
	w.names_written = 0;
	memset(w.named, 0, sizeof w.named);
	w.clock_ns = 0;
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

static int64_t tick(void)
{
	int64_t now = monotonic_ns();

	if (now - w.clock_ns >= CLOCK_EVERY_NS) {
		write_clock();
		w.clock_ns = now;
	}
	if (now - w.flushed_ns >= FLUSH_EVERY_NS && rt.options.full != FULL_OVERWRITE) {
		flush_active();
		w.flushed_ns = now;
	}
	return FLUSH_EVERY_NS;
}

static void serve_request(void)
{
	uint32_t request = __atomic_exchange_n(&rt.request, REQUEST_NONE, __ATOMIC_ACQUIRE);

	if (request == REQUEST_FLUSH)
		flush_all();
	else if (request == REQUEST_FINISH)
		finish();
	else
		return;
	__atomic_add_fetch(&rt.done, 1, __ATOMIC_RELEASE);
	futex_wake_all(&rt.done);
}

static void *writer_main(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "sonde-writer");
	this_thread.busy = 1; /* the writer records nothing of its own */
	for (;;) {
		uint32_t seen = __atomic_load_n(&rt.wake, __ATOMIC_ACQUIRE);
		bool any = false;
		int64_t wait_ns = -1;

		ring_header *ring = ring_now();
		if (ring && __atomic_load_n(&ring->stream, __ATOMIC_ACQUIRE)) {
			any = drain(false);
			ring_prepare();
			wait_ns = tick();
		}
		serve_request();
		if (any)
			continue;
		__atomic_store_n(&rt.writer_sleeps, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&rt.wake, __ATOMIC_SEQ_CST) == seen)
			futex_wait(&rt.wake, seen, wait_ns);
		__atomic_store_n(&rt.writer_sleeps, 0, __ATOMIC_RELAXED);
	}
	return NULL;
}

void writer_wake(void)
{
	__atomic_add_fetch(&rt.wake, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&rt.writer_sleeps, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&rt.writer_sleeps, 0, __ATOMIC_SEQ_CST))
		futex_wake_all(&rt.wake);
}

void writer_ask(writer_request request)
{
	uint32_t seen = __atomic_load_n(&rt.done, __ATOMIC_ACQUIRE);

	__atomic_store_n(&rt.request, request, __ATOMIC_RELEASE);
	writer_wake();
	while (__atomic_load_n(&rt.done, __ATOMIC_ACQUIRE) == seen)
		futex_wait(&rt.done, seen, 100000000);
}

sonde_status writer_start(sonde_error *err)
{
	pthread_attr_t attributes;
	sigset_t all, old;
	pthread_t thread;

	if (rt.writer_runs)
		return SONDE_OK;
	uint8_t *buffer = w.buffer; /* the rest may be from before a fork */
	memset(&w, 0, sizeof w);
	w.buffer = buffer;
	if (!w.buffer)
		w.buffer = malloc(BATCH_BYTES + CHUNK_BYTES_MAX);
	if (!w.buffer)
		return error_set(err, SONDE_E_MEMORY, -1, "no memory for the writer's buffer");
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int failed = pthread_create(&thread, &attributes, writer_main, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	if (failed)
		return error_set(err, SONDE_E_IO, -1, "cannot start the writer thread: %s", strerror(failed));
	rt.writer_runs = true;
	return SONDE_OK;
}
