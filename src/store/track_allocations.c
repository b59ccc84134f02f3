/*
 * Two passes over the table, which is in the order of time over all tracks: the first counts, the second puts each in
 * its place. Where the writer did not say what a device holds, it is summed up here. Blocks that were there before the
 * trace began are freed in it, so the sums begin as high as they have to for never going below 0.
 */
#include "store/track_allocations.h"

#include <stdlib.h>
#include <string.h>
#include <sonde/record.h>

enum { MAX_DEVICES = 1024 }; /* a file could name more */

typedef struct device_total {
	uint32_t device;
	int64_t bytes, lowest;
} device_total;

typedef struct sorter {
	const sonde_trace *trace;
	track_allocations *to;
	size_t *next; /* by track: where its next one goes; one more for those of no track */
	size_t n;
	VEC(device_total) totals;
	uint32_t free_text, unknown_text; /* strings of the index, see import/recording/feed.c */
} sorter;

static device_total *total_of(sorter *s, uint32_t device)
{
	for (size_t i = 0; i < s->totals.n; i++)
		if (s->totals.items[i].device == device)
			return &s->totals.items[i];
	device_total *total = s->totals.n < MAX_DEVICES ? VEC_ADD(&s->totals) : NULL;
	if (total)
		total->device = device;
	return total;
}

static void add(device_total *total, int64_t bytes)
{
	if (__builtin_add_overflow(total->bytes, bytes, &total->bytes))
		total->bytes = bytes < 0 ? -TRACE_NS_MAX : TRACE_NS_MAX;
	if (total->bytes < total->lowest) /* whose negative is a number, too */
		total->lowest = total->bytes > INT64_MIN ? total->bytes : -INT64_MAX;
}

static size_t track_of(const sorter *s, const int64_t *row)
{
	uint64_t track = (uint64_t)row[ALLOCATION_TRACK];

	return track < s->to->n_tracks ? (size_t)track : s->to->n_tracks;
}

static void count(sorter *s, const int64_t *row)
{
	device_total *total = total_of(s, trace_device_of(s->trace, row));

	s->next[track_of(s, row)]++;
	if (total)
		add(total, row[ALLOCATION_BYTES]);
}

/* Of a recording the site says what happened, so that blocks of no bytes are told apart too. */
static void tell_free(const sorter *s, const int64_t *row, walk_memory *m)
{
	size_t n;
	const index_site *sites = index_sites(s->trace->index, &n);
	uint64_t site = (uint64_t)row[ALLOCATION_SITE];

	m->is_free = row[ALLOCATION_BYTES] < 0;
	m->bytes = m->is_free ? -(uint64_t)row[ALLOCATION_BYTES] : (uint64_t)row[ALLOCATION_BYTES];
	if (site >= n || sites[site].kind != NAME_DEVICE)
		return;
	bool unknown = sites[site].category == s->unknown_text && s->unknown_text != INDEX_NONE;
	m->is_free = unknown || (sites[site].category == s->free_text && s->free_text != INDEX_NONE);
	m->bytes = unknown ? UINT64_MAX : m->bytes;
}

/* import/recording/feed.c writes it. */
static uint32_t sonde_device_of(const int64_t *row)
{
	uint32_t device = (uint32_t)row[ALLOCATION_DEVICE];

	switch (row[ALLOCATION_DEVICE_TYPE]) {
	case 0:
		return SONDE_CPU;
	case 1:
		return SONDE_GPU(device);
	default:
		return device;
	}
}

static void place(sorter *s, const int64_t *row)
{
	walk_memory m = { .device = trace_device_of(s->trace, row),
			  .time_ns = trace_index_ns(s->trace, row[ALLOCATION_TIME]),
			  .address = (uint64_t)row[ALLOCATION_ADDRESS],
			  .sonde_device = sonde_device_of(row) };
	device_total *total = total_of(s, m.device);

	tell_free(s, row, &m);
	if (total)
		add(total, row[ALLOCATION_BYTES]);
	int64_t held = row[ALLOCATION_TOTAL] >= 0 || !total ? row[ALLOCATION_TOTAL] : total->bytes;
	m.current_bytes = held > 0 ? (uint64_t)held : 0;
	size_t *next = &s->next[track_of(s, row)];
	if (*next < s->n) /* whatever happened to the file since they were counted */
		s->to->items[(*next)++] = m;
}

static void each_row(sorter *s, table_cursor *c, void (*each)(sorter *s, const int64_t *row))
{
	int64_t row[COLUMNS_MAX];

	table_first(c, s->trace->index, SECTION_ALLOCATIONS, 0);
	while (table_next(c, row))
		each(s, row);
	s->to->damaged |= c->damaged;
}

/* From counts to places. */
static bool make_room(sorter *s)
{
	track_allocations *a = s->to;

	for (size_t i = 0; i <= a->n_tracks; i++) {
		size_t here = s->next[i];
		s->next[i] = a->first[i] = s->n;
		s->n += here;
	}
	for (size_t i = 0; i < s->totals.n; i++)
		s->totals.items[i].bytes = -s->totals.items[i].lowest;
	a->items = s->n < SIZE_MAX / sizeof *a->items ? malloc((s->n + 1) * sizeof *a->items) : NULL;
	return a->items != NULL;
}

bool track_allocations_make(track_allocations *a, const sonde_trace *t)
{
	sorter s = { .trace = t, .to = a };
	table_cursor *c = malloc(sizeof *c);

	*a = (track_allocations){ .n_tracks = t->threads.n };
	s.free_text = s.unknown_text = INDEX_NONE;
	if (index_n_rows(t->index, SECTION_ALLOCATIONS)) {
		s.free_text = index_find_text(t->index, TRACE_FREE, strlen(TRACE_FREE));
		s.unknown_text = index_find_text(t->index, TRACE_UNKNOWN_FREE, strlen(TRACE_UNKNOWN_FREE));
	}
	s.next = calloc(a->n_tracks + 1, sizeof *s.next);
	a->first = calloc(a->n_tracks + 1, sizeof *a->first);
	bool ok = c && s.next && a->first;
	if (ok) {
		each_row(&s, c, count);
		ok = make_room(&s);
	}
	if (ok)
		each_row(&s, c, place);
	VEC_DONE(&s.totals);
	free(s.next);
	free(c);
	return ok;
}

void track_allocations_done(track_allocations *a)
{
	free(a->items);
	free(a->first);
	*a = (track_allocations){ 0 };
}
