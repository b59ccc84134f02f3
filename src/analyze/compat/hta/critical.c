/*
 * The graph of a critical path as HTA 0.6.1 makes it; see critical_path.h.
 *
 *   window      from the start to the end of one row whose name contains critical_path.annotation: host rows that begin
 *               there and last, and what they launched
 *   nodes       start and end of operators, runtime and driver calls, and of rows with a stream
 *   host        from node to node along each thread, the time between them; between outermost rows none, and none
 * inside calls that may wait. Three calls share a lock: they wait for each other in the order of their ends device
 * through each row; to its start from its launch when nothing was queued and all had ended, else from the end of the
 * row before on its stream sync        from the device to a call that waits, and from the row an event was recorded
 * behind to that which is launched next after waiting for it (hta_critical_sync.c)
 */
#include "analyze/compat/hta/critical.h"

#include <stdlib.h>
#include <string.h>

const setting_def critical_annotation = { "critical_path.annotation", SETTING_TEXT, "ProfilerStep",
					  "with --compat hta: the window is a row whose name contains this" };
const setting_def critical_instance = { "critical_path.instance", SETTING_NUMBER, "0",
					"with --compat hta: which of such rows, from 0 on" };

/* ---- Names --------------------------------------------------------------------------------------------------------
 */

static bool is_one_of(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(text, *list) == 0)
			return true;
	return false;
}

static uint8_t traits_of(const char *name, const char *category)
{
	static const char *const blocking[] = { "cudaDeviceSynchronize",
						"cudaStreamSynchronize",
						"cudaEventQuery",
						"cudaEventSynchronize",
						"cudaMemcpy",
						"cudaMemcpyAsync",
						NULL };
	static const char *const locking[] = { "cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync", NULL };
	static const char *const called[] = { "cpu_op", "cuda_runtime", "cuda_driver", NULL };
	static const char *const named[] = { "cpu_op", "user_annotation", NULL };

	return (uint8_t)((is_one_of(category, called) ? CP_CALL : 0) | (is_one_of(category, named) ? CP_NAMED : 0) |
			 (is_one_of(name, blocking) ? CP_BLOCKS : 0) | (is_one_of(name, locking) ? CP_LOCKS : 0) |
			 (strcmp(category, "cuda_sync") == 0 ? CP_SYNC : 0));
}

static bool look_at_sites(hta_critical *c)
{
	const rows *r = &c->h->w->rows;

	c->traits = malloc(r->n_sites + 1);
	for (size_t i = 0; c->traits && i < r->n_sites; i++)
		c->traits[i] = traits_of(index_text(r->ix, r->sites[i].name), index_text(r->ix, r->sites[i].category));
	return c->traits != NULL;
}

/* ---- Window -------------------------------------------------------------------------------------------------------
 */

/* kept: in the order of HTA's table. */
static bool find_window(hta_critical *c, const hta_kepts *kept, const sonde_analyze_options *options)
{
	const char *wanted = setting_text(options, &critical_annotation);
	double instance = setting(options, &critical_instance);

	for (size_t i = 0; i < kept->n; i++) {
		const hta_row *one = &c->rank->rows[kept->items[i].at];
		if (!strstr(cp_name(c, kept->items[i].at), wanted) || instance-- > 0)
			continue;
		c->start = one->ts;
		c->end = one->ts + one->dur;
		return true;
	}
	return false;
}

static bool in_window(const hta_critical *c, const hta_row *one)
{
	return one->stays && one->stream == -1 && one->ts >= c->start && one->ts <= c->end && one->dur > 0;
}

/* Host rows that begin in the window, rows with a stream whose call does, and all that wait for an event. */
static void clip(hta_critical *c)
{
	for (size_t i = 0; i < c->rank->n; i++) {
		const hta_row *one = &c->rank->rows[i];
		if (in_window(c, one)) {
			c->is_in[i] = true;
			if (one->partner != WORK_NONE && c->rank->rows[one->partner].stream != -1)
				c->is_in[one->partner] = true;
		} else if (one->stays && one->stream != -1 && strcmp(cp_name(c, i), "Stream Wait Event") == 0) {
			c->is_in[i] = true;
		}
	}
}

/* ---- Nodes --------------------------------------------------------------------------------------------------------
 */

#define SORT_NAME sort_nodes
#define SORT_TYPE cp_node
#define SORT_BEFORE(a, b) ((a)->time != (b)->time ? (a)->time < (b)->time : (a)->row < (b)->row)
#include "base/sort_template.h"

static bool make_nodes(hta_critical *c)
{
	for (uint32_t i = 0; i < c->rank->n; i++) {
		const hta_row *one = &c->rank->rows[i];
		c->start_of[i] = c->end_of[i] = NODE_NONE;
		if (!c->is_in[i] || !((cp_traits(c, i) & CP_CALL) || (one->stream != -1 && one->correlation >= 0)))
			continue;
		for (int is_end = 0; is_end < 2; is_end++) {
			cp_node *node = VEC_ADD(&c->nodes);
			if (!node)
				return false;
			*node = (cp_node){ to_ticks(c->h, is_end ? one->ts + one->dur : one->ts), i, is_end };
		}
	}
	if (!sort_nodes(c->nodes.items, c->nodes.n))
		return false;
	for (uint32_t i = 0; i < c->nodes.n; i++)
		(c->nodes.items[i].is_end ? c->end_of : c->start_of)[c->nodes.items[i].row] = i;
	return true;
}

