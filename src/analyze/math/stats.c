/* See stats.h. Two values are the extremes; from the third on they are kept, and beyond STATS_EXACT counted. */
#include "analyze/math/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct stats_spread {
	bool failed;	 /* out of memory: no percentiles */
	bool is_counted; /* there are too many to keep */
	uint32_t n_values, capacity;
	union {
		int64_t *values;
		uint64_t **octaves;
	};
} spread;

static void count(spread *s, int64_t ns)
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
static void stop_keeping(spread *s)
{
	int64_t *values = s->values;
	uint64_t **octaves = calloc(STATS_OCTAVES, sizeof *octaves);

	if (!octaves) {
		s->failed = true;
		return;
	}
	s->octaves = octaves;
	s->is_counted = true;
	for (uint32_t i = 0; i < s->n_values; i++)
		count(s, values[i]);
	free(values);
}

static void keep(spread *s, int64_t ns)
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

static void add(spread *s, int64_t ns)
{
	if (s->failed)
		return;
	if (!s->is_counted && s->n_values == STATS_EXACT)
		stop_keeping(s);
	if (s->is_counted)
		count(s, ns);
	else if (!s->failed)
		keep(s, ns);
}

/* At the third call: the two before it are the extremes. */
static void begin_spread(stats *s)
{
	s->spread = calloc(1, sizeof *s->spread);
	if (!s->spread)
		return;
	keep(s->spread, s->min_ns);
	keep(s->spread, s->max_ns);
}

static unsigned __int128 squares_of(const stats *s)
{
	return (unsigned __int128)s->squares[1] << 64 | s->squares[0];
}

void stats_add(stats *s, int64_t ns)
{
	unsigned __int128 squares = squares_of(s) + (unsigned __int128)((__int128)ns * ns);

	s->squares[0] = (uint64_t)squares;
	s->squares[1] = (uint64_t)(squares >> 64);
	if (s->calls == 2)
		begin_spread(s);
	if (s->spread)
		add(s->spread, ns);
	if (!s->calls || ns < s->min_ns)
		s->min_ns = ns;
	if (!s->calls || ns > s->max_ns)
		s->max_ns = ns;
	s->calls++;
	s->sum_ns = add_bounded(s->sum_ns, ns);
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
	unsigned __int128 squares = squares_of(s);
	long double n = (long double)s->calls, sum = (long double)s->sum_ns;
	long double variance = (long double)squares / n - sum / n * (sum / n);
	unsigned __int128 square = (unsigned __int128)((__int128)s->sum_ns * s->sum_ns), scaled;
	if (!__builtin_mul_overflow(squares, (unsigned __int128)s->calls, &scaled))
		variance = (long double)(scaled - square) / n / n;
	return variance > 0 ? (int64_t)llroundl(sqrtl(variance)) : 0;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

void stats_finish(stats *s)
{
	if (s->spread && !s->spread->is_counted && s->spread->values)
		qsort(s->spread->values, s->spread->n_values, sizeof *s->spread->values, compare);
}

static int64_t middle(unsigned octave, unsigned step)
{
	if (!octave)
		return step;
	int64_t width = INT64_C(1) << (octave - 1);
	return (int64_t)(STATS_STEPS + step) * width + width / 2;
}

static int64_t counted_percentile(const stats *s, uint64_t rank)
{
	uint64_t seen = 0;

	for (unsigned octave = 0; octave < STATS_OCTAVES; octave++)
		for (unsigned step = 0; s->spread->octaves[octave] && step < STATS_STEPS; step++) {
			seen += s->spread->octaves[octave][step];
			if (seen < rank)
				continue;
			int64_t value = middle(octave, step);
			return value < s->min_ns ? s->min_ns : value > s->max_ns ? s->max_ns : value;
		}
	return s->max_ns;
}

int64_t stats_percentile(const stats *s, double q)
{
	uint64_t rank = (uint64_t)ceil(q * (double)s->calls);

	if (!s->calls || (s->calls > 2 && (!s->spread || s->spread->failed)))
		return -1;
	rank = rank < 1 ? 1 : rank > s->calls ? s->calls : rank;
	if (!s->spread)
		return rank == 1 ? s->min_ns : s->max_ns;
	return s->spread->is_counted ? counted_percentile(s, rank) : s->spread->values[rank - 1];
}

void stats_done(stats *s)
{
	spread *p = s->spread;

	for (unsigned i = 0; p && p->is_counted && i < STATS_OCTAVES; i++)
		free(p->octaves[i]);
	if (p)
		free(p->is_counted ? (void *)p->octaves : (void *)p->values);
	free(p);
	*s = (stats){ 0 };
}
