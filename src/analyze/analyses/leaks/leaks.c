/*
 * What was allocated in the trace and is still there at its end, and whether it grows from step to step.
 *
 * A block that stays is not yet a leak: a trace ends while the program goes on. So blocks of one size from one place
 * are looked at together: what stays of nearly every step is what a leak looks like, what stays of the last step alone
 * may well be freed in the next one, what came before the second step is what programs keep: weights, states, caches.
 * How much a device holds when steps end tells the same without looking at single blocks (memory_growth.h).
 *
 * Frees of blocks that the trace never saw allocated are counted apart. Of an address that is given out again nobody
 * saw the free.
 */
#define _GNU_SOURCE /* qsort_r */
#include "analyze/analyses/leaks/sums.h"
#include "analyze/tables/work.h"

#include <math.h>
#include <stdlib.h>
#include "base/format_number.h"

static const column device_columns[] = {
	{ "device", "device", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 2, false },
	{ "growth_bytes_per_step", "growth/step", CELL_BYTES, 0, false },
	{ "growth_low_bytes_per_step", "95 % from", CELL_BYTES, 1, false },
	{ "growth_high_bytes_per_step", "to", CELL_BYTES, 1, false },
	{ "n_steps", "steps", CELL_COUNT, 0, false },
	{ "n_steps_higher", "higher", CELL_COUNT, 2, false },
	{ "stays_bytes", "stays", CELL_BYTES, 0, false },
	{ "n_stay", "blocks", CELL_COUNT, 0, false },
	{ "allocated_bytes", "of", CELL_BYTES, 0, false },
	{ "n_allocs", "allocs", CELL_COUNT, 3, false },
	{ "before_bytes", "held before", CELL_BYTES, 1, false },
	{ "freed_unknown_bytes", "freed of that", CELL_BYTES, 2, false },
	{ "n_freed_unknown", "frees", CELL_COUNT, 4, false },
	{ "lost_bytes", "free not seen", CELL_BYTES, 4, false },
	{ "n_lost", "blocks without free", CELL_COUNT, 4, false },
};
static const column place_columns[] = {
	{ "name", "allocated in", CELL_STRING, 0, false }, { "scope", "inside", CELL_STRING, 0, false },
	{ "python", "python", CELL_STRING, 0, false },	   { "device", "device", CELL_STRING, 1, false },
	{ "rank", "rank", CELL_INTEGER, 4, false },	   { "size_bytes", "size", CELL_BYTES, 0, false },
	{ "n_stay", "blocks", CELL_COUNT, 0, false },	   { "stays_bytes", "stays", CELL_BYTES, 0, false },
	{ "n_steps", "steps", CELL_COUNT, 1, false },	   { "first_step", "first", CELL_INTEGER, 3, false },
	{ "last_step", "last", CELL_INTEGER, 3, false },   { "of_steps", "of steps", CELL_STRING, 0, false },
};
static const column step_columns[] = {
	{ "device", "device", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "step", "step", CELL_INTEGER, 0, false },
	{ "end_ns", "end", CELL_NS, 0, false },
	{ "allocated_bytes", "allocated", CELL_BYTES, 0, false },
	{ "stays_bytes", "of it stays", CELL_BYTES, 0, false },
	{ "n_stay", "blocks", CELL_COUNT, 0, false },
};
static const column block_columns[] = {
	{ "name", "allocated in", CELL_STRING, 0, false },
	{ "scope", "inside", CELL_STRING, 1, false },
	{ "python", "python", CELL_STRING, 2, false },
	{ "device", "device", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 4, false },
	{ "size_bytes", "size", CELL_BYTES, 0, false },
	{ "alloc_ns", "since", CELL_NS, 0, false },
	{ "step", "step", CELL_INTEGER, 0, false },
	{ "age_steps", "age in steps", CELL_COUNT, 1, false },
};
#define N_COLUMNS(of) (sizeof(of) / sizeof(of)[0])

enum { BLOCKS_SHOWN = 10, MOST_BLOCKS = 10000 };
#define MOST_STEPS 0.8 /* of them: nearly every one, as for the rule `leak` */

typedef struct leaks {
	leak_sums sums;
	const char **names; /* of devices */
} leaks;

/* ---- What is shown ----------------------------------------------------------------------------------------------- */

