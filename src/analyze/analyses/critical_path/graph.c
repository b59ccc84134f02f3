/* See analyses/critical_path/graph.h. */
#include "analyze/analyses/critical_path/graph.h"

#include <math.h>
#include <stdlib.h>
#include "analyze/math/stats.h"

void graph_edge(critical_graph *g, edge e)
{
	edge *to = VEC_ADD(&g->edges);

	g->failed |= !to;
	if (!to)
		return;
	*to = e;
	g->n_nodes = e.from >= g->n_nodes ? e.from + 1 : g->n_nodes;
	g->n_nodes = e.to >= g->n_nodes ? e.to + 1 : g->n_nodes;
}

/* Edges by one of their ends: ret_first[node] to ret_first[node + 1] of ret_edges, in the order of edges. */
static bool by_node(const critical_graph *g, bool by_end, uint32_t **ret_first, uint32_t **ret_edges)
{
	uint32_t *first = calloc((size_t)g->n_nodes + 2, sizeof *first);
	uint32_t *edges = malloc((g->edges.n + 1) * sizeof *edges);

	*ret_first = first;
	*ret_edges = edges;
	if (!first || !edges)
		return false;
	for (size_t i = 0; i < g->edges.n; i++) {
		const edge *e = &g->edges.items[i];
		if (e->kind != EDGE_KINDS)
			first[(by_end ? e->to : e->from) + 2]++;
	}
	for (size_t i = 2; i < (size_t)g->n_nodes + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < g->edges.n; i++) {
		const edge *e = &g->edges.items[i];
		if (e->kind != EDGE_KINDS)
			edges[first[(by_end ? e->to : e->from) + 1]++] = (uint32_t)i;
	}
	return true;
}

/* An edge that comes again gives the first one its time and kind. */
static bool drop_doubles(critical_graph *g)
{
	uint32_t *first, *out, *seen = calloc((size_t)g->n_nodes + 1, sizeof *seen); /* edge + 1 */
	bool ok = by_node(g, false, &first, &out) && seen;

	g->n_edges = g->edges.n;
	for (uint32_t node = 0; ok && node < g->n_nodes; node++)
		for (uint32_t i = first[node]; i < first[node + 1]; i++) {
			edge *e = &g->edges.items[out[i]];
			edge *before = seen[e->to] ? &g->edges.items[seen[e->to] - 1] : NULL;
			if (!before || before->from != node) {
				seen[e->to] = out[i] + 1;
				continue;
			}
			*before = *e;
			e->kind = EDGE_KINDS;
			g->n_edges--;
		}
	free(first);
	free(out);
	free(seen);
	return ok;
}

/* Nodes that nothing leads to, in the order in which edges name them. */
static void find_starts(critical_graph *g, uint8_t *seen)
{
	for (size_t i = 0; i < g->edges.n; i++) {
		const edge *e = &g->edges.items[i];
		uint32_t ends[] = { e->from, e->to };
		for (int k = 0; k < 2; k++)
			if (!seen[ends[k]]) {
				seen[ends[k]] = 1;
				if (g->first_in[ends[k]] == g->first_in[ends[k] + 1])
					g->order[g->n_order++] = ends[k];
			}
	}
}

static bool find_order(critical_graph *g)
{
	uint32_t *first, *out, *left = malloc(((size_t)g->n_nodes + 1) * sizeof *left);
	uint8_t *seen = calloc((size_t)g->n_nodes + 1, 1);
	bool ok = by_node(g, false, &first, &out) && left && seen;

	for (uint32_t i = 0; ok && i < g->n_nodes; i++)
		left[i] = g->first_in[i + 1] - g->first_in[i];
	if (ok)
		find_starts(g, seen);
	for (size_t at = 0; ok && at < g->n_order; at++)
		for (uint32_t i = first[g->order[at]]; i < first[g->order[at] + 1]; i++) {
			uint32_t to = g->edges.items[out[i]].to;
			if (--left[to] == 0)
				g->order[g->n_order++] = to;
		}
	free(first);
	free(out);
	free(left);
	free(seen);
	return ok;
}

bool graph_prepare(critical_graph *g)
{
	size_t n = (size_t)g->n_nodes + 1;

	g->order = malloc(n * sizeof *g->order);
	g->distance = malloc(n * sizeof *g->distance);
	g->best = malloc(n * sizeof *g->best);
	return !g->failed && g->order && g->distance && g->best && drop_doubles(g) &&
	       by_node(g, true, &g->first_in, &g->in) && find_order(g);
}

static int64_t weight_of(const edge *e, uint32_t name, double times_faster)
{
	if (e->weight <= 0)
		return 0;
	if (name == NODE_NONE || e->name != name || e->kind >= EDGE_KERNEL_KERNEL)
		return e->weight;
	double weight = (double)e->weight / times_faster;
	return weight < 0x1p62 ? llrint(weight) : INT64_MAX; /* a number below 1 makes it slower */
}

int64_t graph_longest(critical_graph *g, uint32_t name, double times_faster, uint32_t *ret_end)
{
	int64_t longest = -1;

	*ret_end = NODE_NONE;
	for (size_t i = 0; i < g->n_order; i++) {
		uint32_t node = g->order[i];
		int64_t most = -1;
		g->best[node] = NODE_NONE;
		for (uint32_t k = g->first_in[node]; k < g->first_in[node + 1]; k++) {
			const edge *e = &g->edges.items[g->in[k]];
			int64_t length = add_bounded(g->distance[e->from], weight_of(e, name, times_faster));
			if (length > most) {
				most = length;
				g->best[node] = g->in[k];
			}
		}
		g->distance[node] = most < 0 ? 0 : most;
		if (g->distance[node] > longest) {
			longest = g->distance[node];
			*ret_end = node;
		}
	}
	return longest < 0 ? 0 : longest;
}

static void drop_order(critical_graph *g)
{
	free(g->first_in);
	free(g->in);
	free(g->order);
	free(g->distance);
	free(g->best);
	g->first_in = g->in = g->order = g->best = NULL;
	g->distance = NULL;
	g->n_order = 0;
}

void graph_clear(critical_graph *g)
{
	drop_order(g);
	g->edges.n = 0;
	g->n_nodes = 0;
}

void graph_done(critical_graph *g)
{
	drop_order(g);
	VEC_DONE(&g->edges);
	*g = (critical_graph){ 0 };
}
