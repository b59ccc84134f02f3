/* Blocks that one thread fills and another packs; see tracks.c. */
#ifndef SONDE_STORE_TRACKS_H
#define SONDE_STORE_TRACKS_H

#include <pthread.h>
#include "store/builder_state.h"

enum { PACK_JOBS = 64 };

typedef struct pack_queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pack_job jobs[PACK_JOBS];
	size_t first, n;
	size_t n_helpers;	    /* threads that take jobs */
	lane_row *spare[PACK_JOBS]; /* of COLUMNS_ROWS each */
	size_t n_spare;
} pack_queue;

/* Leaves a full block to a thread that has no track; *ret_rows is then an empty one for it. False: there is none, or
   all have enough to do. */
bool pack_queue_offer(pack_queue *q, const pack_job *job, lane_row **ret_rows);

#endif
