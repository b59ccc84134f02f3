/*
 * See walk.h. One stack of open slices a thread. An operation leaves the stack when its end comes, or when the scope
 * around it ends: then it waits in `pending` for an end from another thread. Events that neither begin nor end anything
 * are in walk_special.c.
 */
#include "store/build/far_times.h"
#include "import/recording/walk_state.h"

#include "base/error.h"
#include <sonde/record.h>

enum {
	MAX_DEPTH = 100000,
	NEAR = 256, /* slices that are looked through at once; a search beyond is worth a table */
	N_IDS = 65536,
};

const trace_site *walk_find_site(const walk *w, uint64_t id)
{
	const trace_site *site = recording_site_of(w->stream, id);

	if (site)
		return site;
	return id == NAME_FULL_ID ? &w->trace->refused : &w->trace->unnamed;
}

const trace_site *walk_site(walk *w, uint64_t id)
{
	const trace_site *site = walk_find_site(w, id);

	w->counts.n_unknown += site == &w->trace->unnamed;
	return site;
}

/* ---- The stack --------------------------------------------------------------------------------------------------- */

static void finish_slice(walk *w, slice *s, int64_t end_ns, uint8_t flags)
{
	s->dur_ns = end_ns > s->start_ns ? end_ns - s->start_ns : 0;
	s->flags |= flags;
	w->counts.n_open += (flags & SLICE_OPEN) != 0;
	w->counts.n_repaired += (flags & SLICE_REPAIRED) != 0;
	if (w->sink->end)
		w->sink->end(w->sink->context, s);
}

/* An operation leaves the stack at depth i without having been the whole of what its thread did: what was inside of it
   was inside of the slice around it. */
static void hand_children_down(walk *w, const slice *s, size_t i)
{
	if (i)
		w->stack.items[i - 1].child_ns += s->child_ns;
}

static void pop(walk *w, uint8_t flags)
{
	slice *s = &w->stack.items[--w->stack.n];

	if (__builtin_expect(w->n_open != NULL, 0))
		w->n_open[s->id]--;
	if (s->serial && flags) { /* its end may come from another thread */
		slice *place = VEC_ADD(&w->apart.pending);
		if (place)
			*place = *s;
		w->failed |= !place;
		hand_children_down(w, s, w->stack.n);
		return;
	}
	finish_slice(w, s, w->now_ns, flags);
	if (w->stack.n)
		w->stack.items[w->stack.n - 1].child_ns += s->dur_ns;
}

static bool ends_by_itself(const slice *s)
{
	return s->site->kind == NAME_PHASE;
}

/* Closes everything above depth n. */
static void pop_to(walk *w, size_t n)
{
	while (w->stack.n > n)
		pop(w, ends_by_itself(&w->stack.items[w->stack.n - 1]) ? 0 : SLICE_REPAIRED);
}

static slice *push(walk *w, const trace_site *site, uint32_t id)
{
	uint32_t depth = (uint32_t)w->stack.n;

	if (depth >= MAX_DEPTH) {
		w->counts.n_too_deep++;
		return NULL;
	}
	slice *s = depth < w->stack.capacity ? &w->stack.items[w->stack.n++] : VEC_ADD(&w->stack);
	if (!s) {
		w->failed = true;
		return NULL;
	}
	/* Field by field: this is the hottest store of the reader, and gcc zeroes a struct with a slow string
	 * instruction. */
	s->site = site;
	s->start_ns = w->now_ns;
	s->dur_ns = s->child_ns = s->number = 0;
	s->flops = s->bytes = 0;
	s->serial = 0;
	s->depth = depth;
	s->id = s->name_id = id;
	s->flags = 0;
	s->group = 0;
	s->args = 0;
	s->thread = w->thread;
	s->user = NULL;
	s->outer = depth ? s[-1].user : NULL;
	w->counts.n_slices++;
	if (__builtin_expect(w->n_open != NULL, 0))
		w->n_open[id]++;
	return s;
}

static void begun(walk *w, slice *s, const event *e)
{
	if (w->sink->begin)
		w->sink->begin(w->sink->context, s, e);
}

/* False where it has none. Type and shape are read when somebody asks for arguments. */
static bool set_work(slice *s, payload_reader r)
{
	return payload_get_f64(&r, &s->flops) && payload_get_f64(&r, &s->bytes);
}

static size_t find_between(const walk *w, size_t from, size_t to, uint32_t id)
{
	for (size_t i = to; i > from; i--)
		if (w->stack.items[i - 1].id == id)
			return i - 1;
	return SIZE_MAX;
}

static bool is_open(walk *w, uint32_t id)
{
	if (!w->n_open) {
		w->n_open = calloc(N_IDS, sizeof *w->n_open);
		w->failed |= !w->n_open;
		for (size_t i = 0; w->n_open && i < w->stack.n; i++)
			w->n_open[w->stack.items[i].id]++;
	}
	return w->n_open && w->n_open[id];
}

