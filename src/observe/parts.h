/*
 * The recordings of a program's processes beside the file of `sonde record`: path.part.PID, and their rings.
 *
 *   parts_check(), parts_remove()            before a recording: those of an earlier one make room
 *   parts_find(), parts_join(), parts_done() after it: those of processes that have ended go into the file
 *
 * A process holds the lock of its part as long as it writes it. The largest part becomes the file and the rest is
 * appended to it, the recorder's own stream last: for the usual single process nothing is copied.
 */
#ifndef SONDE_OBSERVE_PARTS_H
#define SONDE_OBSERVE_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include "import/recording/recording.h"
#include <sonde/error.h>

/* Fails if a process still writes one of them. */
sonde_status parts_check(const char *path, sonde_error *err);

/* Would be taken for ours. */
void parts_remove(const char *path);

/* With what its process left in shared memory. */
void parts_remove_recording(const char *path);

typedef struct parts {
	glob_t found;	      /* "" in the place of a ring or of a part that stays */
	bool has_found;	      /* `found` is to be freed */
	bool is_joined;	      /* all but those that stay are in the file, or there were none */
	uint64_t n_recovered; /* events from rings */
	recording_unsaved unsaved;
} parts;

/* True when some stay where they are because their processes still write them. */
bool parts_find(parts *p, const char *path);

/* Puts the others into one file at path, which is as before if that fails. */
sonde_status parts_join(parts *p, const char *path, sonde_error *err);
void parts_done(parts *p);

#endif
