/* Events of a walk that neither begin nor end anything: memory, devices, operations with a duration, flows, names. */
#include "import/recording/walk_state.h"

#include <sonde/record.h>

static void give_memory(walk *w, walk_memory *m)
{
	m->time_ns = w->now_ns;
	m->inside = w->stack.n ? &w->stack.items[w->stack.n - 1] : NULL;
	w->counts.n_memory++;
	if (w->sink->memory)
		w->sink->memory(w->sink->context, m);
}

static void on_alloc(walk *w, payload_reader r)
{
	payload_alloc p;

	if (payload_get_alloc(&r, &p))
		give_memory(w, &(walk_memory){ .device = (uint32_t)p.device,
					       .address = p.address,
					       .bytes = p.bytes,
					       .tensor = p.tensor_id,
					       .current_bytes = p.current_bytes });
}

static void on_free(walk *w, payload_reader r)
{
	payload_free p;

	if (payload_get_free(&r, &p))
		give_memory(w, &(walk_memory){ .device = (uint32_t)p.device,
					       .is_free = true,
					       .address = p.address,
					       .bytes = p.bytes,
					       .current_bytes = p.current_bytes });
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

static void on_timed_op(walk *w, const event *e, payload_reader r)
{
	payload_op_record p;

	if (!payload_get_op_record(&r, &p))
		return;
	int64_t start_ns = trace_bounded_ns(p.start_ns), end_ns = start_ns + checked_duration(w, p.dur_ns);
	keep_inside(w, &start_ns, &end_ns);
	slice s = { .site = walk_site(w, p.name_id),
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

static void on_meta(walk *w, payload_reader r)
{
	payload_meta p;

	if (w->sink->meta && payload_get_meta(&r, &p))
		w->sink->meta(w->sink->context, p.key.ptr, p.key.len, p.value.ptr, p.value.len);
}

static void on_op_meta(walk *w, payload_reader r)
{
	payload_op_meta p;

	if (w->sink->op_meta && payload_get_op_meta(&r, &p))
		w->sink->op_meta(w->sink->context, &(walk_op_meta){ .serial = p.serial,
								    .time_ns = w->now_ns,
								    .arg = { .key = p.key.ptr,
									     .key_len = p.key.len,
									     .type = SONDE_ARG_STR_,
									     .text = p.value.ptr,
									     .text_len = p.value.len } });
}

static void on_op_value(walk *w, payload_reader r)
{
	payload_op_value p;

	if (!w->sink->op_meta || !payload_get_op_value(&r, &p) ||
	    (p.type != SONDE_ARG_I64_ && p.type != SONDE_ARG_F64_))
		return;
	walk_op_meta m = {
		.serial = p.serial,
		.time_ns = w->now_ns,
		.arg = { .key = p.key.ptr, .key_len = p.key.len, .type = (uint8_t)p.type, .i64 = (int64_t)p.bits }
	};
	memcpy(&m.arg.f64, &p.bits, sizeof m.arg.f64);
	w->sink->op_meta(w->sink->context, &m);
}

/* sonde_instant_args. */
static void on_instant(walk *w, const event *e, payload_reader r)
{
	payload_instant p;

	if (!payload_get_instant(&r, &p))
		return;
	event args = payload_rest(&r, e);
	w->counts.n_instants++;
	if (w->sink->instant)
		w->sink->instant(w->sink->context, walk_site(w, p.name_id), w->now_ns, &args);
}

static void on_snapshot(walk *w, payload_reader r)
{
	payload_snapshot p;

	if (!payload_get_snapshot(&r, &p))
		return;
	walk_snapshot s = { (uint32_t)p.device, w->now_ns, p.current_bytes, p.peak_bytes, p.n_live };
	w->counts.n_memory++;
	if (w->sink->snapshot)
		w->sink->snapshot(w->sink->context, &s);
}

static void on_thread_name(walk *w, payload_reader r)
{
	payload_thread_name p;

	if (w->sink->named && payload_get_thread_name(&r, &p))
		w->sink->named(w->sink->context, w->thread, p.name.ptr, p.name.len, false);
}

static void on_process_name(walk *w, payload_reader r)
{
	payload_process_name p;

	if (w->sink->named && payload_get_process_name(&r, &p))
		w->sink->named(w->sink->context, w->thread, p.name.ptr, p.name.len, true);
}

static void on_flow_begin(walk *w, payload_reader r)
{
	payload_flow_begin p;

	w->counts.n_flows++;
	if (w->sink->flow && payload_get_flow_begin(&r, &p))
		w->sink->flow(w->sink->context, walk_site(w, p.name_id), w->now_ns, p.flow_id, true);
}

static void on_flow_end(walk *w, payload_reader r)
{
	payload_flow_end p;

	w->counts.n_flows++;
	if (w->sink->flow && payload_get_flow_end(&r, &p))
		w->sink->flow(w->sink->context, walk_site(w, p.name_id), w->now_ns, p.flow_id, false);
}

static void on_launch(walk *w, payload_reader r)
{
	payload_launch p;

	if (w->sink->launch && payload_get_launch(&r, &p))
		w->sink->launch(w->sink->context, walk_site(w, p.name_id), w->now_ns, (uint32_t)p.stream_id,
				p.launch_id);
}

static void give_device(walk *w, walk_device *d)
{
	w->counts.n_device++;
	d->start_ns = trace_bounded_ns(d->start_ns);
	d->end_ns = d->start_ns + checked_duration(w, trace_bounded_ns(d->end_ns) - d->start_ns);
	keep_inside(w, &d->start_ns, &d->end_ns);
	if (w->sink->device)
		w->sink->device(w->sink->context, d);
}

static void on_stream_slice(walk *w, payload_reader r)
{
	payload_stream_slice p;

	if (payload_get_stream_slice(&r, &p))
		give_device(w, &(walk_device){ .site = walk_site(w, p.name_id),
					       .stream = (uint32_t)p.stream_id,
					       .launch = p.launch_id,
					       .start_ns = p.start_ns,
					       .end_ns = p.end_ns });
}

/* The place of a stack, known or not; NULL when out of memory. */
static walk_stack *stack_of(walk *w, uint64_t id)
{
	walk_stacks *s = &w->apart.stacks;
	uint32_t number = intern(&s->ids, (const char *)&id, sizeof id);
	walk_stack *place = number == INTERN_NONE   ? NULL
			    : number == s->places.n ? VEC_ADD(&s->places)
						    : &s->places.items[number];

	w->failed |= !place;
	return place;
}

static void on_stack_of_id(walk *w, payload_reader r)
{
	walk_stacks *s = &w->apart.stacks;
	payload_stack_of_id p;
	walk_stack *place = payload_get_stack_of_id(&r, &p) ? stack_of(w, p.stack_id) : NULL;

	if (!place || place->n)
		return;
	place->first = s->addresses.n;
	for (; payload_left(&r); place->n++) {
		uint64_t *address = VEC_ADD(&s->addresses);
		w->failed |= !address;
		if (!address)
			return;
		*address = *r.at++;
	}
}

static void on_device_slice(walk *w, payload_reader r)
{
	payload_device_slice p;

	if (!payload_get_device_slice(&r, &p))
		return;
	const walk_stack *stack = p.stack_id ? stack_of(w, p.stack_id) : NULL;
	bool has_stack = stack && stack->n;
	give_device(w, &(walk_device){ .site = walk_site(w, p.name_id),
				       .stream = (uint32_t)p.stream_id,
				       .launch = p.launch_id,
				       .start_ns = p.start_ns,
				       .end_ns = p.end_ns,
				       .kind = p.kind,
				       .bytes = p.bytes,
				       .grid = { p.grid_x, p.grid_y, p.grid_z },
				       .block = { p.block_x, p.block_y, p.block_z },
				       .stack = has_stack ? &w->apart.stacks.addresses.items[stack->first] : NULL,
				       .n_stack = has_stack ? stack->n : 0 });
}

static void on_gauge(walk *w, payload_reader r)
{
	payload_gauge p;

	if (!payload_get_gauge(&r, &p))
		return;
	int64_t start_ns = trace_bounded_ns(p.time_ns), end_ns = start_ns;
	keep_inside(w, &start_ns, &end_ns);
	w->counts.n_counters++;
	if (w->sink->counter)
		w->sink->counter(w->sink->context, walk_site(w, p.name_id), start_ns, p.value);
}

static void on_pause(walk *w, payload_reader r)
{
	payload_pause p;

	if (w->sink->pause && payload_get_pause(&r, &p))
		w->sink->pause(w->sink->context, w->now_ns, p.is_paused != 0);
}

void walk_special(walk *w, const event *e, uint32_t id)
{
	payload_reader r = payload_of(e);

	switch (id) {
	case EVENT_ALLOC:
		on_alloc(w, r);
		break;
	case EVENT_FREE:
		on_free(w, r);
		break;
	case EVENT_FLOW_BEGIN:
		on_flow_begin(w, r);
		break;
	case EVENT_FLOW_END:
		on_flow_end(w, r);
		break;
	case EVENT_OP_RECORD:
		on_timed_op(w, e, r);
		break;
	case EVENT_LAUNCH:
		on_launch(w, r);
		break;
	case EVENT_STREAM_SLICE:
		on_stream_slice(w, r);
		break;
	case EVENT_STACK_OF_ID:
		on_stack_of_id(w, r);
		break;
	case EVENT_DEVICE_SLICE:
		on_device_slice(w, r);
		break;
	case EVENT_GAUGE:
		on_gauge(w, r);
		break;
	case EVENT_META:
		on_meta(w, r);
		break;
	case EVENT_OP_META:
		on_op_meta(w, r);
		break;
	case EVENT_OP_VALUE:
		on_op_value(w, r);
		break;
	case EVENT_INSTANT:
		on_instant(w, e, r);
		break;
	case EVENT_SNAPSHOT:
		on_snapshot(w, r);
		break;
	case EVENT_THREAD_NAME:
		on_thread_name(w, r);
		break;
	case EVENT_PROCESS_NAME:
		on_process_name(w, r);
		break;
	case EVENT_STACK:
		if (w->sink->stack)
			w->sink->stack(w->sink->context, e->words, e->n_words);
		break;
	case EVENT_PAUSE:
		on_pause(w, r);
		break;
	default:
		break;
	}
}
