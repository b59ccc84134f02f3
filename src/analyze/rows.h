/*
 * All slices of a trace in one array, for analyses: what ran where, inside what, and who launched it.
 *
 *   rows_load()        reads the index, applies the selection, links launches
 *   rows.items[]       track after track; within a track in pre-order, so that what is inside a row lies right behind
 *                      it: rows [i + 1, items[i].end). Lanes that overlap others come behind them, with parents of
 *                      their own
 *   rows.ranks[]       per rank: its device rows by start, its span
 *   rows.steps[]       by rank and time
 *   rows_done()
 *
 * The selection leaves rows out. Steps: a host row is in when it begins in one of the steps, a device row when what
 * launched it does (by its own start when that is not known). A warm-up of n steps: what begins, or is launched, from
 * the n-th step of the rank on. A time range: what begins in [from, to). The parent of a row is its nearest ancestor
 * that is in; a step that is out is not in the list of steps.
 *
 * Who needs few of the host's rows says so with options->wants: the others are left out as they are read. The spans of
 * ranks are those of all rows.
 *
 * Times count from the trace's start. Some 50 bytes a row.
 */
#ifndef SONDE_ANALYZE_ROWS_H
#define SONDE_ANALYZE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/search.h"
#include "store/index.h"
#include "store/trace.h"
#include <sonde/analyze.h>

#define ROW_NONE UINT32_MAX

typedef enum row_flags {
	ROW_DEVICE = 1,	   /* a kernel or copy on a device's queue */
	ROW_ON_STREAM = 2, /* anything on a device's queue: annotations and syncs too */
	ROW_ASYNC = 4,
	ROW_REPAIRED = 8, /* its end is a guess: it was missing in the trace */
} row_flags;

typedef struct row {
	int64_t start_ns, dur_ns;
	uint32_t slice; /* number in the index */
	uint32_t site;
	uint32_t args; /* record + 1; 0: none. Grows in the order of the file */
	uint32_t track;
	uint32_t parent; /* row, or ROW_NONE */
	uint32_t end;	 /* first row behind its descendants */
	uint32_t launch; /* of a device row: the row that launched it, or ROW_NONE */
	uint16_t depth;	 /* 0: no parent in the trace, selected or not */
	uint8_t class;	 /* site_class */
	uint8_t flags;	 /* row_flags */
} row;
_Static_assert(sizeof(row) == 48, "memory per event");

static inline int64_t row_end_ns(const row *r)
{
	return r->start_ns + r->dur_ns;
}

typedef struct rows_step {
	int64_t number;
	int64_t start_ns, dur_ns;
	uint32_t row, track;
	int32_t rank;
} rows_step;

typedef struct rows_rank {
	int32_t rank;
	const uint32_t *device; /* rows with ROW_DEVICE, by start, then in the order of the file */
	size_t n_device;
	const rows_step *steps; /* of host tracks, by time */
	size_t n_steps;
	int64_t start_ns, end_ns; /* over its rows */
} rows_rank;

typedef struct rows_options {
	bool use_steps;
	int64_t first_step, last_step;
	size_t n_warmup;   /* steps at the start of each rank that are left out; its last one stays */
	const char *ranks; /* "0,2-4"; NULL: all */
	bool use_time;
	int64_t from_ns, to_ns;
	/* Of host rows only those of the sites it says yes to, steps, and what launched something; row_of_slice is not
	   there then. NULL: all. With a selection, which needs them, it is not asked. */
	bool (*wants)(const char *name, site_class class);
} rows_options;

/* Where the rows of a track ran, and when. */
typedef struct rows_place {
	int64_t start_ns, end_ns; /* INT64_MAX, INT64_MIN: it has none */
	int32_t rank;
	int32_t stream; /* of the queue; -1: none */
} rows_place;

typedef struct rows {
	const sonde_trace *trace;
	const sonde_index *ix;	 /* NULL: a recording that has no index; there are no rows then */
	const index_site *sites; /* by row.site */
	const index_track *tracks;
	size_t n_sites, n_tracks;
	rows_place *places; /* by track */
	row *items;
	size_t n;
	uint32_t *first_of_track; /* rows [i, i + 1) of it are those of track i */
	uint32_t *row_of_slice;	  /* by slice number; ROW_NONE */
	size_t n_slices;
	rows_rank *ranks; /* by rank */
	size_t n_ranks;
	rows_step *steps;
	size_t n_steps;
	size_t n_device;
	size_t n_left_out;     /* by the selection */
	bool damaged;	       /* blocks that could not be read are missing */
	uint32_t *device_rows; /* what ranks[].device point into */
} rows;

/* options may be NULL. rows_done() afterwards, also on failure. */
sonde_status rows_load(const sonde_trace *trace, const rows_options *options, rows *ret_rows, sonde_error *err);
void rows_done(rows *r);
/* What happened on a rank at that time is in; the rows are already chosen by the same options. */
bool rows_choose(const rows *r, const rows_options *options, int32_t rank, int64_t ns);
bool rows_select(rows *r, const rows_options *options); /* for rows_load(); false when out of memory */

rows_options rows_options_from(const sonde_analyze_options *from);

static inline int32_t track_rank(const rows *r, size_t track)
{
	return r->places[track].rank;
}
static inline int32_t row_rank(const rows *r, const row *of)
{
	return r->places[of->track].rank;
}
static inline int32_t row_stream(const rows *r, const row *of)
{
	return r->places[of->track].stream;
}
static inline const char *row_name(const rows *r, const row *of)
{
	return index_text(r->ix, r->sites[of->site].name);
}
static inline const char *row_category(const rows *r, const row *of)
{
	return index_text(r->ix, r->sites[of->site].category);
}

/* The step of a rank that was the last to begin: its place in rank->steps; -1: none had. rank may be NULL. */
static inline int64_t rank_step_at(const rows_rank *rank, int64_t ns)
{
	return (int64_t)FIRST_NOT(i, 0, rank ? rank->n_steps : 0, rank->steps[i].start_ns <= ns) - 1;
}

static inline void place_widen(rows_place *p, int64_t start_ns, int64_t end_ns)
{
	p->start_ns = start_ns < p->start_ns ? start_ns : p->start_ns;
	p->end_ns = end_ns > p->end_ns ? end_ns : p->end_ns;
}

/* The row of a slice, or ROW_NONE. */
static inline uint32_t rows_of_slice(const rows *r, uint64_t id)
{
	return id < r->n_slices ? r->row_of_slice[id] : ROW_NONE;
}

#endif
