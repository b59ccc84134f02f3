/*
 * See compare/run.h.
 *
 *   find_groups()    which rows are looked at together: by name, on the host or on the device
 *   count_groups()   one pass over the rows: how many calls each has
 *   fill_groups()    a second one: some of the calls, and a sum for each sample
 *   add_groups()     medians of both
 *
 * Self time is known when a row ends. Rows lie in pre-order, so what is open is a stack.
 */
#include "analyze/compare/run.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/math/packed.h"
#include "analyze/math/stats.h"
#include "base/error.h"

#define NO_GROUP UINT32_MAX
enum { MOST_CALLS = 4096 };

typedef struct run_group {
	uint32_t name; /* string */
	item_kind kind;
	size_t n, n_begun; /* calls; so far */
	int64_t sum_ns, total_ns;
	/* Of many calls every n-th, in the order of rows */
	size_t every;
	int64_t *some, *some_whole;
	/* Pairs of a sample and a sum, packed; a sample may come again */
	uint8_t *bytes;
	size_t n_bytes, capacity;
	uint32_t sample; /* the last one, which is not packed yet; RUN_NO_SAMPLE */
	int64_t sample_ns;
} run_group;

/* A call of a row's group. */
typedef struct group_call {
	uint32_t group;
	size_t number; /* of the group's calls */
} group_call;

enum { MOST_GROUPS = 3 }; /* of a row */

/* A row that is open. */
typedef struct open_row {
	uint32_t end, sample;
	int64_t dur_ns, self_ns;
	size_t n_calls;
	group_call calls[MOST_GROUPS];
} open_row;

typedef struct run_loader {
	compare_run *run;
	rows r;
	run_steps steps;
	VEC(run_group) groups;
	uint32_t *group_of[ITEM_KINDS]; /* by site */
	VEC(open_row) open;
	int64_t *sums; /* per sample, of one group */
} run_loader;

/* ---- Samples
 * ---------------------------------------------------------------------------------------------------------- */

