/*
 * Rows page by page, between rows.c, which loads them, and ROW_AT(), which reads them.
 *
 *   pages_init()       the lanes of all tracks, group by group, and room for the pages that are kept
 *   pages_load()       reads everything once: numbers the rows that stay, notes where each page begins
 *   pages_done()
 *
 * The lanes of a group are read side by side, one cursor each: behind a slice come those of the lane below that name it
 * as their parent. Numbers of slices grow within a lane, so one look at the next slice below decides.
 *
 * A page begins with a note: which slice of each lane comes next, and which rows are open. A row that ends in another
 * page than it begins in has its end in a list. The first pages stay in memory, the last few places are used in turn.
 */
#ifndef SONDE_ANALYZE_TABLES_ROWS_PAGES_H
#define SONDE_ANALYZE_TABLES_ROWS_PAGES_H

#include "analyze/tables/rows.h"
#include "base/vec.h"

/* Lanes that nest: depth 0 first. */
typedef struct lane_group {
	uint32_t track, first_lane, n_lanes;
} lane_group;

typedef struct lane_state {
	lane_cursor *cursor;
	index_slice next;
	bool has_next;
	bool is_kept;	     /* the slice that is open is a row */
	uint32_t open;	     /* that row, or the one around it */
	uint64_t open_slice; /* its number */
} lane_state;

typedef struct long_row {
	uint32_t row, end;
} long_row;

/* Whether a slice of the track becomes a row; asked once for each. */
typedef bool pages_choose(void *context, const index_slice *s, uint32_t track);

typedef struct rows_pages {
	rows *r;
	VEC(lane_group) groups;
	VEC(lane_state) lanes; /* of the deepest group */
	/* Where the reading stands. */
	size_t group;
	uint32_t n_lanes, depth, row, page_row; /* page_row: the first of the page */
	row blank;				/* what all rows of the track share */
	int64_t start_ns;
	/* Of pages_load() */
	bool is_loading;
	pages_choose *choose;
	void *context;
	void (*put)(void *context, const index_slice *s, uint32_t row); /* is told of each row; may be NULL */
	uint8_t *left_out;						/* a bit for each slice; NULL: none is */
	VEC(uint32_t) notes;
	VEC(size_t) note_of; /* by page: its place in notes */
	VEC(long_row) ends;  /* by row */
	bool failed;
	/* Pages in memory */
	row *slots;
	uint32_t *page_in; /* by slot; ROW_NONE */
	size_t n_slots, n_used, turn;
	uint64_t n_read; /* slices */
} rows_pages;

bool pages_init(rows_pages *p, rows *r, size_t n_cached); /* false when out of memory */
bool pages_load(rows_pages *p);
void pages_done(rows_pages *p); /* accepts NULL */

#endif
