/*
 * A text as a field of CSV (RFC 4180).
 *
 * Spreadsheets run what looks like a formula, so a text that begins like one gets a leading apostrophe. Control
 * characters and bytes that are not UTF-8 become U+FFFD: the output may well be looked at on a terminal.
 */
#ifndef SONDE_BASE_CSV_WRITE_H
#define SONDE_BASE_CSV_WRITE_H

#include <stddef.h>
#include <stdio.h>

void csv_put(FILE *out, const char *text, size_t len);

/* Several texts as one field, with `between` between them. */
void csv_put_texts(FILE *out, const char *const *texts, size_t n, const char *between);

#endif
