/*
 * The shared memory that events go through, see format/ring.h.
 *
 * The file lies in /dev/shm, where pages are never written back; when there is no room it lies beside the recording.
 * Space is reserved before it is touched, a few chunks at a time, so that a full file system is an error here and never
 * a SIGBUS. Chunks that come back go on a stack, so that a program that its writer keeps up with runs in a few warm
 * ones.
 */
#define _GNU_SOURCE
#include "record/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/error.h"
#include "base/proc.h"

enum { GROW = 4, READY = 12, WAKE = 8, SPARE_CHUNKS = 1024, NONE = UINT32_MAX };
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

__thread thread_state this_thread;
__thread uint64_t sonde_room_;

static size_t chunk_offset(uint32_t index)
{
	return RING_HEADER_BYTES + RING_NAMES_BYTES + (size_t)index * RING_CHUNK_BYTES;
}

ring_chunk *ring_chunk_at(uint32_t index)
{
	return (ring_chunk *)((char *)rt.ring + chunk_offset(index));
}

uint32_t ring_n_chunks(void)
{
	return rt.ring ? __atomic_load_n(&rt.ring->n_chunks, __ATOMIC_ACQUIRE) : 0;
}

static uint32_t chunk_index(const ring_chunk *chunk)
{
	return (uint32_t)(((const char *)chunk - (const char *)rt.ring - chunk_offset(0)) / RING_CHUNK_BYTES);
}

