/*
 * See far_times.h. Times are counted in PLACES between the first and the last. They are less than FAR_LEAST_NS apart in
 * one place, so what is together there stays together. From the fullest place on its neighbors join as long as they are
 * not far; what is left then is far outside, if there is little of it.
 */
#include "store/build/far_times.h"

#include <stdio.h>
#include "base/json_write.h"
#include "store/build/builder_state.h"

enum { PLACES = 4096, TOLD_MAX = 100, NAME_BYTES = 100 };
_Static_assert(2 * (TRACE_NS_MAX / PLACES) < FAR_LEAST_NS, "one place holds nothing that is far from the rest of it");

/* ---- All times of a file ----------------------------------------------------------------------------------------- */

typedef void time_fn(void *context, int64_t ns);

static void each_time(const builder *b, uint32_t file, time_fn *fn, void *context)
{
	size_t n;
	const build_track *tracks = builder_tracks(b, &n);
	const bulk *instants[] = { &b->instants, &b->samples };
	const builder_allocation *a = (const builder_allocation *)b->allocations.bytes;
	const build_value *v = (const build_value *)b->values.bytes;

	for (size_t i = 0; i < n; i++) {
		const builder_slice *s = (const builder_slice *)tracks[i].slices.bytes;
		const flow_event *f = (const flow_event *)tracks[i].flows.bytes;
		if (tracks[i].file != file)
			continue;
		for (size_t k = 0; k < tracks[i].slices.n / sizeof *s; k++) {
			fn(context, s[k].start_ns);
			fn(context, s[k].start_ns + s[k].dur_ns);
		}
		for (size_t k = 0; k < tracks[i].flows.n / sizeof *f; k++)
			fn(context, f[k].time_ns);
	}
	for (size_t k = 0; k < 2; k++) {
		const build_instant *at = (const build_instant *)instants[k]->bytes;
		for (size_t i = 0; i < instants[k]->n / sizeof *at; i++)
			if (tracks[at[i].track].file == file)
				fn(context, at[i].time_ns);
	}
	for (size_t i = 0; i < b->allocations.n / sizeof *a; i++)
		if (tracks[a[i].track].file == file)
			fn(context, a[i].time_ns);
	for (size_t i = 0; i < b->values.n / sizeof *v; i++)
		if (tracks[b->counters.items[v[i].counter].info.track].file == file)
			fn(context, v[i].time_ns);
}

/* ---- Where they are ---------------------------------------------------------------------------------------------- */

typedef struct place {
	uint64_t n;
	time_range range;
} place;

typedef struct times {
	time_range range;
	uint64_t n;
	place *places;
} times;

static void widen(void *context, int64_t ns)
{
	times *t = context;

	t->range.start_ns = ns < t->range.start_ns ? ns : t->range.start_ns;
	t->range.end_ns = ns > t->range.end_ns ? ns : t->range.end_ns;
}

static void count(void *context, int64_t ns)
{
	times *t = context;
	uint64_t width = ((uint64_t)t->range.end_ns - (uint64_t)t->range.start_ns) / PLACES + 1;
	place *p = &t->places[((uint64_t)ns - (uint64_t)t->range.start_ns) / width];

	if (!p->n++)
		p->range = (time_range){ ns, ns };
	p->range.start_ns = ns < p->range.start_ns ? ns : p->range.start_ns;
	p->range.end_ns = ns > p->range.end_ns ? ns : p->range.end_ns;
	t->n++;
}

/* Places [first, last] that belong together. */
typedef struct core {
	size_t first, last;
	time_range range;
	uint64_t n;
	int64_t gap_ns; /* to the nearest place outside */
} core;

static size_t fullest(const times *t)
{
	size_t found = 0;

	for (size_t i = 1; i < PLACES; i++)
		if (t->places[i].n > t->places[found].n)
			found = i;
	return found;
}

