/* Notes on a stretch of time, views of the page, and the name of a trace. */
#include <stdlib.h>
#include "serve/routes.h"

static void put_note(void *context, const notes_entry *e)
{
	json_writer *w = context;

	json_begin_object(w);
	put_i64(w, "id", e->id);
	put_i64(w, "from_ns", e->from_ns);
	put_i64(w, "to_ns", e->to_ns);
	put_text(w, "text", e->text);
	put_i64(w, "created", e->created);
	json_end_object(w);
}

static void put_view(void *context, const notes_entry *e)
{
	json_writer *w = context;

	json_begin_object(w);
	put_i64(w, "id", e->id);
	put_text(w, "name", e->name);
	put_text(w, "state", e->text);
	put_i64(w, "created", e->created);
	json_end_object(w);
}

static void list(call *c, reply *out, notes_kind kind)
{
	sonde_error err = { .position = -1 };
	json_writer *w = reply_json(out);

	json_begin_object(w);
	put_list(w, kind == NOTES_NOTE ? "notes" : "views");
	sonde_status status = notes_list(c->session->notes, kind, kind == NOTES_NOTE ? put_note : put_view, w, &err);
	json_end_array(w);
	put_text(w, "kept_in", notes_are_kept(c->session->notes) ? "file" : "memory");
	json_end_object(w);
	if (status)
		reply_failure(out, status, &err);
}

void api_notes(call *c, reply *out)
{
	list(c, out, NOTES_NOTE);
}

void api_views(call *c, reply *out)
{
	list(c, out, NOTES_VIEW);
}

static void keep(call *c, reply *out, notes_kind kind, notes_entry *entry)
{
	sonde_error err = { .position = -1 };

	if (call_failed(c, out))
		return;
	sonde_status status = notes_add(c->session->notes, kind, entry, &err);
	if (status) {
		reply_failure(out, status, &err);
		return;
	}
	(kind == NOTES_NOTE ? put_note : put_view)(reply_json(out), entry);
	out->status = 201;
}

void api_add_note(call *c, reply *out)
{
	char *text = request_body_text(c->request, "text", NOTES_TEXT_MAX);
	notes_entry entry = {
		.from_ns = request_body_number(c->request, "from_ns", -TRACE_NS_MAX, TRACE_NS_MAX, 0),
		.to_ns = request_body_number(c->request, "to_ns", -TRACE_NS_MAX, TRACE_NS_MAX, 0),
		.text = text,
	};

	keep(c, out, NOTES_NOTE, &entry);
	free(text);
}

void api_add_view(call *c, reply *out)
{
	char *state = request_body_text(c->request, "state", NOTES_TEXT_MAX);
	char *name = request_body_text(c->request, "name", 200);
	notes_entry entry = { .text = state, .name = name };

	keep(c, out, NOTES_VIEW, &entry);
	free(state);
	free(name);
}

static void remove_one(call *c, reply *out, notes_kind kind)
{
	sonde_error err = { .position = -1 };
	bool is_found = false;
	sonde_status status = notes_delete(c->session->notes, kind, (int64_t)c->number, &is_found, &err);

	if (status) {
		reply_failure(out, status, &err);
	} else if (!is_found) {
		reply_error(out, 404, "not-found", "There is no item with this number.");
	} else {
		json_writer *w = reply_json(out);
		json_begin_object(w);
		json_end_object(w);
	}
}

void api_delete_note(call *c, reply *out)
{
	remove_one(c, out, NOTES_NOTE);
}

void api_delete_view(call *c, reply *out)
{
	remove_one(c, out, NOTES_VIEW);
}

void api_rename(call *c, reply *out)
{
	char *name = request_body_text(c->request, "name", 200);
	sonde_error err = { .position = -1 };

	if (call_failed(c, out)) {
		free(name);
		return;
	}
	sonde_status status = notes_set_name(c->session->notes, name, &err);
	if (status) {
		reply_failure(out, status, &err);
		free(name);
		return;
	}
	pthread_mutex_lock(&c->server->lock);
	free(c->session->name);
	c->session->name = name;
	session_changed(c->server, c->session);
	put_session(reply_json(out), c->session);
	pthread_mutex_unlock(&c->server->lock);
}
