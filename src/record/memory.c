/*
 * Memory by call: how much each device holds now, at most, and over time.
 *
 * Live blocks are in open-addressing tables by device and address, 16 of them with a lock each, in memory of our own so
 * that the program's allocator is never entered. The sums are atomic: the value after each addition goes into the
 * event, so the largest one in the file is the exact peak whatever order the threads ran in.
 */
#define _GNU_SOURCE
#include "record/runtime.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "base/clock.h"

enum { SHARDS = 16, FIRST_SLOTS = 1024, DEVICES = 64, POINTS = 512, FIRST_STEP_NS = 1000000 };

typedef struct slot {
	uintptr_t address;
	uint32_t device; /* + 1; 0: empty */
	uint32_t deleted;
	size_t bytes;
	uint64_t tensor_id;
} slot;

typedef struct shard {
	lock lock;
	slot *slots;
	size_t n_slots, n_used; /* used: with deleted ones */
} shard;

/* Peaks of equal intervals; when they are used up, two become one. */
typedef struct timeline {
	int64_t start_ns, step_ns;
	size_t level; /* in use now: what the next interval starts with */
	size_t n;
	size_t peaks[POINTS];
} timeline;

typedef struct device_sum {
	uint32_t device; /* + 1 */
	size_t current, peak, n_live;
	lock lock; /* of the timeline */
	timeline timeline;
} device_sum;

static shard shards[SHARDS];
static device_sum devices[DEVICES];

static uint64_t hash_block(uint32_t device, uintptr_t address)
{
	uint64_t h = ((uint64_t)address ^ (uint64_t)device << 56) * UINT64_C(0x9e3779b97f4a7c15);

	return h ^ h >> 29;
}

static void unmap_slots(shard *s)
{
	if (s->slots)
		munmap(s->slots, s->n_slots * sizeof(slot));
	s->slots = NULL;
	s->n_slots = s->n_used = 0;
}

void memory_reset(void)
{
	for (size_t i = 0; i < SHARDS; i++) {
		lock_take(&shards[i].lock);
		unmap_slots(&shards[i]);
		lock_release(&shards[i].lock);
	}
	for (size_t i = 0; i < DEVICES;
	     i++) { /* a thread may still be in the recording before: nothing is taken apart */
		device_sum *d = &devices[i];
		lock_take(&d->lock);
		d->timeline.step_ns = 0;
		d->timeline.n = 0;
		lock_release(&d->lock);
		__atomic_store_n(&d->current, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&d->peak, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&d->n_live, 0, __ATOMIC_RELAXED);
	}
}

void memory_init_child(void)
{
	for (size_t i = 0; i < SHARDS; i++)
		shards[i].lock = (lock){ 0 };
	for (size_t i = 0; i < DEVICES; i++)
		devices[i].lock = (lock){ 0 };
	memory_reset();
}

/* The sums of a device, made on first use; NULL when there are too many devices. */
static device_sum *sum_of(uint32_t device)
{
	for (size_t i = 0; i < DEVICES; i++) {
		device_sum *d = &devices[(device + i) % DEVICES];
		uint32_t seen = 0;
		if (__atomic_compare_exchange_n(&d->device, &seen, device + 1, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE) ||
		    seen == device + 1)
			return d;
	}
	return NULL;
}

static slot *find_slot(slot *slots, size_t n_slots, uint32_t device, uintptr_t address)
{
	slot *reuse = NULL;

	for (size_t i = (size_t)hash_block(device, address) / SHARDS & (n_slots - 1);; i = (i + 1) & (n_slots - 1)) {
		slot *s = &slots[i];
		if (!s->device)
			return reuse ? reuse : s;
		if (s->deleted && !reuse)
			reuse = s;
		if (!s->deleted && s->device == device + 1 && s->address == address)
			return s;
	}
}

