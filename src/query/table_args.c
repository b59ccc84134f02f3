/*
 * args: one row for each member of a slice's arguments, typed as SQLite's JSON functions do: whole numbers, reals,
 * text; true and false are 1 and 0; what has members of its own stays JSON.
 *
 * With `slice = ...` only that slice is read, with `key = ...` only that member. Without a condition on the slice the
 * rows come in the order of argument records, because a record can only be read after those before it, and lane by lane
 * that would be nearly all of them again for each.
 */
#define _GNU_SOURCE
#include "query/columns.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include "base/json_read.h"
#include "base/vec.h"

/* A member of the current slice, as it lies in the reader. */
typedef struct member {
	const char *key, *json;
	size_t key_len, json_len;
	uint64_t number; /* among all of the slice */
} member;

/* Slices in the order of their records. */
typedef struct record_order {
	uint64_t *slices;
	uint32_t *ends; /* by record: where its slices end in `slices` */
	uint32_t n_records, n_slices;
} record_order;

typedef struct args_cursor {
	query_cursor base;
	record_order order;	     /* made when first needed; kept */
	bool by_record, is_one;	     /* in that order; of one slice only */
	uint32_t record, next_slice; /* of the order */
	lane_cursor lane;
	index_slice slice;
	VEC(member) members;
	size_t at_member;
	uint64_t n_seen; /* members of the slice, also those that the filter skips */
	char *decoded;	 /* a key or value without its escapes */
	size_t decoded_room;
	locale_t locale; /* where a point is a point; 0: none yet */
} args_cursor;

static args_cursor *args_of(query_cursor *c)
{
	return (args_cursor *)c;
}

/* ---- The scan ---------------------------------------------------------------------------------------------------- */

/* Text between quotes, without escapes. */
static bool unescape(args_cursor *c, const char *text, size_t len, query_cell *ret_cell)
{
	unsigned repairs = 0;

	if (!memchr(text, '\\', len)) {
		cell_text(ret_cell, text, len);
		ret_cell->is_fleeting = true;
		return true;
	}
	if (c->decoded_room < 3 * len + 1) {
		char *grown = realloc(c->decoded, 3 * len + 1);
		c->base.out_of_memory |= !grown;
		if (!grown)
			return false;
		c->decoded = grown;
		c->decoded_room = 3 * len + 1;
	}
	cell_text(ret_cell, c->decoded, json_unescape(text, len, c->decoded, &repairs));
	ret_cell->is_fleeting = true;
	return true;
}

static bool has_key(args_cursor *c, const char *key, size_t len)
{
	const query_filter *f = &c->base.filter;
	query_cell cell = { 0 };

	if (!f->text)
		return true;
	return unescape(c, key, len, &cell) && cell.len == f->text_len && memcmp(cell.text, f->text, cell.len) == 0;
}

static void add_member(void *context, const char *key, size_t key_len, const char *json, size_t len)
{
	args_cursor *c = context;
	uint64_t number = c->n_seen++;

	if (!has_key(c, key, key_len))
		return;
	member *m = VEC_ADD(&c->members);
	if (m)
		*m = (member){ key, json, key_len, len, number };
	else
		c->base.out_of_memory = true;
}

/* Reads the members of the current slice. */
static int read_members(args_cursor *c, args_reader *r)
{
	c->members.n = c->at_member = 0;
	c->n_seen = 0;
	args_each(r, c->slice.args, add_member, c);
	return c->base.out_of_memory ? SQLITE_NOMEM : SQLITE_OK;
}

static int next_by_record(args_cursor *c, args_reader *r)
{
	const record_order *o = &c->order;

	while (c->next_slice < o->n_slices) {
		uint32_t at = c->next_slice++;

		while (o->ends[c->record] <= at)
			c->record++;
		c->slice.id = o->slices[at];
		c->slice.args = c->record + 1;
		if (at % 1024 == 0 && query_is_stopped(c->base.query))
			return SQLITE_INTERRUPT;
		int code = read_members(c, r);
		if (code || c->members.n)
			return code;
	}
	return SQLITE_DONE;
}

