/*
 * The same collective on several ranks, and what their clocks differ by.
 *
 *   collectives_find()   the communication kernels of every rank or, where no two ranks have any, what Gloo, MPI or UCC
 *                        did on the host
 *   .matches             by collective of the reference rank, then by rank: its item, or COLLECTIVE_NONE
 *   collectives_done()
 *
 * A collective ends on all ranks at once, so the middle of the differences between ends is the difference of the
 * clocks. Those of a name are matched in their order where two ranks have as many of them, else by the nearest end, so
 * that one that is missing does not shift the others.
 */
#ifndef SONDE_ANALYZE_COLLECTIVE_MATCH_H
#define SONDE_ANALYZE_COLLECTIVE_MATCH_H

#include "analyze/rows.h"

#define COLLECTIVE_NONE UINT32_MAX

typedef struct collective {
	int64_t start_ns, end_ns; /* by the rank's own clock */
	uint32_t name;		  /* string */
	uint32_t row;
} collective;

typedef struct collective_rank {
	int32_t rank;
	collective *items; /* by name, then by start */
	size_t n, capacity;
	size_t n_matched;
	int64_t offset_ns; /* its clock is ahead of the reference's by so much */
} collective_rank;

typedef struct collectives {
	collective_rank *ranks;
	size_t n_ranks;
	size_t reference;  /* of ranks: the one with the most */
	uint32_t *matches; /* ranks[reference].n x n_ranks */
	bool on_host;
	bool by_time; /* some were matched by their ends */
} collectives;

sonde_status collectives_find(const rows *r, collectives *ret, sonde_error *err);
void collectives_done(collectives *c);

#endif
