/*
 * The traces that are served: what the paths on the command line and the folders among them hold, and what was
 * uploaded.
 *
 * A session is never removed, so a pointer to one stays good; what may change in it is under the server's lock.
 */
#define _GNU_SOURCE
#include "serve/server.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include "base/clock.h"
#include "base/error.h"
#include "import/files.h"
#include "import/recording/follow.h"

/* ---- The list ---------------------------------------------------------------------------------------------------- */

void session_changed(sonde_server *s, session *of)
{
	of->version = ++s->version;
	pthread_cond_broadcast(&s->changed);
}

static void free_session(session *one)
{
	recording_follow_free(one->follow);
	notes_free(one->notes);
	free(one->path);
	free(one->name);
	free(one);
}

session *sessions_add(sonde_server *s, const char *path, const char *name, bool is_upload)
{
	session *new = calloc(1, sizeof *new);

	if (!new)
		return NULL;
	new->is_upload = is_upload;
	new->notes = notes_new(is_upload ? NULL : path);
	new->path = strdup(path);
	new->name = new->notes ? notes_name(new->notes) : NULL;
	if (!new->name)
		new->name = strdup(name);
	session **place = new->notes &&new->path &&new->name ? VEC_ADD(&s->sessions) : NULL;
	if (!place) {
		free_session(new);
		return NULL;
	}
	*place = new;
	new->id = (uint32_t)s->sessions.n;
	new->file = file_state_of(path);
	session_changed(s, new);
	return new;
}

session *session_find(sonde_server *s, uint64_t id)
{
	pthread_mutex_lock(&s->lock);
	session *found = id >= 1 && id <= s->sessions.n ? s->sessions.items[id - 1] : NULL;
	pthread_mutex_unlock(&s->lock);
	return found;
}

static void close_trace(opened *o)
{
	if (o)
		sonde_trace_free(o->trace);
	free(o);
}

void sessions_done(sonde_server *s)
{
	for (size_t i = 0; i < s->sessions.n; i++) {
		close_trace(s->sessions.items[i]->opened);
		free_session(s->sessions.items[i]);
	}
	for (size_t i = 0; i < s->folders.n; i++)
		free(s->folders.items[i]);
	VEC_DONE(&s->sessions);
	VEC_DONE(&s->folders);
}

/* ---- Traces in use ----------------------------------------------------------------------------------------------- */

bool session_has_changed(const session *of, const file_state *now)
{
	return now->size_bytes != of->file.size_bytes || now->changed_ns != of->file.changed_ns ||
	       now->inode != of->file.inode;
}

/* One that failed is tried again when its file is another. */
static bool may_open(const session *of)
{
	file_state now = file_state_of(of->path);

	return of->state == SESSION_CLOSED || (of->state == SESSION_FAILED && session_has_changed(of, &now));
}

/* Of a file that is read as it is asked, and is another one now or is cut off. Live ones grow, which is not that. The
   lock is held. */
static bool is_rewritten(const session *of, const opened *o)
{
	if (trace_is_broken(o->trace))
		return true;
	if (!o->is_mapped || o->is_live || trace_is_window(o->trace) || of->opened != o)
		return false;
	file_state now = file_state_of(of->path);
	/* At the end of a run the recording gets its index, behind what is there. */
	if (of->was_live && now.inode == of->file.inode && now.size_bytes >= of->file.size_bytes)
		return false;
	return session_has_changed(of, &now);
}

/* Gives back the session's own use of it. The lock is held. */
static void give_up(sonde_server *s, session *of)
{
	opened *o = of->opened;

	of->opened = NULL;
	of->state = SESSION_WANTED;
	of->is_rewritten = true;
	session_changed(s, of);
	if (--o->n_users == 0)
		close_trace(o);
}

/* The lock is held. */
static void note_damage(sonde_server *s, session *of, const opened *o)
{
	sonde_error err = { .position = -1 };

	if (of->opened != o || *of->damage || !index_damage(o->ix, &err))
		return;
	snprintf(of->damage, sizeof of->damage, "byte %lld: %s", (long long)err.position, err.message);
	session_changed(s, of);
}

