/*
 * Slices: a lane from a row on, one slice by its number, the slice at a time, parents and children. See
 * index/sections.h.
 *
 * A block that holds something impossible (a time behind the trace's end, a site or a parent that is not there) is
 * damaged as a whole: its rows are skipped. Mostly that is told by the bases and widths of its columns, without a look
 * at the rows.
 */
#include <string.h>
#include "base/search.h"
#include "store/index/image.h"

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* So small that those of a block add up to less than 2^63. */
static const uint64_t small_time = (uint64_t)1 << 53;

/* In: gaps and durations. Out: starts. The gap of the first row does not count. */
static bool add_up(uint64_t start, int64_t *times, const int64_t *durs, size_t n, bool all_small, uint64_t span)
{
	uint64_t t = start;

	if (start > span)
		return false;
	for (size_t i = 0; i < n && all_small; i++) {
		t += i ? (uint64_t)times[i] : 0;
		times[i] = (int64_t)t;
		t += (uint64_t)durs[i];
	}
	for (size_t i = 0; i < n && !all_small; i++) {
		uint64_t gap = i ? (uint64_t)times[i] : 0;
		if (gap > span - t || (uint64_t)durs[i] > span - t - gap)
			return false;
		t += gap;
		times[i] = (int64_t)t;
		t += (uint64_t)durs[i];
	}
	return t <= span;
}

/* Rows [first, first + n) of a block of slices, of which `start` is the first one's start. False when a time is not
   within the trace: otherwise starts and ends are in order. */
static bool block_times(const sonde_index *ix, const columns *c, size_t first, size_t n, uint64_t start,
			int64_t *ret_starts, int64_t *ret_durs)
{
	columns_unpack(c, SLICE_GAP, first, n, ret_starts);
	columns_unpack(c, SLICE_DUR, first, n, ret_durs);
	return add_up(start, ret_starts, ret_durs, n,
		      column_within(c, SLICE_GAP, small_time) && column_within(c, SLICE_DUR, small_time),
		      (uint64_t)ix->span_ns);
}

bool block_sites(const sonde_index *ix, const columns *c, size_t first, size_t n, int64_t *ret_sites)
{
	columns_unpack(c, SLICE_SITE, first, n, ret_sites);
	if (ix->n_sites && column_within(c, SLICE_SITE, ix->n_sites - 1))
		return true;
	for (size_t i = 0; i < n; i++)
		if ((uint64_t)ret_sites[i] >= ix->n_sites)
			return false;
	return true;
}

/* Rows of the parents in the lane above, which has n_above; false when one is not there or they are not in order. */
static bool block_parents(const columns *c, size_t n, uint64_t n_above, int64_t *ret_rows)
{
	uint64_t row = (uint64_t)columns_get(c, SLICE_BEFORE_UP, 0);

	columns_unpack(c, SLICE_UP, 0, n, ret_rows);
	for (size_t i = 0; i < n; i++) {
		if (row >= n_above || (uint64_t)ret_rows[i] >= n_above - row)
			return false;
		row += (uint64_t)ret_rows[i];
		ret_rows[i] = (int64_t)row;
	}
	return true;
}

/* In: numbers of records. Out: number + 1, or 0. */
static void set_args(const sonde_index *ix, int64_t *args, const int64_t *flags, size_t n)
{
	uint64_t n_args = ix->sections[SECTION_ARGS].n_rows;

	if (!n_args) {
		memset(args, 0, n * sizeof *args);
		return;
	}
	for (size_t i = 0; i < n; i++)
		args[i] = (flags[i] & SLICE_HAS_ARGS) && (uint64_t)args[i] < n_args ? args[i] + 1 : 0;
}

/* ---- A lane from a row on ---------------------------------------------------------------------------------------- */

