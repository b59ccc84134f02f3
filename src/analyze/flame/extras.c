/* What a flame graph counts that is not the slices' own time: kernels by who launched them, and allocations. */
#include <string.h>
#include "analyze/flame/flame.h"

typedef struct launch_reader {
	table_cursor table;
	int64_t row[COLUMNS_MAX];
	bool has;
} launch_reader;

/* Launches are sorted by what they launched, and so is who asks. */
static uint64_t host_of(launch_reader *r, uint64_t device)
{
	while (r->has && (uint64_t)r->row[LAUNCH_DEVICE] < device)
		r->has = table_next(&r->table, r->row);
	if (!r->has || (uint64_t)r->row[LAUNCH_DEVICE] != device || !r->row[LAUNCH_HOST])
		return INDEX_NO_SLICE;
	return (uint64_t)r->row[LAUNCH_HOST] - 1;
}

static bool is_work(const index_site *s)
{
	return s->class == CLASS_KERNEL || s->class == CLASS_COPY || s->class == CLASS_COMMUNICATION;
}

static bool add_lane(const sonde_index *ix, uint32_t lane, launch_reader *launches, flame_extras *to, bool *damaged)
{
	size_t n_sites;
	const index_site *sites = index_sites(ix, &n_sites);
	lane_cursor c;
	index_slice s;

	lane_first(&c, ix, lane, 0);
	while (lane_next(&c, &s)) {
		if (!is_work(&sites[s.site]))
			continue;
		flame_extra *place = VEC_ADD(to);
		if (!place)
			return false;
		*place = (flame_extra){ .key = host_of(launches, s.id), .value = s.dur_ns, .site = s.site };
	}
	*damaged |= c.damaged;
	return true;
}

static int by_key(const void *a, const void *b)
{
	const flame_extra *x = a, *y = b;

	return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->site < y->site ? -1 : x->site > y->site;
}

bool flame_device_extras(const sonde_index *ix, flame_extras *ret, bool *ret_damaged)
{
	size_t n_tracks;
	const index_track *tracks = index_tracks(ix, &n_tracks);
	launch_reader *launches = malloc(sizeof *launches);
	bool ok = launches != NULL;

	if (ok) {
		table_first(&launches->table, ix, SECTION_LAUNCHES, 0);
		launches->has = table_next(&launches->table, launches->row);
	}
	for (size_t i = 0; ok && i < n_tracks; i++)
		for (uint32_t k = 0; ok && tracks[i].kind == TRACK_STREAM && k < tracks[i].n_lanes; k++)
			ok = add_lane(ix, tracks[i].first_lane + k, launches, ret, ret_damaged);
	if (ok && launches->table.damaged)
		*ret_damaged = true;
	free(launches);
	if (ok && ret->n)
		qsort(ret->items, ret->n, sizeof *ret->items, by_key);
	return ok;
}

static int by_track(const void *a, const void *b)
{
	const flame_extra *x = a, *y = b;

	return x->track != y->track ? (x->track < y->track ? -1 : 1) : x->key < y->key ? -1 : x->key > y->key;
}

bool flame_memory_extras(const sonde_index *ix, flame_extras *ret, bool *ret_damaged)
{
	table_cursor *rows = malloc(sizeof *rows);
	int64_t row[COLUMNS_MAX];
	bool ok = rows != NULL;

	if (ok)
		table_first(rows, ix, SECTION_ALLOCATIONS, 0);
	while (ok && table_next(rows, row)) {
		if (row[ALLOCATION_BYTES] <= 0)
			continue;
		flame_extra *place = VEC_ADD(ret);
		ok = place;
		if (ok)
			*place = (flame_extra){ .key = (uint64_t)row[ALLOCATION_TIME],
						.value = row[ALLOCATION_BYTES],
						.track = (uint32_t)row[ALLOCATION_TRACK] };
	}
	if (ok && rows->damaged)
		*ret_damaged = true;
	free(rows);
	if (ok && ret->n)
		qsort(ret->items, ret->n, sizeof *ret->items, by_track);
	return ok;
}
