/* See describe.h. Numbers are sorted by their bits from the low end: bytes of whole numbers, else BITS of doubles. */
#include "analyze/math/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/big.h"

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

/* Digits that are the same in all keys are skipped. */
static bool sort_wide(double *values, size_t n)
{
	uint64_t differs = 0;
	uint64_t *keys = big_alloc(2 * n, sizeof *keys), *other = keys ? keys + n : NULL, *now = keys;

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

/* ---- Whole numbers that lie close together ----------------------------------------------------------------------- */

enum { BYTES = 4, BYTE_VALUES = 256 };

/* Whether all are whole numbers in [*ret_min, *ret_min + 2^32). */
static bool are_narrow(const double *values, size_t n, double *ret_min, double *ret_max)
{
	double min = values[0], max = values[0];
	bool are_whole = true;

	for (size_t i = 0; i < n; i++) {
		min = values[i] < min ? values[i] : min;
		max = values[i] > max ? values[i] : max;
	}
	if (!(min > -0x1p52 && max < 0x1p52 && max - min < 0x1p32))
		return false;
	for (size_t i = 0; i < n; i++)
		are_whole &= values[i] == (double)(int64_t)values[i];
	*ret_min = min;
	*ret_max = max;
	return are_whole;
}

static uint32_t *sort_bytes(uint32_t *keys, uint32_t *other, size_t n, unsigned n_bytes,
			    size_t counts[BYTES][BYTE_VALUES])
{
	for (unsigned byte = 0; byte < n_bytes; byte++) {
		size_t at = 0;
		for (size_t i = 0; i < BYTE_VALUES; i++) {
			size_t here = counts[byte][i];
			counts[byte][i] = at;
			at += here;
		}
		for (size_t i = 0; i < n; i++)
			other[counts[byte][keys[i] >> 8 * byte & 0xff]++] = keys[i];
		uint32_t *from = keys;
		keys = other;
		other = from;
	}
	return keys;
}

/* By bytes: 256 places to write to stay in the first cache, and all counts take one pass. Two keys lie where a number
   was, so that it takes no memory; what is copied is where both kinds are at the same place. */
static void sort_narrow(double *values, size_t n, double min, double max)
{
	uint32_t *keys = (void *)values, range = (uint32_t)(max - min);
	unsigned n_bytes = range ? 4 - (unsigned)__builtin_clz(range) / 8 : 0;
	size_t counts[BYTES][BYTE_VALUES] = { 0 };

	for (size_t i = 0; i < n; i++) {
		double value;
		memcpy(&value, (char *)values + i * sizeof value, sizeof value);
		uint32_t key = (uint32_t)(value - min);
		memcpy((char *)values + i * sizeof key, &key, sizeof key);
		for (unsigned byte = 0; byte < n_bytes; byte++)
			counts[byte][key >> 8 * byte & 0xff]++;
	}
	uint32_t *sorted = sort_bytes(keys, keys + n, n, n_bytes, counts);
	for (size_t i = 0; i < n; i++) { /* from the end that is not written over before it is read */
		size_t at = sorted == keys ? n - 1 - i : i;
		uint32_t key;
		memcpy(&key, (char *)sorted + at * sizeof key, sizeof key);
		double value = min + (double)key;
		memcpy((char *)values + at * sizeof value, &value, sizeof value);
	}
}

bool sort_numbers(double *values, size_t n)
{
	double min, max;

	if (n <= FEW) {
		insert_sort(values, n);
		return true;
	}
	if (!are_narrow(values, n, &min, &max))
		return sort_wide(values, n);
	sort_narrow(values, n, min, max);
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

/* The k-th of the numbers in order. */
static double number_at(const uint64_t *counts, size_t n, int64_t least, size_t k)
{
	size_t i = 0;

	for (; i + 1 < n && k >= counts[i]; i++)
		k -= counts[i];
	return (double)(least + (int64_t)i);
}

static double counted_quantile(const uint64_t *counts, size_t n, int64_t least, const description *d, double share)
{
	double at = (double)(d->n - 1) * share;
	size_t low = (size_t)at, high = low + 1 < d->n ? low + 1 : d->n - 1;
	double from = number_at(counts, n, least, low);

	return from + (number_at(counts, n, least, high) - from) * (at - (double)low);
}

/* Adds up one by one, as describe() does: the same rounding. */
void describe_counts(const uint64_t *counts, size_t n, int64_t least, description *ret)
{
	double squares = 0;

	*ret = (description){ .std = NAN };
	for (size_t i = 0; i < n; i++) {
		ret->n += counts[i];
		for (uint64_t k = 0; k < counts[i]; k++)
			ret->sum += (double)(least + (int64_t)i);
	}
	if (!ret->n)
		return;
	ret->mean = ret->sum / (double)ret->n;
	for (size_t i = 0; i < n; i++) {
		double difference = (double)(least + (int64_t)i) - ret->mean;
		for (uint64_t k = 0; k < counts[i]; k++)
			squares += difference * difference;
	}
	if (ret->n > 1)
		ret->std = sqrt(squares / (double)(ret->n - 1));
	ret->min = number_at(counts, n, least, 0);
	ret->q25 = counted_quantile(counts, n, least, ret, 0.25);
	ret->q50 = counted_quantile(counts, n, least, ret, 0.5);
	ret->q75 = counted_quantile(counts, n, least, ret, 0.75);
	ret->max = number_at(counts, n, least, ret->n - 1);
}
