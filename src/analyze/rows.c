/*
 * See rows.h.
 *
 * The lanes of a group are read side by side, one cursor each: behind a slice come those of the lane below that name it
 * as their parent. Numbers of slices grow within a lane, so one look at the next slice below decides.
 *
 * Everything is loaded first; the selection (rows_select.c) then closes the gaps in place. It needs the launches, which
 * need the rows.
 */
#include "analyze/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/warmup.h"
#include "base/big.h"
#include "base/error.h"
#include "base/parse_units.h"
#include "base/vec.h"

typedef struct lane_state {
	lane_cursor *cursor;
	index_slice next;
	bool has_next;
	uint32_t open; /* row of the slice we are inside of */
	uint64_t open_slice;
} lane_state;

typedef struct loader {
	rows *r;
	VEC(lane_state) lanes;
	uint32_t n_lanes; /* of the group */
	int64_t start_ns;
	row blank;		/* what all rows of the track share */
	const bool *is_wanted;	/* by site; NULL: all are */
	const uint8_t *is_used; /* a bit for each slice that has to be there */
} loader;

/* ---- Slices ------------------------------------------------------------------------------------------------------ */

static bool open_lane(loader *l, uint32_t depth, uint32_t number)
{
	lane_state *lane = depth < l->lanes.n ? &l->lanes.items[depth] : VEC_ADD(&l->lanes);

	if (!lane || (!lane->cursor && !(lane->cursor = malloc(sizeof *lane->cursor))))
		return false;
	lane_first(lane->cursor, l->r->ix, number, 0);
	lane->has_next = lane_next(lane->cursor, &lane->next);
	return true;
}

static void advance(loader *l, lane_state *lane)
{
	lane->has_next = lane_next(lane->cursor, &lane->next);
	l->r->damaged |= lane->cursor->damaged;
}

static bool is_left_out(const loader *l, const index_slice *s)
{
	return l->is_wanted && !l->is_wanted[s->site] && !(l->blank.flags & ROW_ON_STREAM) &&
	       !(l->is_used[s->id / 8] >> s->id % 8 & 1);
}

/* Returns the row, or its parent when it is left out. What is inside another cannot widen the span. */
static uint32_t put_row(loader *l, const index_slice *s, uint32_t depth, uint32_t parent)
{
	rows *r = l->r;
	const index_site *site = &r->sites[s->site];
	row *to = &r->items[r->n];
	int64_t start_ns = s->start_ns - l->start_ns, dur_ns = s->dur_ns > 0 ? s->dur_ns : 0;

	if (!depth)
		place_widen(&r->places[l->blank.track], start_ns, start_ns + dur_ns);
	if (is_left_out(l, s))
		return parent;
	*to = l->blank;
	to->start_ns = start_ns;
	to->dur_ns = dur_ns;
	to->slice = (uint32_t)s->id;
	to->site = s->site;
	to->args = s->args;
	to->parent = parent;
	to->end = (uint32_t)r->n + 1;
	to->depth = (uint16_t)depth;
	to->class = site->class;
	if ((to->flags & ROW_ON_STREAM) && (site->class == CLASS_KERNEL || site->class == CLASS_COPY))
		to->flags |= ROW_DEVICE;
	if (s->flags & SLICE_IS_ASYNC)
		to->flags |= ROW_ASYNC;
	if (s->flags & (SLICE_IS_OPEN | SLICE_IS_REPAIRED))
		to->flags |= ROW_REPAIRED;
	r->row_of_slice[s->id] = (uint32_t)r->n;
	return (uint32_t)r->n++;
}

/* The next slice of the lane is inside the one that is open above. Those whose parent was in a block that could not be
   read are dropped. */
static bool belongs(loader *l, lane_state *lane, uint64_t parent)
{
	while (lane->has_next && lane->next.parent < parent) {
		l->r->damaged = true;
		advance(l, lane);
	}
	return lane->has_next && lane->next.parent == parent;
}

/* A file that says it has fewer slices than its lanes hold. */
static bool is_full(const rows *r, const index_slice *s)
{
	return r->n >= r->n_slices || s->id >= r->n_slices;
}

static void load_nested(loader *l)
{
	uint32_t depth = 0;

	for (;;) {
		lane_state *lane = depth < l->n_lanes ? &l->lanes.items[depth] : NULL;
		if (lane && lane->has_next && (!depth || belongs(l, lane, lane[-1].open_slice))) {
			if (is_full(l->r, &lane->next))
				return;
			lane->open = put_row(l, &lane->next, depth, depth ? lane[-1].open : ROW_NONE);
			lane->open_slice = lane->next.id;
			advance(l, lane);
			depth++;
		} else if (depth) {
			uint32_t open = l->lanes.items[--depth].open;
			if (open != ROW_NONE)
				l->r->items[open].end = (uint32_t)l->r->n;
		} else {
			return;
		}
	}
}

