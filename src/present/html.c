/*
 * A result as one page that needs nothing else: the headline, the findings, tables with charts, the notes. See html.h.
 *
 * The policy in its head allows nothing but the style and the script below it, so that a name that got through the
 * escaping would still be inert.
 */
#include "present/html.h"

#include <string.h>

/* Base64 of 32 bytes: 43 characters and a '='. */
static void put_hash(page *p, const unsigned char *sha256)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[45];
	size_t n = 0;

	for (size_t bit = 0; bit < 256; bit += 6) {
		unsigned high = sha256[bit / 8], low = bit / 8 + 1 < 32 ? sha256[bit / 8 + 1] : 0;

		text[n++] = digits[((high << 8 | low) >> (10 - bit % 8)) & 63];
	}
	text[n++] = '=';
	text[n] = '\0';
	page_format(p, "'sha256-%s'", text);
}

static const char *first_line(const sonde_result *result)
{
	return result->headline ? result->headline : result->summary ? result->summary : result->name;
}

static void put_head(page *p, const sonde_result *result)
{
	page_raw(p, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src ");
	put_hash(p, report_css_sha256);
	page_raw(p, "; script-src ");
	put_hash(p, report_js_sha256);
	page_raw(p, "; base-uri 'none'; form-action 'none'\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		    "<meta name=\"color-scheme\" content=\"light dark\">\n"
		    "<meta name=\"referrer\" content=\"no-referrer\">\n"
		    "<meta name=\"generator\" content=\"sonde " SONDE_VERSION "\">\n<title>");
	page_text(p, first_line(result), PAGE_NAME);
	page_raw(p, "</title>\n<style>");
	page_raw(p, report_css);
	page_raw(p, "</style>\n</head>\n");
}

static void put_header(page *p, const sonde_result *result)
{
	page_raw(p, "<header><p class=\"kind\">sonde ");
	page_text(p, result->name, PAGE_NAME);
	page_raw(p, "</p>\n<h1>");
	page_text(p, first_line(result), PAGE_TITLE);
	page_raw(p, "</h1></header>\n");
}

static void put_notes(page *p, const result_note *notes)
{
	if (!notes)
		return;
	page_raw(p, "<section class=\"notes\"><h2>Notes</h2>\n<dl>\n");
	for (; notes && !page_is_full(p); notes = notes->next) {
		page_raw(p, "<dt>");
		page_text(p, notes->label, PAGE_NAME);
		page_raw(p, "</dt><dd>");
		page_text(p, notes->text, PAGE_SENTENCE);
		page_raw(p, "</dd>\n");
	}
	page_raw(p, "</dl></section>\n");
}

static void put_figure(page *p, const sonde_result *result)
{
	if (!result->figure)
		return;
	page_raw(p, "<section><h2>Flame graph</h2>\n<figure>");
	page_raw(p, result->figure);
	page_raw(p, "<figcaption>The widest take the longest; rest the pointer on one for its numbers. sonde flame -o "
		    "flame.html has it to zoom, search and turn around.</figcaption></figure></section>\n");
}

/* Where there are several tables, the way to each. */
static void put_contents(page *p, const sonde_result *result)
{
	size_t n = 0;

	for (const table *t = result->tables; t; t = t->next)
		n++;
	if (n < 3)
		return;
	page_raw(p, "<nav>");
	n = 0;
	for (const table *t = result->tables; t; t = t->next) {
		page_format(p, "<a href=\"#table-%zu\">", n++);
		page_table_title(p, t);
		page_raw(p, "</a> ");
	}
	page_raw(p, "</nav>\n");
}

void html_print(const sonde_result *result, const sonde_print_options *options, FILE *out)
{
	page p = { .out = out };
	size_t n = 0;

	(void)options;
	put_head(&p, result);
	page_raw(&p, "<body>\n");
	put_header(&p, result);
	page_raw(&p, "<main>\n");
	html_findings_print(&p, result);
	put_contents(&p, result);
	for (const table *t = result->tables; t; t = t->next) {
		html_table_print(&p, t, n++);
		if (n == 1)
			put_figure(&p, result);
	}
	put_notes(&p, result->notes);
	page_raw(&p, "</main>\n<footer>Written by sonde " SONDE_VERSION
		     ". This page holds all of its data and asks for nothing else.</footer>\n<script>");
	page_raw(&p, report_js);
	page_raw(&p, "</script>\n</body>\n</html>\n");
}
