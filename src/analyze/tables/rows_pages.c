/* See rows_pages.h. */
#include "analyze/tables/rows_pages.h"

#include <stdlib.h>
#include <string.h>
#include "base/big.h"

enum { IN_TURN = 256, RELEASED_AFTER = 1 << 20 }; /* slices, and the pages of the file they were on go back */

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static void advance(rows_pages *p, lane_state *lane)
{
	lane->has_next = lane_next(lane->cursor, &lane->next) && lane->next.id < p->r->n_slices;
	p->r->damaged |= lane->cursor->damaged;
}

static void open_lane(rows_pages *p, uint32_t depth, uint64_t first)
{
	lane_state *lane = &p->lanes.items[depth];

	lane_first(lane->cursor, p->r->ix, p->groups.items[p->group].first_lane + depth, first);
	advance(p, lane);
}

static void set_group(rows_pages *p, size_t group)
{
	p->group = group;
	p->depth = 0;
	p->n_lanes = 0;
	if (group >= p->groups.n)
		return;
	const lane_group *g = &p->groups.items[group];
	uint32_t kind = p->r->tracks[g->track].kind;
	p->n_lanes = g->n_lanes;
	p->blank = (row){ .track = g->track,
			  .launch = ROW_NONE,
			  .flags = kind == TRACK_STREAM	 ? ROW_ON_STREAM
				   : kind == TRACK_ASYNC ? ROW_ASYNC
							 : 0 };
}

static void begin_group(rows_pages *p, size_t group)
{
	set_group(p, group);
	for (uint32_t i = 0; i < p->n_lanes; i++)
		open_lane(p, i, 0);
}

static bool is_kept(rows_pages *p, const index_slice *s)
{
	if (!p->left_out)
		return true;
	if (p->is_loading && !p->choose(p->context, s, p->blank.track))
		p->left_out[s->id / 8] |= (uint8_t)(1 << s->id % 8);
	return !(p->left_out[s->id / 8] >> s->id % 8 & 1);
}

static void make_row(const rows_pages *p, const index_slice *s, row *to)
{
	const index_site *site = &p->r->sites[s->site];

	*to = p->blank;
	to->start_ns = s->start_ns - p->start_ns;
	to->dur_ns = s->dur_ns > 0 ? s->dur_ns : 0;
	to->slice = (uint32_t)s->id;
	to->site = s->site;
	to->args = s->args;
	to->parent = p->depth ? p->lanes.items[p->depth - 1].open : ROW_NONE;
	to->end = p->row + 1;
	to->depth = (uint16_t)p->depth;
	to->class = site->class;
	if ((to->flags & ROW_ON_STREAM) && (site->class == CLASS_KERNEL || site->class == CLASS_COPY))
		to->flags |= ROW_DEVICE;
	if (s->flags & SLICE_IS_ASYNC)
		to->flags |= ROW_ASYNC;
	if (s->flags & (SLICE_IS_OPEN | SLICE_IS_REPAIRED))
		to->flags |= ROW_REPAIRED;
}

/* The next slice of the lane is inside the one that is open above. Those whose parent was in a block that could not be
   read are dropped. */
static bool belongs(rows_pages *p, lane_state *lane, uint64_t parent)
{
	while (lane->has_next && lane->next.parent < parent) {
		p->r->damaged = true;
		advance(p, lane);
	}
	return lane->has_next && lane->next.parent == parent;
}

static uint32_t lane_row(const lane_state *lane)
{
	return (uint32_t)(lane->has_next ? lane->next.id - lane->cursor->lane->first_slice : lane->cursor->row);
}

static void add_note(rows_pages *p, uint32_t value)
{
	uint32_t *to = VEC_ADD(&p->notes);

	p->failed = p->failed || !to;
	if (to)
		*to = value;
}

/* Where the page begins, right before its first row is read. */
static void note_page(rows_pages *p)
{
	size_t *at = VEC_ADD(&p->note_of);

	p->failed = p->failed || !at;
	if (at)
		*at = p->notes.n;
	add_note(p, (uint32_t)p->group);
	add_note(p, p->depth);
	for (uint32_t i = 0; i < p->n_lanes; i++)
		add_note(p, lane_row(&p->lanes.items[i]));
	for (uint32_t i = 0; i < p->depth; i++) {
		add_note(p, p->lanes.items[i].open);
		add_note(p, (uint32_t)p->lanes.items[i].open_slice);
	}
}

static void end_row(rows_pages *p, uint32_t number, row *page)
{
	if (number >= p->page_row) {
		page[number - p->page_row].end = p->row;
		return;
	}
	if (!p->is_loading)
		return;
	long_row *to = VEC_ADD(&p->ends);
	p->failed = p->failed || !to;
	if (to)
		*to = (long_row){ number, p->row };
	if (p->r->pages[number / ROWS_PAGE])
		p->r->pages[number / ROWS_PAGE][number % ROWS_PAGE].end = p->row;
}

