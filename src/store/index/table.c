/*
 * Tables of packed rows: instants, flows, launches, allocations, values, samples, facts. See index/sections.h.
 *
 * Tracks and sites of rows are there: a block that names others is damaged and skipped. Numbers of slices and of
 * argument records are checked by who looks them up.
 */
#include <string.h>
#include "base/search.h"
#include "store/index/image.h"

typedef struct table_shape {
	uint8_t n_columns;  /* 0: no table */
	int8_t track, site; /* columns, -1: none */
} table_shape;

static const table_shape shapes[SECTION_KINDS] = {
	[SECTION_INSTANTS] = { INSTANT_COLUMNS, INSTANT_TRACK, INSTANT_SITE },
	[SECTION_FLOWS] = { FLOW_COLUMNS, FLOW_TRACK, FLOW_SITE },
	[SECTION_LAUNCHES] = { LAUNCH_COLUMNS, -1, -1 },
	[SECTION_ALLOCATIONS] = { ALLOCATION_COLUMNS, ALLOCATION_TRACK, ALLOCATION_SITE },
	[SECTION_VALUES] = { VALUE_COLUMNS, -1, -1 },
	[SECTION_SAMPLES] = { SAMPLE_COLUMNS, SAMPLE_TRACK, SAMPLE_SITE },
	[SECTION_COLLECTIVES] = { COLLECTIVE_COLUMNS, -1, -1 },
};

static bool refers_to(const columns *c, int column, uint64_t n)
{
	if (column < 0 || (n && column_within(c, (size_t)column, n - 1)))
		return true;
	for (size_t i = 0; i < c->n_rows; i++)
		if ((uint64_t)columns_get(c, (size_t)column, i) >= n)
			return false;
	return true;
}

/* The block that holds the row. */
static bool open_block(const sonde_index *ix, index_kind kind, uint64_t row, columns *ret)
{
	uint64_t block = row / COLUMNS_ROWS, left = ix->sections[kind].n_rows - block * COLUMNS_ROWS;

	return image_block(ix, kind, block, shapes[kind].n_columns, ret) &&
	       ret->n_rows == (left < COLUMNS_ROWS ? left : COLUMNS_ROWS);
}

void table_first(table_cursor *c, const sonde_index *ix, index_kind kind, uint64_t first)
{
	bool is_table = (unsigned)kind < SECTION_KINDS && shapes[kind].n_columns;

	c->ix = ix;
	c->kind = kind;
	c->row = first;
	c->n_rows = is_table ? ix->sections[kind].n_rows : 0;
	c->n_columns = is_table ? shapes[kind].n_columns : 0;
	c->n = c->at = 0;
	c->damaged = false;
}

static bool load_next(table_cursor *c)
{
	const table_shape *shape = &shapes[c->kind];

	while (c->row < c->n_rows) {
		if (open_block(c->ix, c->kind, c->row, &c->block) &&
		    refers_to(&c->block, shape->track, c->ix->n_tracks) &&
		    refers_to(&c->block, shape->site, c->ix->n_sites)) {
			c->n = c->block.n_rows;
			c->at = (uint32_t)(c->row % COLUMNS_ROWS);
			for (uint32_t i = 0; i < c->n_columns; i++)
				columns_unpack(&c->block, i, 0, c->n, c->values[i]);
			return true;
		}
		c->damaged = true;
		c->row = c->row / COLUMNS_ROWS * COLUMNS_ROWS + COLUMNS_ROWS;
	}
	c->n = c->at = 0;
	return false;
}

bool table_next(table_cursor *c, int64_t *ret_row)
{
	if (c->at == c->n && !load_next(c))
		return false;
	for (uint32_t i = 0; i < c->n_columns; i++)
		ret_row[i] = c->values[i][c->at];
	c->at++;
	c->row++;
	return true;
}

/* Told by base and width alone. */
static bool may_have(const columns *c, unsigned column, int64_t value)
{
	unsigned width = c->widths[column];
	uint64_t above = (uint64_t)value - (uint64_t)columns_base(c, column);

	return width == 64 || above < (uint64_t)1 << width;
}

bool table_next_with(table_cursor *c, unsigned column, int64_t value, int64_t *ret_row)
{
	for (;;) {
		for (; c->at < c->n; c->at++, c->row++)
			if (c->values[column][c->at] == value)
				return table_next(c, ret_row);
		while (c->row < c->n_rows && open_block(c->ix, c->kind, c->row, &c->block) &&
		       !may_have(&c->block, column, value))
			c->row = c->row / COLUMNS_ROWS * COLUMNS_ROWS + COLUMNS_ROWS;
		if (!load_next(c))
			return false;
	}
}

uint64_t table_find(const sonde_index *ix, index_kind kind, unsigned column, int64_t value)
{
	columns c;

	if ((unsigned)kind >= SECTION_KINDS || column >= shapes[kind].n_columns)
		return 0;
	/* The last block whose first row is below the value; if none is, the first. */
	uint64_t n_rows = ix->sections[kind].n_rows;
	uint64_t next = FIRST_NOT(i, 1, divided_up(n_rows, COLUMNS_ROWS),
				  open_block(ix, kind, i * COLUMNS_ROWS, &c) && columns_get(&c, column, 0) < value);
	uint64_t row = (next - 1) * COLUMNS_ROWS;
	if (!n_rows || !open_block(ix, kind, row, &c))
		return row;
	return row + FIRST_NOT(i, 0, c.n_rows, columns_get(&c, column, i) < value);
}

uint64_t index_launch_of(const sonde_index *ix, uint64_t device_slice, int64_t *ret_correlation)
{
	columns c;

	*ret_correlation = 0;
	if (device_slice >= index_n_slices(ix))
		return INDEX_NO_SLICE;
	uint64_t row = table_find(ix, SECTION_LAUNCHES, LAUNCH_DEVICE, (int64_t)device_slice);
	if (row >= ix->sections[SECTION_LAUNCHES].n_rows || !open_block(ix, SECTION_LAUNCHES, row, &c))
		return INDEX_NO_SLICE;
	row %= COLUMNS_ROWS;
	if ((uint64_t)columns_get(&c, LAUNCH_DEVICE, row) != device_slice)
		return INDEX_NO_SLICE;
	*ret_correlation = columns_get(&c, LAUNCH_CORRELATION, row);
	uint64_t host = (uint64_t)columns_get(&c, LAUNCH_HOST, row) - 1; /* 0: none */
	return host < index_n_slices(ix) ? host : INDEX_NO_SLICE;
}
