#include "analyze/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void count(stats *s, int64_t ns)
{
	uint64_t value = ns < 0 ? 0 : (uint64_t)ns;
	unsigned octave = value < STATS_STEPS ? 0 : (unsigned)(63 - __builtin_clzll(value)) - 6;
	unsigned step = octave ? (unsigned)(value >> (octave - 1)) & (STATS_STEPS - 1) : (unsigned)value;

	if (!s->octaves[octave]) {
		s->octaves[octave] = calloc(STATS_STEPS, sizeof(uint64_t));
		if (!s->octaves[octave]) {
			s->failed = true;
			return;
		}
	}
	s->octaves[octave][step]++;
}

/* Too many to keep: from now on they are only counted. */
static void stop_keeping(stats *s)
{
	for (uint32_t i = 0; i < s->n_values; i++)
		count(s, s->values[i]);
	free(s->values);
	s->values = NULL;
	s->capacity = 0;
	s->n_values = STATS_EXACT + 1;
}

static void keep(stats *s, int64_t ns)
{
	if (s->n_values == s->capacity) {
		uint32_t capacity = s->capacity ? s->capacity * 2 : 8;
		int64_t *values = realloc(s->values, capacity * sizeof *values);
		if (!values) {
			s->failed = true;
			return;
		}
		s->values = values;
		s->capacity = capacity;
	}
	s->values[s->n_values++] = ns;
}

void stats_add(stats *s, int64_t ns)
{
	if (!s->calls || ns < s->min_ns)
		s->min_ns = ns;
	if (!s->calls || ns > s->max_ns)
		s->max_ns = ns;
	s->calls++;
	s->sum_ns = add_bounded(s->sum_ns, ns);
	s->squares += (unsigned __int128)((__int128)ns * ns);
	if (__builtin_expect(s->n_values > STATS_EXACT, 1)) {
		count(s, ns);
	} else if (s->n_values == STATS_EXACT) {
		stop_keeping(s);
		count(s, ns);
	} else {
		keep(s, ns);
	}
}

int64_t stats_average(const stats *s)
{
	return s->calls ? (int64_t)(((__int128)s->sum_ns + s->calls / 2) / (__int128)s->calls) : 0;
}

/* n * sum of squares - square of the sum, in whole numbers: no cancellation. */
int64_t stats_deviation(const stats *s)
{
	if (!s->calls)
		return 0;
	long double n = (long double)s->calls, sum = (long double)s->sum_ns;
	long double variance = (long double)s->squares / n - sum / n * (sum / n);
	unsigned __int128 square = (unsigned __int128)((__int128)s->sum_ns * s->sum_ns), scaled;
	if (!__builtin_mul_overflow(s->squares, (unsigned __int128)s->calls, &scaled))
		variance = (long double)(scaled - square) / n / n;
	return variance > 0 ? (int64_t)llroundl(sqrtl(variance)) : 0;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t middle(unsigned octave, unsigned step)
{
	if (!octave)
		return step;
	int64_t width = INT64_C(1) << (octave - 1);
	return (int64_t)(STATS_STEPS + step) * width + width / 2;
}

int64_t stats_percentile(stats *s, double q)
{
	uint64_t rank = (uint64_t)ceil(q * (double)s->calls), seen = 0;

	if (!s->calls || s->failed)
		return -1;
	rank = rank < 1 ? 1 : rank > s->calls ? s->calls : rank;
	if (s->values) {
		qsort(s->values, s->n_values, sizeof *s->values, compare);
		return s->values[rank - 1];
	}
	for (unsigned octave = 0; octave < STATS_OCTAVES; octave++)
		for (unsigned step = 0; s->octaves[octave] && step < STATS_STEPS; step++) {
			seen += s->octaves[octave][step];
			if (seen < rank)
				continue;
			int64_t value = middle(octave, step);
			return value < s->min_ns ? s->min_ns : value > s->max_ns ? s->max_ns : value;
		}
	return s->max_ns;
}

void stats_done(stats *s)
{
	free(s->values);
	for (unsigned i = 0; i < STATS_OCTAVES; i++)
		free(s->octaves[i]);
	*s = (stats){ 0 };
}
