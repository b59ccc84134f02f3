/* A result as plain HTML, for those who run no scripts: what text shows, the first rows of every table. */
#include "present/html.h"

enum { STATIC_ROWS = 100, STATIC_FINDINGS = 50, MAX_NAMES = 12 };

static void put_element(page *p, const char *tag, const char *text, size_t max)
{
	page_raw(p, "<");
	page_raw(p, tag);
	page_raw(p, ">");
	page_text(p, text, max);
	page_raw(p, "</");
	page_raw(p, tag);
	page_raw(p, ">");
}

static bool is_full(const page *p)
{
	return p->n_bytes >= STATIC_BUDGET;
}

/* ---- Findings ---------------------------------------------------------------------------------------------------- */

static void put_cost(page *p, const sonde_finding *f)
{
	char text[NUMBER_TEXT];

	if (f->seconds_lost >= 0) {
		page_raw(p, ", ");
		page_raw(p, format_ns(text, (int64_t)(f->seconds_lost * 1e9)));
	}
	if (f->share >= 0) {
		page_raw(p, ", ");
		page_raw(p, format_percent(text, f->share * 100));
		page_raw(p, " %");
	}
}

static void put_finding(page *p, const sonde_finding *f)
{
	char place[FINDING_PLACE];

	page_raw(p, "<li>");
	put_element(p, "b", f->title, PAGE_TITLE);
	page_raw(p, " (");
	page_raw(p, sonde_severity_name(f->severity));
	put_cost(p, f);
	page_raw(p, ")");
	for (size_t i = 0; i < f->n_evidence; i++)
		put_element(p, "p", f->evidence[i], PAGE_SENTENCE);
	if (f->suggestion)
		put_element(p, "p", f->suggestion, PAGE_SENTENCE);
	for (size_t i = 0; i < f->n_affected && i < MAX_NAMES; i++) {
		page_raw(p, " ");
		put_element(p, "code", f->affected[i], PAGE_NAME);
	}
	if (*finding_place(place, sizeof place, f))
		put_element(p, "p", place, PAGE_SENTENCE);
	page_raw(p, "</li>\n");
}

static void put_findings(page *p, const sonde_result *result)
{
	size_t n = result->n_findings < STATIC_FINDINGS ? result->n_findings : STATIC_FINDINGS;

	if (!result->has_findings)
		return;
	page_raw(p, n ? "<ol>\n" : "<p>No findings.</p>\n");
	for (size_t i = 0; i < n && !is_full(p); i++)
		put_finding(p, result->findings[i]);
	page_raw(p, n ? "</ol>\n" : "");
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void put_row(page *p, const table *t, size_t row, const number_unit *units)
{
	char buffer[NUMBER_TEXT];

	page_raw(p, "<tr>");
	for (size_t i = 0; i < t->n_columns; i++) {
		cell c = table_cell(t, row, i);

		if (t->columns[i].priority < 0)
			continue;
		page_raw(p, column_is_text(&t->columns[i]) ? "<td>" : "<td class=\"n\">");
		for (unsigned depth = i == 0 ? table_depth(t, row) : 0; depth > 0; depth--)
			page_raw(p, "\u00a0\u00a0");
		page_text(p, cell_text(&c, t->columns[i].type, units[i], buffer), PAGE_NAME);
		page_raw(p, "</td>");
	}
	page_raw(p, "</tr>\n");
}

static void put_table(page *p, const table *t)
{
	number_unit units[RESULT_MAX_COLUMNS] = { { 0 } };
	size_t n_rows = t->n_rows < STATIC_ROWS ? t->n_rows : STATIC_ROWS, row = 0;
	char shown[NUMBER_TEXT], all[NUMBER_TEXT];

	if (!t->n_rows)
		return;
	put_element(p, "h2", t->title ? t->title : t->key, PAGE_NAME);
	page_raw(p, "\n<div class=\"scroll\"><table><thead><tr>");
	for (size_t i = 0; i < t->n_columns; i++) {
		units[i] = column_unit(t, i, n_rows);
		if (t->columns[i].priority >= 0)
			put_element(p, "th", t->columns[i].header, PAGE_NAME);
	}
	page_raw(p, "</tr></thead><tbody>\n");
	for (; row < n_rows && !is_full(p); row++)
		put_row(p, t, row, units);
	page_raw(p, "</tbody></table></div>\n");
	if (row == t->n_rows)
		return;
	page_raw(p, "<p>");
	page_raw(p, format_count(shown, row));
	page_raw(p, " of ");
	page_raw(p, format_count(all, t->n_rows));
	page_raw(p, " rows; <code>--csv --table ");
	page_text(p, t->key, PAGE_NAME);
	page_raw(p, "</code> has all.</p>\n");
}

void html_static_print(page *p, const sonde_result *result)
{
	put_element(p, "h1", html_headline(result), PAGE_TITLE);
	page_raw(p, "\n<p>Enable JavaScript for charts, and for tables to sort and filter; it is part of this page."
		    "</p>\n");
	put_findings(p, result);
	for (const table *t = result->tables; t; t = t->next)
		put_table(p, t);
	page_raw(p, result->notes ? "<dl class=\"notes\">\n" : "");
	for (const result_note *note = result->notes; note && !is_full(p); note = note->next) {
		put_element(p, "dt", note->label, PAGE_NAME);
		put_element(p, "dd", note->text, PAGE_SENTENCE);
	}
	page_raw(p, result->notes ? "</dl>\n" : "");
}
