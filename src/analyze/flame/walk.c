/*
 * Fills the tree of a flame graph: all lanes of a stack side by side, each slice before what is inside it.
 *
 * The lanes below a lane hold its children in the order of their parents. So one cursor per depth is enough: take a
 * slice, go down as long as the next slice there has it as its parent, come back up. A cursor that has passed the end
 * of the time is at its end.
 */
#include <string.h>
#include "analyze/flame/flame.h"
#include "analyze/math/intervals.h"
#include "analyze/names/profiler_frame.h"
#include "analyze/math/stats.h"
#include "analyze/tables/step_list.h"
#include "base/error.h"
#include "base/parse_units.h"
#include "base/search.h"

/* One depth of a stack. */
typedef struct level {
	lane_cursor cursor;
	index_slice next, now;
	bool has_next;
	int64_t within_ns; /* of `now`, in the window */
	int64_t child_ns;  /* of that, in slices that count */
	uint32_t node;	   /* of `now`; FLAME_NONE: none */
	bool is_counted;   /* `now` has a node of its own */
	size_t extra;	   /* next of the extras */
} level;

typedef struct walk {
	flame *flame;
	const sonde_index *ix;
	const flame_options *options;
	bool is_base;
	bool failed;	 /* out of memory */
	uint32_t *names; /* of each site; FLAME_NONE: not looked at yet */
	const index_site *sites;
	size_t n_sites;
	uint8_t *wanted; /* sites of options->name */
	uint8_t *hidden; /* sites without a box: Python functions on demand, Kineto's row around all of the profile */
	int32_t rank;	 /* of the track, whose are: */
	bool has_window;
	int64_t from_ns, to_ns;
	intervals warmup;
	flame_extras extras;
	size_t extra, extra_end; /* of bytes: those of the track that are left */
	uint32_t outside;	 /* the node of bytes and kernels that no slice has; FLAME_NONE: not there yet */
	level *levels[FLAME_DEPTH_MAX];
} walk;

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static uint32_t name_of(walk *w, uint32_t site)
{
	if (w->names[site] == FLAME_NONE) {
		size_t len;
		const char *text = index_textn(w->ix, w->sites[site].name, &len);
		if (w->sites[site].class == CLASS_STEP) /* they are one, whatever their numbers */
			len = step_name_length(text, len);
		w->names[site] = flame_name(w->flame, text, len, w->sites[site].class);
		w->failed |= w->names[site] == FLAME_NONE;
	}
	return w->names[site];
}

static void add_value(const walk *w, uint32_t node, int64_t value)
{
	if (node != FLAME_NONE)
		*(w->is_base ? &w->flame->nodes.items[node].base : &w->flame->nodes.items[node].value) += value;
}

static void add_self(const walk *w, uint32_t node, int64_t value)
{
	if (node != FLAME_NONE)
		*(w->is_base ? &w->flame->nodes.items[node].base_self : &w->flame->nodes.items[node].self) += value;
}

static void add_count(const walk *w, uint32_t node)
{
	if (node != FLAME_NONE && !w->is_base)
		w->flame->nodes.items[node].n_slices++;
}

static uint32_t child(walk *w, uint32_t parent, uint32_t name)
{
	uint32_t node = flame_child(w->flame, parent, name);

	if (node == FLAME_NONE) {
		w->failed |= w->flame->nodes.n < FLAME_NODES_MAX;
		w->flame->n_cut++;
	}
	return node;
}

static uint32_t outside(walk *w, const char *name)
{
	if (w->outside == FLAME_NONE)
		w->outside = child(w, FLAME_NONE, flame_name(w->flame, name, strlen(name), CLASS_OTHER));
	return w->outside;
}

/* ---- Extras ------------------------------------------------------------------------------------------------------ */

/* A kernel below the node of what launched it. */
static void add_kernel(walk *w, uint32_t node, const flame_extra *e)
{
	uint32_t kernel = child(w, node, name_of(w, e->site));

	add_self(w, kernel, e->value);
	add_count(w, kernel);
}

