/*
 * Sums per site over a time range, and the search for sites and their slices. See index/sections.h.
 *
 * Sums: lane by lane, from the first slice that reaches into the range to the last. What a slice's children take is
 * subtracted when the lane below is read: parents come in order, so the lane above is followed block by block, and only
 * its sites are looked at.
 *
 * Search: slices of a lane are in the order of their starts, so the first hit of each lane within a window of time is
 * enough. The window grows until something is found: a hit nearby costs little, however long the trace is.
 */
#include <string.h>
#include "base/error.h"
#include "store/index/image.h"

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

/* The sites of a lane, by row. */
typedef struct site_reader {
	const sonde_index *ix;
	const index_lane *lane;
	uint64_t block; /* that the sites are of; UINT64_MAX: none */
	bool readable;
	int64_t sites[COLUMNS_ROWS];
} site_reader;

static uint32_t site_of(site_reader *r, uint64_t row)
{
	columns c;

	if (r->block != row / COLUMNS_ROWS) {
		r->block = row / COLUMNS_ROWS;
		r->readable = lane_block(r->ix, r->lane, row, &c) && block_sites(r->ix, &c, 0, c.n_rows, r->sites);
	}
	return r->readable ? (uint32_t)r->sites[row % COLUMNS_ROWS] : INDEX_NONE;
}

typedef struct range {
	int64_t from, to;
} range;

static int64_t clipped(const index_slice *s, const range *r)
{
	int64_t start = s->start_ns > r->from ? s->start_ns : r->from;
	int64_t end = s->start_ns + s->dur_ns < r->to ? s->start_ns + s->dur_ns : r->to;

	return end > start ? end - start : 0;
}

/* A damaged file may hold any number of the longest slices. */
static void add_wrapping(int64_t *to, int64_t value)
{
	*to = (int64_t)((uint64_t)*to + (uint64_t)value);
}

static void add_slice(site_sum *sum, const index_slice *s, int64_t within)
{
	if (sum->n_slices == 0 || s->dur_ns < sum->min_ns)
		sum->min_ns = s->dur_ns;
	if (s->dur_ns > sum->max_ns)
		sum->max_ns = s->dur_ns;
	sum->n_slices++;
	add_wrapping(&sum->total_ns, within);
	add_wrapping(&sum->self_ns, within);
}

/* False when a block could not be read. */
static bool add_lane(const sonde_index *ix, uint32_t lane, const range *r, site_sum *sums)
{
	const index_lane *above = lane_above(&ix->lanes[lane]);
	site_reader parents = { .ix = ix, .lane = above, .block = UINT64_MAX };
	/* A slice of no length at the very start ends there too. */
	uint64_t first = lane_find_start(ix, lane, r->from), by_end = lane_find_end(ix, lane, r->from);
	lane_cursor c;
	index_slice s;

	lane_first(&c, ix, lane, first < by_end ? first : by_end);
	while (lane_next(&c, &s) && s.start_ns < r->to) {
		if (s.start_ns < r->from && s.start_ns + s.dur_ns <= r->from)
			continue; /* only where the summaries are damaged */
		int64_t within = clipped(&s, r);
		add_slice(&sums[s.site], &s, within);
		uint32_t parent = above ? site_of(&parents, s.parent - above->first_slice) : INDEX_NONE;
		if (parent != INDEX_NONE)
			add_wrapping(&sums[parent].self_ns, -within);
		else if (above)
			c.damaged = true;
	}
	return !c.damaged;
}

static void copy_sums(const sonde_index *ix, site_sum *sums)
{
	size_t n;
	const index_site *sites = index_sites(ix, &n);

	for (size_t i = 0; i < n; i++) {
		const index_site *s = &sites[i];
		sums[i] = (site_sum){ s->n_slices, s->total_ns, s->self_ns, s->min_ns, s->max_ns };
	}
}

static bool add_track(const sonde_index *ix, uint32_t track, const range *r, site_sum *sums)
{
	const index_track *t = (const index_track *)ix->data[SECTION_TRACKS] + track;
	bool all_read = true;

	for (uint32_t i = 0; i < t->n_lanes; i++)
		all_read = add_lane(ix, t->first_lane + i, r, sums) && all_read;
	return all_read;
}

