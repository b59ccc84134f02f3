/*
 * The graph of a critical path by our rules; see critical_path.h.
 *
 *   window   all steps of a rank: host rows that begin in them and what they launched. Without steps: everything
 *   nodes    the start of the window, and start and end of every row
 *   host     along each thread from node to node; the time between belongs to the innermost row that is open. Where
 * none is open it counts on the thread of the steps, or of most rows, and not on others waiting  a call that waited for
 * the device: what is left of it after the end of what it waited for, from there handing  autograd's thread works while
 * the thread of the steps waits in a gap: the way goes over to it and back device   analyses/critical_path/device.c
 *
 * No edge is longer than the time between its nodes, so no way is longer than its window.
 */
#include "analyze/analyses/critical_path/build.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/names/profiler_frame.h"
#include "base/search.h"

static uint8_t traits_of(const char *name, const char *category, uint8_t class)
{
	bool is_call = class == CLASS_RUNTIME || class == CLASS_SYNC;
	bool is_recording = is_profiler_frame(category) || class == CLASS_OVERHEAD; /* not the program's */

	return (uint8_t)((is_call && strstr(name, "Synchronize") ? BUILD_WAITS : 0) |
			 (strncmp(name, "autograd::engine", 16) == 0 ? BUILD_BACKWARD : 0) |
			 (class == CLASS_DATA_LOAD || strstr(name, "DataLoader") ? BUILD_LOADS : 0) |
			 (class == CLASS_COMMUNICATION ? BUILD_COMMUNICATES : 0) |
			 (class == CLASS_STEP ? BUILD_STEP : 0) | (is_recording ? BUILD_LEFT_OUT : 0));
}

static bool look_at_sites(critical_build *b)
{
	const rows *r = &b->w->rows;

	b->traits = malloc(r->n_sites + 1);
	for (size_t i = 0; b->traits && i < r->n_sites; i++)
		b->traits[i] = traits_of(index_text(r->ix, r->sites[i].name), index_text(r->ix, r->sites[i].category),
					 r->sites[i].class);
	return b->traits != NULL;
}

void build_edge(critical_build *b, uint32_t from, uint32_t to, int64_t weight, edge_kind kind, uint32_t name)
{
	graph_edge(b->g, (edge){ from, to, weight > 0 ? weight : 0, name, (uint8_t)kind });
}

/* ---- The window ---------------------------------------------------------------------------------------------------
 */

static bool is_thread(const critical_build *b, uint32_t t)
{
	const rows *r = &b->w->rows;
	uint32_t first = r->first_of_track[t];

	return first < r->first_of_track[t + 1] && r->tracks[t].kind == TRACK_THREAD &&
	       track_rank(r, t) == b->rank->rank;
}

static bool is_part(const critical_build *b, uint32_t i)
{
	return !(build_row(b, i)->flags & ROW_ASYNC) && !(build_traits(b, i) & BUILD_LEFT_OUT);
}

static void widen(critical_build *b, const row *at)
{
	b->start_ns = at->start_ns < b->start_ns ? at->start_ns : b->start_ns;
	b->end_ns = row_end_ns(at) > b->end_ns ? row_end_ns(at) : b->end_ns;
}

/* Everything. The main thread is the one that has most rows, and not autograd's if there is another. */
static void take_all(critical_build *b)
{
	const rows *r = &b->w->rows;
	uint32_t most[2] = { 0, 0 }, found[2] = { NODE_NONE, NODE_NONE };

	for (uint32_t t = 0; t < r->n_tracks; t++) {
		bool backward = false;
		uint32_t n = 0;
		for (uint32_t i = r->first_of_track[t]; is_thread(b, t) && i < r->first_of_track[t + 1]; i++)
			if (is_part(b, i)) {
				widen(b, ROW_AT(r, i));
				backward |= build_traits(b, i) & BUILD_BACKWARD;
				n++;
			}
		if (n > most[backward]) {
			most[backward] = n;
			found[backward] = t;
		}
	}
	for (size_t i = 0; i < b->rank->n_device; i++)
		widen(b, build_row(b, b->rank->device[i]));
	b->main_track = most[0] ? found[0] : found[1];
	b->n_steps = 1;
}

