/*
 * The work of a trace as HTA 0.6.1 sees it, out of the rows that compat/hta/rows.c loads as it does: items, the calls
 * that launched them, and which pairs of them its statistics count. See work.h.
 */
#include "analyze/compat/hta/rows.h"

#include <stdlib.h>
#include <string.h>

typedef VEC(work_pair) pair_list;

#define SORT_NAME sort_items
#define SORT_TYPE work_item
#define SORT_BEFORE(a, b) ((a)->start < (b)->start)
#include "base/sort_template.h"

/* ---- Items, calls, pairs ----------------------------------------------------------------------------------------- */

static uint32_t call_of(const hta *h, work_rank *to, hta_row *one)
{
	if (one->call == WORK_NONE) {
		one->call = (uint32_t)to->n_calls++;
		to->calls[one->call] = (work_call){ to_ticks(h, one->ts), to_ticks(h, one->dur), one->row };
	}
	return one->call;
}

/* HTA says 0 where there is no partner, and later takes it for the number of one: the first event of the file. Rows are
   in the order of the file but for those without arguments, which come first. */
static uint32_t first_event(const hta_rank *rank)
{
	for (uint32_t i = 0; i < rank->n; i++)
		if (rank->rows[i].order)
			return i;
	return WORK_NONE;
}

/* `launch` holds the place in `kept` until the items are sorted. */
static bool make_items(const hta *h, hta_rank *rank, hta_kepts *kept, work_rank *to)
{
	to->items = malloc((kept->n + 1) * sizeof *to->items);
	to->calls = malloc((rank->n + 1) * sizeof *to->calls);
	to->bandwidths = malloc((kept->n + 1) * sizeof *to->bandwidths);
	if (!to->items || !to->calls || !to->bandwidths)
		return false;
	for (size_t i = 0; i < kept->n; i++) {
		const hta_row *one = &rank->rows[kept->items[i].at];
		uint32_t site = rows_at(&h->w->rows, one->row).site;
		if (one->stream == -1)
			continue;
		to->items[to->n++] = (work_item){ .start = to_ticks(h, one->ts),
						  .dur = to_ticks(h, one->dur),
						  .row = one->row,
						  .site = site,
						  .launch = (uint32_t)i,
						  .stream = one->stream,
						  .kind = h->kinds[site],
						  .is_work = h->sites[site] & SITE_WORK };
	}
	if (!sort_items(to->items, to->n))
		return false;
	uint32_t first = first_event(rank);
	for (size_t i = 0, n = 0; i < to->n; i++) {
		hta_kept *of = &kept->items[to->items[i].launch];
		if (to->items[i].kind == KERNEL_MEMORY)
			to->bandwidths[n++] = rank->rows[of->at].bandwidth;
		uint32_t partner = rank->rows[of->at].partner;
		if (partner == WORK_NONE && rank->rows[of->at].correlation >= 0)
			partner = first;
		of->item = (uint32_t)i;
		bool has_partner = partner != WORK_NONE && rank->rows[partner].stays;
		to->items[i].launch = has_partner ? call_of(h, to, &rank->rows[partner]) : WORK_NONE;
	}
	return true;
}

static bool add_pair(pair_list *to, uint32_t call, uint32_t item, size_t limit)
{
	work_pair *pair = to->n < limit ? VEC_ADD(to) : NULL;

	if (pair)
		*pair = (work_pair){ call, item };
	return pair || to->n >= limit;
}

/* Rows that have the same correlation. A file where all rows have it has as many pairs as there are rows, squared:
   there is a limit to them. */
typedef struct hta_group {
	const hta_kept *rows;
	size_t n;
	VEC(uint32_t) items; /* those of them that are items */
	pair_list launches, enqueued;
	size_t limit;
} hta_group;

static bool pair_call(const hta *h, hta_group *g, work_rank *to, hta_row *one, bool is_stats, bool is_launch)
{
	bool ok = true;

	for (size_t i = 0; ok && i < g->items.n; i++) {
		if ((!is_stats || g->launches.n >= g->limit) && (!is_launch || g->enqueued.n >= g->limit))
			return true;
		uint32_t call = call_of(h, to, one);
		ok = (!is_stats || add_pair(&g->launches, call, g->items.items[i], g->limit)) &&
		     (!is_launch || add_pair(&g->enqueued, call, g->items.items[i], g->limit));
	}
	return ok;
}

