/*
 * How far a long import is, on a terminal: one line on stderr, rewritten in place, and gone at the end.
 *
 *   progress p;
 *   progress_begin(&p, "importing", files, n_files);
 *   options.progress = progress_update, options.context = &p
 *   progress_end(&p);
 *
 * Nothing is shown for the first half second. Ctrl-C clears the line before it ends the program.
 */
#ifndef SONDE_CLI_PROGRESS_H
#define SONDE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct progress {
	char what[256]; /* "importing trace.json" */
	bool is_terminal, is_shown, is_utf8;
	int64_t start_ns, shown_ns;
} progress;

void progress_begin(progress *p, const char *doing, char *const *files, size_t n_files);
bool progress_update(void *context, uint64_t done_bytes, uint64_t total_bytes);
void progress_end(progress *p);

#endif
