/*
 * The steps of a trace.
 *
 *   step_list steps = { 0 };
 *   step_list_load(trace, ranks, &steps, err)    by rank and start
 *   VEC_DONE(&steps)                             also on failure
 *
 * Copies of steps on a device's queue are no steps. Times are those of the trace, not since its start.
 */
#ifndef SONDE_ANALYZE_TABLES_STEP_LIST_H
#define SONDE_ANALYZE_TABLES_STEP_LIST_H

#include "base/vec.h"
#include "store/trace.h"

typedef struct step_time {
	int64_t number, start_ns, dur_ns;
	int32_t rank;
} step_time;
typedef VEC(step_time) step_list;

/* ranks: "0,2-4"; NULL: all. */
sonde_status step_list_load(const sonde_trace *trace, const char *ranks, step_list *ret_steps, sonde_error *err);

/* How long the name is without the number of the step: "ProfilerStep" of "ProfilerStep#5". */
size_t step_name_length(const char *text, size_t len);

/* Rank of a track. A trace that never says has one rank: 0. */
int32_t rank_of_track(const sonde_trace *trace, size_t track);
int32_t rank_of_index_track(const sonde_index *ix, size_t track);
/* SONDE_E_USAGE, with the sentence that says so; ends that are not there are INT64_MIN and INT64_MAX. */
sonde_status steps_missing(int64_t first, int64_t last, const char *where, sonde_error *err);
/* SONDE_E_USAGE: the trace has none of them. */
sonde_status steps_check(const sonde_trace *trace, int64_t first, int64_t last, sonde_error *err);
/* SONDE_E_USAGE: it is no list of ranks, or the trace has none of them; the message says which it has. */
sonde_status ranks_check(const sonde_trace *trace, const char *ranks, sonde_error *err);

#endif
