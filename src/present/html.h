/*
 * A result as a self-contained page: what html.c puts together of web/src/report/ and these parts.
 *
 *   html_data_print()    all of it as JSON, which the page's script shows with the dashboard's own tables and charts
 *   html_static_print()  the beginning of it as plain HTML, for those who run no scripts
 *
 * Nobody mails or opens a file without end: names and sentences are cut, tables end at PAGE_ROWS or thin out what is
 * drawn of them, and from PAGE_BUDGET on there are no more rows; what is left out is said. The page loads nothing, and
 * runs nothing but the script it carries, which its Content-Security-Policy names by its SHA-256.
 */
#ifndef SONDE_PRESENT_HTML_H
#define SONDE_PRESENT_HTML_H

#include <stdio.h>

#include "present/present.h"

enum { PAGE_BUDGET = 16 << 20, STATIC_BUDGET = 1 << 20 };
enum { PAGE_NAME = 240, PAGE_SENTENCE = 4000, PAGE_TITLE = 600, PAGE_ROWS = 5000, PAGE_FINDINGS = 200 };

typedef struct page {
	FILE *out;
	size_t n_bytes;
} page;

/* Our own markup, as it is. */
void page_raw(page *p, const char *markup);

/* Any text, in an element or an attribute in double quotes; cut in the middle beyond `max` bytes. */
void page_text(page *p, const char *text, size_t max);

void html_data_print(const sonde_result *result, FILE *out);
void html_static_print(page *p, const sonde_result *result);

/* The first line for a person. */
const char *html_headline(const sonde_result *result);

/* Calls visit for each row that a page has of a table: all, the first PAGE_ROWS, or where it is drawn and has more,
   those without which the drawing would be another; html_rows.c. */
typedef void html_row(void *context, size_t row);
void html_rows_each(const table *t, html_row *visit, void *context);

/* web/src/report/report.html with its style and script, and places for @TITLE@, @STATIC@ and @DATA@ in that order;
   made into C by cmake/page.cmake. Empty when the page was not built. */
extern const char page_of_report[];

#endif
