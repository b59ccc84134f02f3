/*
 * A table as text that fits the terminal.
 *
 * measure()   one unit per column, and the width that each column needs
 * fit()       columns of the highest priority go until the rest fits, counting at most NAME_ENOUGH columns for a
 *             string; then the widest strings shrink; at last, on a screen narrower than that, columns go from the
 * right put_row()   numbers at the right, strings at the left and cut in the middle; a bar in the room that is left
 *
 * Cells are formatted twice, to measure and to print, which is cheaper than to keep them.
 */
#include "present/present.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/format_number.h"
#include "base/screen_text.h"

enum { MARGIN = 1, GAP = 2, INDENT = 2 };
enum { NAME_ENOUGH = 24, NAME_LEAST = 8, BAR_WIDTH = 12, BAR_LEAST = 4, BAR_PRIORITY = 4 };

typedef struct layout {
	const table *table;
	const sonde_print_options *options;
	size_t n_rows;
	size_t n_columns;
	unsigned widths[RESULT_MAX_COLUMNS]; /* 0: not shown */
	number_unit units[RESULT_MAX_COLUMNS];
	size_t bar_column;
	unsigned bar_width; /* 0: no bar */
} layout;

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

/* The text of a cell: its own string, or a number in the buffer. */
static const char *text_at(const layout *l, size_t row, size_t i, char *buffer)
{
	cell c = table_cell(l->table, row, i);

	return cell_text(&c, l->table->columns[i].type, l->units[i], buffer);
}

/* ---- Widths ------------------------------------------------------------------------------------------------------ */

static bool is_string(const layout *l, size_t i)
{
	return l->table->columns[i].type == CELL_STRING;
}

static unsigned indentation(const layout *l, size_t row, size_t i)
{
	return i == 0 ? table_depth(l->table, row) * INDENT : 0;
}

/* A string is not measured further than two screens: it is cut anyway. */
static unsigned measure_column(const layout *l, size_t i)
{
	unsigned enough = l->options->width < UINT_MAX / 2 ? l->options->width * 2 : UINT_MAX;
	unsigned width = screen_columns_upto(l->table->columns[i].header, enough, l->options->utf8);
	char buffer[NUMBER_TEXT];

	for (size_t row = 0; row < l->n_rows; row++) {
		const char *text = text_at(l, row, i, buffer);
		unsigned needed = indentation(l, row, i) + screen_columns_upto(text, enough, l->options->utf8);

		width = needed > width ? needed : width;
	}
	return width ? width : 1;
}

static void measure(layout *l)
{
	for (size_t i = 0; i < l->n_columns; i++) {
		const column *col = &l->table->columns[i];

		if (col->priority < 0)
			continue;
		if (col->type == CELL_NS || col->type == CELL_BYTES)
			l->units[i] = column_unit(l->table, i, l->n_rows);
		l->widths[i] = measure_column(l, i);
	}
}

/* The width of a row if no string were wider than max_string. */
static unsigned row_width(const layout *l, unsigned max_string)
{
	unsigned width = MARGIN;

	for (size_t i = 0; i < l->n_columns; i++) {
		unsigned needed = l->widths[i];

		if (is_string(l, i) && needed > max_string)
			needed = max_string;
		width += needed ? needed + (width > MARGIN ? GAP : 0) : 0;
	}
	return width;
}

/* The column to go next: the highest priority, the rightmost of those; 0 when only columns of priority 0 are left. */
static size_t least_important(const layout *l)
{
	size_t found = 0;

	for (size_t i = 1; i < l->n_columns; i++)
		if (l->widths[i] && l->table->columns[i].priority > 0 &&
		    (!found || l->table->columns[i].priority >= l->table->columns[found].priority))
			found = i;
	return found;
}

/* The widest string that may still shrink, or n_columns. */
static size_t widest_string(const layout *l)
{
	size_t found = l->n_columns;

	for (size_t i = 0; i < l->n_columns; i++)
		if (is_string(l, i) && l->widths[i] > NAME_LEAST &&
		    (found == l->n_columns || l->widths[i] > l->widths[found]))
			found = i;
	return found;
}

static void shrink_strings(layout *l)
{
	for (size_t i = 0; i < l->n_columns; i++)
		if (is_string(l, i) && l->widths[i] > l->options->width)
			l->widths[i] = l->options->width;
	while (row_width(l, UINT_MAX) > l->options->width) {
		size_t i = widest_string(l);

		if (i == l->n_columns)
			break;
		l->widths[i]--;
	}
}

/* Room that a bar needs; it is worth more than a column of minor importance. */
static unsigned bar_claim(const layout *l, size_t against)
{
	for (size_t i = 0; i < l->n_columns; i++)
		if (l->table->columns[i].bar && l->table->columns[against].priority >= BAR_PRIORITY)
			return GAP + BAR_LEAST;
	return 0;
}

