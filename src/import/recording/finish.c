/*
 * Puts what was scanned and joined in order. See recording.h.
 *
 * Blocks are sorted by thread and word, and those that repeat what another one has are dropped. From what is left come
 * the threads with their names, what was lost, and when the trace begins and ends; from the pairs the clock.
 */
#include "import/recording/recording.h"

#include "base/error.h"
#include "base/search.h"
#include "format/recording/events.h"

static int compare_blocks(const void *a, const void *b)
{
	const recording_block *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->head.thread != y->head.thread)
		return x->head.thread < y->head.thread ? -1 : 1;
	if (x->head.first_word != y->head.first_word)
		return x->head.first_word < y->head.first_word ? -1 : 1;
	/* What the file has counts before what the ring has: blocks of the file stay as they are. */
	if (x->joined != y->joined)
		return x->joined ? 1 : -1;
	return x->head.n_words > y->head.n_words ? -1 : x->head.n_words < y->head.n_words;
}

/* Leaves out the events in the first n_words of the block. False when out of memory. */
static bool skip_words(recording_block *b, uint64_t n_words)
{
	event_reader *r = malloc(sizeof *r);
	uint64_t seen = 0;
	event e;

	if (!r)
		return false;
	events_open(r, b->bytes, b->len, b->head.base_ticks);
	for (b->skip = 0; seen < n_words && events_next(r, &e); b->skip++)
		seen += event_words(&e);
	free(r);
	b->n_events -= b->skip < b->n_events ? b->skip : b->n_events;
	return true;
}

static bool is_same_thread(const recording_block *a, const recording_block *b)
{
	return a->stream == b->stream && a->head.thread == b->head.thread;
}

static uint64_t end_word(const recording_block *b)
{
	return b->head.first_word + b->head.n_words;
}

static void uncount_joined(recording *t, const recording_block *b, uint64_t n_events)
{
	uint64_t *n = &t->streams.items[b->stream].n_joined;

	if (b->joined)
		*n -= *n < n_events ? *n : n_events;
}

/* Removes blocks whose words another one has: the file and the ring both had them when the program was killed or its
   writer moved them. The writer flushes whole events, so a block either repeats what is there or begins where it ends.
 */
static bool drop_repeated(recording *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->blocks.n; i++) {
		recording_block *b = &t->blocks.items[i], *last = kept ? &t->blocks.items[kept - 1] : NULL;
		bool is_live = t->streams.items[b->stream].live, same = last && is_same_thread(last, b);
		/* While a program runs, what the ring had gives way to the file: the rest of it is there next time. */
		if (same && is_live && last->joined && !b->joined && b->head.first_word < end_word(last)) {
			uncount_joined(t, last, last->n_events);
			kept--;
			i--;
			continue;
		}
		uint64_t have = same ? end_word(last) : 0;
		/* Its thread may fill one chunk and begin the next between our looks at the two: what comes after a gap
		   is later than what we saw. */
		bool too_late = same && b->joined && is_live && b->head.first_word > have;
		if (too_late || (same && end_word(b) <= have)) {
			uncount_joined(t, b, b->n_events);
			continue;
		}
		uint64_t n_events = b->n_events;
		if (same && b->head.first_word < have && !skip_words(b, have - b->head.first_word))
			return false;
		uncount_joined(t, b, n_events - b->n_events);
		t->blocks.items[kept++] = *b;
	}
	t->blocks.n = kept;
	return true;
}

static bool make_threads(recording *t)
{
	trace_thread *thread = NULL;

	for (size_t i = 0; i < t->streams.n; i++) {
		t->streams.items[i].n_kept = t->streams.items[i].n_before;
		t->diagnostics.n_kept += t->streams.items[i].n_before;
	}
	for (size_t i = 0; i < t->blocks.n; i++) {
		const recording_block *b = &t->blocks.items[i];
		if (!thread || thread->stream != b->stream || thread->number != b->head.thread) {
			thread = VEC_ADD(&t->threads);
			if (!thread)
				return false;
			*thread = (trace_thread){ .stream = b->stream,
						  .number = b->head.thread,
						  .tid = b->head.tid,
						  .name = "",
						  .first_block = i };
		}
		thread->n_blocks++;
		t->diagnostics.n_kept += b->n_events;
		t->streams.items[b->stream].n_kept += b->n_events;
	}
	return true;
}

static trace_thread *find_thread(const recording *t, size_t stream, uint32_t number)
{
	trace_thread *all = t->threads.items;
	size_t at = FIRST_NOT(i, 0, t->threads.n,
			      all[i].stream < stream || (all[i].stream == stream && all[i].number < number));

	return at < t->threads.n && all[at].stream == stream && all[at].number == number ? &all[at] : NULL;
}

void recording_name_threads(recording *t)
{
	for (size_t i = 0; i < t->streams.n; i++) {
		const recording_stream *s = &t->streams.items[i];
		for (size_t k = 0; k < s->meta.n; k++) {
			unsigned number;
			if (sscanf(s->meta.items[k].key, "thread.%u", &number) != 1)
				continue;
			trace_thread *thread = find_thread(t, i, number);
			if (thread)
				thread->name = s->meta.items[k].value;
		}
	}
}

static bool resolve_category(recording *t, const recording_stream *s, trace_site *site)
{
	uint16_t category = site->record->category;
	const trace_site *named =
		category >= NAME_FIRST_ID && site->kind != NAME_STREAM ? recording_site_of(s, category) : NULL;
	const char *text = named ? recording_text(t, named->name) : trace_category_name(category);

	site->category = intern(&t->strings, text, strlen(text));
	return site->category != INTERN_NONE;
}

