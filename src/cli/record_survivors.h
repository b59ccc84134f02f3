/*
 * Processes of the program that outlive it: daemons, and whatever else it left behind.
 *
 *   survivors_find()   before the recorder is closed: those that may record, whether they have begun or not
 *   survivors_say()    afterwards: one line for each of them, with the file that it records into
 *   survivors_done()
 *
 * A process that may record has the SONDE_OUTPUT of this recording in its environment and libsonde-rt in its memory.
 * Who its parent is does not matter: a daemon has left the tree of the program. A process of another user, or one that
 * hides its environment, is found only once it has begun, by its part. One that has just been started gets a tenth of a
 * second to load the library.
 */
#ifndef SONDE_CLI_RECORD_SURVIVORS_H
#define SONDE_CLI_RECORD_SURVIVORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct survivors {
	struct survivor *items;
	size_t n;
} survivors;

void survivors_find(survivors *s, const char *sonde_output);

/* Returns false if there is nothing to say: neither one of s nor a part of path that is being written. */
bool survivors_say(const survivors *s, const char *path);

void survivors_done(survivors *s);

#endif
