/*
 * Slices in the order of columns of their sites and lanes: `group by name`, `order by track_name, class`.
 *
 * SQLite would sort all rows by the texts themselves. Here sites and lanes are sorted, which are few, and slices are
 * put where their site belongs by counting: one pass to count, one to place. Of a slice is kept only what the query
 * looks at, often its duration alone. Where that is more than BATCH_BYTES for all of them, they are placed in batches,
 * with a pass for each.
 *
 * The order's columns are those of lanes, those of sites, or one kind behind the other (plan.c):
 *
 *   lanes            lanes are sorted and gone through one after the other; nothing is kept
 *   lanes, sites     the slices of lanes that are equal are placed by site, then those of the next lanes: a run
 *   sites (, lanes)  all lanes in their order are one run
 */
#define _GNU_SOURCE
#include "query/table_slices.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES ((uint64_t)384 << 20)
enum { LEAST_ROWS = 1024 };

/* Sites or lanes, sorted. */
typedef struct ranking {
	uint32_t *sorted;  /* numbers, in the order */
	uint32_t *rank_of; /* by number; equal ones have the same */
	uint32_t n, n_ranks;
} ranking;

/* What is kept of a slice; of these fields those that are needed. */
typedef enum kept_field { KEPT_LANE, KEPT_SITE, KEPT_START, KEPT_DUR, KEPT_ID, N_KEPT } kept_field;

struct slice_groups {
	ranking lanes, sites;
	bool by_lane_first, by_site;
	uint32_t run, run_end; /* lanes [run, run_end) of lanes.sorted are placed now */
	uint64_t *ends;	       /* by rank of site: where its rows end */
	uint64_t *next;	       /* by rank: where the next one goes */
	uint32_t *examples;    /* by rank: a site of it */
	uint8_t *rows;	       /* kept, placed: those of the batch */
	size_t n_room;	       /* rows it has room for */
	uint64_t batch, batch_end;
	size_t row_bytes;	/* may be 0 */
	size_t offsets[N_KEPT]; /* SIZE_MAX: not kept */
	uint64_t n_rows, at;	/* of the run */
	uint32_t rank;		/* of the current row */
	uint32_t lane;		/* without rows: where we are in lanes.sorted */
};

void slice_groups_free(slice_groups *g)
{
	if (!g)
		return;
	free(g->lanes.sorted);
	free(g->lanes.rank_of);
	free(g->sites.sorted);
	free(g->sites.rank_of);
	free(g->ends);
	free(g->next);
	free(g->examples);
	free(g->rows);
	free(g);
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

typedef struct comparison {
	query_cursor *c;
	bool of_sites;
} comparison;

static int compare(const void *a, const void *b, void *context)
{
	const comparison *how = context;
	query_cursor *c = how->c;
	uint32_t numbers[2] = { *(const uint32_t *)a, *(const uint32_t *)b };

	for (size_t i = 0; i < c->plan.n_orders; i++) {
		const plan_order *o = &c->plan.orders[i];
		const query_column *column = &c->table->columns[o->column];
		query_cell cells[2] = { 0 };

		if ((column->of == OF_SITE) != how->of_sites)
			continue;
		for (size_t k = 0; k < 2; k++)
			column->get(c, column->of == OF_TRACK ? c->lanes[numbers[k]].track : numbers[k], column->which,
				    &cells[k]);
		int order = cell_compare(&cells[0], &cells[1]);
		if (order)
			return o->descending ? -order : order;
	}
	return 0;
}

static int compare_stably(const void *a, const void *b, void *context)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare(a, b, context);

	return order ? order : (x > y) - (x < y);
}

static bool rank(query_cursor *c, bool of_sites, size_t n, ranking *ret)
{
	comparison how = { c, of_sites };

	ret->sorted = malloc((n + 1) * sizeof *ret->sorted);
	ret->rank_of = malloc((n + 1) * sizeof *ret->rank_of);
	if (!ret->sorted || !ret->rank_of)
		return false;
	ret->n = (uint32_t)n;
	for (uint32_t i = 0; i < ret->n; i++)
		ret->sorted[i] = i;
	qsort_r(ret->sorted, n, sizeof *ret->sorted, compare_stably, &how);
	for (uint32_t i = 0; i < ret->n; i++) {
		if (i == 0 || compare(&ret->sorted[i - 1], &ret->sorted[i], &how) != 0)
			ret->n_ranks++;
		ret->rank_of[ret->sorted[i]] = ret->n_ranks - 1;
	}
	return true;
}

/* ---- Placing ----------------------------------------------------------------------------------------------------- */