/* Depth of the innermost open slice with this id, or SIZE_MAX. What lies above one that is found gets popped, so only
   a long search in vain would make the walk quadratic, and is_open() spares it. */
static size_t find_open(walk *w, uint32_t id)
{
	size_t near = w->stack.n > NEAR ? w->stack.n - NEAR : 0, at = find_between(w, near, w->stack.n, id);

	return at == SIZE_MAX && near && is_open(w, id) ? find_between(w, 0, near, id) : at;
}

/* The innermost one that does not end by itself. Several phases lie on each other only where operations between them
   were taken out. */
static size_t find_innermost(const walk *w)
{
	for (size_t i = w->stack.n, n = 0; i > 0 && n < NEAR; i--, n++)
		if (!ends_by_itself(&w->stack.items[i - 1]))
			return i - 1;
	return SIZE_MAX;
}

/* The scope is older than the window, so it closes everything that began there. */
static void note_lone_end(walk *w, uint32_t id)
{
	uint32_t *place = w->lone_ends.n < MAX_DEPTH ? VEC_ADD(&w->lone_ends) : NULL;

	w->failed |= !place && w->lone_ends.n < MAX_DEPTH;
	if (place)
		*place = id;
	pop_to(w, 0);
}

static void on_end(walk *w, uint32_t id)
{
	if (id && w->stack.n && w->stack.items[w->stack.n - 1].id == id) { /* nearly always */
		pop(w, 0);
		return;
	}
	size_t at = id ? find_open(w, id) : find_innermost(w);
	if (at == SIZE_MAX) {
		w->counts.n_unmatched_ends++;
		if (w->notes_lone_ends)
			note_lone_end(w, id);
		return;
	}
	pop_to(w, at + 1);
	pop(w, 0);
}

static int64_t step_number(const event *e)
{
	payload_reader r = payload_of(e);
	payload_step step = { 0 };

	payload_get_step(&r, &step);
	return step.number;
}

static void on_site(walk *w, uint32_t id, const event *e)
{
	const trace_site *site = walk_site(w, id);

	if (site->kind == NAME_MARK) {
		w->counts.n_instants++;
		if (w->sink->instant)
			w->sink->instant(w->sink->context, site, w->now_ns, e);
		return;
	}
	if (site->kind == NAME_COUNTER) {
		payload_counter counter = { 0 };
		payload_reader r = payload_of(e);
		payload_get_counter(&r, &counter);
		w->counts.n_counters++;
		if (w->sink->counter)
			w->sink->counter(w->sink->context, site, w->now_ns, counter.value);
		return;
	}
	if (site->kind == NAME_PHASE && w->stack.n && ends_by_itself(&w->stack.items[w->stack.n - 1]))
		pop(w, 0);
	if (site->kind == NAME_STEP) { /* sonde_step: the next one ends the last */
		size_t at = find_open(w, id);
		if (at != SIZE_MAX) {
			pop_to(w, at + 1);
			pop(w, 0);
		}
	}
	slice *s = push(w, site, id);
	if (!s)
		return;
	if (site->kind == NAME_STEP && e->n_words)
		s->number = step_number(e);
	if (site->kind == NAME_OP)
		set_work(s, payload_of(e));
	begun(w, s, e);
}

/* ---- Operations that end elsewhere ------------------------------------------------------------------------------- */

static void on_op_begin(walk *w, const event *e)
{
	payload_reader r = payload_of(e);
	payload_op_begin op;
	slice work = { 0 };

	if (!payload_get_op_begin(&r, &op) || !set_work(&work, r))
		return;
	/* Id 0: no end of a scope is looked for under it. */
	slice *s = push(w, walk_site(w, op.name_id), 0);
	if (!s)
		return;
	event info = payload_rest(&r, e);
	s->serial = op.serial;
	s->name_id = (uint32_t)op.name_id;
	s->flags = SLICE_ASYNC;
	s->flops = work.flops;
	s->bytes = work.bytes;
	begun(w, s, &info);
}

/* Takes slice number i out of the middle of the stack. */
static void take_out(walk *w, size_t i)
{
	slice s = w->stack.items[i];

	memmove(&w->stack.items[i], &w->stack.items[i + 1], (w->stack.n - i - 1) * sizeof s);
	w->stack.n--;
	if (w->n_open)
		w->n_open[s.id]--;
	hand_children_down(w, &s, i);
	finish_slice(w, &s, w->now_ns, 0);
}

