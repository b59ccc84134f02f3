/* Cells as people read them: one unit for each column of times and sizes. */
#include "present/present.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static double magnitude(cell c)
{
	return c.type == CELL_NS ? fabs((double)c.integer) : c.type == CELL_BYTES ? (double)c.count : 0;
}

/* A time of one of several runs, a_ns, b_ns, or their difference: to be read side by side. */
static bool is_of_runs(const column *c)
{
	return c->type == CELL_NS && ((c->key[0] && strcmp(c->key + 1, "_ns") == 0) || strcmp(c->key, "diff_ns") == 0);
}

static bool shares_unit(const table *t, size_t a, size_t b)
{
	return a == b || (is_of_runs(&t->columns[a]) && is_of_runs(&t->columns[b]));
}

/* Most of what is not 0 would be less than a tenth of the unit. */
static bool is_too_large(const table *t, size_t i, size_t n_rows, number_unit unit)
{
	size_t n = 0, n_small = 0;

	for (size_t k = 0; k < t->n_columns; k++) {
		for (size_t row = 0; row < n_rows && shares_unit(t, i, k); row++) {
			double size = magnitude(table_cell(t, row, k));
			n += size > 0;
			n_small += size > 0 && size < 0.1 * unit.scale;
		}
	}
	return 2 * n_small > n;
}

/* That of the largest, or a smaller one when a few large values would make the others unreadable. */
number_unit column_unit(const table *t, size_t i, size_t n_rows)
{
	enum { MOST = 100000 }; /* 99,999 ms can still be read */
	number_kind kind = t->columns[i].type == CELL_NS ? NUMBER_NS : NUMBER_BYTES;
	double largest = 0;

	for (size_t k = 0; k < t->n_columns; k++)
		for (size_t row = 0; row < n_rows && shares_unit(t, i, k); row++)
			largest = fmax(largest, magnitude(table_cell(t, row, k)));
	number_unit unit = number_unit_for(kind, largest);
	while (is_too_large(t, i, n_rows, unit)) {
		number_unit smaller = number_unit_for(kind, unit.scale / 2);
		if (largest >= MOST * smaller.scale)
			break;
		unit = smaller;
	}
	return unit;
}

const char *cell_text(const cell *c, cell_type column_type, number_unit unit, char *buffer)
{
	bool has_unit = c->type == column_type;

	switch (c->type) {
	case CELL_UNKNOWN:
		break;
	case CELL_STRING:
		return c->string;
	case CELL_COUNT:
		return format_count(buffer, c->count);
	case CELL_INTEGER:
		snprintf(buffer, NUMBER_TEXT, "%" PRId64, c->integer);
		return buffer;
	case CELL_NS:
		return has_unit ? format_in_unit(buffer, (double)c->integer, unit) : format_ns(buffer, c->integer);
	case CELL_BYTES:
		return has_unit ? format_in_unit(buffer, (double)c->count, unit) : format_bytes(buffer, c->count);
	case CELL_PERCENT:
		return format_percent(buffer, c->number);
	case CELL_NUMBER:
		return format_number(buffer, c->number);
	case CELL_BOOL:
		return c->truth ? "yes" : "no";
	}
	return "-";
}

double cell_real(const cell *c)
{
	switch (c->type) {
	case CELL_COUNT:
	case CELL_BYTES:
		return (double)c->count;
	case CELL_INTEGER:
	case CELL_NS:
		return (double)c->integer;
	case CELL_PERCENT:
	case CELL_NUMBER:
		return c->number;
	case CELL_BOOL:
		return c->truth;
	case CELL_UNKNOWN:
	case CELL_STRING:
		break;
	}
	return NAN;
}

bool column_is_text(const column *c)
{
	return c->type == CELL_STRING;
}
