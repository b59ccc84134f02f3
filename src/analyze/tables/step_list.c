/* See step_list.h. */
#include "analyze/tables/step_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/parse_units.h"
#include "store/walk.h"

int32_t rank_of_index_track(const sonde_index *ix, size_t track)
{
	size_t n_tracks, n;
	const index_track *tracks = index_tracks(ix, &n_tracks);
	const index_process *processes = index_processes(ix, &n);
	int32_t rank = track < n_tracks && tracks[track].process < n ? processes[tracks[track].process].rank : 0;

	for (size_t i = 0; rank < 0 && i < n; i++)
		if (processes[i].rank >= 0)
			return rank;
	return rank < 0 ? 0 : rank;
}

int32_t rank_of_track(const sonde_trace *trace, size_t track)
{
	return trace->index ? rank_of_index_track(trace->index, track) : 0;
}

sonde_status ranks_check(const sonde_trace *trace, const char *ranks, sonde_error *err)
{
	size_t n = trace->threads.n ? trace->threads.n : 1;
	int32_t least = INT32_MAX, most = 0;

	if (!number_list_is_valid(ranks))
		return error_set(err, SONDE_E_USAGE, -1, "ranks are a list such as 0,2-4, not \"%s\"", ranks);
	for (size_t i = 0; i < n; i++) {
		int32_t rank = rank_of_track(trace, i);
		if (number_list_has(ranks, rank))
			return SONDE_OK;
		least = rank < least ? rank : least;
		most = rank > most ? rank : most;
	}
	if (least == most)
		return error_set(err, SONDE_E_USAGE, -1, "the trace has no rank %s, only %" PRId32, ranks, most);
	return error_set(err, SONDE_E_USAGE, -1, "the trace has no rank %s, but some from %" PRId32 " to %" PRId32,
			 ranks, least, most);
}

sonde_status steps_missing(const char *what, int64_t first, int64_t last, const char *where, sonde_error *err)
{
	char from[32] = "", to[32] = "";

	if (first > INT64_MIN)
		snprintf(from, sizeof from, "%" PRId64, first);
	if (last < INT64_MAX)
		snprintf(to, sizeof to, "%" PRId64, last);
	return error_set(err, SONDE_E_USAGE, -1, "the %s has no steps %s..%s%s", what, from, to, where);
}

sonde_status steps_check(const sonde_trace *trace, int64_t first, int64_t last, sonde_error *err)
{
	size_t n;
	const index_step *steps = index_steps(trace->index, &n);

	for (size_t i = 0; i < n; i++)
		if (steps[i].number >= first && steps[i].number <= last)
			return SONDE_OK;
	return steps_missing("trace", first, last, "", err);
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

typedef struct walked_steps {
	size_t n;
	step_time items[];
} walked_steps;

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

/* What the first one found is kept with the trace: every report asks for its steps twice. */
static void keep(const sonde_trace *trace, const step_list *found)
{
	walked_steps *kept = malloc(sizeof *kept + found->n * sizeof kept->items[0]), *none = NULL;

	if (!kept)
		return; /* it is walked again */
	kept->n = found->n;
	for (size_t i = 0; i < found->n; i++)
		kept->items[i] = found->items[i];
	if (!__atomic_compare_exchange_n((void **)&trace->walked_steps, (void **)&none, kept, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		free(kept);
}

static sonde_status load_recording(const sonde_trace *trace, step_search *f, sonde_error *err)
{
	walk_sink sink = { .context = f, .end = find_step };
	walk_counts counts;
	const walked_steps *known = __atomic_load_n((walked_steps **)&trace->walked_steps, __ATOMIC_ACQUIRE);

	for (size_t i = 0; known && i < known->n && !f->failed; i++)
		f->failed = !add(f->to, known->items[i]);
	if (known || !has_step_names(trace))
		return SONDE_OK;
	sonde_status status = trace_walk(trace, &sink, &counts, err);
	if (!status && !f->failed)
		keep(trace, f->to);
	return status;
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
	sonde_status status = SONDE_OK;

	if (trace->index)
		f.failed = !load_index(trace, ranks, ret_steps);
	else if (!ranks || number_list_has(ranks, 0))
		status = load_recording(trace, &f, err);
	if (!status && f.failed)
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (!status && ret_steps->n)
		qsort(ret_steps->items, ret_steps->n, sizeof ret_steps->items[0], compare_steps);
	return status;
}

size_t step_name_length(const char *text, size_t len)
{
	size_t end = len;

	while (end && text[end - 1] >= '0' && text[end - 1] <= '9')
		end--;
	return end > 1 && end < len && text[end - 1] == '#' ? end - 1 : len;
}
