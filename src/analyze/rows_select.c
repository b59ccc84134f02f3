/*
 * What a selection of steps, ranks and times leaves of the rows. See rows.h.
 *
 * Rows that stay keep their order and close the gaps in place; everything that refers to rows by number is renumbered.
 */
#include "analyze/rows.h"

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

/* Where the warm-up of a rank ends: the start of its first step that counts. The last answer is kept in *known. */
typedef struct warmup_end {
	bool is_known;
	int32_t rank;
	int64_t ns;
} warmup_end;

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

static bool is_selected(const rows *r, const rows_options *o, const row *at, warmup_end *known)
{
	int32_t rank = row_rank(r, at);
	int64_t began = at->launch != ROW_NONE ? r->items[at->launch].start_ns : at->start_ns;

	if (o->n_warmup && began < end_of_warmup(r, o, rank, known))
		return false;
	if (o->ranks && !number_list_has(o->ranks, rank))
		return false;
	if (o->use_time && (at->start_ns < o->from_ns || at->start_ns >= o->to_ns))
		return false;
	return !o->use_steps || in_steps(r, o, rank, began);
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

/* new_of[i]: how many rows before i stay. */
static bool stays(const uint32_t *new_of, uint32_t i)
{
	return new_of[i] != new_of[i + 1];
}

static uint32_t renumber(const uint32_t *new_of, uint32_t i)
{
	return i != ROW_NONE && stays(new_of, i) ? new_of[i] : ROW_NONE;
}

/* Rows keep their order; numbers of rows change. */
static void close_gaps(rows *r, const uint32_t *new_of)
{
	size_t n = 0, n_steps = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		if (!stays(new_of, i))
			continue;
		row *to = &r->items[n++];
		*to = r->items[i];
		to->end = new_of[to->end];
		to->parent = renumber(new_of, to->parent);
		to->launch = renumber(new_of, to->launch);
	}
	for (size_t i = 0; i < r->n_slices; i++)
		r->row_of_slice[i] = renumber(new_of, r->row_of_slice[i]);
	for (size_t i = 0; i < r->n_steps; i++) {
		uint32_t at = renumber(new_of, r->steps[i].row);
		if (at == ROW_NONE)
			continue;
		r->steps[n_steps] = r->steps[i];
		r->steps[n_steps++].row = at;
	}
	r->n_steps = n_steps;
	for (size_t i = 0; i <= r->n_tracks; i++)
		r->first_of_track[i] = new_of[r->first_of_track[i]];
	r->n_left_out = r->n - n;
	r->n = n;
}

/* When the tracks ran, as far as their rows are in. */
static void narrow_places(rows *r)
{
	for (size_t t = 0; t < r->n_tracks; t++) {
		rows_place *place = &r->places[t];
		place->start_ns = INT64_MAX;
		place->end_ns = INT64_MIN;
		for (uint32_t i = r->first_of_track[t]; i < r->first_of_track[t + 1]; i = r->items[i].end)
			place_widen(place, r->items[i].start_ns, row_end_ns(&r->items[i]));
	}
}

bool rows_select(rows *r, const rows_options *o)
{
	uint32_t *new_of = malloc((r->n + 1) * sizeof *new_of), n = 0;
	warmup_end known = { 0 };

	if (!new_of)
		return false;
	for (size_t i = 0; i < r->n; i++) {
		new_of[i] = n;
		n += is_selected(r, o, &r->items[i], &known);
	}
	new_of[r->n] = n;
	for (size_t i = 0; i < r->n;
	     i++) { /* a parent comes before its children, so its own is already one that stays */
		uint32_t parent = r->items[i].parent;
		if (parent != ROW_NONE && !stays(new_of, parent))
			r->items[i].parent = r->items[parent].parent;
	}
	close_gaps(r, new_of);
	narrow_places(r);
	free(new_of);
	return true;
}
