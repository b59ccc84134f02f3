/*
 * Durations of one name: exact sums, exact extremes, and percentiles that are exact for up to STATS_EXACT calls and
 * within 0.4 % above (the middle of one of 128 steps per doubling).
 *
 * A trace may have millions of names that are called once or twice: of these the extremes are all there is to know, and
 * they take no memory but the struct.
 */
#ifndef SONDE_ANALYZE_MATH_STATS_H
#define SONDE_ANALYZE_MATH_STATS_H

#include <stdbool.h>
#include <stdint.h>

enum { STATS_EXACT = 1024, STATS_OCTAVES = 64, STATS_STEPS = 128 };

typedef struct stats {
	uint64_t calls;
	int64_t sum_ns;
	int64_t total_ns; /* without calls inside calls of the same name */
	int64_t self_ns;
	int64_t min_ns, max_ns;
	uint64_t squares[2];	     /* the sum of the squares: low half, high half */
	struct stats_spread *spread; /* of more than two calls; NULL then: out of memory, no percentiles */
} stats;

/* a + b, or the largest or smallest number there is. */
static inline int64_t add_bounded(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* Without its fraction, or the largest or smallest number there is. */
static inline int64_t whole_bounded(double value)
{
	return value >= 0x1p63 ? INT64_MAX : value > -0x1p63 ? (int64_t)value : INT64_MIN;
}

void stats_add(stats *s, int64_t ns);
int64_t stats_average(const stats *s);
int64_t stats_deviation(const stats *s);
/* After the last stats_add() and before the first stats_percentile(), which may then run in several threads. */
void stats_finish(stats *s);
/* Nearest rank. -1: unknown. */
int64_t stats_percentile(const stats *s, double q);
void stats_done(stats *s);

#endif