/* From the first step to the end of the last, on the thread of the first. */
static void find_window(critical_build *b)
{
	b->start_ns = INT64_MAX;
	b->end_ns = INT64_MIN;
	b->n_steps = 0;
	b->main_track = b->rank->n_steps ? b->rank->steps[0].track : NODE_NONE;
	for (size_t i = 0; i < b->rank->n_steps; i++)
		if (b->rank->steps[i].track == b->main_track) {
			widen(b, build_row(b, b->rank->steps[i].row));
			b->n_steps++;
		}
	if (!b->n_steps)
		take_all(b);
}

static void add_node(critical_build *b, uint32_t i)
{
	b->node_of[i] = (uint32_t)b->nodes.n;
	for (int k = 0; k < 2; k++) {
		uint32_t *node = VEC_ADD(&b->nodes);
		b->g->failed |= !node;
		if (node)
			*node = i;
	}
}

static bool is_in_window(const critical_build *b, const row *at)
{
	return at->start_ns >= b->start_ns && at->start_ns <= b->end_ns;
}

/* Host rows by thread, in pre-order; then device rows by start. */
static bool add_nodes(critical_build *b)
{
	const rows *r = &b->w->rows;
	uint32_t *root = VEC_ADD(&b->nodes);

	if (!root)
		return false;
	*root = ROW_NONE;
	for (uint32_t t = 0; t < r->n_tracks; t++)
		for (uint32_t i = r->first_of_track[t]; is_thread(b, t) && i < r->first_of_track[t + 1]; i++)
			if (is_in_window(b, ROW_AT(r, i)) && is_part(b, i))
				add_node(b, i);
	for (size_t i = 0; i < b->rank->n_device; i++) {
		const row *at = build_row(b, b->rank->device[i]);
		if (at->launch == ROW_NONE ? is_in_window(b, at) : build_has(b, at->launch))
			add_node(b, b->rank->device[i]);
	}
	return !b->g->failed;
}

/* ---- Host ---------------------------------------------------------------------------------------------------------
 */

/* A piece of the main thread's way during which nothing is seen to happen there. */
typedef struct gap {
	int64_t start, end;
	uint32_t edge;
} gap;

/* An outermost row of autograd's thread, and the edge that leads to it from the one before. */
typedef struct turn {
	uint32_t row, edge;
} turn;

typedef struct walker {
	VEC(uint32_t) open;
	uint32_t last;			/* node, or NODE_NONE: the thread begins */
	int64_t now;			/* its time, or later: time does not go back */
	size_t n_loads, n_communicates; /* of open */
	bool is_main, is_backward;
	VEC(gap) gaps;
	VEC(turn) turns;
} walker;

static edge_kind kind_of(const walker *k)
{
	return k->n_loads ? EDGE_DATA_LOAD : k->n_communicates ? EDGE_COMMUNICATION : EDGE_OPERATOR;
}

/* Whether time counts: on the main thread all does, on others what is work by its kind. Frames of Python and
   annotations may be open there while the thread does nothing. */
static bool is_busy(const critical_build *b, const walker *k, uint32_t inner)
{
	uint8_t class = inner == NODE_NONE ? CLASS_OTHER : build_row(b, inner)->class;

	return k->is_main || class == CLASS_COMPUTE || class == CLASS_MEMORY || class == CLASS_DATA_LOAD ||
	       class == CLASS_SYNC || class == CLASS_COMMUNICATION || class == CLASS_RUNTIME;
}

/* On to the start or end of a row; most: not more of the time than this counts. */
static void step_to(critical_build *b, walker *k, uint32_t node, int64_t ns, int64_t most)
{
	uint32_t inner = k->open.n ? k->open.items[k->open.n - 1] : NODE_NONE;
	int64_t weight = ns > k->now ? ns - k->now : 0;
	bool counts = is_busy(b, k, inner);

	if (inner != NODE_NONE && (build_traits(b, inner) & BUILD_STEP))
		inner = NODE_NONE;
	if (k->last != NODE_NONE) {
		edge_kind kind = counts ? kind_of(k) : EDGE_ORDER;
		build_edge(b, k->last, node, !counts ? 0 : weight < most ? weight : most, kind, build_name(b, inner));
		gap *g = k->is_main && weight && weight <= most ? VEC_ADD(&k->gaps) : NULL;
		if (g)
			*g = (gap){ k->now, ns, (uint32_t)b->g->edges.n - 1 };
	}
	k->last = node;
	k->now = ns > k->now ? ns : k->now;
}

