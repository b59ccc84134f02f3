/*
 * HTTP, by libmicrohttpd: a thread for each connection, so that a slow answer or a slow client holds up nobody else.
 *
 *   on_uri()       the first line is there: a new exchange
 *   on_request()   the headers are there: may he ask, is there such an address; then the body, piece by piece; then run
 *   on_end()       the exchange is over
 *
 * A connection has a deadline for the headers of its next request and for its body; libmicrohttpd itself only notices
 * when nothing comes at all. A thread of ours looks at them each second and shuts down what is late.
 */
#include "serve/http/http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/error.h"
#include "serve/http/mhd.h"
#include "serve/page.h"
#include "serve/http/upload.h"

struct http {
	sonde_server *server;
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock;
	http_connection *connections;
	pthread_t watcher;
	bool has_watcher;
};

typedef struct exchange {
	request request;
	reply reply;
	bool has_begun;
	const route *route;
	char *body;
	size_t body_len;
	upload *upload;
} exchange;

static const char policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
			     "img-src 'self' data:; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
			     "form-action 'none'";

/* ---- Deadlines --------------------------------------------------------------------------------------------------- */

static void set_deadline(struct http *h, struct MHD_Connection *on, int64_t seconds)
{
	const union MHD_ConnectionInfo *info = mhd.get_connection_info(on, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	http_connection *c = info ? info->socket_context : NULL;

	if (!c)
		return;
	pthread_mutex_lock(&h->lock);
	c->deadline_ns = seconds ? monotonic_ns() + seconds * 1000000000 : 0;
	pthread_mutex_unlock(&h->lock);
}

static void on_connection(void *context, struct MHD_Connection *on, void **socket_context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct http *h = context;
	http_connection *c = *socket_context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		c = calloc(1, sizeof *c);
		*socket_context = c;
		if (!c)
			return;
		c->fd = mhd.get_connection_info(on, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
		c->deadline_ns = monotonic_ns() + (int64_t)HTTP_HEADER_SECONDS * 1000000000;
		pthread_mutex_lock(&h->lock);
		c->next = h->connections;
		if (c->next)
			c->next->previous = c;
		h->connections = c;
		pthread_mutex_unlock(&h->lock);
	} else if (c) {
		pthread_mutex_lock(&h->lock);
		if (c->next)
			c->next->previous = c->previous;
		*(c->previous ? &c->previous->next : &h->connections) = c->next;
		pthread_mutex_unlock(&h->lock);
		free(c);
	}
}

static void shut_late_ones(struct http *h, int64_t now)
{
	pthread_mutex_lock(&h->lock);
	for (http_connection *c = h->connections; c; c = c->next) {
		if (c->deadline_ns && c->deadline_ns < now) {
			shutdown(c->fd, SHUT_RDWR);
			c->deadline_ns = 0;
		}
	}
	pthread_mutex_unlock(&h->lock);
}

static void *watch(void *context)
{
	struct http *h = context;
	sonde_server *s = h->server;
	struct timespec until;

	pthread_mutex_lock(&s->lock);
	while (!s->stopping) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec++;
		pthread_cond_timedwait(&s->changed, &s->lock, &until);
		pthread_mutex_unlock(&s->lock);
		shut_late_ones(h, monotonic_ns());
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

static enum MHD_Result send_response(struct MHD_Connection *on, struct MHD_Response *r, unsigned status)
{
	if (!r)
		return MHD_NO;
	mhd.add_response_header(r, "Content-Security-Policy", policy);
	mhd.add_response_header(r, "X-Content-Type-Options", "nosniff");
	mhd.add_response_header(r, "Referrer-Policy", "no-referrer");
	mhd.add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
	mhd.add_response_header(r, "Cache-Control", "no-store");
	enum MHD_Result ok = mhd.queue_response(on, status, r);
	mhd.destroy_response(r);
	return ok;
}

static enum MHD_Result send_reply(struct MHD_Connection *on, reply *out)
{
	char number[24];

	reply_finish(out);
	struct MHD_Response *r = out->events;
	if (!r) {
		r = mhd.create_response_from_buffer(out->len, out->bytes, MHD_RESPMEM_MUST_FREE);
		if (!r)
			return MHD_NO;
		out->bytes = NULL; /* the response's now */
	}
	mhd.add_response_header(r, "Content-Type", out->type);
	if (out->generation) {
		snprintf(number, sizeof number, "%llu", (unsigned long long)out->generation);
		mhd.add_response_header(r, "Sonde-Generation", number);
	}
	return send_response(on, r, out->status);
}

static enum MHD_Result refuse(struct MHD_Connection *on, exchange *x, unsigned status, const char *code,
			      const char *message)
{
	reply_error(&x->reply, status, code, "%s", message);
	return send_reply(on, &x->reply);
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

/* The token in the address becomes a cookie; the address stays without it. */
static enum MHD_Result let_in(const sonde_server *s, struct MHD_Connection *on)
{
	struct MHD_Response *r = mhd.create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
	char cookie[128];

	if (!r)
		return MHD_NO;
	snprintf(cookie, sizeof cookie, "sonde-%u=%s; Path=/; HttpOnly; SameSite=Strict", s->port, s->token);
	mhd.add_response_header(r, "Set-Cookie", cookie);
	mhd.add_response_header(r, "Location", "/");
	return send_response(on, r, 303);
}

static enum MHD_Result send_file(struct MHD_Connection *on, const page_file *f)
{
	struct MHD_Response *r =
		mhd.create_response_from_buffer(f->len, (void *)(uintptr_t)f->gzip, MHD_RESPMEM_PERSISTENT);

	if (!r)
		return MHD_NO;
	mhd.add_response_header(r, "Content-Type", f->type);
	mhd.add_response_header(r, "Content-Encoding", "gzip");
	return send_response(on, r, 200);
}

/* What a person sees who comes without the token, or when there is no page. */
static enum MHD_Result send_words(struct MHD_Connection *on, unsigned status, const char *words)
{
	struct MHD_Response *r =
		mhd.create_response_from_buffer(strlen(words), (void *)(uintptr_t)words, MHD_RESPMEM_PERSISTENT);

	if (r)
		mhd.add_response_header(r, "Content-Type", "text/plain; charset=utf-8");
	return send_response(on, r, status);
}

static enum MHD_Result send_page(struct MHD_Connection *on, exchange *x, const char *method)
{
	const char *path = strcmp(x->request.path, "/") == 0 ? "/index.html" : x->request.path;

	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return refuse(on, x, 405, "bad-method", "This address accepts GET only.");
	for (const page_file *f = page_files; f->path; f++)
		if (strcmp(f->path, path) == 0)
			return send_file(on, f);
	if (strcmp(x->request.path, "/") == 0)
		return send_words(on, 200,
				  "Sonde was built without its page: npm was missing. The API is at /api/v1.\n");
	return refuse(on, x, 404, "not-found", "This address does not exist.");
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static const char *header(struct MHD_Connection *on, const char *name)
{
	return mhd.lookup_connection_value(on, MHD_HEADER_KIND, name);
}

static int count_header(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
	(void)kind, (void)value;
	*(unsigned *)context += strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0;
	return MHD_YES;
}

/* One Host, and only one: a proxy might look at the other. */
static bool has_one_host(struct MHD_Connection *on)
{
	unsigned n = 0;

	mhd.get_connection_values(on, MHD_HEADER_KIND, (MHD_KeyValueIterator)(void *)count_header, &n);
	return n == 1;
}

static void *on_uri(void *context, const char *uri, struct MHD_Connection *on)
{
	exchange *x = calloc(1, sizeof *x);

	(void)context, (void)on;
	if (x) {
		x->reply.status = 200;
		request_parse(&x->request, uri);
	}
	return x;
}

static void on_end(void *context, struct MHD_Connection *on, void **state, enum MHD_RequestTerminationCode why)
{
	exchange *x = *state;

	(void)why;
	set_deadline(context, on, HTTP_IDLE_SECONDS);
	if (!x)
		return;
	upload_abandon(x->upload);
	reply_done(&x->reply);
	free(x->body);
	free(x);
	*state = NULL;
}

static bool is_page(const request *r)
{
	return strncmp(r->path, "/api/", 5) != 0;
}

/* True: he may ask. Else he has been told. */
static bool may_ask(const sonde_server *s, struct MHD_Connection *on, exchange *x, enum MHD_Result *ret)
{
	const char *host = header(on, "Host"), *token = request_text(&x->request, "token");

	if (*x->request.problem)
		*ret = refuse(on, x, 400, "bad-request", x->request.problem);
	else if (!has_one_host(on) || !access_host(s, host))
		*ret = refuse(on, x, 421, "wrong-host", "Unknown Host; sonde serve --host NAME adds a name.");
	else if (!access_origin(s, header(on, "Origin"), host))
		*ret = refuse(on, x, 403, "wrong-origin", "Requests from other pages are refused.");
	else if (strcmp(x->request.path, "/") == 0 && access_token(s, token))
		*ret = let_in(s, on);
	else if (!access_credentials(s, header(on, "Authorization"), header(on, "Cookie")))
		*ret = is_page(&x->request)
			       ? send_words(on, 401, "Open the address that sonde serve printed; it holds the token.\n")
			       : refuse(on, x, 401, "no-token", "The token is missing or wrong.");
	else
		return true;
	return false;
}

/* The headers are there. */
static enum MHD_Result begin(struct http *h, struct MHD_Connection *on, exchange *x, const char *method)
{
	const char *length = header(on, "Content-Length");
	enum MHD_Result result;
	uint64_t n = 0;

	set_deadline(h, on, 0);
	if (!may_ask(h->server, on, x, &result))
		return result;
	if (is_page(&x->request))
		return MHD_YES;
	x->route = route_find(method, x->request.path, &x->reply);
	if (!x->route)
		return send_reply(on, &x->reply);
	bool is_upload = x->route->flags & ROUTE_UPLOAD;
	uint64_t max = is_upload ? h->server->options.upload_bytes : REQUEST_BODY_MAX;
	if (length && (!request_parse_number(length, &n) || n > max))
		return refuse(on, x, 413, "too-large", "The body exceeds the size limit.");
	set_deadline(h, on, HTTP_IDLE_SECONDS + (int64_t)((is_upload ? max : n) / HTTP_BODY_RATE));
	if (!is_upload)
		return MHD_YES;
	x->upload = upload_begin(h->server, &x->reply);
	return x->upload ? MHD_YES : send_reply(on, &x->reply);
}

static bool take_body(const sonde_server *s, exchange *x, const char *bytes, size_t len)
{
	if (x->upload)
		return upload_write(x->upload, s->options.upload_bytes, bytes, len, &x->reply);
	if (len > REQUEST_BODY_MAX - x->body_len) {
		reply_error(&x->reply, 413, "too-large", "The body exceeds the size limit.");
		return false;
	}
	char *grown = realloc(x->body, x->body_len + len + 1);
	if (!grown) {
		reply_out_of_memory(&x->reply);
		return false;
	}
	x->body = grown;
	memcpy(grown + x->body_len, bytes, len);
	x->body_len += len;
	grown[x->body_len] = '\0';
	return true;
}

static enum MHD_Result run(struct http *h, struct MHD_Connection *on, exchange *x, const char *method)
{
	call c = { .server = h->server, .request = &x->request };

	set_deadline(h, on, 0);
	if (x->reply.status != 200) /* the body was refused */
		return send_reply(on, &x->reply);
	if (!x->route)
		return send_page(on, x, method);
	x->request.body = x->body;
	x->request.body_len = x->body_len;
	c.upload = upload_path(x->upload);
	route_run(x->route, &c, &x->reply);
	if (x->upload && x->reply.status < 300)
		upload_keep(x->upload);
	return send_reply(on, &x->reply);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *on, const char *url, const char *method,
				  const char *version, const char *bytes, size_t *len, void **state)
{
	struct http *h = context;
	exchange *x = *state;

	(void)url, (void)version;
	if (!x)
		return MHD_NO;
	if (!x->has_begun) {
		x->has_begun = true;
		return begin(h, on, x, method);
	}
	if (*len == 0)
		return run(h, on, x, method);
	if (x->reply.status == 200)
		take_body(h->server, x, bytes, *len);
	*len = 0;
	return MHD_YES;
}

/* ---- Start and stop ---------------------------------------------------------------------------------------------- */

static struct MHD_Daemon *start_daemon(struct http *h, int fd)
{
	return mhd.start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC, 0, NULL,
		NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)HTTP_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_IDLE_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_HEADERS, MHD_OPTION_URI_LOG_CALLBACK, on_uri, h,
		MHD_OPTION_NOTIFY_COMPLETED, on_end, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_END);
}

sonde_status http_start(sonde_server *s, sonde_error *err)
{
	const char *address = s->options.address ? s->options.address : "127.0.0.1";
	struct http *h = calloc(1, sizeof *h);
	int fd = -1;

	if (!h)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	s->http = h;
	h->server = s;
	pthread_mutex_init(&h->lock, NULL);
	sonde_status status = mhd_load(err);
	if (!status)
		status = listen_on(s, address, &fd, err);
	if (!status)
		status = access_init(s, address, err);
	if (status) {
		if (fd >= 0)
			close(fd);
		return status;
	}
	listen_name_url(s, address);
	h->daemon = start_daemon(h, fd);
	if (!h->daemon) {
		close(fd);
		return error_set(err, SONDE_E_UNSUPPORTED, -1, "cannot start libmicrohttpd");
	}
	h->has_watcher = pthread_create(&h->watcher, NULL, watch, h) == 0;
	return h->has_watcher ? SONDE_OK
			      : error_set(err, SONDE_E_MEMORY, -1, "cannot start a thread to watch connections");
}

void http_stop(sonde_server *s)
{
	struct http *h = s->http;

	if (!h)
		return;
	if (h->has_watcher)
		pthread_join(h->watcher, NULL);
	if (h->daemon)
		mhd.stop_daemon(h->daemon);
	access_done(s);
	pthread_mutex_destroy(&h->lock);
	free(h);
	s->http = NULL;
}