static bool name_devices(leaks *l, sonde_result *r)
{
	const memory_events *m = &l->sums.events;
	char buffer[32];

	l->names = calloc(m->devices.n + 1, sizeof *l->names);
	for (size_t i = 0; l->names && i < m->devices.n; i++)
		l->names[i] = result_string(
			r, trace_device_name(l->sums.rows->trace, m->devices.items[i].id, buffer, sizeof buffer));
	return l->names != NULL;
}

/* What grows is a number of bytes; what shrinks has no unit of its own. */
static cell bytes_cell(double bytes)
{
	if (isnan(bytes) || fabs(bytes) > 9e18)
		return cell_unknown();
	return bytes < 0 ? cell_integer(llround(bytes)) : cell_bytes((uint64_t)llround(bytes));
}

static void put_device(const leaks *l, size_t i, sonde_result *r, table *t)
{
	const leak_device *d = &l->sums.devices[i];
	const memory_device *of = &l->sums.events.devices.items[i];
	cell *c = table_row(r, t, 0);

	c[0] = cell_string(l->names[i]);
	c[1] = cell_integer(of->rank);
	c[2] = bytes_cell(d->growth.slope);
	c[3] = bytes_cell(d->growth.low);
	c[4] = bytes_cell(d->growth.high);
	c[5] = cell_count(d->growth.n_steps);
	c[6] = d->growth.n_steps ? cell_count(d->growth.n_higher) : cell_unknown();
	if (of->has_addresses) {
		c[7] = cell_bytes(d->bytes);
		c[8] = cell_count(d->n);
		c[12] = d->n_sizeless ? cell_unknown() : cell_bytes(d->unknown);
		c[13] = cell_count(d->n_unknown);
		c[14] = cell_bytes(d->lost);
		c[15] = cell_count(d->n_lost);
	}
	c[9] = cell_bytes(d->allocated);
	c[10] = cell_count(d->n_allocs);
	if (d->first && d->first->is_level_known)
		c[11] = bytes_cell((double)d->first->allocated - (double)d->first->bytes);
}

/* How many of the steps have a block that stays, in words; what it means stands in the notes. */
static const char *of_steps(const leak_device *d, const leak_place *p)
{
	int64_t n = d->rank ? (int64_t)d->rank->n_steps : 0;

	if (!n)
		return NULL;
	if (p->last < 0)
		return "before them";
	if (n == 1)
		return "the only one";
	if (p->first >= n - 1)
		return "the last";
	if (p->last == 0)
		return "the first";
	return (double)p->n_steps >= MOST_STEPS * (double)n ? "nearly all" : "some";
}

static cell step_cell(const leak_device *d, int64_t step)
{
	return step < 0 ? cell_unknown() : cell_integer(d->rank->steps[step].number);
}

static cell text_cell(const leaks *l, sonde_result *r, uint32_t text)
{
	return text == INDEX_NONE ? cell_unknown() : cell_string(result_string(r, index_text(l->sums.rows->ix, text)));
}

/* name, scope, python, device, rank, size */
static void put_place(const leaks *l, const leak_place *p, sonde_result *r, cell *c)
{
	c[0] = text_cell(l, r, p->op);
	c[1] = text_cell(l, r, p->scope);
	c[2] = text_cell(l, r, p->python);
	c[3] = cell_string(l->names[p->device]);
	c[4] = cell_integer(l->sums.events.devices.items[p->device].rank);
	c[5] = cell_bytes((uint64_t)p->bytes);
}

static double place_bytes(const leak_place *p)
{
	return (double)p->n * (double)p->bytes;
}

static int by_bytes(const void *a, const void *b)
{
	const leak_place *x = a, *y = b;

	if (place_bytes(x) != place_bytes(y))
		return place_bytes(x) > place_bytes(y) ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->op != y->op ? (x->op < y->op ? -1 : 1) : (x->scope > y->scope) - (x->scope < y->scope);
}

static void add_places(leaks *l, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "leak_places", "Memory never freed, by place of allocation", place_columns,
				N_COLUMNS(place_columns));

	if (l->sums.places.n)
		qsort(l->sums.places.items, l->sums.places.n, sizeof l->sums.places.items[0], by_bytes);
	for (size_t i = 0; i < l->sums.places.n; i++) {
		const leak_place *p = &l->sums.places.items[i];
		const leak_device *d = &l->sums.devices[p->device];
		cell *c = table_row(r, t, 0);
		put_place(l, p, r, c);
		c[6] = cell_count(p->n);
		c[7] = bytes_cell(place_bytes(p));
		if (d->rank) {
			c[8] = cell_count(p->n_steps);
			c[9] = step_cell(d, p->first);
			c[10] = step_cell(d, p->last);
		}
		c[11] = cell_string(of_steps(d, p));
	}
	limit_rows(r, t, options, "places");
}