/* Takes the nearest place that is not far, on either side. False: there is none. */
static bool grow(const times *t, core *c)
{
	size_t left = c->first, right = c->last;

	while (left > 0 && !t->places[--left].n)
		;
	while (right + 1 < PLACES && !t->places[++right].n)
		;
	int64_t before =
		left < c->first && t->places[left].n ? c->range.start_ns - t->places[left].range.end_ns : INT64_MAX;
	int64_t behind =
		right > c->last && t->places[right].n ? t->places[right].range.start_ns - c->range.end_ns : INT64_MAX;
	c->gap_ns = before < behind ? before : behind;
	if (c->gap_ns == INT64_MAX || c->gap_ns >= far_distance(c->range.end_ns - c->range.start_ns))
		return false;
	const place *taken = &t->places[before <= behind ? left : right];
	c->n += taken->n;
	*(before <= behind ? &c->first : &c->last) = before <= behind ? left : right;
	if (before <= behind)
		c->range.start_ns = taken->range.start_ns;
	else
		c->range.end_ns = taken->range.end_ns;
	return true;
}

bool builder_find_times(const builder *b, uint32_t file, time_range *ret_range)
{
	times t = { .range = { INT64_MAX, INT64_MIN } };

	each_time(b, file, widen, &t);
	if (!is_far_range(t.range.start_ns, t.range.end_ns))
		return false;
	t.places = calloc(PLACES, sizeof *t.places);
	if (!t.places)
		return false; /* the trace is then as long as its times say */
	each_time(b, file, count, &t);
	size_t at = fullest(&t);
	core c = { .first = at, .last = at, .range = t.places[at].range, .n = t.places[at].n };
	while (grow(&t, &c))
		;
	free(t.places);
	uint64_t n_far = t.n - c.n;
	bool is_few = n_far <= FAR_FEW && n_far * 3 <= c.n && c.gap_ns >= FAR_FEW_NS;
	*ret_range = c.range;
	return n_far && (n_far * FAR_SHARE <= c.n || is_few);
}

/* ---- Setting apart ----------------------------------------------------------------------------------------------- */

typedef struct apart {
	builder *b;
	uint32_t file, track; /* track: where they go */
	time_range range;
	uint64_t n;
	json_writer told;
} apart;

static int64_t inside(const apart *a, int64_t ns)
{
	return ns < a->range.start_ns ? a->range.start_ns : ns > a->range.end_ns ? a->range.end_ns : ns;
}

/* What the event says of its time, for who wants to know. dur_ns -1: it has none. */
static void tell(apart *a, uint32_t name, int64_t time_ns, int64_t dur_ns)
{
	size_t len;
	const char *text = builder_text(a->b, name, &len);

	if (a->n++ >= TOLD_MAX)
		return;
	json_begin_object(&a->told);
	json_key(&a->told, "name");
	json_stringn(&a->told, text ? text : "", text ? (len < NAME_BYTES ? len : NAME_BYTES) : 0);
	json_key(&a->told, "time_ns");
	json_i64(&a->told, time_ns);
	if (dur_ns >= 0) {
		json_key(&a->told, "duration_ns");
		json_i64(&a->told, dur_ns);
	}
	json_end_object(&a->told);
}

static uint32_t name_of(const builder *b, uint32_t site)
{
	return site < b->sites.n ? b->sites.items[site].name : INDEX_NONE;
}

/* Takes those that leave the range out of the track. */
static void move_slices(apart *a, uint32_t number)
{
	build_track *t = &builder_tracks(a->b, NULL)[number];
	builder_slice *s = (builder_slice *)t->slices.bytes;
	size_t n = t->slices.n / sizeof *s, kept = 0;

	for (size_t i = 0; i < n; i++) {
		builder_slice moved = s[i];
		int64_t end_ns = inside(a, s[i].start_ns + s[i].dur_ns);
		moved.start_ns = inside(a, s[i].start_ns);
		moved.dur_ns = end_ns - moved.start_ns;
		if (moved.start_ns == s[i].start_ns && moved.dur_ns == s[i].dur_ns) {
			s[kept++] = s[i];
			continue;
		}
		tell(a, name_of(a->b, s[i].site), s[i].start_ns, s[i].dur_ns);
		builder_slices(a->b, a->track, &moved, 1);
	}
	t->slices.n = kept * sizeof *s;
	if (!kept) /* a slice that comes first is in order */
		t->unsorted = false;
}

