/* SQL over the trace: read only, for so long and so many rows. */
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "serve/routes.h"
#include <sonde/query.h>

enum { ROWS_MAX = 100000, SQL_MAX = 1 << 18, ANSWER_MAX = 16 << 20, MEMORY_MAX = 512 << 20 };

typedef struct sql_call {
	sonde_query *query;
	sonde_error err;
	int64_t end_ns;
	uint64_t n_bytes; /* of texts that were told */
	bool is_cut, is_damaged;
} sql_call;

static void put_cell(json_writer *w, sonde_cell cell)
{
	char text[40];

	switch (cell.type) {
	case SONDE_CELL_NULL:
		json_null(w);
		break;
	case SONDE_CELL_INTEGER:
		json_i64(w, cell.integer);
		break;
	case SONDE_CELL_REAL:
		json_f64(w, cell.real);
		break;
	case SONDE_CELL_TEXT:
		json_stringn(w, cell.text, cell.len);
		break;
	case SONDE_CELL_BLOB:
		snprintf(text, sizeof text, "(%zu bytes)", cell.len);
		json_string(w, text);
		break;
	}
}

/* False: the row is too much. */
static bool has_room(sql_call *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sonde_cell cell = sonde_query_cell(s->query, i);
		s->n_bytes += 8 + (cell.type == SONDE_CELL_TEXT ? cell.len : 0);
	}
	return s->n_bytes <= ANSWER_MAX;
}

/* The statement that is prepared. */
static sonde_status put_rows(sql_call *s, json_writer *w)
{
	size_t n = sonde_query_n_columns(s->query);
	sonde_status status;
	bool is_row;

	put_list(w, "columns");
	for (size_t i = 0; i < n; i++)
		json_string(w, sonde_query_column(s->query, i));
	json_end_array(w);
	put_list(w, "rows");
	while (!(status = sonde_query_step(s->query, &is_row, &s->err)) && is_row) {
		if (!has_room(s, n)) {
			s->is_cut = true;
			break;
		}
		json_begin_array(w);
		for (size_t i = 0; i < n; i++)
			put_cell(w, sonde_query_cell(s->query, i));
		json_end_array(w);
	}
	json_end_array(w);
	s->is_cut |= sonde_query_is_cut(s->query);
	s->is_damaged |= sonde_query_is_damaged(s->query);
	return status;
}

/* All statements; the answer is that of the last one that has columns. */
static sonde_status run_all(sql_call *s, const char *sql, reply *out)
{
	size_t at = 0;
	sonde_status status;
	json_writer *w = NULL;

	while (!(status = sonde_query_prepare(s->query, sql, &at, &s->err)) && sonde_query_is_ready(s->query)) {
		if (monotonic_ns() > s->end_ns)
			return reply_error(out, 408, "stopped", "The statements exceeded the time limit."), SONDE_OK;
		if (!w || sonde_query_n_columns(s->query)) {
			w = reply_json(out);
			s->n_bytes = s->is_cut = 0;
			json_begin_object(w);
			status = put_rows(s, w);
		} else {
			bool is_row;
			status = sonde_query_step(s->query, &is_row, &s->err);
		}
		if (status)
			return status;
	}
	if (!status && !w)
		reply_error(out, 400, "bad-request", "The request has no SQL statement.");
	return status;
}

/* So that the end of the server is the end of the query. */
static void note_query(sonde_server *s, sonde_query *from, sonde_query *to)
{
	pthread_mutex_lock(&s->lock);
	if (to && s->stopping)
		sonde_query_interrupt(to);
	for (size_t i = 0; i < HEAVY_MAX; i++) {
		if (s->queries[i] == from) {
			s->queries[i] = to;
			break;
		}
	}
	pthread_mutex_unlock(&s->lock);
}

static void answer(call *c, reply *out, const char *sql, uint64_t n_rows)
{
	int64_t start = monotonic_ns();
	sonde_query_options limits = { .struct_size = sizeof limits,
				       .time_ns = c->server->options.query_ns,
				       .n_rows = n_rows,
				       .memory_bytes = MEMORY_MAX };
	sql_call s = { .err = { .position = -1 }, .end_ns = start + limits.time_ns };
	sonde_status status = sonde_query_open(c->opened->trace, &limits, &s.query, &s.err);

	if (!status) {
		note_query(c->server, NULL, s.query);
		status = run_all(&s, sql, out);
		note_query(c->server, s.query, NULL);
	}
	if (status) {
		reply_failure(out, status, &s.err);
	} else if (out->status == 200) {
		put_bool(&out->json, "truncated", s.is_cut);
		put_bool(&out->json, "damaged", s.is_damaged);
		put_i64(&out->json, "time_ns", monotonic_ns() - start);
		json_end_object(&out->json);
	}
	sonde_query_free(s.query);
}

void api_sql(call *c, reply *out)
{
	char *sql = request_body_text(c->request, "sql", SQL_MAX);
	int64_t limit = request_body_number(c->request, "limit", 1, ROWS_MAX, 1000);

	if (!call_failed(c, out))
		answer(c, out, sql, (uint64_t)limit);
	free(sql);
}
