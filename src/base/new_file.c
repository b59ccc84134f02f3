/* See new_file.h. */
#define _GNU_SOURCE
#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 100 };

/* The file that the path leads to, which need not be there yet. */
static bool resolve(const char *path, char *to)
{
	char *real = realpath(path, NULL);
	int len = real || errno == ENOENT ? snprintf(to, PATH_MAX, "%s", real ? real : path) : -1;

	free(real);
	if (len >= PATH_MAX)
		errno = ENAMETOOLONG;
	return len >= 0 && len < PATH_MAX;
}

static int open_unnamed(const char *path)
{
	char directory[PATH_MAX];

	snprintf(directory, sizeof directory, "%s", path);
	char *slash = strrchr(directory, '/');
	if (slash)
		slash[slash == directory] = '\0';
	else
		strcpy(directory, ".");
	if (access("/proc/self/fd", X_OK) != 0) /* it gets its name through there */
		return -1;
	return open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
}

static void block_signals(new_file *f)
{
	sigset_t deadly;

	sigemptyset(&deadly);
	sigaddset(&deadly, SIGINT);
	sigaddset(&deadly, SIGTERM);
	sigaddset(&deadly, SIGHUP);
	f->are_blocked = pthread_sigmask(SIG_BLOCK, &deadly, &f->signals) == 0;
}

static void restore_signals(new_file *f)
{
	int before = errno;

	if (f->are_blocked)
		pthread_sigmask(SIG_SETMASK, &f->signals, NULL);
	f->are_blocked = false;
	errno = before;
}

static int open_named(new_file *f)
{
	int len = snprintf(f->temporary, sizeof f->temporary, "%s.XXXXXX", f->path);

	if (len >= (int)sizeof f->temporary) {
		errno = ENAMETOOLONG;
		return -1;
	}
	block_signals(f);
	int fd = mkostemp(f->temporary, O_CLOEXEC);
	if (fd < 0)
		restore_signals(f);
	return fd;
}

bool new_file_open(new_file *f, const char *path)
{
	struct stat st;
	bool exists = stat(path, &st) == 0;

	*f = (new_file){ .fd = -1 };
	if (exists && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return false;
	}
	if (exists && !S_ISREG(st.st_mode)) {
		f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return f->fd >= 0;
	}
	if (!resolve(path, f->path))
		return false;
	f->fd = open_unnamed(f->path);
	if (f->fd < 0)
		f->fd = open_named(f);
	return f->fd >= 0;
}

/* linkat() does not replace, rename() does. */
static bool give_name(new_file *f)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	char from[64];

	snprintf(from, sizeof from, "/proc/self/fd/%d", f->fd);
	if (linkat(AT_FDCWD, from, AT_FDCWD, f->path, AT_SYMLINK_FOLLOW) == 0)
		return true;
	for (int i = 0; i < TRIES && errno == EEXIST; i++) {
		unsigned char random[6];
		size_t len = strlen(f->path);
		if (len + 8 > sizeof f->temporary || getrandom(random, sizeof random, 0) != sizeof random)
			return false;
		memcpy(f->temporary, f->path, len);
		f->temporary[len] = '.';
		for (size_t k = 0; k < sizeof random; k++)
			f->temporary[len + 1 + k] = letters[random[k] % 32];
		f->temporary[len + 7] = '\0';
		if (linkat(AT_FDCWD, from, AT_FDCWD, f->temporary, AT_SYMLINK_FOLLOW) == 0)
			return true;
		f->temporary[0] = '\0';
	}
	return false;
}

static void remove_temporary(const new_file *f)
{
	int before = errno;

	if (f->temporary[0])
		unlink(f->temporary);
	errno = before;
}

bool new_file_commit(new_file *f)
{
	bool ok = true;

	if (f->path[0] && !f->temporary[0]) {
		block_signals(f);
		ok = give_name(f);
	}
	ok = close(f->fd) == 0 && ok;
	f->fd = -1;
	if (ok && f->temporary[0])
		ok = rename(f->temporary, f->path) == 0;
	if (!ok)
		remove_temporary(f);
	restore_signals(f);
	return ok;
}

void new_file_abandon(new_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	remove_temporary(f);
	restore_signals(f);
}