static void add_steps(const leaks *l, sonde_result *r)
{
	table *t = result_table(r, "leak_steps", "Memory allocated at the end of each step", step_columns,
				N_COLUMNS(step_columns));

	for (size_t i = 0; i < l->sums.events.devices.n; i++) {
		const leak_device *d = &l->sums.devices[i];
		for (size_t k = 0; d->is_seen && k < d->growth.n_steps; k++) {
			const rows_step *step = &d->rank->steps[k];
			cell *c = table_row(r, t, 0);
			c[0] = cell_string(l->names[i]);
			c[1] = cell_integer(step->rank);
			c[2] = cell_integer(step->number);
			c[3] = cell_ns(step->start_ns + step->dur_ns);
			c[4] = bytes_cell((double)d->growth.levels[k]);
			c[5] = cell_bytes(d->stays[k]);
			c[6] = cell_count(d->n_stays[k]);
		}
	}
	table_chart(t, CHART_LINE, "step", "allocated_bytes", "device");
	if (t)
		t->n_shown = 0;
}

/* The largest, then the oldest. */
static int by_size(const void *a, const void *b, void *context)
{
	const memory_event *items = context, *x = &items[*(const uint32_t *)a], *y = &items[*(const uint32_t *)b];

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return (x > y) - (x < y);
}

static void add_blocks(leaks *l, const sonde_analyze_options *options, sonde_result *r)
{
	table *t =
		result_table(r, "leak_blocks", "Largest blocks never freed", block_columns, N_COLUMNS(block_columns));
	size_t n = l->sums.blocks.n < MOST_BLOCKS ? l->sums.blocks.n : MOST_BLOCKS;

	if (n)
		qsort_r(l->sums.blocks.items, l->sums.blocks.n, sizeof l->sums.blocks.items[0], by_size,
			l->sums.events.items.items);
	for (size_t i = 0; i < n; i++) {
		const memory_event *e = &l->sums.events.items.items[l->sums.blocks.items[i]];
		const leak_device *d = &l->sums.devices[e->device];
		int64_t step = rank_step_at(d->rank, e->time_ns);
		leak_place p = { .device = e->device, .bytes = e->bytes };
		cell *c = table_row(r, t, 0);
		leak_find_place(&l->sums, e, &p);
		put_place(l, &p, r, c);
		c[6] = cell_ns(e->time_ns);
		c[7] = step_cell(d, step);
		if (step >= 0)
			c[8] = cell_count(d->rank->n_steps - 1 - (size_t)step);
	}
	limit_rows(r, t, options, "blocks");
	if (t && !options->top && t->n_rows > BLOCKS_SHOWN) {
		t->n_shown = BLOCKS_SHOWN;
		t->more = result_format(r, "%zu more blocks: --json has them", t->n_rows - BLOCKS_SHOWN);
	}
}

/* ---- In words ---------------------------------------------------------------------------------------------------- */

/* The device that grows most for certain; else the one of which most stays. */
static size_t worst_device(const leaks *l)
{
	size_t worst = SIZE_MAX;

	for (size_t i = 0; i < l->sums.events.devices.n; i++) {
		const leak_device *d = &l->sums.devices[i], *best = worst == SIZE_MAX ? NULL : &l->sums.devices[worst];
		if (!d->is_seen)
			continue;
		double low = d->growth.low > 0 ? d->growth.low : 0;
		double best_low = best && best->growth.low > 0 ? best->growth.low : 0;
		bool has_more =
			best && (d->bytes != best->bytes ? d->bytes > best->bytes : d->allocated > best->allocated);
		if (!best || low > best_low || (low == best_low && has_more))
			worst = i;
	}
	return worst;
}

static void answer_without_addresses(const leaks *l, size_t device, sonde_result *r)
{
	const memory_growth *g = &l->sums.devices[device].growth;
	char slope[NUMBER_TEXT];

	if (g->low > 0)
		result_answer(r, "memory of %s grows by %s per step over %zu steps; the blocks are unknown",
			      l->names[device], format_bytes(slope, (uint64_t)llround(g->slope)), g->n_steps);
	else
		result_answer(r, "%s; memory never freed of %s is unknown",
			      isnan(g->low) ? "too few steps to measure growth" : "no significant growth per step",
			      l->names[device]);
}