/* Nothing is said about how asynchronous slices nest: each by itself. */
static void load_async(loader *l)
{
	for (uint32_t i = 0; i < l->n_lanes; i++)
		for (lane_state *lane = &l->lanes.items[i]; lane->has_next && !is_full(l->r, &lane->next);
		     advance(l, lane))
			put_row(l, &lane->next, 0, ROW_NONE);
}

/* Old writers gave a text: "stream 7". */
static int32_t stream_of(const sonde_index *ix, const index_track *track)
{
	int64_t id = track->id;

	if (track->id_text != INDEX_NONE) {
		const char *text = index_text(ix, track->id_text);
		text += strcspn(text, "0123456789");
		id = *text ? strtoll(text, NULL, 10) : -1;
	}
	return id >= 0 && id <= INT32_MAX ? (int32_t)id : -1;
}

static bool load_track(loader *l, uint32_t number)
{
	const index_track *track = &l->r->tracks[number];
	size_t n_lanes;
	const index_lane *lanes = index_lanes(l->r->ix, &n_lanes);
	size_t at = track->first_lane < n_lanes ? track->first_lane : n_lanes;
	size_t end = at + (track->n_lanes < n_lanes - at ? track->n_lanes : n_lanes - at);
	bool on_stream = track->kind == TRACK_STREAM, is_async = track->kind == TRACK_ASYNC;

	l->blank = (row){ .track = number,
			  .launch = ROW_NONE,
			  .flags = on_stream  ? ROW_ON_STREAM
				   : is_async ? ROW_ASYNC
					      : 0 };
	while (at < end) {
		l->n_lanes = 0;
		do {
			if (!open_lane(l, l->n_lanes++, (uint32_t)at++))
				return false;
		} while (at < end && lanes[at].depth && l->n_lanes < UINT16_MAX);
		if (is_async)
			load_async(l);
		else
			load_nested(l);
	}
	return true;
}

static bool knows_no_rank(const sonde_index *ix)
{
	size_t n;
	const index_process *processes = index_processes(ix, &n);

	for (size_t i = 0; i < n; i++)
		if (processes[i].rank >= 0)
			return false;
	return true;
}

static bool load_places(rows *r)
{
	bool none_known = knows_no_rank(r->ix);

	r->places = malloc((r->n_tracks + 1) * sizeof *r->places);
	for (size_t i = 0; r->places && i < r->n_tracks; i++) {
		const index_track *track = &r->tracks[i];
		/* A trace that never says has one rank: 0. */
		int32_t rank = none_known ? 0 : index_rank_of(r->ix, (uint32_t)i);
		r->places[i] = (rows_place){ INT64_MAX, INT64_MIN, rank,
					     track->kind == TRACK_STREAM ? stream_of(r->ix, track) : -1 };
	}
	return r->places != NULL;
}

/* ---- Few of them ------------------------------------------------------------------------------------------------- */

static bool *find_wanted(const rows *r, const rows_options *options)
{
	bool *is_wanted = malloc(r->n_sites + 1);

	for (size_t i = 0; is_wanted && i < r->n_sites; i++)
		is_wanted[i] = options->wants(index_text(r->ix, r->sites[i].name), (site_class)r->sites[i].class);
	return is_wanted;
}

static void mark_used(const rows *r, uint8_t *is_used, uint64_t slice)
{
	if (slice < r->n_slices)
		is_used[slice / 8] |= (uint8_t)(1 << slice % 8);
}

/* Steps, and what launched something. */
static uint8_t *find_used(rows *r)
{
	uint8_t *is_used = calloc(r->n_slices / 8 + 1, 1);
	table_cursor *c = malloc(sizeof *c);
	int64_t launch[COLUMNS_MAX];
	size_t n_steps;
	const index_step *steps = index_steps(r->ix, &n_steps);

	for (size_t i = 0; is_used && i < n_steps; i++)
		mark_used(r, is_used, steps[i].slice);
	if (is_used && c)
		table_first(c, r->ix, SECTION_LAUNCHES, 0);
	while (is_used && c && table_next(c, launch))
		if (launch[LAUNCH_HOST] > 0)
			mark_used(r, is_used, (uint64_t)launch[LAUNCH_HOST] - 1);
	if (!c) {
		free(is_used);
		is_used = NULL;
	}
	free(c);
	return is_used;
}

