/*
 * Slices that come as they end, with their depth: packed at once, so that a recording of any length is indexed in
 * little memory.
 *
 *   lane_feed_add()      a slice; its children have come before
 *   lane_feed_finish()   packs the rest and binds the track's flow points, by reading the blocks again
 */
#include "store/build/builder_state.h"

typedef struct feed_depth {
	uint64_t child_ns; /* of children whose parent has not come yet */
	uint32_t lane;
} feed_depth;

struct lane_feed {
	VEC(feed_depth) depths;
	uint32_t deepest; /* children may wait down to here */
};

/* Lanes down to the depth: none may be missing above another. */
static bool reach(build_track *t, uint32_t depth)
{
	struct lane_feed *feed = t->feed;

	while (feed->depths.n <= depth) {
		uint32_t n = (uint32_t)feed->depths.n;
		uint32_t lane = track_add_lane(t, n / NEST_DEPTH, n % NEST_DEPTH);
		feed_depth *d = lane == NO_LANE ? NULL : VEC_ADD(&feed->depths);
		if (!d)
			return false;
		d->lane = lane;
	}
	return true;
}

/* The children's time is not the slice's own; what waits below them has lost its parent. */
static uint64_t take_children(struct lane_feed *feed, uint32_t depth)
{
	uint64_t child_ns = depth + 1 < feed->depths.n ? feed->depths.items[depth + 1].child_ns : 0;

	for (uint32_t i = depth + 1; i <= feed->deepest; i++)
		feed->depths.items[i].child_ns = 0;
	feed->deepest = depth;
	return child_ns;
}

/* A slice that begins before the one before it in its lane ends is cut. */
static builder_slice in_order(const build_lane *l, const builder_slice *s)
{
	builder_slice fixed = *s;
	const lane_row *last = l->n ? &l->rows[l->n - 1] : NULL;
	int64_t end_ns = last ? last->start_ns + last->dur_ns : l->end_ns;

	if (l->n_slices && s->start_ns < end_ns) {
		int64_t own_end_ns = s->start_ns + s->dur_ns;
		fixed.start_ns = end_ns;
		fixed.dur_ns = own_end_ns > end_ns ? own_end_ns - end_ns : 0;
		fixed.flags |= SLICE_IS_REPAIRED;
	}
	return fixed;
}

static void add(build_track *t, packer *p, uint32_t depth, const builder_slice *slice)
{
	feed_depth *d = &t->feed->depths.items[depth];
	build_lane *l = track_lane(t, d->lane);
	builder_slice s = in_order(l, slice);
	uint64_t up = depth % NEST_DEPTH ? track_lane(t, d[-1].lane)->n_slices : 0;
	slice_place place = { d->lane, l->n_slices };

	p->sums[s.site].child_ns += take_children(t->feed, depth);
	if (depth % NEST_DEPTH)
		d->child_ns += (uint64_t)s.dur_ns;
	int64_t end_ns = s.start_ns + s.dur_ns;
	bool first = !t->info.n_slices++;
	t->start_ns = first || s.start_ns < t->start_ns ? s.start_ns : t->start_ns;
	t->end_ns = first || end_ns > t->end_ns ? end_ns : t->end_ns;
	t->n_deep += depth >= NEST_DEPTH;
	lane_add(p, l, &s, up);
	if (!track_mark(t, p->classes[s.site], &s, place))
		p->failed = true;
}

void lane_feed_add(build_track *t, packer *p, uint32_t depth, const builder_slice *s)
{
	if (s->site >= p->n_sites || depth / NEST_DEPTH > UINT16_MAX) {
		p->strange = true;
		return;
	}
	if (!t->feed)
		t->feed = calloc(1, sizeof *t->feed);
	if (!t->feed || !reach(t, depth)) {
		p->failed = true;
		return;
	}
	add(t, p, depth, s);
}

/* ---- Flow points ------------------------------------------------------------------------------------------------- */

typedef struct feed_sweep {
	const flow_event *flows;
	flow_bind *binds;
	size_t n, around, incoming; /* the next point that the slice around it takes; that the next slice takes */
	uint64_t row;
	uint32_t lane;
	bool has_row;
	int64_t start_ns, end_ns; /* of the row before */
} feed_sweep;

/* Of the slices that hold the point the one that starts last, of those the deepest: lanes come from above. */
static void offer_around(feed_sweep *w, size_t i)
{
	const flow_event *f = &w->flows[i];
	bool bound = w->binds[i].place.lane != NO_LANE;

	if (f->phase == FLOW_NEXT || !w->has_row || w->end_ns < f->time_ns ||
	    (bound && w->start_ns < f->time_ns - w->binds[i].from_ns))
		return;
	w->binds[i] = (flow_bind){ { w->lane, w->row - 1 }, f->time_ns - w->start_ns };
}

static void offer_incoming(feed_sweep *w, size_t i, int64_t start_ns)
{
	const flow_event *f = &w->flows[i];
	bool bound = w->binds[i].place.lane != NO_LANE;

	if (f->phase != FLOW_NEXT || (bound && start_ns >= f->time_ns - w->binds[i].from_ns))
		return;
	w->binds[i] = (flow_bind){ { w->lane, w->row }, f->time_ns - start_ns };
}

