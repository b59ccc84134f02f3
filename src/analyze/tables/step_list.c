/* See step_list.h. */
#include "analyze/tables/step_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/parse_units.h"

int32_t rank_of_index_track(const sonde_index *ix, size_t track)
{
	if (track >= index_n_rows(ix, SECTION_TRACKS))
		return 0;
	int32_t rank = index_rank_of(ix, (uint32_t)track);
	return rank >= 0 || index_has_ranks(ix) ? rank : 0;
}

int32_t rank_of_track(const sonde_trace *trace, size_t track)
{
	return rank_of_index_track(trace->index, track);
}

sonde_status ranks_check(const sonde_trace *trace, const char *ranks, sonde_error *err)
{
	size_t n = trace->threads.n ? trace->threads.n : 1;
	int32_t least = INT32_MAX, most = 0;

	if (!number_list_is_valid(ranks))
		return error_set(err, SONDE_E_USAGE, -1, "invalid ranks \"%s\": expected a list such as 0,2-4", ranks);
	for (size_t i = 0; i < n; i++) {
		int32_t rank = rank_of_track(trace, i);
		if (number_list_has(ranks, rank))
			return SONDE_OK;
		least = rank < least ? rank : least;
		most = rank > most ? rank : most;
	}
	if (least == most)
		return error_set(err, SONDE_E_USAGE, -1, "the trace has no rank %s, only rank %" PRId32, ranks, most);
	return error_set(err, SONDE_E_USAGE, -1, "the trace has no rank %s, but some from %" PRId32 " to %" PRId32,
			 ranks, least, most);
}

sonde_status steps_missing(int64_t first, int64_t last, const char *where, sonde_error *err)
{
	char from[32] = "", to[32] = "";

	if (first > INT64_MIN)
		snprintf(from, sizeof from, "%" PRId64, first);
	if (last < INT64_MAX)
		snprintf(to, sizeof to, "%" PRId64, last);
	return error_set(err, SONDE_E_USAGE, -1, "the trace has no steps %s..%s%s", from, to, where);
}

sonde_status steps_check(const sonde_trace *trace, int64_t first, int64_t last, sonde_error *err)
{
	size_t n;
	const index_step *steps = index_steps(trace->index, &n);

	for (size_t i = 0; i < n; i++)
		if (steps[i].number >= first && steps[i].number <= last)
			return SONDE_OK;
	return steps_missing(first, last, "", err);
}

static bool add(step_list *to, step_time step)
{
	step_time *at = VEC_ADD(to);

	if (at)
		*at = step;
	return at != NULL;
}

static bool load(const sonde_trace *trace, const char *ranks, step_list *to)
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

static int compare_steps(const void *a, const void *b)
{
	const step_time *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

sonde_status step_list_load(const sonde_trace *trace, const char *ranks, step_list *ret_steps, sonde_error *err)
{
	if (!load(trace, ranks, ret_steps))
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (ret_steps->n)
		qsort(ret_steps->items, ret_steps->n, sizeof ret_steps->items[0], compare_steps);
	return SONDE_OK;
}

size_t step_name_length(const char *text, size_t len)
{
	size_t end = len;

	while (end && text[end - 1] >= '0' && text[end - 1] <= '9')
		end--;
	return end > 1 && end < len && text[end - 1] == '#' ? end - 1 : len;
}
