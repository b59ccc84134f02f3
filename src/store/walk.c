/*
 * See walk.h: track after track, and in a track one group of lanes after the other.
 *
 * A lane holds its slices in the order of time, and each knows the row of its parent in the lane above. So begins and
 * ends come out in order without sorting: after a slice come those of the lane below whose parent it is, then its end.
 *
 * Allocations come with the slices of their track, as the innermost open slice is told with them. Instants, counters
 * and flows come after all slices, each kind in the order of its table.
 */
#include "base/error.h"
#include "store/track_allocations.h"
#include "store/walk.h"

enum {
	CURSORS = 1024,		  /* lanes of a group; a builder makes no more, and deeper ones count as groups */
	SLICES_RESIDENT = 1 << 20 /* between two looks at how much of the file is in memory */
};

/* The lane of one depth. Its slices are read out of the cursor's buffers. */
typedef struct lane_state {
	lane_cursor *cursor;
	uint64_t open; /* number of the slice that is on the stack, or was last */
} lane_state;

typedef struct step_number {
	uint64_t slice;
	int64_t number;
} step_number;

typedef struct index_walk {
	const sonde_trace *trace;
	const sonde_index *ix;
	const walk_sink *sink;
	walk_counts counts;
	trace_site *sites; /* by number of the index's; one more for those that are not there */
	trace_site *plain; /* the same for slices that have a step's name and are none */
	size_t n_sites;
	step_number *steps; /* by slice */
	size_t n_steps;
	VEC(lane_state) lanes; /* by depth; kept from group to group */
	VEC(slice) stack;
	uint32_t n_lanes;	  /* of this group */
	bool is_device, is_async; /* kind of the track */
	const trace_thread *thread;
	track_allocations allocations;
	size_t next_allocation, end_allocation; /* of this track */
	args_reader *args;
	uint64_t n_entered; /* slices of this track */
	uint64_t n_read;    /* slices since pages were let go of */
	bool failed;
} index_walk;

/* ---- What events refer to ---------------------------------------------------------------------------------------- */

static uint8_t kind_of(const index_site *site)
{
	if (site->kind != NAME_SCOPE && site->kind < NAME_KINDS)
		return site->kind;
	return site->class == CLASS_STEP ? NAME_STEP : site->class == CLASS_PHASE ? NAME_PHASE : NAME_SCOPE;
}

static bool make_sites(index_walk *w)
{
	const index_site *sites = index_sites(w->ix, &w->n_sites);
	uint32_t n_strings = (uint32_t)index_n_strings(w->ix);

	w->sites = calloc(w->n_sites + 1, sizeof *w->sites);
	w->plain = calloc(w->n_sites + 1, sizeof *w->plain);
	if (!w->sites || !w->plain)
		return false;
	for (size_t i = 0; i < w->n_sites; i++) {
		w->plain[i] = (trace_site){ .name = sites[i].name < n_strings ? sites[i].name : n_strings,
					    .category = sites[i].category,
					    .kind = NAME_SCOPE };
		w->sites[i] = w->plain[i];
		w->sites[i].kind = kind_of(&sites[i]);
	}
	w->sites[w->n_sites] = w->plain[w->n_sites] = (trace_site){ .name = n_strings, .category = INDEX_NONE };
	return true;
}

static const trace_site *site_of(index_walk *w, uint64_t site)
{
	if (__builtin_expect(site < w->n_sites, 1))
		return &w->sites[site];
	w->counts.n_unknown++;
	return &w->sites[w->n_sites];
}

static int compare_steps(const void *a, const void *b)
{
	const step_number *x = a, *y = b;

	return x->slice < y->slice ? -1 : x->slice > y->slice;
}

static bool make_steps(index_walk *w)
{
	const index_step *steps = index_steps(w->ix, &w->n_steps);

	w->steps = malloc((w->n_steps + 1) * sizeof *w->steps);
	if (!w->steps)
		return false;
	for (size_t i = 0; i < w->n_steps; i++)
		w->steps[i] = (step_number){ steps[i].slice, steps[i].number };
	qsort(w->steps, w->n_steps, sizeof *w->steps, compare_steps);
	return true;
}

/* A slice with a step's name is one only when the index lists it: a device may show the same step again. */
static void number_step(index_walk *w, slice *s, uint64_t id)
{
	step_number key = { .slice = id };
	const step_number *found = bsearch(&key, w->steps, w->n_steps, sizeof key, compare_steps);

	if (found)
		s->number = found->number;
	else
		s->site = &w->plain[s->site - w->sites];
}

static bool get_arg(index_walk *w, uint32_t args, const char *key, char *text, size_t size)
{
	const char *json;
	size_t len;

	if (!w->args && !(w->args = args_reader_new(w->ix)))
		w->failed = true;
	if (!w->args || !args || !args_get(w->args, args, key, &json, &len) || len >= size)
		return false;
	memcpy(text, json, len);
	text[len] = 0;
	return true;
}

