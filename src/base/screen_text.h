/*
 * Text from anywhere, made safe for a terminal and measured in its columns.
 *
 * A name from a file is hostile: what is not UTF-8, every control character (ESC above all) and what turns the
 * direction of writing prints as '?'. Without utf8 everything beyond ASCII does.
 */
#ifndef SONDE_BASE_SCREEN_TEXT_H
#define SONDE_BASE_SCREEN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Columns that the text takes. */
unsigned screen_columns(const char *text, bool utf8);
unsigned screen_columnsn(const char *text, size_t len, bool utf8);
/* The same, or something above max, of which the rest of the text is not looked at. */
unsigned screen_columns_upto(const char *text, unsigned max, bool utf8);

/* Writes the text and returns its columns. */
unsigned screen_put(FILE *out, const char *text, bool utf8);
unsigned screen_putn(FILE *out, const char *text, size_t len, bool utf8);

/* Writes the text in at most max columns, cut in the middle ("aten::…_backward"), and returns the columns taken. */
unsigned screen_put_cut(FILE *out, const char *text, unsigned max, bool utf8);
unsigned screen_put_cutn(FILE *out, const char *text, size_t len, unsigned max, bool utf8);

void screen_pad(FILE *out, unsigned n); /* n spaces */

#endif
