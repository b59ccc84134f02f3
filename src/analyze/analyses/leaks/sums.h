/*
 * What stays of the blocks that a trace saw allocated, by place and by step; what `leaks` shows.
 *
 *   leak_sums_load()    from the rows and their allocations, O(n)
 *   .devices[]          as in events.devices: sums, and how each grows
 *   .places[]           blocks of one size from one place
 *   leak_sums_done()
 */
#ifndef SONDE_ANALYZE_ANALYSES_LEAKS_SUMS_H
#define SONDE_ANALYZE_ANALYSES_LEAKS_SUMS_H

#include "analyze/tables/memory_growth.h"
#include "analyze/tables/op_tree.h"
#include "base/intern.h"
#include "base/vec.h"

enum { LEAK_NO_STEP = -1 };

/* Blocks of one size from one place. */
typedef struct leak_place {
	uint32_t device;
	uint32_t op, scope, python; /* strings, INDEX_NONE: none */
	int64_t bytes;		    /* of one */
	uint64_t n;
	uint64_t n_steps;     /* that left some; blocks come by time */
	int64_t first, last;  /* places in the list of steps; LEAK_NO_STEP: before the first */
	int64_t last_counted; /* the step that n_steps counted last */
} leak_place;

typedef struct leak_device {
	memory_growth growth;
	const rows_rank *rank;	   /* whose steps count; NULL: none */
	uint64_t *stays, *n_stays; /* by step */
	uint64_t n, n_allocs, n_unknown, n_lost;
	uint64_t n_sizeless; /* of n_unknown: not even their size is known */
	uint64_t bytes, allocated, unknown, lost;
	const memory_event *first;
	bool is_seen; /* something of it was chosen */
} leak_device;

typedef struct leak_sums {
	const rows *rows;
	op_tree tree;
	memory_events events;
	leak_device *devices;
	intern_table keys;
	VEC(leak_place) places;
	VEC(uint32_t) blocks; /* events that stay */
} leak_sums;

/* False when out of memory; done() all the same. The rows must outlive it. */
bool leak_sums_load(leak_sums *l, const rows *r, const rows_options *chosen);
void leak_sums_done(leak_sums *l);

/* Where an event came from: fills op, scope and python. */
void leak_find_place(const leak_sums *l, const memory_event *e, leak_place *to);

#endif
