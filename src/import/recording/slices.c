/*
 * Slices of a recording on their way into lanes. See recording/feed.h.
 *
 * Scopes nest and end in order. An operation may leave from the middle of the stack, and what lies inside it is then
 * one less deep. So slices that end while an operation is open are held back until it is known how it ended; at most
 * MAX_HELD, then the operations that are open count as not nesting.
 */
#include <inttypes.h>
#include <stdio.h>
#include "import/recording/feed.h"
#include <sonde/record.h>

enum { MAX_HELD = 1 << 18 };

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

static void give(feed *f, uint32_t depth, const builder_slice *s)
{
	builder_lane_slice(f->builder, f->at.track, depth, s);
}

static void give_held(feed *f)
{
	int32_t shift = 0;

	for (size_t i = 0; i < f->at.held.n; i++) {
		const feed_held *h = &f->at.held.items[i];
		shift += h->shift;
		give(f, (uint32_t)((int64_t)h->depth + shift), &h->slice);
	}
	f->at.held.n = 0;
	f->at.next_shift = 0;
}

static void op_left(feed *f, feed_op *op)
{
	op->on_stack = false;
	f->at.n_ops--;
	if (!f->at.n_ops)
		give_held(f);
}

/* The operation does not nest: what has ended in it is one less deep. */
static void op_escapes(feed *f, feed_op *op)
{
	if (op->first_held < f->at.held.n) {
		f->at.held.items[op->first_held].shift--;
		f->at.next_shift++;
	}
	op_left(f, op);
}

static void all_ops_escape(feed *f)
{
	size_t kept = 0;

	for (size_t i = f->at.stack.n; i > 0; i--)
		if (f->at.stack.items[i - 1].op)
			op_escapes(f, f->at.stack.items[i - 1].op);
	for (size_t i = 0; i < f->at.stack.n; i++)
		if (!f->at.stack.items[i].op)
			f->at.stack.items[kept++] = f->at.stack.items[i];
	f->at.stack.n = kept;
}

/* A slice that has ended; `depth` are on the stack around it. */
static void put_slice(feed *f, uint32_t depth, const builder_slice *s)
{
	if (__builtin_expect(!f->at.n_ops, 1)) {
		give(f, depth, s);
		return;
	}
	feed_held *h = VEC_ADD(&f->at.held);
	if (!h) {
		f->failed = true;
		return;
	}
	*h = (feed_held){ *s, depth, f->at.next_shift };
	f->at.next_shift = 0;
	if (f->at.held.n == MAX_HELD)
		all_ops_escape(f);
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static void add_arg(void *context, const walk_arg *arg)
{
	arg_set *a = context;
	char text[32 * 24];
	size_t n = 0;

	arg_key(a, arg->key, arg->key_len);
	if (arg->type == SONDE_ARG_I64_) {
		arg_i64(a, arg->i64);
	} else if (arg->type == SONDE_ARG_F64_) {
		arg_f64(a, arg->f64);
	} else if (arg->type == SONDE_ARG_STR_) {
		arg_string(a, arg->text, arg->text_len);
	} else if (arg->n_dims == UINT64_MAX) {
		arg_json(a, "null", 4);
	} else {
		text[n++] = '[';
		for (uint64_t i = 0; i < arg->n_dims && n < sizeof text - 24; i++)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRId64, i ? ", " : "",
					      (int64_t)arg->dims[i]);
		text[n++] = ']';
		arg_json(a, text, n);
	}
}

static void collect_args(feed *f, const slice *s, const event *e)
{
	arg_set_clear(&f->args);
	if (!e->n_words)
		return;
	if (s->site->kind == NAME_STEP)
		arg_key(&f->args, "step", 4), arg_i64(&f->args, s->number);
	else
		walk_args(s->site, e, add_arg, &f->args);
}

void feed_instant(void *context, const trace_site *site, int64_t time_ns, const event *e)
{
	feed *f = context;

	feed_allocation_done(f);
	arg_set_clear(&f->args);
	if (e->n_words)
		walk_args(site, e, add_arg, &f->args);
	builder_instant(f->builder, f->at.track, time_ns, feed_site_of(f, site), arg_set_finish(&f->args), 't');
}

/* The notes on an operation, which may have come from any thread. */
static void add_notes(feed *f, uint64_t serial)
{
	uint32_t before = f->serials.n, number;

	if (!f->notes.n)
		return;
	number = intern(&f->serials, (const char *)&serial, sizeof serial);
	if (number == INTERN_NONE || number == before) { /* made by looking: keep the two in step */
		f->failed |= number == INTERN_NONE || !VEC_ADD(&f->first_notes);
		return;
	}
	for (uint32_t i = f->first_notes.items[number]; i; i = f->notes.items[i - 1].next) {
		feed_note *note = &f->notes.items[i - 1];
		add_arg(&f->args, &note->arg);
		note->taken = true;
	}
	f->first_notes.items[number] = 0;
}

