/*
 * A query: SQLite with the tables of an index, one statement at a time. See sonde/query.h.
 *
 * A statement can be stopped from outside and has a deadline. SQLite asks every STEPS_BETWEEN instructions, the scans
 * ask themselves, because one step of theirs may pass over millions of rows that do not match.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/error.h"
#include "base/format_number.h"
#include "base/utf8.h"
#include "query/sandbox.h"
#include "query/table.h"
#include "store/trace.h"

enum { STEPS_BETWEEN = 20000, TOKEN_MAX = 40 };

typedef enum stop_reason { NOT_STOPPED, STOPPED, OUT_OF_TIME, OUT_OF_MEMORY } stop_reason;

struct sonde_query {
	sandbox sandbox;
	const sonde_index *ix;
	sonde_query_options options;
	sqlite3_stmt *statement;
	uint64_t n_rows; /* that the statement gave */
	bool is_done, is_cut, is_damaged;
	int64_t deadline_ns;	/* CLOCK_MONOTONIC; 0: none */
	stop_reason reason;	/* why the statement was stopped */
	atomic_bool is_stopped; /* from outside: sonde_query_interrupt() */
};

const sonde_index *query_index(const sonde_query *q)
{
	return q->ix;
}

void query_note_damage(sonde_query *q)
{
	q->is_damaged = true;
}

/* ---- Stopping ---------------------------------------------------------------------------------------------------- */

bool query_may_take(const sonde_query *q, size_t bytes)
{
	uint64_t limit = q->options.memory_bytes, taken = (uint64_t)sqlite3_memory_used();

	return !limit || (taken <= limit && bytes <= limit - taken);
}

bool query_is_stopped(sonde_query *q)
{
	if (atomic_load_explicit(&q->is_stopped, memory_order_relaxed))
		q->reason = STOPPED;
	else if (q->deadline_ns && monotonic_ns() > q->deadline_ns)
		q->reason = OUT_OF_TIME;
	else if (!query_may_take(q, 0))
		q->reason = OUT_OF_MEMORY;
	return q->reason != NOT_STOPPED;
}

static int on_progress(void *q)
{
	return query_is_stopped(q);
}

