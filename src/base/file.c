#include "base/file.h"

#include <errno.h>
#include <unistd.h>

bool file_write_all(int fd, const void *bytes, size_t len)
{
	for (const char *at = bytes; len;) {
		ssize_t n = write(fd, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

bool file_write_at(int fd, const void *bytes, size_t len, uint64_t at)
{
	for (const char *from = bytes; len;) {
		ssize_t n = pwrite(fd, from, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return false;
		from += n;
		at += (size_t)n;
		len -= (size_t)n;
	}
	return true;
}

bool file_read_at(int fd, void *to, size_t len, uint64_t at)
{
	for (char *into = to; len;) {
		ssize_t n = pread(fd, into, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = 0;
		if (n <= 0)
			return false;
		into += n;
		at += (size_t)n;
		len -= (size_t)n;
	}
	return true;
}