static void get_work(index_walk *w, slice *s, uint32_t args)
{
	char text[64];

	if (get_arg(w, args, "flops", text, sizeof text))
		s->flops = strtod(text, NULL);
	if (get_arg(w, args, "bytes", text, sizeof text))
		s->bytes = strtod(text, NULL);
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

static bool load(index_walk *w, lane_cursor *c)
{
	if (lane_load(c))
		return true;
	w->counts.n_damaged += c->damaged;
	c->damaged = false;
	return false;
}

static inline bool has_next(index_walk *w, lane_state *lane)
{
	return __builtin_expect(lane->cursor->at < lane->cursor->n, 1) || load(w, lane->cursor);
}

static bool open_lane(index_walk *w, uint32_t depth, uint32_t number)
{
	lane_state *state = depth < w->lanes.n ? &w->lanes.items[depth] : VEC_ADD(&w->lanes);

	if (!state || (!state->cursor && !(state->cursor = malloc(sizeof *state->cursor))))
		return false;
	lane_first(state->cursor, w->ix, number, 0);
	return true;
}

/* ---- Slices ------------------------------------------------------------------------------------------------------ */

/* Everything that was allocated on this track before ns. */
static void give_allocations(index_walk *w, int64_t ns)
{
	for (; w->next_allocation < w->end_allocation; w->next_allocation++) {
		walk_memory *m = &w->allocations.items[w->next_allocation];
		if (m->time_ns >= ns)
			return;
		m->inside = w->stack.n ? &w->stack.items[w->stack.n - 1] : NULL;
		if (w->stack.n)
			slice_add_memory(&w->stack.items[w->stack.n - 1].memory, m);
		if (w->sink->memory)
			w->sink->memory(w->sink->context, m);
	}
}

static uint8_t flags_of(index_walk *w, int64_t flags)
{
	w->counts.n_open += (flags & SLICE_IS_OPEN) != 0;
	w->counts.n_repaired += (flags & SLICE_IS_REPAIRED) != 0;
	return (uint8_t)((flags & SLICE_IS_OPEN ? SLICE_OPEN : 0) | (flags & SLICE_IS_REPAIRED ? SLICE_REPAIRED : 0) |
			 (w->is_async || flags & SLICE_IS_ASYNC ? SLICE_ASYNC : 0));
}

static bool is_launch(const index_walk *w, const slice *s)
{
	return s->site->kind == NAME_STREAM && !w->sink->launches_are_slices;
}

/* Field by field, as in walk.c. */
static inline void fill(index_walk *w, slice *s, const lane_cursor *c)
{
	uint32_t i = c->at;

	s->site = site_of(w, (uint64_t)c->site[i]);
	s->start_ns = trace_bounded_ns(c->start[i]);
	s->dur_ns = trace_bounded_ns(c->dur[i]);
	s->child_ns = s->number = 0;
	s->flops = s->bytes = 0;
	s->memory = (slice_memory){ 0 };
	s->serial = 0;
	s->depth = (uint32_t)w->stack.n;
	s->id = (uint32_t)c->site[i];
	s->flags = __builtin_expect(c->flags[i] || w->is_async, 0) ? flags_of(w, c->flags[i]) : 0;
	s->flags |= w->is_async || w->is_device ? SLICE_MEMORY_UNKNOWN : 0;
	s->thread = w->thread;
	s->user = NULL;
	s->args = (uint32_t)c->args[i];
	s->group = c->lane->group;
	if (s->site->kind == NAME_STEP)
		number_step(w, s, c->lane->first_slice + c->row);
	else if (s->site->kind == NAME_OP)
		get_work(w, s, s->args);
}

static void release_pages(index_walk *w)
{
	index_release_pages(w->ix);
	w->n_read = 0;
}

static void begin_slice(index_walk *w, slice *s)
{
	if (is_launch(w, s)) {
		if (w->sink->launch)
			w->sink->launch(w->sink->context, s->site, s->start_ns, 0, 0);
	} else if (w->sink->begin) {
		w->sink->begin(w->sink->context, s, NULL);
	}
}

/* The next slice of the lane goes onto the stack. */
static inline void enter(index_walk *w, lane_state *lane)
{
	lane_cursor *c = lane->cursor;

	if (__builtin_expect(w->stack.n == w->stack.capacity, 0)) {
		w->failed |= !VEC_ADD(&w->stack);
		if (w->failed)
			return;
		w->stack.n--;
	}
	slice *s = &w->stack.items[w->stack.n];
	fill(w, s, c);
	lane->open = c->lane->first_slice + c->row++;
	c->at++;
	s->outer = w->stack.n ? s[-1].user : NULL;
	if (w->next_allocation < w->end_allocation)
		give_allocations(w, s->start_ns);
	w->stack.n++;
	w->n_entered++;
	if (__builtin_expect(++w->n_read == SLICES_RESIDENT, 0))
		release_pages(w);
	begin_slice(w, s);
}

static inline void leave(index_walk *w)
{
	slice *s = &w->stack.items[w->stack.n - 1];

	if (w->next_allocation < w->end_allocation)
		give_allocations(w, s->start_ns + s->dur_ns);
	if (w->sink->end && !is_launch(w, s))
		w->sink->end(w->sink->context, s);
	w->stack.n--;
	if (!w->stack.n)
		return;
	s[-1].child_ns += s->dur_ns;
	slice_hand_memory(&s[-1].memory, &s->memory);
}

/* Is its next slice inside the one that is open above? Those whose parent has passed lost it in a damaged block. */
static inline bool belongs(index_walk *w, lane_state *lane)
{
	uint64_t parent = lane[-1].open;

	while (has_next(w, lane)) {
		lane_cursor *c = lane->cursor;
		uint64_t above = (uint64_t)c->parent[c->at];
		if (__builtin_expect(above >= parent, 1))
			return above == parent;
		w->counts.n_damaged++;
		c->at++;
		c->row++;
	}
	return false;
}

static void walk_lanes(index_walk *w)
{
	while (!w->failed) {
		size_t depth = w->stack.n;
		lane_state *lane = &w->lanes.items[depth];
		if (depth < w->n_lanes && (depth ? belongs(w, lane) : has_next(w, lane)))
			enter(w, lane);
		else if (depth)
			leave(w);
		else
			return;
	}
}

/* Nothing is said about how they nest: each by itself. */
static void walk_async(index_walk *w)
{
	for (uint32_t i = 0; i < w->n_lanes; i++)
		for (lane_state *lane = &w->lanes.items[i]; !w->failed && has_next(w, lane);) {
			enter(w, lane);
			if (!w->failed)
				leave(w);
		}
}

/* The lanes from *at on that make a group: of depth 0, 1, 2 ... */
static void walk_group(index_walk *w, const index_lane *lanes, size_t *at, size_t end)
{
	w->n_lanes = 0;
	do
		w->failed |= !open_lane(w, w->n_lanes++, (uint32_t)(*at)++);
	while (*at < end && lanes[*at].depth && w->n_lanes < CURSORS && !w->failed);
	if (w->failed)
		return;
	if (w->is_async)
		walk_async(w);
	else
		walk_lanes(w);
}

static void walk_track(index_walk *w, size_t number)
{
	size_t n_tracks, n_lanes;
	const index_track *track = &index_tracks(w->ix, &n_tracks)[number];
	const index_lane *lanes = index_lanes(w->ix, &n_lanes);
	size_t at = track->first_lane < n_lanes ? track->first_lane : n_lanes;
	size_t end = at + (track->n_lanes < n_lanes - at ? track->n_lanes : n_lanes - at);

	w->thread = &w->trace->threads.items[number];
	w->is_device = track->kind == TRACK_STREAM;
	w->is_async = track->kind == TRACK_ASYNC;
	w->next_allocation = w->allocations.first[number];
	w->end_allocation = w->allocations.first[number + 1];
	w->counts.n_memory += w->end_allocation - w->next_allocation;
	if (w->sink->thread)
		w->sink->thread(w->sink->context, w->thread);
	w->n_entered = 0;
	while (at < end && !w->failed)
		walk_group(w, lanes, &at, end);
	*(w->is_device ? &w->counts.n_device : &w->counts.n_slices) += w->n_entered;
	if (!w->failed)
		give_allocations(w, INT64_MAX);
}

/* ---- Everything else --------------------------------------------------------------------------------------------- */

static void change_track(index_walk *w, uint64_t track)
{
	if (track >= w->trace->threads.n || w->thread == &w->trace->threads.items[track])
		return;
	w->thread = &w->trace->threads.items[track];
	if (w->sink->thread)
		w->sink->thread(w->sink->context, w->thread);
}

/* sonde_memory_snapshot, as import/recording/feed.c keeps it. */
static void give_snapshot(index_walk *w, const trace_site *site, const int64_t *row)
{
	walk_snapshot s = { .device = TRACE_DEVICE_NAMED | site->name,
			    .time_ns = trace_index_ns(w->trace, row[INSTANT_TIME]) };
	uint64_t *const values[] = { &s.current_bytes, &s.peak_bytes, &s.n_live };
	static const char *const keys[] = { "current_bytes", "peak_bytes", "n_live" };
	char text[32];

	w->counts.n_memory++;
	for (size_t i = 0; i < 3; i++)
		if (get_arg(w, (uint32_t)row[INSTANT_ARGS], keys[i], text, sizeof text))
			*values[i] = strtoull(text, NULL, 10);
	if (w->sink->snapshot)
		w->sink->snapshot(w->sink->context, &s);
}

static void give_instant(index_walk *w, const int64_t *row)
{
	const trace_site *site = site_of(w, (uint64_t)row[INSTANT_SITE]);

	change_track(w, (uint64_t)row[INSTANT_TRACK]);
	if (site->kind == NAME_DEVICE) {
		give_snapshot(w, site, row);
		return;
	}
	w->counts.n_instants++;
	if (w->sink->instant)
		w->sink->instant(w->sink->context, site, trace_index_ns(w->trace, row[INSTANT_TIME]), NULL);
}

static void give_flow(index_walk *w, const int64_t *row)
{
	w->counts.n_flows++;
	if (!w->sink->flow)
		return;
	/* Its time counts from its slice, where it has one. */
	index_slice at;
	bool bound = row[FLOW_SLICE] > 0 && index_slice_at(w->ix, (uint64_t)row[FLOW_SLICE] - 1, &at);
	int64_t base = bound ? trace_bounded_ns(at.start_ns) : w->trace->start_ns;
	change_track(w, (uint64_t)row[FLOW_TRACK]);
	w->sink->flow(w->sink->context, site_of(w, (uint64_t)row[FLOW_SITE]),
		      trace_bounded_ns(base + trace_bounded_ns(row[FLOW_TIME])), (uint64_t)row[FLOW_ID],
		      row[FLOW_PHASE] == 's');
}

static void walk_table(index_walk *w, table_cursor *c, index_kind kind, void (*give)(index_walk *w, const int64_t *row))
{
	int64_t row[COLUMNS_MAX];

	table_first(c, w->ix, kind, 0);
	while (!w->failed && table_next(c, row))
		give(w, row);
	w->counts.n_damaged += c->damaged;
}

static void walk_counter(index_walk *w, table_cursor *c, const index_counter *counter)
{
	uint32_t n_strings = (uint32_t)index_n_strings(w->ix);
	trace_site site = { .name = counter->name < n_strings ? counter->name : n_strings,
			    .category = counter->category,
			    .kind = NAME_COUNTER };
	int64_t row[COLUMNS_MAX];

	change_track(w, counter->track);
	table_first(c, w->ix, SECTION_VALUES, counter->first_value);
	for (uint64_t i = 0; i < counter->n_values && table_next(c, row); i++) {
		double value;
		memcpy(&value, &row[VALUE_BITS], sizeof value);
		w->counts.n_counters++;
		if (w->sink->counter)
			w->sink->counter(w->sink->context, &site, trace_index_ns(w->trace, row[VALUE_TIME]), value);
	}
	w->counts.n_damaged += c->damaged;
}

static void walk_tables(index_walk *w)
{
	table_cursor *c = malloc(sizeof *c);
	size_t n_counters, n_metas;
	const index_counter *counters = index_counters(w->ix, &n_counters);
	const index_meta *metas = index_metas(w->ix, &n_metas);

	if (!c) {
		w->failed = true;
		return;
	}
	walk_table(w, c, SECTION_INSTANTS, give_instant);
	for (size_t i = 0; i < n_counters; i++)
		walk_counter(w, c, &counters[i]);
	walk_table(w, c, SECTION_FLOWS, give_flow);
	free(c);
	for (size_t i = 0; i < n_metas && w->sink->meta; i++) {
		size_t key_len, value_len;
		const char *key = index_textn(w->ix, metas[i].key, &key_len);
		const char *value = index_textn(w->ix, metas[i].value, &value_len);
		w->sink->meta(w->sink->context, key, key_len, value, value_len);
	}
}

static void index_walk_done(index_walk *w)
{
	for (size_t i = 0; i < w->lanes.n; i++)
		free(w->lanes.items[i].cursor);
	VEC_DONE(&w->lanes);
	VEC_DONE(&w->stack);
	track_allocations_done(&w->allocations);
	args_reader_free(w->args);
	free(w->sites);
	free(w->plain);
	free(w->steps);
}

sonde_status trace_walk(const sonde_trace *t, const walk_sink *sink, walk_counts *ret_counts, sonde_error *err)
{
	index_walk w = { .trace = t, .ix = t->index, .sink = sink };

	w.failed = !make_sites(&w) || !make_steps(&w) || !track_allocations_make(&w.allocations, t);
	w.counts.n_damaged += w.allocations.damaged;
	for (size_t i = 0; i < t->threads.n && !w.failed; i++)
		walk_track(&w, i);
	if (!w.failed)
		walk_tables(&w);
	*ret_counts = w.counts;
	bool failed = w.failed;
	index_walk_done(&w);
	return failed ? error_set(err, SONDE_E_MEMORY, -1, "out of memory") : SONDE_OK;
}