/* Keeps at least a quarter of the slots empty. */
static bool make_room(shard *sh)
{
	if (sh->n_slots && sh->n_used < sh->n_slots / 4 * 3)
		return true;
	size_t live = 0;
	for (size_t i = 0; i < sh->n_slots; i++)
		live += sh->slots[i].device && !sh->slots[i].deleted;
	size_t n = FIRST_SLOTS;
	while (n < live * 2 + FIRST_SLOTS)
		n *= 2;
	slot *slots = mmap(NULL, n * sizeof *slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slots == MAP_FAILED)
		return false;
	for (size_t i = 0; i < sh->n_slots; i++) {
		const slot *old = &sh->slots[i];
		if (old->device && !old->deleted)
			*find_slot(slots, n, old->device - 1, old->address) = *old;
	}
	unmap_slots(sh);
	*sh = (shard){ .lock = sh->lock, .slots = slots, .n_slots = n, .n_used = live };
	return true;
}

/* Returns the bytes of an unfreed block at this address that the new one replaces, or SIZE_MAX. */
static size_t insert(uint32_t device, uintptr_t address, size_t bytes, uint64_t tensor_id)
{
	shard *sh = &shards[hash_block(device, address) % SHARDS];
	size_t replaced = SIZE_MAX;

	lock_take(&sh->lock);
	if (make_room(sh)) {
		slot *s = find_slot(sh->slots, sh->n_slots, device, address);
		if (s->device && !s->deleted)
			replaced = s->bytes;
		sh->n_used += !s->device;
		*s = (slot){ .address = address, .device = device + 1, .bytes = bytes, .tensor_id = tensor_id };
	}
	lock_release(&sh->lock);
	return replaced;
}

/* Returns the bytes of the block, or SIZE_MAX when it is not known. */
static size_t erase(uint32_t device, uintptr_t address)
{
	shard *sh = &shards[hash_block(device, address) % SHARDS];
	size_t bytes = SIZE_MAX;

	lock_take(&sh->lock);
	if (sh->slots) {
		slot *s = find_slot(sh->slots, sh->n_slots, device, address);
		if (s->device && !s->deleted) {
			bytes = s->bytes;
			s->deleted = 1;
		}
	}
	lock_release(&sh->lock);
	return bytes;
}

static void note_point(device_sum *d, size_t bytes)
{
	timeline *t = &d->timeline;
	int64_t now = monotonic_ns();

	lock_take(&d->lock);
	if (!t->step_ns)
		*t = (timeline){ .start_ns = now, .step_ns = FIRST_STEP_NS };
	int64_t index = (now - t->start_ns) / t->step_ns;
	while (index >= POINTS) {
		for (size_t i = 0; i < POINTS / 2; i++)
			t->peaks[i] = t->peaks[2 * i] > t->peaks[2 * i + 1] ? t->peaks[2 * i] : t->peaks[2 * i + 1];
		t->step_ns *= 2;
		t->n = (t->n + 1) / 2;
		index = (now - t->start_ns) / t->step_ns;
	}
	for (; (int64_t)t->n <= index; t->n++)
		t->peaks[t->n] = t->level;
	if (t->peaks[index] < bytes)
		t->peaks[index] = bytes;
	t->level = bytes;
	lock_release(&d->lock);
}

