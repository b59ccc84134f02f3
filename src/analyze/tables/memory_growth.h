/*
 * How what a device holds grows from step to step.
 *
 *   memory_growth_measure()   one device, the steps of its rank by time
 *   .levels[]                 bytes at the end of each step
 *   memory_growth_done()
 *
 * The slope is the median of those of all pairs of steps (Theil 1950, Sen 1968): a few steps that are unlike the others
 * do not change it. Its interval of 95 % comes from the order of the same slopes; four steps are the fewest that have
 * one. Of more than GROWTH_POINTS steps so many are looked at, evenly spread.
 */
#ifndef SONDE_ANALYZE_TABLES_MEMORY_GROWTH_H
#define SONDE_ANALYZE_TABLES_MEMORY_GROWTH_H

#include "analyze/tables/memory_events.h"

enum { GROWTH_POINTS = 512 };

typedef struct memory_growth {
	int64_t *levels; /* by step */
	size_t n_steps;
	size_t n_higher;	 /* steps that end higher than the one before */
	double slope, low, high; /* bytes a step; NaN: unknown */
} memory_growth;

/* Bytes at the end of the first and of the last step; 0 without steps. */
static inline int64_t growth_first(const memory_growth *g)
{
	return g->n_steps ? g->levels[0] : 0;
}
static inline int64_t growth_last(const memory_growth *g)
{
	return g->n_steps ? g->levels[g->n_steps - 1] : 0;
}
/* In all; may be less than 0. */
static inline double growth_bytes(const memory_growth *g)
{
	return (double)growth_last(g) - (double)growth_first(g);
}

/* False when out of memory; done() all the same. */
bool memory_growth_measure(memory_growth *g, const memory_events *m, uint32_t device, const rows_step *steps, size_t n);
void memory_growth_done(memory_growth *g);

/* The slope of n values at the places 0, 1, ...; false when out of memory. Unknown is NaN. */
bool robust_slope(const int64_t *values, size_t n, double *ret_slope, double *ret_low, double *ret_high);

#endif
