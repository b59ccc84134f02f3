/*
 * A table of SQL over an index: a list of columns, each with a function that gets its value, and a scan that goes from
 * row to row. A table is one query_table and one line in tables.def; a column is one line in its table.
 *
 *   vtab.c      what SQLite calls
 *   plan.c      which conditions of a query the table takes care of, and in which order the rows come
 *   filter.c    those conditions with their values
 *   columns.h   columns that many tables share
 *   table_*.c   the tables
 *
 * Most columns depend on less than the row: a name and a category on its site, a thread's id on its track. Conditions
 * on these are evaluated once per site or track, into marks, and a scan skips rows whose mark is not set. Conditions on
 * times and numbers (column_key) are ranges that the scan goes to directly.
 */
#ifndef SONDE_QUERY_TABLE_H
#define SONDE_QUERY_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sonde/query.h>
#include "store/index/index.h"

typedef struct query_cursor query_cursor;

typedef struct query_cell {
	sonde_cell_type type;
	bool is_fleeting; /* the text is good until the cursor moves or another cell is asked for; else as the trace */
	int64_t integer;
	double real;
	const char *text;
	size_t len;
} query_cell;

/* What a column's value depends on. */
typedef enum column_of { OF_ROW, OF_TRACK, OF_SITE, OF_LANE, N_OF } column_of;

/* Columns that a scan can seek by, or at least compare fast: whole numbers. Rows without a value match no range. */
typedef enum column_key {
	KEY_NONE,
	KEY_ID,
	KEY_TS,
	KEY_END,
	KEY_DUR,
	KEY_PARENT, /* the slice, counter ... that the row belongs to: only equality */
	KEY_TEXT,   /* a text that the scan compares itself, see query_filter.text */
	N_KEYS
} column_key;

typedef struct query_column {
	const char *name;
	const char *type; /* INTEGER, REAL, TEXT; NUMERIC: a number, or text that is none; "": each row has its own */
	const char *summary;
	/* number: of the row, track, site or lane. Numbers that do not exist give NULL. */
	void (*get)(query_cursor *c, uint64_t number, unsigned which, query_cell *ret_cell);
	unsigned which; /* for the getter */
	column_of of;
	column_key key;
} query_column;

typedef struct query_table {
	const char *name, *summary;
	const query_column *columns;
	size_t n_columns;
	column_key order[2]; /* rows come in this order; KEY_NONE ends it */
	bool has_unique_ids; /* at most one row has a KEY_ID */
	bool is_grouped;     /* the scan can also sort by columns of sites and lanes: filter.order */
	uint64_t (*n_rows)(const sonde_index *ix);
	size_t cursor_bytes; /* of its query_cursor */
	const void *source;  /* for the scan */
	/* The first row that the filter lets pass, the next one. SQLITE_DONE: there is none. */
	int (*first)(query_cursor *c);
	int (*next)(query_cursor *c);
	void (*done)(query_cursor *c); /* frees what the cursor has beside the filter; may be NULL */
} query_table;

#define TABLE(name) extern const query_table name##_table;
#include "query/tables.def"
#undef TABLE

/* ---- Plans and filters ------------------------------------------------------------------------------------------- */

enum { PLAN_TERMS = 16, PLAN_ORDERS = 4 };

/* What of a row a query looks at; a bit set. Columns that the rows are sorted by are left out. */
typedef enum plan_need {
	NEED_TRACK_OR_LANE = 1,
	NEED_SITE = 2,
	NEED_TS = 4,
	NEED_DUR = 8,
	NEED_ALL = 16, /* something else */
} plan_need;

typedef struct plan_term {
	uint8_t column;
	char op; /* as plan.c has it */
} plan_term;

typedef struct plan_order {
	uint8_t column;
	bool descending;
} plan_order;

typedef struct query_plan {
	size_t n_terms, n_orders;
	plan_term terms[PLAN_TERMS];
	plan_order orders[PLAN_ORDERS]; /* none: as the table has them */
	unsigned needs;			/* plan_need */
} query_plan;

/* SQLite's question how it could get at a table's rows. */
int plan_make(const query_table *t, const sonde_index *ix, sqlite3_index_info *info);
/* The answer, as it came back. */
void plan_parse(const query_table *t, const char *text, int needs, query_plan *ret_plan);

typedef struct key_range {
	int64_t min, max;
	bool is_set; /* only rows that have a value count */
} key_range;

typedef struct query_filter {
	key_range keys[N_KEYS];
	uint8_t *marks[N_OF]; /* of tracks, sites, lanes: 1 where the conditions hold; NULL: everywhere */
	char *text;	      /* KEY_TEXT must be this; NULL: anything */
	size_t text_len;
	bool is_empty; /* no row can match */
} query_filter;

/* Fills in the filter of the cursor from its plan. */
int filter_make(query_cursor *c, int argc, sqlite3_value **argv);
void filter_done(query_filter *f);

static inline bool filter_marked(const query_filter *f, column_of of, uint64_t number, size_t n)
{
	return !f->marks[of] || f->marks[of][number < n ? number : n];
}

static inline bool range_has(const key_range *r, int64_t value)
{
	return value >= r->min && value <= r->max;
}

/* -1, 0, 1 as SQLite sorts: nothing, numbers, text byte by byte. */
int cell_compare(const query_cell *a, const query_cell *b);

/* ---- Cursors ----------------------------------------------------------------------------------------------------- */

struct query_cursor {
	sqlite3_vtab_cursor base;
	const query_table *table;
	sonde_query *query;
	const sonde_index *ix;
	int64_t start_ns; /* of the trace: ts is 0 there */
	size_t n_tracks, n_sites, n_lanes;
	const index_track *tracks;
	const index_site *sites;
	const index_lane *lanes;
	const char *plan_text; /* what `plan` was made of */
	query_plan plan;
	query_filter filter;
	uint64_t at[N_OF]; /* number of the current row, and of its track, site and lane */
	bool is_done;
	bool out_of_memory; /* a getter was */
	args_reader *args;  /* see cursor_args */
	struct slice_reader *slices;
};

/* Reader for arguments, made when first needed; NULL when out of memory. */
args_reader *cursor_args(query_cursor *c);

/* Another slice than the row's. */
bool cursor_slice(query_cursor *c, uint64_t id, index_slice *ret_slice);

/* The query was told to stop or has run out of time. Scans ask every some thousand rows. */
bool query_is_stopped(sonde_query *q);
/* Whether so much memory fits into the query's limit. */
bool query_may_take(const sonde_query *q, size_t bytes);
/* Something in the index could not be read. */
void query_note_damage(sonde_query *q);

sonde_status query_open_index(const sonde_index *ix, const sonde_query_options *options, sonde_query **ret_query,
			      sonde_error *err);
const sonde_index *query_index(const sonde_query *q);

extern const sqlite3_module query_module;
int query_add_functions(sqlite3 *db);

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static inline void cell_null(query_cell *ret_cell)
{
	ret_cell->type = SONDE_CELL_NULL;
}

static inline void cell_int(query_cell *ret_cell, int64_t value)
{
	ret_cell->type = SONDE_CELL_INTEGER;
	ret_cell->integer = value;
}

static inline void cell_real(query_cell *ret_cell, double value)
{
	ret_cell->type = SONDE_CELL_REAL;
	ret_cell->real = value;
}

static inline void cell_text(query_cell *ret_cell, const char *text, size_t len)
{
	ret_cell->type = SONDE_CELL_TEXT;
	ret_cell->text = text;
	ret_cell->len = len;
}

#endif
