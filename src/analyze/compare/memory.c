/*
 * Peaks of memory per device, of the rank that has most. A trace that says how much is allocated after each event is
 * believed; elsewhere what was allocated and freed since the trace began is added up.
 */
#include <stdlib.h>
#include <string.h>
#include "analyze/compare/run.h"
#include "base/error.h"

enum { MOST_DEVICES = 4096 }; /* a file could name more */

typedef struct device_memory {
	uint32_t device;
	int32_t rank;
	int64_t now, peak; /* bytes */
} device_memory;
typedef VEC(device_memory) device_memories;

static int32_t rank_of_track(const rows *r, int64_t track)
{
	size_t n;
	const index_process *processes = index_processes(r->ix, &n);

	if ((uint64_t)track >= r->n_tracks || r->tracks[track].process >= n)
		return 0;
	int32_t rank = processes[r->tracks[track].process].rank;
	return rank < 0 ? 0 : rank;
}

/* NULL: there are too many, or no memory. */
static device_memory *find_memory(device_memories *all, uint32_t device, int32_t rank, bool *failed)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->items[i].device == device && all->items[i].rank == rank)
			return &all->items[i];
	device_memory *m = all->n < MOST_DEVICES ? VEC_ADD(all) : NULL;
	*failed |= !m && all->n < MOST_DEVICES;
	if (m)
		*m = (device_memory){ .device = device, .rank = rank };
	return m;
}

static bool is_wanted(const rows *r, int32_t rank)
{
	for (size_t i = 0; i < r->n_ranks; i++)
		if (r->ranks[i].rank == rank || r->ranks[i].rank < 0)
			return true;
	return false;
}

static bool read_allocations(const rows *r, int64_t from_ns, int64_t to_ns, device_memories *all)
{
	table_cursor *c = malloc(sizeof *c);
	int64_t event[COLUMNS_MAX];
	bool failed = !c;

	if (c)
		table_first(c, r->ix, SECTION_ALLOCATIONS, 0);
	while (!failed && table_next(c, event)) {
		int32_t rank = rank_of_track(r, event[ALLOCATION_TRACK]);
		device_memory *m =
			is_wanted(r, rank) ? find_memory(all, trace_device_of(r->trace, event), rank, &failed) : NULL;
		if (!m)
			continue;
		int64_t sum;
		if (!__builtin_add_overflow(m->now, event[ALLOCATION_BYTES], &sum))
			m->now = sum;
		if (event[ALLOCATION_TOTAL] >= 0)
			m->now = event[ALLOCATION_TOTAL];
		if (event[ALLOCATION_TIME] >= from_ns && event[ALLOCATION_TIME] < to_ns && m->now > m->peak)
			m->peak = m->now;
	}
	free(c);
	return !failed;
}

static bool add_peak(compare_run *run, const char *device, uint64_t bytes)
{
	for (size_t i = 0; i < run->peaks.n; i++) {
		compare_peak *p = &run->peaks.items[i];
		if (strcmp(p->device, device) == 0) {
			p->bytes = bytes > p->bytes ? bytes : p->bytes;
			return true;
		}
	}
	const char *name = arena_strdup(&run->arena, device);
	compare_peak *p = name ? VEC_ADD(&run->peaks) : NULL;
	if (p)
		*p = (compare_peak){ name, bytes };
	return p != NULL;
}

static int by_device(const void *a, const void *b)
{
	return strcmp(((const compare_peak *)a)->device, ((const compare_peak *)b)->device);
}

sonde_status compare_run_peaks(compare_run *run, const rows *r, const sonde_analyze_options *select, sonde_error *err)
{
	device_memories all = { 0 };
	int64_t from = select->use_time ? select->from_ns : INT64_MIN,
		to = select->use_time ? select->to_ns : INT64_MAX;
	char buffer[64];

	if (select->use_steps && r->n_steps) {
		from = INT64_MAX;
		to = INT64_MIN;
		for (size_t i = 0; i < r->n_steps; i++) {
			int64_t end = r->steps[i].start_ns + r->steps[i].dur_ns;
			from = r->steps[i].start_ns < from ? r->steps[i].start_ns : from;
			to = end > to ? end : to;
		}
	}
	bool ok = !index_n_rows(r->ix, SECTION_ALLOCATIONS) || read_allocations(r, from, to, &all);
	for (size_t i = 0; ok && i < all.n; i++)
		ok = add_peak(run, trace_device_name(r->trace, all.items[i].device, buffer, sizeof buffer),
			      (uint64_t)all.items[i].peak);
	if (run->peaks.n)
		qsort(run->peaks.items, run->peaks.n, sizeof *run->peaks.items, by_device);
	VEC_DONE(&all);
	return ok ? SONDE_OK : error_set(err, SONDE_E_MEMORY, -1, "out of memory");
}
