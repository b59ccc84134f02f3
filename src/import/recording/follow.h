/*
 * The index of a recording that is still being written, again and again.
 *
 *   recording_follow *r = recording_follow_new();
 *   recording_follow_read(r, trace, ...)    some of what is new, for one that is behind
 *   recording_follow_index(r, trace, ...)   each time that the recording was opened anew
 *   recording_follow_free(r);
 *
 * Each index says what one made from scratch would, and takes time for what is new. What stays as it is, is kept:
 * events that are in the file and older than the last reading of the clocks there. What comes behind them, in the file
 * and in the ring, is fed into a copy each time. Packed slices are not copied, the indexes share them; of everything
 * else (instants, counters, allocations, flows, arguments, slices of devices) each index has its own.
 *
 * What cannot be kept up makes it begin anew, which is as slow as it is right: a name that is not known yet, clocks
 * that turn out otherwise, notes on operations, which may come from any thread.
 */
#ifndef SONDE_IMPORT_RECORDING_FOLLOW_H
#define SONDE_IMPORT_RECORDING_FOLLOW_H

#include "import/recording/build.h"

typedef struct recording_follow recording_follow;

recording_follow *recording_follow_new(void);	 /* NULL when out of memory */
void recording_follow_free(recording_follow *r); /* accepts NULL; its indexes stay */
/* Reads on for about n_events. *ret_left is how many events of the trace it has not read then: those that
   recording_follow_index would read. The trace is no window. */
sonde_status recording_follow_read(recording_follow *r, const recording *t, uint64_t n_events, uint64_t *ret_left,
				   sonde_error *err);
/* The trace need not live until the next call. The caller frees *ret_index with index_free. */
sonde_status recording_follow_index(recording_follow *r, const recording *t, recording_progress *progress,
				    void *context, sonde_index **ret_index, sonde_error *err);
/* About how many events were walked for the last index. */
uint64_t recording_follow_cost(const recording_follow *r);

#endif
