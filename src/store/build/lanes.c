/*
 * A track's slices into lanes.
 *
 * They are sorted by start, longer ones first, then in the order in which they came. A stack of open slices then says
 * how deep each lies: what ended is taken off; what ends no later than the one on top lies inside it. What overlaps the
 * end of the one on top goes to the next stack where it fits, and with it to another group of lanes. After NEST_GROUPS
 * stacks a slice gets a lane to itself and others that come after its end; a heap says which lane is free first, so
 * that any number of overlapping slices takes n log n.
 *
 * Flow points are bound on the way: when the sweep stands at a time, the stacks hold the slices around it.
 */
#include "store/build/builder_state.h"

typedef struct open_slice {
	int64_t start_ns, end_ns;
	uint64_t order; /* in the sweep */
	uint64_t row;
	uint32_t site;
} open_slice;

/* One stack. open[0] is no slice but holds all of them; open[i + 1] is in lane lanes[i]. */
typedef struct nest_group {
	open_slice *open;
	uint32_t *lanes;
	uint32_t n, n_lanes, capacity; /* n: without open[0] */
} nest_group;

/* A lane beyond the groups, by the end of its last slice. */
typedef struct extra_lane {
	int64_t end_ns;
	uint32_t lane;
} extra_lane;

typedef struct sweep {
	build_track *track;
	packer *packer;
	site_sums *sums;
	nest_group groups[NEST_GROUPS];
	uint32_t n_groups;
	VEC(extra_lane) heap;
	uint64_t n;	       /* slices so far */
	open_slice last_extra; /* in the lanes beyond the groups */
	slice_place last_extra_place;
	const flow_event *flows;
	flow_bind *binds;
	size_t n_flows;
	size_t next_flow;     /* the next that is bound to the slice around it */
	size_t next_incoming; /* the next FLOW_NEXT */
} sweep;

#define SORT_NAME sort_slices
#define SORT_TYPE builder_slice
#define SORT_BEFORE(a, b) slice_before(a, b)
#include "base/sort_template.h"

uint32_t track_add_lane(build_track *t, uint32_t group, uint32_t depth)
{
	size_t n = track_n_lanes(t);
	build_lane *l = n < NO_LANE ? bulk_add(&t->lanes, sizeof *l) : NULL;

	if (!l)
		return NO_LANE;
	*l = (build_lane){ .group = group, .depth = depth };
	return (uint32_t)n;
}

bool track_mark(build_track *t, site_class class, const builder_slice *s, slice_place at)
{
	if (s->correlation) {
		slice_mark *mark = bulk_add(&t->correlated, sizeof *mark);
		if (!mark)
			return false;
		*mark = (slice_mark){ s->correlation, class == CLASS_RUNTIME, s->start_ns, at };
	}
	if (class == CLASS_STEP) {
		step_mark *mark = bulk_add(&t->steps, sizeof *mark);
		if (!mark)
			return false;
		*mark = (step_mark){ s->start_ns, s->dur_ns, at, s->site };
	}
	return true;
}

/* ---- Flow points ------------------------------------------------------------------------------------------------- */

static void bind(sweep *w, size_t flow, int64_t start_ns, slice_place at)
{
	w->binds[flow] = (flow_bind){ at, w->flows[flow].time_ns - start_ns };
}

/* The slice that is latest in the order of the sweep, of those that hold the time. No slice to come starts before it
   or at it. Of the lanes beyond the groups only the newest slice is looked at. */
static void bind_to_innermost(sweep *w, size_t flow)
{
	int64_t time_ns = w->flows[flow].time_ns;
	const open_slice *best = NULL;
	slice_place at = { NO_LANE, 0 };

	for (uint32_t i = 0; i < w->n_groups; i++) {
		nest_group *g = &w->groups[i];
		while (g->open[g->n].end_ns < time_ns)
			g->n--;
		const open_slice *top = g->n ? &g->open[g->n] : NULL;
		if (top && (!best || top->order > best->order)) {
			best = top;
			at = (slice_place){ g->lanes[g->n - 1], top->row };
		}
	}
	if (w->heap.n && w->last_extra.end_ns >= time_ns && (!best || w->last_extra.order > best->order)) {
		best = &w->last_extra;
		at = w->last_extra_place;
	}
	if (best)
		bind(w, flow, best->start_ns, at);
}

/* Binds what lies before the time. */
static void bind_around(sweep *w, int64_t before_ns)
{
	for (; w->next_flow < w->n_flows && w->flows[w->next_flow].time_ns < before_ns; w->next_flow++)
		if (w->flows[w->next_flow].phase != FLOW_NEXT)
			bind_to_innermost(w, w->next_flow);
}

