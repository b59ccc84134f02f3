/*
 * The work of a trace as TraceLens (commit 171dd747) sees it. See work.h.
 *
 *   times     the file's microseconds as doubles; an end is start + duration, rounded as a double is
 *   device    category kernel, gpu_memcpy or gpu_memset, whatever the track
 *   tree      of cpu_op, cuda_runtime and cuda_driver rows of a thread by start: a row that ends after the one around
 *             it is dropped, or, where they overlap by less than a microsecond, belongs to the next one up
 *   links     by arrows of category ac2g: a call owns the last device row of its correlation on the arrow's stream, and
 *             a graph launch all rows of its correlation. Other device rows have no launch
 *
 * Doubles become ticks of 2^-bits microseconds, as in compat/hta/rows.c.
 */
#define _GNU_SOURCE
#include "analyze/tables/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/search.h"
#include "base/vec.h"

enum { IS_OP = 1, IS_CALL = 2, IS_HOST = IS_OP | IS_CALL, IS_GRAPH = 4, IS_LAUNCH = 8, IS_MEMCPY = 16, IS_DEVICE = 32 };

typedef struct tl_row {
	double ts, end;
	int64_t key; /* correlation; INT64_MIN: none */
	uint32_t row, order, track;
	int32_t rank;
} tl_row;
typedef VEC(tl_row) tl_rows;

/* What arrows of one id say. */
typedef struct tl_arrow {
	int64_t id;
	uint32_t track;
	int32_t rank;
	bool is_end;
} tl_arrow;
typedef VEC(tl_arrow) tl_arrows;

typedef struct tl {
	work *w;
	uint8_t *sites; /* flags */
	tl_rows host;	/* by track and start */
	tl_rows device; /* by rank and key, then in the order of the file */
	tl_arrows arrows;
	args_column keys[2];
	bool has_args;
	int key; /* of keys: correlation or External id */
	double first_ts;
	int bits;
} tl;

#define SORT_NAME sort_host
#define SORT_TYPE tl_row
#define SORT_BEFORE(a, b)                                                                                              \
	((a)->track != (b)->track ? (a)->track < (b)->track                                                            \
	 : (a)->ts != (b)->ts	  ? (a)->ts < (b)->ts                                                                  \
				  : (a)->order < (b)->order)
#include "base/sort_template.h"

#define SORT_NAME sort_by_key
#define SORT_TYPE tl_row
#define SORT_BEFORE(a, b)                                                                                              \
	((a)->rank != (b)->rank ? (a)->rank < (b)->rank                                                                \
	 : (a)->key != (b)->key ? (a)->key < (b)->key                                                                  \
				: (a)->order < (b)->order)
#include "base/sort_template.h"

#define SORT_NAME sort_arrows
#define SORT_TYPE tl_arrow
#define SORT_BEFORE(a, b) ((a)->rank != (b)->rank ? (a)->rank < (b)->rank : (a)->id < (b)->id)
#include "base/sort_template.h"

#define SORT_NAME sort_items
#define SORT_TYPE work_item
#define SORT_BEFORE(a, b) ((a)->start < (b)->start)
#include "base/sort_template.h"

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static uint8_t flags_of(const char *name, const char *category)
{
	bool is_call = strcmp(category, "cuda_runtime") == 0 || strcmp(category, "cuda_driver") == 0;
	bool is_memcpy = strcmp(category, "gpu_memcpy") == 0;

	if (is_call)
		return (uint8_t)(IS_CALL | (strcasestr(name, "launch") ? IS_LAUNCH : 0) |
				 (strcmp(name, "cudaGraphLaunch") == 0 || strcmp(name, "hipGraphLaunch") == 0 ? IS_GRAPH
													      : 0));
	if (is_memcpy || strcmp(category, "kernel") == 0 || strcmp(category, "gpu_memset") == 0)
		return (uint8_t)(IS_DEVICE | (is_memcpy ? IS_MEMCPY : 0));
	return strcmp(category, "cpu_op") == 0 ? IS_OP : 0;
}

static bool look_at_sites(tl *t)
{
	const rows *r = &t->w->rows;

	t->sites = malloc(r->n_sites + 1);
	for (size_t i = 0; t->sites && i < r->n_sites; i++)
		t->sites[i] = flags_of(index_text(r->ix, r->sites[i].name), index_text(r->ix, r->sites[i].category));
	return t->sites != NULL;
}