static void bind_row(feed_sweep *w, int64_t start_ns, int64_t dur_ns)
{
	for (; w->around < w->n && w->flows[w->around].time_ns < start_ns; w->around++)
		offer_around(w, w->around);
	for (; w->incoming < w->n && w->flows[w->incoming].time_ns <= start_ns; w->incoming++)
		offer_incoming(w, w->incoming, start_ns);
	w->has_row = true;
	w->start_ns = start_ns;
	w->end_ns = start_ns + dur_ns;
	w->row++;
}

/* Whether no point that is left lies before the time. */
static bool none_before(const feed_sweep *w, int64_t time_ns)
{
	return (w->around == w->n || w->flows[w->around].time_ns >= time_ns) &&
	       (w->incoming == w->n || w->flows[w->incoming].time_ns >= time_ns);
}

/* The rows of a block. */
static bool bind_block(feed_sweep *w, const lane_block *block, int64_t origin_ns)
{
	int64_t gap[COLUMNS_ROWS], dur[COLUMNS_ROWS];
	columns c;

	if (!columns_open(&c, block->bytes, block->len, SLICE_COLUMNS))
		return false;
	columns_unpack(&c, SLICE_GAP, 0, c.n_rows, gap);
	columns_unpack(&c, SLICE_DUR, 0, c.n_rows, dur);
	int64_t time_ns = columns_base(&c, SLICE_BEFORE_TIME) + origin_ns;
	for (uint32_t i = 0; i < c.n_rows; i++) {
		bind_row(w, time_ns + gap[i], dur[i]);
		time_ns += gap[i] + dur[i];
	}
	return true;
}

/* A block that no point needs is skipped. */
static bool bind_next(feed_sweep *w, const lane_block *block, const lane_block *behind, int64_t origin_ns)
{
	if (!behind || !none_before(w, (int64_t)behind->summaries[0].start_ns + origin_ns))
		return bind_block(w, block, origin_ns);
	w->row += block->n_rows;
	return true;
}

/* Blocks of a copy that are the original's come first. */
static bool bind_shared(feed_sweep *w, const build_lane *l, int64_t origin_ns)
{
	uint32_t n = l->original ? l->n_before : 0;
	bool ok = true;

	for (uint32_t k = 0; ok && k < n; k++) {
		const lane_block *next = k + 1 < n ? l->original->blocks[k + 1] : l->n_blocks > n ? l->blocks[0] : NULL;
		ok = bind_next(w, l->original->blocks[k], next, origin_ns);
	}
	return ok;
}

static bool bind_lane(build_track *t, uint32_t lane_number, packer *p)
{
	feed_sweep w = {
		.flows = (const flow_event *)t->flows.bytes,
		.binds = (flow_bind *)t->binds.bytes,
		.n = t->flows.n / sizeof(flow_event),
		.lane = lane_number,
	};
	const build_lane *l = track_lane(t, lane_number);
	block_walk walk = block_walk_of(l, p->spilled);
	const lane_block *behind;
	bool ok = bind_shared(&w, l, p->origin_ns);

	for (const lane_block *block; ok && (block = block_walk_next(&walk, &behind));)
		ok = bind_next(&w, block, behind, p->origin_ns);
	ok = ok && !walk.failed;
	block_walk_done(&walk);
	if (!ok)
		return false;
	for (; w.around < w.n; w.around++)
		offer_around(&w, w.around);
	return true;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void shift(build_track *t, int64_t shift_ns)
{
	flow_event *flows = (flow_event *)t->flows.bytes;
	slice_mark *marks = (slice_mark *)t->correlated.bytes;
	step_mark *steps = (step_mark *)t->steps.bytes;

	for (size_t i = 0; i < t->flows.n / sizeof *flows; i++)
		flows[i].time_ns = trace_bounded_ns(flows[i].time_ns + shift_ns);
	t->shift_ns = trace_bounded_ns(t->start_ns + shift_ns) - t->start_ns;
	for (size_t i = 0; i < t->correlated.n / sizeof *marks; i++)
		marks[i].start_ns += t->shift_ns;
	for (size_t i = 0; i < t->steps.n / sizeof *steps; i++)
		steps[i].start_ns += t->shift_ns;
	t->start_ns += t->shift_ns;
	t->end_ns += t->shift_ns;
}

bool lane_feed_finish(build_track *t, packer *p, int64_t shift_ns)
{
	for (uint32_t i = 0; i < track_n_lanes(t); i++) {
		build_lane *l = track_lane(t, i);
		lane_flush(p, l);
		lane_done(l);
		if (l->depth && l->n_slices && l->up >= track_lane(t, i - 1)->n_slices)
			p->strange = true; /* a parent did not come */
	}
	if (p->strange)
		return false;
	if (p->failed || !flows_prepare(t, 0))
		return false;
	for (uint32_t i = 0; t->flows.n && i < track_n_lanes(t); i++)
		if (!bind_lane(t, i, p))
			return false;
	shift(t, shift_ns);
	return true;
}

void lane_feed_free(build_track *t)
{
	if (t->feed)
		VEC_DONE(&t->feed->depths);
	free(t->feed);
	t->feed = NULL;
}

bool lane_feed_copy(build_track *to, const build_track *from)
{
	if (!from->feed)
		return true;
	to->feed = calloc(1, sizeof *to->feed);
	if (!to->feed)
		return false;
	to->feed->deepest = from->feed->deepest;
	return VEC_COPY(&to->feed->depths, &from->feed->depths);
}
