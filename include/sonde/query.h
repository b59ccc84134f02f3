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
 * The language is SQLite's; the tables are those of sonde_query_table(), straight over the trace. Times are whole
 * nanoseconds since the start of the trace. Temporary tables and views may be created and live in memory as long as
 * the query; nothing else can be written, and no statement can reach a file.
 *
 * A sonde_query is for one thread at a time; several may be open on a trace.
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
	int64_t time_ns;       /* of one statement, until its last row was asked for */
	uint64_t n_rows;       /* that one statement gives at most */
	uint64_t memory_bytes; /* that SQLite may take, in the whole process */
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
	const char *text; /* of SONDE_CELL_TEXT, with a NUL behind it, and SONDE_CELL_BLOB; may hold anything */
	size_t len;
} sonde_cell;

/* A recording must have been prepared: sonde_trace_prepare(), else SONDE_E_STATE. The trace must stay open until the
   query is freed. options may be NULL. The caller frees *ret_query. */
SONDE_API sonde_status sonde_query_open(const sonde_trace *trace, const sonde_query_options *options,
					sonde_query **ret_query, sonde_error *err);

/* Accepts NULL. */
SONDE_API void sonde_query_free(sonde_query *query);

/*
 * Takes the next statement of sql from byte *at on, which moves behind it, and ends the statement before. When there is
 * none left, *at is at the end and sonde_query_is_ready() false. What is wrong with a statement is SONDE_E_USAGE, with
 * SQLite's words, the place in the message and the byte in err->position.
 */
SONDE_API sonde_status sonde_query_prepare(sonde_query *query, const char *sql, size_t *at, sonde_error *err);
SONDE_API bool sonde_query_is_ready(const sonde_query *query);

/* Columns of the statement; 0 when it has no rows to give. The name is good until the next prepare. */
SONDE_API size_t sonde_query_n_columns(const sonde_query *query);
SONDE_API const char *sonde_query_column(const sonde_query *query, size_t column);

/* Runs the statement to its next row, or to its end: then *ret_is_row is false. A query that was stopped or ran out of
   time is SONDE_E_STATE, one out of memory SONDE_E_MEMORY. */
SONDE_API sonde_status sonde_query_step(sonde_query *query, bool *ret_is_row, sonde_error *err);

/* A value of the current row, good until the next step. */
SONDE_API sonde_cell sonde_query_cell(const sonde_query *query, size_t column);

/* There were more rows than sonde_query_options.n_rows. */
SONDE_API bool sonde_query_is_cut(const sonde_query *query);
/* Parts of the trace could not be read: rows are missing. */
SONDE_API bool sonde_query_is_damaged(const sonde_query *query);

/* Stops the statement that runs, if any. From any thread; also from a signal handler. */
SONDE_API void sonde_query_interrupt(sonde_query *query);

/* The text ends with a whole statement, semicolon included: for prompts. */
SONDE_API bool sonde_query_is_complete(const char *sql);

/* The tables there are: name and one sentence each. Returns false when index is past the last. */
SONDE_API bool sonde_query_table(size_t index, const char **ret_name, const char **ret_summary);
/* The columns of table number `table`: name, SQL type ("" where each row has its own), meaning. */
SONDE_API bool sonde_query_table_column(size_t table, size_t index, const char **ret_name, const char **ret_type,
					const char **ret_summary);

#ifdef __cplusplus
}
#endif
#endif
