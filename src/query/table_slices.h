/* The cursor of slices and kernels, which slice_groups.c also works with. */
#ifndef SONDE_QUERY_TABLE_SLICES_H
#define SONDE_QUERY_TABLE_SLICES_H

#include "query/table.h"

/* Rows sorted by columns of sites and lanes. */
typedef struct slice_groups slice_groups;

typedef struct slices_cursor {
	query_cursor base;
	index_slice slice; /* the current one */
	uint64_t row_end;  /* of the current lane: so far the filter goes */
	uint32_t n_seen;   /* slices looked at, to ask now and then whether to stop */
	lane_cursor lane;
	slice_groups *groups; /* NULL: in the order of their numbers */
	struct children *children;
	struct launch_reader *launches;
} slices_cursor;

/* The next slice of a lane that the filter lets pass; false at the lane's end. *ret_code is SQLITE_INTERRUPT when the
   query was stopped, else SQLITE_OK. */
bool slices_next_in_lane(slices_cursor *c, int *ret_code);
/* Goes to the first row of the lane that the filter's ranges leave. False when they leave none. */
bool slices_enter_lane(slices_cursor *c, uint32_t lane);

/* Collects all rows that the filter lets pass, in the plan's order. */
int slice_groups_make(slices_cursor *c);
/* The next of them, into c->slice and c->base.at. Only what the plan needs is set. */
int slice_groups_next(slices_cursor *c);
void slice_groups_free(slice_groups *g); /* accepts NULL */

#endif
