/*
 * The formats a result can be printed in. Each writes to the stream as it goes and leaves it to sonde_result_print()
 * to find out whether the stream took it all. None allocates memory.
 */
#ifndef SONDE_PRESENT_PRESENT_H
#define SONDE_PRESENT_PRESENT_H

#include <stdio.h>

#include "analyze/result.h"

void text_print(const sonde_result *result, const sonde_print_options *options, FILE *out);
void json_print(const sonde_result *result, const sonde_print_options *options, FILE *out);
void csv_print(const sonde_result *result, const sonde_print_options *options, FILE *out);

/* One table as text; see text_table.c. */
void text_table_print(const table *t, const sonde_print_options *options, FILE *out);

/* Whether the rows of a table form a tree. */
bool table_is_tree(const table *t);

#endif
