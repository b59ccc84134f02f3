/*
 * SQL over a trace. Needs libsonde.
 *
 *   sonde_trace_prepare(trace, NULL, &err);
 *   sonde_query_open(trace, NULL, &q, &err);
 *   while (!sonde_query_prepare(q, sql, &at, &err) && sonde_query_is_ready(q))
 *           while (!sonde_query_step(q, &is_row, &err) && is_row)
 *                   sonde_query_cell(q, 0) ...
 *   sonde_query_free(q);
 *
 * The language is SQLite's; the tables are those of sonde_query_table() and read the trace directly. Times are whole
 * nanoseconds since the start of the trace. Temporary tables and views are kept in memory until the query is freed;
 * nothing else can be written, and no statement can reach a file.
 *
 * One thread at a time may use a sonde_query; several queries may be open on a trace.
 */
#ifndef SONDE_QUERY_H
#define SONDE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sonde/error.h>
#include <sonde/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sonde_query sonde_query;

/* Set struct_size to sizeof(sonde_query_options). 0: no limit. */
typedef struct sonde_query_options {
	size_t struct_size;
	int64_t time_ns;       /* time limit of a statement, until its last row is read */
	uint64_t n_rows;       /* maximum rows of a statement */
	uint64_t memory_bytes; /* memory limit of SQLite in the whole process */
} sonde_query_options;

typedef enum sonde_cell_type {
	SONDE_CELL_NULL,
	SONDE_CELL_INTEGER,
	SONDE_CELL_REAL,
	SONDE_CELL_TEXT,
	SONDE_CELL_BLOB,
} sonde_cell_type;

typedef struct sonde_cell {
	sonde_cell_type type;
	int64_t integer;  /* of SONDE_CELL_INTEGER */
	double real;	  /* of SONDE_CELL_REAL */
	const char *text; /* of SONDE_CELL_TEXT, NUL-terminated, and SONDE_CELL_BLOB; may hold any bytes */
	size_t len;
} sonde_cell;

/* Opens a query. Returns SONDE_E_STATE for a recording without an index: call sonde_trace_prepare() first. The trace
   must stay open until the query is freed. options may be NULL. The caller frees *ret_query. */
SONDE_API sonde_status sonde_query_open(const sonde_trace *trace, const sonde_query_options *options,
					sonde_query **ret_query, sonde_error *err);

/* Accepts NULL. */
SONDE_API void sonde_query_free(sonde_query *query);

/*
 * Prepares the statement of sql at byte *at, moves *at after it, and ends the previous statement. If there is none
 * left, *at is at the end and sonde_query_is_ready() returns false. An invalid statement gives SONDE_E_USAGE, with
 * SQLite's message, the place in the text, and the byte in err->position.
 */
SONDE_API sonde_status sonde_query_prepare(sonde_query *query, const char *sql, size_t *at, sonde_error *err);
SONDE_API bool sonde_query_is_ready(const sonde_query *query);

/* Columns of the statement; 0 if it returns no rows. The name is valid until the next prepare. */
SONDE_API size_t sonde_query_n_columns(const sonde_query *query);
SONDE_API const char *sonde_query_column(const sonde_query *query, size_t column);

/* Runs the statement to its next row; *ret_is_row is false at its end. Returns SONDE_E_STATE if the query was stopped
   or exceeded its time limit, SONDE_E_MEMORY if it exceeded its memory limit. */
SONDE_API sonde_status sonde_query_step(sonde_query *query, bool *ret_is_row, sonde_error *err);

/* Returns a value of the current row, valid until the next step. */
SONDE_API sonde_cell sonde_query_cell(const sonde_query *query, size_t column);

/* Returns true if there were more rows than sonde_query_options.n_rows. */
SONDE_API bool sonde_query_is_cut(const sonde_query *query);
/* Returns true if parts of the trace could not be read: rows are missing. */
SONDE_API bool sonde_query_is_damaged(const sonde_query *query);

/* Stops the running statement, if any. May be called from any thread and from a signal handler. */
SONDE_API void sonde_query_interrupt(sonde_query *query);

/* Returns true if the text ends with a complete statement, including its semicolon: for prompts. */
SONDE_API bool sonde_query_is_complete(const char *sql);

/* Lists the tables: name and one sentence each. Returns false if index is past the last. */
SONDE_API bool sonde_query_table(size_t index, const char **ret_name, const char **ret_summary);
/* Lists the columns of table number `table`: name, SQL type ("" if it varies by row), meaning. */
SONDE_API bool sonde_query_table_column(size_t table, size_t index, const char **ret_name, const char **ret_type,
					const char **ret_summary);

#ifdef __cplusplus
}
#endif
#endif
