/*
 * Calls as HTA 0.6.1 finds them, out of the rows that compat/hta/rows.c loads as it does. See calls.h.
 *
 *   inside      of the rows of a thread that name no stream: what began last and has not ended, by time alone
 *   threads     a track all of whose rows name a stream above 0, or that is number 0, or whose process is, is a device
 *   backward    with one thread that has steps and one that has autograd's names: what is outermost on the second
 *               belongs to the "## backward ##" row, or else to the step, that holds it
 *   kernels     rows with a stream above 0 belong to their partner
 */
#include "analyze/tables/calls.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/compat/hta/points.h"
#include "base/search.h"

/* A row while the tree is made; numbers are those of the rank's rows. */
typedef struct tree_row {
	uint32_t parent, first_child, last_child, next;
	bool is_in;
} tree_row;

typedef struct builder {
	const hta *h;
	const hta_rank *rank;
	tree_row *tree; /* by row, and one more: the parent of what is outermost */
	calls_rank *to;
	uint32_t *call_of; /* by row */
} builder;

static uint32_t track_of(const builder *b, size_t i)
{
	return rows_at(&b->h->w->rows, b->rank->rows[i].row).track;
}
static const char *name_of(const builder *b, size_t i)
{
	const rows *r = &b->h->w->rows;

	return row_name(r, ROW_AT(r, b->rank->rows[i].row));
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

enum { SEEN = 1, HAS_HOST = 2, HAS_STEPS = 4, HAS_BACKWARD = 8 };

static bool is_number_zero(const rows *r, const index_track *track)
{
	size_t n;
	const index_process *processes = index_processes(r->ix, &n);

	return (track->id_text == INDEX_NONE && track->id == 0) ||
	       (track->process < n && processes[track->process].pid_text == INDEX_NONE &&
		!processes[track->process].pid);
}

static uint8_t *look_at_tracks(const builder *b)
{
	const rows *r = &b->h->w->rows;
	uint8_t *flags = calloc(r->n_tracks + 1, 1);

	for (size_t i = 0; flags && i < b->rank->n; i++) {
		uint32_t track = track_of(b, i);
		if (!b->rank->rows[i].stays)
			continue;
		flags[track] |= SEEN | (b->rank->rows[i].stream <= 0 ? HAS_HOST : 0) |
				(strncmp(name_of(b, i), "ProfilerStep#", 13) == 0 ? HAS_STEPS : 0) |
				(strstr(name_of(b, i), "autograd::") ? HAS_BACKWARD : 0);
	}
	for (size_t i = 0; flags && i < r->n_tracks; i++)
		if (!(flags[i] & HAS_HOST) || is_number_zero(r, &r->tracks[i]))
			flags[i] = 0;
	return flags;
}

/* ---- The tree ---------------------------------------------------------------------------------------------------- */

static void add_child(builder *b, uint32_t parent, uint32_t child)
{
	tree_row *to = &b->tree[parent];

	b->tree[child].parent = parent;
	b->tree[child].next = CALL_NONE;
	b->tree[child].is_in = true;
	if (to->last_child == CALL_NONE)
		to->first_child = child;
	else
		b->tree[to->last_child].next = child;
	to->last_child = child;
}

static bool find_points(const builder *b, const uint8_t *tracks, hta_points *to)
{
	for (uint32_t i = 0; i < b->rank->n; i++) {
		const hta_row *one = &b->rank->rows[i];
		if (one->stays && one->stream == -1 && tracks[track_of(b, i)] && !hta_points_add(to, b->h, b->rank, i))
			return false;
	}
	return hta_points_sort(to);
}

static bool make_tree(builder *b, const uint8_t *tracks)
{
	hta_points found = { 0 };
	bool ok = find_points(b, tracks, &found);
	uint32_t *stack = malloc((b->rank->n + 1) * sizeof *stack);
	size_t depth = 0;

	for (size_t i = 0; ok && stack && i < found.n; i++) {
		const hta_point *p = &found.items[i];
		if (i && p->track != p[-1].track)
			depth = 0;
		if (p->is_end)
			depth -= depth > 0;
		else if (!b->tree[p->row].is_in) {
			add_child(b, depth ? stack[depth - 1] : (uint32_t)b->rank->n, p->row);
			stack[depth++] = p->row;
		}
	}
	VEC_DONE(&found);
	free(stack);
	return ok && stack;
}

/* ---- Backward passes --------------------------------------------------------------------------------------------- */

/* The only track with the flag, or CALL_NONE; a thread that has steps counts for nothing else. */
static uint32_t only_track(const uint8_t *flags, size_t n, uint8_t flag)
{
	uint32_t found = CALL_NONE;

	for (uint32_t i = 0; i < n; i++)
		if ((flags[i] & flag) && (flag == HAS_STEPS || !(flags[i] & HAS_STEPS))) {
			if (found != CALL_NONE)
				return CALL_NONE;
			found = i;
		}
	return found;
}

typedef struct pass {
	double ts;
	uint32_t at;
} pass;
typedef VEC(pass) pass_list;

#define SORT_NAME sort_passes
#define SORT_TYPE pass
#define SORT_BEFORE(a, b) ((a)->ts < (b)->ts)
#include "base/sort_template.h"

/* Rows of the main thread that backward passes belong to. */
static bool find_passes(const builder *b, uint32_t main_track, const char *prefix, pass_list *to)
{
	for (uint32_t i = 0; i < b->rank->n; i++) {
		if (!b->tree[i].is_in || track_of(b, i) != main_track ||
		    strncmp(name_of(b, i), prefix, strlen(prefix)) != 0)
			continue;
		pass *found = VEC_ADD(to);
		if (!found)
			return false;
		*found = (pass){ b->rank->rows[i].ts, i };
	}
	return sort_passes(to->items, to->n);
}

/* The pass that holds the row, or what is around everything. */
static uint32_t pass_of(const builder *b, const pass_list *passes, const hta_row *one)
{
	size_t n = FIRST_NOT(i, 0, passes->n, passes->items[i].ts <= one->ts);
	const hta_row *outer = n ? &b->rank->rows[passes->items[n - 1].at] : NULL;
	bool is_inside = outer && one->ts + one->dur <= outer->ts + outer->dur;

	return is_inside ? passes->items[n - 1].at : (uint32_t)b->rank->n;
}

/* What is outermost on the backward thread goes into the pass that holds it. */
static bool move_backward(builder *b, const uint8_t *tracks)
{
	size_t n_tracks = b->h->w->rows.n_tracks;
	uint32_t main_track = only_track(tracks, n_tracks, HAS_STEPS);
	uint32_t backward = only_track(tracks, n_tracks, HAS_BACKWARD);
	tree_row *root = &b->tree[b->rank->n];
	pass_list passes = { 0 };

	if (main_track == CALL_NONE || backward == CALL_NONE)
		return true;
	bool ok = find_passes(b, main_track, "## backward ##", &passes) &&
		  (passes.n || find_passes(b, main_track, "ProfilerStep#", &passes));
	uint32_t child = root->first_child;
	root->first_child = root->last_child = CALL_NONE;
	for (uint32_t next; child != CALL_NONE; child = next) {
		next = b->tree[child].next;
		bool moves = ok && track_of(b, child) == backward;
		add_child(b, moves ? pass_of(b, &passes, &b->rank->rows[child]) : (uint32_t)b->rank->n, child);
	}
	VEC_DONE(&passes);
	return ok;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static void open_call(builder *b, uint32_t i)
{
	const hta_row *one = &b->rank->rows[i];
	uint32_t parent = b->tree[i].parent;

	parent = parent == b->rank->n ? CALL_NONE : b->call_of[parent];
	b->call_of[i] = (uint32_t)b->to->n;
	b->to->items[b->to->n++] = (call){ .start = to_ticks(b->h, one->ts),
					   .dur = to_ticks(b->h, one->dur),
					   .row = one->row,
					   .site = rows_at(&b->h->w->rows, one->row).site,
					   .parent = parent,
					   .depth = parent == CALL_NONE ? 0 : b->to->items[parent].depth + 1 };
}

/* In pre-order, without recursion: down to the first child, else on to the next, else up. */
static void make_calls(builder *b)
{
	uint32_t root = (uint32_t)b->rank->n, at = b->tree[root].first_child;

	while (at != CALL_NONE) {
		open_call(b, at);
		if (b->tree[at].first_child != CALL_NONE) {
			at = b->tree[at].first_child;
			continue;
		}
		for (;;) {
			b->to->items[b->call_of[at]].end = (uint32_t)b->to->n;
			if (b->tree[at].next != CALL_NONE || b->tree[at].parent == root)
				break;
			at = b->tree[at].parent;
		}
		at = b->tree[at].next;
	}
}

static bool belongs(const builder *b, const hta_row *one)
{
	return one->stays && one->stream > 0 && one->partner != WORK_NONE && b->tree[one->partner].is_in;
}

#define SORT_NAME sort_kernels
#define SORT_TYPE call_kernel
#define SORT_BEFORE(a, b) ((a)->start < (b)->start)
#include "base/sort_template.h"

static call_kernel kernel_of(const hta *h, const hta_row *one)
{
	return (call_kernel){ to_ticks(h, one->ts), to_ticks(h, one->dur), one->row,
			      rows_at(&h->w->rows, one->row).site };
}

static bool place_kernels(builder *b)
{
	calls_rank *to = b->to;
	uint32_t *n_launched = calloc(to->n + 1, sizeof *n_launched);

	for (size_t i = 0; n_launched && i < b->rank->n; i++)
		if (belongs(b, &b->rank->rows[i]))
			n_launched[b->call_of[b->rank->rows[i].partner]]++;
	bool ok = n_launched && calls_place(to, n_launched);
	for (size_t i = 0; ok && i < b->rank->n; i++) {
		const hta_row *one = &b->rank->rows[i];
		if (!belongs(b, one))
			continue;
		uint32_t at = b->call_of[one->partner];
		to->kernels[to->items[at + 1].first - n_launched[at]--] = kernel_of(b->h, one);
	}
	for (uint32_t i = 0; ok && i < to->n; i++)
		ok = sort_kernels(to->kernels + to->items[i].first, to->items[i + 1].first - to->items[i].first);
	free(n_launched);
	return ok;
}

static bool load_rank(const hta *h, hta_rank *rank, bool cuts, calls_rank *to)
{
	builder b = { .h = h, .rank = rank, .to = to };
	hta_kepts kept = { 0 };
	bool ok = hta_find_partners(rank) && hta_keep(h, rank, cuts, &kept);
	uint8_t *tracks = ok ? look_at_tracks(&b) : NULL;

	VEC_DONE(&kept);
	b.tree = malloc((rank->n + 1) * sizeof *b.tree);
	b.call_of = malloc((rank->n + 1) * sizeof *b.call_of);
	to->items = malloc((rank->n + 1) * sizeof *to->items);
	to->others = malloc((rank->n + 1) * sizeof *to->others);
	ok = ok && tracks && b.tree && b.call_of && to->items && to->others;
	for (size_t i = 0; ok && i <= rank->n; i++)
		b.tree[i] = (tree_row){ CALL_NONE, CALL_NONE, CALL_NONE, CALL_NONE, false };
	ok = ok && make_tree(&b, tracks) && move_backward(&b, tracks);
	if (ok)
		make_calls(&b);
	ok = ok && place_kernels(&b);
	for (size_t i = 0; ok && i < rank->n; i++) {
		const hta_row *one = &rank->rows[i];
		if (one->stays && one->stream == -1 && !b.tree[i].is_in)
			to->others[to->n_others++] = kernel_of(h, one);
	}
	free(tracks);
	free(b.tree);
	free(b.call_of);
	return ok;
}

bool calls_load_hta(calls *c, const sonde_analyze_options *options)
{
	work scratch;
	hta h;
	bool ok = hta_load_again(&h, c->w, &scratch, options);
	bool cuts = ok && hta_has_two_steps(&h);

	for (size_t i = 0; ok && i < scratch.n_ranks; i++) {
		c->ranks[i].rank = scratch.ranks[i].rank;
		c->n_ranks++;
		ok = load_rank(&h, &h.ranks[i], cuts, &c->ranks[i]);
	}
	hta_done(&h);
	free(scratch.ranks);
	return ok;
}
