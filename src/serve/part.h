/*
 * The part of a trace that is in a page of bounded size: which tracks with their lanes and processes, which counters,
 * which steps. What is left out is counted, and said in the page.
 *
 *   trace_part_choose(&p, ix, budget)    bytes of JSON for all of them, about; false when out of memory
 *   trace_part_done(&p)
 *
 * The busiest tracks stay, the counters with the most values and the longest steps. Handlers of routes look at
 * call.part.
 */
#ifndef SONDE_SERVE_PART_H
#define SONDE_SERVE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "store/index/index.h"

enum {
	PART_NAME = 200,     /* bytes of a track's, process's or counter's name */
	PART_COUNTERS = 256, /* as many as /counters answers */
	PART_RANKS = 256,    /* of /overlap */
};

/* 1 for each that is in the page. */
typedef struct trace_part {
	uint8_t *tracks, *lanes, *processes, *counters, *steps;
	size_t n_tracks, n_lanes, n_counters, n_steps; /* that are in the page */
	const sonde_index *ix;
} trace_part;

bool trace_part_choose(trace_part *p, const sonde_index *ix, uint64_t budget);
void trace_part_done(trace_part *p);

/* Of a handler; part NULL: everything is wanted. */
#define PART_HAS(part, what, i) (!(part) || (part)->what[i])

#endif
