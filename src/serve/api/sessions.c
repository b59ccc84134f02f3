/* The traces there are, and what is in one. */
#include <string.h>
#include "base/clock.h"
#include "serve/part.h"
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

/* What is shown of a recording that grows faster than it is read. */
static void put_window(json_writer *w, const session *s)
{
	const opened *o = s->opened;

	json_key(w, "window");
	if (!o || !trace_is_window(o->trace)) {
		json_null(w);
		return;
	}
	json_begin_object(w);
	put_i64(w, "from_ns", since_start(o->ix, o->trace->recording->window_ns));
	put_i64(w, "dur_ns", index_end_ns(o->ix) - o->trace->recording->window_ns);
	put_u64(w, "n_events", o->trace->recording->n_shown);
	put_bool(w, "catches_up", o->catches_up);
	json_end_object(w);
}

void put_session(json_writer *w, const session *s)
{
	const opened *o = s->opened;

	json_begin_object(w);
	put_u64(w, "id", s->id);
	put_text(w, "name", s->name);
	put_text(w, "state", state_name(s));
	put_f64(w, "progress", s->progress);
	put_text(w, "message", *s->message ? s->message : NULL);
	put_u64(w, "generation", s->generation);
	put_known(w, "size_bytes", s->file.size_bytes, (int64_t)s->file.size_bytes);
	put_known(w, "n_events", o, o ? (int64_t)o->n_events : 0);
	put_known(w, "duration_ns", o, o ? index_end_ns(o->ix) - index_start_ns(o->ix) : 0);
	put_window(w, s);
	put_text(w, "damage", *s->damage ? s->damage : NULL);
	put_known(w, "age_ns", o && s->read_at_ns, monotonic_ns() - s->read_at_ns);
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

void api_upload(call *c, reply *out)
{
	const char *name = request_text(c->request, "name");

	pthread_mutex_lock(&c->server->lock);
	session *new = sessions_add(c->server, c->upload, name && *name ? name : "upload", true);
	if (new) {
		new->state = SESSION_WANTED;
		session_changed(c->server, new);
		put_session(reply_json(out), new);
		out->status = 201;
	} else {
		reply_out_of_memory(out);
	}
	pthread_mutex_unlock(&c->server->lock);
}

/* ---- One trace --------------------------------------------------------------------------------------------------- */

static void put_meta(json_writer *w, const sonde_index *ix)
{
	size_t n;
	const index_meta *m = index_metas(ix, &n);

	put_list(w, "meta");
	for (size_t i = 0; i < n; i++) {
		json_begin_object(w);
		put_text(w, "key", index_text(ix, m[i].key));
		put_text(w, "value", index_text(ix, m[i].value));
		put_known(w, "rank", m[i].rank >= 0, m[i].rank);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_diagnostics(json_writer *w, const sonde_index *ix)
{
	size_t n;
	const index_diagnostic *d = index_diagnostics(ix, &n);

	put_list(w, "diagnostics");
	for (size_t i = 0; i < n; i++) {
		json_begin_object(w);
		put_text(w, "kind", index_text(ix, d[i].text));
		put_text(w, "file", index_text(ix, d[i].file));
		put_u64(w, "count", d[i].count);
		put_known(w, "first_byte", d[i].first >= 0, d[i].first);
		put_bool(w, "is_lost", d[i].lost);
		json_end_object(w);
	}
	json_end_array(w);
}

/* Returns how many there are. */
static size_t put_ranks(json_writer *w, const sonde_index *ix)
{
	size_t n, n_ranks = 0;
	const index_process *p = index_processes(ix, &n);

	put_list(w, "ranks");
	for (size_t i = 0; i < n; i++) {
		bool is_new = p[i].rank >= 0;
		for (size_t k = 0; k < i && is_new; k++)
			is_new = p[k].rank != p[i].rank;
		if (is_new)
			json_i64(w, p[i].rank);
		n_ranks += is_new;
	}
	json_end_array(w);
	return n_ranks;
}

static bool has_class(const sonde_index *ix, site_class class)
{
	size_t n;
	const index_site *sites = index_sites(ix, &n);

	for (size_t i = 0; i < n; i++)
		if (sites[i].class == class && sites[i].n_slices)
			return true;
	return false;
}

static void put_has(json_writer *w, const sonde_index *ix)
{
	size_t n_counters;

	index_counters(ix, &n_counters);
	put_bool(w, "has_device", has_class(ix, CLASS_KERNEL) || has_class(ix, CLASS_COPY));
	put_bool(w, "has_python", has_class(ix, CLASS_PYTHON));
	put_bool(w, "has_communication", has_class(ix, CLASS_COMMUNICATION));
	put_bool(w, "has_memory", index_n_rows(ix, SECTION_ALLOCATIONS) > 0);
	put_bool(w, "has_counters", n_counters > 0);
	put_bool(w, "has_samples", index_n_rows(ix, SECTION_SAMPLES) > 0);
	put_bool(w, "has_flows", index_n_rows(ix, SECTION_FLOWS) > 0);
	put_bool(w, "has_launches", index_n_rows(ix, SECTION_LAUNCHES) > 0);
}

void api_session(call *c, reply *out)
{
	const sonde_index *ix = c->opened->ix;
	sonde_trace_facts facts = { .struct_size = sizeof facts };
	size_t n_steps, n_tracks, n_sites;
	json_writer *w = reply_json(out);

	sonde_trace_get_facts(c->opened->trace, &facts);
	index_steps(ix, &n_steps);
	index_tracks(ix, &n_tracks);
	index_sites(ix, &n_sites);
	json_begin_object(w);
	json_key(w, "session");
	pthread_mutex_lock(&c->server->lock);
	put_session(w, c->session);
	pthread_mutex_unlock(&c->server->lock);
	put_text(w, "kind", c->opened->trace->is_recorded ? "recording" : "imported");
	put_i64(w, "duration_ns", since_start(ix, index_end_ns(ix)));
	put_i64(w, "start_ns", index_start_ns(ix));
	put_text(w, "clock", (const char *[]){ "trace", "epoch", "monotonic" }[index_clock_of(ix) % 3]);
	put_u64(w, "n_events", facts.n_events);
	put_u64(w, "n_lost", facts.n_lost);
	put_u64(w, "n_repaired", facts.n_repaired);
	put_u64(w, "n_slices", index_n_slices(ix));
	put_u64(w, "n_sites", n_sites);
	put_u64(w, "n_tracks", n_tracks);
	put_u64(w, "n_steps", n_steps);
	put_has(w, ix);
	put_u64(w, "n_ranks", put_ranks(w, ix));
	put_meta(w, ix);
	put_diagnostics(w, ix);
	json_end_object(w);
}

void api_steps(call *c, reply *out)
{
	const sonde_index *ix = c->opened->ix;
	size_t n;
	const index_step *steps = index_steps(ix, &n);
	json_writer *w = reply_json(out);

	json_begin_object(w);
	put_list(w, "steps");
	for (size_t i = 0; i < n; i++) {
		int32_t rank = index_rank_of(ix, steps[i].track);
		if (!PART_HAS(c->part, steps, i))
			continue;
		json_begin_object(w);
		put_i64(w, "number", steps[i].number);
		put_i64(w, "start_ns", steps[i].start_ns);
		put_i64(w, "dur_ns", steps[i].dur_ns);
		put_known(w, "rank", rank >= 0, rank);
		put_u64(w, "track", steps[i].track);
		put_u64(w, "slice", steps[i].slice);
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}
