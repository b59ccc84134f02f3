/*
 * Sets of time as sorted intervals that neither overlap nor touch.
 *
 *   intervals busy = { 0 };
 *   intervals_add(&busy, start, end) ...   in any order; empty ones are dropped
 *   intervals_merge(&busy)                 sorts and joins; only then the functions below
 *   intervals_done(&busy)
 *
 * Ends are exclusive. Adding remembers when memory ran out: intervals_merge() says so.
 */
#ifndef SONDE_ANALYZE_INTERVALS_H
#define SONDE_ANALYZE_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct interval {
	int64_t start, end;
	int64_t before; /* of a merged set: the length of all before it */
} interval;

typedef struct intervals {
	interval *items;
	size_t n, capacity;
	bool unsorted, failed;
} intervals;

void intervals_add(intervals *s, int64_t start, int64_t end);
bool intervals_merge(intervals *s); /* false when out of memory, then and before */
void intervals_done(intervals *s);

int64_t intervals_length(const intervals *s);
int64_t intervals_overlap(const intervals *a, const intervals *b); /* length of what they have in common */
/* Of one stretch of time; start <= end. Binary search, however much lies in it. */
int64_t intervals_overlap_with(const intervals *s, int64_t start, int64_t end);

/* *ret is empty or to be overwritten; may not be a or b. False when out of memory. */
bool intervals_union(const intervals *a, const intervals *b, intervals *ret);
bool intervals_intersect(const intervals *a, const intervals *b, intervals *ret);
bool intervals_subtract(const intervals *a, const intervals *b, intervals *ret); /* a without b */

#endif