void count_lost(uint64_t *counter, uint64_t n)
{
	if (n)
		__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* Out of the way of programs that count on low numbers. */
static int move_up(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 200);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* A program that closes all descriptors may have given the number to another file. */
static bool is_ours(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == rt.ring_device && st.st_ino == rt.ring_inode;
}

bool ring_reserve(size_t offset, size_t len)
{
	if (!is_ours(rt.ring_fd)) {
		rt.ring_fd = move_up(open(rt.ring_path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
		if (!is_ours(rt.ring_fd)) {
			if (rt.ring_fd >= 0)
				close(rt.ring_fd);
			rt.ring_fd = -1;
			return false;
		}
	}
	return fallocate(rt.ring_fd, 0, (off_t)offset, (off_t)len) == 0;
}

/* Makes up to n more chunks usable, `most` in all; called with chunks_lock. */
static uint32_t grow(uint32_t n, uint32_t most)
{
	uint32_t have = rt.ring->n_chunks;

	if (have >= most)
		return 0;
	if (n > most - have)
		n = most - have;
	if (!ring_reserve(chunk_offset(have), (size_t)n * RING_CHUNK_BYTES)) {
		if (have) /* no more room: live with what there is */
			rt.max_chunks = rt.room_chunks = have;
		return 0;
	}
	madvise(ring_chunk_at(have), (size_t)n * RING_CHUNK_BYTES, MADV_POPULATE_WRITE);
	__atomic_store_n(&rt.ring->n_chunks, have + n, __ATOMIC_RELEASE);
	for (uint32_t i = have + n; i > have; i--)
		rt.free_chunks[rt.n_free++] = i - 1;
	return n;
}

void ring_prepare(void)
{
	lock_take(&rt.chunks_lock);
	if (rt.n_free < READY)
		grow(GROW, rt.max_chunks);
	lock_release(&rt.chunks_lock);
}

static int create_ring(const char *path, size_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	/* The header, the first names and the first chunks must be there; the rest follows when it is needed. */
	if (ftruncate(fd, (off_t)bytes) == 0 && fallocate(fd, 0, 0, RING_HEADER_BYTES + (64 << 10)) == 0 &&
	    fallocate(fd, 0, (off_t)chunk_offset(0), GROW * RING_CHUNK_BYTES) == 0) {
		fd = move_up(fd);
		flock(fd, LOCK_EX | LOCK_NB);
		return fd;
	}
	int saved = errno;
	unlink(path);
	close(fd);
	errno = saved;
	return -1;
}

static sonde_status map_ring(size_t bytes, sonde_error *err)
{
	size_t lists = 2 * rt.mapped_chunks * sizeof(uint32_t);
	struct stat st;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rt.ring_fd, 0);
	uint32_t *numbers = mmap(NULL, lists, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || numbers == MAP_FAILED) {
		if (memory != MAP_FAILED)
			munmap(memory, bytes);
		if (numbers != MAP_FAILED)
			munmap(numbers, lists);
		unlink(rt.ring_path);
		close(rt.ring_fd);
		return error_set(err, SONDE_E_MEMORY, -1, "no memory for a ring of %zu bytes", bytes);
	}
	if (fstat(rt.ring_fd, &st) == 0) {
		rt.ring_device = st.st_dev;
		rt.ring_inode = st.st_ino;
	}
	__atomic_store_n(&rt.ring, memory, __ATOMIC_RELEASE);
	rt.free_chunks = numbers;
	rt.sealed_next = numbers + rt.mapped_chunks;
	rt.n_free = rt.n_sealed = rt.n_bound = 0;
	rt.sealed_first = rt.sealed_last = NONE;
	return SONDE_OK;
}

/* Beyond the buffer there is room for more threads than the buffer has chunks: one that waits for another to give its
   chunk back may wait for ever. Within what a file may have: above that the program would get a SIGXFSZ. */
static bool choose_size(void)
{
	struct rlimit limit;

	rt.max_chunks = (uint32_t)(rt.options.buffer / RING_CHUNK_BYTES);
	rt.room_chunks = rt.max_chunks + SPARE_CHUNKS;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < chunk_offset(rt.room_chunks)) {
		if (limit.rlim_cur < chunk_offset(GROW))
			return false;
		rt.room_chunks = (uint32_t)((limit.rlim_cur - chunk_offset(0)) / RING_CHUNK_BYTES);
	}
	if (rt.max_chunks > rt.room_chunks)
		rt.max_chunks = rt.room_chunks;
	rt.mapped_chunks = rt.room_chunks;
	return true;
}

/* For a later recording of the process. Threads hold addresses in the ring: it stays where it is and within what was
   mapped, and chunks that are there stay in use. */
static void resize(void)
{
	uint32_t wanted = (uint32_t)(rt.options.buffer / RING_CHUNK_BYTES);

	lock_take(&rt.chunks_lock);
	rt.room_chunks = rt.mapped_chunks;
	rt.max_chunks = wanted < rt.room_chunks ? wanted : rt.room_chunks;
	lock_release(&rt.chunks_lock);
}

sonde_status ring_open(const char *beside, sonde_error *err)
{
	if (rt.ring) {
		resize();
		return SONDE_OK;
	}
	if (!choose_size())
		return error_set(err, SONDE_E_IO, -1, "files may not be large enough for the ring (ulimit -f)");
	size_t bytes = chunk_offset(rt.mapped_chunks);
	snprintf(rt.ring_path, sizeof rt.ring_path, "/dev/shm/sonde-%u-%d-%llx.ring", (unsigned)geteuid(),
		 (int)getpid(), (unsigned long long)proc_start_time(getpid()));
	rt.ring_fd = create_ring(rt.ring_path, bytes);
	if (rt.ring_fd < 0 && errno == EEXIST) { /* left by this process before an exec */
		size_t len = strlen(rt.ring_path);
		snprintf(rt.ring_path + len, sizeof rt.ring_path - len, "-%llx", (unsigned long long)clock_ticks());
		rt.ring_fd = create_ring(rt.ring_path, bytes);
	}
	if (rt.ring_fd < 0 && snprintf(rt.ring_path, sizeof rt.ring_path, "%s.ring", beside) < (int)sizeof rt.ring_path)
		rt.ring_fd = create_ring(rt.ring_path, bytes);
	if (rt.ring_fd < 0)
		return error_set(err, SONDE_E_IO, -1, "no room for the ring in /dev/shm or beside %s: %s", beside,
				 strerror(errno));
	sonde_status status = map_ring(bytes, err);
	if (status)
		return status;
	rt.ring->magic = RING_MAGIC;
	rt.ring->version = FORMAT_VERSION;
	grow(GROW, rt.max_chunks);
	lock_take(&rt.names_lock);
	names_attach();
	lock_release(&rt.names_lock);
	return SONDE_OK;
}

void ring_unlink(void)
{
	if (rt.ring && rt.ring_path[0])
		unlink(rt.ring_path);
	rt.ring_path[0] = 0;
}

/* What threads wrote between two recordings belongs to neither. */
void ring_begin_session(void)
{
	for (uint32_t i = 0; i < ring_n_chunks(); i++) {
		ring_chunk *chunk = ring_chunk_at(i);
		if (__atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE) != CHUNK_ACTIVE)
			continue;
		size_t n = chunk->flushed;
		while (n < CHUNK_WORDS) {
			uint64_t word = __atomic_load_n(&chunk->words[n], __ATOMIC_ACQUIRE);
			if (!word)
				break;
			n += word & EVENT_PAYLOAD ? 2 + chunk->words[n + 1] : 1;
		}
		chunk->flushed = n;
		chunk->base_ticks = clock_ticks();
	}
}

/* ---- What threads do -------------------------------------------------------------------------------------------- */

