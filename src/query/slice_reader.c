/* See slice_reader.h. Neighbouring depths of a track, which calls alternate between, have places of their own. */
#include "query/slice_reader.h"

#include <stdlib.h>

enum { PLACES = 8 };

typedef struct place {
	uint64_t asked; /* first slice of the block that was asked for last */
	lane_cursor lane;
} place;

struct slice_reader {
	const sonde_index *ix;
	const index_lane *lanes;
	place places[PLACES];
};

slice_reader *slice_reader_new(const sonde_index *ix)
{
	slice_reader *r = calloc(1, sizeof *r);
	size_t n_lanes;

	if (!r)
		return NULL;
	r->ix = ix;
	r->lanes = index_lanes(ix, &n_lanes);
	for (size_t i = 0; i < PLACES; i++) {
		r->places[i].asked = INDEX_NO_SLICE;
		r->places[i].lane.lane_number = INDEX_NONE;
	}
	return r;
}

void slice_reader_free(slice_reader *r)
{
	free(r);
}

bool slice_reader_get(slice_reader *r, uint64_t id, index_slice *ret_slice)
{
	uint32_t number = index_lane_of(r->ix, id);

	if (number == INDEX_NONE)
		return false;
	place *p = &r->places[number % PLACES];
	lane_cursor *c = &p->lane;
	uint64_t row = id - r->lanes[number].first_slice, loaded = c->row - c->at;
	uint64_t block = id - row % COLUMNS_ROWS;
	if (c->lane_number == number && row >= loaded && row - loaded < c->n) {
		c->row = row;
		c->at = (uint32_t)(row - loaded);
	} else if (p->asked == block) {
		lane_first(c, r->ix, number, row);
	} else {
		p->asked = block;
		return index_slice_at(r->ix, id, ret_slice);
	}
	return lane_next(c, ret_slice) && ret_slice->id == id;
}
