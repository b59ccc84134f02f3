/*
 * A table of a page: what text shows and the columns it leaves out for want of room, up to PAGE_ROWS rows; behind its
 * chart if it has one. A cell that
 * is a number carries its exact value in data-v, by which the script sorts and copies. Long tables are folded by the
 * script, so that a reader without it sees them whole.
 */
#include "present/html.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { PAPER_ROOM = 13, FILTERED_ROWS = 10 };

/* About how much of a sheet's width the columns take whose priority is at most `limit`. */
static int width_on_paper(const table *t, int limit)
{
	int width = 0;

	for (size_t i = 0; i < t->n_columns; i++)
		if (t->columns[i].priority >= 0 && t->columns[i].priority <= limit)
			width += (column_is_text(&t->columns[i]) ? 2 : 1) + t->columns[i].bar + (i == 0);
	return width;
}

/* Paper has no scroll bar: the highest priority of a column that is printed. */
static int paper_limit(const table *t)
{
	int limit = 0;

	for (size_t i = 0; i < t->n_columns; i++)
		limit = t->columns[i].priority > limit ? t->columns[i].priority : limit;
	while (limit > 0 && width_on_paper(t, limit) > PAPER_ROOM)
		limit--;
	return limit;
}

/* "n": a number, at the right; "w": not on paper; "d3": at that depth of a tree. */
static void put_class(page *p, const column *c, bool is_number, int limit, unsigned depth)
{
	const char *wide = c->priority > limit ? " w" : "";

	if (is_number)
		page_format(p, " class=\"n%s\"", wide);
	else if (depth > 0)
		page_format(p, " class=\"d%u\"", depth < 12 ? depth : 12);
	else if (*wide)
		page_raw(p, " class=\"w\"");
}

static void put_head(page *p, const table *t, int limit)
{
	page_raw(p, "<thead><tr>");
	for (size_t i = 0; i < t->n_columns; i++) {
		const column *c = &t->columns[i];

		if (c->priority < 0)
			continue;
		page_raw(p, "<th scope=\"col\"");
		put_class(p, c, !column_is_text(c), limit, 0);
		page_raw(p, " data-key=\"");
		page_text(p, c->key, PAGE_NAME);
		page_raw(p, "\">");
		page_text(p, c->header, PAGE_NAME);
		page_raw(p, "</th>");
		if (c->bar)
			page_raw(p, "<th class=\"b\"></th>");
	}
	page_raw(p, "</tr></thead>\n");
}

/* Exact, for the script; nothing for what is no number. */
static void put_value(page *p, const cell *c)
{
	char text[NUMBER_TEXT];

	switch (c->type) {
	case CELL_COUNT:
	case CELL_BYTES:
		page_format(p, " data-v=\"%" PRIu64 "\"", c->count);
		break;
	case CELL_INTEGER:
	case CELL_NS:
		page_format(p, " data-v=\"%" PRId64 "\"", c->integer);
		break;
	case CELL_PERCENT:
	case CELL_NUMBER:
		page_format(p, " data-v=\"%s\"", format_exact(text, c->number));
		break;
	case CELL_UNKNOWN:
	case CELL_STRING:
	case CELL_BOOL:
		break;
	}
}

static void put_cell(page *p, const column *col, const cell *c, number_unit unit, unsigned depth, int limit)
{
	char buffer[NUMBER_TEXT];
	const char *text = cell_text(c, col->type, unit, buffer);

	page_raw(p, "<td");
	put_class(p, col, !column_is_text(col) && c->type != CELL_STRING, limit, depth);
	put_value(p, c);
	if (c->type == CELL_STRING && strlen(text) > 40) { /* narrow columns cut it: the whole is one hover away */
		page_raw(p, " title=\"");
		page_text(p, text, PAGE_NAME);
		page_raw(p, "\"");
	}
	page_raw(p, ">");
	page_text(p, text, PAGE_NAME);
	page_raw(p, "</td>");
	if (col->bar) {
		double value = cell_real(c);

		page_raw(p, "<td class=\"b\">");
		if (isfinite(value))
			page_bar(p, "bar", value / 100);
		page_raw(p, "</td>");
	}
}

static void put_row(page *p, const table *t, size_t row, const number_unit *units, int limit)
{
	page_raw(p, "<tr>");
	for (size_t i = 0; i < t->n_columns; i++)
		if (t->columns[i].priority >= 0)
			put_cell(p, &t->columns[i], &t->cells[row * t->n_columns + i], units[i],
				 i == 0 ? t->depths[row] : 0, limit);
	page_raw(p, "</tr>\n");
}

/* Where the data are that the page leaves out. */
static void put_cut(page *p, const table *t, size_t n_rows)
{
	char shown[NUMBER_TEXT], all[NUMBER_TEXT];

	if (n_rows == t->n_rows)
		return;
	page_format(p, "<p class=\"cut\">%s of %s rows are in this page; <code>--csv --table ",
		    format_count(shown, n_rows), format_count(all, t->n_rows));
	page_text(p, t->key, PAGE_NAME);
	page_raw(p, "</code> has all.</p>\n");
}

static void put_tools(page *p, const table *t)
{
	char count[NUMBER_TEXT];

	page_raw(p, "<div class=\"tools\">");
	if (t->n_rows >= FILTERED_ROWS)
		page_raw(p, "<input type=\"search\" placeholder=\"filter\" aria-label=\"filter rows\">");
	page_raw(p, "<button type=\"button\" class=\"copy\">copy as CSV</button>");
	page_format(p, "<span class=\"count\">%s row%s</span></div>\n", format_count(count, t->n_rows),
		    t->n_rows == 1 ? "" : "s");
}

void html_table_print(page *p, const table *t, size_t number)
{
	number_unit units[RESULT_MAX_COLUMNS] = { { 0 } };
	size_t n_rows = t->n_rows < PAGE_ROWS ? t->n_rows : PAGE_ROWS, row = 0;
	int limit = paper_limit(t);

	page_format(p, "<section class=\"table\" id=\"table-%zu\"><h2>", number);
	page_table_title(p, t);
	page_raw(p, "</h2>\n");
	html_parts_print(p, t);
	bool is_drawn = html_chart_print(p, t);
	if (t->n_rows == 0) {
		page_raw(p, "<p class=\"cut\">(none)</p></section>\n");
		return;
	}
	page_raw(p, is_drawn ? "<details><summary>as a table</summary>\n" : "");
	put_tools(p, t);
	for (size_t i = 0; i < t->n_columns; i++)
		units[i] = column_unit(t, i, n_rows);
	page_format(p, "<div class=\"scroll\"><table%s data-shown=\"%zu\">", table_is_tree(t) ? " class=\"tree\"" : "",
		    t->n_shown < t->n_rows ? t->n_shown : t->n_rows);
	put_head(p, t, limit);
	page_raw(p, "<tbody>\n");
	for (; row < n_rows && !page_is_full(p); row++)
		put_row(p, t, row, units, limit);
	page_raw(p, "</tbody></table></div>\n");
	put_cut(p, t, row);
	page_raw(p, is_drawn ? "</details></section>\n" : "</section>\n");
}