static uint64_t *thread_room(void)
{
	return rt.slow_clock ? &this_thread.room : &sonde_room_;
}

/* Ends the thread's chunk. n_words are those that did not fit and brought the caller here, 0 if there are none. */
static void seal(size_t n_words)
{
	thread_state *t = &this_thread;
	ring_chunk *chunk = t->chunk;

	/* In one instruction: else a signal handler would write behind what we take for the end. */
	int left = (int16_t)__atomic_exchange_n(thread_room(), 0, __ATOMIC_RELAXED);
	if (!chunk)
		return;
	if (left < 0)
		left += (int)n_words;
	/* Still below 0: in a signal handler that interrupted a caller on its way here. How many words did not fit
	   there is not known, and that one's own caller may have some that are not written yet. So the chunk ends where
	   it ends, and the writer holds it like any with an unfinished event. */
	if (left < 0)
		left = 0;
	chunk->n_words = CHUNK_WORDS - (uint32_t)left;
	t->n_words += chunk->n_words;
	t->chunk = NULL;
	__atomic_store_n(&chunk->state, CHUNK_SEALED, __ATOMIC_RELEASE);
	uint32_t index = chunk_index(chunk);
	lock_take(&rt.chunks_lock);
	rt.sealed_next[index] = NONE;
	if (rt.n_sealed++)
		rt.sealed_next[rt.sealed_last] = index;
	else
		rt.sealed_first = index;
	rt.sealed_last = index;
	rt.n_bound--;
	/* Waking it costs as much as hundreds of events. It looks by itself four times a second. */
	bool wake = rt.n_sealed >= WAKE || rt.n_free < GROW;
	lock_release(&rt.chunks_lock);
	if (wake)
		writer_wake();
}

/* Nothing that the writer does will free a chunk; called with chunks_lock. */
static bool all_bound(void)
{
	return rt.n_bound >= rt.ring->n_chunks;
}

/* Index of a free chunk, or NONE: the event is lost. */
static uint32_t wait_for_chunk(void)
{
	lock_take(&rt.chunks_lock);
	for (;;) {
		if (rt.n_free || grow(GROW, rt.max_chunks) || (all_bound() && grow(1, rt.room_chunks))) {
			uint32_t index = rt.free_chunks[--rt.n_free];
			rt.n_bound++;
			lock_release(&rt.chunks_lock);
			return index;
		}
		uint32_t mode = record_mode_now();
		if (mode & MODE_DROP || !(mode & MODE_RUNNING) || all_bound()) {
			lock_release(&rt.chunks_lock);
			return NONE;
		}
		uint32_t seen = __atomic_load_n(&rt.chunk_freed, __ATOMIC_RELAXED);
		rt.n_waiting++;
		lock_release(&rt.chunks_lock);
		writer_wake();
		futex_wait(&rt.chunk_freed, seen, 20000000);
		lock_take(&rt.chunks_lock);
		rt.n_waiting--;
	}
}

static bool next_chunk(size_t n_words)
{
	thread_state *t = &this_thread;

	seal(n_words);
	if (!ring_now())
		return false;
	if (!t->number) {
		t->number = __atomic_add_fetch(&rt.n_threads, 1, __ATOMIC_RELAXED);
		t->tid = (uint32_t)syscall(SYS_gettid);
	}
	pthread_setspecific(rt.key, &this_thread);
	uint32_t index = wait_for_chunk();
	if (index == NONE) {
		if (record_mode_now() & MODE_RUNNING) { /* else the recording ended while the thread waited */
			t->n_lost++;
			count_lost(&rt.ring->info.n_lost_full, 1);
		}
		return false;
	}
	ring_chunk *chunk = ring_chunk_at(index);
	chunk->thread = t->number;
	chunk->tid = t->tid;
	chunk->first_word = t->n_words;
	chunk->flushed = 0;
	chunk->base_ticks = clock_ticks();
	chunk->n_lost = t->n_lost;
	__atomic_store_n(&chunk->state, CHUNK_ACTIVE, __ATOMIC_RELEASE);
	t->chunk = chunk;
	__atomic_store_n(thread_room(), (uint64_t)(uintptr_t)chunk->words << 16 | CHUNK_WORDS, __ATOMIC_RELEASE);
	return true;
}

static uint64_t *take_from_chunk(size_t n_words)
{
	uint64_t *room = thread_room(), step = n_words * SONDE_ROOM_STEP_;

	if ((int16_t)__atomic_load_n(room, __ATOMIC_RELAXED) < (int)n_words)
		return NULL;
	uint64_t taken = __atomic_fetch_add(room, step, __ATOMIC_RELAXED);
	if ((int16_t)taken >= (int)n_words)
		return (uint64_t *)(uintptr_t)(taken >> 16);
	__atomic_fetch_sub(room, step, __ATOMIC_RELAXED); /* a signal handler took them between the two */
	return NULL;
}