static void answer(const leaks *l, sonde_result *r)
{
	size_t worst = worst_device(l);
	char slope[NUMBER_TEXT], bytes[NUMBER_TEXT], all[NUMBER_TEXT], count[NUMBER_TEXT];

	if (worst == SIZE_MAX)
		return;
	const leak_device *d = &l->sums.devices[worst];
	format_bytes(bytes, d->bytes);
	format_bytes(all, d->allocated);
	format_count(count, d->n);
	if (!l->sums.events.devices.items[worst].has_addresses) {
		answer_without_addresses(l, worst, r);
		return;
	}
	const char *stay = d->n == 1 ? "stays, in 1 block" : result_format(r, "was never freed, in %s blocks", count);
	if (d->growth.low > 0)
		result_answer(r, "memory of %s grows by %s per step over %zu steps; %s of %s allocated in the trace %s",
			      l->names[worst], format_bytes(slope, (uint64_t)llround(d->growth.slope)),
			      d->growth.n_steps, bytes, all, stay);
	else if (!d->n && d->allocated)
		result_answer(r, "no leak: all of %s that %s allocated in the trace was freed", all, l->names[worst]);
	else if (isnan(d->growth.low))
		result_answer(r, "%s of %s allocated on %s %s; too few steps to measure growth", bytes, all,
			      l->names[worst], stay);
	else
		result_answer(r, "no significant growth per step; %s of %s allocated on %s %s", bytes, all,
			      l->names[worst], stay);
}

static void explain(const leaks *l, sonde_result *r)
{
	uint64_t unknown = 0, n_unknown = 0, n_sizeless = 0, n_lost = 0;
	bool has_addresses = true;
	char bytes[NUMBER_TEXT], count[NUMBER_TEXT];

	for (size_t i = 0; i < l->sums.events.devices.n; i++) {
		unknown += l->sums.devices[i].unknown;
		n_unknown += l->sums.devices[i].n_unknown;
		n_sizeless += l->sums.devices[i].n_sizeless;
		n_lost += l->sums.devices[i].n_lost;
		has_addresses = has_addresses && l->sums.events.devices.items[i].has_addresses;
	}
	if (!has_addresses)
		result_note_add(r, "note",
				"frees in this trace have no address (old PyTorch): memory never freed is unknown");
	if (l->sums.blocks.n)
		result_note_add(r, "note",
				"a block that exists when the trace ends is not necessarily a leak: blocks of nearly "
				"every step are suspect, blocks of the last step may be freed in the next, earlier "
				"blocks are usually weights and caches");
	if (n_unknown)
		result_note_add(r, "note",
				"%s frees%s%s were of blocks allocated before the trace began, at an unknown place",
				format_count(count, n_unknown), n_sizeless ? "" : ", of ",
				n_sizeless ? "" : format_bytes(bytes, unknown));
	if (n_lost)
		result_note_add(r, "note", "the free of %s blocks is not in the trace: their addresses were reused",
				format_count(count, n_lost));
	if (l->sums.blocks.n > MOST_BLOCKS)
		result_note_add(r, "note", "the table of blocks has the largest %d of %s", MOST_BLOCKS,
				format_count(count, l->sums.blocks.n));
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	leaks l = { 0 };
	rows_options chosen = rows_options_from(options);
	bool ok = !w->rows.ix || (leak_sums_load(&l.sums, &w->rows, &chosen) && name_devices(&l, r));
	table *t = result_table(r, "leak_devices", "By device", device_columns, N_COLUMNS(device_columns));

	for (size_t i = 0; ok && i < l.sums.events.devices.n; i++)
		if (l.sums.devices[i].is_seen)
			put_device(&l, i, r, t);
	if (ok) {
		answer(&l, r);
		add_places(&l, options, r);
		add_steps(&l, r);
		add_blocks(&l, options, r);
		explain(&l, r);
	}
	for (table *one = t; one; one = one->next)
		one->n_shown = one->n_rows ? one->n_shown : 0;
	if (ok && !l.sums.events.items.n)
		result_note_add(r, "note",
				"no allocations: record them with profile_memory=True of torch.profiler, or with "
				"sonde_alloc()");
	free(l.names);
	leak_sums_done(&l.sums);
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis leaks_work = { .add = add, .needs_no_device = true };

const analysis leaks_analysis = {
	.name = "leaks",
	.summary = "Memory never freed, its place of allocation, and its growth per step",
	.keeps_warmup = true,
	.work = &leaks_work,
};
