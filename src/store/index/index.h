/*
 * A trace in its indexed form (format/index/sections.h), opened: from a mapped file or from what a builder made in
 * memory. Read only; any number of threads may use it at once, each with its own cursors and readers.
 *
 *   index_open_memory(), index_adopt()   check what is cheap to check; everything else is checked at each use
 *   index_open_file(), index_write()     the file: index/file.c
 *   index_lanes ...       tables as they lie
 *   lane_first(), _next() the slices of a lane, one after the other, fast
 *   index_slice()         one slice by its number
 *   index_range()         what to draw: range.c; index_instants(): instants.c
 *   index_aggregate()     sums per site over a time range: aggregate.c
 *   table_first(), _next() rows of instants, flows, launches, allocations, values, samples
 *   args_reader           arguments of a slice: args.c
 *   fact_reader           what an event carried, in columns: facts.c
 *
 * Times that come out of here are absolute: index start + row.
 */
#ifndef SONDE_STORE_INDEX_INDEX_H
#define SONDE_STORE_INDEX_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/vec.h"
#include "format/index/columns.h"
#include "format/index/sections.h"
#include "store/index/args.h"
#include <sonde/error.h>

/*
 * Times of a trace, and so their differences, stay far from overflow: 73 years either way. Every time that comes from a
 * file is bounded once, where it is read.
 */
#define TRACE_NS_MAX (INT64_MAX / 4)
static inline int64_t trace_bounded_ns(int64_t ns)
{
	if (__builtin_expect((uint64_t)ns + TRACE_NS_MAX <= 2 * (uint64_t)TRACE_NS_MAX, 1))
		return ns;
	return ns < 0 ? -TRACE_NS_MAX : TRACE_NS_MAX;
}

typedef struct sonde_index sonde_index;

#define INDEX_NO_SLICE UINT64_MAX

/* The bytes are borrowed, must live as long as the index and lie at a multiple of 8. */
sonde_status index_open_memory(const uint8_t *bytes, size_t len, sonde_index **ret_index, sonde_error *err);
/* Takes bytes that malloc gave, also when it fails. */
sonde_status index_adopt(uint8_t *bytes, size_t len, sonde_index **ret_index, sonde_error *err);
/* As index_open_memory() and index_adopt(), for what this process has just made: no page needs a check. */
sonde_status index_open_made(const uint8_t *bytes, size_t len, sonde_index **ret_index, sonde_error *err);
sonde_status index_adopt_made(uint8_t *bytes, size_t len, sonde_index **ret_index, sonde_error *err);
/* Maps an image that was just written at `at` of the file, which stays the caller's. */
sonde_status index_open_written(int fd, uint64_t at, size_t len, sonde_index **ret_index, sonde_error *err);
struct block_place;
struct shared_blocks;
/* Its blocks of slices lie at these places, which are its own from now on, some of them in `shared`. Such an index is
   not written to a file. */
void index_share(sonde_index *ix, struct block_place *places, struct shared_blocks *shared);

/* True when the file is an index or ends with an index_footer; its index may still be damaged. */
bool index_file_has(int fd);
/* Maps a file that is an index, or a recording that ends with one. path: for messages. fd stays the caller's and need
   not stay open. */
sonde_status index_open_file(const char *path, int fd, sonde_index **ret_index, sonde_error *err);
/* Writes the image at the file's position. SONDE_E_FORMAT: a part of it is damaged, nothing was written. */
sonde_status index_write(const sonde_index *ix, int fd, sonde_error *err);
void index_free(sonde_index *ix); /* accepts NULL */
/* The file was cut off while it was open: see mapping.h. */
bool index_is_broken(const sonde_index *ix);
bool index_is_mapped(const sonde_index *ix);
/* Lets go of what was read of a mapped file, so that going through one of any size keeps little of it in memory. It
   comes back from the page cache when it is touched again. */
void index_release_pages(const sonde_index *ix);

