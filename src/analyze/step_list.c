/* See step_list.h. */
#include "analyze/step_list.h"

#include <stdlib.h>
#include "base/error.h"
#include "base/parse_units.h"
#include "store/walk.h"

int32_t rank_of_track(const sonde_trace *trace, size_t track)
{
	size_t n_tracks = 0, n = 0;
	const index_track *tracks = trace->index ? index_tracks(trace->index, &n_tracks) : NULL;
	const index_process *processes = tracks ? index_processes(trace->index, &n) : NULL;
	int32_t rank = track < n_tracks && tracks[track].process < n ? processes[tracks[track].process].rank : 0;

	for (size_t i = 0; rank < 0 && i < n; i++)
		if (processes[i].rank >= 0)
			return rank;
	return rank < 0 ? 0 : rank;
}

static bool add(step_list *to, step_time step)
{
	step_time *at = VEC_ADD(to);

	if (at)
		*at = step;
	return at != NULL;
}

static bool load_index(const sonde_trace *trace, const char *ranks, step_list *to)
{
	size_t n, n_tracks;
	const index_step *steps = index_steps(trace->index, &n);
	const index_track *tracks = index_tracks(trace->index, &n_tracks);

	for (size_t i = 0; i < n; i++) {
		if (steps[i].track >= n_tracks || tracks[steps[i].track].kind == TRACK_STREAM)
			continue;
		int32_t rank = rank_of_track(trace, steps[i].track);
		if (ranks && !number_list_has(ranks, rank))
			continue;
		if (!add(to, (step_time){ steps[i].number, trace_index_ns(trace, steps[i].start_ns), steps[i].dur_ns,
					  rank }))
			return false;
	}
	return true;
}

/* ---- Recordings without an index --------------------------------------------------------------------------------- */

typedef struct step_search {
	step_list *to;
	bool failed;
} step_search;

static void find_step(void *context, slice *s)
{
	step_search *f = context;

	if (s->site->kind == NAME_STEP)
		f->failed |= !add(f->to, (step_time){ s->number, s->start_ns, s->dur_ns, 0 });
}

/* Most programs have none, and walking takes as long as the report does. */
static bool has_step_names(const sonde_trace *trace)
{
	for (size_t i = 0; i < trace->streams.n; i++) {
		trace_site **pages = trace->streams.items[i].site_pages;
		for (size_t p = 0; pages && p < 256; p++)
			for (size_t k = 0; pages[p] && k < 256; k++)
				if (pages[p][k].record && pages[p][k].kind == NAME_STEP)
					return true;
	}
	return false;
}

static int compare_steps(const void *a, const void *b)
{
	const step_time *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

sonde_status step_list_load(const sonde_trace *trace, const char *ranks, step_list *ret_steps, sonde_error *err)
{
	step_search f = { .to = ret_steps };
	walk_sink sink = { .context = &f, .end = find_step };
	walk_counts counts;
	sonde_status status = SONDE_OK;

	if (trace->index)
		f.failed = !load_index(trace, ranks, ret_steps);
	else if ((!ranks || number_list_has(ranks, 0)) && has_step_names(trace))
		status = trace_walk(trace, &sink, &counts, err);
	if (!status && f.failed)
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (!status && ret_steps->n)
		qsort(ret_steps->items, ret_steps->n, sizeof ret_steps->items[0], compare_steps);
	return status;
}