static int next_slice(args_cursor *c)
{
	const key_range *ids = &c->base.filter.keys[KEY_ID];
	args_reader *r = cursor_args(&c->base);

	if (!r)
		return SQLITE_NOMEM;
	if (c->by_record)
		return next_by_record(c, r);
	for (;;) {
		if (!lane_next(&c->lane, &c->slice)) {
			if (c->lane.damaged)
				query_note_damage(c->base.query);
			if (c->lane.lane_number + 1 >= c->base.n_lanes)
				return SQLITE_DONE;
			lane_first(&c->lane, c->base.ix, c->lane.lane_number + 1, 0);
			continue;
		}
		if (c->slice.id % 4096 == 0 && query_is_stopped(c->base.query))
			return SQLITE_INTERRUPT;
		if ((int64_t)c->slice.id > ids->max)
			return SQLITE_DONE;
		if (!c->slice.args || (int64_t)c->slice.id < ids->min)
			continue;
		int code = read_members(c, r);
		if (code || c->members.n)
			return code;
	}
}

/* ---- The order of records ---------------------------------------------------------------------------------------- */

/* Counts the slices of each record, or puts their numbers where they belong. */
static bool go_through(args_cursor *c, bool place)
{
	record_order *o = &c->order;

	for (uint32_t lane = 0; lane < c->base.n_lanes; lane++) {
		lane_first(&c->lane, c->base.ix, lane, 0);
		while (lane_next(&c->lane, &c->slice)) {
			if (c->slice.id % 65536 == 0 && query_is_stopped(c->base.query))
				return false;
			if (!c->slice.args || c->slice.args > o->n_records)
				continue;
			if (place)
				o->slices[o->ends[c->slice.args - 1]++] = c->slice.id;
			else
				o->ends[c->slice.args - 1]++;
		}
		if (c->lane.damaged)
			query_note_damage(c->base.query);
	}
	return true;
}

static void order_done(record_order *o)
{
	free(o->slices);
	free(o->ends);
	*o = (record_order){ 0 };
}