void feed_note_op(void *context, const walk_op_meta *m)
{
	feed *f = context;
	uint32_t number = intern(&f->serials, (const char *)&m->serial, sizeof m->serial);
	bool is_new = number == f->first_notes.n;
	uint32_t *first = number == INTERN_NONE ? NULL
			  : is_new		? VEC_ADD(&f->first_notes)
						: &f->first_notes.items[number];
	feed_note *note = first ? VEC_ADD(&f->notes) : NULL;

	if (note) {
		*note = (feed_note){ .arg = m->arg, .serial = m->serial, .time_ns = m->time_ns, .next = *first };
		note->arg.key = arena_strndup(&f->note_texts, m->arg.key, m->arg.key_len);
		note->arg.text = arena_strndup(&f->note_texts, m->arg.text ? m->arg.text : "", m->arg.text_len);
	}
	if (!note || !note->arg.key || !note->arg.text)
		f->failed = true;
	else
		*first = (uint32_t)f->notes.n;
}

/* Notes on operations that had ended, or never began: on their own. */
static void put_late_notes(feed *f)
{
	for (size_t i = 0; i < f->notes.n; i++) {
		const feed_note *note = &f->notes.items[i];
		if (note->taken)
			continue;
		arg_set_clear(&f->args);
		arg_key(&f->args, "operation", 9), arg_u64(&f->args, note->serial);
		add_arg(&f->args, &note->arg);
		uint32_t site = builder_site(f->builder, feed_text(f, "note on an operation"), feed_text(f, "sonde"),
					     CLASS_OTHER, NAME_MARK);
		builder_instant(f->builder, f->process_track, note->time_ns, site, arg_set_finish(&f->args), 'p');
	}
}

/* The index has no table of stacks yet: a stack is an argument. */
static void add_stack(arg_set *a, const uint64_t *addresses, size_t n)
{
	char text[8192];
	size_t len = 0;

	text[len++] = '[';
	for (size_t i = 0; i < n && len < sizeof text - 24; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s\"0x%" PRIx64 "\"", i ? ", " : "",
					addresses[i]);
	text[len++] = ']';
	arg_key(a, "stack", 5), arg_json(a, text, len);
}

/* The call stack of what began, or was allocated, right before. */
void feed_stack(void *context, const uint64_t *addresses, size_t n)
{
	feed *f = context;
	feed_slice *top = f->at.stack.n ? &f->at.stack.items[f->at.stack.n - 1] : NULL;
	saved_args **saved = f->at.has_allocation  ? &f->at.allocation_args
			     : top && top->op	   ? &top->op->args
			     : top && top->is_late ? &top->late
						   : NULL;

	if (!saved)
		return;
	arg_set_load(&f->args, *saved);
	add_stack(&f->args, addresses, n);
	free(*saved);
	*saved = arg_set_save(&f->args);
}

/* ---- From begin to end ------------------------------------------------------------------------------------------- */

static feed_op *open_op(feed *f)
{
	feed_op *op = calloc(1, sizeof *op);

	if (!op) {
		f->failed = true;
		return NULL;
	}
	op->next = f->ops;
	if (f->ops)
		f->ops->before = op;
	f->ops = op;
	op->on_stack = true;
	op->first_held = f->at.held.n;
	op->args = arg_set_save(&f->args);
	f->at.n_ops++;
	return op;
}

static void close_op(feed *f, feed_op *op)
{
	if (op->before)
		op->before->next = op->next;
	else
		f->ops = op->next;
	if (op->next)
		op->next->before = op->before;
	free(op->args);
	free(op);
}

static bool timed_elsewhere(const slice *s)
{
	return s->flags & SLICE_ASYNC && !s->serial;
}

void feed_begin(void *context, slice *s, const event *e)
{
	feed *f = context;

	if (__builtin_expect(f->at.has_allocation, 0))
		feed_allocation_done(f);
	if (timed_elsewhere(s))
		return;
	feed_slice *top = VEC_ADD(&f->at.stack);
	if (!top) {
		f->failed = true;
		return;
	}
	if (!e->n_words && !s->serial)
		return;
	collect_args(f, s, e);
	top->is_late = s->site->kind == NAME_OP;
	if (s->serial)
		s->user = top->op = open_op(f);
	else if (top->is_late)
		top->late = arg_set_save(&f->args);
	else
		top->args = arg_set_finish(&f->args);
	if (s->serial && !top->op)
		f->at.stack.n--;
}

static uint8_t flags_of(const slice *s)
{
	return (uint8_t)((s->flags & SLICE_OPEN ? SLICE_IS_OPEN : 0) |
			 (s->flags & (SLICE_REPAIRED | SLICE_CUT) ? SLICE_IS_REPAIRED : 0) |
			 (s->flags & SLICE_ASYNC ? SLICE_IS_ASYNC : 0));
}

