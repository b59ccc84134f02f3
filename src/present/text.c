/*
 * A result as text for a person: the headline, the findings (text_findings.c), the tables, the notes.
 *
 *   run.sonde   ./train --epochs 3   12.4 s   2 threads
 *
 *    name      calls   total      %
 *    step        190  11.8 s    100  ████████████
 *
 *   memory    cpu peak 312 MiB at 4.81 s in backward
 *
 * No line is wider than the terminal. The headline is cut in the middle unless it is a sentence; sentences and notes
 * go on in the next line, and only a word that is wider than a line alone sticks out, so that it can still be copied.
 */
#include "present/present.h"

#include <string.h>

#include "base/screen_text.h"

enum { LABEL_WIDTH = 10 };

static unsigned label_width(const result_note *notes, bool utf8)
{
	unsigned width = LABEL_WIDTH;

	for (const result_note *note = notes; note; note = note->next) {
		unsigned needed = screen_columns(note->label, utf8) + 2;

		width = needed > width ? needed : width;
	}
	return width;
}

unsigned text_put_words(FILE *out, const char *text, unsigned at, unsigned indent, const sonde_print_options *options)
{
	size_t gap = at > indent ? 1 : 0;

	for (const char *word = text + strspn(text, " "); *word;) {
		size_t len = strcspn(word, " ");

		if (gap && at + gap + screen_columnsn(word, len, options->utf8) > options->width) {
			fputc('\n', out);
			screen_pad(out, at = indent);
			gap = 0;
		}
		screen_pad(out, (unsigned)gap);
		at += (unsigned)gap + screen_putn(out, word, len, options->utf8);
		gap = strspn(word + len, " ");
		word += len + gap;
	}
	return at;
}

static void put_notes(FILE *out, const result_note *notes, const sonde_print_options *options)
{
	unsigned width = label_width(notes, options->utf8);

	for (const result_note *note = notes; note; note = note->next) {
		screen_pad(out, width - screen_put(out, note->label, options->utf8));
		text_put_words(out, note->text, width, width, options);
		fputc('\n', out);
	}
}

void text_print(const sonde_result *result, const sonde_print_options *options, FILE *out)
{
	bool is_first = !result->headline;

	if (result->headline) {
		if (result->headline_wraps)
			text_put_words(out, result->headline, 0, 0, options);
		else
			screen_put_cut(out, result->headline, options->width, options->utf8);
		fputc('\n', out);
	}
	if (result->n_findings) {
		if (!is_first)
			fputc('\n', out);
		is_first = false;
		text_findings_print(result, options, out);
	}
	for (const table *t = result->tables; t; t = t->next) {
		if (t->n_shown == 0) /* for programs only */
			continue;
		if (!is_first)
			fputc('\n', out);
		is_first = false;
		text_table_print(t, options, out);
	}
	if (result->notes && !is_first)
		fputc('\n', out);
	put_notes(out, result->notes, options);
}
