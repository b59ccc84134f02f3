/*
 * The allocations of a trace, with what was running, what is freed when, and how much is held.
 *
 *   memory_events_load()   those of the ranks, steps and times that the rows were chosen by
 *   .items[]               by time
 *   memory_events_done()
 *
 * Levels are the writer's own where it says, else the sum since the trace began, the lowest taken as 0.
 */
#ifndef SONDE_ANALYZE_TABLES_MEMORY_EVENTS_H
#define SONDE_ANALYZE_TABLES_MEMORY_EVENTS_H

#include "analyze/tables/rows.h"
#include "base/vec.h"

#define EVENT_NONE UINT32_MAX

typedef struct memory_event {
	int64_t time_ns;
	int64_t bytes;	      /* negative: freed */
	int64_t allocated;    /* on the device after it */
	int64_t reserved;     /* -1: unknown */
	uint32_t device;      /* of devices */
	uint32_t row;	      /* the innermost around it, or ROW_NONE */
	uint32_t pair;	      /* what frees it, or allocated it; EVENT_NONE */
	bool is_chosen;	      /* the others are there for their pairs and levels */
	bool is_level_known;  /* the writer said what is allocated after it */
	bool is_unknown_free; /* of something that the trace never saw allocated, and of no size that it knows: bytes is
				 0 */
	bool is_lost;	      /* its address was given out again although nobody freed it: when it went is not known */
} memory_event;

typedef struct memory_device {
	uint32_t id; /* for trace_device_name() */
	int32_t rank;
	int64_t sum, lowest;
	bool has_addresses; /* else which block a free is of is not known, and pairs mean little: PyTorch of 2021 */
} memory_device;

typedef struct memory_events {
	VEC(memory_event) items;
	VEC(memory_device) devices;
} memory_events;

/* It was allocated in the trace and is still there at its end. */
static inline bool event_stays(const memory_event *e)
{
	return e->bytes > 0 && e->pair == EVENT_NONE && !e->is_lost;
}

/* False when out of memory; done() all the same. */
bool memory_events_load(memory_events *m, const rows *r, const rows_options *chosen);
void memory_events_done(memory_events *m);

#endif