static bool add_row(tl_rows *to, const rows *r, uint32_t number, int64_t base_ns)
{
	const row *at = ROW_AT(r, number);
	tl_row *one = VEC_ADD(to);

	if (!one)
		return false;
	double ts = file_us((int64_t)((uint64_t)at->start_ns + (uint64_t)index_start_ns(r->ix) - (uint64_t)base_ns));
	*one = (tl_row){ .ts = ts,
			 .end = ts + file_us(at->dur_ns),
			 .key = INT64_MIN,
			 .row = number,
			 .order = at->args,
			 .track = at->track,
			 .rank = row_rank(r, at) };
	return true;
}

static bool load_rows(tl *t)
{
	const rows *r = &t->w->rows;
	bool ok = true;

	for (uint32_t track = 0; ok && track < r->n_tracks; track++) {
		uint32_t i = r->first_of_track[track], end = r->first_of_track[track + 1];
		int64_t base_ns = i < end ? file_base_ns(r->ix, track_rank(r, track)) : 0;
		for (; ok && i < end; i++) {
			uint8_t flags = t->sites[rows_at(r, i).site];
			if (flags && !(rows_at(r, i).flags & ROW_ASYNC))
				ok = add_row(flags & IS_HOST ? &t->host : &t->device, r, i, base_ns);
		}
	}
	return ok && sort_host(t->host.items, t->host.n);
}

/* What links rows: correlation, unless the file's first launch has none. */
static bool read_keys(tl *t)
{
	const rows *r = &t->w->rows;
	const tl_row *first = NULL;

	t->keys[0].key = "correlation";
	t->keys[1].key = "External id";
	if (!index_n_rows(r->ix, SECTION_ARGS))
		return true;
	if (!args_columns_read(r->ix, t->keys, 2))
		return false;
	t->has_args = true;
	for (size_t i = 0; i < t->host.n; i++)
		if ((t->sites[rows_at(r, t->host.items[i].row).site] & IS_LAUNCH) &&
		    (!first || t->host.items[i].order < first->order))
			first = &t->host.items[i];
	t->key = !first || args_column_int(r->ix, &t->keys[0], first->order, INT64_MIN) == INT64_MIN;
	for (int k = 0; k < 2; k++) {
		tl_rows *of = k ? &t->device : &t->host;
		for (size_t i = 0; i < of->n; i++)
			if (of->items[i].order)
				of->items[i].key =
					args_column_int(r->ix, &t->keys[t->key], of->items[i].order, INT64_MIN);
	}
	return true;
}

/* ---- The tree ---------------------------------------------------------------------------------------------------- */

/* Rows that are dropped come last in the order: nothing is inside them. */
static bool build_tree(tl *t)
{
	work *w = t->w;
	VEC(const tl_row *) stack = { 0 };
	uint32_t track = UINT32_MAX;
	size_t n_dropped = 0;
	bool ok = (w->parents = malloc((w->rows.n + 1) * sizeof *w->parents)) &&
		  (w->order = malloc((t->host.n + 1) * sizeof *w->order));

	if (ok)
		memset(w->parents, 0xff, w->rows.n * sizeof *w->parents);
	for (size_t i = 0; ok && i < t->host.n; i++) {
		const tl_row *one = &t->host.items[i];
		if (one->track != track)
			stack.n = 0;
		track = one->track;
		while (stack.n && one->ts >= stack.items[stack.n - 1]->end)
			stack.n--;
		if (stack.n && one->end > stack.items[stack.n - 1]->end) {
			if (stack.items[stack.n - 1]->end - one->ts >= 1 || stack.n < 2) {
				w->order[t->host.n - ++n_dropped] = one->row;
				continue;
			}
			stack.n--;
		}
		w->order[w->n_order++] = one->row;
		if (stack.n)
			w->parents[one->row] = stack.items[stack.n - 1]->row;
		const tl_row **top = VEC_ADD(&stack);
		ok = top != NULL;
		if (top)
			*top = one;
	}
	w->n_order += n_dropped;
	VEC_DONE(&stack);
	return ok;
}

