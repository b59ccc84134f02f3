/*
 * See collector.h. A stack's id is the hash of its addresses, 64 bits: two that meet are one in 10^10 of a million. Its
 * addresses are an event on the thread that uses it, before the first use and then whenever the thread has a new chunk
 * or another stack took its place here: a reader needs nothing of another thread, and a flight recorder that gave up
 * the oldest chunks still knows the stacks of the others.
 */
#define _GNU_SOURCE
#include "record/collector.h"

#include <string.h>
#include "base/clock.h"
#include "record/runtime.h"

enum { N_KNOWN = 1 << 12 };

/* Stacks that a chunk has, mixed with the chunk. Threads write over each other's: then a stack is written again. */
static uint64_t known_stacks[N_KNOWN];

bool collector_is_on(void)
{
	return sonde_on_(UINT32_MAX);
}

collector_name collector_intern(collector_role role, sonde_category category, const char *text)
{
	static const name_kind kinds[] = { NAME_MARK, NAME_OP, NAME_COUNTER };

	return name_intern(kinds[role], category, text);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const uint64_t *addresses, size_t n)
{
	uint64_t hash = n;

	for (size_t i = 0; i < n; i++)
		hash = mix(hash, addresses[i]);
	return hash ? hash : 1;
}

static bool put_stack(uint64_t id, const uint64_t *addresses, size_t n)
{
	const payload_stack_of_id head = { .stack_id = id };
	uint64_t *at = event_begin(payload_words_stack_of_id(&head) + n);

	if (!at)
		return false;
	uint64_t *next = payload_put_stack_of_id(at + 2, &head);
	memcpy(next, addresses, n * sizeof *addresses);
	event_end(at, next + n, EVENT_STACK_OF_ID);
	return true;
}

uint64_t collector_stack(const uint64_t *addresses, size_t n)
{
	if (!collector_is_on() || !n)
		return 0;
	n = n <= COLLECTOR_STACK_MAX ? n : COLLECTOR_STACK_MAX;
	uint64_t id = hash_of(addresses, n), *known = &known_stacks[id % N_KNOWN];
	uint64_t here = mix(mix(mix(id, rt.stream), this_thread.number), this_thread.n_words);
	if (__atomic_load_n(known, __ATOMIC_RELAXED) == here)
		return id;
	if (!put_stack(id, addresses, n))
		return 0;
	/* The event may have begun the thread's first chunk, or the next one. */
	here = mix(mix(mix(id, rt.stream), this_thread.number), this_thread.n_words);
	__atomic_store_n(known, here, __ATOMIC_RELAXED);
	return id;
}

sonde_stream collector_stream(const char *device, const char *stream)
{
	return sonde_stream_register(device, stream);
}

uint64_t collector_launch(collector_name name, sonde_stream stream)
{
	if (!sonde_on_(SONDE_ACTIVE_DEVICE_))
		return 0;
	uint64_t id = __atomic_add_fetch(&rt.n_launches, 1, __ATOMIC_RELAXED);
	EVENT_PUT(LAUNCH, launch, .name_id = name, .stream_id = stream, .launch_id = id);
	return id;
}

void collector_event(collector_name name, const sonde_arg *args, size_t n_args)
{
	if (sonde_on_(SONDE_ACTIVE_CPU_))
		event_put_instant(name, args, n_args);
}

void collector_slice(const collector_work *work)
{
	if (sonde_on_(SONDE_ACTIVE_DEVICE_))
		EVENT_PUT(DEVICE_SLICE, device_slice, .stream_id = work->stream, .launch_id = work->correlation,
			  .name_id = work->name, .start_ns = work->start_ns, .end_ns = work->end_ns, .kind = work->kind,
			  .bytes = work->bytes, .grid_x = work->grid[0], .grid_y = work->grid[1],
			  .grid_z = work->grid[2], .block_x = work->block[0], .block_y = work->block[1],
			  .block_z = work->block[2], .stack_id = work->stack);
}

void collector_gauge(collector_name name, int64_t time_ns, double value)
{
	if (sonde_on_(UINT32_MAX))
		EVENT_PUT(GAUGE, gauge, .name_id = name, .time_ns = time_ns ? time_ns : monotonic_ns(), .value = value);
}
