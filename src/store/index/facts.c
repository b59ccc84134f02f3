/*
 * What events carried: rows of a table of facts, found by the record of arguments.
 *
 * Rows are in the order of records, and events are asked for in nearly that order, so the blocks that were used last
 * answer nearly every question. A block's place among those in memory follows from its number.
 */
#include <stdlib.h>
#include "base/search.h"
#include "store/index/image.h"

enum { KEPT_BLOCKS = 8 };

/* The unpacked rows of a block. */
typedef struct fact_block {
	uint64_t number; /* UINT64_MAX: none */
	table_cursor rows;
} fact_block;

struct fact_reader {
	const sonde_index *ix;
	index_kind kind;
	const index_message *messages;
	size_t n_messages;
	fact_block *last; /* the one that answered last */
	fact_block blocks[KEPT_BLOCKS];
};

fact_reader *fact_reader_new(const sonde_index *ix, index_kind kind)
{
	fact_reader *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->ix = ix && index_n_rows(ix, kind) ? ix : NULL;
	r->kind = kind;
	r->last = &r->blocks[0];
	for (size_t i = 0; i < KEPT_BLOCKS; i++)
		r->blocks[i].number = UINT64_MAX;
	if (r->ix && kind == SECTION_COLLECTIVES)
		r->messages = index_messages(ix, &r->n_messages);
	return r;
}

void fact_reader_free(fact_reader *r)
{
	free(r);
}

static const int64_t *records_of(const fact_block *b)
{
	return b->rows.values[0];
}

static bool spans(const fact_block *b, int64_t args)
{
	return b->number != UINT64_MAX && b->rows.n && records_of(b)[0] <= args && args <= records_of(b)[b->rows.n - 1];
}

/* The block that would have the row, in memory; NULL: there is none, or it is damaged. */
static fact_block *load(fact_reader *r, uint32_t args)
{
	uint64_t row = table_find(r->ix, r->kind, 0, args), number = row / COLUMNS_ROWS;
	fact_block *b = &r->blocks[number % KEPT_BLOCKS];
	int64_t first[COLUMNS_MAX];

	if (row >= index_n_rows(r->ix, r->kind))
		return NULL;
	if (b->number != number) {
		table_first(&b->rows, r->ix, r->kind, number * COLUMNS_ROWS);
		/* A damaged block is skipped: what was loaded then is another one. */
		bool is_there = table_next(&b->rows, first) && (b->rows.row - 1) / COLUMNS_ROWS == number;
		b->number = is_there ? number : UINT64_MAX;
	}
	return b->number == number ? b : NULL;
}

bool fact_find(fact_reader *r, uint32_t args, int64_t *ret_row)
{
	if (!args || !r->ix)
		return false;
	if (!spans(r->last, args)) {
		fact_block *b = load(r, args);
		if (!b)
			return false;
		r->last = b;
	}
	const fact_block *b = r->last;
	size_t at = FIRST_NOT(i, 0, b->rows.n, records_of(b)[i] < (int64_t)args);
	if (at >= b->rows.n || records_of(b)[at] != (int64_t)args)
		return false;
	for (uint32_t i = 0; i < b->rows.n_columns; i++)
		ret_row[i] = b->rows.values[i][at];
	return true;
}

const index_message *fact_message(fact_reader *r, uint32_t args, int64_t *ret_sequence)
{
	int64_t row[COLUMNS_MAX];

	if (!fact_find(r, args, row) || (uint64_t)row[COLLECTIVE_MESSAGE] >= r->n_messages)
		return NULL;
	*ret_sequence = row[COLLECTIVE_SEQUENCE];
	return &r->messages[row[COLLECTIVE_MESSAGE]];
}