void lane_first(lane_cursor *c, const sonde_index *ix, uint32_t lane, uint64_t first)
{
	c->ix = ix;
	c->lane = lane < ix->n_lanes ? &ix->lanes[lane] : NULL;
	c->lane_number = lane;
	c->row = first;
	c->n = c->at = 0;
	c->damaged = false;
	for (size_t i = 0; i < COLUMNS_ROWS; i++)
		c->parent[i] = (int64_t)INDEX_NO_SLICE; /* stays so without a lane above */
}

static bool load_parents(lane_cursor *c, const columns *block)
{
	const index_lane *above = lane_above(c->lane);

	if (!above)
		return true;
	if (!block_parents(block, c->n, above->n_slices, c->parent))
		return false;
	for (size_t i = 0; i < c->n; i++)
		c->parent[i] += (int64_t)above->first_slice;
	return true;
}

static bool load_block(lane_cursor *c, const columns *block)
{
	c->n = block->n_rows;
	if (!block_times(c->ix, block, 0, c->n, block_start(block), c->start, c->dur) ||
	    !block_sites(c->ix, block, 0, c->n, c->site) || !load_parents(c, block))
		return false;
	for (size_t i = 0; i < c->n; i++)
		c->start[i] += c->ix->start_ns;
	columns_unpack(block, SLICE_FLAGS, 0, c->n, c->flags);
	columns_unpack(block, SLICE_ARGS, 0, c->n, c->args);
	set_args(c->ix, c->args, c->flags, c->n);
	return true;
}

static bool has_marked(const lane_cursor *c, const columns *block, const uint8_t *marked)
{
	int64_t sites[COLUMNS_ROWS];

	if (!block_sites(c->ix, block, 0, block->n_rows, sites))
		return true; /* damaged: whoever loads it notices */
	for (size_t i = c->row % COLUMNS_ROWS; i < block->n_rows; i++)
		if (marked[sites[i]])
			return true;
	return false;
}

/* The row that the cursor is at, or that of the first block behind it with a marked site. */
static void skip_unmarked(lane_cursor *c, const uint8_t *marked, uint64_t end)
{
	columns block;

	while (c->lane && c->row < end && c->row < c->lane->n_slices && lane_block(c->ix, c->lane, c->row, &block) &&
	       !has_marked(c, &block, marked))
		c->row = c->row / COLUMNS_ROWS * COLUMNS_ROWS + COLUMNS_ROWS;
}

/* The block that holds the next row, or one behind it that can be read. */
bool lane_load(lane_cursor *c)
{
	columns block;

	while (c->lane && c->row < c->lane->n_slices) {
		if (lane_block(c->ix, c->lane, c->row, &block) && load_block(c, &block)) {
			c->at = (uint32_t)(c->row % COLUMNS_ROWS);
			return true;
		}
		c->damaged = true;
		c->row = c->row / COLUMNS_ROWS * COLUMNS_ROWS + COLUMNS_ROWS;
	}
	c->n = c->at = 0;
	return false;
}

bool lane_next_marked(lane_cursor *c, const uint8_t *sites, uint64_t end, index_slice *ret_slice)
{
	while (c->row < end) {
		if (c->at == c->n) {
			skip_unmarked(c, sites, end);
			if (c->row >= end || !lane_load(c))
				return false;
		} else if (sites[c->site[c->at]]) {
			return lane_next(c, ret_slice);
		} else {
			c->at++;
			c->row++;
		}
	}
	return false;
}

/* ---- One slice --------------------------------------------------------------------------------------------------- */

uint32_t index_lane_of(const sonde_index *ix, uint64_t id)
{
	if (id >= index_n_slices(ix))
		return INDEX_NONE;
	/* The last lane whose first slice is not behind it: those before that start at the same number are empty. */
	return (uint32_t)FIRST_NOT(i, 1, ix->n_lanes, ix->lanes[i].first_slice <= id) - 1;
}