static void bound_flows(apart *a, build_track *t)
{
	flow_event *f = (flow_event *)t->flows.bytes;

	for (size_t i = 0; i < t->flows.n / sizeof *f; i++) {
		int64_t ns = inside(a, f[i].time_ns);
		if (ns == f[i].time_ns)
			continue;
		tell(a, name_of(a->b, f[i].site), f[i].time_ns, -1);
		f[i].time_ns = ns;
	}
	if (t->first_ns <= t->last_ns) {
		t->first_ns = inside(a, t->first_ns);
		t->last_ns = inside(a, t->last_ns);
	}
}

static bool is_ours(const apart *a, uint32_t track)
{
	return builder_tracks(a->b, NULL)[track].file == a->file;
}

static void move_instants(apart *a, bulk *instants)
{
	build_instant *at = (build_instant *)instants->bytes;

	for (size_t i = 0; i < instants->n / sizeof *at; i++) {
		int64_t ns = inside(a, at[i].time_ns);
		if (ns == at[i].time_ns || !is_ours(a, at[i].track))
			continue;
		tell(a, name_of(a->b, at[i].site), at[i].time_ns, -1);
		at[i].time_ns = ns;
		at[i].track = a->track;
		build_track *to = &builder_tracks(a->b, NULL)[a->track];
		to->first_ns = ns < to->first_ns ? ns : to->first_ns;
		to->last_ns = ns > to->last_ns ? ns : to->last_ns;
	}
}

/* Blocks have their frees, and values their counter: they stay where they are. */
static void bound_others(apart *a)
{
	builder *b = a->b;
	builder_allocation *m = (builder_allocation *)b->allocations.bytes;
	build_value *v = (build_value *)b->values.bytes;

	for (size_t i = 0; i < b->allocations.n / sizeof *m; i++) {
		int64_t ns = inside(a, m[i].time_ns);
		if (ns == m[i].time_ns || !is_ours(a, m[i].track))
			continue;
		tell(a, name_of(b, m[i].site), m[i].time_ns, -1);
		m[i].time_ns = ns;
	}
	for (size_t i = 0; i < b->values.n / sizeof *v; i++) {
		const index_counter *c = &b->counters.items[v[i].counter].info;
		int64_t ns = inside(a, v[i].time_ns);
		if (ns == v[i].time_ns || !is_ours(a, c->track))
			continue;
		tell(a, c->name, v[i].time_ns, -1);
		v[i].time_ns = ns;
	}
}

static uint32_t add_track(builder *b, uint32_t file)
{
	static const char name[] = "outside of the trace's time";
	uint32_t string = builder_string(b, name, sizeof name - 1), process = builder_process(b, file, 0, string);
	uint32_t track = builder_track(b, TRACK_ASYNC, process, 0, INDEX_NONE, string);

	builder_process_of(b, process)->name = string;
	builder_process_of(b, process)->sort = INT32_MAX;
	builder_track_of(b, track)->name = string;
	return track;
}

uint64_t builder_set_apart(builder *b, uint32_t file, time_range range)
{
	char *text = NULL;
	size_t len = 0, n_tracks;
	FILE *out = open_memstream(&text, &len);

	builder_tracks(b, &n_tracks);
	apart a = { .b = b, .file = file, .track = add_track(b, file), .range = range };
	if (!builder_or_fail(b, out) || b->status)
		n_tracks = 0;
	a.told = json_to(out);
	if (n_tracks)
		json_begin_array(&a.told);
	for (uint32_t i = 0; i < n_tracks; i++)
		if (is_ours(&a, i) && i != a.track) {
			move_slices(&a, i);
			bound_flows(&a, &builder_tracks(b, NULL)[i]);
		}
	if (n_tracks) {
		move_instants(&a, &b->instants);
		move_instants(&a, &b->samples);
		bound_others(&a);
		json_end_array(&a.told);
	}
	if (out && fclose(out) == 0 && n_tracks)
		builder_meta(b, BUILDER_RANK_OF(file), "sonde.times_outside", 19, text, len, true);
	free(text);
	return a.n;
}
