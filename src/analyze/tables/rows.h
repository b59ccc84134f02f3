/*
 * All slices of a trace, numbered, for analyses: what ran where, inside what, and who launched it.
 *
 *   rows_load()        reads the index, applies the selection, links launches
 *   ROW_AT(rows, i)    track after track; within a track in pre-order, so that what is inside a row lies right behind
 *                      it: rows [i + 1, row.end). Lanes that overlap others come behind them, with parents of their own
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
 * Times count from the trace's start.
 *
 * Memory: pages of ROWS_PAGE rows, 48 bytes a row, as long as there are few. Of a trace with more than 12 M slices the
 * pages that do not fit are made again from the blocks of the index when they are asked for: going through rows in
 * order takes some 20 ns a row then, jumping to any row some 20 us. Else a row takes a tenth of a byte, and 8 bytes on
 * a device. When rows_are_paged() one thread at a time may read them, else any number.
 */
#ifndef SONDE_ANALYZE_TABLES_ROWS_H
#define SONDE_ANALYZE_TABLES_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/search.h"
#include "store/index/index.h"
#include "store/trace.h"
#include <sonde/analyze.h>

#define ROW_NONE UINT32_MAX
enum { ROWS_PAGE = 1024, SITE_WORDS = 8 };

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
	/* Of host rows only those of the sites it says yes to, steps, and what launched something. NULL: all. With a
	   selection it is not asked. */
	bool (*wants)(const char *name, site_class class);
	uint64_t memory_bytes; /* for all that an analysis keeps; 0: 1 GB */
	size_t n_cached;       /* pages in memory; 0: what these bytes leave beside what analyses keep for each slice */
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
	row **pages;	    /* for ROW_AT(): by row / ROWS_PAGE; NULL: not in memory */
	struct rows_pages *store;
	uint64_t (*page_sites)[SITE_WORDS]; /* for rows_next(): by page, a bit for the sites that have rows in it */
	size_t n;
	uint32_t *first_of_track; /* rows [i, i + 1) of it are those of track i */
	uint32_t *launches;	  /* of rows on streams: rows_launch() */
	uint32_t *first_launch;	  /* by track: its first row's */
	size_t n_slices;	  /* of the index */
	rows_rank *ranks;	  /* by rank */
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

rows_options rows_options_from(const sonde_analyze_options *from);

/* A copy of row i, which lives as long as the block that it is in. */
#define ROW_AT(rows, i) ((const row *)(row[1]){ rows_at(rows, i) })
const row *rows_fill_page(const rows *r, size_t page); /* for rows_at(): rows_pages.c */
static inline row rows_at(const rows *r, size_t i)
{
	const row *page = r->pages[i / ROWS_PAGE];

	if (__builtin_expect(!page, 0))
		page = rows_fill_page(r, i / ROWS_PAGE);
	return page[i % ROWS_PAGE];
}
bool rows_are_paged(const rows *r);

/* Sites whose rows are looked for. */
typedef struct site_set {
	uint8_t *has; /* by site */
	uint64_t bits[SITE_WORDS];
} site_set;
bool site_set_init(site_set *s, const rows *r); /* empty; false when out of memory */
void site_set_done(site_set *s);
static inline void site_set_add(site_set *s, uint32_t site)
{
	s->has[site] = 1;
	s->bits[site / 64 % SITE_WORDS] |= UINT64_C(1) << site % 64;
}
/* The first row from i on whose site is in the set; rows.n: none. Pages without one are not read. */
size_t rows_next(const rows *r, const site_set *s, size_t i);
/* Where the launch of a row on a stream is; the track is its own. */
static inline uint32_t *rows_launch(const rows *r, uint32_t track, uint32_t i)
{
	return &r->launches[r->first_launch[track] + i - r->first_of_track[track]];
}

/* The launch of a row on a stream, or ROW_NONE; without a look at the row. */
static inline uint32_t rows_launch_of(const rows *r, uint32_t device_row)
{
	size_t track = FIRST_NOT(t, 0, r->n_tracks, r->first_of_track[t + 1] <= device_row);

	return *rows_launch(r, (uint32_t)track, device_row);
}
/* Device rows whose launch is known, by the row that launched them, then by start; to be freed. NULL when out of
 * memory.
 */
uint32_t *rows_by_launch(const rows *r, size_t *ret_n);
/* The first of those that were launched by the row or one behind it. */
static inline size_t rows_launched_from(const rows *r, const uint32_t *by_launch, size_t n, uint32_t from)
{
	return FIRST_NOT(i, 0, n, rows_launch_of(r, by_launch[i]) < from);
}

/* What rows launched, for one pass over them: launched_by() for each row that is wanted, in their order. */
typedef struct launch_cursor {
	const rows *r;
	const uint32_t *by_launch;
	size_t n, at;	 /* at: the next of by_launch */
	uint32_t launch; /* the row that launched it; ROW_NONE: there is none */
} launch_cursor;
static inline void launch_cursor_set(launch_cursor *c, size_t at)
{
	c->at = at;
	c->launch = at < c->n ? rows_launch_of(c->r, c->by_launch[at]) : ROW_NONE;
}
static inline launch_cursor launch_cursor_at(const rows *r, const uint32_t *by_launch, size_t n, size_t at)
{
	launch_cursor c = { .r = r, .by_launch = by_launch, .n = n };

	launch_cursor_set(&c, at);
	return c;
}
/* Device rows that the row launched itself, by start. */
static inline const uint32_t *launched_by(launch_cursor *c, uint32_t host_row, size_t *ret_n)
{
	while (c->launch < host_row)
		launch_cursor_set(c, c->at + 1);
	size_t first = c->at;
	while (c->launch == host_row)
		launch_cursor_set(c, c->at + 1);
	*ret_n = c->at - first;
	return c->by_launch + first;
}

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

#endif
