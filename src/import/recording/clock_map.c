/*
 * Ticks to nanoseconds: straight lines between the clock pairs of a stream. Within the pairs the error is that of the
 * pairs, some 30 ns. Before the first the rate of the first stretch is carried on, after the last that of the whole.
 */
#include "import/recording/recording.h"

#include "base/search.h"
static int compare_pairs(const void *a, const void *b)
{
	const clock_pair *x = a, *y = b;

	return x->ticks < y->ticks ? -1 : x->ticks > y->ticks;
}

/* Drops pairs that would let time stand still or run backwards. */
static size_t keep_rising(clock_pair *pairs, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!kept || (pairs[i].ticks > pairs[kept - 1].ticks && pairs[i].ns > pairs[kept - 1].ns))
			pairs[kept++] = pairs[i];
	return kept;
}

static uint64_t rate(const clock_pair *a, const clock_pair *b)
{
	unsigned __int128 ns = (unsigned __int128)(uint64_t)(b->ns - a->ns) << 32;

	return (uint64_t)(ns / (b->ticks - a->ticks));
}

bool clock_map_build(recording_stream *s)
{
	clock_pair *pairs = s->pairs.items;

	for (size_t i = 0; i < s->pairs.n; i++)
		pairs[i].ns = trace_bounded_ns(pairs[i].ns);
	if (s->pairs.n)
		qsort(pairs, s->pairs.n, sizeof *pairs, compare_pairs);
	size_t n = s->pairs.n = keep_rising(pairs, s->pairs.n);
	s->segments = calloc(n + 1, sizeof *s->segments);
	if (!s->segments)
		return false;
	if (n < 2) {
		/* One pair: right for nanoseconds, a guess for ticks that tick_ns = 0 gives away. */
		s->segments[0] = (clock_segment){ n ? pairs[0].ticks : 0, n ? pairs[0].ns : 0, UINT64_C(1) << 32 };
		s->n_segments = 1;
		s->tick_ns = s->info.clock == CLOCK_NS ? 1 : 0;
		return true;
	}
	uint64_t overall = rate(&pairs[0], &pairs[n - 1]);
	s->tick_ns = (double)overall / 4294967296.0;
	for (size_t i = 0; i < n; i++) {
		bool last = i + 1 == n;
		s->segments[i] =
			(clock_segment){ pairs[i].ticks, pairs[i].ns, last ? overall : rate(&pairs[i], &pairs[i + 1]) };
	}
	s->n_segments = n;
	return true;
}

size_t clock_map_find(const recording_stream *s, uint64_t ticks)
{
	return FIRST_NOT(i, 1, s->n_segments, s->segments[i].from <= ticks) - 1;
}
