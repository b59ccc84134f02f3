/* Parts that the analyses show of an imported trace, whose events are in an index. */
#ifndef SONDE_ANALYZE_TABLES_IMPORTED_H
#define SONDE_ANALYZE_TABLES_IMPORTED_H

#include "analyze/analysis.h"

typedef struct imported_counts {
	uint64_t n_threads, n_streams, n_processes, n_ranks; /* that have slices */
	uint64_t n_events, n_lost, n_repaired;		     /* in the files, sound or not */
} imported_counts;

imported_counts imported_count(const sonde_trace *trace);
void imported_add_trace(sonde_result *r, const sonde_trace *trace, const profile *p);
void imported_note_losses(sonde_result *r, const sonde_trace *trace); /* one note, if anything is lost */
void imported_add_losses(sonde_result *r, const sonde_trace *trace, const walk_counts *counts);
table *imported_add_diagnostics(sonde_result *r, const sonde_trace *trace); /* NULL: there are none */
const char *imported_thread_label(sonde_result *r, const sonde_trace *trace, size_t index);
sonde_status info_run_imported(const sonde_trace *trace, sonde_result *r, sonde_error *err); /* analyses/info/index.c */

#endif