static void add_kernels(walk *w, level *l)
{
	while (l->extra < w->extras.n && w->extras.items[l->extra].key < l->now.id)
		l->extra++;
	for (; l->extra < w->extras.n && w->extras.items[l->extra].key == l->now.id; l->extra++)
		add_kernel(w, l->node, &w->extras.items[l->extra]);
}

static size_t first_extra(const walk *w, uint64_t key)
{
	return FIRST_NOT(i, 0, w->extras.n, w->extras.items[i].key < key);
}

/* Bytes that were allocated before the time are the node's. */
static void add_bytes(walk *w, uint32_t node, int64_t until_ns)
{
	for (; w->extra < w->extra_end; w->extra++) {
		const flame_extra *e = &w->extras.items[w->extra];
		int64_t at = index_start_ns(w->ix) + (int64_t)e->key;
		if (at >= until_ns)
			return;
		if (at < w->from_ns || at >= w->to_ns || intervals_overlap_with(&w->warmup, at, at + 1))
			continue;
		uint32_t to = node == FLAME_NONE ? outside(w, "(outside all slices)") : node;
		add_self(w, to, e->value);
		add_count(w, to);
	}
}

/* ---- A slice ----------------------------------------------------------------------------------------------------- */

static bool is_warmup(const walk *w, const index_slice *s)
{
	int64_t ns = s->dur_ns ? s->dur_ns : 1;

	return intervals_overlap_with(&w->warmup, s->start_ns, s->start_ns + ns) == ns;
}

static int64_t within(const walk *w, const index_slice *s)
{
	int64_t start = s->start_ns > w->from_ns ? s->start_ns : w->from_ns;
	int64_t end = s->start_ns + s->dur_ns < w->to_ns ? s->start_ns + s->dur_ns : w->to_ns;

	return end > start ? end - start - intervals_overlap_with(&w->warmup, start, end) : 0;
}

/* Upside down: the name, then who called it, and who called that. */
static void add_callers(walk *w, unsigned depth)
{
	uint32_t node = FLAME_NONE;

	for (unsigned d = depth + 1; d-- > 0;) {
		const level *l = w->levels[d];
		if (d != depth && !l->is_counted)
			continue;
		node = child(w, node, name_of(w, l->now.site));
		add_value(w, node, w->levels[depth]->within_ns);
		add_count(w, node);
	}
	add_self(w, node, w->levels[depth]->within_ns);
}

static bool is_inside_wanted(const walk *w, unsigned depth)
{
	for (unsigned d = 0; d < depth; d++)
		if (w->wanted[w->levels[d]->now.site])
			return true;
	return false;
}

/* The node that the slice counts for; FLAME_NONE: none. */
static uint32_t node_of(walk *w, unsigned depth, uint32_t parent)
{
	level *l = w->levels[depth];
	uint32_t name = name_of(w, l->now.site), node;

	switch (w->options->mode) {
	case FLAME_MERGED:
		return child(w, w->options->by == FLAME_SELF ? FLAME_NONE : parent, name);
	case FLAME_ORDERED:
		if (l->within_ns < w->options->min_ns || (depth && parent == FLAME_NONE)) {
			w->flame->n_cut++;
			return FLAME_NONE;
		}
		node = flame_new_node(w->flame, parent, name);
		if (node != FLAME_NONE)
			w->flame->nodes.items[node].start_ns = l->now.start_ns;
		return node;
	case FLAME_CALLERS:
		if (w->wanted[l->now.site] && !is_inside_wanted(w, depth))
			add_callers(w, depth);
		return FLAME_NONE;
	case FLAME_CALLEES:
		return parent != FLAME_NONE || w->wanted[l->now.site] ? child(w, parent, name) : FLAME_NONE;
	}
	return FLAME_NONE;
}

