/*
 * flows: arrows from slice to slice, one row for each step of an arrow from a point to the next. A point that has no
 * other gives a row with one end.
 */
#include "query/columns.h"

#include <string.h>

typedef int64_t flow_point[COLUMNS_MAX];

/* A row goes from `from` to `to`; the scan has read `to` already, or knows that there is none. */
typedef struct flows_cursor {
	query_cursor base;
	flow_point from, to;
	bool has_from, has_to;	/* points read, not yet passed */
	bool is_pair, is_begin; /* both are of one arrow; `from` is the arrow's first point */
	int64_t arrow;
	table_cursor table;
} flows_cursor;

static flows_cursor *flows_of(query_cursor *c)
{
	return (flows_cursor *)c;
}

static bool is_same_arrow(const flow_point a, const flow_point b)
{
	return a[FLOW_SITE] == b[FLOW_SITE] && a[FLOW_ID] == b[FLOW_ID] && b[FLOW_PHASE] != 's';
}

/* One point further. */
static bool advance(flows_cursor *c)
{
	c->is_begin = !c->is_pair;
	memcpy(c->from, c->to, sizeof c->from);
	c->has_from = c->has_to;
	c->has_to = table_next(&c->table, c->to);
	c->is_pair = c->has_from && c->has_to && is_same_arrow(c->from, c->to);
	c->arrow += c->is_begin;
	return c->has_from;
}

static int next(query_cursor *cursor)
{
	flows_cursor *c = flows_of(cursor);

	while (advance(c)) {
		if (c->table.row % 4096 == 0 && query_is_stopped(cursor->query))
			return SQLITE_INTERRUPT;
		if (!(c->is_pair || c->is_begin) ||
		    !filter_marked(&cursor->filter, OF_SITE, (uint64_t)c->from[FLOW_SITE], cursor->n_sites))
			continue;
		cursor->at[OF_ROW] = c->table.row - c->has_to;
		cursor->at[OF_SITE] = (uint64_t)c->from[FLOW_SITE];
		return SQLITE_OK;
	}
	if (c->table.damaged)
		query_note_damage(cursor->query);
	return SQLITE_DONE;
}

static int first(query_cursor *cursor)
{
	flows_cursor *c = flows_of(cursor);

	table_first(&c->table, cursor->ix, SECTION_FLOWS, 0);
	c->is_pair = false;
	c->has_to = table_next(&c->table, c->to);
	c->arrow = -1;
	return next(cursor);
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

enum { FLOW_FROM = 0, FLOW_TO = 1 };
enum { POINT_SLICE = 0, POINT_TS = 2, POINT_TRACK = 4 };

/* The row's end; a lone 'f' is where an arrow ends. NULL: it has none. */
static const int64_t *end_of(const flows_cursor *c, unsigned which)
{
	bool is_end = c->from[FLOW_PHASE] == 'f' || c->from[FLOW_PHASE] == 'F';

	if (c->is_pair)
		return which == FLOW_FROM ? c->from : c->to;
	return is_end == (which == FLOW_TO) ? c->from : NULL;
}

/* Times count from the slice's start, if it has one. */
static void point_time(query_cursor *c, const int64_t *point, query_cell *ret_cell)
{
	index_slice s;
	int64_t ts = point[FLOW_TIME];

	if (point[FLOW_SLICE] && !cursor_slice(c, (uint64_t)point[FLOW_SLICE] - 1, &s))
		cell_null(ret_cell);
	else if (point[FLOW_SLICE] && __builtin_add_overflow(ts, s.start_ns - c->start_ns, &ts))
		cell_null(ret_cell);
	else
		cell_int(ret_cell, ts);
}

static void get_point(query_cursor *cursor, uint64_t row, unsigned which, query_cell *ret_cell)
{
	const int64_t *point = end_of(flows_of(cursor), which & 1);

	(void)row;
	cell_null(ret_cell);
	if (!point)
		return;
	if ((which & ~1u) == POINT_SLICE)
		cell_known(ret_cell, point[FLOW_SLICE] - 1);
	else if ((which & ~1u) == POINT_TS)
		point_time(cursor, point, ret_cell);
	else
		cell_int(ret_cell, point[FLOW_TRACK]);
}

static void get_arrow(query_cursor *cursor, uint64_t row, unsigned which, query_cell *ret_cell)
{
	const flows_cursor *c = flows_of(cursor);
	const int64_t text = (int64_t)1 << 62;

	(void)row;
	if (!which)
		cell_int(ret_cell, c->arrow);
	else if (c->from[FLOW_ID] >= text)
		cell_string_of(cursor, (uint32_t)(c->from[FLOW_ID] - text), ret_cell);
	else
		cell_int(ret_cell, c->from[FLOW_ID]);
}

static uint64_t n_points(const sonde_index *ix)
{
	return index_n_rows(ix, SECTION_FLOWS);
}

static const query_column flows_columns[] = {
	COLUMN("arrow", "INTEGER", OF_ROW, get_arrow, 0,
	       "number of the arrow; an arrow with several points has several rows"),
	SITE_COLUMNS,
	COLUMN("id", "NUMERIC", OF_ROW, get_arrow, 1, "as in the trace"),
	COLUMN("from_slice", "INTEGER", OF_ROW, get_point, POINT_SLICE | FLOW_FROM, "id of the source slice"),
	COLUMN("from_ts", "INTEGER", OF_ROW, get_point, POINT_TS | FLOW_FROM, "time at the source, in ns"),
	COLUMN("from_track", "INTEGER", OF_ROW, get_point, POINT_TRACK | FLOW_FROM, "track of the source: tracks.id"),
	COLUMN("to_slice", "INTEGER", OF_ROW, get_point, POINT_SLICE | FLOW_TO, "id of the target slice"),
	COLUMN("to_ts", "INTEGER", OF_ROW, get_point, POINT_TS | FLOW_TO, "time at the target, in ns"),
	COLUMN("to_track", "INTEGER", OF_ROW, get_point, POINT_TRACK | FLOW_TO, "track of the target: tracks.id"),
};

const query_table flows_table = {
	.name = "flows",
	.summary = "Arrows from slice to slice: forward to backward, send to receive",
	.columns = flows_columns,
	.n_columns = sizeof flows_columns / sizeof flows_columns[0],
	.n_rows = n_points,
	.cursor_bytes = sizeof(flows_cursor),
	.first = first,
	.next = next,
};
