/*
 * Where a device's time goes: by what it does, overlaps apart, summed over ranks; and by kernel.
 *
 * By type: each moment belongs to the set of types that are active in it, so the rows of the table add up to the time
 * in which anything ran. Kernels: durations summed up by name, so what overlaps counts twice.
 */
#include "analyze/tables/name_sums.h"

#include <stdlib.h>
#include <string.h>
#include "base/big.h"

static const column type_columns[] = {
	{ "type", "type", CELL_STRING, 0, false },
	{ "sum_ns", "time", CELL_NS, 0, false },
	{ "percent", "%", CELL_PERCENT, 0, true },
};
static const column kernel_columns[] = {
	{ "name", "kernel", CELL_STRING, 0, false }, { "type", "type", CELL_STRING, 1, false },
	{ "rank", "rank", CELL_INTEGER, 0, false },  NAME_SUM_COLUMNS,
	{ "percent", "%", CELL_PERCENT, 0, true },
};

/* ---- By type ----------------------------------------------------------------------------------------------------- */

enum { SETS = 8 }; /* of compute (1), communication (2), memory (4) */

typedef struct edge {
	int64_t at;
	int change; /* of the sum of the active types' bits */
} edge;

#define SORT_NAME sort_edges
#define SORT_TYPE edge
#define SORT_BEFORE(a, b) ((a)->at < (b)->at)
#include "base/sort_template.h"

typedef struct type_sums {
	__int128 sums[SETS];
	bool is_there[SETS]; /* even if only for no time at all, as HTA wants it */
} type_sums;

typedef struct type_sweep {
	const work *w;
	type_sums *types;
	int64_t at;
	int active;
} type_sweep;

/* HTA cuts each stretch down to whole microseconds. Its negative durations make the sum of bits wrong; so is ours. */
static void sweep(type_sweep *s, edge next)
{
	int64_t length = next.at - s->at;

	if (s->active > 0) {
		if (s->w->is_hta)
			length -= length % s->w->ticks_per_us;
		s->types->sums[s->active & (SETS - 1)] += length;
		s->types->is_there[s->active & (SETS - 1)] |= length || s->w->is_hta;
	}
	s->active += next.change;
	s->at = next.at;
}

/* Both ends of each span of a kind, one after the other. */
typedef struct edge_walk {
	span_walk spans;
	work_span now;
	bool has_now, at_end;
	int bit;
} edge_walk;

static edge_walk edges_first(const work_rank *rank, int kind)
{
	edge_walk w = { .spans = spans_first(&rank->spans[kind]), .bit = 1 << kind };

	w.has_now = spans_next(&w.spans, &w.now);
	return w;
}

static edge edge_now(const edge_walk *w)
{
	return w->at_end ? (edge){ w->now.end, -w->bit } : (edge){ w->now.start, w->bit };
}

static void edge_next(edge_walk *w)
{
	if (w->at_end)
		w->has_now = spans_next(&w->spans, &w->now);
	w->at_end = !w->at_end;
}

/* By our rules the edges of a type are in order as they lie. */
static void merge_types(const work_rank *rank, type_sweep *s)
{
	edge_walk walks[3] = { edges_first(rank, 0), edges_first(rank, 1), edges_first(rank, 2) };

	for (;;) {
		edge_walk *first = NULL;
		for (int k = 0; k < 3; k++)
			if (walks[k].has_now && (!first || edge_now(&walks[k]).at < edge_now(first).at))
				first = &walks[k];
		if (!first)
			return;
		sweep(s, edge_now(first));
		edge_next(first);
	}
}

static bool sort_types(const work_rank *rank, type_sweep *s)
{
	size_t n = 0, at = 0;

	for (int k = 0; k < 3; k++)
		n += 2 * rank->spans[k].n;
	edge *edges = big_alloc(n + 1, sizeof *edges);
	for (int k = 0; edges && k < 3; k++)
		for (edge_walk w = edges_first(rank, k); w.has_now; edge_next(&w))
			edges[at++] = edge_now(&w);
	bool ok = edges && sort_edges(edges, n);
	for (size_t i = 0; ok && i < n; i++)
		sweep(s, edges[i]);
	free(edges);
	return ok;
}

static bool add_types(const work *w, const work_rank *rank, type_sums *types)
{
	type_sweep s = { .w = w, .types = types };

	if (w->is_hta)
		return sort_types(rank, &s);
	merge_types(rank, &s);
	return true;
}

static const char *hta_name(kernel_kind kind)
{
	static const char *const names[] = { "COMPUTATION", "COMMUNICATION", "MEMORY", "OTHER" };

	return names[kind];
}

static const char *set_name(const work *w, sonde_result *r, unsigned set)
{
	const char *name = NULL;

	for (kernel_kind k = 0; k < 3; k++) {
		const char *one = w->is_hta ? hta_name(k) : kernel_kind_name(k);
		if (set >> k & 1)
			name = name ? result_format(r, w->is_hta ? "%s overlapping %s" : "%s and %s", name, one) : one;
	}
	return name;
}

static void put_types(const work *w, sonde_result *r, const type_sums *types)
{
	static const unsigned order[] = { 1, 2, 4, 3, 5, 6, 7 };
	table *t = result_table(r, "kernel_types", "Device time by type, all ranks", type_columns,
				sizeof type_columns / sizeof type_columns[0]);
	__int128 total = 0;

	for (unsigned i = 1; i < SETS; i++)
		total += types->sums[i];
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		__int128 sum = types->sums[order[i]];
		if (!types->is_there[order[i]])
			continue;
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(set_name(w, r, order[i]));
		c[1] = work_cell_f64(w, (double)sum);
		c[2] = total ? cell_percent(100.0 * (double)sum / (double)total) : cell_unknown();
	}
}

