/* What analyses say about a trace as a whole: its headline, how many of everything, names of its threads. */
#ifndef SONDE_ANALYZE_TABLES_OVERVIEW_H
#define SONDE_ANALYZE_TABLES_OVERVIEW_H

#include "analyze/analysis.h"

typedef struct trace_counts {
	uint64_t n_ranks, n_processes, n_threads, n_streams;
	uint64_t n_events, n_lost, n_repaired;
} trace_counts;

trace_counts trace_count(const sonde_trace *trace);
/* What a recording notes about the run: the value of this key of the recorder or, where it has none, of the first
   process that has it. NULL: unknown. */
const char *trace_origin(const sonde_trace *trace, const char *key);
/* As `sonde record` was told, or as the runtime saw it; NULL: unknown. */
const char *trace_program(const sonde_trace *trace);
const char *trace_thread_label(sonde_result *r, const sonde_trace *trace, size_t track);

#endif
