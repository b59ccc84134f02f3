/* See step_roles.h. */
#include "analyze/tables/step_roles.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/tables/evidence.h"
#include "base/search.h"

const char *step_role_name(step_role role)
{
	static const char *const names[STEP_ROLES] = { "kernel",  "memcpy", "memset",	"communication",
						       "runtime", "loader", "host ops", "other" };

	return names[role];
}

static step_role role_on_device(const work *w, const row *at)
{
	const char *name = row_name(&w->rows, at);

	switch (work_kind(w, at->site)) {
	case KERNEL_COMMUNICATION:
		return STEP_COMMUNICATION;
	case KERNEL_MEMORY:
		return strstr(name, "emset") || strstr(row_category(&w->rows, at), "emset") ? STEP_MEMSET : STEP_MEMCPY;
	default:
		return STEP_KERNEL;
	}
}

/* STEP_ROLES: none, it says nothing about what was done. */
static step_role role_of(const work *w, const row *at)
{
	const char *name = row_name(&w->rows, at);

	if (at->flags & ROW_DEVICE)
		return role_on_device(w, at);
	if (at->flags & ROW_ON_STREAM)
		return STEP_ROLES;
	uint32_t traits = traits_of(name, row_category(&w->rows, at), (site_class)at->class);
	if (traits & TRAIT_RUNTIME)
		return STEP_RUNTIME;
	if (traits & TRAIT_LOADER || strncmp(name, "enumerate(DataPipe)#", 20) == 0)
		return STEP_LOADER;
	if (traits & TRAIT_COMM_HOST || strncmp(name, "nccl:", 5) == 0)
		return STEP_COMMUNICATION;
	if (traits & TRAIT_OP || at->class == CLASS_ANNOTATION)
		return STEP_HOST;
	return at->class == CLASS_OTHER && w->rows.trace->is_recorded ? STEP_HOST : STEP_ROLES;
}

/* ---- Who is active ----------------------------------------------------------------------------------------------- */

typedef struct role_finder {
	step_roles *to;
	const work *w;
	uint8_t *known; /* role + 1 of sites, on the host and on a stream; 0: not looked at yet */
} role_finder;

static void add_row(role_finder *f, const row *at)
{
	uint8_t *known = &f->known[at->site * 2 + ((at->flags & ROW_ON_STREAM) != 0)];

	if (!*known)
		*known = (uint8_t)(role_of(f->w, at) + 1);
	if (*known <= STEP_OTHER)
		intervals_add(&f->to->active[*known - 1], at->start_ns, row_end_ns(at));
}

static bool find_active(step_roles *s, const work *w, int32_t rank)
{
	const rows *r = &w->rows;
	role_finder f = { s, w, calloc(r->n_sites + 1, 2) };
	bool ok = f.known != NULL;

	for (size_t t = 0; ok && t < r->n_tracks; t++) {
		uint32_t first = r->first_of_track[t], end = r->first_of_track[t + 1];
		for (uint32_t i = first; i < end && track_rank(r, t) == rank; i++)
			add_row(&f, ROW_AT(r, i));
	}
	free(f.known);
	for (int k = 0; k < STEP_OTHER; k++)
		ok = intervals_merge(&s->active[k]) && ok;
	for (int k = 0; ok && k < STEP_OTHER; k++)
		ok = intervals_union(&s->active[k], k ? &s->first[k - 1] : &(intervals){ 0 }, &s->first[k]);
	return ok;
}