void sonde_query_interrupt(sonde_query *q)
{
	atomic_store_explicit(&q->is_stopped, true, memory_order_relaxed);
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* The word at text: a name, a quoted text, or a sign. */
static size_t token_length(const char *text)
{
	size_t n = 0;

	if (*text == '\'' || *text == '"') {
		const char *end = strchr(text + 1, *text);
		n = end ? (size_t)(end - text) + 1 : strlen(text);
	} else {
		while (text[n] == '_' || (text[n] >= '0' && text[n] <= '9') ||
		       ((text[n] | 32) >= 'a' && (text[n] | 32) <= 'z') || (unsigned char)text[n] >= 0x80)
			n++;
	}
	return n < TOKEN_MAX ? n ? n : *text != 0 : TOKEN_MAX;
}

/* Lines and characters count from 1. */
static void find_place(const char *sql, size_t offset, unsigned *ret_line, unsigned *ret_character)
{
	*ret_line = *ret_character = 1;
	for (size_t i = 0; i < offset;) {
		uint32_t code;
		size_t n = utf8_decode(sql + i, offset - i, &code);

		i += n ? n : 1;
		++*ret_character;
		if (sql[i - 1] == '\n') {
			++*ret_line;
			*ret_character = 1;
		}
	}
}

/* `no such column: nam (at "nam", character 8)` */
static sonde_status sql_error(const sonde_query *q, const char *sql, size_t from, sonde_error *err)
{
	const char *message = sqlite3_errmsg(q->sandbox.db);
	int offset = sqlite3_error_offset(q->sandbox.db);
	char line_text[32] = "";
	unsigned line, character;

	if (!sql || offset < 0)
		return error_set(err, SONDE_E_USAGE, -1, "%s", message);
	size_t at = from + (size_t)offset;
	find_place(sql, at, &line, &character);
	if (line > 1)
		snprintf(line_text, sizeof line_text, "line %u, ", line);
	/* A syntax error has the word already. */
	int len = strncmp(message, "near \"", 6) == 0 ? 0 : (int)token_length(sql + at);
	return error_set(err, SONDE_E_USAGE, (int64_t)at, "%s (%s%.*s%s%scharacter %u)", message, len ? "at \"" : "",
			 len, sql + at, len ? "\", " : "", line_text, character);
}

static sonde_status stop_error(const sonde_query *q, sonde_error *err)
{
	char number[NUMBER_TEXT];

	if (q->reason == OUT_OF_TIME)
		return error_set(err, SONDE_E_STATE, -1, "stopped after %s", format_ns(number, q->options.time_ns));
	if (q->reason == OUT_OF_MEMORY)
		return error_set(err, SONDE_E_MEMORY, -1, "stopped: the statement needs more than %s of memory",
				 format_bytes(number, q->options.memory_bytes));
	return error_set(err, SONDE_E_STATE, -1, "stopped");
}

static sonde_status query_error(const sonde_query *q, int code, const char *sql, size_t from, sonde_error *err)
{
	switch (code & 0xff) {
	case SQLITE_NOMEM:
		return q->reason == OUT_OF_MEMORY || !query_may_take(q, 0)
			       ? stop_error(q, err)
			       : error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	case SQLITE_INTERRUPT:
		return stop_error(q, err);
	case SQLITE_AUTH:
		return error_set(err, SONDE_E_USAGE, -1,
				 "not allowed: a query may only read the trace and write temporary tables");
	}
	return sql_error(q, sql, from, err);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static int add_tables(sonde_query *q)
{
	const char *name, *summary;
	int code = sqlite3_create_module_v2(q->sandbox.db, "sonde", &query_module, q, NULL);

	for (size_t i = 0; !code && sonde_query_table(i, &name, &summary); i++) {
		char *sql = sqlite3_mprintf("create virtual table \"%w\" using sonde", name);
		code = sql ? sqlite3_exec(q->sandbox.db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(sql);
	}
	return code ? code : query_add_functions(q->sandbox.db);
}

static int set_up(sonde_query *q, const char **ret_message)
{
	int code = sandbox_open(&q->sandbox, ret_message);

	if (!code) {
		*ret_message = "SQLite rejected the tables";
		code = add_tables(q);
	}
	if (!code)
		code = sandbox_lock(&q->sandbox);
	if (!code)
		sqlite3_progress_handler(q->sandbox.db, STEPS_BETWEEN, on_progress, q);
	return code;
}

sonde_status query_open_index(const sonde_index *ix, const sonde_query_options *options, sonde_query **ret_query,
			      sonde_error *err)
{
	sonde_query *q = calloc(1, sizeof *q);
	const char *message = "";

	if (!q)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	q->ix = ix;
	if (options)
		memcpy(&q->options, options,
		       options->struct_size < sizeof q->options ? options->struct_size : sizeof q->options);
	int code = set_up(q, &message);
	if (code) {
		sonde_query_free(q);
		return error_set(err, code == SQLITE_NOMEM ? SONDE_E_MEMORY : SONDE_E_UNSUPPORTED, -1, "%s: %s",
				 message, sqlite3_errstr(code));
	}
	*ret_query = q;
	return SONDE_OK;
}

sonde_status sonde_query_open(const sonde_trace *trace, const sonde_query_options *options, sonde_query **ret_query,
			      sonde_error *err)
{
	return query_open_index(trace->index, options, ret_query, err);
}

void sonde_query_free(sonde_query *q)
{
	if (!q)
		return;
	sqlite3_finalize(q->statement);
	sandbox_close(&q->sandbox);
	free(q);
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static void begin(sonde_query *q)
{
	sqlite3_finalize(q->statement);
	q->statement = NULL;
	q->n_rows = 0;
	q->is_done = q->is_cut = false;
	q->reason = NOT_STOPPED;
	q->deadline_ns = q->options.time_ns > 0 ? monotonic_ns() + q->options.time_ns : 0;
	atomic_store_explicit(&q->is_stopped, false, memory_order_relaxed);
}

sonde_status sonde_query_prepare(sonde_query *q, const char *sql, size_t *at, sonde_error *err)
{
	size_t len = strlen(sql);

	begin(q);
	while (*at < len && !q->statement) { /* a comment or a lone semicolon is no statement */
		const char *rest = NULL;
		int code = sqlite3_prepare_v2(q->sandbox.db, sql + *at, -1, &q->statement, &rest);

		if (code)
			return query_error(q, code, sql, *at, err);
		*at = rest ? (size_t)(rest - sql) : len;
	}
	return SONDE_OK;
}

bool sonde_query_is_ready(const sonde_query *q)
{
	return q->statement != NULL;
}

size_t sonde_query_n_columns(const sonde_query *q)
{
	return (size_t)sqlite3_column_count(q->statement);
}

const char *sonde_query_column(const sonde_query *q, size_t column)
{
	const char *name = q->statement ? sqlite3_column_name(q->statement, (int)column) : NULL;

	return name ? name : "";
}

sonde_status sonde_query_step(sonde_query *q, bool *ret_is_row, sonde_error *err)
{
	*ret_is_row = false;
	if (!q->statement || q->is_done || q->is_cut)
		return SONDE_OK;
	/* Between rows nobody else looks. */
	int code = atomic_load_explicit(&q->is_stopped, memory_order_relaxed) ? SQLITE_INTERRUPT
									      : sqlite3_step(q->statement);
	if (code == SQLITE_DONE) {
		q->is_done = true;
		sqlite3_reset(q->statement); /* its tables are free; its columns can still be asked for */
		return SONDE_OK;
	}
	if (code != SQLITE_ROW)
		return query_error(q, code, NULL, 0, err);
	if (q->options.n_rows && q->n_rows == q->options.n_rows) {
		q->is_cut = true;
		return SONDE_OK;
	}
	q->n_rows++;
	*ret_is_row = true;
	return SONDE_OK;
}

sonde_cell sonde_query_cell(const sonde_query *q, size_t column)
{
	sonde_cell cell = { .type = SONDE_CELL_NULL };
	int i = (int)column;

	switch (q->statement ? sqlite3_column_type(q->statement, i) : SQLITE_NULL) {
	case SQLITE_INTEGER:
		cell.type = SONDE_CELL_INTEGER;
		cell.integer = sqlite3_column_int64(q->statement, i);
		break;
	case SQLITE_FLOAT:
		cell.type = SONDE_CELL_REAL;
		cell.real = sqlite3_column_double(q->statement, i);
		break;
	case SQLITE_TEXT:
		cell.type = SONDE_CELL_TEXT;
		cell.text = (const char *)sqlite3_column_text(q->statement, i);
		cell.len = (size_t)sqlite3_column_bytes(q->statement, i);
		break;
	case SQLITE_BLOB:
		cell.type = SONDE_CELL_BLOB;
		cell.text = sqlite3_column_blob(q->statement, i);
		cell.len = (size_t)sqlite3_column_bytes(q->statement, i);
		break;
	}
	if (cell.len && !cell.text) /* out of memory */
		cell.type = SONDE_CELL_NULL;
	return cell;
}

bool sonde_query_is_cut(const sonde_query *q)
{
	return q->is_cut;
}

bool sonde_query_is_damaged(const sonde_query *q)
{
	return q->is_damaged || index_is_damaged(q->ix);
}

bool sonde_query_is_complete(const char *sql)
{
	return sqlite3_complete(sql) == 1;
}
