/*
 * The server: what its parts share.
 *
 *   server.c     start and stop
 *   listen.c     the address
 *   http.c       connections: libmicrohttpd (mhd.h), limits, deadlines; every request through access.c
 *   access.c     who may ask: Host, Origin, token
 *   request.h    a request taken apart; reply.h what is answered
 *   routes.c     from a path to its handler, by routes.def; api_*.c the handlers, by what they are about
 *   sessions.c   the traces that are served; opener.c opens them, and follows those still being written
 *   events.c     tells what changed, as it changes
 *   notes.c      what people write about a trace: a SQLite file beside it
 *   page.h       the page itself, made by cmake/page.cmake
 *
 * Threads: libmicrohttpd has one for each connection; opener.c has one. What they share is in struct sonde_server and
 * its sessions, under `lock`. A trace that is open is read-only and counted: session_take(), session_release().
 */
#ifndef SONDE_SERVE_SERVER_H
#define SONDE_SERVE_SERVER_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"
#include "serve/notes.h"
#include "store/trace.h"
#include <sonde/serve.h>

typedef enum session_state {
	SESSION_CLOSED,
	SESSION_WANTED, /* the opener has not come to it yet */
	SESSION_OPENING,
	SESSION_OPEN,
	SESSION_FAILED,
} session_state;

/* A trace that is open. */
typedef struct opened {
	sonde_trace *trace;
	const sonde_index *ix;
	uint64_t n_events;
	uint64_t generation; /* of its session when it was opened */
	bool is_live;	     /* its program still runs */
	bool catches_up;     /* it is a window, and the rest is being read */
	bool is_mapped;	     /* it is read from its file as it is asked */
	unsigned n_users;    /* under the server's lock */
} opened;

/* What a file was like when it was opened. */
typedef struct file_state {
	uint64_t size_bytes, inode;
	int64_t changed_ns;
} file_state;

typedef struct session {
	uint32_t id; /* from 1 on */
	char *path;
	char *name;
	bool is_upload;
	bool was_live;	   /* it was, and is finished */
	bool awaits_index; /* its run has ended, and `sonde record` is about to add its index */
	bool is_rewritten; /* somebody writes its file: it is opened when he seems to be done */
	uint64_t version;  /* of the server when something about it changed last */
	session_state state;
	uint64_t generation; /* counts how often it was opened */
	double progress;
	char message[504]; /* why it failed */
	char damage[560];  /* which part of the opened index is damaged; "": none that was used */
	opened *opened;
	file_state file;
	int64_t used_ns;      /* CLOCK_MONOTONIC: when somebody asked last */
	int64_t read_at_ns;   /* when reading began: so old is what it shows; 0 in a page to picture */
	int64_t opened_at_ns; /* when it was opened, and how long it is left then */
	int64_t pause_ns;
	notes *notes;
	struct recording_follow *follow; /* of a live one; the opener's own */
	uint64_t pace;			 /* events that a refresh reads at most, likewise */
} session;

struct http;
struct sonde_query;

enum {
	SESSIONS_MAX = 10000,
	HEAVY_MAX = 4, /* requests that take long, at a time */
};

struct sonde_server {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t version; /* grows with every change */
	VEC(session *) sessions;
	VEC(char *) folders;
	char *uploads; /* a directory of our own, or NULL */
	uint32_t n_uploads;
	unsigned n_listeners; /* to events */
	bool stopping;
	sem_t heavy;
	struct sonde_query *queries[HEAVY_MAX]; /* that run */
	pthread_t opener;
	bool has_opener;
	sonde_serve_options options;
	char token[33];
	char **hosts; /* that requests may be for, "127.0.0.1:6970"; NULL ends */
	uint16_t port;
	char url[128];
	struct http *http;
};

/* ---- sessions.c -------------------------------------------------------------------------------------------------- */

/* Of a path, and of what a folder holds. */
sonde_status sessions_add_path(sonde_server *s, const char *path, sonde_error *err);
/* Looks into the folders again. */
void sessions_scan(sonde_server *s);
/* One more; takes neither path nor name. NULL when out of memory. The lock is held. */
session *sessions_add(sonde_server *s, const char *path, const char *name, bool is_upload);
void sessions_done(sonde_server *s);

session *session_find(sonde_server *s, uint64_t id); /* NULL: there is none */
/* The trace of a session, to be released; asks for it to be opened. NULL: it is not open now. The lock is not held. */
opened *session_take(sonde_server *s, session *of);
void session_release(sonde_server *s, opened *o);
/* The file is not what it was when the trace was opened, so what was read is not to be believed: whoever asks next gets
   it opened anew. False: it is as it was. The lock is not held. */
bool session_check(sonde_server *s, session *of, opened *o);
/* Something about it changed: whoever waits is told. The lock is held. */
void session_changed(sonde_server *s, session *of);
file_state file_state_of(const char *path);
bool session_has_changed(const session *of, const file_state *now); /* since it was opened */

/* ---- opener.c ---------------------------------------------------------------------------------------------------- */

sonde_status opener_start(sonde_server *s, sonde_error *err);
void opener_stop(sonde_server *s);

/* ---- http.c ------------------------------------------------------------------------------------------------------ */

sonde_status http_start(sonde_server *s, sonde_error *err);
void http_stop(sonde_server *s);

/* ---- listen.c ---------------------------------------------------------------------------------------------------- */

/* Sets s->port. */
sonde_status listen_on(sonde_server *s, const char *address, int *ret_fd, sonde_error *err);
void listen_name_url(sonde_server *s, const char *address); /* s->url */

/* ---- access.c ---------------------------------------------------------------------------------------------------- */

sonde_status access_init(sonde_server *s, const char *address, sonde_error *err);
void access_done(sonde_server *s);
bool access_host(const sonde_server *s, const char *host);			 /* NULL: none was sent */
bool access_origin(const sonde_server *s, const char *origin, const char *host); /* likewise */
bool access_token(const sonde_server *s, const char *token);
/* "Bearer TOKEN", or a cookie. Either may be NULL. */
bool access_credentials(const sonde_server *s, const char *authorization, const char *cookies);

#endif