static void fit(layout *l)
{
	unsigned width = l->options->width;
	size_t i;

	while ((i = least_important(l)) > 0 && row_width(l, NAME_ENOUGH) + bar_claim(l, i) > width)
		l->widths[i] = 0;
	shrink_strings(l);
	for (i = l->n_columns; i-- > 1 && row_width(l, UINT_MAX) > width;)
		l->widths[i] = 0;
	if (row_width(l, UINT_MAX) > width)
		l->widths[0] = width > MARGIN ? width - MARGIN : 1;
}

/* A bar may take what is left of the line. */
static void fit_bar(layout *l)
{
	unsigned taken = row_width(l, UINT_MAX) + GAP;
	unsigned room = taken < l->options->width ? l->options->width - taken : 0;

	for (size_t i = 0; i < l->n_columns && !l->bar_width; i++) {
		if (!l->table->columns[i].bar || room < BAR_LEAST)
			continue;
		l->bar_column = i;
		l->bar_width = room < BAR_WIDTH ? room : BAR_WIDTH;
	}
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void put_style(const layout *l, FILE *out, const char *style)
{
	if (l->options->color)
		fputs(style, out);
}

/* One cell; *pad is the number of spaces still due before it, so that no line ends in spaces. */
static void put_cell(const layout *l, FILE *out, size_t i, const char *text, unsigned indent, unsigned *pad)
{
	unsigned width = l->widths[i], needed = screen_columns_upto(text, width, l->options->utf8);
	bool is_left = i == 0 || is_string(l, i);

	if (indent > width / 2)
		indent = width / 2;
	if (needed > width - indent)
		needed = width - indent;
	screen_pad(out, *pad + (is_left ? indent : width - needed));
	unsigned taken = screen_put_cut(out, text, needed, l->options->utf8);
	*pad = GAP + (is_left ? width - indent - taken : 0);
}

/* The column at place k: the one with a bar stands last, beside its bar, wherever it is in the data. */
static size_t column_at(const layout *l, size_t k)
{
	size_t bar = 0;

	while (bar < l->n_columns && !l->table->columns[bar].bar)
		bar++;
	return k < bar ? k : k + 1 < l->n_columns ? k + 1 : bar < l->n_columns ? bar : k;
}

static void put_header(const layout *l, FILE *out)
{
	unsigned pad = MARGIN;

	put_style(l, out, "\033[1m");
	for (size_t k = 0, i = column_at(l, 0); k < l->n_columns; i = column_at(l, ++k))
		if (l->widths[i])
			put_cell(l, out, i, l->table->columns[i].header, 0, &pad);
	put_style(l, out, "\033[0m");
	fputc('\n', out);
}

/* In eighths of a column, to the nearest; 100 % is the whole width. */
static void put_bar(const layout *l, FILE *out, cell c, unsigned pad)
{
	double share = c.type == CELL_PERCENT && c.number > 0 ? fmin(c.number, 100) / 100 : 0;
	unsigned eighths = (unsigned)(share * l->bar_width * 8 + 0.5);
	char part[4] = "\u2588";

	if (!l->options->utf8)
		eighths = (eighths + 4) / 8 * 8;
	if (eighths == 0)
		return;
	screen_pad(out, pad);
	put_style(l, out, "\033[2m");
	for (; eighths >= 8; eighths -= 8)
		fputs(l->options->utf8 ? "\u2588" : "#", out);
	part[2] = (char)(part[2] + 8 - eighths); /* U+2588 is eight eighths, U+2589 seven, ... U+258F one */
	if (eighths)
		fputs(part, out);
	put_style(l, out, "\033[0m");
}

static void put_row(const layout *l, FILE *out, size_t row)
{
	unsigned pad = MARGIN;
	char buffer[NUMBER_TEXT];

	for (size_t k = 0, i = column_at(l, 0); k < l->n_columns; i = column_at(l, ++k))
		if (l->widths[i])
			put_cell(l, out, i, text_at(l, row, i, buffer), indentation(l, row, i), &pad);
	if (l->bar_width)
		put_bar(l, out, table_cell(l->table, row, l->bar_column), pad);
	fputc('\n', out);
}

static void put_line(const layout *l, FILE *out, const char *text, unsigned margin)
{
	screen_pad(out, margin);
	screen_put_cut(out, text, l->options->width > margin ? l->options->width - margin : 1, l->options->utf8);
	fputc('\n', out);
}

void text_table_print(const table *t, const sonde_print_options *options, FILE *out)
{
	layout l = {
		.table = t,
		.options = options,
		.n_rows = t->n_shown < t->n_rows ? t->n_shown : t->n_rows,
		.n_columns = t->n_columns,
	};

	measure(&l);
	fit(&l);
	fit_bar(&l);
	if (t->title)
		put_line(&l, out, t->title, 0);
	put_header(&l, out);
	for (size_t row = 0; row < l.n_rows; row++)
		put_row(&l, out, row);
	if (t->n_rows == 0)
		put_line(&l, out, "(none)", MARGIN);
	if (t->more)
		put_line(&l, out, t->more, MARGIN);
}
