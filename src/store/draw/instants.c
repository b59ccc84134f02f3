/*
 * Instants of tracks, to be drawn: at most one a pixel and track. See index/sections.h.
 *
 * They lie in one table, by time, whatever their track. Of the blocks in sight the columns that matter are read; where
 * there are more than BLOCKS_MAX blocks, every n-th of them stands for n.
 */
#include <stdlib.h>
#include <string.h>
#include "store/index/image.h"

enum { BLOCKS_MAX = 4096 };

typedef struct block {
	uint32_t n;
	int64_t times[COLUMNS_ROWS], tracks[COLUMNS_ROWS], sites[COLUMNS_ROWS];
} block;

typedef struct sight {
	const sonde_index *ix;
	const instants_wanted *wanted;
	int64_t from, to; /* from the trace's start: what is seen of it */
	uint64_t offset;  /* of the left edge from the trace's start, modulo 2^64 */
	uint64_t width;	  /* of what the pixels show */
	uint32_t each;	  /* how many one stands for */
	range_instant *found;
	size_t n, room;
	uint32_t *last; /* of each track: number of its last one + 1 */
} sight;

static bool open_block(const sonde_index *ix, uint64_t number, columns *ret)
{
	uint64_t left = ix->sections[SECTION_INSTANTS].n_rows - number * COLUMNS_ROWS;

	return image_block(ix, SECTION_INSTANTS, number, INSTANT_COLUMNS, ret) &&
	       ret->n_rows == (left < COLUMNS_ROWS ? left : COLUMNS_ROWS);
}

static void read_block(const sonde_index *ix, uint64_t number, block *b)
{
	columns c;

	b->n = open_block(ix, number, &c) ? c.n_rows : 0;
	if (!b->n)
		return;
	columns_unpack(&c, INSTANT_TIME, 0, b->n, b->times);
	columns_unpack(&c, INSTANT_TRACK, 0, b->n, b->tracks);
	columns_unpack(&c, INSTANT_SITE, 0, b->n, b->sites);
}

static uint64_t n_blocks(const sonde_index *ix)
{
	return divided_up(ix->sections[SECTION_INSTANTS].n_rows, COLUMNS_ROWS);
}

void index_count_instants(const sonde_index *ix, uint64_t *counts)
{
	int64_t tracks[COLUMNS_ROWS];
	columns c;

	for (uint64_t i = 0; i < n_blocks(ix); i++) {
		if (!open_block(ix, i, &c))
			continue;
		columns_unpack(&c, INSTANT_TRACK, 0, c.n_rows, tracks);
		for (uint32_t k = 0; k < c.n_rows; k++)
			if ((uint64_t)tracks[k] < ix->n_tracks)
				counts[tracks[k]]++;
	}
}

/* ---- One a pixel ------------------------------------------------------------------------------------------------- */

static bool is_wanted(const sight *s, uint64_t track, uint64_t site)
{
	const instants_wanted *w = s->wanted;

	return track < s->ix->n_tracks && site < s->ix->n_sites && w->tracks[track] &&
	       !(w->hidden_sites && w->hidden_sites[site]);
}

static uint32_t pixel_at(const sight *s, int64_t time)
{
	uint64_t at = (uint64_t)time - s->offset;
	uint32_t n = s->wanted->n_pixels, pixel = (uint32_t)((unsigned __int128)at * n / s->width);

	return pixel < n ? pixel : n - 1;
}

static bool add_one(sight *s, uint32_t track, uint32_t pixel, uint32_t site, uint64_t row)
{
	range_instant *last = s->last[track] ? &s->found[s->last[track] - 1] : NULL;

	if (last && last->x == pixel) {
		last->n = last->n < UINT32_MAX - s->each ? last->n + s->each : UINT32_MAX;
		return true;
	}
	if (s->n == s->room) {
		size_t room = 2 * s->room + 1024;
		range_instant *grown = realloc(s->found, room * sizeof *grown);
		if (!grown)
			return false;
		s->found = grown;
		s->room = room;
	}
	s->found[s->n++] = (range_instant){ .track = track, .x = pixel, .site = site, .n = s->each, .row = row };
	s->last[track] = (uint32_t)s->n;
	return true;
}

static bool add_block(sight *s, uint64_t number, const block *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		if (b->times[i] < s->from || b->times[i] >= s->to ||
		    !is_wanted(s, (uint64_t)b->tracks[i], (uint64_t)b->sites[i]))
			continue;
		if (!add_one(s, (uint32_t)b->tracks[i], pixel_at(s, b->times[i]), (uint32_t)b->sites[i],
			     number * COLUMNS_ROWS + i))
			return false;
	}
	return true;
}

