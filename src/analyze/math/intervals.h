/*
 * Sets of time as sorted intervals that neither overlap nor touch.
 *
 *   intervals busy = { 0 };
 *   intervals_add(&busy, start, end) ...   in any order; empty ones are dropped
 *   intervals_merge(&busy)                 sorts and joins; only then the functions below
 *   intervals_first(), intervals_next()    one after the other
 *   intervals_done(&busy)
 *
 * Ends are exclusive. Adding remembers when memory ran out: intervals_merge() says so.
 *
 * A set of kernels has millions of them. They are packed: from the end of the one before, and how long, as many bytes
 * as each number needs; every INTERVAL_BLOCK of them begins with plain numbers. Some 5 bytes each.
 */
#ifndef SONDE_ANALYZE_MATH_INTERVALS_H
#define SONDE_ANALYZE_MATH_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/vec.h"

typedef struct interval {
	int64_t start, end;
} interval;

enum { INTERVAL_BLOCK = 32 };

typedef struct interval_block {
	int64_t start;	/* of its first */
	int64_t before; /* the length of all before it */
	size_t at;	/* its first byte */
} interval_block;

typedef struct intervals {
	size_t n;
	int64_t length;
	interval last;
	size_t last_at; /* its bytes */
	uint8_t *bytes;
	size_t n_bytes, capacity;
	VEC(interval_block) blocks;
	VEC(interval) loose; /* what came out of order */
	bool failed;
} intervals;

void intervals_add(intervals *s, int64_t start, int64_t end);
bool intervals_merge(intervals *s); /* false when out of memory, then and before */
void intervals_clear(intervals *s); /* empty again; keeps its memory */
void intervals_done(intervals *s);

/* for (interval_walk w = intervals_first(&busy); intervals_next(&w, &one);) */
typedef struct interval_walk {
	const intervals *s;
	size_t i;	   /* the next one */
	const uint8_t *at; /* its bytes */
	int64_t end;	   /* of the one before */
} interval_walk;
interval_walk intervals_first(const intervals *s);
bool intervals_next(interval_walk *w, interval *ret);
/* The one that holds the time; false: none does. */
bool intervals_find(const intervals *s, int64_t ns, interval *ret);
/* From the start of the first to the end of the last; n > 0. */
interval intervals_span(const intervals *s);

int64_t intervals_length(const intervals *s);
int64_t intervals_overlap(const intervals *a, const intervals *b); /* length of what they have in common */
/* Of one stretch of time; start <= end. Binary search, however much lies in it. */
int64_t intervals_overlap_with(const intervals *s, int64_t start, int64_t end);

/* *ret is empty or to be overwritten; may not be a or b. False when out of memory. */
bool intervals_union(const intervals *a, const intervals *b, intervals *ret);
bool intervals_intersect(const intervals *a, const intervals *b, intervals *ret);
bool intervals_subtract(const intervals *a, const intervals *b, intervals *ret); /* a without b */

#endif