/* ---- Damage: index/pages.c --------------------------------------------------------------------------------------- */

/* SONDE_OK when everything that was used so far is as it was written. Otherwise SONDE_E_FORMAT: *err says which part is
   damaged, and answers lack what it held. */
sonde_status index_damage(const sonde_index *ix, sonde_error *err);
bool index_is_damaged(const sonde_index *ix); /* the same, without words */
/* The same after a look at everything. */
sonde_status index_verify(const sonde_index *ix, sonde_error *err);
/* Returns the same image made anew, or NULL. */
typedef sonde_index *index_maker(void *context);
/* A damaged page is taken from the image that `make` makes, when the first one is found, and written back to the file
   `path` (not copied; NULL: it is not). */
void index_set_maker(sonde_index *ix, index_maker *make, void *context, const char *path);
uint64_t index_n_mended(const sonde_index *ix); /* pages */
const char *index_section_name(index_kind kind);

/* The image as it lies in memory: header, sections. */
const uint8_t *index_bytes(const sonde_index *ix, size_t *ret_len);

int64_t index_start_ns(const sonde_index *ix);
int64_t index_end_ns(const sonde_index *ix);
index_clock index_clock_of(const sonde_index *ix);

const index_lane *index_lanes(const sonde_index *ix, size_t *ret_n);
const index_track *index_tracks(const sonde_index *ix, size_t *ret_n);
const index_process *index_processes(const sonde_index *ix, size_t *ret_n);
int32_t index_rank_of(const sonde_index *ix, uint32_t track); /* -1: not known */
bool index_has_ranks(const sonde_index *ix);		      /* at least one process has one */
const index_site *index_sites(const sonde_index *ix, size_t *ret_n);
const index_meta *index_metas(const sonde_index *ix, size_t *ret_n);
const index_diagnostic *index_diagnostics(const sonde_index *ix, size_t *ret_n);
const index_step *index_steps(const sonde_index *ix, size_t *ret_n);
const index_device *index_devices(const sonde_index *ix, size_t *ret_n);
const index_message *index_messages(const sonde_index *ix, size_t *ret_n);
const index_role *index_roles(const sonde_index *ix, size_t *ret_n);
const char *index_role_key(const sonde_index *ix, fact_role role); /* NULL: no argument has the role */
const index_counter *index_counters(const sonde_index *ix, size_t *ret_n);

size_t index_n_strings(const sonde_index *ix);
const char *index_text(const sonde_index *ix, uint32_t string); /* "" for INDEX_NONE, "?" for what is not there */
const char *index_textn(const sonde_index *ix, uint32_t string, size_t *ret_len);
uint32_t index_find_text(const sonde_index *ix, const char *text, size_t len); /* or INDEX_NONE; reads all strings */

uint64_t index_n_slices(const sonde_index *ix);
uint64_t index_n_rows(const sonde_index *ix, index_kind kind); /* of a section */

/* ---- Slices ------------------------------------------------------------------------------------------------------ */

typedef struct index_slice {
	uint64_t id;
	uint32_t lane;
	uint32_t site;
	int64_t start_ns, dur_ns;
	uint64_t parent; /* or INDEX_NO_SLICE */
	uint32_t args;	 /* record + 1; 0: none */
	uint32_t flags;
} index_slice;

bool index_slice_at(const sonde_index *ix, uint64_t id, index_slice *ret_slice); /* false: no such slice */

/* Lane of a slice, or INDEX_NONE. */
uint32_t index_lane_of(const sonde_index *ix, uint64_t id);

/* The slices of a lane from row `first` on, block by block. */
typedef struct lane_cursor {
	const sonde_index *ix;
	const index_lane *lane;
	uint32_t lane_number;
	uint64_t row;	/* of the next slice */
	uint32_t n, at; /* rows in the buffers, next of them */
	/* As index_slice has them. */
	int64_t start[COLUMNS_ROWS], dur[COLUMNS_ROWS], site[COLUMNS_ROWS], parent[COLUMNS_ROWS];
	int64_t args[COLUMNS_ROWS], flags[COLUMNS_ROWS];
	bool damaged; /* a block could not be read: its rows are skipped */
} lane_cursor;
void lane_first(lane_cursor *c, const sonde_index *ix, uint32_t lane, uint64_t first);
bool lane_load(lane_cursor *c); /* for lane_next(): the next block */

