/* See picture.h. */
#include "picture/picture.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/analysis.h"
#include "analyze/tables/step_list.h"
#include "base/error.h"
#include "base/format_number.h"
#include "serve/page.h"

sonde_status picture_options(const sonde_trace *trace, const sonde_picture_options *given, sonde_picture_options *ret,
			     sonde_error *err)
{
	*ret = (sonde_picture_options){ 0 };
	if (given)
		memcpy(ret, given, given->struct_size < sizeof *ret ? given->struct_size : sizeof *ret);
	if (!ret->max_bytes)
		ret->max_bytes = PICTURE_BYTES;
	return ret->use_steps ? steps_check(trace, ret->first_step, ret->last_step, err) : SONDE_OK;
}

/* One session, which is open. */
static void start_server(picture *m, const sonde_trace *trace)
{
	sonde_trace_facts facts = { .struct_size = sizeof facts };

	sonde_trace_get_facts(trace, &facts);
	m->opened = (opened){
		.trace = (sonde_trace *)trace, .ix = m->ix, .n_events = facts.n_events, .generation = 1, .n_users = 1
	};
	m->session = (session){ .id = 1,
				.path = (char *)"",
				.name = (char *)(m->options.name ? m->options.name : "trace"),
				.state = SESSION_OPEN,
				.generation = 1,
				.opened = &m->opened };
	m->sessions[0] = &m->session;
	m->server.sessions.items = m->sessions;
	m->server.sessions.n = 1;
	pthread_mutex_init(&m->server.lock, NULL);
	pthread_cond_init(&m->server.changed, NULL);
	sem_init(&m->server.heavy, 0, 1);
}

static void put_facts(picture *m)
{
	size_t n_steps;
	json_writer *w = &m->data;

	index_steps(m->ix, &n_steps);
	json_key(w, "/sessions/1");
	json_begin_object(w);
	json_key(w, "session");
	put_session(w, &m->session);
	put_i64(w, "duration_ns", since_start(m->ix, index_end_ns(m->ix)));
	put_u64(w, "n_slices", index_n_slices(m->ix));
	put_u64(w, "n_steps", 0); /* there is one selection of them, and that is made */
	json_end_object(w);
}

static void note_losses(picture *m, const sonde_trace *trace)
{
	sonde_result *r = result_new("losses");

	if (r)
		result_note_losses(r, trace);
	for (const result_note *n = r ? r->notes : NULL; n; n = n->next)
		picture_note(m, "Lost: %s.", n->text);
	m->failed |= !r;
	sonde_result_free(r);
}

sonde_status picture_begin(picture *m, const sonde_trace *trace, const sonde_picture_options *given, sonde_error *err)
{
	memset(m, 0, sizeof *m);
	sonde_status status = picture_options(trace, given, &m->options, err);
	if (status)
		return status;
	if (!*page_to_mail)
		return error_set(err, SONDE_E_STATE, -1,
				 "this sonde was built without its page; install nodejs and npm and build again");
	m->ix = trace->index;
	m->stream = trace_part_choose(&m->part, m->ix, m->options.max_bytes / 4) ? open_memstream(&m->bytes, &m->len)
										 : NULL;
	if (!m->stream) {
		trace_part_done(&m->part);
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	}
	start_server(m, trace);
	note_losses(m, trace);
	m->data = json_to(m->stream);
	json_begin_object(&m->data);
	json_key(&m->data, "answers");
	json_begin_object(&m->data);
	picture_answer(m, "/sessions");
	put_facts(m);
	return SONDE_OK;
}

void picture_put(picture *m, const char *key, const char *path)
{
	request *r = calloc(1, sizeof *r);
	char uri[1024];
	reply out = { .status = 200 };
	call c = { .server = &m->server, .request = r, .part = &m->part };

	snprintf(uri, sizeof uri, "/api/v1%s", path);
	const route *found = r && request_parse(r, uri) ? route_find("GET", r->path, &out) : NULL;
	if (found)
		route_run(found, &c, &out);
	reply_finish(&out);
	json_key(&m->data, key);
	if (found && out.status == 200 && out.bytes)
		json_raw(&m->data, out.bytes, out.len);
	else
		json_null(&m->data);
	m->failed |= !found || out.status >= 500;
	reply_done(&out);
	free(r);
}

void picture_answer(picture *m, const char *path)
{
	picture_put(m, path, path);
}

void picture_more(picture *m)
{
	json_end_object(&m->data);
}

bool picture_number(picture_bytes *to, uint64_t value)
{
	do {
		uint8_t *place = VEC_ADD(to);
		if (!place)
			return false;
		*place = (uint8_t)(value & 127) | (value > 127 ? 128 : 0);
		value >>= 7;
	} while (value);
	return true;
}