/* Binds what waits for a slice to this one. */
static void bind_incoming(sweep *w, int64_t start_ns, slice_place at)
{
	for (; w->next_incoming < w->n_flows && w->flows[w->next_incoming].time_ns <= start_ns; w->next_incoming++)
		if (w->flows[w->next_incoming].phase == FLOW_NEXT)
			bind(w, w->next_incoming, start_ns, at);
}

/* ---- Lanes beyond the groups ------------------------------------------------------------------------------------- */

static bool ends_before(const extra_lane *a, const extra_lane *b)
{
	return a->end_ns < b->end_ns || (a->end_ns == b->end_ns && a->lane < b->lane);
}

/* Puts the entry where the hole at the root is, or below it. */
static void sift_down(extra_lane *heap, size_t n, extra_lane entry)
{
	size_t at = 0;

	for (size_t child = 1; child < n; child = 2 * at + 1) {
		child += child + 1 < n && ends_before(&heap[child + 1], &heap[child]);
		if (ends_before(&entry, &heap[child]))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = entry;
}

static void sift_up(extra_lane *heap, size_t at, extra_lane entry)
{
	for (; at && ends_before(&entry, &heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = entry;
}

/* The lane that has been free for longest, or a new one. */
static uint32_t take_extra_lane(sweep *w, int64_t start_ns, int64_t end_ns)
{
	extra_lane *heap = w->heap.items;

	if (w->heap.n && heap[0].end_ns <= start_ns) {
		uint32_t lane = heap[0].lane;
		sift_down(heap, w->heap.n, (extra_lane){ end_ns, lane });
		return lane;
	}
	uint32_t lane = track_add_lane(w->track, NEST_GROUPS + (uint32_t)w->heap.n, 0);
	if (lane == NO_LANE || !VEC_ADD(&w->heap))
		return NO_LANE;
	sift_up(w->heap.items, w->heap.n - 1, (extra_lane){ end_ns, lane });
	return lane;
}

/* ---- Nesting ----------------------------------------------------------------------------------------------------- */

static bool grow_group(nest_group *g)
{
	uint32_t capacity = g->capacity ? g->capacity * 2 : 4;
	open_slice *open = realloc(g->open, (capacity + UINT32_C(1)) * sizeof *open);

	if (open)
		g->open = open;
	uint32_t *lanes = open ? realloc(g->lanes, capacity * sizeof *lanes) : NULL;
	if (!lanes)
		return false;
	g->lanes = lanes;
	g->capacity = capacity;
	return true;
}

/* A stack with nothing but what holds everything: its site is behind the last and its row 0, so that it is a parent
   like any other. */
static bool add_group(sweep *w)
{
	nest_group *g = &w->groups[w->n_groups++];

	if (!grow_group(g))
		return false;
	g->open[0] = (open_slice){ .end_ns = INT64_MAX, .site = w->packer->n_sites };
	return true;
}

/* Makes room for one more on the stack, and a lane for it. */
static bool deepen(sweep *w, nest_group *g)
{
	if (g->n == g->capacity && !grow_group(g))
		return false;
	if (g->n < g->n_lanes)
		return true;
	g->lanes[g->n] = track_add_lane(w->track, (uint32_t)(g - w->groups), g->n);
	g->n_lanes += g->lanes[g->n] != NO_LANE;
	return g->n < g->n_lanes;
}

/* True when the slice lies inside what is open there, or nothing is. */
static inline bool fits(nest_group *g, int64_t start_ns, int64_t end_ns)
{
	uint32_t n = g->n;

	while (g->open[n].end_ns <= start_ns)
		n--;
	g->n = n;
	return g->open[n].end_ns >= end_ns;
}

/* Puts the slice on the stack. Returns its lane, or NO_LANE when out of memory. */
static inline uint32_t nest(sweep *w, nest_group *g, const builder_slice *s, uint64_t *ret_up)
{
	if (__builtin_expect(g->n >= g->n_lanes || g->n == g->capacity, 0) && !deepen(w, g))
		return NO_LANE;
	const open_slice *parent = &g->open[g->n];
	open_slice *own = &g->open[g->n + 1];
	uint32_t lane = g->lanes[g->n++];
	w->sums[parent->site].child_ns += (uint64_t)s->dur_ns;
	*ret_up = parent->row;
	own->start_ns = s->start_ns;
	own->end_ns = s->start_ns + s->dur_ns;
	own->order = w->n;
	own->site = s->site;
	own->row = track_lane(w->track, lane)->n_slices;
	return lane;
}

/* Into a lane beyond the groups. */
static uint32_t add_extra(sweep *w, const builder_slice *s)
{
	int64_t end_ns = s->start_ns + s->dur_ns;
	uint32_t lane = take_extra_lane(w, s->start_ns, end_ns);

	if (lane != NO_LANE) {
		w->last_extra =
			(open_slice){ .start_ns = s->start_ns, .end_ns = end_ns, .order = w->n, .site = s->site };
		w->last_extra_place = (slice_place){ lane, track_lane(w->track, lane)->n_slices };
	}
	return lane;
}

/* A slice that does not go into the first group. */
static uint32_t nest_elsewhere(sweep *w, const builder_slice *s, bool deep, uint64_t *ret_up)
{
	uint32_t i = 1;

	for (; i < NEST_GROUPS; i++) {
		if (i == w->n_groups && !add_group(w))
			return NO_LANE;
		if (!fits(&w->groups[i], s->start_ns, s->start_ns + s->dur_ns))
			continue;
		if (w->groups[i].n < NEST_DEPTH)
			break;
		deep = true;
	}
	w->track->n_deep += deep;
	w->track->n_overlapping += !deep;
	*ret_up = 0;
	return i < NEST_GROUPS ? nest(w, &w->groups[i], s, ret_up) : add_extra(w, s);
}

/* Returns the slice's lane, or NO_LANE when out of memory. */
static inline uint32_t place(sweep *w, const builder_slice *s)
{
	nest_group *g = &w->groups[0];
	bool fit = fits(g, s->start_ns, s->start_ns + s->dur_ns);
	uint64_t up;
	uint32_t lane;

	if (__builtin_expect(fit && g->n < NEST_DEPTH, 1))
		lane = nest(w, g, s, &up);
	else
		lane = nest_elsewhere(w, s, fit, &up);
	if (__builtin_expect(lane == NO_LANE, 0))
		return NO_LANE;
	w->n++;
	lane_add(w->packer, track_lane(w->track, lane), s, up);
	return lane;
}

/* ---- A track ----------------------------------------------------------------------------------------------------- */

static inline bool sweep_slice(sweep *w, builder_slice *s, int64_t shift_ns)
{
	build_track *t = w->track;

	if (s->site >= w->packer->n_sites) {
		w->packer->strange = true;
		return false;
	}
	if (shift_ns)
		s->start_ns = trace_bounded_ns(s->start_ns + shift_ns);
	if (w->next_flow < w->n_flows)
		bind_around(w, s->start_ns);
	uint32_t lane = place(w, s);
	bool ok = lane != NO_LANE;
	site_class class = w->packer->classes[s->site];
	if (__builtin_expect(s->correlation || class == CLASS_STEP || w->next_incoming < w->n_flows, 0) && ok) {
		slice_place at = { lane, track_lane(t, lane)->n_slices - 1 };
		bind_incoming(w, s->start_ns, at);
		ok = track_mark(t, class, s, at);
	}
	int64_t end_ns = s->start_ns + s->dur_ns;
	t->end_ns = end_ns > t->end_ns ? end_ns : t->end_ns;
	w->packer->failed |= !ok;
	return ok;
}

static bool sweep_all(sweep *w, int64_t shift_ns, lanes_tick *tick, void *context)
{
	enum { TICK = 1 << 16 };
	build_track *t = w->track;
	builder_slice *slices = (builder_slice *)t->slices.bytes;
	size_t n = t->slices.n / sizeof *slices, released = 0;

	if (n)
		t->start_ns = t->end_ns = trace_bounded_ns(slices[0].start_ns + shift_ns);
	for (size_t i = 0; i < n; i++) {
		if (!sweep_slice(w, &slices[i], shift_ns))
			return false;
		if (i % TICK == TICK - 1) {
			bulk_release(&t->slices, &released, i * sizeof *slices);
			if (!tick(context, TICK) || w->packer->failed)
				return false;
		}
	}
	bind_around(w, INT64_MAX);
	for (uint32_t i = 0; i < track_n_lanes(t); i++) {
		lane_flush(w->packer, track_lane(t, i));
		lane_done(track_lane(t, i));
	}
	return !w->packer->failed && tick(context, n % TICK);
}

static bool sort_all(sweep *w, int64_t shift_ns)
{
	build_track *t = w->track;

	if (!flows_prepare(t, shift_ns))
		return false;
	w->flows = (const flow_event *)t->flows.bytes;
	w->binds = (flow_bind *)t->binds.bytes;
	w->n_flows = t->flows.n / sizeof *w->flows;
	return !t->unsorted || sort_slices((builder_slice *)t->slices.bytes, t->slices.n / sizeof(builder_slice));
}

bool lanes_build(build_track *t, packer *p, int64_t shift_ns, lanes_tick *tick, void *context)
{
	sweep w = { .track = t, .packer = p, .sums = p->sums };
	bool ok = sort_all(&w, shift_ns) && add_group(&w);

	if (!ok)
		p->failed = true;
	ok = ok && sweep_all(&w, shift_ns, tick, context);
	for (uint32_t i = 0; i < w.n_groups; i++) {
		free(w.groups[i].open);
		free(w.groups[i].lanes);
	}
	VEC_DONE(&w.heap);
	bulk_done(&t->slices);
	return ok;
}
