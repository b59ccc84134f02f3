/* What import and merge have in common: open other tools' traces as one and write the indexed file. */
#ifndef SONDE_CLI_IMPORT_H
#define SONDE_CLI_IMPORT_H

#include <stdint.h>

#include "cli/options.h"

typedef struct import_request {
	char *const *files;
	size_t n_files;
	const char *output; /* NULL: the file's name with another ending */
	uint64_t n_threads; /* 0: as many as the machine has */
	bool merge;	    /* told as such, with the ranks */
} import_request;

enum { IMPORT_OUTPUT, IMPORT_THREADS };
extern const option_def import_options[];

/* Takes one of import_options, or an operand. False after saying what is wrong. */
bool import_option(import_request *r, const options *o, int id);

/* Returns the exit code. */
int import_run(const command *c, const import_request *r);

#endif