static bool pair_group(const hta *h, hta_rank *rank, hta_group *g, work_rank *to)
{
	bool has_stats = false, is_queued = false, ok = true;

	g->items.n = 0;
	for (size_t i = 0; ok && i < g->n; i++) {
		has_stats |= (site_flags(h, &rank->rows[g->rows[i].at]) & SITE_STATS) != 0;
		if (g->rows[i].item == WORK_NONE)
			continue;
		uint32_t *item = VEC_ADD(&g->items);
		ok = item != NULL;
		if (item)
			*item = g->rows[i].item;
	}
	for (size_t i = 0; ok && i < g->n; i++) {
		hta_row *one = &rank->rows[g->rows[i].at];
		bool is_launch = (site_flags(h, one) & SITE_LAUNCH) && one->partner != WORK_NONE;
		is_queued |= is_launch;
		ok = pair_call(h, g, to, one, has_stats && one->stream == -1, is_launch);
	}
	for (size_t i = 0; i < g->items.n; i++)
		to->items[g->items.items[i]].is_queued = is_queued;
	return ok;
}

static bool make_pairs(const hta *h, hta_rank *rank, hta_kepts *kept, work_rank *to)
{
	hta_group g = { .limit = 8 * kept->n + 1024 };
	bool ok = hta_sort_kept(kept);

	for (size_t i = 0; ok && i < kept->n; i += g.n) {
		g.rows = &kept->items[i];
		for (g.n = 1; i + g.n < kept->n && g.rows[g.n].correlation == g.rows->correlation;)
			g.n++;
		if (g.rows->correlation != -1)
			ok = pair_group(h, rank, &g, to);
	}
	VEC_DONE(&g.items);
	to->launches = g.launches.items;
	to->n_launches = g.launches.n;
	to->enqueued = g.enqueued.items;
	to->n_enqueued = g.enqueued.n;
	return ok;
}

static bool make_annotations(const hta *h, const hta_rank *rank, const hta_kepts *kept, work_rank *to)
{
	size_t capacity = 0;

	for (size_t i = 0; i < kept->n; i++) {
		const hta_row *one = &rank->rows[kept->items[i].at];
		uint8_t flags = site_flags(h, one);
		if (!(flags & (SITE_GPU_NOTE | SITE_CPU_NOTE)))
			continue;
		work_annotation *a =
			vec_add((void **)&to->annotations, &to->n_annotations, &capacity, sizeof *to->annotations);
		if (!a)
			return false;
		*a = (work_annotation){ to_ticks(h, one->ts), to_ticks(h, one->dur), one->row, flags & SITE_GPU_NOTE };
	}
	return true;
}

/* The first step that goes, as the rows have it. */
static int64_t find_cut(const hta *h, const hta_rank *rank)
{
	int64_t cut_ns = INT64_MAX;

	for (size_t i = 0; i < rank->n; i++) {
		int64_t start_ns = rows_at(&h->w->rows, rank->rows[i].row).start_ns;
		if (!rank->rows[i].stays && (site_flags(h, &rank->rows[i]) & SITE_STEP) && start_ns < cut_ns)
			cut_ns = start_ns;
	}
	return cut_ns;
}

static bool make_rank(const hta *h, hta_rank *rank, bool cuts, work_rank *to)
{
	hta_kepts kept = { 0 };
	bool ok = hta_find_partners(rank) && hta_keep(h, rank, cuts, &kept) && make_items(h, rank, &kept, to) &&
		  make_annotations(h, rank, &kept, to) && make_pairs(h, rank, &kept, to);

	to->cut_ns = find_cut(h, rank);
	for (size_t i = 0; ok && i < kept.n; i++) {
		const hta_row *one = &rank->rows[kept.items[i].at];
		int64_t ts = to_ticks(h, one->ts);
		to->first_start = i == 0 || ts < to->first_start ? ts : to->first_start;
		to->last_start = i == 0 || ts > to->last_start ? ts : to->last_start;
	}
	VEC_DONE(&kept);
	return ok;
}

bool work_load_hta(work *w, bool rounds)
{
	hta h = { .w = w, .rounds = rounds };

	w->ranks = calloc(w->rows.n_ranks + 1, sizeof *w->ranks);
	bool ok = w->ranks && hta_load(&h);
	bool cuts = ok && hta_has_two_steps(&h);
	for (size_t i = 0; ok && i < w->n_ranks; i++)
		ok = make_rank(&h, &h.ranks[i], cuts, &w->ranks[i]);
	hta_done(&h);
	return ok;
}
