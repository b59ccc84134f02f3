/* See describe.h. Numbers are sorted by their bits from the low end: bytes of whole numbers, else BITS of doubles. */
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

/* Digits that are the same in all keys are skipped. */
static bool sort_wide(double *values, size_t n)
{
	uint64_t differs = 0;
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

/* By bytes: 256 places to write to stay in the first cache, and all counts take one pass. */
static bool sort_narrow(double *values, size_t n, double min, double max)
{
	uint32_t *keys = malloc(2 * n * sizeof *keys), *other = keys ? keys + n : NULL, range = (uint32_t)(max - min);
	unsigned n_bytes = range ? 4 - (unsigned)__builtin_clz(range) / 8 : 0;
	size_t counts[BYTES][BYTE_VALUES] = { 0 };

	for (size_t i = 0; keys && i < n; i++) {
		uint32_t key = keys[i] = (uint32_t)(values[i] - min);
		for (unsigned byte = 0; byte < n_bytes; byte++)
			counts[byte][key >> 8 * byte & 0xff]++;
	}
	uint32_t *now = keys;
	for (unsigned byte = 0; now && byte < n_bytes; byte++) {
		size_t at = 0;
		for (size_t i = 0; i < BYTE_VALUES; i++) {
			size_t here = counts[byte][i];
			counts[byte][i] = at;
			at += here;
		}
		for (size_t i = 0; i < n; i++)
			other[counts[byte][now[i] >> 8 * byte & 0xff]++] = now[i];
		uint32_t *from = now;
		now = other;
		other = from;
	}
	for (size_t i = 0; now && i < n; i++)
		values[i] = min + (double)now[i];
	free(keys);
	return keys != NULL;
}

bool sort_numbers(double *values, size_t n)
{
	double min, max;

	if (n <= FEW) {
		insert_sort(values, n);
		return true;
	}
	return are_narrow(values, n, &min, &max) ? sort_narrow(values, n, min, max) : sort_wide(values, n);
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
