/* See strip.h. The trace is sound JSON: {..., "traceEvents": [{..., "args": {...}}, ...]}. */
#define _GNU_SOURCE
#include "common/strip.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENT_DEPTH = 3 }; /* the object, the list, the event */

static const char *string_end(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\';
	return at < end ? at + 1 : end;
}

/* Behind the object that begins at or after `at`. */
static const char *object_end(const char *at, const char *end)
{
	for (int depth = 0; at < end;) {
		if (*at == '"') {
			at = string_end(at, end);
			continue;
		}
		depth += (*at == '{') - (*at == '}');
		if (*at++ == '}' && !depth)
			break;
	}
	return at;
}

static void copy(const char *at, const char *end, FILE *to)
{
	const char *from = at, *comma = at; /* comma: the last one between members of an event */

	for (int depth = 0; at < end;) {
		if (*at == '"') {
			const char *key = at;
			at = string_end(at, end);
			if (depth == EVENT_DEPTH && at - key == 6 && memcmp(key, "\"args\"", 6) == 0 && *at == ':') {
				fwrite(from, 1, (size_t)(comma - from), to);
				from = at = object_end(at, end);
			}
			continue;
		}
		depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
		comma = *at == ',' && depth == EVENT_DEPTH ? at : comma;
		at++;
	}
	fwrite(from, 1, (size_t)(end - from), to);
}

bool strip_arguments(const char *from, const char *to)
{
	struct stat st;
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	FILE *out = fopen(to, "we");
	void *bytes = fd >= 0 && fstat(fd, &st) == 0 ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
						     : MAP_FAILED;

	if (bytes != MAP_FAILED && out)
		copy(bytes, (const char *)bytes + st.st_size, out);
	bool ok = bytes != MAP_FAILED && out && !ferror(out);
	if (bytes != MAP_FAILED)
		munmap(bytes, (size_t)st.st_size);
	if (fd >= 0)
		close(fd);
	return (!out || fclose(out) == 0) && ok;
}
