/*
 * SQL from anybody, kept away from everything but the trace and memory.
 *
 * There are three fences, each of which would do: the database is opened with a file system that opens nothing; an
 * authorizer lets pass reading, and writing to temporary tables, which are kept in memory; and no file can be attached
 * because the limit of attached files is 0.
 */
#ifndef SONDE_QUERY_SANDBOX_H
#define SONDE_QUERY_SANDBOX_H

#include <sqlite3.h>

typedef struct sandbox {
	sqlite3_vfs files; /* that opens none */
	char name[40];
	sqlite3 *db;
} sandbox;

/* Opens the database. SQLite's code; *ret_message is static text that says what failed. */
int sandbox_open(sandbox *s, const char **ret_message);
/* After this nothing but reading is possible, and temporary tables. */
int sandbox_lock(sandbox *s);
void sandbox_close(sandbox *s);

#endif