bool index_slice_at(const sonde_index *ix, uint64_t id, index_slice *ret_slice)
{
	int64_t starts[COLUMNS_ROWS], durs[COLUMNS_ROWS];
	uint32_t number = index_lane_of(ix, id);
	columns c;

	if (number == INDEX_NONE)
		return false;
	const index_lane *lane = &ix->lanes[number], *above = lane_above(lane);
	uint64_t row = id - lane->first_slice;
	size_t i = row % COLUMNS_ROWS;
	if (!lane_block(ix, lane, row, &c) || !block_times(ix, &c, 0, i + 1, block_start(&c), starts, durs))
		return false;
	uint64_t site = (uint64_t)columns_get(&c, SLICE_SITE, i);
	int64_t args = columns_get(&c, SLICE_ARGS, i), flags = columns_get(&c, SLICE_FLAGS, i);
	set_args(ix, &args, &flags, 1);
	*ret_slice = (index_slice){
		.id = id,
		.lane = number,
		.site = (uint32_t)site,
		.start_ns = ix->start_ns + starts[i],
		.dur_ns = durs[i],
		.parent = INDEX_NO_SLICE,
		.args = (uint32_t)args,
		.flags = (uint32_t)flags,
	};
	if (above) {
		if (!block_parents(&c, i + 1, above->n_slices, starts))
			return false;
		ret_slice->parent = above->first_slice + (uint64_t)starts[i];
	}
	return site < ix->n_sites;
}

/* ---- Summaries, and the slice at a time -------------------------------------------------------------------------- */

void lane_levels_of(const sonde_index *ix, const index_lane *lane, lane_levels *ret)
{
	const index_summary *fine = ix->data[SECTION_FINE], *coarse = ix->data[SECTION_COARSE];
	uint64_t n = divided_up(lane->n_slices, INDEX_GROUP);

	ret->n = 0;
	/* index/sections.c has checked that they are there. */
	for (uint64_t at = lane->first_fine; n > INDEX_COARSE; n = divided_up(n, INDEX_FAN)) {
		ret->summaries[ret->n] = fine + at;
		ret->count[ret->n++] = n;
		at += n;
	}
	ret->summaries[ret->n] = n ? coarse + lane->first_coarse : NULL;
	ret->count[ret->n++] = n;
}

void lane_levels_use(const sonde_index *ix, const lane_levels *levels, unsigned level, uint64_t first, uint64_t behind)
{
	index_kind kind = level + 1 == levels->n ? SECTION_COARSE : SECTION_FINE;
	const uint8_t *start = ix->data[kind];

	if (first < behind)
		image_use(ix, kind, (uint64_t)((const uint8_t *)(levels->summaries[level] + first) - start),
			  (behind - first) * sizeof(index_summary));
}

size_t group_times(const sonde_index *ix, const index_lane *lane, uint64_t group, const index_summary *summary,
		   columns *ret_block, int64_t *ret_starts, int64_t *ret_durs)
{
	uint64_t row = group * INDEX_GROUP, left = lane->n_slices - row;
	size_t n = left < INDEX_GROUP ? left : INDEX_GROUP;

	if (!lane_block(ix, lane, row, ret_block) ||
	    !block_times(ix, ret_block, row % COLUMNS_ROWS, n, summary->start_ns, ret_starts, ret_durs))
		return 0;
	return n;
}

/* Whether the first slice that is looked for lies behind this one: the ends of slices before the wanted end are not
   after t, or the starts of slices before the wanted start are before t. */
static inline bool is_before(uint64_t start, uint64_t dur, uint64_t t, bool by_end)
{
	return by_end ? start + dur <= t : start < t;
}

/* Of the summaries [low, high) the one that may hold the first slice that is not before t. By their ends that is the
   first that is not before it; by their starts, the one before that one. */
static uint64_t find_summary(const index_summary *s, uint64_t low, uint64_t high, uint64_t t, bool by_end)
{
	uint64_t at = FIRST_NOT(i, low, high, is_before(s[i].start_ns, s[i].span_ns, t, by_end));

	if (by_end)
		return at < high ? at : high - 1;
	return at > low ? at - 1 : at;
}

