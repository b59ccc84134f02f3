/*
 * Which rank the others wait for. A collective begins when the last rank has come: how much sooner it could have if
 * that rank had come with the one before it, less what the others compute meanwhile, is what the rank costs. Summed up
 * by step and rank, on one clock.
 *
 *   stragglers_search()   matches the collectives (collective_match.h) and sums up
 *   stragglers_lasting()  the one rank that makes the others wait all the time, if there is one
 *   stragglers_done()     also after a failure
 */
#ifndef SONDE_ANALYZE_TABLES_STRAGGLER_SEARCH_H
#define SONDE_ANALYZE_TABLES_STRAGGLER_SEARCH_H

#include "analyze/tables/collective_match.h"
#include "analyze/math/intervals.h"

/* By rank: how late it was, what that cost and how it waited. */
typedef struct lateness {
	intervals compute; /* by its own clock */
	int64_t late_ns, lost_ns, waited_ns;
	uint64_t n_last;
	uint64_t n_worst; /* steps */
	int64_t *by_step; /* lost */
} lateness;

typedef struct straggler_search {
	const rows *rows;
	collectives found;
	lateness *ranks;
	const rows_step *steps; /* of the reference; NULL: there are none, and everything is one */
	size_t n_steps;		/* at least 1 */
	int64_t span_ns;
	int64_t *values;     /* room for one a rank */
	const char *missing; /* why there is nothing to search, or NULL */
} straggler_search;

sonde_status stragglers_search(const rows *r, straggler_search *ret, sonde_error *err);
void stragglers_done(straggler_search *s);

/* The rank that cost the most in a step, or in all with SIZE_MAX; *ret_next: what the next one cost. */
size_t stragglers_worst(const straggler_search *s, size_t step, int64_t *ret_next);

/* When a rank is late for good: the steps are longer by this factor because of it, it costs twice as much as any other,
   and it is the worst in more than this share of the steps. */
typedef struct straggler_limits {
	double factor, steps;
} straggler_limits;
/* False: there is none, and *ret_rank is the worst. */
bool stragglers_lasting(const straggler_search *s, straggler_limits limits, size_t *ret_rank);

#endif