void cp_edge(hta_critical *c, uint32_t from, uint32_t to, edge_kind kind, uint32_t of, bool is_empty)
{
	int64_t weight = c->nodes.items[to].time - c->nodes.items[from].time;

	if (kind == EDGE_ORDER || kind == EDGE_SYNC || is_empty)
		weight = 0;
	edge e = { from, to, weight, NODE_NONE, (uint8_t)kind };
	bool has_name = of != NODE_NONE && kind != EDGE_ORDER && kind != EDGE_SYNC && kind != EDGE_LAUNCH;
	if (has_name)
		e.name = c->h->w->rows.sites[cp_row(c, of)->site].name;
	if (kind == EDGE_OPERATOR && has_name && c->rank->rows[of].stream >= 0)
		e.kind = kernel_kind_hta(cp_name(c, of)) == KERNEL_COMMUNICATION ? EDGE_COMMUNICATION : EDGE_KERNEL;
	graph_edge(c->g, e);
}

/* ---- Host ---------------------------------------------------------------------------------------------------------
 */

static bool locks(const hta_critical *c, uint32_t node)
{
	return cp_traits(c, c->nodes.items[node].row) & CP_LOCKS;
}

static void add_locks(hta_critical *c)
{
	VEC(uint32_t) begun = { 0 };
	uint32_t last = NODE_NONE;

	for (uint32_t i = 0; i < c->nodes.n && !c->g->failed; i++) {
		const cp_node *node = &c->nodes.items[i];
		if (!locks(c, i))
			continue;
		if (!node->is_end) {
			uint32_t *added = VEC_ADD(&begun);
			c->g->failed |= !added;
			if (added)
				*added = i;
		}
		while (node->is_end && begun.n) {
			uint32_t from = begun.items[--begun.n];
			bool is_same = c->nodes.items[from].row == node->row;
			cp_edge(c, from, i, is_same ? EDGE_OPERATOR : EDGE_ORDER, node->row, false);
		}
		if (node->is_end && last != NODE_NONE && c->nodes.items[last].is_end)
			cp_edge(c, last, i, EDGE_ORDER, NODE_NONE, false);
		last = i;
	}
	VEC_DONE(&begun);
}

static bool share_lock(const hta_critical *c, uint32_t first, uint32_t second)
{
	return locks(c, first) && locks(c, second) && (!c->nodes.items[first].is_end || c->nodes.items[second].is_end);
}

/* Where one thread is. */
typedef struct walker {
	uint32_t *stack; /* rows that are open */
	size_t n, n_ops; /* of them: with nodes */
	uint32_t last;	 /* node */
	uint32_t parent; /* of the last node's row */
} walker;

static void step_to(hta_critical *c, walker *w, uint32_t node, uint32_t parent, bool is_empty)
{
	const cp_node *to = &c->nodes.items[node], *from = w->last == NODE_NONE ? NULL : &c->nodes.items[w->last];

	if (from && !share_lock(c, w->last, node)) {
		uint32_t of = !from->is_end ? from->row : to->is_end ? to->row : w->parent;
		bool is_between = !to->is_end && !w->n_ops;
		cp_edge(c, w->last, node, is_between ? EDGE_ORDER : EDGE_OPERATOR, of, is_empty);
	}
	w->last = node;
	w->parent = parent;
}

static void open_row(hta_critical *c, walker *w, uint32_t of)
{
	uint32_t parent = w->n ? w->stack[w->n - 1] : NODE_NONE;

	w->stack[w->n++] = of;
	if (c->start_of[of] == NODE_NONE)
		return;
	step_to(c, w, c->start_of[of], parent, false);
	w->n_ops++;
}

static void close_row(hta_critical *c, walker *w)
{
	uint32_t of = w->stack[--w->n], parent = w->n ? w->stack[w->n - 1] : NODE_NONE;

	if (c->end_of[of] == NODE_NONE)
		return;
	step_to(c, w, c->end_of[of], parent, cp_traits(c, of) & CP_BLOCKS);
	w->n_ops--;
}

/* The only track in the window with an operator or annotation whose name contains the text, or NODE_NONE. */
static uint32_t only_track(const hta_critical *c, const char *text)
{
	uint32_t found = NODE_NONE;

	for (size_t i = 0; i < c->rank->n; i++) {
		if (!c->is_in[i] || !(cp_traits(c, i) & CP_NAMED) || !strstr(cp_name(c, i), text))
			continue;
		if (found != NODE_NONE && found != cp_track(c, i))
			return NODE_NONE;
		found = cp_track(c, i);
	}
	return found;
}

