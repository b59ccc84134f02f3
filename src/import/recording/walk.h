/*
 * All events of a recording, decoded, paired and repaired, thread by thread and in time order within a thread.
 *
 * Scopes nest: an end closes everything that was begun after its begin. Phases above it end normally that way; a scope
 * that does was left by longjmp or lost its end, and is marked. What is open when the thread's events end is closed
 * there and marked. An operation of sonde_op_begin counts as nested as long as it is the innermost thing open on its
 * thread; when its end comes from another thread, sink->end is called after all threads. Time never runs backwards
 * within a thread: a stamp before its predecessor's is set to that one's time. Nor does a duration that was measured
 * elsewhere: below 0 it is 0.
 *
 * A window (recording.h) is walked from window_ns on. What is open then begins there and is marked; so are scopes of
 * which the window has the end alone. A step that is cut so is no step, it would seem too short.
 */
#ifndef SONDE_IMPORT_RECORDING_WALK_H
#define SONDE_IMPORT_RECORDING_WALK_H

#include "format/recording/device_work.h"
#include "format/recording/events.h"
#include "format/recording/payloads.h"
#include "import/recording/recording.h"

/* Walks every thread. *ret_counts is filled also when out of memory. */
sonde_status recording_walk(const recording *r, const walk_sink *sink, walk_counts *ret_counts, sonde_error *err);

/* ---- A recording that grows: the walk in parts ------------------------------------------------------------------- */

typedef VEC(slice) slice_list;

/* Where the walk of a thread stands. At first it is zeroed, with now_ns INT64_MIN. */
typedef struct walk_position {
	slice_list stack; /* what is open */
	int64_t now_ns;
	uint64_t next_word; /* of the thread: what comes before was walked */
} walk_position;

/* The end of an operation. */
typedef struct walk_end {
	uint64_t serial;
	int64_t time_ns;
	bool is_taken;
} walk_end;

typedef struct walk_stack {
	size_t first, n; /* in addresses; n 0: not seen yet */
} walk_stack;

/* Call stacks by their ids. */
typedef struct walk_stacks {
	intern_table ids; /* 8 bytes each; numbers are the indexes of places */
	VEC(walk_stack) places;
	VEC(uint64_t) addresses;
} walk_stacks;

/* Of a process: call stacks, operations that have left their thread's stack without their end, and ends without their
   operation. */
typedef struct walk_apart {
	walk_stacks stacks;
	slice_list pending;
	VEC(walk_end) ends;
} walk_apart;

typedef struct walk_part {
	const recording *trace;	  /* the same recording as in the call before, or what has become of it */
	const walk_sink *sink;	  /* its `thread` is not called */
	walk_counts *counts;	  /* are added to */
	uint64_t n_done, n_total; /* bytes of events, for sink->progress */
} walk_part;

/* Walks a thread from where it stands to before the block with this number of the trace. Slices keep the pointer
   `thread`. closes: these are all its events, so what is open ends. */
sonde_status walk_go_on(walk_part *part, const trace_thread *thread, size_t end_block, bool closes,
			walk_position *position, walk_apart *apart, sonde_error *err);
/* After the threads of the process: brings operations and ends together. closes: none will come any more. */
sonde_status walk_settle(walk_part *part, uint32_t stream, bool closes, walk_apart *apart, sonde_error *err);
void walk_position_done(walk_position *p);
void walk_apart_done(walk_apart *a);

/* Calls back for every argument of a slice's begin, in words for a person. */
void walk_args(const trace_site *site, const event *e, void (*each)(void *context, const walk_arg *arg), void *context);
/* The same for what is known about the work of a device, but for its stack. */
void walk_device_args(const walk_device *d, void (*each)(void *context, const walk_arg *arg), void *context);

#endif