/* False: the memory is not there, or the query was stopped; then lane by lane will do. */
static bool make_order(args_cursor *c)
{
	record_order *o = &c->order;
	uint64_t n = index_n_rows(c->base.ix, SECTION_ARGS);

	if (o->ends)
		return true;
	if (!n || n >= UINT32_MAX || index_n_slices(c->base.ix) >= UINT32_MAX ||
	    !query_may_take(c->base.query, n * sizeof *o->ends))
		return false;
	o->n_records = (uint32_t)n;
	o->ends = calloc(n, sizeof *o->ends);
	bool is_made = o->ends && go_through(c, false);
	for (uint64_t i = 0; is_made && i < n; i++) {
		uint32_t count = o->ends[i];
		o->ends[i] = o->n_slices;
		o->n_slices += count;
	}
	is_made = is_made && query_may_take(c->base.query, o->n_slices * sizeof *o->slices);
	o->slices = is_made ? malloc((o->n_slices + 1) * sizeof *o->slices) : NULL;
	if (o->slices && go_through(c, true))
		return true;
	order_done(o);
	return false;
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

/* Whole when it is written so and fits; else a real. */
static void read_number(args_cursor *c, const char *json, size_t len, query_cell *ret_cell)
{
	char text[400], *end;

	if (len >= sizeof text) { /* digits beyond all sense, but still a number */
		cell_text(ret_cell, json, len);
		ret_cell->is_fleeting = true;
		return;
	}
	memcpy(text, json, len);
	text[len] = '\0';
	errno = 0;
	long long whole = strtoll(text, &end, 10);
	if (!*end && !errno) {
		cell_int(ret_cell, whole);
		return;
	}
	if (!c->locale)
		c->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	c->base.out_of_memory |= !c->locale;
	if (c->locale)
		cell_real(ret_cell, strtod_l(text, NULL, c->locale));
}

typedef struct json_type {
	char first;
	const char *name;
} json_type;

/* NaN, None, 0x1f: what a program wrote that is neither number nor word of JSON. */
static bool is_no_json(const char *json, size_t len)
{
	return len && !strchr("\"{[", json[0]) && !json_is_valid(json, len);
}

static const char *type_of(const char *json, size_t len)
{
	static const json_type types[] = { { '"', "text" }, { '{', "object" }, { '[', "array" },
					   { 't', "true" }, { 'f', "false" },  { 'n', "null" } };

	if (is_no_json(json, len))
		return "text";
	for (size_t i = 0; len && i < sizeof types / sizeof types[0]; i++)
		if (types[i].first == json[0])
			return types[i].name;
	for (size_t i = 0; i < len; i++)
		if (strchr(".eE", json[i]))
			return "real";
	return "integer";
}

static void get_json(args_cursor *c, const member *m, query_cell *ret_cell)
{
	const char *json = m->json;

	cell_null(ret_cell);
	if (is_no_json(json, m->json_len)) {
		cell_text(ret_cell, json, m->json_len);
		ret_cell->is_fleeting = true;
		return;
	}
	switch (m->json_len ? json[0] : 'n') {
	case 'n':
		break;
	case 't':
	case 'f':
		cell_int(ret_cell, json[0] == 't');
		break;
	case '"':
		if (m->json_len >= 2)
			unescape(c, json + 1, m->json_len - 2, ret_cell);
		break;
	case '{':
	case '[':
		cell_text(ret_cell, json, m->json_len);
		ret_cell->is_fleeting = true;
		break;
	default:
		read_number(c, json, m->json_len, ret_cell);
	}
}

enum { ARG_SLICE, ARG_KEY, ARG_VALUE, ARG_TYPE };

static void get_arg(query_cursor *cursor, uint64_t row, unsigned which, query_cell *ret_cell)
{
	args_cursor *c = args_of(cursor);
	const member *m = &c->members.items[c->at_member];

	(void)row;
	if (which == ARG_SLICE) {
		cell_int(ret_cell, (int64_t)c->slice.id);
	} else if (which == ARG_VALUE) {
		get_json(c, m, ret_cell);
	} else if (which == ARG_TYPE) {
		const char *type = type_of(m->json, m->json_len);
		cell_text(ret_cell, type, strlen(type));
	} else {
		cell_null(ret_cell);
		unescape(c, m->key, m->key_len, ret_cell);
	}
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* The same number for the same row in every scan: SQLite tells rows apart by it, as for `slice = 1 or key = 'x'`. */
static int found(args_cursor *c, int code)
{
	if (code == SQLITE_OK)
		c->base.at[OF_ROW] = c->slice.id << 24 | (c->members.items[c->at_member].number & 0xffffff);
	return code;
}

static int next(query_cursor *cursor)
{
	args_cursor *c = args_of(cursor);

	if (++c->at_member < c->members.n)
		return found(c, SQLITE_OK);
	return c->is_one ? SQLITE_DONE : found(c, next_slice(c));
}

static int first_of_one(args_cursor *c, uint64_t slice)
{
	args_reader *r = cursor_args(&c->base);

	if (!r)
		return SQLITE_NOMEM;
	if (!cursor_slice(&c->base, slice, &c->slice) || !c->slice.args)
		return SQLITE_DONE;
	int code = read_members(c, r);
	return code ? code : c->members.n ? found(c, SQLITE_OK) : SQLITE_DONE;
}

static int first(query_cursor *cursor)
{
	args_cursor *c = args_of(cursor);
	int64_t min = cursor->filter.keys[KEY_ID].min, max = cursor->filter.keys[KEY_ID].max;
	uint64_t id = min > 0 ? (uint64_t)min : 0;
	uint32_t lane = id ? index_lane_of(cursor->ix, id) : 0;

	if (lane >= cursor->n_lanes || max < 0)
		return SQLITE_DONE;
	c->by_record = !cursor->filter.keys[KEY_ID].is_set && make_order(c);
	c->is_one = min == max;
	c->record = c->next_slice = 0;
	lane_first(&c->lane, cursor->ix, lane, id - cursor->lanes[lane].first_slice);
	c->members.n = c->at_member = 0;
	return c->is_one ? first_of_one(c, id) : next(cursor);
}

static void done(query_cursor *cursor)
{
	args_cursor *c = args_of(cursor);

	VEC_DONE(&c->members);
	order_done(&c->order);
	if (c->locale)
		freelocale(c->locale);
	free(c->decoded);
}

/* A guess: nobody counted them. */
static uint64_t n_args(const sonde_index *ix)
{
	return index_n_slices(ix) * 4;
}

static const query_column args_columns[] = {
	KEY_COLUMN("slice", KEY_ID, get_arg, ARG_SLICE, "id of the slice"),
	{ .name = "key",
	  .type = "TEXT",
	  .key = KEY_TEXT,
	  .get = get_arg,
	  .which = ARG_KEY,
	  .summary = "key of the argument" },
	COLUMN("value", "", OF_ROW, get_arg, ARG_VALUE,
	       "a number or text; arrays, objects and non-JSON values as text"),
	COLUMN("type", "TEXT", OF_ROW, get_arg, ARG_TYPE,
	       "JSON type: integer, real, text, true, false, null, array or object"),
};

const query_table args_table = {
	.name = "args",
	.summary = "Arguments of slices, one row each",
	.columns = args_columns,
	.n_columns = sizeof args_columns / sizeof args_columns[0],
	.n_rows = n_args,
	.cursor_bytes = sizeof(args_cursor),
	.first = first,
	.next = next,
	.done = done,
};
