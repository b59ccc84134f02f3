/*
 * The newest events of a recording, as a trace of their own. See recording.h.
 *
 * Blocks are taken by the time of their last event, newest first, until there are enough events; so threads begin at
 * about the same time, whatever their rates. The last block of each thread is always there: it names the thread, and it
 * says from which word on a block is new. Names, clock pairs and totals are the whole recording's.
 *
 * What a thread said about itself in its first block, its name, becomes a part of the stream's meta data before that
 * block is dropped.
 */
#include "import/recording/recording.h"

#include <stdio.h>
#include "base/error.h"
#include "format/recording/payloads.h"

enum {
	BLOCKS_KEPT = 16384, /* of a file, when it is pruned at all */
	WHOLE_BLOCKS = 1 << 19,
};

uint64_t recording_n_shown(const recording *t)
{
	uint64_t n = t->diagnostics.n_kept;

	for (size_t i = 0; i < t->streams.n; i++)
		n -= t->streams.items[i].n_before;
	return n;
}

uint64_t recording_end_ticks(recording_block *b)
{
	event_reader *r = b->end_ticks ? NULL : malloc(sizeof *r);
	event e;

	if (b->end_ticks)
		return b->end_ticks;
	uint64_t ticks = b->head.base_ticks;
	if (r) {
		events_open(r, b->bytes, b->len, ticks);
		while (events_next(r, &e))
			ticks = e.ticks > ticks ? e.ticks : ticks;
		b->end_ticks = ticks;
		free(r);
	}
	return ticks;
}

/* ---- What goes ----------------------------------------------------------------------------------------------------
 */

static bool has_meta(const recording_stream *s, const char *key, const char *value, size_t len)
{
	for (size_t i = 0; i < s->meta.n; i++)
		if (strcmp(s->meta.items[i].key, key) == 0 && strlen(s->meta.items[i].value) == len &&
		    memcmp(s->meta.items[i].value, value, len) == 0)
			return true;
	return false;
}

static bool add_thread_name(recording *t, const recording_block *b, const char *name, size_t len)
{
	recording_stream *s = &t->streams.items[b->stream];
	char key[32];

	snprintf(key, sizeof key, "thread.%u", b->head.thread);
	if (has_meta(s, key, name, len))
		return true;
	trace_meta *m = VEC_ADD(&s->meta);
	if (m) {
		m->key = arena_strdup(&t->arena, key);
		m->value = arena_strndup(&t->arena, name, len);
	}
	return m && m->key && m->value;
}

/* Of a block that is dropped, when it is the first of its thread: what names the thread. */
static bool keep_name(recording *t, const recording_block *b)
{
	event_reader *r = b->joined || b->head.first_word ? NULL : malloc(sizeof *r);
	bool ok = r || b->joined || b->head.first_word;
	event e;

	if (r)
		events_open(r, b->bytes, b->len, b->head.base_ticks);
	while (ok && r && events_next(r, &e)) {
		payload_reader words = payload_of(&e);
		payload_thread_name p;
		if ((e.code & EVENT_ID_MASK) == EVENT_THREAD_NAME && !(e.code & EVENT_END) &&
		    payload_get_thread_name(&words, &p))
			ok = add_thread_name(t, b, p.name.ptr, p.name.len);
	}
	free(r);
	return ok;
}

static void drop_block(recording *t, const recording_block *b)
{
	t->streams.items[b->stream].n_before += b->n_events;
	t->is_window = true;
}

/* ---- While a file is scanned ------------------------------------------------------------------------------------- */

static bool is_large(const recording *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->blocks.n; i++)
		n += t->blocks.items[i].n_events;
	return t->is_window || n > t->whole_max || t->blocks.n > WHOLE_BLOCKS;
}

/* Marks the last block of every thread, and those behind `from`, by setting `skip`. */
static bool mark_kept(recording *t, size_t first, size_t from)
{
	intern_table seen = { 0 };
	bool ok = true;

	for (size_t i = t->blocks.n; ok && i > first; i--) {
		recording_block *b = &t->blocks.items[i - 1];
		uint32_t key[2] = { b->stream, b->head.thread }, n = seen.n;
		uint32_t number = intern(&seen, (const char *)key, sizeof key);
		ok = number != INTERN_NONE;
		b->skip = number == n || i > from;
	}
	intern_done(&seen);
	return ok;
}

bool recording_prune(recording *t, size_t first)
{
	size_t n_kept = first;

	if (!t->whole_max || t->blocks.n - first < 2 * BLOCKS_KEPT || !is_large(t))
		return true;
	bool ok = mark_kept(t, first, t->blocks.n - BLOCKS_KEPT);
	for (size_t i = first; i < t->blocks.n; i++) {
		recording_block b = t->blocks.items[i];
		if (b.skip) {
			b.skip = 0;
			t->blocks.items[n_kept++] = b;
		} else {
			ok = ok && keep_name(t, &b);
			drop_block(t, &b);
		}
	}
	t->blocks.n = n_kept;
	return ok;
}

/* ---- A window ---------------------------------------------------------------------------------------------------- */

