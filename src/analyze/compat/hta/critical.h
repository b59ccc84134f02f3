/* Between compat/hta/critical.c, which makes the graph, and compat/hta/critical_device.c, which adds the device to it.
 */
#ifndef SONDE_ANALYZE_COMPAT_HTA_CRITICAL_H
#define SONDE_ANALYZE_COMPAT_HTA_CRITICAL_H

#include "analyze/analyses/critical_path/critical_path.h"
#include "analyze/compat/hta/points.h"

/* What names and categories mean here, by site. */
enum { CP_CALL = 1, CP_BLOCKS = 2, CP_LOCKS = 4, CP_SYNC = 8, CP_NAMED = 16 };

typedef struct cp_node {
	int64_t time; /* ticks */
	uint32_t row; /* of the rank's rows */
	bool is_end;
} cp_node;

typedef struct hta_critical {
	hta *h;
	hta_rank *rank;
	int32_t number; /* the rank's */
	critical_graph *g;
	const args_column *waits;    /* wait_on_stream, wait_on_cuda_event_record_corr_id; NULL: no arguments */
	uint8_t *traits;	     /* by site */
	double start, end;	     /* of the window */
	bool *is_in;		     /* by row: in the window */
	uint32_t *start_of, *end_of; /* by row: nodes, or NODE_NONE */
	int32_t *queued;	     /* by row: how much was in the queue of its stream then */
	VEC(cp_node) nodes;	     /* by time */
} hta_critical;

#define cp_row(c, i) ROW_AT(&(c)->h->w->rows, (c)->rank->rows[i].row)
static inline uint8_t cp_traits(const hta_critical *c, size_t i)
{
	return c->traits[cp_row(c, i)->site];
}
static inline const char *cp_name(const hta_critical *c, size_t i)
{
	return row_name(&c->h->w->rows, cp_row(c, i));
}
static inline uint32_t cp_track(const hta_critical *c, size_t i)
{
	return cp_row(c, i)->track;
}

/* EDGE_OPERATOR of a row with a stream becomes one of the kinds of devices. is_empty: without time. */
void cp_edge(hta_critical *c, uint32_t from, uint32_t to, edge_kind kind, uint32_t row, bool is_empty);
bool hta_critical_device(hta_critical *c); /* false when out of memory */

#endif