sonde_status index_aggregate(const sonde_index *ix, const aggregate_options *options, site_sum *sums, sonde_error *err)
{
	range r = { options->from_ns, options->to_ns };
	bool all_read = true, everything = r.from == 0 && r.to == 0;

	if (everything)
		r = (range){ INT64_MIN, INT64_MAX };
	everything = everything || (r.from <= ix->start_ns && r.to > index_end_ns(ix));
	if (everything && !options->tracks) {
		copy_sums(ix, sums);
		return SONDE_OK;
	}
	size_t n = options->tracks ? options->n_tracks : ix->n_tracks;
	for (size_t i = 0; i < n; i++) {
		uint64_t track = options->tracks ? options->tracks[i] : i;
		if (track >= ix->n_tracks)
			return error_set(err, SONDE_E_USAGE, -1, "there is no track %u", (unsigned)track);
		all_read = add_track(ix, (uint32_t)track, &r, sums) && all_read;
	}
	if (!all_read)
		return error_set(err, SONDE_E_FORMAT, -1, "the index is damaged: not all slices could be read");
	return SONDE_OK;
}

/* ---- Search ------------------------------------------------------------------------------------------------------ */

static unsigned char lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static bool holds(const char *name, size_t name_len, const char *text, size_t len)
{
	for (size_t at = 0; at + len <= name_len; at++) {
		size_t same = 0;
		while (same < len && lower(name[at + same]) == lower(text[same]))
			same++;
		if (same == len)
			return true;
	}
	return false;
}

size_t index_search_sites(const sonde_index *ix, const char *text, uint32_t *ret_sites)
{
	size_t n_sites, n = 0, len = strlen(text);
	const index_site *sites = index_sites(ix, &n_sites);

	for (size_t i = 0; i < n_sites; i++) {
		size_t name_len;
		const char *name = index_textn(ix, sites[i].name, &name_len);
		if (holds(name, name_len, text, len))
			ret_sites[n++] = (uint32_t)i;
	}
	return n;
}

/* First (or last) row of [first, end) whose site is marked; UINT64_MAX: none. */
static uint64_t find_marked(const sonde_index *ix, const index_lane *lane, const uint8_t *marked, uint64_t first,
			    uint64_t end, bool last)
{
	site_reader r = { .ix = ix, .lane = lane, .block = UINT64_MAX };

	for (uint64_t i = first; i < end; i++) {
		uint64_t row = last ? end - 1 - (i - first) : i;
		uint32_t site = site_of(&r, row);
		if (site != INDEX_NONE && marked[site])
			return row;
	}
	return UINT64_MAX;
}

/* The first hit that starts in [from, to), or the last. */
static uint64_t find_in_window(const sonde_index *ix, const uint8_t *marked, int64_t from, int64_t to, bool last)
{
	uint64_t found = INDEX_NO_SLICE;
	int64_t found_ns = 0;

	for (uint32_t i = 0; i < ix->n_lanes; i++) {
		const index_lane *lane = &ix->lanes[i];
		uint64_t end = lane_find_start(ix, i, to);
		uint64_t row = find_marked(ix, lane, marked, lane_find_start(ix, i, from), end, last);
		index_slice s;
		if (row == UINT64_MAX || !index_slice_at(ix, lane->first_slice + row, &s))
			continue;
		if (found == INDEX_NO_SLICE || (last ? s.start_ns > found_ns : s.start_ns < found_ns)) {
			found = s.id;
			found_ns = s.start_ns;
		}
	}
	return found;
}

/* What is left to search, [*from, *to), loses a part at its near end; returns the part. */
static range take_window(range *left, uint64_t size, bool before)
{
	uint64_t all = (uint64_t)left->to - (uint64_t)left->from;
	range part = *left;

	if (size < all && before)
		part.from = left->to - (int64_t)size;
	else if (size < all)
		part.to = left->from + (int64_t)size;
	if (before)
		left->to = part.from;
	else
		left->from = part.to;
	return part;
}

uint64_t index_search_next(const sonde_index *ix, const uint8_t *sites, int64_t ns, bool before)
{
	/* No slice starts behind the end; the end itself is looked at as well. */
	int64_t end = index_end_ns(ix) < INT64_MAX ? index_end_ns(ix) + 1 : INT64_MAX;
	range left = { ix->start_ns, end };
	uint64_t size = (uint64_t)ix->span_ns / 4096 + 1, found = INDEX_NO_SLICE;
	size_t n_sites;
	const index_site *all = index_sites(ix, &n_sites);
	bool any = false;

	for (size_t i = 0; i < n_sites && !any; i++)
		any = sites[i] && all[i].n_slices;
	if (before)
		left.to = ns < end ? ns : end;
	else
		left.from = ns < ix->start_ns ? ix->start_ns : ns < end ? ns + 1 : end;
	while (any && found == INDEX_NO_SLICE && left.from < left.to) {
		range window = take_window(&left, size, before);
		found = find_in_window(ix, sites, window.from, window.to, before);
		size = size < INT64_MAX / 4 ? size * 4 : size;
	}
	return found;
}
