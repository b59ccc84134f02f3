/*
 * What had to wait for what, as a graph, and the longest way through it.
 *
 *   graph_edge()       from node to node; of two from and to the same nodes the later counts, in the earlier's place
 *   graph_prepare()    after the last edge: finds an order in which no edge goes back
 *   graph_longest()    as often as wanted; with a name N times faster, if one is given
 *   graph_before()     the edges of the longest way, the last one first
 *   graph_clear()      empty again; graph_done()
 *
 * Nodes are numbers; those on a circle are left out. Of several longest ways it is the one that networkx finds, which
 * HTA uses: edges count in the order in which they came.
 */
#ifndef SONDE_ANALYZE_ANALYSES_CRITICAL_PATH_GRAPH_H
#define SONDE_ANALYZE_ANALYSES_CRITICAL_PATH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/vec.h"

#define NODE_NONE UINT32_MAX

typedef enum edge_kind {
	/* What its name being faster makes shorter: */
	EDGE_OPERATOR, /* on the host */
	EDGE_DATA_LOAD,
	EDGE_KERNEL,
	EDGE_COPY,
	EDGE_COMMUNICATION,
	EDGE_LAUNCH, /* from the call to the start on the device */
	/* What it does not: */
	EDGE_KERNEL_KERNEL, /* from the end of one to the start of the next on its stream */
	EDGE_SYNC,	    /* from the end on the device to the end of the call that waits, or to another stream */
	EDGE_ORDER,	    /* one after the other, and no time between */
	EDGE_KINDS
} edge_kind;

typedef struct edge {
	uint32_t from, to;
	int64_t weight; /* ticks; less than 0 counts as 0 on the way */
	uint32_t name;	/* of what the time belongs to, a string, or NODE_NONE */
	uint8_t kind;	/* edge_kind; EDGE_KINDS: another one took its place */
} edge;

typedef struct critical_graph {
	VEC(edge) edges;
	uint32_t n_nodes; /* the largest number + 1 */
	bool failed;	  /* out of memory */
	/* graph_prepare(): */
	uint32_t *first_in, *in; /* edges into a node, in the order of edges */
	uint32_t *order;	 /* nodes */
	size_t n_order, n_edges;
	/* graph_longest(): */
	int64_t *distance;
	uint32_t *best; /* edge, or NODE_NONE: the way begins here */
} critical_graph;

void graph_edge(critical_graph *g, edge e);
bool graph_prepare(critical_graph *g); /* false when out of memory */
/* Its length; ret_end: the last node, NODE_NONE without edges. name NODE_NONE: as it is. */
int64_t graph_longest(critical_graph *g, uint32_t name, double times_faster, uint32_t *ret_end);
/* The edge before the node on the longest way, or NULL: it begins there. */
static inline const edge *graph_before(const critical_graph *g, uint32_t node)
{
	return g->best[node] == NODE_NONE ? NULL : &g->edges.items[g->best[node]];
}
void graph_clear(critical_graph *g);
void graph_done(critical_graph *g);

#endif