static size_t add_bytes(device_sum *d, size_t bytes)
{
	size_t current = __atomic_add_fetch(&d->current, bytes, __ATOMIC_RELAXED);
	size_t peak = __atomic_load_n(&d->peak, __ATOMIC_RELAXED);

	while (peak < current &&
	       !__atomic_compare_exchange_n(&d->peak, &peak, current, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return current;
}

static bool counts_memory(void)
{
	uint32_t mode = record_mode_now();

	return mode & SONDE_ACTIVE_MEMORY_ && mode & (MODE_RUNNING | MODE_IN_CHILD);
}

/* Locks are held between the two: a signal handler that comes then is counted as lost. */
static bool enter(void)
{
	if (this_thread.busy) {
		if (ring_now())
			count_lost(&ring_now()->info.n_lost_signal, 1);
		return false;
	}
	this_thread.busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

static void leave(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	this_thread.busy = 0;
}

void sonde_alloc(sonde_device device, const void *address, size_t bytes, uint64_t tensor_id)
{
	int saved = errno;
	size_t left = 0;

	if (!counts_memory() || !address || !enter())
		return;
	device_sum *d = sum_of(device);
	if (!d) {
		leave();
		return;
	}
	size_t replaced = insert(device, (uintptr_t)address, bytes, tensor_id);
	if (replaced != SIZE_MAX) /* its free was not reported */
		left = __atomic_sub_fetch(&d->current, replaced, __ATOMIC_RELAXED);
	else
		__atomic_add_fetch(&d->n_live, 1, __ATOMIC_RELAXED);
	size_t current = add_bytes(d, bytes);
	note_point(d, current);
	leave();
	if (sonde_on_(SONDE_ACTIVE_MEMORY_)) {
		if (replaced != SIZE_MAX)
			EVENT_PUT(FREE, free, .device = device, .address = (uintptr_t)address, .bytes = replaced,
				  .current_bytes = left);
		EVENT_PUT(ALLOC, alloc, .device = device, .address = (uintptr_t)address, .bytes = bytes,
			  .tensor_id = tensor_id, .current_bytes = current);
		event_put_stack();
	}
	errno = saved;
}

void sonde_free(sonde_device device, const void *address)
{
	int saved = errno;

	if (!counts_memory() || !address || !enter())
		return;
	device_sum *d = sum_of(device);
	if (!d) {
		leave();
		return;
	}
	size_t bytes = erase(device, (uintptr_t)address), current = __atomic_load_n(&d->current, __ATOMIC_RELAXED);
	if (bytes != SIZE_MAX) {
		current = __atomic_sub_fetch(&d->current, bytes, __ATOMIC_RELAXED);
		__atomic_sub_fetch(&d->n_live, 1, __ATOMIC_RELAXED);
		note_point(d, current);
	}
	leave();
	if (sonde_on_(SONDE_ACTIVE_MEMORY_))
		EVENT_PUT(FREE, free, .device = device, .address = (uintptr_t)address, .bytes = bytes,
			  .current_bytes = current);
	errno = saved;
}

sonde_memory sonde_memory_now(sonde_device device)
{
	sonde_memory now = { .known = counts_memory() };
	const device_sum *d = now.known ? sum_of(device) : NULL;

	now.known = d != NULL;
	if (d) {
		now.current_bytes = __atomic_load_n(&d->current, __ATOMIC_RELAXED);
		now.peak_bytes = __atomic_load_n(&d->peak, __ATOMIC_RELAXED);
		now.n_live = __atomic_load_n(&d->n_live, __ATOMIC_RELAXED);
	}
	return now;
}

size_t sonde_memory_snapshot(sonde_device device, sonde_memory_block *ret_blocks, size_t n)
{
	sonde_memory now = sonde_memory_now(device);
	size_t found = 0;

	if (!now.known || !enter())
		return 0;
	for (size_t k = 0; k < SHARDS; k++) {
		shard *sh = &shards[k];
		lock_take(&sh->lock);
		for (size_t i = 0; i < sh->n_slots; i++) {
			const slot *s = &sh->slots[i];
			if (s->deleted || s->device != device + 1)
				continue;
			if (found < n)
				ret_blocks[found] =
					(sonde_memory_block){ (const void *)s->address, s->bytes, s->tensor_id };
			found++;
		}
		lock_release(&sh->lock);
	}
	leave();
	if (sonde_on_(SONDE_ACTIVE_MEMORY_))
		EVENT_PUT(SNAPSHOT, snapshot, .device = device, .current_bytes = now.current_bytes,
			  .peak_bytes = now.peak_bytes, .n_live = now.n_live);
	return found;
}

size_t sonde_memory_timeline(sonde_device device, sonde_memory_point *ret_points, size_t n)
{
	device_sum *d = counts_memory() ? sum_of(device) : NULL;

	if (!d || !enter())
		return 0;
	lock_take(&d->lock);
	if (n > d->timeline.n)
		n = d->timeline.n;
	for (size_t i = 0; i < n; i++)
		ret_points[i] = (sonde_memory_point){ d->timeline.start_ns + (int64_t)i * d->timeline.step_ns,
						      d->timeline.peaks[i] };
	lock_release(&d->lock);
	leave();
	return n;
}