static bool has_lane_orders(const query_cursor *c)
{
	for (size_t i = 0; i < c->plan.n_orders; i++)
		if (c->table->columns[c->plan.orders[i].column].of != OF_SITE)
			return true;
	return false;
}

static void choose_fields(const query_cursor *c, slice_groups *g)
{
	static const uint8_t sizes[N_KEPT] = {
		[KEPT_LANE] = 4, [KEPT_SITE] = 4, [KEPT_START] = 8, [KEPT_DUR] = 8, [KEPT_ID] = 8
	};
	unsigned needs = c->plan.needs;
	bool all = needs & NEED_ALL;
	/* In a run of equal lanes each of them will do, unless another of their columns is asked for. */
	bool is_kept[N_KEPT] = {
		[KEPT_LANE] = !all && ((needs & NEED_TRACK_OR_LANE) || (!g->by_lane_first && has_lane_orders(c))),
		[KEPT_SITE] = !all && (needs & NEED_SITE),
		[KEPT_START] = !all && (needs & NEED_TS),
		[KEPT_DUR] = !all && (needs & NEED_DUR),
		[KEPT_ID] = all, /* the rest is looked up */
	};

	for (size_t i = 0; i < N_KEPT; i++) {
		g->offsets[i] = is_kept[i] ? g->row_bytes : SIZE_MAX;
		g->row_bytes += is_kept[i] ? sizes[i] : 0;
	}
}

static inline void keep(const slice_groups *g, uint8_t *row, kept_field field, const void *value, size_t size)
{
	if (g->offsets[field] != SIZE_MAX)
		memcpy(row + g->offsets[field], value, size);
}

static void keep_slice(const slice_groups *g, uint64_t place, const index_slice *s)
{
	uint8_t *row = g->rows + place * g->row_bytes;

	keep(g, row, KEPT_LANE, &s->lane, sizeof s->lane);
	keep(g, row, KEPT_SITE, &s->site, sizeof s->site);
	keep(g, row, KEPT_START, &s->start_ns, sizeof s->start_ns);
	keep(g, row, KEPT_DUR, &s->dur_ns, sizeof s->dur_ns);
	keep(g, row, KEPT_ID, &s->id, sizeof s->id);
}

/* All slices of the run's lanes: counted into ends, or placed where they are of the batch. */
static int go_through(slices_cursor *c, slice_groups *g, bool place)
{
	int code = SQLITE_OK;

	for (uint32_t i = g->run; i < g->run_end && !code; i++) {
		if (!slices_enter_lane(c, g->lanes.sorted[i]))
			continue;
		while (slices_next_in_lane(c, &code)) {
			uint32_t r = g->sites.rank_of[c->slice.site];

			if (!place) {
				g->ends[r]++;
				continue;
			}
			uint64_t to = g->next[r]++;
			if (to >= g->batch && to < g->batch_end)
				keep_slice(g, to - g->batch, &c->slice);
		}
	}
	return code;
}

/* Counts become the places where the rows of each rank end. */
static void add_up(slice_groups *g)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < g->sites.n_ranks; i++)
		g->ends[i] = sum += g->ends[i];
	g->n_rows = sum;
}

/* The rows from g->at on, as many as there is room for. */
static int place_batch(slices_cursor *c, slice_groups *g)
{
	g->batch = g->at;
	g->batch_end = g->n_rows;
	if (!g->row_bytes)
		return SQLITE_OK;
	if (g->n_rows - g->at > g->n_room)
		g->batch_end = g->at + g->n_room;
	for (uint32_t i = 0; i < g->sites.n_ranks; i++)
		g->next[i] = i ? g->ends[i - 1] : 0;
	return go_through(c, g, true);
}

static bool make_room(slices_cursor *c, slice_groups *g)
{
	uint64_t most = g->row_bytes ? BATCH_BYTES / g->row_bytes : 0;
	uint64_t wanted = g->n_rows < most ? g->n_rows : most;

	if (wanted <= g->n_room)
		return true;
	free(g->rows);
	g->n_room = 0;
	while (wanted > LEAST_ROWS && !query_may_take(c->base.query, wanted * g->row_bytes))
		wanted /= 2;
	g->rows = query_may_take(c->base.query, wanted * g->row_bytes) ? malloc(wanted * g->row_bytes) : NULL;
	if (g->rows)
		g->n_room = wanted;
	return g->rows != NULL;
}

static int place_run(slices_cursor *c, slice_groups *g)
{
	memset(g->ends, 0, g->sites.n_ranks * sizeof *g->ends);
	int code = go_through(c, g, false);
	if (code)
		return code;
	add_up(g);
	g->at = 0;
	g->rank = 0;
	return make_room(c, g) ? place_batch(c, g) : SQLITE_NOMEM;
}

