/* See part.h. */
#include "serve/part.h"

#include <stdlib.h>
#include "base/format_number.h"

/* Of one as JSON, about. A lane is in the list of lanes and a head of boxes. */
enum { TRACK_BYTES = 250, LANE_BYTES = 200, COUNTER_BYTES = 120, STEP_BYTES = 110 };

/* ---- The largest ------------------------------------------------------------------------------------------------- */

typedef struct weighed {
	uint64_t weight, order;
	size_t number;
} weighed;

/* Heaviest first; equals by their order. */
static int compare_weights(const void *a, const void *b)
{
	const weighed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

typedef uint64_t weight_fn(const void *context, size_t i);

/* All n in the order of their weight; NULL when out of memory. is_spread: the first of many equals are from everywhere
   among them. */
static weighed *sort_by_weight(size_t n, weight_fn *weight, const void *context, bool is_spread)
{
	weighed *all = malloc((n + 1) * sizeof *all);

	for (size_t i = 0; all && i < n; i++)
		all[i] = (weighed){ weight(context, i), is_spread ? i * UINT64_C(0x9e3779b97f4a7c15) : i, i };
	if (all && n)
		qsort(all, n, sizeof *all, compare_weights);
	return all;
}

/* Marks the heaviest `most` of n. */
static bool mark_heaviest(uint8_t *marks, size_t n, size_t most, weight_fn *weight, const void *context)
{
	if (n <= most) {
		memset(marks, 1, n);
		return true;
	}
	weighed *all = sort_by_weight(n, weight, context, true);
	for (size_t i = 0; all && i < most; i++)
		marks[all[i].number] = 1;
	free(all);
	return all;
}

static size_t at_most(size_t n, uint64_t most)
{
	return n < most ? n : (size_t)most;
}

/* ---- What is chosen ---------------------------------------------------------------------------------------------- */

static uint64_t values_of(const void *counters, size_t i)
{
	return ((const index_counter *)counters)[i].n_values;
}

static uint64_t time_of(const void *steps, size_t i)
{
	return (uint64_t)((const index_step *)steps)[i].dur_ns;
}

typedef struct track_weights {
	const index_track *tracks;
	const uint64_t *n_instants;
} track_weights;

static uint64_t events_of(const void *context, size_t i)
{
	const track_weights *w = context;

	return w->tracks[i].n_slices + w->n_instants[i];
}

static bool choose_counters(trace_part *p, uint64_t budget)
{
	size_t n;
	const index_counter *counters = index_counters(p->ix, &n);

	p->n_counters = at_most(at_most(n, PART_COUNTERS), budget / COUNTER_BYTES);
	return mark_heaviest(p->counters, n, p->n_counters, values_of, counters);
}

static bool choose_steps(trace_part *p, uint64_t budget)
{
	size_t n;
	const index_step *steps = index_steps(p->ix, &n);

	p->n_steps = at_most(n, budget / STEP_BYTES);
	return mark_heaviest(p->steps, n, p->n_steps, time_of, steps);
}

/* A track has its first lanes, the outermost, as long as there is room. */
static void take_track(trace_part *p, const index_track *t, size_t number, uint64_t n_lanes_max)
{
	p->tracks[number] = 1;
	p->processes[t->process] = 1;
	p->n_tracks++;
	for (uint32_t k = 0; k < t->n_lanes && p->n_lanes < n_lanes_max; k++, p->n_lanes++)
		p->lanes[t->first_lane + k] = 1;
}

static bool choose_tracks(trace_part *p, uint64_t budget)
{
	size_t n, n_counters;
	const index_track *tracks = index_tracks(p->ix, &n);
	const index_counter *counters = index_counters(p->ix, &n_counters);
	uint64_t *n_instants = calloc(n + 1, sizeof *n_instants);
	uint64_t n_lanes_max = budget / 2 / LANE_BYTES, n_max = budget / 2 / TRACK_BYTES;

	if (n_instants)
		index_count_instants(p->ix, n_instants);
	track_weights weights = { tracks, n_instants };
	weighed *all = n_instants ? sort_by_weight(n, events_of, &weights, false) : NULL;
	for (size_t i = 0; all && i < n_counters; i++) /* they are drawn there */
		if (p->counters[i] && !p->tracks[counters[i].track])
			take_track(p, &tracks[counters[i].track], counters[i].track, n_lanes_max);
	for (size_t i = 0; all && i < n && p->n_tracks < n_max; i++)
		if (!p->tracks[all[i].number])
			take_track(p, &tracks[all[i].number], all[i].number, n_lanes_max);
	free(n_instants);
	free(all);
	return all;
}

bool trace_part_choose(trace_part *p, const sonde_index *ix, uint64_t budget)
{
	size_t n_tracks, n_lanes, n_processes, n_counters, n_steps;

	index_tracks(ix, &n_tracks);
	index_lanes(ix, &n_lanes);
	index_processes(ix, &n_processes);
	index_counters(ix, &n_counters);
	index_steps(ix, &n_steps);
	*p = (trace_part){ .tracks = calloc(n_tracks + 1, 1),
			   .lanes = calloc(n_lanes + 1, 1),
			   .processes = calloc(n_processes + 1, 1),
			   .counters = calloc(n_counters + 1, 1),
			   .steps = calloc(n_steps + 1, 1),
			   .ix = ix };
	return p->tracks && p->lanes && p->processes && p->counters && p->steps && choose_counters(p, budget / 8) &&
	       choose_steps(p, budget / 4) && choose_tracks(p, budget * 5 / 8);
}

void trace_part_done(trace_part *p)
{
	free(p->tracks);
	free(p->lanes);
	free(p->processes);
	free(p->counters);
	free(p->steps);
	*p = (trace_part){ 0 };
}
