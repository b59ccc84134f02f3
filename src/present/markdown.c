/*
 * A result as GitHub's Markdown, to paste into an issue or a review: the headline, the findings, the tables with the
 * rows that text shows, the notes.
 *
 * Names come from strangers: every character that Markdown or HTML could act on is escaped, lines and control
 * characters become spaces and U+FFFD, links are not made, and a name or a sentence that is too long is cut in the
 * middle.
 */
#include "present/present.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

enum { MAX_ROWS = 1000, MAX_NAME = 200, MAX_SENTENCE = 2000 };

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* "1. " and "1) " at the start of a line. */
static bool is_list_number(const char *text, const char *at)
{
	return (*at == '.' || *at == ')') && at > text && strspn(text, "0123456789") == (size_t)(at - text) &&
	       (at[1] == ' ' || !at[1]);
}

/* What would start markup where it stands. A lone ':' or '.' is harmless; in "://" and "www." it makes a link. */
static bool is_special(const char *text, const char *at, size_t len)
{
	if (strchr("\\`*_[]<>|~&@", *at))
		return true;
	if (*at == ':')
		return len > 1 && at[1] == '/';
	if (*at == '.' && at - text >= 3 && strncmp(at - 3, "www", 3) == 0)
		return true;
	if (at == text) /* headings, lists and rules only start a line */
		return strchr("#+-!=", *at);
	return is_list_number(text, at);
}

static size_t put_character(FILE *out, const char *text, const char *at, size_t len)
{
	uint32_t code = 0;
	size_t n = utf8_decode(at, len, &code);

	if (code == '\n' || code == '\r' || code == '\t')
		fputc(' ', out);
	else if (n == 0 || utf8_is_control(code))
		fputs("\xef\xbf\xbd", out);
	else if (n == 1 && is_special(text, at, len))
		fprintf(out, "\\%c", *at);
	else
		fwrite(at, 1, n, out);
	return n ? n : 1;
}

static void put_cut(FILE *out, const char *text, size_t max)
{
	size_t len = strlen(text), half = len > max ? max / 2 : len;
	const char *at = text, *end = text + len, *tail = len > max ? end - half : end;

	while (at < text + half)
		at += put_character(out, text, at, (size_t)(end - at));
	while (tail < end && (*tail & 0xc0) == 0x80) /* not into the middle of a character */
		tail++;
	if (len > max)
		fputs("\u2026", out);
	while (tail < end)
		tail += put_character(out, text, tail, (size_t)(end - tail));
}

static void put(FILE *out, const char *text)
{
	put_cut(out, text, MAX_NAME);
}

static void put_sentence(FILE *out, const char *text)
{
	put_cut(out, text, MAX_SENTENCE);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void put_header(FILE *out, const table *t)
{
	fputc('|', out);
	for (size_t i = 0; i < t->n_columns; i++) {
		if (t->columns[i].priority < 0)
			continue;
		fputc(' ', out);
		put(out, t->columns[i].header);
		fputs(" |", out);
	}
	fputs("\n|", out);
	for (size_t i = 0; i < t->n_columns; i++)
		if (t->columns[i].priority >= 0)
			fputs(column_is_text(&t->columns[i]) ? " --- |" : " ---: |", out);
	fputc('\n', out);
}

static void put_row(FILE *out, const table *t, size_t row, const number_unit *units)
{
	char buffer[NUMBER_TEXT];

	fputc('|', out);
	for (size_t i = 0; i < t->n_columns; i++) {
		cell c = table_cell(t, row, i);

		if (t->columns[i].priority < 0)
			continue;
		fputc(' ', out);
		for (unsigned depth = i == 0 ? table_depth(t, row) : 0; depth > 0; depth--)
			fputs("&emsp;", out);
		put(out, cell_text(&c, t->columns[i].type, units[i], buffer));
		fputs(" |", out);
	}
	fputc('\n', out);
}

static void put_table(FILE *out, const table *t)
{
	size_t n_rows = t->n_shown < t->n_rows ? t->n_shown : t->n_rows;
	number_unit units[RESULT_MAX_COLUMNS] = { { 0 } };

	n_rows = n_rows > MAX_ROWS ? MAX_ROWS : n_rows;
	fputs("\n### ", out);
	put(out, t->title ? t->title : t->key);
	fputs("\n\n", out);
	for (size_t i = 0; i < t->n_columns; i++)
		units[i] = column_unit(t, i, n_rows);
	put_header(out, t);
	for (size_t row = 0; row < n_rows; row++)
		put_row(out, t, row, units);
	if (t->n_rows == 0)
		fputs("\n(none)\n", out);
	if (t->more && n_rows < MAX_ROWS) {
		fputc('\n', out);
		put(out, t->more);
		fputc('\n', out);
	} else if (n_rows < t->n_rows) {
		fprintf(out, "\nThe first %zu of %zu rows; `--csv` has all.\n", n_rows, t->n_rows);
	}
}

/* ---- Findings ---------------------------------------------------------------------------------------------------- */

static void put_finding(FILE *out, size_t number, const sonde_finding *f)
{
	char text[NUMBER_TEXT], place[FINDING_PLACE];

	fprintf(out, "%zu. **%s: ", number, sonde_severity_name(f->severity));
	put_sentence(out, f->title);
	fputs("**", out);
	if (f->seconds_lost >= 0)
		fprintf(out, ", %s",
			format_ns(text, f->seconds_lost < 9e9 ? (int64_t)(f->seconds_lost * 1e9) : INT64_MAX));
	if (f->share >= 0)
		fprintf(out, ", %s %%", format_percent(text, f->share * 100));
	fputs("\n\n", out);
	for (size_t i = 0; i < f->n_evidence; i++) {
		fputs(i ? " " : "   ", out);
		put_sentence(out, f->evidence[i]);
	}
	fputs(f->n_evidence ? "\n" : "", out);
	if (f->suggestion) {
		fputs("   - Change: ", out);
		put_sentence(out, f->suggestion);
		fputc('\n', out);
	}
	for (size_t i = 0; i < f->n_affected; i++) {
		fputs(i ? ", " : "   - Affects: ", out);
		put(out, f->affected[i]);
	}
	fputs(f->n_affected ? "\n" : "", out);
	if (*finding_place(place, sizeof place, f))
		fprintf(out, "   - Evidence: %s\n", place);
}

void markdown_print(const sonde_result *result, const sonde_print_options *options, FILE *out)
{
	(void)options;
	fputs("## ", out);
	put(out, result->name);
	fputs("\n\n", out);
	if (result->headline || result->summary) {
		put_sentence(out, result->headline ? result->headline : result->summary);
		fputc('\n', out);
	}
	if (result->n_findings)
		fputs("\n### Findings\n\n", out);
	for (size_t i = 0; i < result->n_findings; i++)
		put_finding(out, i + 1, result->findings[i]);
	for (const table *t = result->tables; t; t = t->next)
		if (t->n_shown > 0)
			put_table(out, t);
	if (result->notes)
		fputc('\n', out);
	for (const result_note *note = result->notes; note; note = note->next) {
		fputs("- **", out);
		put(out, note->label);
		fputs("** ", out);
		put_sentence(out, note->text);
		fputc('\n', out);
	}
}
