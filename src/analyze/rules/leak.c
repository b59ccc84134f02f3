/*
 * Memory grows from step to step and never comes back.
 *
 * Looks at what is allocated when each step ends, per device, in the rank whose steps count. It is a leak when nearly
 * every step ends higher than the one before. What stays is found by pairing allocations with what frees them.
 */
#include "analyze/rule.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST, STEPS };
static const setting_def settings[] = {
	{ "leak.least", SETTING_BYTES, "16KiB", "growth per step" },
	{ "leak.steps", SETTING_SHARE, "80%", "of the steps that end higher than the one before" },
};

typedef struct event {
	int64_t time_ns, bytes, total;
	uint64_t address;
	uint32_t track;
	int32_t device_type, device;
} event;

typedef struct events {
	event *items;
	size_t n;
} events;

/* The allocations of the rank, by time. False when out of memory. */
static bool read_events(const evidence *e, int32_t rank, events *ret)
{
	size_t n = (size_t)index_n_rows(e->rows.ix, SECTION_ALLOCATIONS), n_processes;
	const index_process *processes = index_processes(e->rows.ix, &n_processes);
	table_cursor *c = malloc(sizeof *c);
	int64_t at[COLUMNS_MAX];

	ret->items = c ? calloc(n ? n : 1, sizeof *ret->items) : NULL;
	ret->n = 0;
	if (ret->items)
		table_first(c, e->rows.ix, SECTION_ALLOCATIONS, 0);
	while (ret->items && ret->n < n && table_next(c, at)) {
		uint64_t track = (uint64_t)at[ALLOCATION_TRACK];
		uint32_t process = track < e->rows.n_tracks ? e->rows.tracks[track].process : INDEX_NONE;
		if (process >= n_processes || (processes[process].rank != rank && processes[process].rank >= 0))
			continue;
		ret->items[ret->n++] = (event){ .time_ns = at[ALLOCATION_TIME],
						.bytes = at[ALLOCATION_BYTES],
						.total = at[ALLOCATION_TOTAL],
						.address = (uint64_t)at[ALLOCATION_ADDRESS],
						.track = (uint32_t)track,
						.device_type = (int32_t)at[ALLOCATION_DEVICE_TYPE],
						.device = (int32_t)at[ALLOCATION_DEVICE] };
	}
	free(c);
	return ret->items;
}

typedef struct growth {
	int32_t device_type, device;
	int64_t first, last; /* bytes at the end of the first and the last step */
	size_t n_higher;     /* steps that end higher than the one before */
} growth;

/* How the bytes of one device stand at the end of each step. */
static growth measure(const evidence *e, const events *all, int32_t device_type, int32_t device)
{
	growth g = { .device_type = device_type, .device = device };
	int64_t live = 0, before = 0;
	size_t k = 0;

	for (size_t s = 0; s < e->n_steps; s++) {
		int64_t end = e->steps[s].start_ns + e->steps[s].dur_ns;
		for (; k < all->n && all->items[k].time_ns <= end; k++) {
			const event *at = &all->items[k];
			if (at->device_type != device_type || at->device != device)
				continue;
			live = at->total >= 0 ? at->total : live + at->bytes;
		}
		g.n_higher += s > 0 && live > before;
		g.first = s == 0 ? live : g.first;
		before = g.last = live;
	}
	return g;
}

/* The device that grows most; devices are few, each is looked at when it first appears. */
static growth worst_growth(const evidence *e, const events *all)
{
	enum { MAX_DEVICES = 64 };
	growth seen[MAX_DEVICES], worst = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < all->n && n < MAX_DEVICES; i++) {
		bool is_new = true;
		for (size_t k = 0; k < n && is_new; k++)
			is_new = seen[k].device_type != all->items[i].device_type ||
				 seen[k].device != all->items[i].device;
		if (!is_new)
			continue;
		seen[n] = measure(e, all, all->items[i].device_type, all->items[i].device);
		if (n == 0 || seen[n].last - seen[n].first > worst.last - worst.first)
			worst = seen[n];
		n++;
	}
	return worst;
}