bool session_check(sonde_server *s, session *of, opened *o)
{
	pthread_mutex_lock(&s->lock);
	note_damage(s, of, o);
	bool is_other = is_rewritten(of, o);
	if (is_other && of->opened == o)
		give_up(s, of);
	pthread_mutex_unlock(&s->lock);
	return is_other;
}

opened *session_take(sonde_server *s, session *of)
{
	opened *o = NULL;

	pthread_mutex_lock(&s->lock);
	of->used_ns = monotonic_ns();
	if (of->opened && is_rewritten(of, of->opened))
		give_up(s, of);
	if (of->opened) {
		o = of->opened;
		o->n_users++;
	} else if (may_open(of)) {
		of->state = SESSION_WANTED;
		session_changed(s, of);
	}
	pthread_mutex_unlock(&s->lock);
	return o;
}

void session_release(sonde_server *s, opened *o)
{
	pthread_mutex_lock(&s->lock);
	bool is_last = --o->n_users == 0;
	pthread_mutex_unlock(&s->lock);
	if (is_last)
		close_trace(o);
}

/* ---- Folders ----------------------------------------------------------------------------------------------------- */

file_state file_state_of(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return (file_state){ 0 };
	return (file_state){ .size_bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0,
			     .inode = (uint64_t)st.st_ino,
			     .changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec };
}

static bool is_served(const sonde_server *s, const char *path)
{
	for (size_t i = 0; i < s->sessions.n; i++)
		if (strcmp(s->sessions.items[i]->path, path) == 0)
			return true;
	return false;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void add_new(sonde_server *s, const char *path, const char *name)
{
	if (s->sessions.n < SESSIONS_MAX && !is_served(s, path))
		sessions_add(s, path, name, false);
}

/* The files are ranks when every name tells another one. */
static bool are_ranks(const file_list *files)
{
	for (size_t i = 0; i < files->n; i++) {
		int32_t rank = files_rank(files->items[i], true);
		if (rank < 0)
			return false;
		for (size_t k = 0; k < i; k++)
			if (files_rank(files->items[k], true) == rank)
				return false;
	}
	return files->n > 1;
}

static void add_files(sonde_server *s, const char *folder, bool is_inner)
{
	file_list files = { 0 };

	if (files_expand(&folder, 1, &files, NULL))
		return;
	if (files.n && (is_inner || are_ranks(&files)))
		add_new(s, folder, last_part(folder));
	for (size_t i = 0; i < files.n && !is_inner; i++)
		add_new(s, files.items[i], last_part(files.items[i]));
	files_done(&files);
}

static int is_folder(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && entry->d_type == DT_DIR;
}

static void scan_folder(sonde_server *s, const char *folder)
{
	struct dirent **inner;
	char *path;

	add_files(s, folder, false);
	int n = scandir(folder, &inner, is_folder, versionsort);
	for (int i = 0; i < n; i++) {
		if (asprintf(&path, "%s/%s", folder, inner[i]->d_name) >= 0) {
			add_files(s, path, true);
			free(path);
		}
		free(inner[i]);
	}
	if (n >= 0)
		free(inner);
}

void sessions_scan(sonde_server *s)
{
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->folders.n; i++)
		scan_folder(s, s->folders.items[i]);
	pthread_mutex_unlock(&s->lock);
}

sonde_status sessions_add_path(sonde_server *s, const char *path, sonde_error *err)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return error_set(err, SONDE_E_IO, -1, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return is_served(s, path) || sessions_add(s, path, last_part(path), false)
			       ? SONDE_OK
			       : error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	char **place = VEC_ADD(&s->folders);
	size_t len = strlen(path);
	if (place)
		*place = strndup(path, len > 1 && path[len - 1] == '/' ? len - 1 : len);
	return place && *place ? SONDE_OK : error_set(err, SONDE_E_MEMORY, -1, "out of memory");
}
