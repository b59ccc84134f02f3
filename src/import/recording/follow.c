/* See recording/follow.h. */
#include "import/recording/follow.h"

#include "base/error.h"
#include "import/recording/feed.h"

typedef struct follow_thread {
	trace_thread thread; /* slices point to it */
	walk_position position;
	feed_place place;
} follow_thread;

typedef struct follow_stream {
	uint64_t id;
	walk_apart apart;
	VEC(clock_segment) clock; /* what the times of kept events were told by */
} follow_stream;

struct recording_follow {
	builder *builder; /* NULL: nothing is kept yet */
	feed feed;
	intern_table thread_keys; /* stream and number */
	VEC(follow_thread *) threads;
	VEC(follow_thread *) current; /* by thread of the trace */
	VEC(follow_stream) streams;
	walk_counts counts;
	uint64_t n_walked; /* events of the last call */
	uint64_t budget;   /* events that may still be read */
	bool has_notes;	   /* it is of no use */
};

/* ---- Its life ---------------------------------------------------------------------------------------------------- */

recording_follow *recording_follow_new(void)
{
	return calloc(1, sizeof(recording_follow));
}

static void forget(recording_follow *r)
{
	for (size_t i = 0; i < r->threads.n; i++) {
		feed_place_done(&r->threads.items[i]->place);
		walk_position_done(&r->threads.items[i]->position);
		free(r->threads.items[i]);
	}
	for (size_t i = 0; i < r->streams.n; i++) {
		walk_apart_done(&r->streams.items[i].apart);
		VEC_DONE(&r->streams.items[i].clock);
	}
	VEC_DONE(&r->threads);
	VEC_DONE(&r->current);
	VEC_DONE(&r->streams);
	intern_done(&r->thread_keys);
	feed_done(&r->feed);
	builder_free(r->builder);
	*r = (recording_follow){ .has_notes = r->has_notes };
}

void recording_follow_free(recording_follow *r)
{
	if (r)
		forget(r);
	free(r);
}

uint64_t recording_follow_cost(const recording_follow *r)
{
	return r->n_walked;
}

static bool begin(recording_follow *r, const recording *t)
{
	forget(r);
	r->builder = builder_new(&(builder_options){ .is_copied = true, .origin_ns = t->start_ns });
	r->feed = (feed){ .builder = r->builder, .args = { .builder = r->builder }, .queue = UINT32_MAX };
	return r->builder;
}

/* ---- Is it the recording that was followed? ---------------------------------------------------------------------- */

/* Segments of the clock that stay, of n + 1 at most the first n. The start of the next one is their end. */
static size_t settled_segments(const recording_stream *s)
{
	return s->n_segments ? clock_map_find(s, s->settled_ticks) : 0;
}

static bool clock_fits(const follow_stream *f, const recording_stream *s)
{
	return s->n_segments > f->clock.n &&
	       (!f->clock.n || memcmp(f->clock.items, s->segments, f->clock.n * sizeof *s->segments) == 0);
}

