/*
 * The memory part of a profile: peak, sums and a curve per device. Events come thread by thread, not in the order of
 * time, so an interval of the curve keeps its largest value and its last one; what an empty interval holds follows from
 * the last one before it when the curve is asked for.
 */
#include "analyze/tables/profile.h"

enum { MAX_DEVICES = 1024 }; /* a file could name more */

static profile_memory *memory_of(profile *p, uint32_t device, uint32_t id)
{
	char buffer[32];
	const char *name = trace_device_name(p->trace, device, buffer, sizeof buffer);

	for (size_t i = 0; i < p->memory.n; i++)
		if (strcmp(p->memory.items[i]->device, name) == 0)
			return p->memory.items[i];
	if (p->memory.n >= MAX_DEVICES)
		return NULL;
	profile_memory **place = VEC_ADD(&p->memory), *m = place ? calloc(1, sizeof *m) : NULL;
	if (place)
		*place = m;
	if (!m) {
		p->memory.n -= place != NULL;
		p->failed = true;
		return NULL;
	}
	m->device = arena_strdup(&p->arena, name);
	m->id = id;
	m->peak_inside = INDEX_NONE;
	m->peak_ns = m->last_ns = INT64_MIN;
	p->failed |= !m->device;
	return m->device ? m : NULL;
}

static void add_point(profile *p, profile_memory *m, int64_t ns, uint64_t bytes)
{
	int64_t span = p->end_ns - p->start_ns;
	int64_t at = span > 0 ? (int64_t)((__int128)(ns - p->start_ns) * PROFILE_POINTS / span) : 0;

	at = at < 0 ? 0 : at >= PROFILE_POINTS ? PROFILE_POINTS - 1 : at;
	if (bytes > m->point_peak[at])
		m->point_peak[at] = bytes;
	if (!m->point_set[at] || ns >= m->point_ns[at]) {
		m->point_ns[at] = ns;
		m->point_last[at] = bytes;
	}
	m->point_set[at] = true;
}

void profile_add_memory(void *context, const walk_memory *e)
{
	profile *p = context;
	profile_memory *m =
		profile_in_window_or_warmup(p, e->time_ns) ? memory_of(p, e->device, e->sonde_device) : NULL;

	if (!m)
		return;
	m->n_allocs += !e->is_free;
	m->n_frees += e->is_free;
	m->n_unknown_frees += e->is_free && e->bytes == UINT64_MAX;
	m->allocated_bytes += e->is_free ? 0 : e->bytes;
	if (e->time_ns >= m->last_ns) {
		m->last_ns = e->time_ns;
		m->current_bytes = e->current_bytes;
	}
	if (e->current_bytes > m->peak_bytes) {
		m->peak_bytes = e->current_bytes;
		m->peak_ns = e->time_ns;
		m->peak_inside = e->inside ? e->inside->site->name : INDEX_NONE;
	}
	add_point(p, m, e->time_ns, e->current_bytes);
}

void profile_add_snapshot(void *context, const walk_snapshot *s)
{
	profile *p = context;
	const profile_memory *m =
		profile_in_window_or_warmup(p, s->time_ns) ? memory_of(p, s->device, UINT32_MAX) : NULL;
	profile_snapshot *place = m ? VEC_ADD(&p->snapshots) : NULL;

	if (place)
		*place = (profile_snapshot){ m->device, *s };
	p->failed |= m && !place;
}

size_t profile_timeline(const profile *p, const profile_memory *m, int64_t *ret_ns, uint64_t *ret_peak, size_t n)
{
	uint64_t level = 0;

	if (n > PROFILE_POINTS)
		n = PROFILE_POINTS;
	for (size_t i = 0, k = 0; i < n; i++) {
		ret_ns[i] = (int64_t)((__int128)(p->end_ns - p->start_ns) * (int64_t)i / (int64_t)n);
		ret_peak[i] = level;
		for (; k < (i + 1) * PROFILE_POINTS / n; k++) {
			if (!m->point_set[k])
				continue;
			ret_peak[i] = m->point_peak[k] > ret_peak[i] ? m->point_peak[k] : ret_peak[i];
			level = m->point_last[k];
		}
	}
	return n;
}
