/* Which slices of a trace a selection of steps, ranks and times leaves; between rows.c and rows_select.c. */
#ifndef SONDE_ANALYZE_TABLES_ROWS_SELECT_H
#define SONDE_ANALYZE_TABLES_ROWS_SELECT_H

#include "analyze/tables/rows.h"

/* Where the warm-up of a rank ends: the start of its first step that counts. */
typedef struct warmup_end {
	bool is_known;
	int32_t rank;
	int64_t ns;
} warmup_end;

typedef struct selection {
	const rows *r; /* its steps are all there */
	const rows_options *options;
	warmup_end known;
	/* By slice, a bit each: what launched it is in the trace, and is in the steps */
	uint8_t *is_launched, *launch_is_in;
} selection;

/* selection_done() afterwards, also when it says false: out of memory. */
bool selection_init(selection *s, const rows *r, const rows_options *options);
bool selection_has(selection *s, const index_slice *slice, uint32_t track);
void selection_done(selection *s);

#endif