/* ---- Links ------------------------------------------------------------------------------------------------------- */

static bool load_arrows(tl *t)
{
	const rows *r = &t->w->rows;
	table_cursor *c = malloc(sizeof *c);
	int64_t point[COLUMNS_MAX];
	bool ok = c != NULL;

	if (c)
		table_first(c, r->ix, SECTION_FLOWS, 0);
	while (ok && table_next(c, point)) {
		size_t track = (size_t)point[FLOW_TRACK], site = (size_t)point[FLOW_SITE];
		if (track >= r->n_tracks || site >= r->n_sites || point[FLOW_PHASE] == 't' ||
		    r->first_of_track[track] == r->first_of_track[track + 1] ||
		    strcmp(index_text(r->ix, r->sites[site].category), "ac2g") != 0)
			continue;
		tl_arrow *arrow = VEC_ADD(&t->arrows);
		ok = arrow != NULL;
		if (arrow)
			*arrow = (tl_arrow){ .id = point[FLOW_ID],
					     .track = (uint32_t)track,
					     .rank = track_rank(r, (size_t)track),
					     .is_end = point[FLOW_PHASE] != 's' };
	}
	free(c);
	return ok && sort_arrows(t->arrows.items, t->arrows.n);
}

/* The track where the arrow that starts at the call ends, or UINT32_MAX. */
static uint32_t arrow_end(const tl *t, const tl_row *call)
{
	const tl_arrow *all = t->arrows.items;
	size_t at = FIRST_NOT(i, 0, t->arrows.n,
			      all[i].rank < call->rank || (all[i].rank == call->rank && all[i].id < call->key));
	uint32_t track = UINT32_MAX;
	bool has_start = false;

	for (; at < t->arrows.n; at++) {
		const tl_arrow *a = &all[at];
		if (a->rank != call->rank || a->id != call->key)
			break;
		has_start |= !a->is_end;
		track = a->is_end ? a->track : track;
	}
	return has_start ? track : UINT32_MAX;
}

/* Device rows of the call's rank and key: [*ret_first, return). */
static size_t same_key(const tl *t, const tl_row *call, size_t *ret_first)
{
	const tl_row *all = t->device.items;
	size_t at = FIRST_NOT(i, 0, t->device.n,
			      all[i].rank < call->rank || (all[i].rank == call->rank && all[i].key < call->key));

	*ret_first = at;
	while (at < t->device.n && all[at].rank == call->rank && all[at].key == call->key)
		at++;
	return at;
}

/* The same process and thread, of whatever kind. */
static bool same_place(const rows *r, uint32_t a, uint32_t b)
{
	const index_track *x = &r->tracks[a], *y = &r->tracks[b];

	return a == b || (x->process == y->process && x->id == y->id && x->id_text == y->id_text);
}

/* The last of the device rows of a key where the arrow of its calls ends, or NULL. */
static const tl_row *at_arrow(const tl *t, const tl_row *call, size_t first, size_t end)
{
	uint32_t track = first < end ? arrow_end(t, call) : UINT32_MAX;

	for (size_t i = end; track != UINT32_MAX && i > first; i--)
		if (same_place(&t->w->rows, t->device.items[i - 1].track, track))
			return &t->device.items[i - 1];
	return NULL;
}

/* Calls [0, n) of one rank and key, in the order of the file: the last one that can own a device row does. launches: by
   device row. */
static void link_key(const tl *t, const tl_row *calls, size_t n, uint32_t *launches)
{
	const rows *r = &t->w->rows;
	const tl_row *graph = NULL, *other = NULL;
	size_t first, end = same_key(t, calls, &first);

	for (size_t i = 0; i < n; i++) {
		uint8_t flags = t->sites[rows_at(r, calls[i].row).site];
		if (flags & IS_CALL)
			*(flags & IS_GRAPH ? &graph : &other) = &calls[i];
	}
	for (size_t i = first; graph && i < end; i++)
		launches[t->device.items[i].row] = graph->row;
	const tl_row *owned = other ? at_arrow(t, other, first, end) : NULL;
	if (owned && (!graph || other > graph))
		launches[owned->row] = other->row;
}

