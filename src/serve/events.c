/*
 * What changes, as it changes: an answer that does not end (server-sent events). Every session has the version that the
 * server had when it changed last. A listener remembers the version it has told of, waits until there is a newer one,
 * and then tells of the sessions that are newer: nothing is queued, and a listener that is slow misses states in
 * between, never the last one.
 *
 * libmicrohttpd asks for more in the connection's own thread, which may wait.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "serve/http/http.h"
#include "serve/http/mhd.h"

enum { ALIVE_SECONDS = 10 };

typedef struct listener {
	sonde_server *server;
	uint64_t version; /* that was told */
	char *text;	  /* on its way */
	size_t len, at;
} listener;

/* Until something is newer, for at most ALIVE_SECONDS. The lock is held. */
static void wait_for_change(listener *l)
{
	sonde_server *s = l->server;
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ALIVE_SECONDS;
	while (!s->stopping && s->version == l->version)
		if (pthread_cond_timedwait(&s->changed, &s->lock, &until) != 0)
			break;
}

static bool make_text(listener *l)
{
	sonde_server *s = l->server;
	FILE *out = open_memstream(&l->text, &l->len);

	if (!out)
		return false;
	if (s->version == l->version)
		fputs(": alive\n\n", out);
	for (size_t i = 0; i < s->sessions.n; i++) {
		if (s->sessions.items[i]->version <= l->version)
			continue;
		json_writer w = json_to(out);
		fputs("event: session\ndata: ", out);
		put_session(&w, s->sessions.items[i]);
		fputs("\n\n", out);
	}
	l->version = s->version;
	l->at = 0;
	return fclose(out) == 0 && l->text;
}

static ssize_t more(void *context, uint64_t position, char *to, size_t max)
{
	listener *l = context;

	(void)position;
	if (l->at == l->len) {
		free(l->text);
		l->text = NULL;
		pthread_mutex_lock(&l->server->lock);
		wait_for_change(l);
		bool goes_on = !l->server->stopping && make_text(l);
		pthread_mutex_unlock(&l->server->lock);
		if (!goes_on)
			return MHD_CONTENT_READER_END_OF_STREAM;
	}
	size_t n = l->len - l->at < max ? l->len - l->at : max;
	memcpy(to, l->text + l->at, n);
	l->at += n;
	return (ssize_t)n;
}

static void end(void *context)
{
	listener *l = context;

	pthread_mutex_lock(&l->server->lock);
	l->server->n_listeners--;
	pthread_mutex_unlock(&l->server->lock);
	free(l->text);
	free(l);
}

void api_events(call *c, reply *out)
{
	sonde_server *s = c->server;
	listener *l = calloc(1, sizeof *l);

	if (!l) {
		reply_out_of_memory(out);
		return;
	}
	l->server = s;
	pthread_mutex_lock(&s->lock);
	bool has_room = s->n_listeners < HTTP_STREAMS;
	s->n_listeners += has_room;
	pthread_mutex_unlock(&s->lock);
	if (!has_room) {
		free(l);
		reply_error(out, 503, "busy", "Too many listeners; close a page and retry.");
		return;
	}
	out->type = "text/event-stream";
	out->events = mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, more, l, end);
	if (!out->events) {
		end(l);
		reply_out_of_memory(out);
	}
}