static const setting_def others_setting = { "kernels.others", SETTING_NUMBER, "0",
					    "with compat hta: number of kernels that HTA names per type" };

/* ---- By name ----------------------------------------------------------------------------------------------------- */

static void put_name(const work *w, const work_rank *rank, sonde_result *r, table *t, const name_sum *s,
		     const char *name, double total)
{
	kernel_kind kind = (kernel_kind)s->kind;
	cell *c = table_row(r, t, 0);

	c[0] = cell_string(name);
	c[1] = cell_string(w->is_hta ? hta_name(kind) : kernel_kind_name(kind));
	c[2] = cell_integer(rank->rank);
	name_sum_cells(w, s, c + 3);
	c[3 + NAME_SUM_CELLS] = total > 0 ? cell_percent(100.0 * (double)s->sum / total) : cell_unknown();
}

/* Of a name's sum, or of several: max, min, mean and deviation are of sums. */
static void add_sum(name_sum *to, const name_sum *from)
{
	double sum = (double)from->sum, delta = sum - to->mean;

	to->n++;
	to->sum += from->sum;
	to->mean += delta / (double)to->n;
	to->squares += delta * (sum - to->mean);
	to->min = to->n == 1 || (int64_t)from->sum < to->min ? (int64_t)from->sum : to->min;
	to->max = to->n == 1 || (int64_t)from->sum > to->max ? (int64_t)from->sum : to->max;
}

/* HTA's table of kernels as it is by default: of more than `top` names of a type, those are "others" that come after
   them or lie above the 0.8 quantile of the sums so far; and then it describes sums instead of calls. */
static bool put_grouped(const work *w, const work_rank *rank, sonde_result *r, table *t, const name_sums *sums,
			uint32_t kind, size_t top, double total)
{
	double *so_far = malloc((sums->items.n + 1) * sizeof *so_far), sum = 0;
	name_sum others = { .kind = kind };
	size_t n = 0, at = 0;

	for (size_t i = 0; so_far && i < sums->items.n; i++)
		if (sums->items.items[i].kind == kind)
			so_far[n++] = sum += (double)sums->items.items[i].sum;
	for (size_t i = 0; so_far && i < sums->items.n; i++) {
		const name_sum *s = &sums->items.items[i];
		if (s->kind != kind)
			continue;
		name_sum one = { .kind = kind };
		bool is_other = n > top && (at >= top || so_far[at] > quantile(so_far, n, 0.8));
		at++;
		add_sum(is_other ? &others : &one, s);
		if (!is_other)
			put_name(w, rank, r, t, n > top ? &one : s, result_string(r, index_text(w->rows.ix, s->name)),
				 total);
	}
	if (others.n)
		put_name(w, rank, r, t, &others, "others", total);
	free(so_far);
	return so_far != NULL;
}

static bool add_names(const work *w, const work_rank *rank, sonde_result *r, table *t, name_sums *sums, size_t top)
{
	double total = 0;
	bool ok = true;

	for (size_t i = 0; i < rank->n; i++) {
		const work_item *item = WORK_AT(w, rank, i);
		if (item->kind == KERNEL_OTHER)
			continue;
		if (!name_sums_add(sums, w->rows.sites[item->site].name, item->kind, item->dur))
			return false;
		total += (double)item->dur;
	}
	name_sums_sort(sums, w);
	for (uint32_t kind = 0; ok && top && kind < KERNEL_OTHER; kind++)
		ok = put_grouped(w, rank, r, t, sums, kind, top, total);
	for (size_t i = 0; !top && i < sums->items.n; i++)
		put_name(w, rank, r, t, &sums->items.items[i],
			 result_string(r, index_text(w->rows.ix, sums->items.items[i].name)), total);
	name_sums_clear(sums);
	return ok;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	type_sums types = { 0 };
	name_sums sums;
	double top = w->is_hta ? setting(options, &others_setting) : 0;
	bool ok = name_sums_init(&sums, w);

	for (size_t i = 0; ok && i < w->n_ranks; i++)
		ok = add_types(w, &w->ranks[i], &types);
	if (ok)
		put_types(w, r, &types);
	table *t =
		result_table(r, "kernels", "Kernels", kernel_columns, sizeof kernel_columns / sizeof kernel_columns[0]);
	for (size_t i = 0; ok && i < w->n_ranks; i++)
		ok = add_names(w, &w->ranks[i], r, t, &sums, top >= 1 && top < 1e9 ? (size_t)top : 0);
	limit_rows(r, t, options, "kernels");
	work_differs(
		w, r,
		"kernels of both NCCL families and of RCCL count as communication, names with \"dma\" as computation");
	name_sums_done(&sums);
	return ok ? SONDE_OK : out_of_memory(err);
}

const work_analysis kernels_work = { .add = add, .few_rows = true };

static const setting_def *settings(size_t index)
{
	return index == 0 ? &others_setting : NULL;
}

const analysis kernels_analysis = {
	.name = "kernels",
	.summary = "Device time by type and by kernel",
	.compat = WORK_COMPAT,
	.setting = settings,
	.work = &kernels_work,
};
