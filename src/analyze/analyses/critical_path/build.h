/* Between analyses/critical_path/build.c, which makes graphs by our rules, and analyses/critical_path/device.c, which
 * adds the device to them. */
#ifndef SONDE_ANALYZE_ANALYSES_CRITICAL_PATH_BUILD_H
#define SONDE_ANALYZE_ANALYSES_CRITICAL_PATH_BUILD_H

#include "analyze/analyses/critical_path/critical_path.h"

/* What sites mean here. */
enum {
	BUILD_WAITS = 1,
	BUILD_BACKWARD = 2,
	BUILD_LOADS = 4,
	BUILD_COMMUNICATES = 8,
	BUILD_STEP = 16,
	BUILD_LEFT_OUT = 32,
};

/* The graph of a rank while it is made. */
typedef struct critical_build {
	const work *w;
	const rows_rank *rank;
	critical_graph *g;
	uint8_t *traits;	  /* by site */
	int64_t start_ns, end_ns; /* the window */
	size_t n_steps;
	uint32_t main_track;
	uint32_t *node_of;   /* by row: its start, of which the end is one more; NODE_NONE: it is not in the window */
	VEC(uint32_t) nodes; /* row, or ROW_NONE for the first, which is the window's start */
	uint32_t *by_end;    /* device rows of the rank, by end */
	uint32_t *before;    /* by row: the row of its stream that ended last before it starts, or NODE_NONE */
	uint32_t *waited;    /* by row: the device row whose end a call waited for, or NODE_NONE */
	int64_t launch_ns;   /* what a launch takes on an idle stream, usually */
} critical_build;

#define build_row(b, i) ROW_AT(&(b)->w->rows, i)
static inline uint8_t build_traits(const critical_build *b, uint32_t i)
{
	return b->traits[build_row(b, i)->site];
}
static inline bool build_has(const critical_build *b, uint32_t i)
{
	return i != ROW_NONE && b->node_of[i] != NODE_NONE;
}
static inline uint32_t build_name(const critical_build *b, uint32_t i)
{
	return i == NODE_NONE ? NODE_NONE : b->w->rows.sites[build_row(b, i)->site].name;
}
/* The time belongs to the name; NODE_NONE: to nothing that has one. */
void build_edge(critical_build *b, uint32_t from, uint32_t to, int64_t weight, edge_kind kind, uint32_t name);

/* After the nodes, before the threads: before, waited. False when out of memory. */
bool build_device_load(critical_build *b);
void build_device_edges(critical_build *b);

#endif