/* ---- What stays -------------------------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const event *x = a, *y = b;

	if (x->device_type != y->device_type)
		return x->device_type < y->device_type ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes); /* freed before it is given out again */
}

static int by_size(const void *a, const void *b)
{
	const event *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Keeps only what the device allocated in the steps and never freed, by size. */
static void keep_survivors(const evidence *e, const growth *g, events *all)
{
	int64_t from = e->steps[0].start_ns;
	int64_t to = e->steps[e->n_steps - 1].start_ns + e->steps[e->n_steps - 1].dur_ns;
	size_t n = 0;

	qsort(all->items, all->n, sizeof *all->items, by_address);
	for (size_t i = 0; i < all->n; i++) {
		event at = all->items[i];
		bool is_same = i + 1 < all->n && all->items[i + 1].address == at.address &&
			       all->items[i + 1].device_type == at.device_type && all->items[i + 1].device == at.device;
		if (at.bytes > 0 && !is_same && at.device_type == g->device_type && at.device == g->device &&
		    at.time_ns >= from && at.time_ns <= to)
			all->items[n++] = at;
	}
	all->n = n;
	qsort(all->items, n, sizeof *all->items, by_size);
}

/* Names the row that allocated and, where it is an operator, the scope around. */
static void link_place(rule_run *r, sonde_finding *f, const event *at)
{
	const evidence *e = r->e;
	uint32_t i = row_at(e, at->track, at->time_ns);

	for (; i != ROW_NONE; i = evidence_row(e, i)->parent) {
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
static void tell_survivors(rule_run *r, sonde_finding *f, const events *left)
{
	size_t best = 0, n_best = 0;

	for (size_t i = 0, k; i < left->n; i = k) {
		for (k = i; k < left->n && left->items[k].bytes == left->items[i].bytes; k++)
			;
		if (!n_best ||
		    (double)(k - i) * (double)left->items[i].bytes > (double)n_best * (double)left->items[best].bytes) {
			best = i;
			n_best = k - i;
		}
	}
	if (!n_best)
		return;
	finding_evidence(r->result, f, "%s blocks of %s are never freed.", say_count(r, n_best),
			 say_bytes(r, left->items[best].bytes));
	link_place(r, f, &left->items[best + n_best - 1]);
}

static void tell(rule_run *r, const growth *g, events *all)
{
	int64_t each = (g->last - g->first) / (int64_t)(r->e->n_steps - 1);
	sonde_finding *f = rule_found(r, -1, "memory grows by %s per step and never comes back", say_bytes(r, each));

	f->severity = SONDE_CRITICAL; /* sooner or later it ends the run */
	finding_evidence(r->result, f, "What is allocated%s grows from %s to %s, in %zu of %zu steps.",
			 g->device_type ? " on the device" : "", say_bytes(r, g->first), say_bytes(r, g->last),
			 g->n_higher, r->e->n_steps - 1);
	keep_survivors(r->e, g, all);
	tell_survivors(r, f, all);
	finding_suggest(
		r->result, f,
		"do not keep tensors of each step: detach() or item() what goes into lists and logs, free caches");
	f->confidence = 0.9;
}

static void run(rule_run *r)
{
	enum { LEAST_STEPS = 4 };
	const evidence *e = r->e;
	events all = { 0 };

	if (e->n_steps < LEAST_STEPS) {
		rule_no_data(r, "fewer than 4 steps");
		return;
	}
	if (!read_events(e, e->steps[0].rank, &all)) {
		r->result->failed = true;
		return;
	}
	growth g = worst_growth(e, &all);
	int64_t each = (g.last - g.first) / (int64_t)(e->n_steps - 1);
	rule_saw(r, "%s to %s, higher in %zu of %zu steps", say_bytes(r, g.first), say_bytes(r, g.last), g.n_higher,
		 e->n_steps - 1);
	if ((double)each >= rule_setting(r, LEAST) &&
	    (double)g.n_higher >= rule_setting(r, STEPS) * (double)(e->n_steps - 1))
		tell(r, &g, &all);
	free(all.items);
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
