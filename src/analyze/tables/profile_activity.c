/*
 * The activity part of a profile: when a thread was inside anything that was recorded, when a device worked, and when
 * both did. Steps, phases and annotations are frames around work and no work themselves. Python functions count where
 * there are no operators to tell more.
 *
 * Only the outermost slice of a thread is kept, and what touches is one, so that memory grows with the gaps between
 * them; beyond MOST_STRETCHES nothing is told.
 */
#include "analyze/tables/profile.h"

#include <string.h>
#include "analyze/names/profiler_frame.h"

enum { MOST_STRETCHES = 1 << 22 };

static bool is_host_class(const profile *p, const index_site *site)
{
	switch ((site_class)site->class) {
	case CLASS_STEP:
	case CLASS_PHASE:
	case CLASS_ANNOTATION:
	case CLASS_OVERHEAD:
		return false;
	case CLASS_PYTHON:
		return !p->activity.has_ops;
	case CLASS_OTHER:
		return !is_profiler_frame(index_text(p->trace->index, site->category));
	default:
		return true;
	}
}

bool profile_activity_prepare(profile *p)
{
	profile_activity *a = &p->activity;
	size_t n;
	const index_site *sites = index_sites(p->trace->index, &n);

	for (size_t i = 0; i < n; i++)
		a->has_ops |= sites[i].class == CLASS_COMPUTE && sites[i].n_slices;
	a->works = calloc(n + 1, sizeof *a->works);
	a->n_sites = n;
	for (size_t i = 0; a->works && i < n; i++) {
		bool on_device = sites[i].class == CLASS_KERNEL || sites[i].class == CLASS_COPY;
		a->works[i] = (uint8_t)(is_host_class(p, &sites[i]) | on_device << 1);
	}
	return a->works != NULL;
}

void profile_activity_thread(profile *p, size_t thread)
{
	size_t n;
	const index_track *tracks = index_tracks(p->trace->index, &n);

	p->activity.on_device = thread < n && tracks[thread].kind == TRACK_STREAM;
	p->activity.n_open = 0;
}

static bool is_work(const profile *p, const slice *s)
{
	const profile_activity *a = &p->activity;

	if (p->skips || s->flags & SLICE_ASYNC)
		return false;
	return s->id < a->n_sites && a->works[s->id] >> a->on_device & 1;
}

static void add(intervals *to, int64_t start_ns, int64_t end_ns)
{
	if (to->n < MOST_STRETCHES)
		intervals_add(to, start_ns, end_ns);
}

void profile_activity_begin(profile *p, const slice *s)
{
	p->activity.n_open += is_work(p, s);
}

void profile_activity_end(profile *p, const slice *s)
{
	profile_activity *a = &p->activity;

	if (is_work(p, s) && a->n_open && --a->n_open == 0)
		add(a->on_device ? &a->device : &a->cpu, s->start_ns, s->start_ns + s->dur_ns);
}

/* What is looked at, as a set of time. */
static bool find_looked_at(const profile *p, intervals *ret)
{
	intervals windows = { 0 }, whole = { 0 };
	bool ok;

	for (size_t i = 0; i < p->windows.n; i++)
		intervals_add(&windows, p->windows.items[i].from_ns, p->windows.items[i].to_ns);
	intervals_add(&whole, p->start_ns, p->end_ns);
	ok = intervals_merge(&windows) && (p->options.use_steps ? intervals_intersect(&whole, &windows, ret)
								: intervals_subtract(&whole, &windows, ret));
	intervals_done(&windows);
	intervals_done(&whole);
	return ok;
}

bool profile_activity_finish(profile *p)
{
	profile_activity *a = &p->activity;
	intervals looked_at = { 0 }, both = { 0 };

	a->is_known = a->cpu.n < MOST_STRETCHES && a->device.n < MOST_STRETCHES;
	a->has_device = a->device.n > 0;
	bool ok = intervals_merge(&a->cpu) && intervals_merge(&a->device) && find_looked_at(p, &looked_at) &&
		  intervals_intersect(&a->cpu, &a->device, &both);
	if (ok) {
		a->cpu_ns = intervals_overlap(&a->cpu, &looked_at);
		a->device_ns = intervals_overlap(&a->device, &looked_at);
		a->both_ns = intervals_overlap(&both, &looked_at);
	}
	intervals_done(&looked_at);
	intervals_done(&both);
	profile_activity_done(p);
	return ok;
}

void profile_activity_done(profile *p)
{
	intervals_done(&p->activity.cpu);
	intervals_done(&p->activity.device);
	free(p->activity.works);
	p->activity.works = NULL;
}
