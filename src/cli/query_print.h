/*
 * Rows of a query as they come, however many: a table, JSON or CSV.
 *
 * The widths of a table are those that its first rows need; long texts are cut in the middle, so that it fits the
 * terminal, but no column is left out. JSON and CSV have everything.
 */
#ifndef SONDE_CLI_QUERY_PRINT_H
#define SONDE_CLI_QUERY_PRINT_H

#include <sonde/query.h>

#include "cli/output.h"

/* Runs the statement that is prepared and prints its rows; prints nothing when it has no columns. Stops when the stream
   fails. */
sonde_status query_print(sonde_query *q, const output *to, uint64_t *ret_n_rows, sonde_error *err);

/* Whether the columns are those of a statement that gives rows. */
static inline bool query_has_rows(const sonde_query *q)
{
	return sonde_query_n_columns(q) > 0;
}

#endif