static void count_open(const critical_build *b, walker *k, uint32_t i, size_t by)
{
	k->n_loads += build_traits(b, i) & BUILD_LOADS ? by : 0;
	k->n_communicates += build_traits(b, i) & BUILD_COMMUNICATES ? by : 0;
}

static int64_t end_of(const critical_build *b, uint32_t i)
{
	int64_t end = row_end_ns(build_row(b, i));

	return end < b->end_ns ? end : b->end_ns;
}

static void close_row(critical_build *b, walker *k)
{
	uint32_t i = k->open.items[k->open.n - 1], waited = b->waited[i];
	int64_t end = end_of(b, i), most = INT64_MAX;

	if (waited != NODE_NONE) {
		bool is_in = build_has(b, waited);
		most = end - row_end_ns(build_row(b, waited));
		most = most > 0 ? most : 0;
		build_edge(b, is_in ? b->node_of[waited] + 1 : 0, b->node_of[i] + 1, is_in ? most : end - b->start_ns,
			   EDGE_SYNC, build_name(b, is_in ? i : NODE_NONE));
	}
	step_to(b, k, b->node_of[i] + 1, end, most);
	count_open(b, k, i, (size_t)-1);
	k->open.n--;
}

static void open_row(critical_build *b, walker *k, uint32_t i)
{
	const row *at = build_row(b, i);

	while (k->open.n && i >= build_row(b, k->open.items[k->open.n - 1])->end)
		close_row(b, k);
	if (!k->open.n && at->start_ns < k->now) { /* rows that overlap others: a thread of their own */
		k->last = NODE_NONE;
		k->is_main = k->is_backward = false;
		k->now = at->start_ns;
	}
	if (k->last == NODE_NONE)
		k->now = at->start_ns;
	step_to(b, k, b->node_of[i], at->start_ns, INT64_MAX);
	turn *t = k->is_backward && !k->open.n ? VEC_ADD(&k->turns) : NULL;
	if (t)
		*t = (turn){ i, (uint32_t)b->g->edges.n - 1 };
	uint32_t *open = VEC_ADD(&k->open);
	b->g->failed |= !open;
	if (open)
		*open = i;
	count_open(b, k, i, 1);
}

/* The rows of a track that are in the window. */
static void walk_thread(critical_build *b, walker *k, uint32_t track)
{
	const rows *r = &b->w->rows;

	k->open.n = k->turns.n = k->n_loads = k->n_communicates = 0;
	k->last = k->is_main ? 0 : NODE_NONE;
	k->now = b->start_ns;
	for (uint32_t i = r->first_of_track[track]; i < r->first_of_track[track + 1] && !b->g->failed; i++)
		if (build_has(b, i))
			open_row(b, k, i);
	while (k->open.n && !b->g->failed)
		close_row(b, k);
}

/* ---- Handing over -------------------------------------------------------------------------------------------------
 */

/* Turns [first, end) lie in the gap: the way goes over to them and back, and what is between them counts. */
static void hand_over(critical_build *b, const gap *g, const turn *turns, size_t first, size_t end)
{
	edge over = b->g->edges.items[g->edge];
	const row *begin = build_row(b, turns[first].row), *last = build_row(b, turns[end - 1].row);

	b->g->edges.items[g->edge].weight = 0;
	b->g->edges.items[g->edge].kind = EDGE_ORDER;
	build_edge(b, over.from, b->node_of[turns[first].row], begin->start_ns - g->start, over.kind, over.name);
	build_edge(b, b->node_of[turns[end - 1].row] + 1, over.to, g->end - row_end_ns(last), over.kind, over.name);
	for (size_t i = first + 1; i < end; i++) {
		edge *between = &b->g->edges.items[turns[i].edge];
		between->weight = build_row(b, turns[i].row)->start_ns - row_end_ns(build_row(b, turns[i - 1].row));
		between->kind = EDGE_OPERATOR;
	}
}

