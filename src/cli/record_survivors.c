/* See record_survivors.h. */
#define _GNU_SOURCE
#include "cli/record_survivors.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sonde/recorder.h>

#include "cli/cli.h"

enum { MAX_LINES = 5, PIECE = 16 << 10, MAX_WAITS = 10, WAIT_US = 10000 };

typedef struct survivor {
	int32_t pid;
	bool has_part; /* survivors_say: it was named with the part that it writes */
} survivor;

/* ---- /proc ------------------------------------------------------------------------------------------------------- */

typedef enum finding { IS_EMPTY, HAS_NOT, HAS } finding;

/* Whether the file of a process holds the len bytes at text, which are shorter than PIECE. Its first byte is as if a 0
   came before: an environment is read like the list of its entries. */
static finding search_process_file(int32_t pid, const char *file, const char *text, size_t len)
{
	char buffer[2 * PIECE];
	char path[64];
	size_t n = 1;
	ssize_t more;
	finding f = IS_EMPTY;

	snprintf(path, sizeof path, "/proc/%" PRId32 "/%s", pid, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	buffer[0] = 0;
	while (fd >= 0 && f != HAS && (more = read(fd, buffer + n, PIECE)) > 0) {
		n += (size_t)more;
		f = memmem(buffer, n, text, len) ? HAS : HAS_NOT;
		size_t kept = n < len ? n : len; /* the text may begin at the end of this piece */
		memmove(buffer, buffer + n - kept, kept);
		n = kept;
	}
	if (fd >= 0)
		close(fd);
	return f;
}

/* "train" of process 12, "?" when it is gone. */
static const char *command_of(int32_t pid, char *buffer, size_t size)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%" PRId32 "/comm", pid);
	FILE *in = fopen(path, "r");
	if (!in || !fgets(buffer, (int)size, in))
		snprintf(buffer, size, "?");
	if (in)
		fclose(in);
	buffer[strcspn(buffer, "\n")] = 0;
	return buffer;
}

typedef enum chance { NEVER, NOT_YET, RECORDS } chance;

/* A process in the middle of exec has no environment for a moment, and no library until its loader has run. */
static chance chance_of(int32_t pid, const char *entry, size_t entry_len)
{
	static const char library[] = "/libsonde-rt.so", libc[] = "/libc.";
	finding environ = search_process_file(pid, "environ", entry, entry_len);

	if (environ == HAS)
		return search_process_file(pid, "maps", library, sizeof library - 1) == HAS ? RECORDS : NOT_YET;
	if (environ == IS_EMPTY && search_process_file(pid, "maps", libc, sizeof libc - 1) == HAS_NOT)
		return NOT_YET;
	return NEVER;
}

static void add(survivors *s, int32_t pid)
{
	survivor *items = reallocarray(s->items, s->n + 1, sizeof *items);

	if (!items)
		return;
	s->items = items;
	s->items[s->n++] = (survivor){ .pid = pid };
}

/* Returns true if a process may be about to load the library. */
static bool find_once(survivors *s, const char *entry, size_t entry_len)
{
	DIR *dir = opendir("/proc");
	struct dirent *process;
	bool again = false;

	s->n = 0;
	while (dir && (process = readdir(dir))) {
		int32_t pid = (int32_t)strtol(process->d_name, NULL, 10);
		chance c = pid > 0 ? chance_of(pid, entry, entry_len) : NEVER;
		if (c == RECORDS)
			add(s, pid);
		again |= c == NOT_YET;
	}
	if (dir)
		closedir(dir);
	return again;
}

void survivors_find(survivors *s, const char *sonde_output)
{
	char entry[PATH_MAX + 32];
	/* With the 0 before and behind it, so that no other entry has it inside. */
	int len = snprintf(entry, sizeof entry, "%cSONDE_OUTPUT=%s", 0, sonde_output) + 1;

	*s = (survivors){ 0 };
	for (int i = 0; find_once(s, entry, (size_t)len) && i < MAX_WAITS; i++)
		usleep(WAIT_US);
}

void survivors_done(survivors *s)
{
	free(s->items);
	*s = (survivors){ 0 };
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

typedef struct lines {
	const survivors *survivors;
	const char *path;
	size_t n;
} lines;

static void say_part(void *context, int32_t pid, const char *part)
{
	lines *l = context;
	char name[32];

	for (size_t i = 0; i < l->survivors->n; i++)
		if (l->survivors->items[i].pid == pid)
			l->survivors->items[i].has_part = true;
	if (l->n++ < MAX_LINES)
		say("process %" PRId32 " (%s) still runs and records into %s; sonde report %s also reads that file",
		    pid, command_of(pid, name, sizeof name), part, l->path);
}

static void say_survivor(lines *l, int32_t pid)
{
	char name[32];

	if (l->n++ < MAX_LINES)
		say("process %" PRId32 " (%s) still runs and may record into %s.part.%" PRId32
		    "; sonde report %s also reads that file",
		    pid, command_of(pid, name, sizeof name), l->path, pid, l->path);
}

bool survivors_say(const survivors *s, const char *path)
{
	lines l = { .survivors = s, .path = path };

	sonde_recorder_running(path, say_part, &l);
	for (size_t i = 0; i < s->n; i++)
		if (!s->items[i].has_part)
			say_survivor(&l, s->items[i].pid);
	if (l.n > MAX_LINES)
		say("%zu more processes still run and may record into %s.part.*; sonde report %s also reads these "
		    "files",
		    l.n - MAX_LINES, path, path);
	return l.n > 0;
}
