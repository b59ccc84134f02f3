/*
 * Statements and dot commands, one after the other, from a text or from a prompt.
 *
 *   .tables   .schema [TABLE]   .help   .quit
 */
#ifndef SONDE_CLI_QUERY_RUN_H
#define SONDE_CLI_QUERY_RUN_H

#include <sonde/query.h>

#include "cli/output.h"

typedef struct query_run {
	const char *file; /* for messages */
	sonde_query *query;
	output *to; /* open */
	bool any;   /* something was printed: a blank line comes before the next */
	bool is_quit;
	bool said_damage;
	uint64_t n_rows; /* of the last statement */
} query_run;

/* Runs all of it, up to the first error, which it says. Returns the exit code. */
int query_run_text(query_run *r, const char *sql);

/* Reads from stdin, which is a terminal, until its end or .quit. Ctrl-C stops the statement that runs. */
int query_prompt(query_run *r);

#endif