static inline bool lane_next(lane_cursor *c, index_slice *ret_slice)
{
	if (c->at == c->n && !lane_load(c))
		return false;
	uint32_t i = c->at++;
	ret_slice->id = c->lane->first_slice + c->row++;
	ret_slice->lane = c->lane_number;
	ret_slice->site = (uint32_t)c->site[i];
	ret_slice->start_ns = c->start[i];
	ret_slice->dur_ns = c->dur[i];
	ret_slice->parent = (uint64_t)c->parent[i];
	ret_slice->args = (uint32_t)c->args[i];
	ret_slice->flags = (uint32_t)c->flags[i];
	return true;
}
/* The next before row `end` whose site is marked, one byte per site. Blocks that have none are not unpacked. */
bool lane_next_marked(lane_cursor *c, const uint8_t *sites, uint64_t end, index_slice *ret_slice);

/* The first row of the lane whose end is after ns, and the first that starts at or after it; n_slices when none. */
uint64_t lane_find_end(const sonde_index *ix, uint32_t lane, int64_t ns);
uint64_t lane_find_start(const sonde_index *ix, uint32_t lane, int64_t ns);

/* The lane below (the same track and group, depth + 1), or INDEX_NONE. */
uint32_t index_lane_below(const sonde_index *ix, uint32_t lane);
/* Direct children of a slice: numbers [*ret_first, *ret_first + n). Returns n. */
uint64_t index_children(const sonde_index *ix, uint64_t id, uint64_t *ret_first);

/* ---- What to draw: range.c --------------------------------------------------------------------------------------- */

/* Pixels [x, x + width) of a lane. One slice, or several that share a pixel. */
typedef struct range_rect {
	uint32_t x, width;
	uint32_t site;	   /* of the longest slice */
	uint32_t n_slices; /* saturates; 1: `slice` is the one */
	uint64_t slice;	   /* number of the first */
	float busy;	   /* share of its pixels, 0 to 1 */
} range_rect;

/* At most one rectangle a pixel, in order. `rects` has room for `n_pixels`. Returns how many. [from, to) is what the
   pixels show. A slice of at least a pixel has a rectangle of its own; range.c says who gets a pixel that is shared. */
size_t index_range(const sonde_index *ix, uint32_t lane, int64_t from_ns, int64_t to_ns, uint32_t n_pixels,
		   range_rect *rects);

/* Slices that are not there as far as the picture goes. */
typedef struct range_filter {
	int64_t min_ns;		     /* shorter ones */
	const uint8_t *hidden_sites; /* one byte per site, or NULL */
	bool is_rough;		     /* quick, whatever the zoom: slices beside hidden ones may go with them */
} range_filter;
/* The same of the slices that the filter leaves; NULL: all. Exact: the work grows with the slices in sight, where
   min_ns is less than a pixel or sites are hidden. */
size_t index_range_filtered(const sonde_index *ix, uint32_t lane, int64_t from_ns, int64_t to_ns, uint32_t n_pixels,
			    const range_filter *filter, range_rect *rects);

/* ---- Instants to draw: instants.c -------------------------------------------------------------------------------- */

/* One instant of a track, or several that share its pixel. */
typedef struct range_instant {
	uint32_t track, x;
	uint32_t site; /* of the first */
	uint32_t n;    /* saturates */
	uint64_t row;  /* of the first, in the table INSTANTS */
} range_instant;

typedef struct instants_wanted {
	int64_t from_ns, to_ns; /* what the pixels show */
	uint32_t n_pixels;
	const uint8_t *tracks;	     /* one byte per track: is it wanted? */
	const uint8_t *hidden_sites; /* one byte per site, or NULL */
} instants_wanted;

