/*
 * <sonde/events.h>: the walk (walk.h) pushes events, an iterator is asked for them. So a block is walked at a time, and
 * what comes out of it waits in a queue: at most some thousand events, whatever the size of the recording.
 *
 * The arguments of a slice are copied when it begins and belong to its queue entry when it ends.
 */
#include <sonde/events.h>

#include "base/error.h"
#include "import/recording/trace.h"
#include "import/recording/walk_state.h"
#include <sonde/record.h>

/* Arguments in one piece: n of them, then dimensions, then texts. */
typedef struct packed_args {
	size_t n;
	sonde_event_arg items[];
} packed_args;

typedef struct queued_event {
	sonde_event event;
	packed_args *args; /* or NULL */
	char *text;	   /* that the event points to, or NULL */
} queued_event;

struct sonde_events {
	sonde_trace *held;
	const recording *trace; /* of that */
	walk walk;
	walk_sink sink;
	size_t thread, block; /* the next one */
	bool is_entered;      /* the thread */
	const char **names;   /* by thread: what the program called it, or NULL */
	arena texts;	      /* of names */
	VEC(queued_event) queue;
	size_t n_taken;
	bool failed;
};

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

typedef struct arg_size {
	size_t n, n_dims, n_chars;
} arg_size;

typedef struct arg_place {
	sonde_event_arg *item;
	int64_t *dims;
	char *text;
} arg_place;

static size_t dims_of(const walk_arg *arg)
{
	return arg->type == SONDE_ARG_SHAPE_ && arg->n_dims != UINT64_MAX ? (size_t)arg->n_dims : 0;
}

static void measure_arg(void *context, const walk_arg *arg)
{
	arg_size *size = context;

	size->n++;
	size->n_dims += dims_of(arg);
	size->n_chars += arg->key_len + 1 + arg->text_len + 1;
}

static const char *place_text(arg_place *place, const char *text, size_t len)
{
	char *copy = place->text;

	if (len)
		memcpy(copy, text, len);
	copy[len] = 0;
	place->text += len + 1;
	return copy;
}

static void place_arg(void *context, const walk_arg *arg)
{
	arg_place *place = context;
	size_t n_dims = dims_of(arg);

	*place->item++ = (sonde_event_arg){ .key = place_text(place, arg->key, arg->key_len),
					    .type = (sonde_event_arg_type)arg->type,
					    .is_recorded = arg->type != SONDE_ARG_SHAPE_ || arg->n_dims != UINT64_MAX,
					    .i64 = arg->type == SONDE_ARG_I64_ ? arg->i64 : 0,
					    .f64 = arg->type == SONDE_ARG_F64_ ? arg->f64 : 0,
					    .string = place_text(place, arg->text, arg->text_len),
					    .dims = place->dims,
					    .n_dims = n_dims };
	if (n_dims)
		memcpy(place->dims, arg->dims, n_dims * sizeof *place->dims);
	place->dims += n_dims;
}

static packed_args *new_args(sonde_events *x, const arg_size *size, arg_place *ret_place)
{
	size_t items = size->n * sizeof(sonde_event_arg), dims = size->n_dims * sizeof(int64_t);
	packed_args *args = malloc(sizeof *args + items + dims + size->n_chars);

	x->failed |= !args;
	if (!args)
		return NULL;
	args->n = size->n;
	*ret_place = (arg_place){ .item = args->items,
				  .dims = (int64_t *)(void *)((char *)args->items + items),
				  .text = (char *)args->items + items + dims };
	return args;
}

static packed_args *pack_args(sonde_events *x, const trace_site *site, const event *e)
{
	arg_size size = { 0 };
	arg_place place;

	if (!e->n_words || site->kind == NAME_STEP)
		return NULL;
	walk_args(site, e, measure_arg, &size);
	packed_args *args = size.n ? new_args(x, &size, &place) : NULL;
	if (args)
		walk_args(site, e, place_arg, &place);
	return args;
}

static packed_args *pack_arg(sonde_events *x, const walk_arg *arg)
{
	arg_size size = { 0 };
	arg_place place;

	measure_arg(&size, arg);
	packed_args *args = new_args(x, &size, &place);
	if (args)
		place_arg(&place, arg);
	return args;
}

/* ---- The queue --------------------------------------------------------------------------------------------------- */

/* The thread is where things happen now, but for operations that have ended elsewhere. NULL when out of memory. */
static queued_event *add_on(sonde_events *x, sonde_event_kind kind, const trace_site *site, int64_t time_ns,
			    const trace_thread *thread)
{
	queued_event *q = VEC_ADD(&x->queue);
	size_t number = (size_t)(thread - x->trace->threads.items);

	x->failed |= !q;
	if (!q)
		return NULL;
	*q = (queued_event){ .event = { .kind = kind,
					.name = site ? recording_text(x->trace, site->name) : "",
					.category = site ? recording_text(x->trace, site->category) : "",
					.time_ns = time_ns - x->trace->start_ns,
					.pid = (int32_t)x->trace->streams.items[thread->stream].info.pid,
					.tid = (int32_t)thread->tid,
					.thread = x->names[number] ? x->names[number] : thread->name,
					.device = "",
					.stream = "" } };
	return q;
}

