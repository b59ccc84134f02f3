/*
 * Chrome's trace format, for Perfetto and chrome://tracing.
 *
 * Scopes are B and E events: nesting is theirs by order. Operations that may end elsewhere or were timed there are
 * async events (b, e), so that they need not nest. What ran on a device's stream is a thread of a process named after
 * the device; slices that overlap there go to further threads of the same name. Times are microseconds with three
 * decimals from the start of the recording: exact nanoseconds.
 */
#include "export/chrome.h"

#include <inttypes.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/json_write.h"
#include "store/walk.h"
#include <sonde/record.h>

/* Process ids of devices, above what Linux gives out. */
enum { DEVICE_PID = 1 << 23, MAX_LANES = 64 };

typedef struct device_slice {
	const trace_site *site;
	int64_t start_ns, end_ns;
	uint64_t launch;
	uint32_t stream; /* stream of the trace */
	uint32_t queue;	 /* id of the queue's name */
	uint32_t lane;
} device_slice;

/* sonde_op_metadata. */
typedef struct op_note {
	const char *key, *value;
	uint32_t next; /* + 1 */
} op_note;

typedef struct chrome {
	const sonde_trace *trace;
	json_writer json;
	const trace_thread *thread;
	uint32_t pid;
	VEC(device_slice) slices;
	intern_table serials;	   /* of operations with notes */
	VEC(uint32_t) first_notes; /* by number in serials: note + 1 */
	VEC(op_note) notes;
	uint64_t n_timed; /* operations that were timed elsewhere */
	arena arena;
	bool failed;
} chrome;

/* ---- Parts of an event ------------------------------------------------------------------------------------------- */

static void begin_event(chrome *c, const char *phase, const char *name, int64_t ns, uint32_t pid, uint32_t tid)
{
	json_writer *w = &c->json;

	json_line(w);
	json_begin_object(w);
	json_key(w, "ph"), json_string(w, phase);
	if (name)
		json_key(w, "name"), json_string(w, name);
	json_key(w, "pid"), json_u64(w, pid);
	json_key(w, "tid"), json_u64(w, tid);
	json_key(w, "ts"), json_us(w, ns - c->trace->start_ns);
}

static void put_category(chrome *c, const trace_site *site)
{
	json_key(&c->json, "cat"), json_string(&c->json, trace_text(c->trace, site->category));
}

static void put_id(chrome *c, uint64_t id)
{
	char text[24];

	snprintf(text, sizeof text, "0x%" PRIx64, id);
	json_key(&c->json, "id"), json_string(&c->json, text);
}

/* Every process counts its operations and launches from 1. */
static uint64_t own_id(uint32_t stream, uint64_t id)
{
	return (uint64_t)stream << 48 ^ id;
}

static void put_arg(void *context, const walk_arg *arg)
{
	json_writer *w = &((chrome *)context)->json;
	char key[256];

	snprintf(key, sizeof key, "%.*s", (int)arg->key_len, arg->key);
	json_key(w, key);
	if (arg->type == SONDE_ARG_I64_) {
		json_i64(w, arg->i64);
	} else if (arg->type == SONDE_ARG_F64_) {
		json_f64(w, arg->f64);
	} else if (arg->type == SONDE_ARG_STR_) {
		json_stringn(w, arg->text, arg->text_len);
	} else if (arg->n_dims == UINT64_MAX) {
		json_null(w);
	} else {
		json_begin_array(w);
		for (uint64_t i = 0; i < arg->n_dims; i++)
			json_i64(w, (int64_t)arg->dims[i]);
		json_end_array(w);
	}
}

static void put_args(chrome *c, const slice *s, const event *e)
{
	json_writer *w = &c->json;
	bool step = s->site->kind == NAME_STEP;

	if (!e->n_words)
		return;
	json_key(w, "args"), json_begin_object(w);
	if (step)
		json_key(w, "step"), json_i64(w, s->number);
	else
		walk_args(s->site, e, put_arg, c);
	json_end_object(w);
}

/* ---- Metadata ---------------------------------------------------------------------------------------------------- */

static void put_label(chrome *c, const char *what, uint32_t pid, uint32_t tid, const char *name, size_t len)
{
	json_writer *w = &c->json;

	json_line(w);
	json_begin_object(w);
	json_key(w, "ph"), json_string(w, "M");
	json_key(w, "name"), json_string(w, what);
	json_key(w, "pid"), json_u64(w, pid);
	json_key(w, "tid"), json_u64(w, tid);
	json_key(w, "args"), json_begin_object(w);
	json_key(w, "name"), json_stringn(w, name, len);
	json_end_object(w);
	json_end_object(w);
}

