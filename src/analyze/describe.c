/* See describe.h. Numbers are sorted by their bits, BITS at a time from the low end. */
#include "analyze/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 11, VALUES = 1 << BITS, FEW = 64 };

/* Bits that are ordered as the numbers are. */
static uint64_t key_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_of(uint64_t key)
{
	uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static void insert_sort(double *values, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double value = values[i];
		size_t at = i;
		for (; at > 0 && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

/* One digit of all keys; returns where they are afterwards: b. */
static uint64_t *sort_digit(const uint64_t *a, uint64_t *b, size_t n, unsigned shift)
{
	size_t counts[VALUES] = { 0 }, at = 0;

	for (size_t i = 0; i < n; i++)
		counts[a[i] >> shift & (VALUES - 1)]++;
	for (size_t i = 0; i < VALUES; i++) {
		size_t here = counts[i];
		counts[i] = at;
		at += here;
	}
	for (size_t i = 0; i < n; i++)
		b[counts[a[i] >> shift & (VALUES - 1)]++] = a[i];
	return b;
}

/* Digits that are the same in all keys are skipped: of whole numbers that is most of them. */
bool sort_numbers(double *values, size_t n)
{
	uint64_t differs = 0;

	if (n <= FEW) {
		insert_sort(values, n);
		return true;
	}
	uint64_t *keys = malloc(2 * n * sizeof *keys), *other = keys ? keys + n : NULL, *now = keys;
	if (!keys)
		return false;
	for (size_t i = 0; i < n; i++) {
		keys[i] = key_of(values[i]);
		differs |= keys[i] ^ keys[0];
	}
	for (unsigned shift = 0; shift < 64; shift += BITS) {
		if (!(differs >> shift & (VALUES - 1)))
			continue;
		uint64_t *from = now;
		now = sort_digit(from, other, n, shift);
		other = from;
	}
	for (size_t i = 0; i < n; i++)
		values[i] = value_of(now[i]);
	free(keys);
	return true;
}

double quantile(const double *sorted, size_t n, double share)
{
	double at = (double)(n - 1) * share;
	size_t low = (size_t)at, high = low + 1 < n ? low + 1 : n - 1;

	return sorted[low] + (sorted[high] - sorted[low]) * (at - (double)low);
}

bool describe(double *values, size_t n, description *ret)
{
	double squares = 0;

	*ret = (description){ .n = n, .std = NAN };
	if (!n)
		return true;
	if (!sort_numbers(values, n))
		return false;
	for (size_t i = 0; i < n; i++)
		ret->sum += values[i];
	ret->mean = ret->sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - ret->mean) * (values[i] - ret->mean);
	if (n > 1)
		ret->std = sqrt(squares / (double)(n - 1));
	ret->min = values[0];
	ret->q25 = quantile(values, n, 0.25);
	ret->q50 = quantile(values, n, 0.5);
	ret->q75 = quantile(values, n, 0.75);
	ret->max = values[n - 1];
	return true;
}