static uint32_t *link_rows(tl *t)
{
	const rows *r = &t->w->rows;
	uint32_t *launches = malloc((r->n + 1) * sizeof *launches);
	const tl_row *calls = t->host.items;
	bool ok = launches && load_arrows(t) && sort_by_key(t->device.items, t->device.n) &&
		  sort_by_key(t->host.items, t->host.n);

	if (!ok) {
		free(launches);
		return NULL;
	}
	memset(launches, 0xff, r->n * sizeof *launches);
	for (size_t i = 0, n; i < t->host.n; i += n) {
		for (n = 1;
		     i + n < t->host.n && calls[i + n].rank == calls[i].rank && calls[i + n].key == calls[i].key;)
			n++;
		if (calls[i].key != INT64_MIN)
			link_key(t, calls + i, n, launches);
	}
	return launches;
}

/* ---- Work -------------------------------------------------------------------------------------------------------- */

/* As fine as leaves room: an hour at 2^-28 us. */
static void choose_ticks(tl *t)
{
	double last = 0;

	t->first_ts = INFINITY;
	for (size_t i = 0; i < t->device.n; i++)
		t->first_ts = fmin(t->first_ts, t->device.items[i].ts);
	for (size_t i = 0; i < t->device.n; i++)
		last = fmax(last, t->device.items[i].end - t->first_ts);
	for (t->bits = 30; t->bits > 0 && ldexp(last, t->bits) > 0x1p60;)
		t->bits--;
	t->w->ticks_per_us = INT64_C(1) << t->bits;
	t->w->ns_per_tick = ldexp(1000, -t->bits);
}

static int64_t to_ticks(const tl *t, double ts)
{
	return llrint(ldexp(ts - t->first_ts, t->bits));
}

/* Device rows lie by rank. */
static bool fill_rank(const tl *t, const tl_row *device, size_t n, const uint32_t *launches, work_rank *to)
{
	const rows *r = &t->w->rows;

	to->items = malloc((n + 1) * sizeof *to->items);
	to->calls = malloc((n + 1) * sizeof *to->calls);
	to->launches = malloc(sizeof *to->launches);
	to->enqueued = to->launches;
	if (!to->items || !to->calls || !to->launches)
		return false;
	for (; to->n < n; to->n++) {
		const tl_row *from = &device[to->n];
		const row *at = ROW_AT(r, from->row);
		uint8_t flags = t->sites[at->site];
		int64_t start = to_ticks(t, from->ts);
		to->items[to->n] =
			(work_item){ .start = start,
				     .dur = to_ticks(t, from->end) - start,
				     .row = from->row,
				     .site = at->site,
				     .launch = WORK_NONE,
				     .stream = row_stream(r, at),
				     .kind = (uint8_t)kernel_kind_tracelens(row_name(r, at), flags & IS_MEMCPY),
				     .is_work = true };
		if (launches[from->row] == ROW_NONE)
			continue;
		to->items[to->n].launch = (uint32_t)to->n_calls;
		to->calls[to->n_calls++] = (work_call){ .row = launches[from->row] };
	}
	return sort_items(to->items, to->n);
}

bool work_load_tracelens(work *w)
{
	tl t = { .w = w };
	uint32_t *launches = NULL;
	bool ok = (w->ranks = calloc(w->rows.n_ranks + 1, sizeof *w->ranks)) && look_at_sites(&t) && load_rows(&t) &&
		  read_keys(&t) && build_tree(&t) && (launches = link_rows(&t));

	choose_ticks(&t);
	for (size_t i = 0, first = 0; ok && i < w->rows.n_ranks; i++) {
		work_rank *to = &w->ranks[w->n_ranks++];
		size_t end = first;
		to->rank = w->rows.ranks[i].rank;
		to->cut_ns = INT64_MAX;
		while (end < t.device.n && t.device.items[end].rank == to->rank)
			end++;
		ok = fill_rank(&t, end > first ? &t.device.items[first] : NULL, end - first, launches, to);
		first = end;
	}
	if (t.has_args)
		args_columns_done(t.keys, 2);
	VEC_DONE(&t.host);
	VEC_DONE(&t.device);
	VEC_DONE(&t.arrows);
	free(t.sites);
	free(launches);
	return ok;
}