static void forget_notes(chrome *c)
{
	VEC_DONE(&c->first_notes);
	VEC_DONE(&c->notes);
	intern_done(&c->serials);
	arena_done(&c->arena);
}

static void on_thread(void *context, const trace_thread *thread)
{
	chrome *c = context;
	const stream_block *info = &c->trace->streams.items[thread->stream].info;
	bool first = !c->thread || c->thread->stream != thread->stream;

	c->thread = thread;
	c->pid = info->pid;
	if (first) {
		forget_notes(c); /* serials are those of a process */
		put_label(c, "process_name", c->pid, 0, info->program, strlen(info->program));
	}
	if (*thread->name)
		put_label(c, "thread_name", c->pid, thread->tid, thread->name, strlen(thread->name));
}

static void on_named(void *context, const trace_thread *thread, const char *name, size_t len, bool process)
{
	chrome *c = context;

	put_label(c, process ? "process_name" : "thread_name", c->pid, thread->tid, name, len);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void put_notes(chrome *c, uint64_t serial);

/* One that was timed elsewhere has no number of its own; its end follows its begin. */
static void put_async_id(chrome *c, const slice *s)
{
	put_id(c, own_id(s->thread->stream, s->serial ? s->serial : UINT64_C(1) << 47 | c->n_timed));
}

static void on_begin(void *context, slice *s, const event *e)
{
	chrome *c = context;
	const char *name = trace_text(c->trace, s->site->name);

	c->n_timed += s->flags & SLICE_ASYNC && !s->serial;
	begin_event(c, s->flags & SLICE_ASYNC ? "b" : "B", name, s->start_ns, c->pid, s->thread->tid);
	if (s->flags & SLICE_ASYNC)
		put_async_id(c, s);
	put_category(c, s->site);
	put_args(c, s, e);
	json_end_object(&c->json);
}

static void on_end(void *context, slice *s)
{
	chrome *c = context;
	uint32_t pid = c->trace->streams.items[s->thread->stream].info.pid;
	const char *why = s->flags & SLICE_OPEN	      ? "open at the end"
			  : s->flags & SLICE_REPAIRED ? "no end recorded"
						      : NULL;

	begin_event(c, s->flags & SLICE_ASYNC ? "e" : "E", trace_text(c->trace, s->site->name), s->start_ns + s->dur_ns,
		    pid, s->thread->tid);
	if (s->flags & SLICE_ASYNC)
		put_async_id(c, s);
	put_category(c, s->site);
	if (why || (s->serial && c->notes.n)) {
		json_key(&c->json, "args"), json_begin_object(&c->json);
		if (why)
			json_key(&c->json, "sonde"), json_string(&c->json, why);
		put_notes(c, s->serial);
		json_end_object(&c->json);
	}
	json_end_object(&c->json);
}

static void on_instant(void *context, const trace_site *site, int64_t ns)
{
	chrome *c = context;

	begin_event(c, "i", trace_text(c->trace, site->name), ns, c->pid, c->thread->tid);
	put_category(c, site);
	json_key(&c->json, "s"), json_string(&c->json, "t");
	json_end_object(&c->json);
}

static void put_counter(chrome *c, const char *name, int64_t ns, double value)
{
	begin_event(c, "C", name, ns, c->pid, 0);
	json_key(&c->json, "args"), json_begin_object(&c->json);
	json_key(&c->json, "value"), json_f64(&c->json, value);
	json_end_object(&c->json);
	json_end_object(&c->json);
}

static void on_counter(void *context, const trace_site *site, int64_t ns, double value)
{
	chrome *c = context;

	put_counter(c, trace_text(c->trace, site->name), ns, value);
}

static void on_memory(void *context, const walk_memory *m)
{
	chrome *c = context;
	char buffer[32], name[300];

	snprintf(name, sizeof name, "memory %s bytes",
		 trace_device_name(c->trace, c->thread->stream, m->device, buffer, sizeof buffer));
	put_counter(c, name, m->time_ns, (double)m->current_bytes);
}

static void on_snapshot(void *context, const walk_snapshot *m)
{
	chrome *c = context;
	json_writer *w = &c->json;
	char buffer[32];

	begin_event(c, "i", "memory snapshot", m->time_ns, c->pid, c->thread->tid);
	json_key(w, "s"), json_string(w, "p");
	json_key(w, "args"), json_begin_object(w);
	json_key(w, "device"),
		json_string(w, trace_device_name(c->trace, c->thread->stream, m->device, buffer, sizeof buffer));
	json_key(w, "current_bytes"), json_u64(w, m->current_bytes);
	json_key(w, "peak_bytes"), json_u64(w, m->peak_bytes);
	json_key(w, "n_live"), json_u64(w, m->n_live);
	json_end_object(w);
	json_end_object(w);
}

/* Notes on an operation wait for its end, which may come from another thread. */
static void on_op_meta(void *context, const walk_op_meta *m)
{
	chrome *c = context;
	uint32_t number = intern(&c->serials, (const char *)&m->serial, sizeof m->serial);
	bool is_new = number == c->first_notes.n;
	uint32_t *first = number == INTERN_NONE ? NULL
			  : is_new		? VEC_ADD(&c->first_notes)
						: &c->first_notes.items[number];
	op_note *note = first ? VEC_ADD(&c->notes) : NULL;

	if (note)
		*note = (op_note){ .key = arena_strndup(&c->arena, m->key, m->key_len),
				   .value = arena_strndup(&c->arena, m->value, m->value_len),
				   .next = is_new ? 0 : *first };
	if (!note || !note->key || !note->value)
		c->failed = true;
	else
		*first = (uint32_t)c->notes.n;
}

static void put_notes(chrome *c, uint64_t serial)
{
	uint32_t number =
		c->notes.n && serial ? intern(&c->serials, (const char *)&serial, sizeof serial) : INTERN_NONE;

	if (number < c->first_notes.n) {
		for (uint32_t i = c->first_notes.items[number]; i && !c->failed; i = c->notes.items[i - 1].next) {
			json_key(&c->json, c->notes.items[i - 1].key);
			json_string(&c->json, c->notes.items[i - 1].value);
		}
		c->first_notes.items[number] = 0; /* said once, however many ends a stranger wrote */
	} else if (number != INTERN_NONE && number == c->first_notes.n)
		c->failed |= !VEC_ADD(&c->first_notes); /* just made by looking: keep the two in step */
}

static void put_flow(chrome *c, const char *name, int64_t ns, uint32_t pid, uint32_t tid, uint64_t id, bool begins)
{
	begin_event(c, begins ? "s" : "f", name, ns, pid, tid);
	json_key(&c->json, "cat"), json_string(&c->json, "flow");
	put_id(c, id);
	if (!begins)
		json_key(&c->json, "bp"), json_string(&c->json, "e");
	json_end_object(&c->json);
}

static void on_flow(void *context, const trace_site *site, int64_t ns, uint64_t id, bool begins)
{
	chrome *c = context;

	/* Ids of different names must not meet; those of launches are small. */
	put_flow(c, trace_text(c->trace, site->name), ns, c->pid, c->thread->tid, id ^ (uint64_t)(site->name + 1) << 40,
		 begins);
}

static void on_launch(void *context, const trace_site *site, int64_t ns, uint32_t queue, uint64_t id)
{
	chrome *c = context;

	(void)queue;
	/* An arrow starts at a slice: one nanosecond of it. */
	begin_event(c, "X", trace_text(c->trace, site->name), ns, c->pid, c->thread->tid);
	json_key(&c->json, "dur"), json_us(&c->json, 1);
	json_key(&c->json, "cat"), json_string(&c->json, "launch");
	json_end_object(&c->json);
	put_flow(c, "launch", ns, c->pid, c->thread->tid, own_id(c->thread->stream, id), true);
}

static void on_device(void *context, const trace_site *site, uint32_t queue, uint64_t launch, int64_t start_ns,
		      int64_t end_ns)
{
	chrome *c = context;
	device_slice *s = VEC_ADD(&c->slices);

	if (s)
		*s = (device_slice){ site, start_ns, end_ns, launch, c->thread->stream, queue, 0 };
	c->failed |= !s;
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static int compare_slices(const void *a, const void *b)
{
	const device_slice *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->queue != y->queue)
		return x->queue < y->queue ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

/* The first lane that is free when the slice begins; the last one when none is. */
static uint32_t choose_lane(int64_t *free_from, const device_slice *s)
{
	uint32_t lane = 0;

	while (lane < MAX_LANES - 1 && free_from[lane] > s->start_ns)
		lane++;
	free_from[lane] = s->end_ns;
	return lane;
}

static void name_queue(chrome *c, const device_slice *s, uint32_t pid, uint32_t tid)
{
	const trace_stream *stream = &c->trace->streams.items[s->stream];
	const trace_site *queue = trace_site_of(stream, s->queue);
	bool known = queue && queue->kind == NAME_STREAM;
	char buffer[32];
	const char *device =
		known ? trace_device_name(c->trace, s->stream, queue->record->category, buffer, sizeof buffer)
		      : "device";
	const char *name = known ? trace_text(c->trace, queue->name) : "stream";

	put_label(c, "process_name", pid, 0, device, strlen(device));
	put_label(c, "thread_name", pid, tid, name, strlen(name));
}

static uint32_t device_pid(const chrome *c, const device_slice *s)
{
	const trace_site *queue = trace_site_of(&c->trace->streams.items[s->stream], s->queue);

	return DEVICE_PID + s->stream * 65536 + (queue ? queue->record->category : 0u);
}

static void put_devices(chrome *c)
{
	int64_t free_from[MAX_LANES];
	const device_slice *last = NULL;
	uint32_t n_named = 0;

	if (c->slices.n)
		qsort(c->slices.items, c->slices.n, sizeof c->slices.items[0], compare_slices);
	for (size_t i = 0; i < c->slices.n; i++) {
		const device_slice *s = &c->slices.items[i];
		uint32_t pid = device_pid(c, s);
		if (!last || last->stream != s->stream || last->queue != s->queue) {
			for (int k = 0; k < MAX_LANES; k++)
				free_from[k] = INT64_MIN;
			n_named = 0;
		}
		uint32_t lane = choose_lane(free_from, s), tid = s->queue * MAX_LANES + lane;
		for (; n_named <= lane; n_named++)
			name_queue(c, s, pid, s->queue * MAX_LANES + n_named);
		begin_event(c, "X", trace_text(c->trace, s->site->name), s->start_ns, pid, tid);
		json_key(&c->json, "dur"), json_us(&c->json, s->end_ns - s->start_ns);
		put_category(c, s->site);
		json_end_object(&c->json);
		if (s->launch)
			put_flow(c, "launch", s->start_ns, pid, tid, own_id(s->stream, s->launch), false);
		last = s;
	}
}

/* ---- Process counters -------------------------------------------------------------------------------------------- */

static void put_samples(chrome *c)
{
	for (size_t i = 0; i < c->trace->processes.n; i++) {
		const trace_process *p = &c->trace->processes.items[i];
		put_label(c, "process_name", (uint32_t)p->pid, 0, p->command, strlen(p->command));
	}
	for (size_t i = 0; i < c->trace->samples.n; i++) {
		const process_sample *s = &c->trace->samples.items[i];
		c->pid = (uint32_t)s->pid;
		put_counter(c, "rss bytes", s->time_ns, (double)s->rss_bytes);
		put_counter(c, "cpu time ns", s->time_ns, (double)(s->user_ns + s->system_ns));
		put_counter(c, "threads", s->time_ns, s->n_threads);
		put_counter(c, "page faults", s->time_ns, (double)(s->minor_faults + s->major_faults));
		if (s->read_bytes == UINT64_MAX)
			continue;
		put_counter(c, "read bytes", s->time_ns, (double)s->read_bytes);
		put_counter(c, "written bytes", s->time_ns, (double)s->write_bytes);
	}
}

static sonde_status chrome_run(const sonde_trace *trace, FILE *out, sonde_error *err)
{
	chrome c = { .trace = trace, .json = json_to(out) };
	const walk_sink sink = {
		.context = &c,
		.thread = on_thread,
		.named = on_named,
		.begin = on_begin,
		.end = on_end,
		.instant = on_instant,
		.counter = on_counter,
		.flow = on_flow,
		.memory = on_memory,
		.snapshot = on_snapshot,
		.op_meta = on_op_meta,
		.launch = on_launch,
		.device = on_device,
	};
	walk_counts counts;

	if (trace_is_imported(trace))
		return chrome_export_imported(trace, out, err);
	json_begin_object(&c.json);
	json_key(&c.json, "displayTimeUnit"), json_string(&c.json, "ns");
	json_key(&c.json, "traceEvents"), json_begin_array(&c.json);
	put_samples(&c);
	sonde_status status = trace_walk(trace, &sink, &counts, err);
	put_devices(&c);
	json_end_array(&c.json);
	json_end_object(&c.json);
	fputc('\n', out);
	if (!status && c.failed)
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (!status && (!json_ok(&c.json) || fflush(out) != 0))
		status = error_set(err, SONDE_E_IO, -1, "cannot write the export");
	forget_notes(&c);
	VEC_DONE(&c.slices);
	return status;
}

const exporter chrome_exporter = {
	.name = "chrome",
	.summary = "Chrome trace JSON, for Perfetto and chrome://tracing",
	.run = chrome_run,
};