typedef struct aged_block {
	int64_t end_ns;
	size_t block;
	bool is_last; /* of its thread */
} aged_block;

typedef VEC(aged_block) aged_list;

static int compare_ages(const void *a, const void *b)
{
	const aged_block *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return x->block > y->block ? -1 : x->block < y->block;
}

/* A block ends where the next one of its thread begins. */
static int64_t end_of(recording *t, size_t block, bool is_last)
{
	recording_block *b = &t->blocks.items[block];
	size_t hint = 0;

	return clock_map_ns(&t->streams.items[b->stream], is_last ? recording_end_ticks(b) : b[1].head.base_ticks,
			    &hint);
}

/* Blocks of a thread from its last one back, until there are more than enough. */
static bool list_thread(recording *t, const trace_thread *thread, uint64_t n_events, aged_list *list)
{
	uint64_t n = 0;

	for (size_t i = thread->n_blocks; i > 0 && n <= n_events; i--) {
		size_t block = thread->first_block + i - 1;
		bool is_last = i == thread->n_blocks;
		aged_block *a = VEC_ADD(list);
		if (!a)
			return false;
		*a = (aged_block){ end_of(t, block, is_last), block, is_last };
		n += t->blocks.items[block].n_events;
	}
	return true;
}

/* Marks what is in the window by `keep`, and says since when it has everything. */
static bool choose(recording *t, uint64_t n_events, bool *keep, int64_t *ret_start_ns)
{
	aged_list list = { 0 };
	uint64_t n = 0;
	bool ok = true, is_full = false;

	for (size_t i = 0; ok && i < t->threads.n; i++)
		ok = list_thread(t, &t->threads.items[i], n_events, &list);
	if (ok && list.n)
		qsort(list.items, list.n, sizeof list.items[0], compare_ages);
	for (size_t i = 0; ok && i < list.n; i++) {
		const aged_block *a = &list.items[i];
		n += t->blocks.items[a->block].n_events;
		keep[a->block] = a->is_last || n <= n_events;
		if (!keep[a->block] && !is_full && a->end_ns > *ret_start_ns)
			*ret_start_ns = a->end_ns;
		is_full |= !keep[a->block];
	}
	VEC_DONE(&list);
	return ok;
}

static bool take_blocks(recording *w, const recording *whole, const bool *keep)
{
	for (size_t i = 0; i < whole->threads.n; i++) {
		trace_thread *thread = VEC_ADD(&w->threads);
		if (!thread)
			return false;
		*thread = whole->threads.items[i];
		thread->first_block = w->blocks.n;
		thread->n_blocks = 0;
		for (size_t k = 0; k < whole->threads.items[i].n_blocks; k++) {
			const recording_block *b = &whole->blocks.items[whole->threads.items[i].first_block + k];
			/* Once there is one, all behind it are there: a later block ends later. */
			bool is_taken = thread->n_blocks || keep[b - whole->blocks.items];
			recording_block *place = is_taken ? VEC_ADD(&w->blocks) : NULL;
			if (!is_taken)
				drop_block(w, b);
			else if (!place)
				return false;
			else
				*place = *b;
			thread->n_blocks += is_taken;
		}
	}
	return true;
}

/* A copy of what differs; the rest is the whole trace's. */
static recording *share(recording *whole)
{
	recording *w = malloc(sizeof *w);

	if (!w)
		return NULL;
	*w = *whole;
	w->whole = whole;
	memset(&w->streams, 0, sizeof w->streams);
	memset(&w->blocks, 0, sizeof w->blocks);
	memset(&w->threads, 0, sizeof w->threads);
	if (VEC_COPY(&w->streams, &whole->streams))
		return w;
	free(w);
	return NULL;
}

static bool keep_names(recording *whole, const bool *keep)
{
	bool ok = true;

	for (size_t i = 0; ok && i < whole->threads.n; i++) {
		size_t first = whole->threads.items[i].first_block;
		ok = keep[first] || keep_name(whole, &whole->blocks.items[first]);
	}
	recording_name_threads(whole);
	whole->cut_step = recording_special_site(whole, "step");
	return ok && whole->cut_step.name != INTERN_NONE;
}

static void unshare(recording *w)
{
	VEC_DONE(&w->streams);
	VEC_DONE(&w->blocks);
	VEC_DONE(&w->threads);
	free(w);
}

sonde_status recording_window(recording *whole, uint64_t n_events, recording **ret_window, sonde_error *err)
{
	bool *keep = calloc(whole->blocks.n + 1, sizeof *keep);
	int64_t start_ns = whole->is_window ? whole->window_ns : whole->start_ns;
	bool ok = keep && choose(whole, n_events, keep, &start_ns) && keep_names(whole, keep);
	recording *w = ok ? share(whole) : NULL;

	if (w)
		w->window_ns = start_ns;
	if (w && !take_blocks(w, whole, keep)) {
		unshare(w);
		w = NULL;
	}
	free(keep);
	if (!w)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	*ret_window = w;
	return SONDE_OK;
}
