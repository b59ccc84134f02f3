/*
 * What host rows launched, by themselves and with what is inside them.
 *
 *   op_tree_load()              from rows, once for all ranks
 *   op_tree_direct(), _subtree()  the device rows of a host row
 *   op_tree_ns()                their time, durations added up
 *   op_tree_busy_ns()           their time, what overlaps counts once
 *   op_tree_op()                the operator at or above a row
 *   op_tree_done()
 *
 * The tree itself is that of the rows: row.parent, and rows [i + 1, row.end) are inside row i. What they launched lies
 * together too, so a subtree is a range. A block of rows has the place where theirs begin, and each of those a byte
 * that says which row of the block launched it: a sixteenth of a byte a row and 13 bytes a device row.
 */
#ifndef SONDE_ANALYZE_TABLES_OP_TREE_H
#define SONDE_ANALYZE_TABLES_OP_TREE_H

#include "analyze/tables/rows.h"
#include "base/search.h"

enum { OP_TREE_BLOCK = 64 }; /* rows */

typedef struct op_tree {
	const rows *rows;
	uint32_t *launched; /* device rows by the row that launched them, then by start */
	uint8_t *places;    /* by place in launched: the row that launched it, within its block */
	uint32_t *first;   /* for op_tree_first(): of launched, by block, and one more: where those of its rows begin */
	int64_t *sums_ns;  /* by place in launched: durations of all before it */
	bool *is_op;	   /* by site: an operator of a framework */
	size_t n_linked;   /* of launched */
	size_t n_unlinked; /* device rows whose launch is not in the trace */
	int64_t unlinked_ns; /* their durations */
} op_tree;

bool *op_sites(const rows *r); /* by site: an operator of a framework; to be freed, NULL when out of memory */
/* op_tree_done() afterwards, also on failure. The rows must outlive it. */
bool op_tree_load(op_tree *t, const rows *r); /* false when out of memory */
void op_tree_done(op_tree *t);

/* Where those begin in t->launched that the row or one behind it launched; row: up to rows.n. */
static inline size_t op_tree_first(const op_tree *t, uint32_t host_row)
{
	size_t block = host_row / OP_TREE_BLOCK, place = host_row % OP_TREE_BLOCK;

	return FIRST_NOT(i, t->first[block], t->first[block + 1], t->places[i] < place);
}
/* Device rows that the row launched itself, by start. */
static inline const uint32_t *op_tree_direct(const op_tree *t, uint32_t host_row, size_t *ret_n)
{
	size_t first = op_tree_first(t, host_row);

	*ret_n = op_tree_first(t, host_row + 1) - first;
	return t->launched + first;
}
/* With those that what is inside it launched; in the order of their launches. */
static inline const uint32_t *op_tree_subtree(const op_tree *t, uint32_t host_row, size_t *ret_n)
{
	size_t first = op_tree_first(t, host_row);

	*ret_n = op_tree_first(t, rows_at(t->rows, host_row).end) - first;
	return t->launched + first;
}
static inline int64_t op_tree_ns(const op_tree *t, uint32_t host_row)
{
	uint32_t end = rows_at(t->rows, host_row).end;

	return t->sums_ns[op_tree_first(t, end)] - t->sums_ns[op_tree_first(t, host_row)];
}
/* The nearest operator at or above it, or ROW_NONE. */
uint32_t op_tree_op(const op_tree *t, uint32_t at);

/* Length of what device rows cover together; -1 when out of memory. They may come in any order. */
int64_t op_tree_busy_ns(const op_tree *t, const uint32_t *device_rows, size_t n);

#endif
