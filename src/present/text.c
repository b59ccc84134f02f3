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
 * No line is wider than the terminal. The headline, sentences and notes go on in the next line, and only a word that is
 * wider than a line alone sticks out, so that it can still be copied; a number and its unit are one.
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

/* Of the text from word to the next place where a line may end: not between a number and its unit. */
static size_t word_length(const char *word)
{
	static const char *const units[] = { "%", "s", "ms", "us", "ns", "B", "KiB", "MiB", "GiB", "TiB", NULL };
	size_t len = strcspn(word, " ");

	if (!len || word[len] != ' ' || word[len - 1] < '0' || word[len - 1] > '9')
		return len;
	const char *unit = word + len + 1;
	size_t unit_len = strcspn(unit, " ,;:.)");
	for (size_t i = 0; units[i]; i++)
		if (strlen(units[i]) == unit_len && strncmp(unit, units[i], unit_len) == 0)
			return len + 1 + strcspn(unit, " ");
	return len;
}

unsigned text_put_words(FILE *out, const char *text, unsigned at, unsigned indent, const sonde_print_options *options)
{
	size_t gap = at > indent ? 1 : 0;

	for (const char *word = text + strspn(text, " "); *word;) {
		size_t len = word_length(word);

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

/* Parts lie three spaces apart. What does not fit goes on in the next line; only a part that is wider than that is cut.
 */
static void put_headline(FILE *out, const char *text, const sonde_print_options *options)
{
	enum { GAP = 3, INDENT = 2, NARROW = 20 };
	unsigned at = 0, indent = 0;

	for (const char *part = text; *part;) {
		const char *end = strstr(part, "   ");
		size_t len = end ? (size_t)(end - part) : strlen(part);
		unsigned width = screen_columnsn(part, len, options->utf8);
		bool is_first = at == indent;

		if (!is_first && at + GAP + width > options->width) {
			fputc('\n', out);
			screen_pad(out, at = indent = options->width > NARROW ? INDENT : 0);
			is_first = true;
		}
		if (!is_first) {
			screen_pad(out, GAP);
			at += GAP;
		}
		at += screen_put_cutn(out, part, len, options->width > at ? options->width - at : 1, options->utf8);
		part += len + strspn(part + len, " ");
	}
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
			put_headline(out, result->headline, options);
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
