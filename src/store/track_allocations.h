/* The allocations of an index by track, each with what its device holds after it: for the walk. */
#ifndef SONDE_STORE_TRACK_ALLOCATIONS_H
#define SONDE_STORE_TRACK_ALLOCATIONS_H

#include "store/walk.h"

typedef struct track_allocations {
	walk_memory *items; /* by track, then time */
	size_t *first;	    /* of each track; n_tracks + 1 of them */
	size_t n_tracks;
	bool damaged; /* some could not be read */
} track_allocations;

/* False when out of memory; track_allocations_done() follows in any case. */
bool track_allocations_make(track_allocations *a, const sonde_trace *t);
void track_allocations_done(track_allocations *a);

#endif
