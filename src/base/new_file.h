/*
 * A file that appears whole or not at all.
 *
 *   new_file f;
 *   new_file_open(&f, path)      f.fd is to be written; mode 0600
 *   new_file_commit(&f)          it takes its name, in place of what had it; or
 *   new_file_abandon(&f)         nothing happened
 *
 * While it is written it has no name where the file system can do that (O_TMPFILE): then nothing is left even when the
 * process is killed. Elsewhere it is called path.XXXXXX meanwhile, and the signals that end a program are blocked in
 * this thread until it has its name or is gone. Through a symbolic link the file it points at is replaced. Pipes and
 * devices are written directly.
 */
#ifndef SONDE_BASE_NEW_FILE_H
#define SONDE_BASE_NEW_FILE_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>

typedef struct new_file {
	int fd;
	char path[PATH_MAX];	  /* where it goes; "" when it is written directly */
	char temporary[PATH_MAX]; /* its name until then; "": it has none */
	sigset_t signals;	  /* as they were before */
	bool are_blocked;
} new_file;

/* False with errno set; then there is nothing to abandon. */
bool new_file_open(new_file *f, const char *path);
/* Closes. False with errno set: nothing is left. */
bool new_file_commit(new_file *f);
void new_file_abandon(new_file *f);

#endif