/* Opens the next slice of the lane; true: it is a row. */
static bool open_slice(rows_pages *p, lane_state *lane, row *page)
{
	const index_slice *s = &lane->next;
	uint32_t around = p->depth ? lane[-1].open : ROW_NONE;

	lane->is_kept = is_kept(p, s);
	if (lane->is_kept) {
		if (p->is_loading && p->row == p->page_row)
			note_page(p);
		make_row(p, s, &page[p->row - p->page_row]);
		if (p->is_loading) {
			p->r->page_sites[p->row / ROWS_PAGE][s->site / 64 % SITE_WORDS] |= UINT64_C(1) << s->site % 64;
			p->put(p->context, s, p->row);
		}
	}
	lane->open = lane->is_kept ? p->row++ : around;
	lane->open_slice = s->id;
	advance(p, lane);
	p->depth++;
	if (++p->n_read % RELEASED_AFTER == 0)
		index_release_pages(p->r->ix);
	return lane->is_kept;
}

/* Reads on to the next row and puts it into the page; false: there is none. */
static bool next_row(rows_pages *p, row *page)
{
	for (;;) {
		lane_state *lane = p->depth < p->n_lanes ? &p->lanes.items[p->depth] : NULL;
		if (lane && lane->has_next && (!p->depth || belongs(p, lane, lane[-1].open_slice))) {
			if (p->row == p->r->n_slices) /* a file that says it has fewer slices than its lanes hold */
				return false;
			if (open_slice(p, lane, page))
				return true;
		} else if (p->depth) {
			lane = &p->lanes.items[--p->depth];
			if (lane->is_kept)
				end_row(p, lane->open, page);
		} else if (p->group < p->groups.n) {
			begin_group(p, p->group + 1);
		} else {
			return false;
		}
	}
}

/* Returns how many rows. */
static uint32_t read_page(rows_pages *p, row *page)
{
	p->page_row = p->row;
	while (p->row - p->page_row < ROWS_PAGE && next_row(p, page))
		;
	return p->row - p->page_row;
}

/* ---- Pages in memory --------------------------------------------------------------------------------------------- */

/* A place for a page: a free one, or that of a page which goes. */
static size_t take_slot(rows_pages *p)
{
	size_t n_turn = p->n_slots < 2 * IN_TURN ? (p->n_slots + 1) / 2 : IN_TURN;

	if (p->n_used < p->n_slots)
		return p->n_used++;
	p->turn = (p->turn + 1) % n_turn;
	size_t slot = p->n_slots - 1 - p->turn;
	if (p->page_in[slot] != ROW_NONE)
		p->r->pages[p->page_in[slot]] = NULL;
	return slot;
}

static row *place_page(rows_pages *p, size_t page)
{
	size_t slot = take_slot(p);

	p->page_in[slot] = (uint32_t)page;
	p->r->pages[page] = p->slots + slot * ROWS_PAGE;
	return p->r->pages[page];
}

/* Continues where a page begins. */
static void go_to(rows_pages *p, size_t page)
{
	const uint32_t *note = p->notes.items + p->note_of.items[page];

	p->row = (uint32_t)(page * ROWS_PAGE);
	set_group(p, note[0]);
	for (uint32_t i = 0; i < p->n_lanes; i++)
		open_lane(p, i, note[2 + i]);
	p->depth = note[1];
	for (uint32_t i = 0; i < p->depth; i++) {
		p->lanes.items[i].is_kept = false; /* it began in another page */
		p->lanes.items[i].open = note[2 + p->n_lanes + 2 * i];
		p->lanes.items[i].open_slice = note[3 + p->n_lanes + 2 * i];
	}
}

static void set_long_ends(const rows_pages *p, uint32_t first, uint32_t n, row *page)
{
	size_t at = FIRST_NOT(i, 0, p->ends.n, p->ends.items[i].row < first);

	for (; at < p->ends.n && p->ends.items[at].row < first + n; at++)
		page[p->ends.items[at].row - first].end = p->ends.items[at].end;
}

/* The launches of rows on a stream lie apart. */
static void set_launches(const rows *r, uint32_t first, uint32_t n, row *page)
{
	for (uint32_t i = 0; i < n; i++)
		if (page[i].flags & ROW_ON_STREAM)
			page[i].launch = *rows_launch(r, page[i].track, first + i);
}

const row *rows_fill_page(const rows *r, size_t page)
{
	rows_pages *p = r->store;
	uint32_t first = (uint32_t)(page * ROWS_PAGE), n = 0;
	uint32_t n_wanted = (uint32_t)(r->n - first < ROWS_PAGE ? r->n - first : ROWS_PAGE);
	p->r = (rows *)(uintptr_t)r; /* may have been moved; of what it holds only pages change */
	row *to = place_page(p, page);

	if (p->row != first)
		go_to(p, page);
	n = read_page(p, to);
	for (; n < n_wanted; n++) /* the file was cut off meanwhile */
		to[n] = (row){ .parent = ROW_NONE, .launch = ROW_NONE, .end = first + n + 1 };
	set_long_ends(p, first, n_wanted, to);
	set_launches(r, first, n_wanted, to);
	return to;
}