static bool resolve_categories(recording *t, const recording_stream *s)
{
	for (size_t i = 0; s->site_pages && i < 256; i++)
		for (size_t k = 0; s->site_pages[i] && k < 256; k++)
			if (s->site_pages[i][k].record && !resolve_category(t, s, &s->site_pages[i][k]))
				return false;
	return true;
}

static void add_losses(recording *t, const recording_stream *s)
{
	recording_diagnostics *d = &t->diagnostics;

	d->n_lost_full += s->info.n_lost_full;
	d->n_lost_overwritten += s->info.n_lost_overwritten;
	d->n_lost_signal += s->info.n_lost_signal;
	d->n_lost_io += s->info.n_lost_io;
	d->n_names_refused += s->info.n_names_refused;
	d->n_unclosed_streams += s->info.state == STREAM_OPEN || s->info.state == STREAM_RECOVERED;
	d->n_rings_missing += s->ring_missing && !s->live;
}

/* A closed stream says how many events were written: what is missing is lost even where no header tells. */
static void check_totals(recording *t)
{
	uint64_t written = 0, kept = 0;

	for (size_t i = 0; i < t->streams.n; i++)
		if (t->streams.items[i].info.state != STREAM_CLOSED)
			return;
		else
			written += t->streams.items[i].info.n_events;
	kept = t->diagnostics.n_kept;
	t->diagnostics.n_lost_damaged = written > kept ? written - kept : 0;
}

static int64_t last_event_ns(const recording_stream *s, recording_block *b)
{
	size_t hint = 0;

	return clock_map_ns(s, recording_end_ticks(b), &hint);
}

/* Of a closed stream not all of whose events are there the file may have been cut: it ends with what is left, not when
   its program did. After damage in the middle the last clock pair is still there, and it is that of the end. */
static bool is_cut(const recording_stream *s)
{
	return s->info.state == STREAM_CLOSED && s->n_kept < s->info.n_events;
}

static void find_cut_ends(recording *t)
{
	for (size_t i = 0; i < t->streams.n; i++) {
		recording_stream *s = &t->streams.items[i];
		if (is_cut(s))
			s->info.end_ns = s->pairs.n ? s->pairs.items[s->pairs.n - 1].ns : s->info.start_ns;
	}
	for (size_t i = 0; i < t->threads.n; i++) {
		const trace_thread *thread = &t->threads.items[i];
		recording_stream *s = &t->streams.items[thread->stream];
		if (!is_cut(s))
			continue;
		int64_t last = last_event_ns(s, &t->blocks.items[thread->first_block + thread->n_blocks - 1]);
		s->info.end_ns = last > s->info.end_ns ? last : s->info.end_ns;
	}
}

/* From the first start to the last end; the end of a stream that was not closed is its last event. */
static void find_span(recording *t)
{
	int64_t start = INT64_MAX, end = INT64_MIN;

	for (size_t i = 0; i < t->streams.n; i++) {
		const stream_block *info = &t->streams.items[i].info;
		if (!t->streams.items[i].has_info)
			continue;
		start = info->start_ns < start ? info->start_ns : start;
		end = info->end_ns > end ? info->end_ns : end;
	}
	for (size_t i = 0; i < t->threads.n; i++) {
		const trace_thread *thread = &t->threads.items[i];
		const recording_stream *s = &t->streams.items[thread->stream];
		recording_block *first = &t->blocks.items[thread->first_block];
		size_t hint = 0;
		if (s->has_info && s->info.end_ns)
			continue;
		int64_t last = last_event_ns(s, first + thread->n_blocks - 1);
		end = last > end ? last : end;
		if (!s->has_info) {
			int64_t begin = clock_map_ns(s, first->head.base_ticks, &hint);
			start = begin < start ? begin : start;
		}
	}
	t->start_ns = start == INT64_MAX ? 0 : start;
	t->end_ns = end < t->start_ns ? t->start_ns : end;
}

/* Ticks that no clock pair explains: the first of them is where the stream begins, so that nothing is before that. */
static void anchor_clock(const recording *t, uint32_t number)
{
	recording_stream *s = &t->streams.items[number];
	uint64_t first = UINT64_MAX;

	if (s->pairs.n || !s->has_info || s->info.clock == CLOCK_NS)
		return;
	for (size_t i = 0; i < t->threads.n; i++) {
		uint64_t ticks = t->blocks.items[t->threads.items[i].first_block].head.base_ticks;
		if (t->threads.items[i].stream == number && ticks < first)
			first = ticks;
	}
	if (first != UINT64_MAX)
		s->segments[0] = (clock_segment){ first, trace_bounded_ns(s->info.start_ns), UINT64_C(1) << 32 };
}

trace_site recording_special_site(recording *t, const char *name)
{
	return (trace_site){ .name = intern(&t->strings, name, strlen(name)),
			     .category = intern(&t->strings, "other", 5),
			     .kind = NAME_SCOPE };
}

sonde_status recording_finish(recording *t, sonde_error *err)
{
	if (t->blocks.n)
		qsort(t->blocks.items, t->blocks.n, sizeof t->blocks.items[0], compare_blocks);
	bool ok = drop_repeated(t) && recording_settle_processes(t);
	t->unnamed = recording_special_site(t, "(unnamed)");
	t->refused = recording_special_site(t, "(too many names)");
	ok = ok && make_threads(t) && t->unnamed.name != INTERN_NONE && t->refused.name != INTERN_NONE;
	for (size_t i = 0; ok && i < t->streams.n; i++) {
		recording_stream *s = &t->streams.items[i];
		ok = clock_map_build(s) && resolve_categories(t, s);
		if (ok)
			anchor_clock(t, (uint32_t)i);
		add_losses(t, s);
	}
	if (!ok)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	recording_name_threads(t);
	check_totals(t);
	find_cut_ends(t);
	find_span(t);
	return SONDE_OK;
}