int64_t step_roles_cost(const step_roles *s, step_role role, int64_t start_ns, int64_t end_ns)
{
	int64_t before = role ? intervals_overlap_with(&s->first[role - 1], start_ns, end_ns) : 0;

	if (role == STEP_OTHER)
		return end_ns - start_ns - before;
	return intervals_overlap_with(&s->first[role], start_ns, end_ns) - before;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* From the first operator of the rank to the last; all of it when there is none. */
static role_step whole_rank(const work *w, size_t k)
{
	role_step step = { .start_ns = INT64_MAX, .end_ns = INT64_MIN };

	for (size_t i = 0; i < w->rows.n; i++) {
		const row *at = ROW_AT(&w->rows, i);
		if (row_rank(&w->rows, at) != w->rows.ranks[k].rank || (at->flags & ROW_ON_STREAM) ||
		    at->class != CLASS_COMPUTE)
			continue;
		step.start_ns = at->start_ns < step.start_ns ? at->start_ns : step.start_ns;
		step.end_ns = row_end_ns(at) > step.end_ns ? row_end_ns(at) : step.end_ns;
	}
	if (step.start_ns > step.end_ns)
		step = (role_step){ .start_ns = w->rows.ranks[k].start_ns, .end_ns = w->rows.ranks[k].end_ns };
	return step;
}

size_t step_roles_at(const step_roles *s, int64_t ns)
{
	size_t n = FIRST_NOT(i, 0, s->n_steps, s->steps[i].start_ns <= ns);

	return n && ns < s->steps[n - 1].end_ns ? n - 1 : SIZE_MAX;
}

/* The step in which a call lies as a whole, or SIZE_MAX; steps are still those of the host. */
static size_t step_of_call(const step_roles *s, const work_call *call)
{
	size_t at = call ? step_roles_at(s, call->start) : SIZE_MAX;

	return at != SIZE_MAX && call->start + call->dur <= s->steps[at].end_ns ? at : SIZE_MAX;
}

typedef struct device_time {
	int64_t start_ns, end_ns;
} device_time;

/* What each step launched; returns where the device was done with what came before all steps. */
static int64_t find_launched(step_roles *s, const work *w, const work_rank *rank, device_time *times)
{
	int64_t before = s->steps[0].start_ns;

	for (size_t i = 0; i < s->n_steps; i++)
		times[i] = (device_time){ INT64_MAX, INT64_MIN };
	for (size_t pass = 0; pass < 2; pass++) /* first those of steps, then what is of none */
		for (size_t i = 0; i < rank->n; i++) {
			const work_item *item = WORK_AT(w, rank, i);
			int64_t end_ns = item->start + item->dur;
			const work_call *call = item->launch == WORK_NONE ? NULL : WORK_CALL(w, rank, item->launch);
			size_t at = step_of_call(s, call);
			if (pass == 0 && at != SIZE_MAX) {
				times[at].start_ns =
					item->start < times[at].start_ns ? item->start : times[at].start_ns;
				times[at].end_ns = end_ns > times[at].end_ns ? end_ns : times[at].end_ns;
				s->steps[at].n_device++;
			} else if (pass == 1 && at == SIZE_MAX && times[0].start_ns != INT64_MAX &&
				   end_ns < times[0].start_ns && end_ns > before) {
				before = end_ns;
			}
		}
	return before;
}

static void extend(step_roles *s, const device_time *times, int64_t before)
{
	for (size_t i = 0; i < s->n_steps; i++) {
		role_step *step = &s->steps[i];
		step->start_ns = before > step->start_ns ? before : step->start_ns;
		step->end_ns = times[i].end_ns > step->end_ns ? times[i].end_ns : step->end_ns;
		step->end_ns = step->end_ns < step->start_ns ? step->start_ns : step->end_ns;
		before = step->end_ns;
	}
}

static void cut_tail(step_roles *s)
{
	size_t n = s->n_steps;

	while (n > 1 && !s->steps[n - 1].n_device)
		n--;
	if (n > 1 && (double)s->steps[n - 2].n_device * 0.8 > (double)s->steps[n - 1].n_device)
		n--;
	s->n_cut = s->n_steps - n;
	s->n_steps = n;
}

static bool find_steps(step_roles *s, const work *w, size_t k)
{
	const rows_rank *rank = &w->rows.ranks[k];
	size_t n = rank->n_steps ? rank->n_steps : 1, n_device = 0;
	device_time *times = malloc(n * sizeof *times);

	s->steps = malloc(n * sizeof *s->steps);
	s->is_made_up = !rank->n_steps;
	if (!times || !s->steps) {
		free(times);
		return false;
	}
	for (size_t i = 0; i < rank->n_steps; i++)
		s->steps[i] = (role_step){ .number = rank->steps[i].number,
					   .start_ns = rank->steps[i].start_ns,
					   .end_ns = rank->steps[i].start_ns + rank->steps[i].dur_ns };
	if (!rank->n_steps)
		s->steps[0] = whole_rank(w, k);
	s->n_steps = n;
	int64_t before = find_launched(s, w, &w->ranks[k], times);
	for (size_t i = 0; i < n; i++)
		n_device += s->steps[i].n_device;
	if (n_device) {
		extend(s, times, before);
		cut_tail(s);
	}
	free(times);
	return true;
}

bool step_roles_find(step_roles *s, const work *w, size_t rank)
{
	*s = (step_roles){ 0 };
	return find_active(s, w, w->rows.ranks[rank].rank) && find_steps(s, w, rank);
}

void step_roles_done(step_roles *s)
{
	for (int k = 0; k < STEP_OTHER; k++) {
		intervals_done(&s->active[k]);
		intervals_done(&s->first[k]);
	}
	free(s->steps);
	*s = (step_roles){ 0 };
}