/* ---- Looking for rows -------------------------------------------------------------------------------------------- */

bool site_set_init(site_set *s, const rows *r)
{
	*s = (site_set){ .has = calloc(r->n_sites + 1, 1) };
	return s->has != NULL;
}

void site_set_done(site_set *s)
{
	free(s->has);
	*s = (site_set){ 0 };
}

static bool page_may_have(const rows *r, const site_set *s, size_t page)
{
	uint64_t common = 0;

	for (size_t i = 0; i < SITE_WORDS; i++)
		common |= r->page_sites[page][i] & s->bits[i];
	return common;
}

size_t rows_next(const rows *r, const site_set *s, size_t i)
{
	while (i < r->n) {
		size_t page = i / ROWS_PAGE, end = (page + 1) * ROWS_PAGE < r->n ? (page + 1) * ROWS_PAGE : r->n;
		if (page_may_have(r, s, page)) {
			const row *rows_of = r->pages[page] ? r->pages[page] : rows_fill_page(r, page);
			for (; i < end; i++)
				if (s->has[rows_of[i % ROWS_PAGE].site])
					return i;
		}
		i = end;
	}
	return r->n;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static bool add_group(rows_pages *p, uint32_t track, uint32_t first_lane, uint32_t n_lanes)
{
	lane_group *g = VEC_ADD(&p->groups);

	if (g)
		*g = (lane_group){ track, first_lane, n_lanes };
	while (p->lanes.n < n_lanes) {
		lane_state *lane = VEC_ADD(&p->lanes);
		if (!lane || !(lane->cursor = malloc(sizeof *lane->cursor)))
			return false;
	}
	return g != NULL;
}

/* Nothing is said about how asynchronous slices nest: each lane by itself. */
static bool add_track(rows_pages *p, uint32_t number)
{
	const index_track *track = &p->r->tracks[number];
	size_t n_lanes;
	const index_lane *lanes = index_lanes(p->r->ix, &n_lanes);
	size_t at = track->first_lane < n_lanes ? track->first_lane : n_lanes;
	size_t end = at + (track->n_lanes < n_lanes - at ? track->n_lanes : n_lanes - at);

	while (at < end) {
		size_t first = at++;
		while (track->kind != TRACK_ASYNC && at < end && lanes[at].depth && at - first < UINT16_MAX)
			at++;
		if (!add_group(p, number, (uint32_t)first, (uint32_t)(at - first)))
			return false;
	}
	return true;
}

bool pages_init(rows_pages *p, rows *r, size_t n_cached)
{
	size_t n_pages = r->n_slices / ROWS_PAGE + 2;

	*p = (rows_pages){ .r = r, .start_ns = index_start_ns(r->ix) };
	p->n_slots = n_pages < n_cached ? n_pages : n_cached;
	p->slots = big_alloc(p->n_slots * ROWS_PAGE, sizeof *p->slots);
	p->page_in = malloc(p->n_slots * sizeof *p->page_in);
	r->pages = calloc(n_pages, sizeof *r->pages);
	r->page_sites = calloc(n_pages, sizeof *r->page_sites);
	if (!p->slots || !p->page_in || !r->pages || !r->page_sites)
		return false;
	memset(p->page_in, 0xff, p->n_slots * sizeof *p->page_in);
	for (uint32_t i = 0; i < r->n_tracks; i++)
		if (!add_track(p, i))
			return false;
	return true;
}

#define SORT_NAME sort_ends
#define SORT_TYPE long_row
#define SORT_BEFORE(a, b) ((a)->row < (b)->row)
#include "base/sort_template.h"

bool pages_load(rows_pages *p)
{
	uint32_t n;

	p->is_loading = true;
	begin_group(p, 0);
	do {
		n = read_page(p, place_page(p, p->row / ROWS_PAGE));
	} while (n == ROWS_PAGE && !p->failed);
	p->r->n = p->row;
	p->is_loading = false;
	p->row = ROW_NONE; /* the next page is found by its note */
	return !p->failed && sort_ends(p->ends.items, p->ends.n);
}

void pages_done(rows_pages *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->lanes.n; i++)
		free(p->lanes.items[i].cursor);
	VEC_DONE(&p->lanes);
	VEC_DONE(&p->groups);
	VEC_DONE(&p->notes);
	VEC_DONE(&p->note_of);
	VEC_DONE(&p->ends);
	free(p->left_out);
	free(p->slots);
	free(p->page_in);
	free(p);
}