/* The next lanes that are placed together; false when there are no more. */
static bool next_run(slice_groups *g)
{
	g->run = g->run_end;
	if (g->run == g->lanes.n)
		return false;
	uint32_t r = g->lanes.rank_of[g->lanes.sorted[g->run]];
	do {
		g->run_end++;
	} while (g->run_end < g->lanes.n && (!g->by_lane_first || g->lanes.rank_of[g->lanes.sorted[g->run_end]] == r));
	return true;
}

int slice_groups_make(slices_cursor *c)
{
	slice_groups *g = calloc(1, sizeof *g);
	const query_plan *plan = &c->base.plan;

	c->groups = g;
	if (!g || !rank(&c->base, false, c->base.n_lanes, &g->lanes))
		return SQLITE_NOMEM;
	for (size_t i = 0; i < plan->n_orders; i++)
		g->by_site |= c->base.table->columns[plan->orders[i].column].of == OF_SITE;
	g->by_lane_first = c->base.table->columns[plan->orders[0].column].of != OF_SITE;
	c->lane.row = c->row_end = 0;
	if (!g->by_site)
		return SQLITE_OK;
	if (!rank(&c->base, true, c->base.n_sites, &g->sites))
		return SQLITE_NOMEM;
	g->ends = calloc(g->sites.n_ranks + 1, sizeof *g->ends);
	g->next = calloc(g->sites.n_ranks + 1, sizeof *g->next);
	g->examples = calloc(g->sites.n_ranks + 1, sizeof *g->examples);
	if (!g->ends || !g->next || !g->examples)
		return SQLITE_NOMEM;
	for (uint32_t i = 0; i < g->sites.n; i++)
		g->examples[g->sites.rank_of[i]] = i;
	choose_fields(&c->base, g);
	return SQLITE_OK;
}

/* ---- Taking them out --------------------------------------------------------------------------------------------- */

static inline void take(const slice_groups *g, const uint8_t *row, kept_field field, void *value, size_t size)
{
	if (g->offsets[field] != SIZE_MAX)
		memcpy(value, row + g->offsets[field], size);
}

static void take_row(slices_cursor *c, slice_groups *g)
{
	index_slice *s = &c->slice;

	while (g->ends[g->rank] <= g->at)
		g->rank++;
	const uint8_t *row = g->row_bytes ? g->rows + (g->at - g->batch) * g->row_bytes : NULL;
	g->at++;
	if (g->offsets[KEPT_ID] != SIZE_MAX) {
		uint64_t id = 0;
		take(g, row, KEPT_ID, &id, sizeof id);
		cursor_slice(&c->base, id, s); /* was read before: is there */
		return;
	}
	s->site = g->examples[g->rank];
	s->lane = g->lanes.sorted[g->run];
	if (!row)
		return;
	take(g, row, KEPT_LANE, &s->lane, sizeof s->lane);
	take(g, row, KEPT_SITE, &s->site, sizeof s->site);
	take(g, row, KEPT_START, &s->start_ns, sizeof s->start_ns);
	take(g, row, KEPT_DUR, &s->dur_ns, sizeof s->dur_ns);
}

static int next_placed(slices_cursor *c, slice_groups *g)
{
	int code = SQLITE_OK;

	while (g->at == g->batch_end && !code) {
		if (g->at < g->n_rows)
			code = place_batch(c, g);
		else if (next_run(g))
			code = place_run(c, g);
		else
			return SQLITE_DONE;
	}
	if (code)
		return code;
	take_row(c, g);
	return SQLITE_OK;
}

static int next_in_lanes(slices_cursor *c, slice_groups *g)
{
	int code = SQLITE_OK;

	while (c->row_end == 0 || !slices_next_in_lane(c, &code)) {
		if (code)
			return code;
		while (g->lane < g->lanes.n && !slices_enter_lane(c, g->lanes.sorted[g->lane]))
			g->lane++;
		if (g->lane++ >= g->lanes.n)
			return SQLITE_DONE;
	}
	return SQLITE_OK;
}

int slice_groups_next(slices_cursor *c)
{
	int code = c->groups->by_site ? next_placed(c, c->groups) : next_in_lanes(c, c->groups);

	if (code)
		return code;
	c->base.at[OF_ROW] = c->slice.id;
	c->base.at[OF_SITE] = c->slice.site;
	c->base.at[OF_LANE] = c->slice.lane;
	c->base.at[OF_TRACK] = c->base.lanes[c->slice.lane].track;
	return SQLITE_OK;
}