static int compare_threads(const void *a, const void *b)
{
	const trace_thread *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* It has what was kept of it, and perhaps more. */
static bool thread_fits(const follow_thread *f, const recording *t)
{
	const trace_thread *thread =
		t->threads.n ? bsearch(&f->thread, t->threads.items, t->threads.n, sizeof *thread, compare_threads)
			     : NULL;

	if (!thread)
		return false;
	const events_head *last = &t->blocks.items[thread->first_block + thread->n_blocks - 1].head;
	return last->first_word + last->n_words >= f->position.next_word;
}

static bool fits(const recording_follow *r, const recording *t)
{
	bool ok = r->builder && !r->counts.n_unknown && r->streams.n <= t->streams.n;

	for (size_t i = 0; ok && i < r->streams.n; i++)
		ok = r->streams.items[i].id == t->streams.items[i].id &&
		     clock_fits(&r->streams.items[i], &t->streams.items[i]);
	for (size_t i = 0; ok && i < r->threads.n; i++)
		ok = thread_fits(r->threads.items[i], t);
	return ok;
}

/* ---- What is kept ------------------------------------------------------------------------------------------------ */

static bool add_streams(recording_follow *r, const recording *t)
{
	while (r->streams.n < t->streams.n) {
		follow_stream *s = VEC_ADD(&r->streams);
		if (!s)
			return false;
		s->id = t->streams.items[r->streams.n - 1].id;
	}
	for (size_t i = 0; i < t->streams.n; i++) {
		follow_stream *s = &r->streams.items[i];
		for (size_t n = settled_segments(&t->streams.items[i]); s->clock.n < n;) {
			clock_segment *g = VEC_ADD(&s->clock);
			if (!g)
				return false;
			*g = t->streams.items[i].segments[s->clock.n - 1];
		}
	}
	return true;
}

/* The thread as it is in the trace. The feed stands in it afterwards. NULL when out of memory. */
static follow_thread *enter_thread(recording_follow *r, const trace_thread *thread)
{
	uint32_t key[2] = { thread->stream, thread->number };
	uint32_t number = intern(&r->thread_keys, (const char *)key, sizeof key);
	bool is_new = number == r->threads.n;
	follow_thread **place = is_new ? VEC_ADD(&r->threads) : NULL;

	if (number == INTERN_NONE || (is_new && (!place || !(*place = calloc(1, sizeof **place))))) {
		r->threads.n -= place != NULL;
		return NULL;
	}
	follow_thread *f = r->threads.items[number];
	f->thread = *thread;
	r->feed.at = f->place;
	if (is_new) {
		f->position.now_ns = INT64_MIN;
		feed_thread(&r->feed, &f->thread);
	} else {
		feed_enter(&r->feed, &f->thread);
	}
	return f;
}

static void leave_thread(recording_follow *r, follow_thread *f)
{
	f->place = r->feed.at;
	r->feed.at = (feed_place){ 0 };
	r->feed.thread = NULL;
}

static bool is_settled(const recording_block *b, uint64_t ticks, event_reader *reader)
{
	event e;

	if (b->joined)
		return false;
	events_open(reader, b->bytes, b->len, b->head.base_ticks);
	while (events_next(reader, &e))
		if (e.ticks > ticks)
			return false;
	return true;
}

/* Behind the last block that can be kept, within the budget. What comes after a gap waits: it may be filled. */
static size_t settled_until(recording_follow *r, const recording *t, const follow_thread *f, event_reader *reader)
{
	const recording_stream *s = &t->streams.items[f->thread.stream];
	uint64_t ticks = s->segments[settled_segments(s)].from, word = f->position.next_word;
	size_t i = f->thread.first_block, end = i + f->thread.n_blocks;

	for (; i < end; i++) {
		const recording_block *b = &t->blocks.items[i];
		uint64_t end_word = b->head.first_word + b->head.n_words;
		if (end_word <= word)
			continue;
		if (!r->budget || b->head.first_word > word || !is_settled(b, ticks, reader))
			break;
		r->budget -= r->budget < b->n_events ? r->budget : b->n_events;
		word = end_word;
	}
	return i;
}

static uint64_t count_bytes(const recording_follow *r, const recording *t)
{
	uint64_t n = 0;

	for (size_t i = 0; !r->threads.n && i < t->blocks.n; i++)
		n += t->blocks.items[i].len;
	return n;
}

static uint64_t count_events(const walk_counts *c)
{
	return 2 * c->n_slices + c->n_instants + c->n_counters + c->n_flows + c->n_memory + c->n_device;
}

static sonde_status keep_thread(recording_follow *r, walk_part *part, const trace_thread *thread, event_reader *reader,
				sonde_error *err)
{
	follow_thread *f = enter_thread(r, thread), **place = VEC_ADD(&r->current);

	if (!f || !place)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	*place = f;
	sonde_status status = walk_go_on(part, &f->thread, settled_until(r, part->trace, f, reader), false,
					 &f->position, &r->streams.items[thread->stream].apart, err);
	leave_thread(r, f);
	return status;
}

static sonde_status keep(recording_follow *r, const recording *t, sonde_error *err)
{
	const walk_sink sink = feed_sink(&r->feed);
	walk_part part = { .trace = t, .sink = &sink, .counts = &r->counts, .n_total = count_bytes(r, t) };
	event_reader *reader = malloc(sizeof *reader);
	sonde_status status = SONDE_OK;

	if (!reader || !feed_use(&r->feed, t) || !add_streams(r, t))
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	r->current.n = 0;
	for (size_t i = 0; !status && i < t->threads.n; i++)
		status = keep_thread(r, &part, &t->threads.items[i], reader, err);
	for (size_t i = 0; !status && i < t->streams.n; i++)
		if (r->streams.items[i].apart.ends.n)
			status = walk_settle(&part, (uint32_t)i, false, &r->streams.items[i].apart, err);
	free(reader);
	return feed_status(&r->feed, status, err);
}

/* ---- The index --------------------------------------------------------------------------------------------------- */

/* The rest of a thread, into the copy, which stands in it afterwards. */
static sonde_status end_thread(walk_part *part, feed *f, const follow_thread *from, walk_apart *apart, sonde_error *err)
{
	const trace_thread *thread = &from->thread;
	walk_position position = from->position;
	sonde_status status = SONDE_E_MEMORY;

	bool ok = feed_slices_copy(&position.stack, &from->position.stack);
	if (feed_place_copy(&f->at, &from->place) && ok) {
		feed_enter(f, thread);
		status = walk_go_on(part, thread, thread->first_block + thread->n_blocks, true, &position, apart, err);
	}
	walk_position_done(&position);
	return status;
}

static void leave_copy(feed *f)
{
	if (f->thread)
		feed_thread_done(f);
	feed_place_done(&f->at);
	f->at = (feed_place){ 0 };
	f->thread = NULL;
}

static sonde_status end_stream(const recording_follow *r, walk_part *part, feed *f, uint32_t stream, size_t *thread,
			       sonde_error *err)
{
	const walk_apart *from = &r->streams.items[stream].apart;
	walk_apart apart = { 0 };
	bool ok = feed_slices_copy(&apart.pending, &from->pending) && VEC_COPY(&apart.ends, &from->ends);
	sonde_status status = ok ? SONDE_OK : SONDE_E_MEMORY;

	for (; !status && *thread < r->current.n && r->current.items[*thread]->thread.stream == stream; ++*thread) {
		leave_copy(f);
		status = end_thread(part, f, r->current.items[*thread], &apart, err);
	}
	/* As in a walk over all of it, the last thread is not left yet. */
	if (!status)
		status = walk_settle(part, stream, true, &apart, err);
	leave_copy(f);
	walk_apart_done(&apart);
	return status;
}

static sonde_status end_all(recording_follow *r, const recording *t, feed *f, sonde_error *err)
{
	const walk_sink sink = feed_sink(f);
	walk_counts counts = r->counts;
	walk_part part = { .trace = t, .sink = &sink, .counts = &counts };
	sonde_status status = SONDE_OK;
	size_t thread = 0;

	for (size_t i = 0; !status && i < t->streams.n; i++)
		status = end_stream(r, &part, f, (uint32_t)i, &thread, err);
	if (!status)
		feed_rest(f, &counts);
	r->n_walked += count_events(&counts) - count_events(&r->counts);
	r->has_notes |= f->notes.n;
	return feed_status(f, status, err);
}

static sonde_status make_index(recording_follow *r, const recording *t, sonde_index **ret_index, sonde_error *err)
{
	builder *copy = builder_copy(r->builder);
	feed f = { 0 };

	if (!copy)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	sonde_status status = feed_copy(&f, &r->feed, copy) ? end_all(r, t, &f, err)
							    : error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (!status && !r->has_notes)
		status = builder_finish(copy, ret_index, err);
	feed_done(&f);
	builder_free(copy);
	return status;
}

static sonde_status read_on(recording_follow *r, const recording *t, uint64_t n_events, recording_progress *progress,
			    void *context, sonde_error *err)
{
	if (!fits(r, t) && !begin(r, t))
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	r->feed.progress = progress;
	r->feed.context = context;
	r->budget = n_events;
	uint64_t before = count_events(&r->counts);
	sonde_status status = keep(r, t, err);
	r->n_walked = count_events(&r->counts) - before;
	r->has_notes |= r->feed.notes.n;
	return status;
}

static sonde_status follow(recording_follow *r, const recording *t, recording_progress *progress, void *context,
			   sonde_index **ret_index, sonde_error *err)
{
	sonde_status status = read_on(r, t, UINT64_MAX, progress, context, err);

	return status || r->has_notes ? status : make_index(r, t, ret_index, err);
}

static uint64_t count_left(const recording_follow *r, const recording *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->current.n; i++) {
		const follow_thread *f = r->current.items[i];
		for (size_t k = f->thread.n_blocks; k > 0; k--) {
			const recording_block *b = &t->blocks.items[f->thread.first_block + k - 1];
			if (b->head.first_word + b->head.n_words <= f->position.next_word)
				break;
			n += b->n_events;
		}
	}
	return n;
}

sonde_status recording_follow_read(recording_follow *r, const recording *t, uint64_t n_events, uint64_t *ret_left,
				   sonde_error *err)
{
	sonde_status status = r->has_notes ? SONDE_OK : read_on(r, t, n_events, NULL, NULL, err);

	if (status || r->has_notes)
		forget(r);
	*ret_left = r->has_notes ? t->diagnostics.n_kept : count_left(r, t);
	return status;
}

sonde_status recording_follow_index(recording_follow *r, const recording *t, recording_progress *progress,
				    void *context, sonde_index **ret_index, sonde_error *err)
{
	if (!r->has_notes) {
		sonde_status status = follow(r, t, progress, context, ret_index, err);
		if (status)
			forget(r); /* it may have stopped anywhere */
		if (status || !r->has_notes)
			return status;
		forget(r);
	}
	sonde_status status = recording_build_index_with(t, 0, progress, context, ret_index, err);
	r->n_walked = t->diagnostics.n_kept;
	return status;
}