bool picture_signed(picture_bytes *to, int64_t value)
{
	return picture_number(to, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

bool picture_base64(json_writer *w, const char *key, const picture_bytes *bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = bytes->n, len = 0;
	char *text = malloc(n / 3 * 4 + 8);

	for (size_t i = 0; text && i < n; i += 3) {
		uint32_t three = (uint32_t)bytes->items[i] << 16 | (i + 1 < n ? bytes->items[i + 1] << 8 : 0) |
				 (i + 2 < n ? bytes->items[i + 2] : 0);
		for (unsigned k = 0; k < 4; k++)
			text[len++] = i + k > n ? '=' : digits[three >> (18 - 6 * k) & 63];
	}
	json_key(w, key);
	json_stringn(w, text ? text : "", len);
	free(text);
	return text;
}

void picture_note(picture *m, const char *format, ...)
{
	size_t len = strlen(m->note);
	va_list args;

	va_start(args, format);
	if (len && len + 1 < sizeof m->note)
		m->note[len++] = ' ';
	vsnprintf(m->note + len, sizeof m->note - len, format, args);
	va_end(args);
}

/* Text of a page: nothing in it ends the element it is in. */
static void put_escaped(FILE *out, const char *text, size_t len, const char *instead)
{
	for (const char *end = text + len; text < end;) {
		const char *next = memchr(text, '<', (size_t)(end - text));
		size_t n = (size_t)((next ? next : end) - text);
		fwrite(text, 1, n, out);
		if (next)
			fputs(instead, out);
		text += n + (next != NULL);
	}
}

/* The page up to a mark; returns what follows it. */
static const char *put_until(FILE *out, const char *page, const char *mark)
{
	const char *at = strstr(page, mark);

	fwrite(page, 1, (size_t)(at - page), out);
	return at + strlen(mark);
}

sonde_status picture_end(picture *m, const char *views, FILE *out, sonde_error *err)
{
	put_text(&m->data, "note", m->note);
	json_end_object(&m->data);
	bool ok = json_ok(&m->data) && fclose(m->stream) == 0 && !m->failed;

	if (ok && out) {
		const char *page = put_until(out, page_to_mail, "@VIEWS@");
		fputs(views, out);
		page = put_until(out, page, "@TITLE@");
		put_escaped(out, m->session.name, strlen(m->session.name), "&lt;");
		page = put_until(out, page, "@DATA@");
		put_escaped(out, m->bytes, m->len, "\\u003c");
		fputs(page, out);
	}
	free(m->bytes);
	trace_part_done(&m->part);
	pthread_mutex_destroy(&m->server.lock);
	pthread_cond_destroy(&m->server.changed);
	sem_destroy(&m->server.heavy);
	if (!ok)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	return out ? error_of_stream(err, out) : SONDE_OK;
}

/* Bytes of data so far. */
static uint64_t size_of(picture *m)
{
	fflush(m->stream);
	return m->len;
}

sonde_status picture_write(const sonde_trace *trace, const sonde_picture_options *options, const char *views,
			   picture_fill *fill, const void *context, FILE *out, sonde_error *err)
{
	enum { TRIES = 8, LEAST = 4096 };
	sonde_picture_options o;
	sonde_status status = picture_options(trace, options, &o, err);
	uint64_t max = o.max_bytes;

	o.struct_size = sizeof o;
	for (int i = 0; !status; i++) {
		picture m;
		status = picture_begin(&m, trace, &o, err);
		if (status)
			break;
		status = fill(&m, context, err);
		uint64_t size = size_of(&m);
		bool is_last = status || m.failed || size <= max || i == TRIES || o.max_bytes <= LEAST;
		o.max_bytes = (uint64_t)((double)o.max_bytes * (double)max / (double)(size ? size : 1) * 0.9);
		o.max_bytes = o.max_bytes < LEAST ? LEAST : o.max_bytes;
		sonde_status ended = picture_end(&m, views, is_last && !status ? out : NULL, err);
		if (is_last)
			return status ? status : ended;
	}
	return status;
}

/* ---- What is left out -------------------------------------------------------------------------------------------- */

static void note(picture *m, size_t kept, size_t n, const char *what)
{
	char some[NUMBER_TEXT], all[NUMBER_TEXT];

	if (kept < n)
		picture_note(m, "%s of %s %s.", format_count(some, kept), format_count(all, n), what);
}

void picture_note_part(picture *m)
{
	const trace_part *p = &m->part;
	size_t n_tracks, n_lanes, n_counters, n_steps;

	index_tracks(p->ix, &n_tracks);
	index_lanes(p->ix, &n_lanes);
	index_counters(p->ix, &n_counters);
	index_steps(p->ix, &n_steps);
	note(m, p->n_tracks, n_tracks, "tracks, the busiest");
	note(m, p->n_lanes, n_lanes, "rows of slices");
	note(m, p->n_steps, n_steps, "steps, the longest");
	note(m, p->n_counters, n_counters, "counters, those with the most values");
}