static int by_track(const void *a, const void *b)
{
	const range_instant *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->x < y->x ? -1 : x->x > y->x;
}

static bool gather(sight *s)
{
	uint64_t n_rows = s->ix->sections[SECTION_INSTANTS].n_rows;
	uint64_t first = table_find(s->ix, SECTION_INSTANTS, INSTANT_TIME, s->from) / COLUMNS_ROWS;
	uint64_t last = table_find(s->ix, SECTION_INSTANTS, INSTANT_TIME, s->to);
	uint64_t behind = divided_up(last < n_rows ? last : n_rows, COLUMNS_ROWS);
	block *b = malloc(sizeof *b);
	bool ok = b;

	s->each = behind > first ? (uint32_t)divided_up(behind - first, BLOCKS_MAX) : 1;
	for (uint64_t i = first; ok && i < behind; i += s->each) {
		read_block(s->ix, i, b);
		ok = add_block(s, i, b);
	}
	free(b);
	return ok;
}

bool index_instants(const sonde_index *ix, const instants_wanted *wanted, range_instant **ret_instants, size_t *ret_n,
		    bool *ret_is_exact)
{
	int64_t from = wanted->from_ns, to = wanted->to_ns, end = index_end_ns(ix);
	sight s = { .ix = ix, .wanted = wanted, .each = 1, .width = (uint64_t)to - (uint64_t)from };

	*ret_instants = NULL;
	*ret_n = 0;
	*ret_is_exact = true;
	if (from >= to || !wanted->n_pixels || from > end || to <= ix->start_ns)
		return true;
	s.offset = (uint64_t)from - (uint64_t)ix->start_ns;
	s.from = (int64_t)row_time(ix, from);
	/* The very end belongs to the last pixel of a view that ends there. */
	s.to = to >= end ? ix->span_ns + (ix->span_ns < INT64_MAX) : (int64_t)row_time(ix, to);
	s.last = calloc(ix->n_tracks + 1, sizeof *s.last);
	bool ok = s.last && gather(&s);
	free(s.last);
	if (!ok) {
		free(s.found);
		return false;
	}
	if (s.n)
		qsort(s.found, s.n, sizeof *s.found, by_track);
	*ret_instants = s.found;
	*ret_n = s.n;
	*ret_is_exact = s.each == 1;
	return true;
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

uint64_t index_instant_beside(const sonde_index *ix, uint64_t row, bool before)
{
	uint64_t n_rows = ix->sections[SECTION_INSTANTS].n_rows, opened = UINT64_MAX;
	int64_t track = 0;
	columns c;

	for (uint64_t at = row; at < n_rows; at += before ? UINT64_MAX : 1) {
		if (at / COLUMNS_ROWS != opened) {
			opened = at / COLUMNS_ROWS;
			if (!open_block(ix, opened, &c))
				return UINT64_MAX;
		}
		int64_t its = columns_get(&c, INSTANT_TRACK, at % COLUMNS_ROWS);
		if (at == row)
			track = its;
		else if (its == track)
			return at;
	}
	return UINT64_MAX;
}

/* ---- By name ----------------------------------------------------------------------------------------------------- */

uint64_t index_search_instant(const sonde_index *ix, const uint8_t *sites, uint64_t row, bool before)
{
	uint64_t n_rows = ix->sections[SECTION_INSTANTS].n_rows, opened = UINT64_MAX;
	columns c;
	bool ok = false;

	/* Backwards the last one below `row`; the count wraps around below 0, which ends it, too. */
	for (uint64_t at = before ? (row < n_rows ? row : n_rows) - 1 : row; at < n_rows;
	     at += before ? UINT64_MAX : 1) {
		if (at / COLUMNS_ROWS != opened) {
			opened = at / COLUMNS_ROWS;
			ok = open_block(ix, opened, &c);
		}
		uint64_t site = ok ? (uint64_t)columns_get(&c, INSTANT_SITE, at % COLUMNS_ROWS) : UINT64_MAX;
		if (site < ix->n_sites && sites[site])
			return at;
	}
	return UINT64_MAX;
}

uint64_t index_count_instants_of(const sonde_index *ix, const uint8_t *sites)
{
	int64_t values[COLUMNS_ROWS];
	uint64_t n = 0;
	columns c;

	for (uint64_t i = 0; i < n_blocks(ix); i++) {
		if (!open_block(ix, i, &c))
			continue;
		columns_unpack(&c, INSTANT_SITE, 0, c.n_rows, values);
		for (uint32_t k = 0; k < c.n_rows; k++)
			n += (uint64_t)values[k] < ix->n_sites && sites[values[k]];
	}
	return n;
}