static uint64_t find_row(const sonde_index *ix, uint32_t number, uint64_t t, bool by_end)
{
	int64_t starts[INDEX_GROUP], durs[INDEX_GROUP];
	lane_levels levels;
	columns block;

	if (number >= ix->n_lanes || ix->lanes[number].n_slices == 0)
		return 0;
	const index_lane *lane = &ix->lanes[number];
	lane_levels_of(ix, lane, &levels);
	unsigned level = levels.n - 1;
	lane_levels_use(ix, &levels, level, 0, levels.count[level]);
	uint64_t at = find_summary(levels.summaries[level], 0, levels.count[level], t, by_end);
	while (level--) {
		uint64_t first = at * INDEX_FAN, left = levels.count[level] - first;
		uint64_t behind = first + (left < INDEX_FAN ? left : INDEX_FAN);
		lane_levels_use(ix, &levels, level, first, behind);
		at = find_summary(levels.summaries[level], first, behind, t, by_end);
	}
	uint64_t row = at * INDEX_GROUP;
	size_t n = group_times(ix, lane, at, &levels.summaries[0][at], &block, starts, durs);
	for (size_t i = 0; i < n && is_before((uint64_t)starts[i], (uint64_t)durs[i], t, by_end); i++)
		row++;
	return row;
}

uint64_t lane_find_end(const sonde_index *ix, uint32_t lane, int64_t ns)
{
	return ns < ix->start_ns ? 0 : find_row(ix, lane, row_time(ix, ns), true);
}

uint64_t lane_find_start(const sonde_index *ix, uint32_t lane, int64_t ns)
{
	return find_row(ix, lane, row_time(ix, ns), false);
}

/* ---- Children ---------------------------------------------------------------------------------------------------- */

uint32_t index_lane_below(const sonde_index *ix, uint32_t lane)
{
	return lane < ix->n_lanes && lane + 1 < ix->n_lanes && ix->lanes[lane + 1].depth == ix->lanes[lane].depth + 1
		       ? lane + 1
		       : INDEX_NONE;
}

/* The last block of the lane before which all parents are before the row. */
static uint64_t find_parent_block(const sonde_index *ix, const index_lane *lane, uint64_t parent)
{
	columns c;

	/* One that cannot be read counts as behind: the search ends in one that can. */
	uint64_t next = FIRST_NOT(i, 1, divided_up(lane->n_slices, COLUMNS_ROWS),
				  lane_block(ix, lane, i * COLUMNS_ROWS, &c) &&
					  (uint64_t)columns_get(&c, SLICE_BEFORE_UP, 0) < parent);
	return next - 1;
}

/* First row of the lane whose parent is the row or one behind it. */
static uint64_t find_parent(const sonde_index *ix, const index_lane *lane, uint64_t parent)
{
	int64_t parents[COLUMNS_ROWS];
	columns c;

	if (lane->n_slices == 0)
		return 0;
	uint64_t row = find_parent_block(ix, lane, parent) * COLUMNS_ROWS;
	if (!lane_block(ix, lane, row, &c) || !block_parents(&c, c.n_rows, lane[-1].n_slices, parents))
		return row;
	for (size_t i = 0; i < c.n_rows && (uint64_t)parents[i] < parent; i++)
		row++;
	return row;
}

uint64_t index_children(const sonde_index *ix, uint64_t id, uint64_t *ret_first)
{
	uint32_t number = index_lane_of(ix, id), below = number == INDEX_NONE ? number : index_lane_below(ix, number);

	*ret_first = 0;
	if (below == INDEX_NONE)
		return 0;
	const index_lane *lane = &ix->lanes[below];
	uint64_t parent = id - ix->lanes[number].first_slice;
	uint64_t first = find_parent(ix, lane, parent), end = find_parent(ix, lane, parent + 1);
	*ret_first = lane->first_slice + first;
	return end > first ? end - first : 0;
}
