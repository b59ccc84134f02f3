/*
 * The formats a result can be printed in. Each writes to the stream as it goes and leaves it to sonde_result_print()
 * to find out whether the stream took it all. None allocates memory.
 */
#ifndef SONDE_PRESENT_PRESENT_H
#define SONDE_PRESENT_PRESENT_H

#include <stdio.h>

#include "analyze/result/result.h"
#include "base/format_number.h"
#include "base/json_write.h"

void text_print(const sonde_result *result, const sonde_print_options *options, FILE *out);
void json_print(const sonde_result *result, const sonde_print_options *options, FILE *out);
/* The same within an object that has more members. */
void json_put_members(json_writer *w, const sonde_result *result);
void json_put_cell(json_writer *w, const cell *c);
void json_put_finding(json_writer *w, const sonde_finding *f);
void json_put_notes(json_writer *w, const result_note *notes); /* a member */
/* How a table is shown, as members of an object: key, title, columns, chart, parts; json_view.c. */
void json_put_view(json_writer *w, const table *t);
void csv_print(const sonde_result *result, const sonde_print_options *options, FILE *out);
void markdown_print(const sonde_result *result, const sonde_print_options *options, FILE *out);
void html_print(const sonde_result *result, const sonde_print_options *options, FILE *out);

/* The findings as text; text_findings.c. */
void text_findings_print(const sonde_result *result, const sonde_print_options *options, FILE *out);
/* Where to look: "rank 2, steps 11-200, 4.81 s to 9.20 s, slices 17, 4"; "" when the finding does not say. */
enum { FINDING_PLACE = 512 };
char *finding_place(char *ret_text, size_t size, const sonde_finding *f);

/* Word by word from column `at` on, further lines from `indent` on. Returns the column behind the last word. */
unsigned text_put_words(FILE *out, const char *text, unsigned at, unsigned indent, const sonde_print_options *options);

/* One table as text; see text_table.c. */
void text_table_print(const table *t, const sonde_print_options *options, FILE *out);

/* Cells for people; cells.c. A column of times or sizes has one unit, that of its largest value: what is small beside
   it may print as "<0.01 s". The text is the cell's own or in the buffer of NUMBER_TEXT bytes. */
number_unit column_unit(const table *t, size_t i, size_t n_rows);
const char *cell_text(const cell *c, cell_type column_type, number_unit unit, char *buffer);
double cell_real(const cell *c); /* NaN for what is no number */
bool column_is_text(const column *c);

/* Whether the rows of a table form a tree. */
bool table_is_tree(const table *t);

#endif
