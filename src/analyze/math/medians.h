/*
 * Medians and how far to trust their difference.
 *
 *   summary a = summary_of(samples, n), b = ...     sorts the samples
 *   difference d = difference_of(&a, &b, 0.95)      b against a, with an interval
 *
 * The standard error of a median comes from two order statistics around it (McKean and Schrader 1984, with the exact
 * binomial tail of Price and Bonett 2001): no assumption about the distribution, no random numbers. The interval is
 * that of the logarithm of the ratio of two medians, with Student's t and Welch's degrees of freedom. Of few samples,
 * up to SUMMARY_FEW on either side, it is the exact one of Mann and Whitney around the estimate of Hodges and Lehmann,
 * which a single outlier among five cannot spoil; where there are too few for the level it is the former.
 */
#ifndef SONDE_ANALYZE_MATH_MEDIANS_H
#define SONDE_ANALYZE_MATH_MEDIANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two samples have a distance, but nothing says whether it is a usual one: with one degree of freedom an interval is 13
   standard errors wide to either side. */
enum { SUMMARY_ENOUGH = 3, SUMMARY_FEW = 16 };

/* Nanoseconds. */
typedef struct summary {
	uint64_t n; /* samples; 0: nothing is known */
	double median;
	double mad;   /* median of the distances from the median */
	double error; /* standard error of the median */
	double freedom;
	double few[SUMMARY_FEW]; /* the samples, sorted, when there are not more of them */
	size_t n_few;		 /* 0: they are not known */
} summary;

typedef struct difference {
	double change;	  /* b / a - 1; NaN when a is 0 */
	double low, high; /* of the change; NaN: nobody knows */
	double ns;	  /* b - a */
	bool is_certain;  /* the interval does not hold 0 */
} difference;

/* Sorts them. */
summary summary_of(int64_t *samples, size_t n);
/* Samples in the order of time: what is like its neighbour says less than what is not. Sorts a copy; n = 0 when out of
   memory. */
summary summary_in_time(const int64_t *samples, size_t n);
/* Times a factor: calls per step. */
summary summary_scaled(summary s, double factor);
/* Several runs as one. From three on, what a further run may differ by is part of the error. */
summary summary_joined(const summary *runs, size_t n);

/* level: 0.95, or nearer to 1 when many are looked at at once. */
difference difference_of(const summary *a, const summary *b, double level);

/* So that all of n intervals hold together with 95 % (Bonferroni). */
double level_for(size_t n);

/* Quantiles: P(X < q) = p, p in (0, 1). */
double normal_quantile(double p);
double student_quantile(double p, double freedom);

#endif