static void enter(walk *w, unsigned depth)
{
	level *l = w->levels[depth];
	uint32_t parent = depth ? w->levels[depth - 1]->node : FLAME_NONE;
	bool is_left_out = is_warmup(w, &l->now), is_hidden = is_left_out || w->hidden[l->now.site];

	l->within_ns = within(w, &l->now);
	l->child_ns = 0;
	l->is_counted = !is_hidden;
	if (w->options->by == FLAME_MEMORY)
		add_bytes(w, parent, l->now.start_ns);
	l->node = is_hidden ? parent : node_of(w, depth, parent);
	if (w->options->by == FLAME_TIME && w->options->mode != FLAME_CALLERS && !is_hidden)
		add_value(w, l->node, l->within_ns);
	if (w->options->by <= FLAME_SELF && w->options->mode != FLAME_CALLERS && !is_hidden)
		add_count(w, l->node);
	if (w->options->by == FLAME_DEVICE && !is_left_out)
		add_kernels(w, l);
}

static void leave(walk *w, unsigned depth)
{
	level *l = w->levels[depth];

	if (w->options->by == FLAME_MEMORY)
		add_bytes(w, l->node, l->now.start_ns + l->now.dur_ns);
	if (w->options->by <= FLAME_SELF && w->options->mode != FLAME_CALLERS && l->is_counted)
		add_self(w, l->node, l->within_ns - l->child_ns);
	if (depth) {
		int64_t *child_ns = &w->levels[depth - 1]->child_ns;
		*child_ns = add_bounded(*child_ns, l->is_counted ? l->within_ns : l->child_ns);
	}
}

/* ---- A stack of lanes -------------------------------------------------------------------------------------------- */

static void advance(const walk *w, level *l)
{
	l->has_next = lane_next(&l->cursor, &l->next) && l->next.start_ns < w->to_ns;
}

static bool open_level(walk *w, unsigned depth, uint32_t lane)
{
	size_t n_lanes;
	level *l = w->levels[depth];

	if (!l)
		l = w->levels[depth] = calloc(1, sizeof *l);
	if (!l)
		return false;
	lane_first(&l->cursor, w->ix, lane, lane_find_end(w->ix, lane, w->from_ns));
	if (w->options->by == FLAME_DEVICE)
		l->extra = first_extra(w, index_lanes(w->ix, &n_lanes)[lane].first_slice);
	advance(w, l);
	return true;
}

/* The next slice there is inside the one above, if there is one. */
static bool goes_down(const walk *w, unsigned depth)
{
	level *l = w->levels[depth];
	uint64_t parent = depth ? w->levels[depth - 1]->now.id : 0;

	while (depth && l->has_next && l->next.parent < parent)
		advance(w, l);
	return l->has_next && (!depth || l->next.parent == parent);
}

static void walk_levels(walk *w, unsigned n_levels)
{
	unsigned depth = 0;

	while (!w->failed) {
		level *l = w->levels[depth];
		if (goes_down(w, depth)) {
			l->now = l->next;
			advance(w, l);
			enter(w, depth);
			if (depth + 1 < n_levels)
				depth++;
			else
				leave(w, depth);
		} else if (depth == 0) {
			return;
		} else {
			leave(w, --depth);
		}
	}
}

/* The lane at depth 0 and those below it. */
static void walk_stack(walk *w, uint32_t lane)
{
	unsigned max = w->options->max_depth, n = 0;

	if (!max || max > FLAME_DEPTH_MAX)
		max = FLAME_DEPTH_MAX;
	for (; lane != INDEX_NONE && n < max && !w->failed; lane = index_lane_below(w->ix, lane), n++)
		w->failed |= !open_level(w, n, lane);
	if (w->failed)
		return;
	walk_levels(w, n);
	for (unsigned i = 0; i < n; i++)
		w->flame->damaged |= w->levels[i]->cursor.damaged;
}

/* ---- Tracks ------------------------------------------------------------------------------------------------------ */

