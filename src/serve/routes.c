/* See routes.h. */
#include "serve/routes.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/clock.h"

#define ROUTE(method, path, name, flags) { method, path, api_##name, flags },
static const route routes[] = {
#include "serve/routes.def"
};
#undef ROUTE
enum { N_ROUTES = sizeof routes / sizeof routes[0], WORD_MAX = 64 };

/* ---- Matching ---------------------------------------------------------------------------------------------------- */

/* What stands in the places of the letters of a pattern. */
typedef struct letters {
	uint64_t session_id, number;
	char word[WORD_MAX];
} letters;

static bool match_letter(char letter, const char *text, size_t len, letters *ret)
{
	char copy[WORD_MAX];

	if (len == 0 || len >= sizeof copy)
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (letter != 'W')
		return request_parse_number(copy, letter == 'S' ? &ret->session_id : &ret->number);
	memcpy(ret->word, copy, len + 1);
	return true;
}

static bool matches(const char *pattern, const char *path, letters *ret)
{
	while (*pattern && *path) {
		size_t len = strcspn(path, "/");
		if (*pattern >= 'A' && *pattern <= 'Z') {
			if (!match_letter(*pattern, path, len, ret))
				return false;
			pattern++;
			path += len;
		} else if (*pattern++ != *path++) {
			return false;
		}
	}
	return !*pattern && !*path;
}