/* At most one a pixel and track, track after track, in order; to be freed. Not exact: there are too many, and some
   stand for others. False when out of memory. */
bool index_instants(const sonde_index *ix, const instants_wanted *wanted, range_instant **ret_instants, size_t *ret_n,
		    bool *ret_is_exact);
/* How many each track has, added to one number per track. */
void index_count_instants(const sonde_index *ix, uint64_t *counts);
/* The first instant from the row on, or the last before it, whose site is marked (one byte per site); UINT64_MAX: none.
   And how many there are. */
uint64_t index_search_instant(const sonde_index *ix, const uint8_t *sites, uint64_t row, bool before);
uint64_t index_count_instants_of(const sonde_index *ix, const uint8_t *sites);
/* Row of the instant behind or before this one on its track; UINT64_MAX: none. */
uint64_t index_instant_beside(const sonde_index *ix, uint64_t row, bool before);

/* ---- Sums: aggregate.c ------------------------------------------------------------------------------------------- */

typedef struct site_sum {
	uint64_t n_slices;	   /* that overlap the range */
	int64_t total_ns, self_ns; /* within the range */
	int64_t min_ns, max_ns;	   /* of whole slices */
} site_sum;

typedef struct aggregate_options {
	int64_t from_ns, to_ns; /* both 0: everything */
	const uint32_t *tracks; /* NULL: all */
	size_t n_tracks;
} aggregate_options;

/* sums: one per site, zeroed by the caller. */
sonde_status index_aggregate(const sonde_index *ix, const aggregate_options *options, site_sum *sums, sonde_error *err);

/* Sites whose name holds the text, whatever the case; each is written to ret_sites, which has room for all sites. */
size_t index_search_sites(const sonde_index *ix, const char *text, uint32_t *ret_sites);
/* The first slice that starts after the time, or the last that starts before it, whose site is marked in `sites` (one
   byte per site); of several that start at once the one in the first lane. INDEX_NO_SLICE: none. */
uint64_t index_search_next(const sonde_index *ix, const uint8_t *sites, int64_t ns, bool before);

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* Rows [first, ...) of INSTANTS, FLOWS, LAUNCHES, ALLOCATIONS, VALUES, SAMPLES or a table of facts. Times are as they
   are stored. */
typedef struct table_cursor {
	const sonde_index *ix;
	index_kind kind;
	uint64_t row, n_rows; /* next, all */
	uint32_t n_columns, n, at;
	columns block;
	bool damaged;
	int64_t values[COLUMNS_MAX][COLUMNS_ROWS];
} table_cursor;
void table_first(table_cursor *c, const sonde_index *ix, index_kind kind, uint64_t first);
bool table_next(table_cursor *c, int64_t *ret_row); /* COLUMNS_MAX values */
/* The next row that has the value in the column. Blocks that cannot have it are not unpacked. */
bool table_next_with(table_cursor *c, unsigned column, int64_t value, int64_t *ret_row);
/* First row whose column (sorted over the table) is at least `value`. */
uint64_t table_find(const sonde_index *ix, index_kind kind, unsigned column, int64_t value);

/* The slice that launched a device slice; INDEX_NO_SLICE: not known. */
uint64_t index_launch_of(const sonde_index *ix, uint64_t device_slice, int64_t *ret_correlation);

/* ---- Facts: facts.c ---------------------------------------------------------------------------------------------- */

/* Rows of one table of facts by the record of arguments they are of. Keeps a few blocks in memory, however many rows
   there are. One thread at a time. */
typedef struct fact_reader fact_reader;
fact_reader *fact_reader_new(const sonde_index *ix, index_kind kind); /* ix may be NULL; NULL when out of memory */
void fact_reader_free(fact_reader *r);				      /* accepts NULL */
/* The row of args, record + 1: COLUMNS_MAX values at most. False: the event carried nothing of the kind. */
bool fact_find(fact_reader *r, uint32_t args, int64_t *ret_row);
/* The message of a collective and its sequence number (-1: unknown). NULL: it is none. */
const index_message *fact_message(fact_reader *r, uint32_t args, int64_t *ret_sequence);

