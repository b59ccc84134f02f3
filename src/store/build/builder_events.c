/* Events of the builder, into arrays; see builder.h. */
#include "store/build/builder_state.h"

/* Times that could overflow when they are added end here. */
static inline void bound(builder_slice *s)
{
	if (__builtin_expect((uint64_t)s->start_ns + TRACE_NS_MAX > 2 * (uint64_t)TRACE_NS_MAX, 0))
		s->start_ns = trace_bounded_ns(s->start_ns);
	if (__builtin_expect((uint64_t)s->dur_ns > TRACE_NS_MAX, 0))
		s->dur_ns = s->dur_ns < 0 ? 0 : TRACE_NS_MAX;
}

/* Most tracks come sorted; then nothing has to look at them for that. */
static inline void note_order(build_track *t, const builder_slice *added, size_t n)
{
	size_t i = (const uint8_t *)added == t->slices.bytes;

	for (; i < n && !t->unsorted; i++)
		t->unsorted = slice_before(&added[i], &added[i] - 1);
}

static const char mixed[] = "a track has slices with and without a depth";

void builder_slices(builder *b, uint32_t track, const builder_slice *slices, size_t n)
{
	build_track *t = builder_track_at(b, track);

	if (!t || !n)
		return;
	if (t->feed)
		builder_fail(b, SONDE_E_USAGE, mixed);
	builder_slice *to = n > SIZE_MAX / sizeof *to ? NULL : bulk_add(&t->slices, n * sizeof *to);
	if (!builder_or_fail(b, to))
		return;
	memcpy(to, slices, n * sizeof *to);
	for (size_t i = 0; i < n; i++)
		bound(&to[i]);
	note_order(t, to, n);
}

/* A word that was stored a moment ago. Two of them in one load would have to wait until they are in the cache. */
static inline uint64_t word_of(const builder_slice *slice, size_t i)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)slice + 8 * i, 8);
	__asm__("" : "+r"(word));
	return word;
}

void builder_slice_add(builder *b, uint32_t track, const builder_slice *slice)
{
	size_t n;
	build_track *tracks = builder_tracks(b, &n), *t = track < n ? &tracks[track] : NULL;

	if (__builtin_expect(!t || t->feed || t->slices.capacity - t->slices.n < sizeof *slice, 0)) {
		builder_slices(b, track, slice, 1);
		return;
	}
	builder_slice *to = (builder_slice *)(t->slices.bytes + t->slices.n);
	for (size_t i = 0; i < sizeof *to / 8; i++) {
		uint64_t word = word_of(slice, i);
		memcpy((uint8_t *)to + 8 * i, &word, 8);
	}
	bound(to);
	if (t->slices.n && slice_before(to, to - 1))
		t->unsorted = true;
	t->slices.n += sizeof *slice;
}

void builder_lane_slice(builder *b, uint32_t track, uint32_t depth, const builder_slice *slice)
{
	build_track *t = builder_track_at(b, track);
	packer *p = &b->packer;
	builder_slice s = *slice;

	bound(&s);
	if (!t || b->status)
		return;
	if (t->slices.n)
		builder_fail(b, SONDE_E_USAGE, mixed);
	if (!p->values && !packer_init(p))
		p->failed = true;
	p->sums = b->sums.items;
	p->classes = b->classes.items;
	p->n_sites = (uint32_t)b->sites.n;
	p->origin_ns = b->options.origin_ns;
	p->pads = b->options.is_copied;
	if (!p->failed)
		lane_feed_add(t, p, depth, &s);
	if (p->failed)
		builder_fail(b, SONDE_E_MEMORY, "out of memory");
	if (p->strange)
		builder_fail(b, SONDE_E_USAGE, "a slice without a site, or at an impossible depth");
	builder_spill_if_due(b);
}

/* The track of an event that is no slice, or NULL. */
static build_track *event_at(builder *b, uint32_t track, int64_t time_ns)
{
	build_track *t = builder_track_at(b, track);

	if (t) {
		t->first_ns = time_ns < t->first_ns ? time_ns : t->first_ns;
		t->last_ns = time_ns > t->last_ns ? time_ns : t->last_ns;
	}
	return t;
}

static void add_instant(builder *b, bulk *to, build_instant instant)
{
	build_track *t = event_at(b, instant.track, instant.time_ns);
	build_instant *at = t ? builder_or_fail(b, bulk_add(to, sizeof *at)) : NULL;

	if (at)
		*at = instant;
}

void builder_instant(builder *b, uint32_t track, int64_t time_ns, uint32_t site, uint32_t args, char scope)
{
	add_instant(b, &b->instants,
		    (build_instant){ trace_bounded_ns(time_ns), track, site, args, (unsigned char)scope });
}

void builder_sample(builder *b, uint32_t track, int64_t time_ns, uint32_t site, uint32_t args)
{
	add_instant(b, &b->samples, (build_instant){ trace_bounded_ns(time_ns), track, site, args, 0 });
}

void builder_flow(builder *b, uint32_t track, int64_t time_ns, uint32_t site, uint64_t id, char phase, uint32_t args)
{
	build_track *t = event_at(b, track, trace_bounded_ns(time_ns));

	if (site >= b->sites.n)
		builder_fail(b, SONDE_E_USAGE, "a flow without a site");
	flow_event *f = t && !b->status ? builder_or_fail(b, bulk_add(&t->flows, sizeof *f)) : NULL;
	if (!f)
		return;
	*f = (flow_event){
		.time_ns = trace_bounded_ns(time_ns),
		.id = id,
		.site = site,
		.arrival = b->n_flows,
		.phase = phase == 's'	? FLOW_START
			 : phase == 'f' ? FLOW_NEXT
			 : phase == 'F' ? FLOW_ENCLOSING
					: FLOW_STEP,
	};
	flow_args *with = args ? builder_or_fail(b, bulk_add(&b->flow_args, sizeof *with)) : NULL;
	if (with)
		*with = (flow_args){ b->n_flows, args };
	b->n_flows++;
}

void builder_allocation_add(builder *b, const builder_allocation *a)
{
	int64_t time_ns = trace_bounded_ns(a->time_ns);
	build_track *t = event_at(b, a->track, time_ns);
	builder_allocation *at = t ? builder_or_fail(b, bulk_add(&b->allocations, sizeof *at)) : NULL;

	if (!at)
		return;
	*at = *a;
	at->time_ns = time_ns;
}

static uint32_t counter_of(builder *b, uint32_t track, uint32_t name, uint32_t series, uint32_t category)
{
	uint32_t key[4] = { track, name, series, category }, number;

	if (!builder_is_new(b, &b->counter_keys, key, sizeof key, b->counters.n, &number))
		return number;
	build_counter *c = builder_or_fail(b, VEC_ADD(&b->counters));
	if (c)
		c->info = (index_counter){ .name = name, .series = series, .track = track, .category = category };
	return number;
}

void builder_value(builder *b, uint32_t track, uint32_t name, uint32_t series, uint32_t category, int64_t time_ns,
		   double value)
{
	build_track *t = event_at(b, track, trace_bounded_ns(time_ns));
	uint32_t counter = t ? counter_of(b, track, name, series, category) : INTERN_NONE;
	build_value *v = counter < b->counters.n ? builder_or_fail(b, bulk_add(&b->values, sizeof *v)) : NULL;

	if (!v)
		return;
	*v = (build_value){ trace_bounded_ns(time_ns), value, counter, 0 };
	b->counters.items[counter].n_values++;
}
