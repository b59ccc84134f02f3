#define _GNU_SOURCE
#include "base/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Where the file system has no O_TMPFILE the file has a name for a moment. */
static int open_in(const char *dir)
{
	char path[PATH_MAX];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	if (snprintf(path, sizeof path, "%s/.sonde.XXXXXX", dir) >= (int)sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int temp_file_open(const char *dir)
{
	const char *const dirs[] = { dir, secure_getenv("TMPDIR"), "/var/tmp", "/tmp" };
	int fd = -1;

	for (size_t i = 0; i < sizeof dirs / sizeof dirs[0] && fd < 0; i++)
		if (dirs[i] && *dirs[i])
			fd = open_in(dirs[i]);
	return fd;
}