static void on_op_end(walk *w, const event *e)
{
	payload_reader r = payload_of(e);
	payload_op_end op = { 0 };
	size_t near = w->stack.n > NEAR ? w->stack.n - NEAR : 0;

	payload_get_op_end(&r, &op);
	/* One that lies deeper is found when it leaves the stack, as if it had ended on another thread. */
	for (size_t i = w->stack.n; op.serial && i > near; i--) {
		if (w->stack.items[i - 1].serial != op.serial)
			continue;
		if (i == w->stack.n)
			pop(w, 0);
		else
			take_out(w, i - 1);
		return;
	}
	walk_end *end = VEC_ADD(&w->apart.ends);
	if (end)
		*end = (walk_end){ .serial = op.serial, .time_ns = w->now_ns };
	w->failed |= !end;
}

static int compare_ends(const void *a, const void *b)
{
	const walk_end *x = a, *y = b;

	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static walk_end *find_end(const walk_apart *a, uint64_t serial)
{
	walk_end key = { .serial = serial };

	return a->ends.n ? bsearch(&key, a->ends.items, a->ends.n, sizeof key, compare_ends) : NULL;
}

/* After all threads of a process. What has no partner stays, unless none can come any more. */
void walk_finish_pending(walk *w, bool closes)
{
	walk_apart *a = &w->apart;
	size_t n_kept = 0, n_ends = 0;

	if (a->ends.n)
		qsort(a->ends.items, a->ends.n, sizeof a->ends.items[0], compare_ends);
	for (size_t i = 0; i < a->pending.n; i++) {
		slice s = a->pending.items[i];
		walk_end *end = find_end(a, s.serial);
		if (!end && !closes) {
			a->pending.items[n_kept++] = s;
			continue;
		}
		s.site = walk_find_site(w, s.name_id);
		finish_slice(w, &s, end ? end->time_ns : w->trace->end_ns, end ? 0 : SLICE_OPEN);
		if (end)
			end->is_taken = true;
	}
	for (size_t i = 0; i < a->ends.n; i++)
		if (!a->ends.items[i].is_taken)
			a->ends.items[n_ends++] = a->ends.items[i];
	/* In a window they are those of operations that began earlier. */
	w->counts.n_unmatched_ends += closes && !w->trace->is_window ? n_ends : 0;
	a->pending.n = n_kept;
	a->ends.n = closes ? 0 : n_ends;
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static void on_event(walk *w, const event *e)
{
	uint32_t id = e->code & EVENT_ID_MASK;
	int64_t ns = clock_map_ns(w->stream, e->ticks, &w->hint);

	if (__builtin_expect(ns > w->to_ns || ns < w->from_ns, 0)) { /* or all that follow would be there, too */
		w->counts.n_outside++;
		w->now_ns = w->now_ns == INT64_MIN ? w->trace->start_ns : w->now_ns;
	} else if (ns < w->now_ns) {
		w->counts.n_clamped++;
	} else {
		w->now_ns = ns;
	}
	if (e->code & EVENT_END)
		on_end(w, id);
	else if (id >= NAME_FULL_ID)
		on_site(w, id, e);
	else if (id == EVENT_OP_BEGIN)
		on_op_begin(w, e);
	else if (id == EVENT_OP_END)
		on_op_end(w, e);
	else
		walk_special(w, e, id);
}

bool walk_goes_on(walk *w)
{
	if (w->sink->progress && !w->stopped)
		w->stopped = !w->sink->progress(w->sink->context, w->n_done, w->n_total);
	return !w->stopped;
}

/* ---- Windows ----------------------------------------------------------------------------------------------------- */

static const walk_sink nothing;

static void begin_cut(walk *w, size_t i)
{
	static const event none;
	slice *s = &w->stack.items[i];

	s->start_ns = w->now_ns;
	s->child_ns = 0;
	s->flags |= SLICE_CUT;
	s->outer = i ? s[-1].user : NULL;
	if (s->site->kind == NAME_STEP)
		s->site = &w->trace->cut_step;
	begun(w, s, &none);
}

/* From here on the sink sees what happens. */
static void enter_window(walk *w)
{
	w->sink = w->waiting;
	w->waiting = NULL;
	w->counts = w->counts_before;
	w->apart.pending.n = w->n_pending_before;
	w->apart.ends.n = w->n_ends_before;
	w->now_ns = w->trace->window_ns;
	for (size_t i = 0; i < w->stack.n; i++)
		begin_cut(w, i);
	w->counts.n_slices += w->stack.n;
}

static void walk_until_window(walk *w)
{
	event e;

	while (w->waiting && events_next(&w->reader, &e)) {
		if (clock_map_ns(w->stream, e.ticks, &w->hint) >= w->trace->window_ns)
			enter_window(w);
		on_event(w, &e);
	}
}

/* The events of a block from this word of the thread on. */
void walk_block(walk *w, const recording_block *b, uint64_t from_word)
{
	uint64_t word = b->head.first_word;
	event e;

	events_open(&w->reader, b->bytes, b->len, b->head.base_ticks);
	for (uint32_t k = 0; (k < b->skip || word < from_word) && events_next(&w->reader, &e); k++)
		word += event_words(&e);
	if (__builtin_expect(w->waiting != NULL, 0))
		walk_until_window(w);
	while (events_next(&w->reader, &e))
		on_event(w, &e);
	w->counts.n_damaged += w->reader.damaged;
	w->n_done += b->len;
	recording_release_pages(w->trace, b->len, &w->n_read);
}

void walk_enter(walk *w, const trace_thread *thread)
{
	w->stream = &w->trace->streams.items[thread->stream];
	w->thread = thread;
	w->hint = 0;
	w->now_ns = INT64_MIN;
	int64_t far_ns = far_distance(w->trace->end_ns - w->trace->start_ns);
	w->from_ns = w->trace->start_ns - far_ns;
	w->to_ns = w->trace->end_ns + far_ns;
}

void walk_close(walk *w)
{
	/* The recording may have gone on after the thread's last event: what is open lasted until then. */
	if (w->stack.n && w->stream->info.end_ns > w->now_ns)
		w->now_ns = w->stream->info.end_ns;
	while (w->stack.n)
		pop(w, ends_by_itself(&w->stack.items[w->stack.n - 1]) ? 0 : SLICE_OPEN);
}

/* Walks the thread for itself, to see which ends lack their begin. */
static walk *find_lone_ends(const walk *w, const trace_thread *thread)
{
	walk *look = calloc(1, sizeof *look);

	if (!look)
		return NULL;
	look->trace = w->trace;
	look->sink = &nothing;
	look->notes_lone_ends = true;
	walk_enter(look, thread);
	for (size_t i = 0; i < thread->n_blocks && !look->failed; i++)
		walk_block(look, &w->trace->blocks.items[thread->first_block + i], 0);
	VEC_DONE(&look->stack);
	walk_apart_done(&look->apart);
	free(look->n_open);
	return look;
}

/* Enters a thread of a window: the sink waits, and what began earlier is open. Of two such scopes the one that ends
   later is the outer one. */
static void wait_for_window(walk *w, const trace_thread *thread)
{
	walk *look = find_lone_ends(w, thread);

	w->waiting = w->sink;
	w->sink = &nothing;
	w->counts_before = w->counts;
	w->n_pending_before = w->apart.pending.n;
	w->n_ends_before = w->apart.ends.n;
	w->failed |= !look || look->failed;
	for (size_t i = look ? look->lone_ends.n : 0; i > 0; i--) {
		uint32_t id = look->lone_ends.items[i - 1];
		slice *s = push(w, walk_find_site(w, id), id);
		if (s)
			s->start_ns = w->trace->start_ns; /* the true one is unknown */
	}
	if (look)
		VEC_DONE(&look->lone_ends);
	free(look);
}

static void walk_thread(walk *w, const trace_thread *thread)
{
	walk_enter(w, thread);
	if (w->sink->thread)
		w->sink->thread(w->sink->context, thread);
	if (w->trace->is_window)
		wait_for_window(w, thread);
	for (size_t i = 0; i < thread->n_blocks && !w->failed && walk_goes_on(w); i++)
		walk_block(w, &w->trace->blocks.items[thread->first_block + i], 0);
	if (w->waiting) { /* nothing happened since: what is open goes on */
		enter_window(w);
		w->now_ns = w->trace->end_ns > w->now_ns ? w->trace->end_ns : w->now_ns;
	}
	walk_close(w);
}

sonde_status walk_status(const walk *w, sonde_error *err)
{
	if (w->stopped)
		return error_set(err, SONDE_E_STATE, -1, "stopped");
	return w->failed ? error_set(err, SONDE_E_MEMORY, -1, "out of memory") : SONDE_OK;
}

sonde_status recording_walk(const recording *t, const walk_sink *sink, walk_counts *ret_counts, sonde_error *err)
{
	walk *w = calloc(1, sizeof *w);
	if (!w)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	w->trace = t;
	w->sink = sink;
	for (size_t i = 0; sink->progress && i < t->blocks.n; i++)
		w->n_total += t->blocks.items[i].len;
	for (size_t i = 0; i < t->threads.n && !w->failed && !w->stopped; i++) {
		walk_thread(w, &t->threads.items[i]);
		if (i + 1 == t->threads.n || t->threads.items[i + 1].stream != t->threads.items[i].stream)
			walk_finish_pending(w, true);
	}
	sonde_status status = walk_status(w, err);
	*ret_counts = w->counts;
	VEC_DONE(&w->stack);
	walk_apart_done(&w->apart);
	free(w->n_open);
	free(w);
	return status;
}
