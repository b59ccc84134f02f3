/*
 * The chunks of the ring: threads fill them, the writer empties them. See format/recording/ring.h; ring_file.c makes
 * the file.
 *
 * Chunks that come back go on a stack, so that a program that its writer keeps up with runs in a few warm ones.
 */
#define _GNU_SOURCE
#include "record/runtime.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { READY = 12, WAKE = 8 };

__thread thread_state this_thread;
__thread uint64_t sonde_room_;

ring_chunk *ring_chunk_at(uint32_t index)
{
	return (ring_chunk *)((char *)rt.ring + ring_chunk_offset(index));
}

uint32_t ring_n_chunks(void)
{
	return rt.ring ? __atomic_load_n(&rt.ring->n_chunks, __ATOMIC_ACQUIRE) : 0;
}

static uint32_t chunk_index(const ring_chunk *chunk)
{
	return (uint32_t)(((const char *)chunk - (const char *)rt.ring - ring_chunk_offset(0)) / RING_CHUNK_BYTES);
}

void count_lost(uint64_t *counter, uint64_t n)
{
	if (n)
		__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* What threads wrote between two recordings belongs to neither. */
void ring_begin_session(void)
{
	for (uint32_t i = 0; i < ring_n_chunks(); i++) {
		ring_chunk *chunk = ring_chunk_at(i);
		if (__atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE) == CHUNK_FREE)
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
	lock_take(&rt.chunks_lock);
	rt.accepts = true;
	lock_release(&rt.chunks_lock);
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
	uint32_t index = chunk_index(chunk);
	lock_take(&rt.chunks_lock);
	/* Together with the queue: the writer finds every chunk either active or there. */
	__atomic_store_n(&chunk->state, CHUNK_SEALED, __ATOMIC_RELEASE);
	rt.sealed_next[index] = CHUNK_NONE;
	if (rt.n_sealed++)
		rt.sealed_next[rt.sealed_last] = index;
	else
		rt.sealed_first = index;
	rt.sealed_last = index;
	rt.n_bound--;
	/* Waking it costs as much as hundreds of events. It looks by itself four times a second. */
	bool wake = rt.n_sealed >= WAKE || rt.n_free < RING_GROW;
	lock_release(&rt.chunks_lock);
	if (wake)
		writer_wake();
}

/* Nothing that the writer does will free a chunk; called with chunks_lock. */
static bool all_bound(void)
{
	return rt.n_bound >= rt.ring->n_chunks;
}

/* Called with chunks_lock: the writer takes the count for that of the recording under the same lock. */
static void lose_event(void)
{
	if (!rt.accepts)
		return;
	this_thread.n_lost++;
	count_lost(&rt.ring->info.n_lost_full, 1);
}

/* Index of a free chunk, or CHUNK_NONE: the event is lost, which is counted unless it comes after the recording. */
static uint32_t wait_for_chunk(void)
{
	lock_take(&rt.chunks_lock);
	for (;;) {
		if (rt.n_free || ring_grow(RING_GROW, rt.max_chunks) || (all_bound() && ring_grow(1, rt.room_chunks))) {
			uint32_t index = rt.free_chunks[--rt.n_free];
			rt.n_bound++;
			lock_release(&rt.chunks_lock);
			return index;
		}
		if (!rt.accepts || record_mode_now() & MODE_DROP || all_bound()) {
			lose_event();
			lock_release(&rt.chunks_lock);
			return CHUNK_NONE;
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
	if (index == CHUNK_NONE)
		return false;
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
	ring_unmap();
	rt.n_threads = 0;
	this_thread = (thread_state){ 0 };
	sonde_room_ = 0;
}

/* ---- What the writer does ---------------------------------------------------------------------------------------- */

void ring_prepare(void)
{
	lock_take(&rt.chunks_lock);
	if (rt.n_free < READY)
		ring_grow(RING_GROW, rt.max_chunks);
	lock_release(&rt.chunks_lock);
}

bool ring_end_session(bool force)
{
	lock_take(&rt.chunks_lock);
	bool ends = force || !rt.n_sealed;
	if (ends)
		rt.accepts = false;
	__atomic_add_fetch(&rt.chunk_freed, ends, __ATOMIC_RELEASE);
	lock_release(&rt.chunks_lock);
	if (ends)
		futex_wake_all(&rt.chunk_freed);
	return ends;
}

bool ring_is_short(void)
{
	lock_take(&rt.chunks_lock);
	uint32_t eighth = rt.max_chunks / 8, spare = eighth < 2 ? 2 : eighth > 8 ? 8 : eighth;
	bool is_short = rt.n_free < spare && rt.ring->n_chunks >= rt.max_chunks;
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
