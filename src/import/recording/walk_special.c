/* Events of a walk that neither begin nor end anything: memory, devices, operations with a duration, flows, names. */
#include "import/recording/walk_state.h"

#include <sonde/record.h>

static void on_memory(walk *w, const event *e, bool is_free)
{
	walk_memory m = { .is_free = is_free, .time_ns = w->now_ns };

	if (e->n_words < (is_free ? 4u : 5u))
		return;
	m.device = (uint32_t)e->words[0];
	m.address = e->words[1];
	m.bytes = e->words[2];
	m.tensor = is_free ? 0 : e->words[3];
	m.current_bytes = e->words[is_free ? 3 : 4];
	m.inside = w->stack.n ? &w->stack.items[w->stack.n - 1] : NULL;
	w->counts.n_memory++;
	if (w->sink->memory)
		w->sink->memory(w->sink->context, &m);
}

/* A duration from outside. */
static int64_t checked_duration(walk *w, int64_t ns)
{
	w->counts.n_clamped += ns < 0;
	return ns < 0 ? 0 : trace_bounded_ns(ns);
}

/* What another clock measured stays, when it was recorded: it cannot have ended later. */
static void keep_inside(walk *w, int64_t *start_ns, int64_t *end_ns)
{
	if (*start_ns >= w->from_ns && *end_ns <= w->to_ns)
		return;
	w->counts.n_outside++;
	*end_ns = w->now_ns;
	if (*start_ns < w->from_ns || *start_ns > w->now_ns)
		*start_ns = w->now_ns;
}

static void on_timed_op(walk *w, const event *e)
{
	if (e->n_words < 3)
		return;
	int64_t start_ns = trace_bounded_ns((int64_t)e->words[1]);
	int64_t end_ns = start_ns + checked_duration(w, (int64_t)e->words[2]);
	keep_inside(w, &start_ns, &end_ns);
	slice s = { .site = walk_site(w, e->words[0]),
		    .thread = w->thread,
		    .start_ns = start_ns,
		    .dur_ns = end_ns - start_ns,
		    .flags = SLICE_ASYNC };
	event none = { .ticks = e->ticks, .code = e->code };
	w->counts.n_slices++;
	if (w->sink->begin)
		w->sink->begin(w->sink->context, &s, &none);
	if (w->sink->end)
		w->sink->end(w->sink->context, &s);
}

static void on_meta(walk *w, const event *e)
{
	const char *key, *value;
	size_t key_len, value_len, pos = 0;

	if (w->sink->meta && event_text(e, &pos, &key, &key_len) && event_text(e, &pos, &value, &value_len))
		w->sink->meta(w->sink->context, key, key_len, value, value_len);
}

static void on_op_meta(walk *w, const event *e)
{
	walk_op_meta m = { .serial = e->n_words ? e->words[0] : 0,
			   .time_ns = w->now_ns,
			   .arg = { .type = SONDE_ARG_STR_ } };
	size_t pos = 1;

	if (w->sink->op_meta && event_text(e, &pos, &m.arg.key, &m.arg.key_len) &&
	    event_text(e, &pos, &m.arg.text, &m.arg.text_len))
		w->sink->op_meta(w->sink->context, &m);
}

static void on_op_value(walk *w, const event *e)
{
	walk_op_meta m = { .time_ns = w->now_ns };
	size_t pos = 3;

	if (!w->sink->op_meta || e->n_words < 4 || (e->words[1] != SONDE_ARG_I64_ && e->words[1] != SONDE_ARG_F64_) ||
	    !event_text(e, &pos, &m.arg.key, &m.arg.key_len))
		return;
	m.serial = e->words[0];
	m.arg.type = (uint8_t)e->words[1];
	m.arg.i64 = (int64_t)e->words[2];
	memcpy(&m.arg.f64, &e->words[2], sizeof m.arg.f64);
	w->sink->op_meta(w->sink->context, &m);
}

/* sonde_instant_args. */
static void on_instant(walk *w, const event *e)
{
	if (!e->n_words)
		return;
	event args = { .ticks = e->ticks, .code = e->code, .n_words = e->n_words - 1, .words = e->words + 1 };
	w->counts.n_instants++;
	if (w->sink->instant)
		w->sink->instant(w->sink->context, walk_site(w, e->words[0]), w->now_ns, &args);
}

static void on_snapshot(walk *w, const event *e)
{
	if (e->n_words < 4)
		return;
	walk_snapshot s = { (uint32_t)e->words[0], w->now_ns, e->words[1], e->words[2], e->words[3] };
	w->counts.n_memory++;
	if (w->sink->snapshot)
		w->sink->snapshot(w->sink->context, &s);
}

static void on_name(walk *w, const event *e, bool process)
{
	const char *name;
	size_t len, pos = 0;

	if (w->sink->named && event_text(e, &pos, &name, &len))
		w->sink->named(w->sink->context, w->thread, name, len, process);
}

static void on_device(walk *w, const event *e)
{
	if (e->n_words < 5)
		return;
	int64_t start_ns = trace_bounded_ns((int64_t)e->words[3]), end_ns = trace_bounded_ns((int64_t)e->words[4]);
	w->counts.n_device++;
	end_ns = start_ns + checked_duration(w, end_ns - start_ns);
	keep_inside(w, &start_ns, &end_ns);
	if (w->sink->device)
		w->sink->device(w->sink->context, walk_site(w, e->words[2]), (uint32_t)e->words[0], e->words[1],
				start_ns, end_ns);
}

void walk_special(walk *w, const event *e, uint32_t id)
{
	const walk_sink *k = w->sink;

	switch (id) {
	case EVENT_ALLOC:
	case EVENT_FREE:
		on_memory(w, e, id == EVENT_FREE);
		break;
	case EVENT_FLOW_BEGIN:
	case EVENT_FLOW_END:
		w->counts.n_flows++;
		if (k->flow && e->n_words >= 2)
			k->flow(k->context, walk_site(w, e->words[0]), w->now_ns, e->words[1], id == EVENT_FLOW_BEGIN);
		break;
	case EVENT_OP_RECORD:
		on_timed_op(w, e);
		break;
	case EVENT_LAUNCH:
		if (k->launch && e->n_words >= 3)
			k->launch(k->context, walk_site(w, e->words[0]), w->now_ns, (uint32_t)e->words[1], e->words[2]);
		break;
	case EVENT_STREAM_SLICE:
		on_device(w, e);
		break;
	case EVENT_META:
		on_meta(w, e);
		break;
	case EVENT_OP_META:
		on_op_meta(w, e);
		break;
	case EVENT_OP_VALUE:
		on_op_value(w, e);
		break;
	case EVENT_INSTANT:
		on_instant(w, e);
		break;
	case EVENT_SNAPSHOT:
		on_snapshot(w, e);
		break;
	case EVENT_THREAD_NAME:
	case EVENT_PROCESS_NAME:
		on_name(w, e, id == EVENT_PROCESS_NAME);
		break;
	case EVENT_STACK:
		if (k->stack)
			k->stack(k->context, e->words, e->n_words);
		break;
	case EVENT_PAUSE:
		if (k->pause && e->n_words)
			k->pause(k->context, w->now_ns, e->words[0] != 0);
		break;
	default:
		break;
	}
}
