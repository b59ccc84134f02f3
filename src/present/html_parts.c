/* Rows of a page's table as bars of parts that add up, all of the same length: what each rank did with its time. */
#include "present/html.h"

#include <math.h>

enum { LEFT = 88, WIDTH = 800, ROW = 22, BAR = 16, MAX_ROWS = 32 };

static double value_at(const table *t, size_t row, size_t part)
{
	double value = cell_real(&t->cells[row * t->n_columns + t->parts[part]]);

	return isfinite(value) && value > 0 ? value : 0;
}

static double total_of(const table *t, size_t row)
{
	double total = 0;

	for (size_t i = 0; i < t->n_parts; i++)
		total += value_at(t, row, i);
	return total;
}

static void put_row(page *p, const table *t, size_t row)
{
	double at = LEFT, total = total_of(t, row);
	char buffer[NUMBER_TEXT];

	page_format(p, "<text class=\"y\" x=\"%d\" y=\"%zu\">", LEFT - 8, row * ROW + BAR - 4);
	page_text(p, t->columns[0].header, PAGE_NAME);
	page_raw(p, " ");
	page_text(p, cell_text(&t->cells[row * t->n_columns], CELL_UNKNOWN, column_unit(t, 0, t->n_rows), buffer),
		  PAGE_NAME);
	page_raw(p, "</text>");
	for (size_t i = 0; total > 0 && i < t->n_parts; i++) {
		double value = value_at(t, row, i), width = value / total * (WIDTH - LEFT);
		const cell *c = &t->cells[row * t->n_columns + t->parts[i]];
		page_format(p, "<rect class=\"bar s%zu\" x=\"%.1f\" y=\"%zu\" width=\"%.1f\" height=\"%d\"><title>", i,
			    at, row * ROW, width, BAR);
		page_text(p, t->columns[t->parts[i]].header, PAGE_NAME);
		page_raw(p, ": ");
		page_text(p, cell_text(c, t->columns[t->parts[i]].type, column_unit(t, t->parts[i], t->n_rows), buffer),
			  NUMBER_TEXT);
		page_format(p, " (%.1f %%)</title></rect>", 100 * value / total);
		at += width;
	}
}

void html_parts_print(page *p, const table *t)
{
	size_t n = t->n_rows < MAX_ROWS ? t->n_rows : MAX_ROWS;

	if (!t->n_parts || !n || page_is_full(p))
		return;
	page_format(p,
		    "<figure><svg class=\"chart parts\" viewBox=\"0 0 %d %zu\" width=\"%d\" height=\"%zu\" "
		    "role=\"img\" aria-label=\"",
		    WIDTH, n * ROW, WIDTH, n * ROW);
	page_table_title(p, t);
	page_raw(p, "\">");
	for (size_t row = 0; row < n; row++)
		put_row(p, t, row);
	page_raw(p, "</svg><ul class=\"legend\">");
	for (size_t i = 0; i < t->n_parts; i++) {
		page_format(p, "<li class=\"s%zu\">", i);
		page_text(p, t->columns[t->parts[i]].header, PAGE_NAME);
		page_raw(p, "</li>");
	}
	page_raw(p, n < t->n_rows ? "<li>more in the table</li></ul></figure>\n" : "</ul></figure>\n");
}