/* The first gap from i on that ends at ns or later. */
static size_t next_gap(const walker *main_thread, size_t i, int64_t ns)
{
	return FIRST_NOT(k, i, main_thread->gaps.n, main_thread->gaps.items[k].end < ns);
}

/* Goes from turn to turn: there may be as many threads as there are gaps. */
static void join_backward(critical_build *b, const walker *main_thread, const walker *k)
{
	for (size_t i = 0, at = 0; at < k->turns.n; i++) {
		i = next_gap(main_thread, i, build_row(b, k->turns.items[at].row)->start_ns);
		if (i == main_thread->gaps.n)
			return;
		const gap *g = &main_thread->gaps.items[i];
		while (at < k->turns.n && build_row(b, k->turns.items[at].row)->start_ns < g->start)
			at++;
		size_t first = at;
		while (at < k->turns.n && row_end_ns(build_row(b, k->turns.items[at].row)) <= g->end)
			at++;
		if (at > first && b->g->edges.items[g->edge].kind != EDGE_ORDER)
			hand_over(b, g, k->turns.items, first, at);
	}
}

/* ---- All of it ----------------------------------------------------------------------------------------------------
 */

static bool is_backward(const critical_build *b, uint32_t track)
{
	const rows *r = &b->w->rows;

	for (uint32_t i = r->first_of_track[track]; i < r->first_of_track[track + 1]; i++)
		if (build_has(b, i) && (build_traits(b, i) & BUILD_BACKWARD))
			return true;
	return false;
}

static void walker_done(walker *k)
{
	VEC_DONE(&k->open);
	VEC_DONE(&k->gaps);
	VEC_DONE(&k->turns);
}

/* The main thread first, so that others can join it. */
static void add_threads(critical_build *b)
{
	walker main_thread = { .is_main = true }, other = { 0 };

	if (b->main_track != NODE_NONE)
		walk_thread(b, &main_thread, b->main_track);
	for (uint32_t t = 0; t < b->w->rows.n_tracks; t++) {
		if (t == b->main_track || !is_thread(b, t))
			continue;
		other.is_backward = is_backward(b, t);
		walk_thread(b, &other, t);
		join_backward(b, &main_thread, &other);
	}
	walker_done(&main_thread);
	walker_done(&other);
}

static int64_t last_end(const critical_build *b)
{
	int64_t end = b->end_ns;

	for (size_t i = 0; i < b->rank->n_device; i++) {
		int64_t ns = row_end_ns(build_row(b, b->rank->device[i]));
		if (build_has(b, b->rank->device[i]) && ns > end)
			end = ns;
	}
	return end;
}

static bool visit_rank(critical_build *b, const rows_rank *rank, critical_visit *visit, void *context)
{
	b->rank = rank;
	b->nodes.n = 0;
	graph_clear(b->g);
	find_window(b);
	bool ok = add_nodes(b) && build_device_load(b);
	if (ok) {
		add_threads(b);
		build_device_edges(b);
		critical_window window = { .rank = b->rank->rank,
					   .n_steps = b->n_steps,
					   .start = b->start_ns,
					   .end = last_end(b),
					   .n_nodes = b->nodes.n,
					   .node_rows = b->nodes.items };
		ok = !b->g->failed && visit(context, &window, b->g);
	}
	free(b->by_end);
	b->by_end = NULL;
	return ok;
}

bool critical_each(const work *w, critical_visit *visit, void *context)
{
	critical_graph g = { 0 };
	critical_build b = { .w = w, .g = &g };
	size_t n = (w->rows.n + 1) * sizeof(uint32_t);

	b.node_of = malloc(n);
	b.waited = malloc(n);
	b.before = malloc(n);
	bool ok = b.node_of && b.waited && b.before && look_at_sites(&b);
	if (ok) {
		memset(b.node_of, 0xff, n);
		memset(b.waited, 0xff, n);
		memset(b.before, 0xff, n);
	}
	for (size_t i = 0; ok && i < w->rows.n_ranks; i++)
		if (w->rows.ranks[i].n_device)
			ok = visit_rank(&b, &w->rows.ranks[i], visit, context);
	graph_done(&g);
	VEC_DONE(&b.nodes);
	free(b.node_of);
	free(b.waited);
	free(b.before);
	free(b.traits);
	return ok;
}
