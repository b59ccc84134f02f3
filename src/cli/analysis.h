/* What commands that run an analysis have in common: open the files, run it, print. */
#ifndef SONDE_CLI_ANALYSIS_H
#define SONDE_CLI_ANALYSIS_H

#include <sonde/analyze.h>

#include "cli/output.h"

/* files are the operands; none is wrong usage. Returns the exit code. */
int analysis_run(const command *c, const char *name, char *const *files, size_t n_files,
		 const sonde_analyze_options *options, output *to);

/* A command of an analysis's name that has no options but those of output.h and select.h. */
int analysis_run_plain(const command *c, int argc, char **argv);

/* Opens one file or several as one trace; EXIT_OK or the exit code after saying why not. */
int trace_open(const command *c, char *const *files, size_t n_files, const output *to, sonde_trace **ret_trace);
/* Frees the trace, which may be NULL, after the command's work ended with `code`. Says what of it was found damaged;
   then EXIT_OK becomes EXIT_INPUT. file: its name, or NULL where it has several. */
int trace_close(sonde_trace *trace, const char *file, int code);

#endif