static bool load_slices(rows *r, const rows_options *options)
{
	bool *is_wanted = options->wants ? find_wanted(r, options) : NULL;
	uint8_t *is_used = options->wants ? find_used(r) : NULL;
	loader l = { .r = r, .start_ns = index_start_ns(r->ix), .is_wanted = is_wanted, .is_used = is_used };
	bool ok = !options->wants || (is_wanted && is_used);

	for (size_t i = 0; i < r->n_tracks && ok; i++) {
		r->first_of_track[i] = (uint32_t)r->n;
		ok = load_track(&l, (uint32_t)i);
	}
	r->first_of_track[r->n_tracks] = (uint32_t)r->n;
	for (size_t i = 0; i < l.lanes.n; i++)
		free(l.lanes.items[i].cursor);
	VEC_DONE(&l.lanes);
	free(is_wanted);
	free(is_used);
	return ok;
}

/* ---- Links ------------------------------------------------------------------------------------------------------- */

static bool load_launches(rows *r)
{
	table_cursor *c = malloc(sizeof *c);
	int64_t launch[COLUMNS_MAX];

	if (!c)
		return false;
	table_first(c, r->ix, SECTION_LAUNCHES, 0);
	while (table_next(c, launch)) {
		uint32_t device = rows_of_slice(r, (uint64_t)launch[LAUNCH_DEVICE]);
		uint32_t host =
			launch[LAUNCH_HOST] > 0 ? rows_of_slice(r, (uint64_t)launch[LAUNCH_HOST] - 1) : ROW_NONE;
		if (device != ROW_NONE)
			r->items[device].launch = host;
	}
	r->damaged |= c->damaged;
	free(c);
	return true;
}