/* [from, to) of the rank; all of it without steps. False: it has none of them. */
static bool find_window(walk *w, int32_t rank)
{
	const flame_options *o = w->options;
	size_t n;
	const index_step *steps = index_steps(w->ix, &n);
	int64_t start = index_start_ns(w->ix), from = INT64_MAX, to = INT64_MIN;

	w->from_ns = o->use_time ? o->from_ns : INT64_MIN;
	w->to_ns = o->use_time ? o->to_ns : INT64_MAX;
	if (!o->use_steps)
		return true;
	for (size_t i = 0; i < n; i++) {
		if (steps[i].number < o->first_step || steps[i].number > o->last_step ||
		    index_rank_of(w->ix, steps[i].track) != rank)
			continue;
		int64_t begin = start + steps[i].start_ns, end = begin + steps[i].dur_ns;
		from = begin < from ? begin : from;
		to = end > to ? end : to;
	}
	w->from_ns = from > w->from_ns ? from : w->from_ns;
	w->to_ns = to < w->to_ns ? to : w->to_ns;
	return from < to;
}

/* The first steps of the rank; one that none follows is not of the warm-up. */
static void find_warmup(walk *w, int32_t rank)
{
	size_t n, n_tracks;
	const index_step *steps = index_steps(w->ix, &n), *before = NULL;
	const index_track *tracks = index_tracks(w->ix, &n_tracks);
	uint64_t n_left = w->options->n_warmup;

	w->warmup.n = 0;
	for (size_t i = 0; n_left && i < n; i++) {
		if (steps[i].track >= n_tracks || tracks[steps[i].track].kind == TRACK_STREAM ||
		    index_rank_of(w->ix, steps[i].track) != rank)
			continue;
		if (before) {
			int64_t start = index_start_ns(w->ix) + before->start_ns;
			intervals_add(&w->warmup, start, start + before->dur_ns);
			n_left--;
		}
		before = &steps[i];
	}
	w->failed |= !intervals_merge(&w->warmup);
}

static bool has_threads(const sonde_index *ix)
{
	size_t n;
	const index_track *tracks = index_tracks(ix, &n);

	for (size_t i = 0; i < n; i++)
		if (tracks[i].kind == TRACK_THREAD && tracks[i].n_slices)
			return true;
	return false;
}

static void walk_track(walk *w, uint32_t number, const index_track *track)
{
	size_t n_lanes;
	const index_lane *lanes = index_lanes(w->ix, &n_lanes);

	if (w->options->ranks && !number_list_has(w->options->ranks, rank_of_index_track(w->ix, number)))
		return;
	int32_t rank = index_rank_of(w->ix, number);
	if (rank != w->rank) {
		w->rank = rank;
		w->has_window = find_window(w, rank);
		find_warmup(w, rank);
	}
	if (!w->has_window)
		return;
	while (w->extra < w->extras.n && w->extras.items[w->extra].track < number)
		w->extra++;
	for (w->extra_end = w->extra; w->extra_end < w->extras.n && w->extras.items[w->extra_end].track == number;)
		w->extra_end++;
	for (uint32_t i = track->first_lane; i < track->first_lane + track->n_lanes && !w->failed; i++)
		if (lanes[i].depth == 0 && (lanes[i].group == 0 || w->options->by != FLAME_MEMORY))
			walk_stack(w, i);
	if (w->options->by == FLAME_MEMORY)
		add_bytes(w, FLAME_NONE, INT64_MAX);
}

