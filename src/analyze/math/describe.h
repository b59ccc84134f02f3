/* Many numbers in a few: count, mean, deviation of a sample, quartiles by linear interpolation. */
#ifndef SONDE_ANALYZE_MATH_DESCRIBE_H
#define SONDE_ANALYZE_MATH_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct description {
	size_t n;
	double sum, mean;
	double std; /* NAN with fewer than two */
	double min, q25, q50, q75, max;
} description;

/* Sorts the values, in linear time. All zeros without values. False when out of memory. */
bool describe(double *values, size_t n, description *ret);
/* The same of whole numbers: how often each of least, least + 1, ... is there. */
void describe_counts(const uint64_t *counts, size_t n, int64_t least, description *ret);
/* Sorts: -0 before 0, no NAN among them. */
bool sort_numbers(double *values, size_t n);
/* Of sorted values; n > 0, 0 <= share <= 1. */
double quantile(const double *sorted, size_t n, double share);

#endif
