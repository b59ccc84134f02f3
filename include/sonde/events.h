/*
 * The events of a recording, one after the other, without SQL. Needs libsonde.
 *
 *   sonde_trace_open("run.sonde", &trace, &err);
 *   sonde_events_open(trace, &events, &err);
 *   while ((e = sonde_events_next(events)))
 *           printf("%s %lld\n", e->name, (long long)e->dur_ns);
 *   status = sonde_events_close(events, &err);
 *
 * Works on a finished recording, on one whose program was killed, and on one that is being written, also by the calling
 * program (sonde_output() is its path): it has the events that were there when the trace was opened. Memory does not
 * grow with the recording.
 *
 * Threads come one after the other, and within a thread everything is in the order of time. A slice comes when it ends:
 * after the slices inside it. Operations that end on another thread come after all threads of their process.
 *
 * Different iterators are independent, also on one trace; one iterator is used by one thread at a time.
 */
#ifndef SONDE_EVENTS_H
#define SONDE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sonde/error.h>
#include <sonde/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sonde_events sonde_events;

/* More kinds may be added: skip what you do not know. */
typedef enum sonde_event_kind {
	SONDE_EVENT_SCOPE = 1,	    /* time_ns, dur_ns, depth, args */
	SONDE_EVENT_PHASE = 2,	    /* as a scope */
	SONDE_EVENT_STEP = 3,	    /* as a scope; number */
	SONDE_EVENT_MODULE = 4,	    /* as a scope */
	SONDE_EVENT_OP = 5,	    /* as a scope; id when it was begun with sonde_op_begin */
	SONDE_EVENT_INSTANT = 6,    /* time_ns, args */
	SONDE_EVENT_COUNTER = 7,    /* time_ns, value */
	SONDE_EVENT_FLOW_BEGIN = 8, /* time_ns, id */
	SONDE_EVENT_FLOW_END = 9,   /* time_ns, id */
	SONDE_EVENT_ALLOC = 10,	    /* time_ns, device, id (the address), bytes, value (bytes in use after it) */
	SONDE_EVENT_FREE = 11,	    /* the same; bytes is -1 for a block that was never seen */
	SONDE_EVENT_LAUNCH = 12,    /* time_ns, device, stream, id */
	SONDE_EVENT_DEVICE = 13,    /* time_ns, dur_ns, device, stream, id of its launch (0: unknown), args */
	SONDE_EVENT_METADATA = 14,  /* name is the key, one argument the value; id: of the operation, 0: of the run */
} sonde_event_kind;

typedef enum sonde_event_arg_type {
	SONDE_EVENT_I64 = 1,
	SONDE_EVENT_F64 = 2,
	SONDE_EVENT_STRING = 3,
	SONDE_EVENT_SHAPE = 4,
} sonde_event_arg_type;

typedef struct sonde_event_arg {
	const char *key;
	sonde_event_arg_type type;
	bool is_recorded; /* false: a shape that was left out, because shapes were not recorded */
	int64_t i64;
	double f64;
	const char *string;  /* "" for other types */
	const int64_t *dims; /* of a shape, also the addresses of a call stack */
	size_t n_dims;
} sonde_event_arg;

/* Fields that the kind does not name are 0 or "". More may be added at the end. */
typedef struct sonde_event {
	sonde_event_kind kind;
	const char *name;
	const char *category; /* "compute" */
	int64_t time_ns;      /* since the start of the trace; of a slice: its begin */
	int64_t dur_ns;
	uint32_t depth;	      /* of a scope on its thread, 0: outermost */
	bool is_open;	      /* it had not ended when the recording did, or when the trace was opened */
	bool is_repaired;     /* its end was not recorded: it ended with the scope around it */
	bool is_asynchronous; /* an operation that need not nest */
	int32_t pid;
	int32_t tid;
	const char *thread; /* its name, "" if it has none */
	int64_t number;
	uint64_t id;
	double value;
	int64_t bytes;
	const char *device; /* "cpu", "gpu0" */
	const char *stream;
	const sonde_event_arg *args;
	size_t n_args;
} sonde_event;

/* SONDE_E_UNSUPPORTED for a trace of another tool, which <sonde/query.h> reads. The iterator keeps what it needs of the
   trace, which may be freed before. The caller closes *ret_events, which is NULL if it failed. */
SONDE_API sonde_status sonde_events_open(const sonde_trace *trace, sonde_events **ret_events, sonde_error *err);

/* The next event, valid until the next call; NULL at the end, and after a failure, which sonde_events_close() tells. */
SONDE_API const sonde_event *sonde_events_next(sonde_events *events);

/* Frees the iterator. SONDE_E_MEMORY if events are missing for want of memory. Accepts NULL. */
SONDE_API sonde_status sonde_events_close(sonde_events *events, sonde_error *err);

#ifdef __cplusplus
}
#endif
#endif
