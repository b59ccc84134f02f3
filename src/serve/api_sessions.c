/* The traces there are. */
#include "serve/routes.h"

static const char *state_name(const session *s)
{
	switch (s->state) {
	case SESSION_CLOSED:
		return "closed";
	case SESSION_WANTED:
	case SESSION_OPENING:
		return "opening";
	case SESSION_OPEN:
		return s->opened->is_live ? "live" : "ready";
	case SESSION_FAILED:
		break;
	}
	return "failed";
}

void put_session(json_writer *w, const session *s)
{
	const opened *o = s->opened;
	sonde_trace_facts facts = { .struct_size = sizeof facts };

	if (o)
		sonde_trace_get_facts(o->trace, &facts);
	json_begin_object(w);
	put_u64(w, "id", s->id);
	put_text(w, "name", s->name);
	put_text(w, "state", state_name(s));
	put_f64(w, "progress", s->progress);
	put_text(w, "message", *s->message ? s->message : NULL);
	put_u64(w, "generation", s->generation);
	put_known(w, "size_bytes", s->file.size_bytes, (int64_t)s->file.size_bytes);
	put_known(w, "n_events", o, (int64_t)facts.n_events);
	put_known(w, "duration_ns", o, o ? index_end_ns(o->ix) - index_start_ns(o->ix) : 0);
	put_bool(w, "was_live", s->was_live);
	put_bool(w, "is_upload", s->is_upload);
	json_end_object(w);
}

void api_sessions(call *c, reply *out)
{
	json_writer *w = reply_json(out);

	json_begin_object(w);
	put_list(w, "sessions");
	pthread_mutex_lock(&c->server->lock);
	for (size_t i = 0; i < c->server->sessions.n; i++)
		put_session(w, c->server->sessions.items[i]);
	pthread_mutex_unlock(&c->server->lock);
	json_end_array(w);
	json_end_object(w);
}