const route *route_find(const char *method, const char *path, reply *out)
{
	const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
	bool is_there = false;
	letters l;

	for (size_t i = 0; i < N_ROUTES; i++) {
		if (!matches(routes[i].path, path, &l))
			continue;
		if (strcmp(routes[i].method, wanted) == 0)
			return &routes[i];
		is_there = true;
	}
	if (is_there)
		reply_error(out, 405, "bad-method", "This address does not accept %.16s.", method);
	else
		reply_error(out, 404, "not-found", "This address does not exist.");
	return NULL;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static void say_not_open(call *c, reply *out)
{
	session *s = c->session;
	char message[sizeof s->message];

	pthread_mutex_lock(&c->server->lock);
	bool has_failed = s->state == SESSION_FAILED;
	double progress = s->progress;
	memcpy(message, s->message, sizeof message);
	pthread_mutex_unlock(&c->server->lock);
	if (has_failed) {
		reply_error(out, 422, "bad-trace", "%s.", message);
		return;
	}
	json_writer *w = reply_json(out);
	json_begin_object(w);
	json_key(w, "error");
	json_begin_object(w);
	put_text(w, "code", "opening");
	put_text(w, "message", "The trace is being opened.");
	put_f64(w, "progress", progress);
	json_end_object(w);
	json_end_object(w);
	out->status = 202; /* browsers show what is 4xx or 5xx as an error */
}

bool call_open(call *c, reply *out)
{
	c->opened = session_take(c->server, c->session);
	if (!c->opened)
		say_not_open(c, out);
	return c->opened;
}

/* Afterwards: an error instead of the answer when the file changed meanwhile. */
static void check_file(call *c, reply *out)
{
	if (session_check(c->server, c->session, c->opened))
		reply_error(out, 503, "rewritten",
			    "The file changed while it was read; the server opens it again when it is stable.");
}

static bool take_trace(call *c, reply *out)
{
	if (!call_open(c, out))
		return false;
	out->generation = c->opened->generation;
	int64_t wanted = request_number(c->request, "generation", 0, INT64_MAX, (int64_t)out->generation);
	if ((uint64_t)wanted == out->generation)
		return true;
	reply_error(out, 409, "changed", "The trace has grown; its numbers have changed.");
	return false;
}

void route_run(const route *r, call *c, reply *out)
{
	/* Addresses without a session in them may be about one all the same: /api/profiler/... */
	letters l = { .session_id = (uint64_t)request_number(c->request, "session", 1, UINT32_MAX, 1) };

	matches(r->path, c->request->path, &l);
	c->number = l.number;
	c->word = l.word;
	if (strchr(r->path, 'S') || (r->flags & ROUTE_TRACE)) {
		c->session = session_find(c->server, l.session_id);
		if (!c->session) {
			reply_error(out, 404, "not-found", "There is no session %llu.",
				    (unsigned long long)l.session_id);
			return;
		}
	}
	if (!(r->flags & ROUTE_TRACE) || take_trace(c, out)) {
		if (r->flags & ROUTE_HEAVY)
			sem_wait(&c->server->heavy);
		r->run(c, out);
		if (r->flags & ROUTE_HEAVY)
			sem_post(&c->server->heavy);
		if (c->opened)
			check_file(c, out);
	}
	if (c->opened)
		session_release(c->server, c->opened);
	c->opened = NULL;
}

/* ---- For handlers ------------------------------------------------------------------------------------------------ */

bool call_failed(const call *c, reply *out)
{
	if (!*c->request->problem)
		return false;
	reply_error(out, 400, "bad-request", "%s", c->request->problem);
	return true;
}

void call_range(call *c, int64_t *ret_from, int64_t *ret_to)
{
	const sonde_index *ix = c->opened->ix;
	int64_t length = index_end_ns(ix) - index_start_ns(ix);
	int64_t from = request_number(c->request, "from", -TRACE_NS_MAX, TRACE_NS_MAX, 0);
	int64_t to = request_number(c->request, "to", -TRACE_NS_MAX, TRACE_NS_MAX, length);

	if (from > to && !*c->request->problem)
		snprintf(c->request->problem, sizeof c->request->problem,
			 "The parameter \"from\" must not be after \"to\".");
	*ret_from = trace_bounded_ns(index_start_ns(ix) + from);
	*ret_to = trace_bounded_ns(index_start_ns(ix) + to);
}

void call_steps(call *c, bool *ret_is_given, int64_t *ret_first, int64_t *ret_last)
{
	const char *text = request_text(c->request, "steps");
	size_t len = text ? strcspn(text, ".") : 0;
	char first[24] = "";
	uint64_t a = 0, b = INT64_MAX;

	*ret_is_given = text && *text;
	if (!*ret_is_given)
		return;
	bool is_range = strncmp(text + len, "..", 2) == 0, ok = len < sizeof first && (is_range || !text[len]);
	const char *last = is_range ? text + len + 2 : text;
	if (ok)
		memcpy(first, text, len);
	ok = ok && (!*first || request_parse_number(first, &a)) && (!*last || request_parse_number(last, &b));
	if (!ok || b > INT64_MAX || a > b)
		snprintf(c->request->problem, sizeof c->request->problem, "steps must be a range such as 11..200.");
	*ret_first = (int64_t)a;
	*ret_last = (int64_t)b;
}

const char *class_name(unsigned class)
{
	static const char *const names[CLASS_KINDS] = {
		"other",  "compute", "memory", "data_load",  "sync",  "communication", "runtime",
		"kernel", "copy",    "python", "annotation", "phase", "step",	       "overhead",
	};

	return class < CLASS_KINDS ? names[class] : "other";
}

void put_slice(json_writer *w, const sonde_index *ix, uint64_t id)
{
	size_t n_sites, n_lanes;
	const index_site *sites = index_sites(ix, &n_sites);
	const index_lane *lanes = index_lanes(ix, &n_lanes);
	index_slice s;

	if (!index_slice_at(ix, id, &s)) {
		json_null(w);
		return;
	}
	json_begin_object(w);
	put_u64(w, "id", id);
	put_text(w, "name", index_text(ix, sites[s.site].name));
	put_text(w, "class", class_name(sites[s.site].class));
	put_i64(w, "start_ns", since_start(ix, s.start_ns));
	put_i64(w, "dur_ns", s.dur_ns);
	put_u64(w, "lane", s.lane);
	put_u64(w, "track", lanes[s.lane].track);
	json_end_object(w);
}