static void walk_tracks(walk *w)
{
	size_t n;
	const index_track *tracks = index_tracks(w->ix, &n);
	bool only_threads = has_threads(w->ix) && w->options->by != FLAME_MEMORY;

	for (size_t i = 0; i < n && !w->failed; i++) {
		bool counts =
			w->options->tracks ? w->options->tracks[i] : !only_threads || tracks[i].kind == TRACK_THREAD;
		if (counts)
			walk_track(w, (uint32_t)i, &tracks[i]);
	}
	if (w->options->by != FLAME_DEVICE || w->options->tracks || w->options->ranks || w->options->use_steps ||
	    w->options->use_time || w->options->n_warmup)
		return;
	for (size_t i = first_extra(w, INDEX_NO_SLICE); i < w->extras.n && !w->failed; i++)
		add_kernel(w, outside(w, "(unknown launch)"), &w->extras.items[i]);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static bool prepare(walk *w)
{
	const char *name = w->options->name ? w->options->name : "";
	bool ok = true;

	w->sites = index_sites(w->ix, &w->n_sites);
	w->names = malloc((w->n_sites + 1) * sizeof *w->names);
	w->wanted = calloc(w->n_sites + 1, 1);
	w->hidden = calloc(w->n_sites + 1, 1);
	if (!w->names || !w->wanted || !w->hidden)
		return false;
	memset(w->names, 0xff, (w->n_sites + 1) * sizeof *w->names);
	for (size_t i = 0; i < w->n_sites; i++) {
		w->wanted[i] = strcmp(index_text(w->ix, w->sites[i].name), name) == 0;
		w->hidden[i] = (w->options->no_python && w->sites[i].class == CLASS_PYTHON) ||
			       is_profiler_frame(index_text(w->ix, w->sites[i].category));
	}
	if (w->options->by == FLAME_DEVICE)
		ok = flame_device_extras(w->ix, &w->extras, &w->flame->damaged);
	else if (w->options->by == FLAME_MEMORY)
		ok = flame_memory_extras(w->ix, &w->extras, &w->flame->damaged);
	return ok;
}

/* Where only what is a node's own was counted, parents get the sums of their children. */
static void sum_up(walk *w)
{
	flame_node *nodes = w->flame->nodes.items;
	bool from_self = w->options->by != FLAME_TIME;
	int64_t total = 0;

	for (size_t i = w->flame->nodes.n; i-- > 0;) {
		int64_t *value = w->is_base ? &nodes[i].base : &nodes[i].value;
		if (from_self)
			*value += w->is_base ? nodes[i].base_self : nodes[i].self;
		if (nodes[i].parent == FLAME_NONE)
			total = add_bounded(total, *value);
		else if (from_self)
			*(w->is_base ? &nodes[nodes[i].parent].base : &nodes[nodes[i].parent].value) += *value;
	}
	*(w->is_base ? &w->flame->base_total : &w->flame->total) = total;
}

static sonde_status fill(flame *f, const sonde_index *ix, const flame_options *options, bool is_base, sonde_error *err)
{
	if (options->mode != FLAME_MERGED && options->by != FLAME_TIME)
		return error_set(err, SONDE_E_USAGE, -1, "this kind of flame graph supports time only");
	if (options->mode >= FLAME_CALLERS && !options->name)
		return error_set(err, SONDE_E_USAGE, -1, "callers and callees need a name");
	walk *w = calloc(1, sizeof *w);
	if (!w)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	w->flame = f;
	w->ix = ix;
	w->options = options;
	w->is_base = is_base;
	w->outside = FLAME_NONE;
	w->rank = INT32_MIN; /* none yet */
	if (prepare(w))
		walk_tracks(w);
	else
		w->failed = true;
	sum_up(w);
	bool failed = w->failed;
	for (unsigned i = 0; i < FLAME_DEPTH_MAX; i++)
		free(w->levels[i]);
	VEC_DONE(&w->extras);
	intervals_done(&w->warmup);
	free(w->names);
	free(w->wanted);
	free(w->hidden);
	free(w);
	return failed ? error_set(err, SONDE_E_MEMORY, -1, "out of memory") : SONDE_OK;
}

sonde_status flame_build(flame *f, const sonde_index *ix, const flame_options *options, sonde_error *err)
{
	return fill(f, ix, options, false, err);
}

sonde_status flame_add_base(flame *f, const sonde_index *ix, const flame_options *options, sonde_error *err)
{
	if (options->mode == FLAME_ORDERED)
		return error_set(err, SONDE_E_USAGE, -1, "a flame graph in time order cannot be compared");
	return fill(f, ix, options, true, err);
}