static queued_event *add(sonde_events *x, sonde_event_kind kind, const trace_site *site, int64_t time_ns)
{
	return add_on(x, kind, site, time_ns, x->walk.thread);
}

static void give_args(queued_event *q, packed_args *args)
{
	q->args = args;
	q->event.args = args ? args->items : NULL;
	q->event.n_args = args ? args->n : 0;
}

static void set_device(sonde_events *x, queued_event *q, uint32_t device)
{
	char buffer[32];
	const char *name = recording_device_name(x->trace, x->walk.thread->stream, device, buffer, sizeof buffer);

	if (name == buffer) {
		q->text = strdup(buffer);
		x->failed |= !q->text;
		name = q->text ? q->text : "";
	}
	q->event.device = name;
}

static void set_stream(sonde_events *x, queued_event *q, uint32_t id)
{
	const trace_site *stream = recording_site_of(x->walk.stream, id);

	if (!stream || stream->kind != NAME_STREAM)
		return;
	q->event.stream = recording_text(x->trace, stream->name);
	set_device(x, q, stream->record->category);
}

/* ---- What the walk finds ----------------------------------------------------------------------------------------- */

static sonde_event_kind kind_of(const trace_site *site)
{
	switch (site->kind) {
	case NAME_PHASE:
		return SONDE_EVENT_PHASE;
	case NAME_STEP:
		return SONDE_EVENT_STEP;
	case NAME_MODULE:
		return SONDE_EVENT_MODULE;
	case NAME_OP:
		return SONDE_EVENT_OP;
	default:
		return SONDE_EVENT_SCOPE;
	}
}

static void on_begin(void *context, slice *s, const event *e)
{
	s->user = pack_args(context, s->site, e);
}

static void on_end(void *context, slice *s)
{
	queued_event *q = add_on(context, kind_of(s->site), s->site, s->start_ns, s->thread);

	if (!q) {
		free(s->user);
		return;
	}
	q->event.dur_ns = s->dur_ns;
	q->event.depth = s->depth;
	q->event.is_open = s->flags & SLICE_OPEN;
	q->event.is_repaired = s->flags & SLICE_REPAIRED;
	q->event.is_asynchronous = s->flags & SLICE_ASYNC;
	q->event.number = s->number;
	q->event.id = s->serial;
	give_args(q, s->user);
}

static void on_instant(void *context, const trace_site *site, int64_t time_ns, const event *e)
{
	queued_event *q = add(context, SONDE_EVENT_INSTANT, site, time_ns);

	if (q)
		give_args(q, pack_args(context, site, e));
}

static void on_counter(void *context, const trace_site *site, int64_t time_ns, double value)
{
	queued_event *q = add(context, SONDE_EVENT_COUNTER, site, time_ns);

	if (q)
		q->event.value = value;
}

static void on_flow(void *context, const trace_site *site, int64_t time_ns, uint64_t id, bool begins)
{
	queued_event *q = add(context, begins ? SONDE_EVENT_FLOW_BEGIN : SONDE_EVENT_FLOW_END, site, time_ns);

	if (q)
		q->event.id = id;
}

static void on_memory(void *context, const walk_memory *m)
{
	queued_event *q = add(context, m->is_free ? SONDE_EVENT_FREE : SONDE_EVENT_ALLOC, NULL, m->time_ns);

	if (!q)
		return;
	q->event.id = m->address;
	q->event.bytes = m->bytes <= INT64_MAX ? (int64_t)m->bytes : m->bytes == UINT64_MAX ? -1 : INT64_MAX;
	q->event.value = (double)m->current_bytes;
	set_device(context, q, m->device);
}

static void on_launch(void *context, const trace_site *site, int64_t time_ns, uint32_t stream, uint64_t id)
{
	queued_event *q = add(context, SONDE_EVENT_LAUNCH, site, time_ns);

	if (!q)
		return;
	q->event.id = id;
	set_stream(context, q, stream);
}

/* Facts about the work, and its stack as a list of addresses. */
static void each_device_arg(const walk_device *d, void (*each)(void *context, const walk_arg *arg), void *context)
{
	walk_device_args(d, each, context);
	if (d->n_stack)
		each(context, &(walk_arg){ .key = "stack",
					   .key_len = 5,
					   .type = SONDE_ARG_SHAPE_,
					   .dims = d->stack,
					   .n_dims = d->n_stack });
}

static packed_args *pack_device_args(sonde_events *x, const walk_device *d)
{
	arg_size size = { 0 };
	arg_place place;

	each_device_arg(d, measure_arg, &size);
	packed_args *args = size.n ? new_args(x, &size, &place) : NULL;
	if (args)
		each_device_arg(d, place_arg, &place);
	return args;
}