/* ---- Arguments: args.c ------------------------------------------------------------------------------------------- */

typedef struct args_reader args_reader;
args_reader *args_reader_new(const sonde_index *ix); /* NULL when out of memory */
void args_reader_free(args_reader *r);		     /* accepts NULL */

typedef struct args_text {
	const char *args; /* JSON object, or NULL: it has none */
	size_t args_len;
	const char *extra; /* members of the event itself, `"cname": "x", ...`, or NULL */
	size_t extra_len;
} args_text;

/* record + 1, as slices have it. Valid until the reader's next call. False: damaged or none. */
bool args_read(args_reader *r, uint32_t args, args_text *ret_text);
/* The value of a key of the args object as JSON text, or false. */
bool args_get(args_reader *r, uint32_t args, const char *key, const char **ret_json, size_t *ret_len);
/* Calls back for each member of the args object: key (as in the JSON, without quotes) and value as JSON text. */
typedef void args_each_fn(void *context, const char *key, size_t key_len, const char *json, size_t len);
bool args_each(args_reader *r, uint32_t args, args_each_fn *each, void *context);

/* One key of every record, in one pass, at most 8 different ones, each once: args_column_int(ix, c, args) for a slice's
   args. Whole numbers stay exact; "7" counts as 7. What is no number is found by its text: args_column_text(). */
typedef struct args_value {
	int64_t value;
	uint32_t record;
	uint8_t kind;
} args_value;
typedef struct args_column {
	fact_role role; /* ROLE_NONE: the key is given; else args_columns_read() fills it in, NULL: there is none */
	const char *key;
	bool is_rare; /* few records have it: they are listed, and values and kinds are not there */
	/* filled in */
	VEC(args_value) rare;
	int64_t *values; /* per record: a number, or of ARGS_IS_TEXT the number of a text */
	uint8_t *kinds;	 /* per record: args_value_kind */
	/* Of a trace with many records, in place of these: blocks of them, read as they are asked for, by one thread at
	   a time. Columns that are read together share them. */
	struct args_blocks *blocks;
	size_t place; /* among those */
} args_column;
typedef enum args_value_kind { ARGS_MISSING, ARGS_IS_INT, ARGS_IS_TEXT } args_value_kind;
bool args_columns_read(const sonde_index *ix, args_column *wanted, size_t n); /* false when out of memory */
void args_columns_done(args_column *wanted, size_t n);
/* As it lies; ARGS_MISSING where there is none. */
args_value args_column_value(const sonde_index *ix, const args_column *c, uint32_t args);
/* Whether a record has the key. Of many records: whether one may have it. */
bool args_column_has_any(const sonde_index *ix, const args_column *c);
/* As a whole number or as a double; `otherwise` where there is none. */
int64_t args_column_int(const sonde_index *ix, const args_column *c, uint32_t args, int64_t otherwise);
double args_column_f64(const sonde_index *ix, const args_column *c, uint32_t args, double otherwise);
/* The JSON text of a value that is no plain whole number; NULL: there is none. */
const char *args_column_text(const sonde_index *ix, const args_column *c, uint32_t args, size_t *ret_len);

/* Records as they lie, to be copied: the template's number and the values of its gaps, ARG_TEXT by number. */
bool args_record(args_reader *r, uint32_t args, uint32_t *ret_template, const int64_t **ret_values);
/* The template of a record that was read. pieces: room for ARGS_GAPS_MAX + 1. */
bool args_template_at(args_reader *r, uint32_t number, args_piece *pieces, args_template *ret_template);
const char *args_text_at(const sonde_index *ix, uint64_t number, size_t *ret_len); /* NULL: there is none */

#endif
