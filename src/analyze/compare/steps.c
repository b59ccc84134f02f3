/*
 * Steps as samples. Those of the same number on several ranks are one sample, as long as the slowest of them; the first
 * ones are left out as warm-up (warmup.h). Numbers may come again, epoch after epoch: the n-th 7 of one rank belongs to
 * the n-th 7 of the others.
 */
#include <stdlib.h>
#include <string.h>
#include "analyze/compare/run.h"
#include "analyze/tables/warmup.h"
#include "base/search.h"

enum { STEPS_AT_ONCE = 8 };

static int by_track(const void *a, const void *b)
{
	const run_step *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int by_number(const void *a, const void *b)
{
	const run_step *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->nth != y->nth)
		return x->nth < y->nth ? -1 : 1;
	return by_track(a, b);
}

static int by_rank(const void *a, const void *b)
{
	const run_step *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* A sample while it is not known which place it has in time. */
typedef struct sample_key {
	int64_t start_ns, dur_ns;
	uint32_t sample;
} sample_key;

static int by_start(const void *a, const void *b)
{
	const sample_key *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->sample < y->sample ? -1 : x->sample > y->sample;
}

/* Returns how many samples there are. */
static size_t join_steps(run_steps *s, sample_key *keys)
{
	size_t n = 0;

	qsort(s->items, s->n, sizeof *s->items, by_track);
	for (size_t i = 1; i < s->n; i++)
		if (s->items[i].track == s->items[i - 1].track && s->items[i].number == s->items[i - 1].number)
			s->items[i].nth = s->items[i - 1].nth + 1;
	qsort(s->items, s->n, sizeof *s->items, by_number);
	for (size_t i = 0; i < s->n; i++) {
		run_step *at = &s->items[i];
		int64_t dur_ns = at->end_ns - at->start_ns;
		if (!i || at->number != at[-1].number || at->nth != at[-1].nth) {
			keys[n] = (sample_key){ at->start_ns, dur_ns, (uint32_t)n };
			n++;
		}
		sample_key *key = &keys[n - 1];
		key->start_ns = at->start_ns < key->start_ns ? at->start_ns : key->start_ns;
		key->dur_ns = dur_ns > key->dur_ns ? dur_ns : key->dur_ns;
		at->sample = key->sample;
	}
	qsort(keys, n, sizeof *keys, by_start);
	return n;
}

/* Samples in the order of time, numbered from the first that counts. */
static bool place_samples(run_steps *s, const sample_key *keys, size_t n, uint32_t *place,
			  const sonde_analyze_options *select)
{
	for (size_t i = 0; i < n; i++)
		s->sample_ns[i] = keys[i].dur_ns;
	s->n_warmup = select->use_steps ? 0 : warmup_steps(select->warmup, s->sample_ns, n);
	if (s->n_warmup == SIZE_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		place[keys[i].sample] = i < s->n_warmup ? RUN_NO_SAMPLE : (uint32_t)(i - s->n_warmup);
	for (size_t i = 0; i < s->n; i++)
		s->items[i].sample = place[s->items[i].sample];
	s->n_samples = n - s->n_warmup;
	memmove(s->sample_ns, s->sample_ns + s->n_warmup, s->n_samples * sizeof *s->sample_ns);
	qsort(s->items, s->n, sizeof *s->items, by_rank);
	return true;
}

bool run_steps_find(run_steps *s, const rows *r, const sonde_analyze_options *select)
{
	size_t n = r->n_steps;
	sample_key *keys = malloc((n + 1) * sizeof *keys);
	uint32_t *place = malloc((n + 1) * sizeof *place);

	s->items = calloc(n + 1, sizeof *s->items);
	s->sample_ns = malloc((n + 1) * sizeof *s->sample_ns);
	bool ok = keys && place && s->items && s->sample_ns;
	for (size_t i = 0; ok && i < n; i++) {
		const rows_step *from = &r->steps[i];
		s->items[s->n++] = (run_step){ .number = from->number,
					       .start_ns = from->start_ns,
					       .end_ns = from->start_ns + from->dur_ns,
					       .track = from->track,
					       .rank = from->rank };
	}
	if (ok && n)
		ok = place_samples(s, keys, join_steps(s, keys), place, select);
	free(keys);
	free(place);
	return ok;
}

void run_steps_done(run_steps *s)
{
	free(s->items);
	free(s->sample_ns);
}

/* The first step of the rank that starts after the time. */
static size_t step_after(const run_steps *s, int32_t rank, int64_t ns)
{
	const run_step *all = s->items;

	return FIRST_NOT(i, 0, s->n, all[i].rank < rank || (all[i].rank == rank && all[i].start_ns <= ns));
}

uint32_t run_steps_at(const run_steps *s, int32_t rank, int64_t ns, size_t *hint)
{
	const run_step *last = &s->items[*hint];

	if (*hint < s->n && last->rank == rank && last->start_ns <= ns && ns < last->end_ns)
		return last->sample;
	size_t at = step_after(s, rank, ns);
	/* Steps of several threads may overlap: the latest that holds the time, of as many as run at once. */
	for (size_t looked = 0; at-- > 0 && s->items[at].rank == rank && looked < STEPS_AT_ONCE; looked++)
		if (ns < s->items[at].end_ns) {
			*hint = at;
			return s->items[at].sample;
		}
	return RUN_NO_SAMPLE;
}