static void on_device(void *context, const walk_device *d)
{
	queued_event *q = add(context, SONDE_EVENT_DEVICE, d->site, d->start_ns);

	if (!q)
		return;
	q->event.dur_ns = d->end_ns - d->start_ns;
	q->event.id = d->launch;
	give_args(q, pack_device_args(context, d));
	set_stream(context, q, d->stream);
}

/* The argument has the key, and the event that as its name. */
static void add_metadata(sonde_events *x, int64_t time_ns, uint64_t serial, const walk_arg *arg)
{
	queued_event *q = add(x, SONDE_EVENT_METADATA, NULL, time_ns);
	packed_args *args = q ? pack_arg(x, arg) : NULL;

	if (!args)
		return;
	q->event.id = serial;
	q->event.name = args->items[0].key;
	give_args(q, args);
}

static void on_op_meta(void *context, const walk_op_meta *m)
{
	add_metadata(context, m->time_ns, m->serial, &m->arg);
}

static void on_meta(void *context, const char *key, size_t key_len, const char *value, size_t value_len)
{
	sonde_events *x = context;
	walk_arg arg = { .key = key, .key_len = key_len, .type = SONDE_ARG_STR_, .text = value, .text_len = value_len };

	add_metadata(x, x->walk.now_ns, 0, &arg);
}

/* From here on the thread has this name. */
static void on_named(void *context, const trace_thread *thread, const char *name, size_t len, bool process)
{
	sonde_events *x = context;
	const char *copy = process ? NULL : arena_strndup(&x->texts, name, len);

	if (copy)
		x->names[thread - x->trace->threads.items] = copy;
	x->failed |= !copy && !process;
}

/* ---- The iterator ------------------------------------------------------------------------------------------------ */

static void release(queued_event *q)
{
	free(q->args);
	free(q->text);
}

static void clear_queue(sonde_events *x)
{
	for (size_t i = 0; i < x->queue.n; i++)
		release(&x->queue.items[i]);
	x->queue.n = x->n_taken = 0;
}

/* One block, or the end of a thread. False after the last. */
static bool walk_on(sonde_events *x)
{
	const recording *t = x->trace;

	if (x->thread == t->threads.n || x->failed || x->walk.failed)
		return false;
	const trace_thread *thread = &t->threads.items[x->thread];
	if (!x->is_entered) {
		walk_enter(&x->walk, thread);
		x->is_entered = true;
		x->block = 0;
	}
	if (x->block < thread->n_blocks) {
		walk_block(&x->walk, &t->blocks.items[thread->first_block + x->block++], 0);
		return true;
	}
	walk_close(&x->walk);
	if (x->thread + 1 == t->threads.n || thread[1].stream != thread->stream)
		walk_finish_pending(&x->walk, true);
	x->thread++;
	x->is_entered = false;
	return true;
}

sonde_status sonde_events_open(const sonde_trace *trace, sonde_events **ret_events, sonde_error *err)
{
	const recording *from = trace_recording(trace);

	*ret_events = NULL;
	if (!from)
		return error_set(err, SONDE_E_UNSUPPORTED, -1,
				 "the trace is not a recording of Sonde; <sonde/query.h> reads its events");
	sonde_events *x = calloc(1, sizeof *x);
	const char **names = calloc(from->threads.n + 1, sizeof *names);
	if (!x || !names) {
		free(x);
		free(names);
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	}
	x->held = trace_hold(trace);
	x->trace = from;
	x->names = names;
	x->sink = (walk_sink){ .context = x,
			       .named = on_named,
			       .begin = on_begin,
			       .end = on_end,
			       .instant = on_instant,
			       .counter = on_counter,
			       .flow = on_flow,
			       .memory = on_memory,
			       .launch = on_launch,
			       .device = on_device,
			       .op_meta = on_op_meta,
			       .meta = on_meta };
	x->walk.trace = from;
	x->walk.sink = &x->sink;
	*ret_events = x;
	return SONDE_OK;
}

const sonde_event *sonde_events_next(sonde_events *x)
{
	while (x->n_taken == x->queue.n) {
		clear_queue(x);
		if (!walk_on(x) && !x->queue.n)
			return NULL;
	}
	return &x->queue.items[x->n_taken++].event;
}

static void free_open(slice_list *slices)
{
	for (size_t i = 0; i < slices->n; i++)
		free(slices->items[i].user);
	VEC_DONE(slices);
}

sonde_status sonde_events_close(sonde_events *x, sonde_error *err)
{
	if (!x)
		return SONDE_OK;
	bool failed = x->failed || x->walk.failed;
	clear_queue(x);
	VEC_DONE(&x->queue);
	free_open(&x->walk.stack);
	free_open(&x->walk.apart.pending);
	walk_apart_done(&x->walk.apart);
	free(x->walk.n_open);
	free(x->names);
	arena_done(&x->texts);
	bool is_broken = trace_is_broken(x->held);
	sonde_trace_free(x->held);
	free(x);
	if (is_broken)
		return error_set(err, SONDE_E_IO, -1, "the file was cut off while it was read: events are missing");
	return failed ? error_set(err, SONDE_E_MEMORY, -1, "out of memory: events are missing") : SONDE_OK;
}
