/* See memory_events.h. */
#include "analyze/tables/memory_events.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/tables/step_list.h"
#include "base/intern.h"

enum { MAX_DEVICES = 1024 }; /* a file could name more */

typedef struct event_loader {
	memory_events *to;
	const rows *r;
	const rows_options *chosen;
	uint32_t *cursors;   /* by track: the last row that began before the last event */
	int32_t *ranks;	     /* by track */
	intern_table blocks; /* device and address */
	VEC(uint32_t) live;  /* by number of blocks: the event that allocated it + 1, 0: freed */
} event_loader;

static uint32_t device_of(event_loader *l, const int64_t *at, int32_t rank)
{
	uint32_t id = trace_device_of(l->r->trace, at);

	for (uint32_t i = 0; i < l->to->devices.n; i++)
		if (l->to->devices.items[i].id == id && l->to->devices.items[i].rank == rank)
			return i;
	memory_device *d = l->to->devices.n < MAX_DEVICES ? VEC_ADD(&l->to->devices) : NULL;
	if (!d)
		return EVENT_NONE;
	*d = (memory_device){ .id = id, .rank = rank };
	return (uint32_t)l->to->devices.n - 1;
}

/* Events come by time, and rows of a track begin in their order; those that overlap others begin anew behind them. What
   happens when a row ends belongs to it: a clock may take steps of 10 ns and more, and an allocation is stamped last.
 */
static uint32_t row_around(event_loader *l, uint64_t track, int64_t ns)
{
	const rows *r = l->r;

	if (track >= r->n_tracks)
		return ROW_NONE;
	uint32_t at = l->cursors[track], end = r->first_of_track[track + 1];
	while (at + 1 < end && rows_at(r, at + 1).start_ns <= ns &&
	       rows_at(r, at + 1).start_ns >= rows_at(r, at).start_ns)
		at++;
	l->cursors[track] = at;
	if (at >= end || rows_at(r, at).start_ns > ns)
		return ROW_NONE;
	while (at != ROW_NONE && row_end_ns(ROW_AT(r, at)) < ns)
		at = rows_at(r, at).parent;
	return at;
}

/* The same block again while it is live: its free was lost. */
static bool pair_up(event_loader *l, uint32_t number, uint64_t address)
{
	memory_event *e = &l->to->items.items[number];
	uint64_t key[] = { e->device, address };
	uint32_t block = intern(&l->blocks, (const char *)key, sizeof key);

	if (block == INTERN_NONE || (block >= l->live.n && !VEC_ADD(&l->live)))
		return false;
	uint32_t *live = &l->live.items[block];
	bool is_free = e->bytes < 0 || e->is_unknown_free;
	if (is_free && *live) {
		e->pair = *live - 1;
		l->to->items.items[e->pair].pair = number;
	} else if (*live)
		l->to->items.items[*live - 1].is_lost = true;
	*live = is_free ? 0 : number + 1;
	return true;
}

static bool is_unknown_free(const rows *r, const int64_t *at)
{
	uint64_t site = (uint64_t)at[ALLOCATION_SITE];

	return at[ALLOCATION_BYTES] == 0 && site < r->n_sites && r->sites[site].kind == NAME_DEVICE &&
	       strcmp(index_text(r->ix, r->sites[site].category), TRACE_UNKNOWN_FREE) == 0;
}

static int64_t add_bytes(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? a : sum;
}

/* False when out of memory. */
static bool add_event(event_loader *l, const int64_t *at)
{
	uint64_t track = (uint64_t)at[ALLOCATION_TRACK];
	int32_t rank = track < l->r->n_tracks ? l->ranks[track] : 0;
	uint32_t device = device_of(l, at, rank);
	memory_event *e = device == EVENT_NONE ? NULL : VEC_ADD(&l->to->items);

	if (!e || l->to->items.n >= EVENT_NONE)
		return device == EVENT_NONE && l->to->devices.n >= MAX_DEVICES;
	memory_device *d = &l->to->devices.items[device];
	/* A program may take any number for an address; importers take 0 where there is none. */
	d->has_addresses = d->has_addresses || at[ALLOCATION_ADDRESS] || l->r->trace->is_recorded;
	d->sum = add_bytes(d->sum, at[ALLOCATION_BYTES]);
	if (d->sum < d->lowest) /* whose negative is a number, too */
		d->lowest = d->sum > INT64_MIN ? d->sum : -INT64_MAX;
	*e = (memory_event){ .time_ns = at[ALLOCATION_TIME],
			     .bytes = at[ALLOCATION_BYTES],
			     .allocated = at[ALLOCATION_TOTAL] >= 0 ? at[ALLOCATION_TOTAL] : -1,
			     .reserved = at[ALLOCATION_RESERVED],
			     .is_unknown_free = is_unknown_free(l->r, at),
			     .is_level_known = at[ALLOCATION_TOTAL] >= 0,
			     .device = device,
			     .row = row_around(l, track, at[ALLOCATION_TIME]),
			     .pair = EVENT_NONE,
			     .is_chosen = rows_choose(l->r, l->chosen, rank, at[ALLOCATION_TIME]) };
	return pair_up(l, (uint32_t)l->to->items.n - 1, (uint64_t)at[ALLOCATION_ADDRESS]);
}

/* Where the writer did not say. */
static void fill_levels(memory_events *m)
{
	for (size_t i = 0; i < m->devices.n; i++)
		m->devices.items[i].sum = 0;
	for (size_t i = 0; i < m->items.n; i++) {
		memory_event *e = &m->items.items[i];
		memory_device *d = &m->devices.items[e->device];
		d->sum = add_bytes(d->sum, e->bytes);
		if (e->allocated < 0)
			e->allocated = add_bytes(d->sum, -d->lowest);
	}
}

bool memory_events_load(memory_events *m, const rows *r, const rows_options *chosen)
{
	event_loader l = { .to = m, .r = r, .chosen = chosen };
	table_cursor *c = malloc(sizeof *c);
	int64_t at[COLUMNS_MAX];

	*m = (memory_events){ 0 };
	l.cursors = malloc((r->n_tracks + 1) * sizeof *l.cursors);
	l.ranks = malloc((r->n_tracks + 1) * sizeof *l.ranks);
	bool ok = c && l.cursors && l.ranks;
	for (size_t i = 0; ok && i < r->n_tracks; i++) {
		l.cursors[i] = r->first_of_track[i];
		l.ranks[i] = rank_of_track(r->trace, i);
	}
	if (ok)
		table_first(c, r->ix, SECTION_ALLOCATIONS, 0);
	while (ok && table_next(c, at))
		ok = add_event(&l, at);
	if (ok)
		fill_levels(m);
	free(c);
	free(l.cursors);
	free(l.ranks);
	VEC_DONE(&l.live);
	intern_done(&l.blocks);
	return ok;
}

void memory_events_done(memory_events *m)
{
	VEC_DONE(&m->items);
	VEC_DONE(&m->devices);
}