uint64_t *ring_take(size_t n_words)
{
	thread_state *t = &this_thread;
	int saved = errno;

	if (t->busy) {
		/* As it was: what we interrupted goes on with it, and many calls would make the number wrap. */
		__atomic_fetch_sub(&sonde_room_, n_words * SONDE_ROOM_STEP_, __ATOMIC_RELAXED);
		if (ring_now())
			count_lost(&ring_now()->info.n_lost_signal, 1);
		return NULL;
	}
	t->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (rt.slow_clock)
		__atomic_store_n(&sonde_room_, 0, __ATOMIC_RELAXED);
	if (record_mode_now() & MODE_IN_CHILD)
		start_in_child();
	uint64_t *at = take_from_chunk(n_words);
	if (!at && next_chunk(n_words))
		at = take_from_chunk(n_words);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->busy = 0;
	errno = saved;
	return at;
}

void ring_thread_exit(void *unused)
{
	(void)unused;
	this_thread.busy = 1;
	if (ring_now())
		seal(0);
	this_thread.busy = 0;
}

/* Before any thread has a chunk, or in a child, where the only thread forgets its own. */
void ring_forget(void)
{
	if (rt.ring) {
		munmap(rt.ring, chunk_offset(rt.mapped_chunks));
		munmap(rt.free_chunks, 2 * rt.mapped_chunks * sizeof(uint32_t));
		if (is_ours(rt.ring_fd))
			close(rt.ring_fd);
		rt.ring_fd = -1;
	}
	__atomic_store_n(&rt.ring, NULL, __ATOMIC_RELEASE);
	rt.ring_path[0] = 0;
	rt.n_threads = 0;
	this_thread = (thread_state){ 0 };
	sonde_room_ = 0;
}

/* ---- What the writer does ---------------------------------------------------------------------------------------- */

bool ring_is_short(uint32_t n)
{
	lock_take(&rt.chunks_lock);
	bool is_short = rt.n_free < n && rt.ring->n_chunks >= rt.max_chunks;
	lock_release(&rt.chunks_lock);
	return is_short;
}

void ring_bind(int by)
{
	lock_take(&rt.chunks_lock);
	rt.n_bound += (uint32_t)by;
	lock_release(&rt.chunks_lock);
}

ring_chunk *ring_next_sealed(void)
{
	ring_chunk *chunk = NULL;

	lock_take(&rt.chunks_lock);
	if (rt.n_sealed) {
		chunk = ring_chunk_at(rt.sealed_first);
		rt.sealed_first = rt.sealed_next[rt.sealed_first];
		rt.n_sealed--;
	}
	lock_release(&rt.chunks_lock);
	return chunk;
}

void ring_lose(ring_chunk *chunk, uint64_t *counter, uint64_t n_events)
{
	ring_loss *loss = &rt.ring->loss;

	if (!n_events)
		return;
	loss->counter = (uint32_t)((char *)counter - (char *)&rt.ring->info);
	loss->flushed = chunk->flushed;
	loss->before = *counter;
	loss->after = *counter + n_events;
	__atomic_store_n(&loss->chunk, chunk_index(chunk) + 1, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(counter, loss->after, __ATOMIC_RELEASE);
}

void ring_set_flushed(ring_chunk *chunk, uint64_t n_words)
{
	__atomic_store_n(&chunk->flushed, n_words, __ATOMIC_RELEASE);
	__atomic_store_n(&rt.ring->loss.chunk, 0, __ATOMIC_RELEASE);
}

void ring_release(ring_chunk *chunk)
{
	size_t used = chunk->n_words;
	bool was_active = __atomic_load_n(&chunk->state, __ATOMIC_RELAXED) == CHUNK_ACTIVE;

	/* In this order: what a crash leaves behind is never read twice nor read as events when half cleared. */
	ring_set_flushed(chunk, used);
	__atomic_store_n(&chunk->state, CHUNK_FREE, __ATOMIC_RELEASE);
	memset(chunk->words, 0, used * sizeof(uint64_t));
	lock_take(&rt.chunks_lock);
	rt.free_chunks[rt.n_free++] = chunk_index(chunk);
	rt.n_bound -= was_active;
	bool waiting = rt.n_waiting != 0;
	__atomic_add_fetch(&rt.chunk_freed, 1, __ATOMIC_RELEASE);
	lock_release(&rt.chunks_lock);
	if (waiting)
		futex_wake_all(&rt.chunk_freed);
}
