/*
 * Between what makes the graphs of critical paths (analyses/critical_path/build.c by our rules, compat/hta/critical.c
 * by HTA's) and the analysis that looks for the longest way through them.
 */
#ifndef SONDE_ANALYZE_ANALYSES_CRITICAL_PATH_CRITICAL_PATH_H
#define SONDE_ANALYZE_ANALYSES_CRITICAL_PATH_CRITICAL_PATH_H

#include "analyze/analyses/critical_path/graph.h"
#include "analyze/tables/work.h"

/* What one graph is of: the steps of a rank, or everything. */
typedef struct critical_window {
	int32_t rank;
	size_t n_steps;	    /* at least 1 */
	int64_t start, end; /* ticks: of the steps, and on to the end of what they launched */
	size_t n_nodes;
	const uint32_t *node_rows; /* by node: the row whose start or end it is, ROW_NONE: none */
} critical_window;

/* Called with the graph of each rank, which is not prepared yet. False ends it: out of memory. */
typedef bool critical_visit(void *context, const critical_window *window, critical_graph *g);

/* False when out of memory, or when the visitor says so. */
bool critical_each(const work *w, critical_visit *visit, void *context);
bool hta_critical_each(const work *w, const sonde_analyze_options *options, critical_visit *visit, void *context);

/* Why the graph of these rows is not made, for a person: it would take too much memory; NULL: it does not. */
const char *critical_refuses(const work *w, const sonde_analyze_options *options, sonde_result *r);

extern const setting_def critical_annotation, critical_instance; /* of HTA's window; compat/hta/critical.c */

#endif
