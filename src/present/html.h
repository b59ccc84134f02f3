/*
 * The parts of the self-contained page that html.c prints: text from strangers, tables, charts.
 *
 * All goes through a page, which counts bytes: nobody mails or opens a file without end, so from PAGE_BUDGET on tables
 * stop and say so. The page runs nothing and loads nothing but the style and the script it carries, which its
 * Content-Security-Policy names by their SHA-256; a style attribute would be refused by it, so widths are those of SVG.
 */
#ifndef SONDE_PRESENT_HTML_H
#define SONDE_PRESENT_HTML_H

#include <stdio.h>

#include "present/present.h"

enum { PAGE_BUDGET = 16 << 20, PAGE_NAME = 240, PAGE_SENTENCE = 4000, PAGE_TITLE = 600, PAGE_ROWS = 5000 };

typedef struct page {
	FILE *out;
	size_t n_bytes;
} page;

/* Our own markup, as it is. */
void page_raw(page *p, const char *markup);
void page_format(page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Any text, in an element or an attribute in double quotes; cut in the middle beyond `max` bytes. */
void page_text(page *p, const char *text, size_t max);

/* What a table is called: its title, else its key as words. */
void page_table_title(page *p, const table *t);

bool page_is_full(const page *p);

/* A bar of share (0..1) of the width that the style gives its class. */
void page_bar(page *p, const char *class_name, double share);

void html_table_print(page *p, const table *t, size_t number);
void html_parts_print(page *p, const table *t);
bool html_chart_print(page *p, const table *t); /* false: there is too little to draw */
void html_findings_print(page *p, const sonde_result *result);

/* Of src/present/html/, embedded by cmake/embed.cmake. */
extern const char report_css[], report_js[];
extern const unsigned char report_css_sha256[32], report_js_sha256[32];

#endif
