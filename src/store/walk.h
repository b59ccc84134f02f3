/*
 * All events of a trace, one track after the other and in time order within a track, given to a sink.
 *
 * Begins and ends of slices come in order: a slice, then those inside it, then its end. Allocations come with the
 * slices of their track. Instants, counters, flows and metadata follow. import/recording/walk.h gives the same sink the
 * events of a recording, to make an index of them.
 */
#ifndef SONDE_STORE_WALK_H
#define SONDE_STORE_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include "store/trace.h"
#include <sonde/error.h>

struct event; /* format/recording/events.h */

enum {
	SLICE_OPEN = 1,		   /* no end: the recording ended first */
	SLICE_REPAIRED = 2,	   /* no end: closed with the scope around it */
	SLICE_CUT = 8,		   /* began before the window: it is shown from there on */
	SLICE_MEMORY_UNKNOWN = 16, /* it left the stack of its thread out of order: its memory was not followed */
	SLICE_ASYNC = 4, /* an operation that may end on another thread or was timed elsewhere: need not nest */
};

/* Memory of all devices that the slice's thread allocated and freed, in slices inside as well. */
typedef struct slice_memory {
	uint64_t allocated_bytes;
	uint64_t freed_bytes; /* without blocks that were never seen */
	uint64_t peak_bytes;  /* the most that was allocated and not freed since its begin */
} slice_memory;

typedef struct slice {
	const trace_site *site;
	int64_t start_ns; /* CLOCK_MONOTONIC, as all times here */
	int64_t dur_ns;
	int64_t child_ns;    /* of the slices directly inside */
	int64_t number;	     /* of a step */
	double flops, bytes; /* of an operation; 0: not given */
	slice_memory memory; /* of its thread while it was open */
	uint64_t serial;     /* of an operation begun with sonde_op_begin; 0: none */
	uint32_t depth;	     /* 0: outermost */
	uint32_t id;	     /* of the site: in the index; of a recording in its stream, 0: an operation */
	uint32_t name_id;    /* of the site in its stream, of an operation too */
	uint8_t flags;
	uint16_t group; /* of an index: 0, or the number of the extra stack of its track */
	uint32_t args;	/* of an index: record + 1; 0: none */
	const trace_thread *thread;
	void *user;  /* the sink's own, from begin to end */
	void *outer; /* `user` of the slice around it; NULL at depth 0 */
} slice;

typedef struct walk_memory {
	uint32_t device;
	uint32_t sonde_device; /* as <sonde/record.h> numbers it */
	bool is_free;
	int64_t time_ns;
	uint64_t address, bytes; /* bytes UINT64_MAX: a free of a block never seen */
	uint64_t current_bytes;
	uint64_t tensor;     /* the program's number for it; 0: none */
	const slice *inside; /* innermost open slice, or NULL */
} walk_memory;

/* Sizes come from a file: sums stay below 2^63. */
static inline uint64_t memory_sum(uint64_t a, uint64_t b)
{
	return a > INT64_MAX || b > INT64_MAX - a ? INT64_MAX : a + b;
}

static inline uint64_t memory_net(const slice_memory *m)
{
	return m->allocated_bytes > m->freed_bytes ? m->allocated_bytes - m->freed_bytes : 0;
}

static inline void slice_add_memory(slice_memory *to, const walk_memory *m)
{
	uint64_t *sum = m->is_free ? &to->freed_bytes : &to->allocated_bytes;

	if (m->bytes == UINT64_MAX)
		return;
	*sum = memory_sum(*sum, m->bytes);
	if (memory_net(to) > to->peak_bytes)
		to->peak_bytes = memory_net(to);
}

/* A slice has ended: what it took was taken in the slice around it, on top of what that had. */
static inline void slice_hand_memory(slice_memory *outer, const slice_memory *inner)
{
	uint64_t freed = memory_sum(outer->freed_bytes, 0), had = memory_sum(outer->allocated_bytes, inner->peak_bytes);

	if (had > freed && had - freed > outer->peak_bytes)
		outer->peak_bytes = had - freed;
	outer->allocated_bytes = memory_sum(outer->allocated_bytes, inner->allocated_bytes);
	outer->freed_bytes = memory_sum(outer->freed_bytes, inner->freed_bytes);
}

/* sonde_memory_snapshot: what the device held at that moment. */
typedef struct walk_snapshot {
	uint32_t device;
	int64_t time_ns;
	uint64_t current_bytes, peak_bytes, n_live;
} walk_snapshot;

/* One argument, in the form of its type. */
typedef struct walk_arg {
	const char *key;
	size_t key_len;
	uint8_t type; /* SONDE_ARG_*_ */
	int64_t i64;
	double f64;
	const char *text;
	size_t text_len;
	const uint64_t *dims; /* n_dims; UINT64_MAX: not recorded */
	uint64_t n_dims;
} walk_arg;

/* sonde_op_metadata: a text or a number. */
typedef struct walk_op_meta {
	uint64_t serial;
	int64_t time_ns;
	walk_arg arg;
} walk_op_meta;

/* Work on a stream of a device. Fields from `kind` on are 0 or NULL where they are unknown. */
typedef struct walk_device {
	const trace_site *site;
	uint32_t stream;
	uint64_t launch;
	int64_t start_ns, end_ns;
	uint64_t kind; /* device_work */
	uint64_t bytes;
	uint64_t grid[3], block[3];
	const uint64_t *stack; /* addresses, innermost first; valid during the call */
	size_t n_stack;
} walk_device;

typedef struct walk_counts {
	uint64_t n_slices, n_instants, n_counters, n_flows, n_memory, n_device;
	uint64_t n_open, n_repaired, n_unmatched_ends, n_clamped, n_outside, n_unknown, n_damaged, n_too_deep;
} walk_counts;

/* What a reader wants to see; any of these may be NULL. `event` gives the payload: arguments, texts. */
typedef struct walk_sink {
	void *context;
	void (*thread)(void *context, const trace_thread *thread); /* what follows happened there */
	void (*named)(void *context, const trace_thread *thread, const char *name, size_t len, bool process);
	void (*begin)(void *context, slice *s, const struct event *e);
	void (*end)(void *context, slice *s);
	void (*instant)(void *context, const trace_site *site, int64_t time_ns, const struct event *e);
	void (*counter)(void *context, const trace_site *site, int64_t time_ns, double value);
	void (*flow)(void *context, const trace_site *site, int64_t time_ns, uint64_t id, bool begins);
	void (*memory)(void *context, const walk_memory *m);
	bool launches_are_slices; /* those of an index are given to begin and end, not to launch */
	void (*launch)(void *context, const trace_site *site, int64_t time_ns, uint32_t stream, uint64_t id);
	void (*device)(void *context, const walk_device *d);
	void (*snapshot)(void *context, const walk_snapshot *s);
	void (*op_meta)(void *context, const walk_op_meta *m);
	void (*meta)(void *context, const char *key, size_t key_len, const char *value, size_t value_len);
	void (*stack)(void *context, const uint64_t *addresses, size_t n); /* of the event before, innermost first */
	void (*pause)(void *context, int64_t time_ns, bool paused);
	/* Now and then, of a recording: bytes of events; false stops the walk with SONDE_E_STATE. */
	bool (*progress)(void *context, uint64_t done, uint64_t total);
} walk_sink;

/* Walks every track. *ret_counts is filled also when out of memory. */
sonde_status trace_walk(const sonde_trace *t, const walk_sink *sink, walk_counts *ret_counts, sonde_error *err);

#endif
