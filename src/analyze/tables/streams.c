/* See streams.h. A rank has few streams, so items are counted and placed, not sorted. */
#include "analyze/tables/streams.h"

#include <stdlib.h>
#include "base/big.h"
#include "base/search.h"
#include "base/vec.h"

enum { FOUND = 64 }; /* a power of two */

static size_t place_of(int64_t stream)
{
	return (size_t)stream & (FOUND - 1);
}

static int compare(const void *a, const void *b)
{
	int64_t x = ((const stream_items *)a)->stream, y = ((const stream_items *)b)->stream;

	return x < y ? -1 : x > y;
}

/* The stream of an item; by our rules that of its track. */
static int64_t stream_of(const work *w, const work_rank *rank, size_t i)
{
	if (rank->items)
		return rank->items[i].stream;
	size_t track = FIRST_NOT(t, 0, w->rows.n_tracks, w->rows.first_of_track[t + 1] <= rank->device[i]);
	return w->rows.places[track].stream;
}

/* Every stream once, mostly: again where it was pushed out by another. And how many items it has. */
static bool list_streams(const work *w, const work_rank *rank, streams *s)
{
	VEC(stream_items) list = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < rank->n; i++) {
		int64_t stream = stream_of(w, rank, i);
		uint32_t *found = &s->found[place_of(stream)];
		if (*found < list.n && list.items[*found].stream == stream) {
			list.items[*found].n++;
			continue;
		}
		*found = (uint32_t)list.n;
		stream_items *one = VEC_ADD(&list);
		ok = one != NULL;
		if (one)
			*one = (stream_items){ .stream = stream, .n = 1 };
	}
	s->items = list.items;
	s->n = list.n;
	return ok;
}

static void sort_streams(streams *s)
{
	size_t n = 0;

	if (s->n)
		qsort(s->items, s->n, sizeof *s->items, compare);
	for (size_t i = 0; i < s->n; i++) {
		if (n && s->items[i].stream == s->items[n - 1].stream)
			s->items[n - 1].n += s->items[i].n;
		else
			s->items[n++] = s->items[i];
	}
	s->n = n;
}

size_t streams_at(const streams *s, int64_t stream)
{
	uint32_t *found = &s->found[place_of(stream)];

	if (*found < s->n && s->items[*found].stream == stream)
		return *found;
	*found = (uint32_t)FIRST_NOT(i, 0, s->n, s->items[i].stream < stream);
	return *found;
}

bool streams_find(const work *w, const work_rank *rank, streams *ret)
{
	streams *s = ret;
	size_t at = 0;

	*s = (streams){ .found = calloc(FOUND, sizeof *s->found), .order = big_alloc(rank->n + 1, sizeof *s->order) };
	if (!s->found || !s->order || !list_streams(w, rank, s))
		return false;
	sort_streams(s);
	for (size_t i = 0; i < s->n; i++) {
		s->items[i].first = at;
		at += s->items[i].n;
		s->items[i].n = 0;
	}
	for (uint32_t i = 0; i < rank->n; i++) {
		stream_items *of = &s->items[streams_at(s, stream_of(w, rank, i))];
		s->order[of->first + of->n++] = i;
	}
	return true;
}

void streams_done(streams *s)
{
	free(s->items);
	free(s->order);
	free(s->found);
	*s = (streams){ 0 };
}
