/* See sandbox.h. */
#include "query/sandbox.h"

#include <stdio.h>
#include <string.h>

/* ---- A file system without files --------------------------------------------------------------------------------- */

static int open_nothing(sqlite3_vfs *files, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	(void)files, (void)name, (void)flags, (void)ret_flags;
	file->pMethods = NULL;
	return SQLITE_CANTOPEN;
}

static int delete_nothing(sqlite3_vfs *files, const char *name, int sync)
{
	(void)files, (void)name, (void)sync;
	return SQLITE_IOERR_DELETE;
}

static int find_nothing(sqlite3_vfs *files, const char *name, int flags, int *ret_is_there)
{
	(void)files, (void)name, (void)flags;
	*ret_is_there = 0;
	return SQLITE_OK;
}

/* Time and random numbers come from the usual one. */
static int add_files(sandbox *s)
{
	const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

	if (!usual)
		return SQLITE_ERROR;
	s->files = *usual;
	snprintf(s->name, sizeof s->name, "sonde-%p", (void *)s); /* of this query alone */
	s->files.zName = s->name;
	s->files.pNext = NULL;
	s->files.xOpen = open_nothing;
	s->files.xDelete = delete_nothing;
	s->files.xAccess = find_nothing;
	s->files.xDlOpen = NULL;
	s->files.xDlError = NULL;
	s->files.xDlSym = NULL;
	s->files.xDlClose = NULL;
	return sqlite3_vfs_register(&s->files, 0);
}

/* ---- What may be done -------------------------------------------------------------------------------------------- */

static int is_among(const char *const *list, const char *word)
{
	for (; word && *list; list++)
		if (sqlite3_stricmp(*list, word) == 0)
			return 1;
	return 0;
}

/* Those that only tell, and tell nothing about files. */
static int may_ask(const char *pragma)
{
	static const char *const harmless[] = { "table_info",	  "table_xinfo", "table_list",	  "index_list",
						"index_info",	  "index_xinfo", "function_list", "module_list",
						"collation_list", NULL };

	return is_among(harmless, pragma);
}

static int may_call(const char *function)
{
	static const char *const refused[] = { "load_extension", "fts3_tokenizer", NULL };

	return !is_among(refused, function);
}

static int authorize(void *context, int action, const char *a, const char *b, const char *database, const char *trigger)
{
	int is_temp = database && strcmp(database, "temp") == 0;

	(void)context, (void)trigger;
	/* SQLite asks this when a table is connected; statements cannot write there whatever is said here. */
	if (action == SQLITE_UPDATE && a && strcmp(a, "sqlite_master") == 0)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return may_call(b) ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_PRAGMA:
		return may_ask(a) ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_CREATE_TEMP_TABLE:
	case SQLITE_CREATE_TEMP_VIEW:
	case SQLITE_CREATE_TEMP_INDEX:
	case SQLITE_DROP_TEMP_TABLE:
	case SQLITE_DROP_TEMP_VIEW:
	case SQLITE_DROP_TEMP_INDEX:
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
	case SQLITE_REINDEX:
		return is_temp ? SQLITE_OK : SQLITE_DENY;
	}
	return SQLITE_DENY;
}

/* ---- The database ------------------------------------------------------------------------------------------------ */

static void configure(sqlite3 *db)
{
	static const struct {
		int option, value;
	} settings[] = {
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_DQS_DML, 0 }, /* a column's name that is wrong is an error, not a text */
		{ SQLITE_DBCONFIG_DQS_DDL, 0 },
	};
	static const struct {
		int limit, value;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, 256 << 20 },	{ SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
		{ SQLITE_LIMIT_ATTACHED, 0 },		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 0 },	{ SQLITE_LIMIT_WORKER_THREADS, 0 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 500 },	{ SQLITE_LIMIT_COMPOUND_SELECT, 200 },
		{ SQLITE_LIMIT_VDBE_OP, 10 * 1000000 },
	};

	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
		sqlite3_db_config(db, settings[i].option, settings[i].value, NULL);
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
		sqlite3_limit(db, limits[i].limit, limits[i].value);
}

int sandbox_open(sandbox *s, const char **ret_message)
{
	int code = sqlite3_initialize();

	*ret_message = "cannot start SQLite";
	if (!code)
		code = add_files(s);
	if (code)
		return code;
	code = sqlite3_open_v2(":memory:", &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			       s->name);
	if (!code) {
		configure(s->db);
		*ret_message = "SQLite cannot keep temporary tables in memory";
		code = sqlite3_exec(s->db, "pragma temp_store = memory", NULL, NULL, NULL);
	}
	return code;
}

int sandbox_lock(sandbox *s)
{
	return sqlite3_set_authorizer(s->db, authorize, NULL);
}

void sandbox_close(sandbox *s)
{
	sqlite3_close_v2(s->db);
	if (s->files.zName)
		sqlite3_vfs_unregister(&s->files);
}
