/*
 * From a path to what answers it. A route is a row of routes.def and a function in one of the api_*.c.
 *
 * In a path S stands for the number of a session, N for any number, W for a word.
 */
#ifndef SONDE_SERVE_ROUTES_H
#define SONDE_SERVE_ROUTES_H

#include "serve/http/reply.h"
#include "serve/http/request.h"
#include "serve/server.h"

/* A request on its way to its handler. */
typedef struct call {
	sonde_server *server;
	request *request;
	session *session;	       /* S; NULL: none in the path */
	opened *opened;		       /* its trace, for routes with ROUTE_TRACE */
	uint64_t number;	       /* N */
	const char *word;	       /* W; in the path */
	const char *upload;	       /* of ROUTE_UPLOAD: the file that the body is in */
	const struct trace_part *part; /* of a page: what is in it; NULL: everything */
} call;

typedef enum route_flags {
	ROUTE_PLAIN = 0,
	ROUTE_TRACE = 1,  /* needs the trace open, and its index */
	ROUTE_UPLOAD = 2, /* the body is a file */
	ROUTE_HEAVY = 4,  /* may take long: HEAVY_MAX at a time */
} route_flags;

typedef struct route {
	const char *method, *path;
	void (*run)(call *c, reply *out);
	unsigned flags;
} route;

/* NULL: there is none, and the reply says so. */
const route *route_find(const char *method, const char *path, reply *out);
/* Fills in the call's session, trace, number and word, and runs it. */
void route_run(const route *r, call *c, reply *out);

#define ROUTE(method, path, name, flags) void api_##name(call *c, reply *out);
#include "serve/routes.def"
#undef ROUTE

/* ---- What several handlers need ---------------------------------------------------------------------------------- */

/* From a time of the index to one since the start of the trace, and back. */
static inline int64_t since_start(const sonde_index *ix, int64_t ns)
{
	return ns - index_start_ns(ix);
}
/* The parameters `from` and `to`, as times of the index; all of it when they are not given. */
void call_range(call *c, int64_t *ret_from, int64_t *ret_to);
/* The parameter `steps`: "11..200", "11..", "..200" or "11". */
void call_steps(call *c, bool *ret_is_given, int64_t *ret_first, int64_t *ret_last);
/* Takes the trace of the call's session. False: it is not open now, and the reply says so. */
bool call_open(call *c, reply *out);
/* True: a parameter was wrong, and the reply says so. */
bool call_failed(const call *c, reply *out);

const char *class_name(unsigned class); /* "kernel" */
/* {"id", "name", "class", "start_ns", "dur_ns", "lane", "track"}; null for none. */
void put_slice(json_writer *w, const sonde_index *ix, uint64_t id);
/* "args": the object as the trace has it; null for a damaged one. */
void put_args(json_writer *w, const sonde_index *ix, uint32_t args);
/* "name", "category", "class", "site". */
void put_site_of(json_writer *w, const sonde_index *ix, uint32_t site);
/* Rows of FLOWS behind each other: points of one arrow. */
bool flow_goes_on(const int64_t *point, const int64_t *next);
void put_session(json_writer *w, const session *s); /* the lock is held */

#endif
