/*
 * Memory grows from step to step and never comes back.
 *
 * Looks at what is allocated when each step ends, per device, in the rank whose steps count. It is a leak when nearly
 * every step ends higher than the one before. What stays is found by pairing allocations with what frees them, as the
 * analysis `leaks` does, which has all of it.
 */
#include "analyze/tables/memory_growth.h"
#include "analyze/bottlenecks/rule.h"

#include <stdlib.h>

enum { LEAST, STEPS };
static const setting_def settings[] = {
	{ "leak.least", SETTING_BYTES, "16KiB", "minimum growth per step" },
	{ "leak.steps", SETTING_SHARE, "80%",
	  "minimum share of steps that end with more memory than the previous one" },
};

/* The device of the rank that grows most, or EVENT_NONE. False when out of memory. */
static bool worst_device(const evidence *e, const memory_events *m, uint32_t *ret_device, memory_growth *ret_growth)
{
	int32_t rank = e->steps[0].rank;

	*ret_device = EVENT_NONE;
	*ret_growth = (memory_growth){ 0 };
	for (uint32_t i = 0; i < m->devices.n; i++) {
		memory_growth g;
		if (m->devices.items[i].rank != rank && m->devices.items[i].rank >= 0)
			continue;
		bool ok = memory_growth_measure(&g, m, i, e->steps, e->n_steps);
		bool is_worst = ok && (*ret_device == EVENT_NONE || growth_bytes(&g) > growth_bytes(ret_growth));
		if (is_worst) {
			memory_growth_done(ret_growth);
			*ret_growth = g;
			*ret_device = i;
		} else
			memory_growth_done(&g);
		if (!ok)
			return false;
	}
	return true;
}

/* ---- What stays -------------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	const memory_event *const *x = a, *const *y = b;

	if ((*x)->bytes != (*y)->bytes)
		return (*x)->bytes < (*y)->bytes ? -1 : 1;
	return ((*x)->time_ns > (*y)->time_ns) - ((*x)->time_ns < (*y)->time_ns);
}

/* What the device allocated in the steps and never freed, by size; NULL when out of memory. */
static const memory_event **find_survivors(const evidence *e, const memory_events *m, uint32_t device, size_t *ret_n)
{
	int64_t from = e->steps[0].start_ns;
	int64_t to = e->steps[e->n_steps - 1].start_ns + e->steps[e->n_steps - 1].dur_ns;
	const memory_event **left = malloc((m->items.n + 1) * sizeof *left);

	*ret_n = 0;
	for (size_t i = 0; left && i < m->items.n; i++) {
		const memory_event *at = &m->items.items[i];
		if (at->device == device && event_stays(at) && at->time_ns >= from && at->time_ns <= to)
			left[(*ret_n)++] = at;
	}
	if (*ret_n)
		qsort(left, *ret_n, sizeof *left, by_size);
	return left;
}

/* Names the row that allocated and, where it is an operator, the scope around. */
static void link_place(rule_run *r, sonde_finding *f, const memory_event *at)
{
	const evidence *e = r->e;

	for (uint32_t i = at->row; i != ROW_NONE; i = evidence_row(e, i)->parent) {
		const row *place = evidence_row(e, i);
		if (place->class == CLASS_STEP)
			return;
		if (row_traits(e, place) & TRAIT_OP && f->n_slices)
			continue;
		finding_affects(r->result, f, row_name(&e->rows, place));
		finding_slice(r->result, f, place->slice);
		finding_time(f, place->start_ns, row_end_ns(place));
		if (!(row_traits(e, place) & TRAIT_OP))
			return;
	}
}

/* The size of which most bytes stay. */
static void tell_survivors(rule_run *r, sonde_finding *f, const memory_event *const *left, size_t n)
{
	size_t best = 0, n_best = 0;

	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && left[k]->bytes == left[i]->bytes; k++)
			;
		if (!n_best || (double)(k - i) * (double)left[i]->bytes > (double)n_best * (double)left[best]->bytes) {
			best = i;
			n_best = k - i;
		}
	}
	if (!n_best)
		return;
	finding_evidence(r->result, f, "%s of %s %s never freed.", say_some(r, n_best, "block", "blocks"),
			 say_bytes(r, left[best]->bytes), n_best == 1 ? "is" : "are");
	link_place(r, f, left[best + n_best - 1]);
}

static void tell(rule_run *r, const memory_events *m, uint32_t device, const memory_growth *g)
{
	char name[32];
	size_t n_left;
	const memory_event **left = find_survivors(r->e, m, device, &n_left);
	int64_t each = (int64_t)(growth_bytes(g) / (double)(g->n_steps - 1));
	sonde_finding *f = rule_found(r, -1, "memory grows by %s per step and is never freed", say_bytes(r, each));

	r->result->failed |= !left;
	f->severity = SONDE_CRITICAL; /* sooner or later it ends the run */
	finding_evidence(r->result, f, "Allocated memory on %s grows from %s to %s, in %zu of %zu steps.",
			 trace_device_name(r->e->rows.trace, m->devices.items[device].id, name, sizeof name),
			 say_bytes(r, growth_first(g)), say_bytes(r, growth_last(g)), g->n_higher, g->n_steps - 1);
	if (m->devices.items[device].has_addresses)
		tell_survivors(r, f, left, n_left);
	finding_suggest(r->result, f,
			"do not keep tensors of each step: store detach() or item() in lists and logs, free caches");
	f->confidence = 0.9;
	free(left);
}

static void look(rule_run *r, const memory_events *m, uint32_t device, const memory_growth *g)
{
	double steps = (double)(g->n_steps - 1), each = growth_bytes(g) / steps;

	rule_saw(r, "%s to %s, higher in %zu of %zu steps", say_bytes(r, growth_first(g)), say_bytes(r, growth_last(g)),
		 g->n_higher, g->n_steps - 1);
	if (each >= rule_setting(r, LEAST) && (double)g->n_higher >= rule_setting(r, STEPS) * steps)
		tell(r, m, device, g);
}

static void run(rule_run *r)
{
	enum { LEAST_STEPS = 4 };
	const evidence *e = r->e;
	rows_options chosen = rows_options_from(e->options);
	memory_growth g = { 0 };
	memory_events m;
	uint32_t device;

	if (e->n_steps < LEAST_STEPS) {
		rule_no_data(r, "fewer than 4 steps");
		return;
	}
	bool ok = memory_events_load(&m, &e->rows, &chosen) && worst_device(e, &m, &device, &g);
	if (!ok)
		r->result->failed = true;
	else if (device == EVENT_NONE)
		rule_no_data(r, "no allocations of this rank");
	else
		look(r, &m, device, &g);
	memory_growth_done(&g);
	memory_events_done(&m);
}

const rule leak_rule = {
	.name = "leak",
	.checks = "Memory grows with every step",
	.number = 17,
	.needs = NEED_STEPS | NEED_ALLOCATIONS,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