static void end_scope(feed *f, const slice *s, builder_slice *out)
{
	/* Operations above it have no end yet: it comes from another thread, or never. */
	while (f->at.stack.n && f->at.stack.items[f->at.stack.n - 1].op)
		op_escapes(f, f->at.stack.items[--f->at.stack.n].op);
	if (!f->at.stack.n)
		return;
	feed_slice *top = &f->at.stack.items[--f->at.stack.n];
	out->args = top->args;
	if (top->late) {
		arg_set_load(&f->args, top->late);
		out->args = arg_set_finish(&f->args);
		free(top->late);
	}
	put_slice(f, (uint32_t)f->at.stack.n, out);
	if (s->site->kind == NAME_STEP)
		builder_step(f->builder, f->at.track, s->start_ns, s->number);
}

static void end_op(feed *f, const slice *s, builder_slice *out)
{
	feed_op *op = s->user;
	size_t at = f->at.stack.n;

	arg_set_load(&f->args, op->args);
	add_notes(f, s->serial);
	out->args = arg_set_finish(&f->args);
	while (op->on_stack && at && f->at.stack.items[at - 1].op != op)
		at--;
	bool nests = op->on_stack && at && at == f->at.stack.n;
	if (op->on_stack && at) {
		memmove(&f->at.stack.items[at - 1], &f->at.stack.items[at],
			(f->at.stack.n - at) * sizeof f->at.stack.items[0]);
		f->at.stack.n--;
	}
	if (nests) {
		op_left(f, op);
		put_slice(f, (uint32_t)f->at.stack.n, out);
	} else {
		if (op->on_stack)
			op_escapes(f, op);
		builder_slices(f->builder, feed_async_track(f, s->thread), out, 1);
	}
	close_op(f, op);
}

void feed_end(void *context, slice *s)
{
	feed *f = context;
	builder_slice out = { .start_ns = s->start_ns, .dur_ns = s->dur_ns, .flags = flags_of(s) };

	if (__builtin_expect(f->at.has_allocation, 0))
		feed_allocation_done(f);
	/* The site of a step that is cut off is not that of its id. */
	out.site = __builtin_expect(s->flags & SLICE_CUT, 0) ? feed_site_of(f, s->site)
							     : feed_site_of_id(f, s->id, s->site);
	if (timed_elsewhere(s))
		builder_slices(f->builder, feed_async_track(f, s->thread), &out, 1);
	else if (!s->serial)
		end_scope(f, s, &out);
	else if (s->user)
		end_op(f, s, &out);
}

void feed_thread_done(feed *f)
{
	feed_allocation_done(f);
	all_ops_escape(f);
	f->at.stack.n = 0;
}

static void forget_notes(feed *f)
{
	VEC_DONE(&f->first_notes);
	VEC_DONE(&f->notes);
	intern_done(&f->serials);
	arena_done(&f->note_texts);
}

void feed_process_done(feed *f)
{
	put_late_notes(f);
	forget_notes(f); /* serials are those of a process */
}

void feed_slices_done(feed *f)
{
	while (f->ops)
		close_op(f, f->ops);
	feed_place_done(&f->at);
	forget_notes(f);
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/* Every process counts its launches from 1. */
static uint64_t correlation_of(const feed *f, uint64_t launch)
{
	uint64_t stream = (uint64_t)(f->stream - f->trace->streams.items);

	return launch ? ((stream << 40 ^ launch) & ((UINT64_C(1) << 55) - 1)) + 1 : 0;
}

void feed_launch(void *context, const trace_site *site, int64_t time_ns, uint32_t queue, uint64_t id)
{
	feed *f = context;
	builder_slice out = { .start_ns = time_ns, .correlation = correlation_of(f, id) };

	feed_allocation_done(f);
	arg_set_clear(&f->args);
	arg_key(&f->args, "stream", 6), arg_i64(&f->args, queue);
	arg_key(&f->args, "correlation", 11), arg_u64(&f->args, id);
	out.args = arg_set_finish(&f->args);
	out.site = builder_site(f->builder, feed_string(f, site->name), feed_text(f, "launch"), CLASS_RUNTIME,
				NAME_STREAM);
	put_slice(f, (uint32_t)f->at.stack.n, &out);
}

static uint32_t device_args(feed *f, const walk_device *d)
{
	arg_set_clear(&f->args);
	walk_device_args(d, add_arg, &f->args);
	if (d->n_stack)
		add_stack(&f->args, d->stack, d->n_stack);
	return arg_set_finish(&f->args);
}

void feed_device(void *context, const walk_device *d)
{
	feed *f = context;
	builder_slice out = { .start_ns = d->start_ns,
			      .dur_ns = d->end_ns - d->start_ns,
			      .site = feed_device_site_of(f, d),
			      .correlation = correlation_of(f, d->launch) };

	feed_allocation_done(f);
	if (f->queue != d->stream || f->queue_stream != f->stream) {
		f->queue_track = feed_queue_track(f, d->stream);
		f->queue = d->stream;
		f->queue_stream = f->stream;
	}
	out.args = device_args(f, d);
	builder_slices(f->builder, f->queue_track, &out, 1);
}