/* Of a device row: where it was launched. */
static uint32_t sample_of(const run_loader *l, const row *at, size_t *hint)
{
	if (!l->steps.n)
		return 0;
	return run_steps_at(&l->steps, row_rank(&l->r, at),
			    at->launch != ROW_NONE ? rows_at(&l->r, at->launch).start_ns : at->start_ns, hint);
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

typedef struct site_key {
	uint32_t name, site;
	item_kind kind;
} site_key;

static int by_name(const void *a, const void *b)
{
	const site_key *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->site < y->site ? -1 : x->site > y->site;
}

static bool is_layer(const rows *r, const index_site *site)
{
	static const char module[] = "nn.Module: "; /* of torch.profiler's Python stacks */

	return site->kind == NAME_MODULE || strncmp(index_text(r->ix, site->name), module, sizeof module - 1) == 0;
}

/* A site may be on the host and on the device; modules and phases are on the host and also by themselves. */
static size_t list_site(const run_loader *l, uint32_t i, site_key *keys)
{
	const index_site *site = &l->r.sites[i];
	size_t n = 0;

	keys[n++] = (site_key){ site->name, i, ITEM_DEVICE };
	if (site->class != CLASS_STEP)
		keys[n++] = (site_key){ site->name, i, ITEM_HOST };
	if (site->class == CLASS_PHASE)
		keys[n++] = (site_key){ site->name, i, ITEM_PHASE };
	else if (is_layer(&l->r, site))
		keys[n++] = (site_key){ site->name, i, ITEM_LAYER };
	return n;
}

static bool find_groups(run_loader *l)
{
	size_t n_sites = l->r.n_sites, n = 0;
	site_key *keys = malloc((3 * n_sites + 1) * sizeof *keys);
	bool ok = keys != NULL;

	for (int k = ITEM_PHASE; k < ITEM_KINDS; k++) {
		l->group_of[k] = malloc((n_sites + 1) * sizeof(uint32_t));
		ok = ok && l->group_of[k];
		if (ok)
			memset(l->group_of[k], 0xff, n_sites * sizeof(uint32_t));
	}
	for (size_t i = 0; ok && i < n_sites; i++)
		n += list_site(l, (uint32_t)i, keys + n);
	if (ok && n)
		qsort(keys, n, sizeof *keys, by_name);
	for (size_t i = 0; ok && i < n; i++) {
		if (!i || keys[i].kind != keys[i - 1].kind || keys[i].name != keys[i - 1].name) {
			run_group *g = VEC_ADD(&l->groups);
			ok = g != NULL;
			if (ok)
				*g = (run_group){ .name = keys[i].name, .kind = keys[i].kind };
		}
		l->group_of[keys[i].kind][keys[i].site] = (uint32_t)l->groups.n - 1;
	}
	free(keys);
	return ok;
}

/* Inside a row of the same name: its time is counted already. */
static bool is_inside_itself(const rows *r, const row *at)
{
	for (uint32_t up = at->parent; up != ROW_NONE; up = rows_at(r, up).parent)
		if (r->sites[rows_at(r, up).site].name == r->sites[at->site].name)
			return true;
	return false;
}

/* The groups of a row, at most MOST_GROUPS. */
static size_t groups_of(const run_loader *l, const row *at, uint32_t *ret)
{
	size_t n = 0;
	bool is_device = at->flags & ROW_DEVICE;

	if ((at->flags & ROW_ON_STREAM) && !is_device) /* an annotation of what the device does */
		return 0;
	uint32_t group = l->group_of[is_device ? ITEM_DEVICE : ITEM_HOST][at->site];
	if (group != NO_GROUP)
		ret[n++] = group;
	for (int k = ITEM_PHASE; !is_device && k <= ITEM_LAYER; k++)
		if (l->group_of[k][at->site] != NO_GROUP && !is_inside_itself(&l->r, at))
			ret[n++] = l->group_of[k][at->site];
	return n;
}

static bool make_room(run_group *g)
{
	g->every = g->n / MOST_CALLS + 1;
	g->sample = RUN_NO_SAMPLE;
	size_t n = g->n / g->every + 2;
	g->some = malloc(n * sizeof *g->some);
	g->some_whole = g->kind == ITEM_HOST ? malloc(n * sizeof *g->some_whole) : NULL;
	return g->some && (g->some_whole || g->kind != ITEM_HOST);
}

/* How many calls each group has that are in a sample. */
static bool count_groups(run_loader *l)
{
	uint32_t of[MOST_GROUPS];
	size_t hint = 0;
	bool ok = true;

	for (size_t i = 0; i < l->r.n; i++) {
		const row *at = ROW_AT(&l->r, i);
		size_t k = groups_of(l, at, of);
		if (k && sample_of(l, at, &hint) == RUN_NO_SAMPLE)
			continue;
		while (k-- > 0)
			l->groups.items[of[k]].n++;
	}
	for (size_t i = 0; ok && i < l->groups.n; i++)
		ok = !l->groups.items[i].n || make_room(&l->groups.items[i]);
	return ok;
}

static bool pack_sample(run_group *g)
{
	if (g->sample == RUN_NO_SAMPLE)
		return true;
	if (!packed_reserve(&g->bytes, g->n_bytes, &g->capacity))
		return false;
	uint8_t *to = packed_put(g->bytes + g->n_bytes, g->sample);
	g->n_bytes = (size_t)(packed_put(to, (uint64_t)g->sample_ns) - g->bytes);
	return true;
}

static bool add_to_sample(run_group *g, uint32_t sample, int64_t ns)
{
	if (g->sample != sample) {
		if (!pack_sample(g))
			return false;
		g->sample = sample;
		g->sample_ns = 0;
	}
	g->sample_ns = add_bounded(g->sample_ns, ns);
	return true;
}

static bool end_row(run_loader *l, const open_row *of)
{
	int64_t self = of->self_ns > 0 ? of->self_ns : 0;
	bool ok = true;

	for (size_t i = 0; ok && i < of->n_calls; i++) {
		run_group *g = &l->groups.items[of->calls[i].group];
		size_t number = of->calls[i].number;
		int64_t ns = g->kind == ITEM_HOST ? self : of->dur_ns;
		g->sum_ns = add_bounded(g->sum_ns, ns);
		g->total_ns = add_bounded(g->total_ns, of->dur_ns);
		if (number % g->every == 0) {
			g->some[number / g->every] = ns;
			if (g->some_whole)
				g->some_whole[number / g->every] = of->dur_ns;
		}
		ok = !l->steps.n || add_to_sample(g, of->sample, ns);
	}
	return ok;
}

static bool end_rows(run_loader *l, uint32_t at)
{
	bool ok = true;

	while (ok && l->open.n && l->open.items[l->open.n - 1].end <= at)
		ok = end_row(l, &l->open.items[--l->open.n]);
	return ok;
}

static open_row begin_row(run_loader *l, const row *at, size_t *hint)
{
	open_row one = { .end = at->end, .dur_ns = at->dur_ns, .self_ns = at->dur_ns };
	uint32_t of[MOST_GROUPS];
	size_t n = groups_of(l, at, of);

	one.sample = n ? sample_of(l, at, hint) : RUN_NO_SAMPLE;
	for (size_t k = 0; k < n && one.sample != RUN_NO_SAMPLE; k++)
		one.calls[one.n_calls++] = (group_call){ of[k], l->groups.items[of[k]].n_begun++ };
	return one;
}

static bool fill_groups(run_loader *l)
{
	size_t hint = 0;
	bool ok = true;

	for (uint32_t i = 0; ok && i < l->r.n; i++) {
		const row *at = ROW_AT(&l->r, i);
		ok = end_rows(l, i);
		if (l->open.n)
			l->open.items[l->open.n - 1].self_ns -= at->dur_ns;
		open_row one = begin_row(l, at, &hint);
		open_row *to = ok && one.end > i + 1 ? VEC_ADD(&l->open) : NULL;
		if (to)
			*to = one;
		else
			ok = ok && one.end <= i + 1 && end_row(l, &one);
	}
	ok = ok && end_rows(l, ROW_NONE);
	for (size_t i = 0; ok && i < l->groups.n; i++)
		ok = pack_sample(&l->groups.items[i]);
	return ok;
}

/* ---- Items ------------------------------------------------------------------------------------------------------- */

compare_item *compare_run_add(compare_run *run, item_kind kind, const char *name)
{
	compare_item *item = VEC_ADD(&run->items);

	if (!item)
		return NULL;
	item->kind = kind;
	item->name = arena_strdup(&run->arena, name);
	return item->name ? item : NULL;
}

static void sum_calls(const run_group *g, compare_item *item)
{
	size_t n = (g->n + g->every - 1) / g->every;

	item->whole = item->call = summary_of(g->some, n);
	if (g->some_whole)
		item->whole = summary_of(g->some_whole, n);
}

static bool sum_steps(run_loader *l, const run_group *g, compare_item *item)
{
	size_t n_seen = 0, n_ranks = l->run->n_ranks;

	if (!l->steps.n)
		return true;
	for (size_t i = 0; i < l->steps.n_samples; i++)
		l->sums[i] = -1;
	for (const uint8_t *at = g->bytes; at < g->bytes + g->n_bytes;) {
		uint64_t sample, ns;
		at = packed_get(packed_get(at, &sample), &ns);
		n_seen += l->sums[sample] < 0;
		l->sums[sample] = add_bounded(l->sums[sample] < 0 ? 0 : l->sums[sample], (int64_t)ns);
	}
	if (2 * n_seen <= l->steps.n_samples)
		return true;
	for (size_t i = 0; i < l->steps.n_samples; i++)
		l->sums[i] = l->sums[i] < 0 ? 0 : l->sums[i] / (int64_t)n_ranks;
	item->step = summary_in_time(l->sums, l->steps.n_samples);
	return item->step.n != 0;
}

static bool add_groups(run_loader *l)
{
	for (size_t i = 0; i < l->groups.n; i++) {
		const run_group *g = &l->groups.items[i];
		if (!g->n)
			continue;
		compare_item *item = compare_run_add(l->run, g->kind, index_text(l->r.ix, g->name));
		if (!item)
			return false;
		item->calls = g->n;
		item->sum_ns = g->sum_ns;
		item->total_ns = g->total_ns;
		sum_calls(g, item);
		if (!sum_steps(l, g, item))
			return false;
	}
	return true;
}

static bool add_step(run_loader *l)
{
	compare_item *item = l->steps.n_samples ? compare_run_add(l->run, ITEM_STEP, "step") : NULL;

	if (!l->steps.n_samples)
		return true;
	if (!item)
		return false;
	item->calls = l->steps.n_samples;
	for (size_t i = 0; i < l->steps.n_samples; i++)
		item->sum_ns = add_bounded(item->sum_ns, l->steps.sample_ns[i]);
	item->total_ns = item->sum_ns;
	item->step = item->call = item->whole = summary_in_time(l->steps.sample_ns, l->steps.n_samples);
	return item->step.n != 0;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static void find_span(run_loader *l)
{
	int64_t start = INT64_MAX, end = INT64_MIN;

	for (size_t i = 0; i < l->r.n_ranks; i++) {
		start = l->r.ranks[i].start_ns < start ? l->r.ranks[i].start_ns : start;
		end = l->r.ranks[i].end_ns > end ? l->r.ranks[i].end_ns : end;
	}
	l->run->total_ns = end > start ? end - start : 0;
	l->run->n_ranks = l->r.n_ranks ? l->r.n_ranks : 1;
}

static void loader_done(run_loader *l)
{
	rows_done(&l->r);
	run_steps_done(&l->steps);
	for (size_t i = 0; i < l->groups.n; i++) {
		free(l->groups.items[i].some);
		free(l->groups.items[i].some_whole);
		free(l->groups.items[i].bytes);
	}
	VEC_DONE(&l->groups);
	VEC_DONE(&l->open);
	for (int k = 0; k < ITEM_KINDS; k++)
		free(l->group_of[k]);
	free(l->sums);
}

sonde_status compare_run_load(const sonde_trace *trace, const sonde_analyze_options *select, compare_run *ret_run,
			      sonde_error *err)
{
	run_loader l = { .run = ret_run };
	rows_options how = rows_options_from(select);

	how.n_warmup = 0; /* run_steps_find() goes by samples, over all ranks */
	ret_run->n_runs = 1;
	sonde_status status = rows_load(trace, &how, &l.r, err);
	if (!status) {
		ret_run->is_damaged = l.r.damaged;
		find_span(&l);
		bool ok = run_steps_find(&l.steps, &l.r, select);
		ret_run->n_steps = l.steps.n_samples;
		ret_run->n_warmup = l.steps.n_warmup;
		ok = ok && find_groups(&l) && count_groups(&l) && fill_groups(&l);
		l.sums = malloc((l.steps.n_samples + 1) * sizeof *l.sums);
		ok = ok && l.sums && add_step(&l) && compare_run_roles(ret_run, &l.r, l.steps.items, l.steps.n) &&
		     add_groups(&l);
		status = ok ? compare_run_peaks(ret_run, &l.r, select, err)
			    : error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	}
	if (!status)
		compare_run_sort(ret_run);
	loader_done(&l);
	return status;
}

void compare_run_done(compare_run *run)
{
	arena_done(&run->arena);
	VEC_DONE(&run->items);
	VEC_DONE(&run->peaks);
}

/* ---- Looking things up ------------------------------------------------------------------------------------------- */

static int compare_items(const void *a, const void *b)
{
	const compare_item *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->name, y->name);
}

void compare_run_sort(compare_run *run)
{
	if (run->items.n)
		qsort(run->items.items, run->items.n, sizeof *run->items.items, compare_items);
}

const compare_item *compare_run_find(const compare_run *run, item_kind kind, const char *name)
{
	compare_item key = { .kind = kind, .name = name };

	return run->items.n ? bsearch(&key, run->items.items, run->items.n, sizeof key, compare_items) : NULL;
}