/* The rows of the backward thread run on the forward one, as far as HTA is concerned. */
static void join_threads(const hta_critical *c, hta_points *points)
{
	uint32_t forward = only_track(c, "forward"), backward = only_track(c, "autograd");

	for (size_t i = 0; forward != NODE_NONE && i < points->n; i++)
		if (points->items[i].track == backward)
			points->items[i].track = forward;
}

/* Threads: tracks none of whose rows in the window name a stream. */
static bool add_threads(hta_critical *c)
{
	hta_points points = { 0 };
	walker w = { .stack = malloc((c->rank->n + 1) * sizeof *w.stack), .last = NODE_NONE };
	uint8_t *has_stream = calloc(c->h->w->rows.n_tracks + 1, 1);
	bool ok = w.stack && has_stream;

	for (size_t i = 0; ok && i < c->rank->n; i++)
		if (c->is_in[i] && c->rank->rows[i].stream != -1)
			has_stream[cp_track(c, i)] = 1;
	for (uint32_t i = 0; ok && i < c->rank->n; i++)
		if (c->is_in[i] && !has_stream[cp_track(c, i)])
			ok = hta_points_add(&points, c->h, c->rank, i);
	join_threads(c, &points);
	ok = ok && hta_points_sort(&points);
	for (size_t i = 0; ok && i < points.n; i++) {
		const hta_point *p = &points.items[i];
		if (i && p->track != p[-1].track) {
			while (w.n)
				close_row(c, &w);
			w.last = NODE_NONE;
		}
		if (!p->is_end)
			open_row(c, &w, p->row);
		else if (w.n)
			close_row(c, &w);
	}
	while (ok && w.n)
		close_row(c, &w);
	VEC_DONE(&points);
	free(w.stack);
	free(has_stream);
	return ok;
}

/* ---- All of it ----------------------------------------------------------------------------------------------------
 */

static void free_rank(hta_critical *c)
{
	free(c->is_in);
	free(c->start_of);
	free(c->end_of);
	free(c->queued);
	VEC_DONE(&c->nodes);
}

static bool make_graph(hta_critical *c)
{
	clip(c);
	if (!make_nodes(c))
		return false;
	add_locks(c);
	return add_threads(c) && hta_critical_device(c) && !c->g->failed;
}

static bool visit_rank(hta_critical *c, bool cuts, const sonde_analyze_options *options, critical_visit *visit,
		       void *context)
{
	hta_kepts kept = { 0 };
	size_t n = c->rank->n + 1;
	bool ok = hta_find_partners(c->rank) && hta_keep(c->h, c->rank, cuts, &kept);

	c->is_in = calloc(n, sizeof *c->is_in);
	c->start_of = malloc(n * sizeof *c->start_of);
	c->end_of = malloc(n * sizeof *c->end_of);
	c->queued = calloc(n, sizeof *c->queued);
	ok = ok && c->is_in && c->start_of && c->end_of && c->queued;
	if (ok && find_window(c, &kept, options)) {
		ok = make_graph(c);
		uint32_t *node_rows = malloc((c->nodes.n + 1) * sizeof *node_rows);
		for (size_t i = 0; node_rows && i < c->nodes.n; i++)
			node_rows[i] = c->rank->rows[c->nodes.items[i].row].row;
		critical_window window = { .rank = c->number,
					   .n_steps = 1,
					   .start = to_ticks(c->h, c->start),
					   .end = to_ticks(c->h, c->end),
					   .n_nodes = c->nodes.n,
					   .node_rows = node_rows };
		ok = ok && node_rows && visit(context, &window, c->g);
		free(node_rows);
	}
	VEC_DONE(&kept);
	free_rank(c);
	return ok;
}

bool hta_critical_each(const work *w, const sonde_analyze_options *options, critical_visit *visit, void *context)
{
	work scratch;
	hta h;
	critical_graph g = { 0 };
	hta_critical all = { .h = &h, .g = &g };
	args_column waits[] = { { .key = "wait_on_stream" }, { .key = "wait_on_cuda_event_record_corr_id" } };
	bool ok = hta_load_again(&h, w, &scratch, options), has_waits = false;
	bool cuts = ok && hta_has_two_steps(&h);

	if (ok && index_n_rows(w->rows.ix, SECTION_ARGS))
		ok = has_waits = args_columns_read(w->rows.ix, waits, 2);
	all.waits = has_waits ? waits : NULL;
	ok = ok && look_at_sites(&all);
	for (size_t i = 0; ok && i < scratch.n_ranks; i++) {
		hta_critical c = all;
		c.rank = &h.ranks[i];
		c.number = scratch.ranks[i].rank;
		ok = visit_rank(&c, cuts, options, visit, context);
		graph_clear(&g);
	}
	free(all.traits);
	graph_done(&g);
	if (has_waits)
		args_columns_done(waits, 2);
	hta_done(&h);
	free(scratch.ranks);
	return ok;
}
