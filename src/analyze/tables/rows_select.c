/*
 * What a selection of steps, ranks and times leaves of the rows. See rows.h.
 *
 * A device row goes by the start of what launched it, so the launches are looked at first: for each slice that was
 * launched two bits say whether the launch is there and whether it is in.
 */
#include "analyze/tables/rows_select.h"

#include <stdlib.h>
#include "base/parse_units.h"
#include "base/search.h"

/* A time lies in one of the steps that are wanted, of this rank. */
static bool in_steps(const rows *r, const rows_options *o, int32_t rank, int64_t ns)
{
	const rows_step *all = r->steps;
	/* behind the last step of the rank that starts at or before the time */
	size_t at = FIRST_NOT(i, 0, r->n_steps, all[i].rank < rank || (all[i].rank == rank && all[i].start_ns <= ns));

	/* Steps of several threads of a rank may overlap: as many as run at once are looked at, not all of them. */
	for (size_t looked = 0; at-- > 0 && all[at].rank == rank && looked < 64; looked++) {
		const rows_step *s = &all[at];
		if (s->number >= o->first_step && s->number <= o->last_step && ns < s->start_ns + s->dur_ns)
			return true;
	}
	return false;
}

static int64_t end_of_warmup(const rows *r, const rows_options *o, int32_t rank, warmup_end *known)
{
	size_t n = 0;

	if (known->is_known && known->rank == rank)
		return known->ns;
	size_t first = FIRST_NOT(i, 0, r->n_steps, r->steps[i].rank < rank);
	while (first + n < r->n_steps && r->steps[first + n].rank == rank && n <= o->n_warmup)
		n++;
	*known = (warmup_end){ true, rank, n ? r->steps[first + n - 1].start_ns : INT64_MIN };
	return known->ns;
}

/* By the time at which the host began it. */
static bool began_in(selection *s, int32_t rank, int64_t began)
{
	const rows_options *o = s->options;

	if (o->n_warmup && began < end_of_warmup(s->r, o, rank, &s->known))
		return false;
	return !o->use_steps || in_steps(s->r, o, rank, began);
}

/* The steps that are out are gone by now. */
bool rows_choose(const rows *r, const rows_options *o, int32_t rank, int64_t ns)
{
	if (o->ranks && !number_list_has(o->ranks, rank))
		return false;
	if (o->use_time && (ns < o->from_ns || ns >= o->to_ns))
		return false;
	for (size_t i = 0; o->n_warmup && i < r->n_ranks; i++)
		if (r->ranks[i].rank == rank && r->ranks[i].n_steps && ns < r->ranks[i].steps[0].start_ns)
			return false;
	return !o->use_steps || in_steps(r, o, rank, ns);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static bool bit_at(const uint8_t *bits, uint64_t i)
{
	return bits[i / 8] >> i % 8 & 1;
}

static void set_bit(uint8_t *bits, uint64_t i)
{
	bits[i / 8] |= (uint8_t)(1 << i % 8);
}

/* Calls of a lane are mostly asked for one after the other: the block of each of the last lanes is kept. */
enum { CALL_LANES = 16 };
typedef struct call_times {
	lane_cursor *cursors[CALL_LANES];
	uint32_t lanes[CALL_LANES];
	uint64_t first[CALL_LANES]; /* row of the block's first slice */
} call_times;

/* False: it is not there or cannot be read. */
static bool start_of(call_times *c, const sonde_index *ix, uint64_t slice, int64_t *ret_ns)
{
	size_t n_lanes;
	const index_lane *lanes = index_lanes(ix, &n_lanes);
	uint32_t lane = index_lane_of(ix, slice);

	if (lane == INDEX_NONE)
		return false;
	uint64_t number = slice - lanes[lane].first_slice, first = number - number % COLUMNS_ROWS;
	size_t at = lane % CALL_LANES;
	if (c->lanes[at] != lane || c->first[at] != first) {
		lane_first(c->cursors[at], ix, lane, first);
		bool is_read = lane_load(c->cursors[at]) && c->cursors[at]->row == first;
		c->lanes[at] = is_read ? lane : INDEX_NONE;
		c->first[at] = first;
		if (!is_read)
			return false;
	}
	*ret_ns = c->cursors[at]->start[number - first] - index_start_ns(ix);
	return number - first < c->cursors[at]->n;
}

static void note_launches(selection *s, call_times *calls, table_cursor *c)
{
	const rows *r = s->r;
	size_t n_lanes;
	const index_lane *lanes = index_lanes(r->ix, &n_lanes);
	int64_t launch[COLUMNS_MAX], began;

	table_first(c, r->ix, SECTION_LAUNCHES, 0);
	while (table_next(c, launch)) {
		uint64_t device = (uint64_t)launch[LAUNCH_DEVICE];
		uint32_t lane = index_lane_of(r->ix, device);
		if (lane == INDEX_NONE || lanes[lane].track >= r->n_tracks || launch[LAUNCH_HOST] <= 0 ||
		    !start_of(calls, r->ix, (uint64_t)launch[LAUNCH_HOST] - 1, &began))
			continue;
		set_bit(s->is_launched, device);
		if (began_in(s, track_rank(r, lanes[lane].track), began))
			set_bit(s->launch_is_in, device);
	}
}

static bool load_launches(selection *s)
{
	table_cursor *c = malloc(sizeof *c);
	call_times calls = { 0 };
	bool ok = c != NULL;

	for (size_t i = 0; i < CALL_LANES; i++) {
		calls.lanes[i] = INDEX_NONE;
		calls.cursors[i] = malloc(sizeof *calls.cursors[i]);
		ok = ok && calls.cursors[i];
	}
	if (ok)
		note_launches(s, &calls, c);
	index_release_pages(s->r->ix);
	for (size_t i = 0; i < CALL_LANES; i++)
		free(calls.cursors[i]);
	free(c);
	return ok;
}

/* ---- Slices ------------------------------------------------------------------------------------------------------ */

bool selection_init(selection *s, const rows *r, const rows_options *options)
{
	*s = (selection){ .r = r, .options = options };
	if (!options->use_steps && !options->n_warmup)
		return true;
	s->is_launched = calloc(r->n_slices / 8 + 1, 1);
	s->launch_is_in = calloc(r->n_slices / 8 + 1, 1);
	return s->is_launched && s->launch_is_in && load_launches(s);
}

bool selection_has(selection *s, const index_slice *slice, uint32_t track)
{
	const rows_options *o = s->options;
	int32_t rank = track_rank(s->r, track);
	int64_t start_ns = slice->start_ns - index_start_ns(s->r->ix);

	if (o->ranks && !number_list_has(o->ranks, rank))
		return false;
	if (o->use_time && (start_ns < o->from_ns || start_ns >= o->to_ns))
		return false;
	if (s->is_launched && bit_at(s->is_launched, slice->id))
		return bit_at(s->launch_is_in, slice->id);
	return began_in(s, rank, start_ns);
}

void selection_done(selection *s)
{
	free(s->is_launched);
	free(s->launch_is_in);
}
