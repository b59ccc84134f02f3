/*
 * Tables of what events carried: collectives. Rows lie in packed blocks, by the record of arguments they are of: the
 * args_id of the slice.
 */
#include "query/columns.h"

#include <string.h>
#include "store/collectives.h"

typedef struct facts_cursor {
	query_cursor base;
	int64_t row[COLUMNS_MAX];
	const index_message *messages;
	size_t n_messages;
	table_cursor table;
} facts_cursor;

static facts_cursor *facts_of(query_cursor *c)
{
	return (facts_cursor *)c;
}

/* ---- The scan ---------------------------------------------------------------------------------------------------- */

/* The first column is the args_id. */
static int next(query_cursor *cursor)
{
	facts_cursor *c = facts_of(cursor);
	const key_range *ids = &cursor->filter.keys[KEY_ID];

	while (table_next(&c->table, c->row) && c->row[0] <= ids->max) {
		if (c->table.row % 4096 == 0 && query_is_stopped(cursor->query))
			return SQLITE_INTERRUPT;
		if (c->row[0] < ids->min)
			continue;
		cursor->at[OF_ROW] = c->table.row - 1;
		return SQLITE_OK;
	}
	if (c->table.damaged)
		query_note_damage(cursor->query);
	return SQLITE_DONE;
}

static int first(query_cursor *cursor)
{
	facts_cursor *c = facts_of(cursor);
	const index_kind *kind = cursor->table->source;
	int64_t min = cursor->filter.keys[KEY_ID].min;

	c->messages = index_messages(cursor->ix, &c->n_messages);
	table_first(&c->table, cursor->ix, *kind, min <= 0 ? 0 : table_find(cursor->ix, *kind, 0, min));
	return next(cursor);
}

static void get_value(query_cursor *c, uint64_t row, unsigned which, query_cell *ret_cell)
{
	(void)row;
	cell_known(ret_cell, facts_of(c)->row[which]);
}

#define ARGS_ID KEY_COLUMN("args_id", KEY_ID, get_value, 0, "slices.args_id of what it is about")
#define FACTS_SCAN                                                                                                     \
	.order = { KEY_ID }, .has_unique_ids = true, .cursor_bytes = sizeof(facts_cursor), .first = first, .next = next

/* ---- collectives ------------------------------------------------------------------------------------------------- */

enum {
	MESSAGE_KIND,
	MESSAGE_NAME,
	MESSAGE_GROUP,
	MESSAGE_RANKS,
	MESSAGE_SIZE,
	MESSAGE_DTYPE,
	MESSAGE_IN,
	MESSAGE_OUT,
	MESSAGE_BYTES,
	MESSAGE_IN_SPLIT,
	MESSAGE_OUT_SPLIT
};

static int64_t bytes_of(const index_message *m)
{
	int64_t elements = m->kind == COLLECTIVE_ALL_GATHER ? m->out_elements : m->in_elements, bytes;

	return elements < 0 || m->element_bytes < 0 || __builtin_mul_overflow(elements, m->element_bytes, &bytes)
		       ? -1
		       : bytes;
}

static void get_message(query_cursor *cursor, uint64_t row, unsigned which, query_cell *ret_cell)
{
	const facts_cursor *c = facts_of(cursor);
	uint64_t number = (uint64_t)c->row[COLLECTIVE_MESSAGE];

	(void)row;
	cell_null(ret_cell);
	if (number >= c->n_messages)
		return;
	const index_message *m = &c->messages[number];
	const char *kind = which == MESSAGE_KIND ? collective_kind_name(m->kind) : NULL;
	const uint32_t strings[] = {
		[MESSAGE_NAME] = m->name,   [MESSAGE_GROUP] = m->group,	      [MESSAGE_RANKS] = m->ranks,
		[MESSAGE_DTYPE] = m->dtype, [MESSAGE_IN_SPLIT] = m->in_split, [MESSAGE_OUT_SPLIT] = m->out_split
	};
	if (kind)
		cell_text(ret_cell, kind, strlen(kind));
	else if (which == MESSAGE_SIZE)
		cell_known(ret_cell, m->group_size);
	else if (which == MESSAGE_IN)
		cell_known(ret_cell, m->in_elements);
	else if (which == MESSAGE_OUT)
		cell_known(ret_cell, m->out_elements);
	else if (which == MESSAGE_BYTES)
		cell_known(ret_cell, bytes_of(m));
	else if (which != MESSAGE_KIND)
		cell_string_of(cursor, strings[which], ret_cell);
}

static uint64_t n_collectives(const sonde_index *ix)
{
	return index_n_rows(ix, SECTION_COLLECTIVES);
}

static const index_kind collectives_source = SECTION_COLLECTIVES;
static const query_column collectives_columns[] = {
	ARGS_ID,
	COLUMN("kind", "TEXT", OF_ROW, get_message, MESSAGE_KIND,
	       "all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, send and so on"),
	COLUMN("name", "TEXT", OF_ROW, get_message, MESSAGE_NAME, "as the trace has it"),
	COLUMN("group_name", "TEXT", OF_ROW, get_message, MESSAGE_GROUP, "of the ranks that take part"),
	COLUMN("group_size", "INTEGER", OF_ROW, get_message, MESSAGE_SIZE, "how many these are"),
	COLUMN("ranks", "TEXT", OF_ROW, get_message, MESSAGE_RANKS, "which these are: [0, 1]"),
	COLUMN("sequence", "INTEGER", OF_ROW, get_value, COLLECTIVE_SEQUENCE, "number of the call in its group"),
	COLUMN("dtype", "TEXT", OF_ROW, get_message, MESSAGE_DTYPE, "type of an element"),
	COLUMN("in_elements", "INTEGER", OF_ROW, get_message, MESSAGE_IN, "that go in on this rank"),
	COLUMN("out_elements", "INTEGER", OF_ROW, get_message, MESSAGE_OUT, "that come out on this rank"),
	COLUMN("bytes", "INTEGER", OF_ROW, get_message, MESSAGE_BYTES,
	       "that come out of an all-gather, that go into others"),
	COLUMN("in_split", "TEXT", OF_ROW, get_message, MESSAGE_IN_SPLIT, "of an all-to-all: what goes to each rank"),
	COLUMN("out_split", "TEXT", OF_ROW, get_message, MESSAGE_OUT_SPLIT, "and what comes from each"),
};

const query_table collectives_table = {
	.name = "collectives",
	.summary = "What collectives move, and between which ranks",
	.columns = collectives_columns,
	.n_columns = sizeof collectives_columns / sizeof collectives_columns[0],
	.n_rows = n_collectives,
	.source = &collectives_source,
	FACTS_SCAN,
};
