/* See notes.h. */
#define _GNU_SOURCE
#include "serve/notes.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/error.h"

#define STATEMENT_NS 2000000000
#define FILE_MAX ((off_t)64 << 20) /* of a file that is copied to memory */

struct notes {
	pthread_mutex_t lock;
	char *path; /* of the file; NULL: in memory */
	sqlite3 *db;
	bool in_memory; /* the database is */
	int64_t deadline_ns;
};

static const char schema[] = "create table if not exists notes(id integer primary key, from_ns integer, to_ns integer,"
			     " created integer, text text);"
			     "create table if not exists views(id integer primary key, created integer, name text,"
			     " text text);"
			     "create table if not exists names(name text);"
			     "pragma user_version = 1";

/* ---- The database ------------------------------------------------------------------------------------------------ */

/* A file from somewhere else may hold anything, a view that never ends among it. */
static int is_late(void *context)
{
	const notes *n = context;

	return monotonic_ns() > n->deadline_ns;
}

static void protect(notes *n)
{
	sqlite3_db_config(n->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(n->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(n->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(n->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(n->db, SQLITE_LIMIT_LENGTH, 4 * NOTES_TEXT_MAX);
	sqlite3_limit(n->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_progress_handler(n->db, 10000, is_late, n);
	sqlite3_busy_timeout(n->db, 500);
}

static bool open_at(notes *n, const char *path, int flags)
{
	if (sqlite3_open_v2(path, &n->db, flags, NULL) == SQLITE_OK) {
		protect(n);
		return true;
	}
	sqlite3_close(n->db);
	n->db = NULL;
	return false;
}

/* What can only be read is copied, and changed in memory. */
static void copy_from_file(notes *n)
{
	struct stat st;
	sqlite3 *from = NULL;

	if (!n->path || stat(n->path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX ||
	    sqlite3_open_v2(n->path, &from, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
		sqlite3_close(from);
		return;
	}
	sqlite3_backup *copy = sqlite3_backup_init(n->db, "main", from, "main");
	if (copy) {
		sqlite3_backup_step(copy, -1);
		sqlite3_backup_finish(copy);
	}
	sqlite3_close(from);
}

static bool is_writable(const char *path)
{
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool open_memory(notes *n)
{
	n->in_memory = true;
	if (!open_at(n, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE))
		return false;
	copy_from_file(n);
	return true;
}

/* The lock is held. False: there is none, and none is needed to read, or it cannot be opened. */
static bool open_database(notes *n, bool to_write)
{
	n->deadline_ns = monotonic_ns() + STATEMENT_NS;
	if (n->db)
		return true;
	bool is_there = n->path && access(n->path, F_OK) == 0;
	if (!is_there && !to_write)
		return false;
	bool is_file = n->path && (is_there ? is_writable(n->path) : make_file(n->path));
	if (is_file && open_at(n, n->path, SQLITE_OPEN_READWRITE) &&
	    sqlite3_exec(n->db, schema, NULL, NULL, NULL) == SQLITE_OK)
		return true;
	sqlite3_close(n->db);
	n->db = NULL;
	return open_memory(n) && (sqlite3_exec(n->db, schema, NULL, NULL, NULL) == SQLITE_OK || !to_write);
}

static sonde_status failed(notes *n, sonde_error *err)
{
	return error_set(err, SONDE_E_IO, -1, "cannot store notes: %s",
			 n->db ? sqlite3_errmsg(n->db) : "out of memory");
}

/* NULL when it cannot be prepared. */
static sqlite3_stmt *prepare(notes *n, const char *sql)
{
	sqlite3_stmt *s = NULL;

	return sqlite3_prepare_v2(n->db, sql, -1, &s, NULL) == SQLITE_OK ? s : NULL;
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
	if (text)
		sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
}

/* ---- Notes and views --------------------------------------------------------------------------------------------- */

static const struct {
	const char *list, *count, *add, *delete;
} statements[] = {
	[NOTES_NOTE] = { "select id, created, text, null, from_ns, to_ns from notes order by from_ns, id limit 10000",
			 "select count(*) from notes",
			 "insert into notes(created, text, from_ns, to_ns) values(?1, ?2, ?4, ?5)",
			 "delete from notes where id = ?1" },
	[NOTES_VIEW] = { "select id, created, text, name, 0, 0 from views order by id limit 10000",
			 "select count(*) from views", "insert into views(created, text, name) values(?1, ?2, ?3)",
			 "delete from views where id = ?1" },
};

static notes_entry entry_of(sqlite3_stmt *s)
{
	return (notes_entry){
		.id = sqlite3_column_int64(s, 0),
		.created = sqlite3_column_int64(s, 1),
		.text = (const char *)sqlite3_column_text(s, 2),
		.name = (const char *)sqlite3_column_text(s, 3),
		.from_ns = sqlite3_column_int64(s, 4),
		.to_ns = sqlite3_column_int64(s, 5),
	};
}

sonde_status notes_list(notes *n, notes_kind kind, notes_each *each, void *context, sonde_error *err)
{
	sonde_status status = SONDE_OK;

	pthread_mutex_lock(&n->lock);
	if (open_database(n, false)) {
		sqlite3_stmt *s = prepare(n, statements[kind].list);
		int code = SQLITE_ERROR;
		while (s && (code = sqlite3_step(s)) == SQLITE_ROW) {
			notes_entry entry = entry_of(s);
			each(context, &entry);
		}
		if (code != SQLITE_DONE)
			status = failed(n, err);
		sqlite3_finalize(s);
	}
	pthread_mutex_unlock(&n->lock);
	return status;
}

static bool is_full(notes *n, notes_kind kind)
{
	sqlite3_stmt *s = prepare(n, statements[kind].count);
	bool full = s && sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int64(s, 0) >= NOTES_MAX;

	sqlite3_finalize(s);
	return full;
}

static sonde_status add(notes *n, notes_kind kind, notes_entry *entry, sonde_error *err)
{
	if (is_full(n, kind))
		return error_set(err, SONDE_E_USAGE, -1, "the limit of %d is reached", NOTES_MAX);
	sqlite3_stmt *s = prepare(n, statements[kind].add);
	entry->created = (int64_t)time(NULL);
	sqlite3_bind_int64(s, 1, entry->created);
	bind_text(s, 2, entry->text);
	bind_text(s, 3, entry->name);
	sqlite3_bind_int64(s, 4, entry->from_ns);
	sqlite3_bind_int64(s, 5, entry->to_ns);
	sonde_status status = s && sqlite3_step(s) == SQLITE_DONE ? SONDE_OK : failed(n, err);
	sqlite3_finalize(s);
	entry->id = sqlite3_last_insert_rowid(n->db);
	return status;
}

sonde_status notes_add(notes *n, notes_kind kind, notes_entry *entry, sonde_error *err)
{
	pthread_mutex_lock(&n->lock);
	sonde_status status = open_database(n, true) ? add(n, kind, entry, err) : failed(n, err);
	pthread_mutex_unlock(&n->lock);
	return status;
}

sonde_status notes_delete(notes *n, notes_kind kind, int64_t id, bool *ret_found, sonde_error *err)
{
	sonde_status status = SONDE_OK;

	*ret_found = false;
	pthread_mutex_lock(&n->lock);
	if (open_database(n, false)) {
		sqlite3_stmt *s = prepare(n, statements[kind].delete);
		sqlite3_bind_int64(s, 1, id);
		if (!s || sqlite3_step(s) != SQLITE_DONE)
			status = failed(n, err);
		else
			*ret_found = sqlite3_changes(n->db) > 0;
		sqlite3_finalize(s);
	}
	pthread_mutex_unlock(&n->lock);
	return status;
}

/* ---- The name ---------------------------------------------------------------------------------------------------- */

char *notes_name(notes *n)
{
	char *name = NULL;

	pthread_mutex_lock(&n->lock);
	if (open_database(n, false)) {
		sqlite3_stmt *s = prepare(n, "select name from names where name <> '' limit 1");
		if (s && sqlite3_step(s) == SQLITE_ROW)
			name = strdup((const char *)sqlite3_column_text(s, 0));
		sqlite3_finalize(s);
	}
	pthread_mutex_unlock(&n->lock);
	return name;
}

sonde_status notes_set_name(notes *n, const char *name, sonde_error *err)
{
	pthread_mutex_lock(&n->lock);
	bool ok = open_database(n, true) && sqlite3_exec(n->db, "delete from names", NULL, NULL, NULL) == SQLITE_OK;
	sqlite3_stmt *s = ok ? prepare(n, "insert into names(name) values(?1)") : NULL;
	bind_text(s, 1, name);
	sonde_status status = s && sqlite3_step(s) == SQLITE_DONE ? SONDE_OK : failed(n, err);
	sqlite3_finalize(s);
	pthread_mutex_unlock(&n->lock);
	return status;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

bool notes_are_kept(notes *n)
{
	pthread_mutex_lock(&n->lock);
	bool kept = n->path && !n->in_memory;
	pthread_mutex_unlock(&n->lock);
	return kept;
}

notes *notes_new(const char *trace_path)
{
	notes *n = calloc(1, sizeof *n);

	if (!n)
		return NULL;
	if (trace_path && asprintf(&n->path, "%s.notes.sqlite", trace_path) < 0) {
		free(n);
		return NULL;
	}
	pthread_mutex_init(&n->lock, NULL);
	return n;
}

void notes_free(notes *n)
{
	if (!n)
		return;
	sqlite3_close(n->db);
	pthread_mutex_destroy(&n->lock);
	free(n->path);
	free(n);
}