static int compare_steps(const void *a, const void *b)
{
	const rows_step *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Copies of them on a device's queue say when the device worked on a step, not when the step was. */
static bool load_steps(rows *r)
{
	size_t n;
	const index_step *steps = index_steps(r->ix, &n);

	r->steps = malloc((n + 1) * sizeof *r->steps);
	for (size_t i = 0; r->steps && i < n; i++) {
		uint32_t at = rows_of_slice(r, steps[i].slice);
		if (at == ROW_NONE || (r->items[at].flags & ROW_ON_STREAM))
			continue;
		const row *of = &r->items[at];
		r->steps[r->n_steps++] =
			(rows_step){ steps[i].number, of->start_ns, of->dur_ns, at, of->track, row_rank(r, of) };
	}
	if (r->n_steps)
		qsort(r->steps, r->n_steps, sizeof *r->steps, compare_steps);
	return r->steps != NULL;
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

typedef struct device_key {
	int64_t start_ns;
	uint32_t args, row;
} device_key;

#define SORT_NAME sort_device
#define SORT_TYPE device_key
#define SORT_BEFORE(a, b) ((a)->start_ns != (b)->start_ns ? (a)->start_ns < (b)->start_ns : (a)->args < (b)->args)
#include "store/sort_template.h"

/* The rank, made when it is new; kept sorted. NULL when out of memory. */
static rows_rank *find_rank(rows *r, size_t *capacity, int32_t rank)
{
	size_t at = 0;

	while (at < r->n_ranks && r->ranks[at].rank < rank)
		at++;
	if (at < r->n_ranks && r->ranks[at].rank == rank)
		return &r->ranks[at];
	if (!vec_add((void **)&r->ranks, &r->n_ranks, capacity, sizeof *r->ranks))
		return NULL;
	memmove(&r->ranks[at + 1], &r->ranks[at], (r->n_ranks - 1 - at) * sizeof *r->ranks);
	r->ranks[at] = (rows_rank){ .rank = rank, .start_ns = INT64_MAX, .end_ns = INT64_MIN };
	return &r->ranks[at];
}

static bool find_ranks(rows *r)
{
	size_t capacity = 0;

	for (size_t t = 0; t < r->n_tracks; t++) {
		const rows_place *of = &r->places[t];
		if (of->start_ns == INT64_MAX)
			continue;
		rows_rank *rank = find_rank(r, &capacity, of->rank);
		if (!rank)
			return false;
		rank->start_ns = of->start_ns < rank->start_ns ? of->start_ns : rank->start_ns;
		rank->end_ns = of->end_ns > rank->end_ns ? of->end_ns : rank->end_ns;
	}
	return true;
}

static bool is_stream(const rows *r, size_t track)
{
	return r->tracks[track].kind == TRACK_STREAM;
}

static bool list_rank(rows *r, rows_rank *rank, device_key *keys)
{
	for (size_t t = 0; t < r->n_tracks; t++)
		for (uint32_t i = r->first_of_track[t];
		     is_stream(r, t) && track_rank(r, t) == rank->rank && i < r->first_of_track[t + 1]; i++)
			if (r->items[i].flags & ROW_DEVICE)
				keys[rank->n_device++] = (device_key){ r->items[i].start_ns, r->items[i].args, i };
	if (!sort_device(keys, rank->n_device))
		return false;
	for (size_t i = 0; i < rank->n_device; i++)
		r->device_rows[r->n_device++] = keys[i].row;
	return true;
}

static bool list_device(rows *r)
{
	size_t most = 0;

	for (size_t t = 0; t < r->n_tracks; t++)
		most += is_stream(r, t) ? r->first_of_track[t + 1] - r->first_of_track[t] : 0;
	device_key *keys = big_alloc(most + 1, sizeof *keys);
	r->device_rows = big_alloc(most + 1, sizeof *r->device_rows);
	bool ok = keys && r->device_rows;
	for (size_t i = 0; ok && i < r->n_ranks; i++)
		ok = list_rank(r, &r->ranks[i], keys);
	free(keys);
	return ok;
}

/* Both lists are sorted by rank. */
static void divide(rows *r)
{
	size_t device = 0, step = 0;

	for (size_t i = 0; i < r->n_ranks; i++) {
		rows_rank *rank = &r->ranks[i];
		rank->device = r->device_rows + device;
		device += rank->n_device;
		while (step < r->n_steps && r->steps[step].rank < rank->rank)
			step++;
		rank->steps = r->steps + step;
		while (step < r->n_steps && r->steps[step].rank == rank->rank)
			step++;
		rank->n_steps = (size_t)(r->steps + step - rank->steps);
	}
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

rows_options rows_options_from(const sonde_analyze_options *from)
{
	return (rows_options){ .use_steps = from->use_steps,
			       .first_step = from->first_step,
			       .last_step = from->last_step,
			       .n_warmup = warmup_given(from),
			       .ranks = from->ranks,
			       .use_time = from->use_time,
			       .from_ns = from->from_ns,
			       .to_ns = from->to_ns };
}

sonde_status rows_load(const sonde_trace *trace, const rows_options *options, rows *ret_rows, sonde_error *err)
{
	rows *r = ret_rows;
	rows_options how = options ? *options : (rows_options){ 0 };
	bool selects = how.use_steps || how.n_warmup || how.ranks || how.use_time;

	if (selects)
		how.wants = NULL;
	*r = (rows){ .trace = trace, .ix = trace->index };
	if (how.ranks && !number_list_is_valid(how.ranks))
		return error_set(err, SONDE_E_USAGE, -1, "ranks are numbers like 0,2-4, not \"%s\"", how.ranks);
	if (!r->ix)
		return SONDE_OK;
	r->sites = index_sites(r->ix, &r->n_sites);
	r->tracks = index_tracks(r->ix, &r->n_tracks);
	uint64_t n = index_n_slices(r->ix);
	if (n >= ROW_NONE)
		return error_set(err, SONDE_E_UNSUPPORTED, -1, "%" PRIu64 " slices are more than analyses can take", n);
	r->n_slices = (size_t)n;
	r->items = big_alloc(r->n_slices + 1, sizeof *r->items);
	r->row_of_slice = big_alloc(r->n_slices + 1, sizeof *r->row_of_slice);
	r->first_of_track = malloc((r->n_tracks + 1) * sizeof *r->first_of_track);
	bool ok = r->items && r->row_of_slice && r->first_of_track;
	if (ok)
		memset(r->row_of_slice, 0xff, r->n_slices * sizeof *r->row_of_slice);
	ok = ok && load_places(r) && load_slices(r, &how) && load_launches(r) && load_steps(r) &&
	     (!selects || rows_select(r, &how)) && find_ranks(r) && list_device(r);
	if (!ok)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	divide(r);
	if (how.wants) {
		free(r->row_of_slice);
		r->row_of_slice = NULL;
		r->n_slices = 0;
	}
	return SONDE_OK;
}

void rows_done(rows *r)
{
	free(r->items);
	free(r->row_of_slice);
	free(r->first_of_track);
	free(r->places);
	free(r->ranks);
	free(r->steps);
	free(r->device_rows);
	*r = (rows){ 0 };
}
