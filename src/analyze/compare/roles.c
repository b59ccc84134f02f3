/*
 * What steps consist of: how long the device computed, communicated, copied or had nothing to do, how long the host
 * loaded data or waited. From merged intervals, so that what runs at once counts once; parts may overlap
 * and need not add up to the step.
 */
#include <stdlib.h>
#include <string.h>
#include "analyze/compare/run.h"
#include "analyze/math/intervals.h"
#include "analyze/names/kernel_kind.h"
#include "analyze/math/stats.h"

typedef enum role {
	ROLE_COMPUTE,
	ROLE_COMMUNICATION,
	ROLE_COPY,
	ROLE_IDLE,
	ROLE_DATA,
	ROLE_WAIT,
	N_ROLES /* none of them */
} role;

static const char *const role_names[] = { "device computes", "device communicates", "device copies",
					  "device idle",     "data loading",	    "waiting" };

/* A row is on the host, on a device's queue without being its work, or its work. */
enum { ON_HOST, ON_QUEUE, ON_DEVICE, N_PLACES };

static int place_of(const row *at)
{
	return at->flags & ROW_DEVICE ? ON_DEVICE : at->flags & ROW_ON_STREAM ? ON_QUEUE : ON_HOST;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static role role_of(const rows *r, const index_site *site, int place)
{
	const char *name = index_text(r->ix, site->name);

	if (place == ON_DEVICE) {
		kernel_kind kind = kernel_kind_of(name, site->class);
		return kind == KERNEL_MEMORY	      ? ROLE_COPY
		       : kind == KERNEL_COMMUNICATION ? ROLE_COMMUNICATION
						      : ROLE_COMPUTE;
	}
	if (place == ON_QUEUE)
		return N_ROLES;
	if (site->class == CLASS_DATA_LOAD || begins(name, "enumerate(DataLoader)"))
		return ROLE_DATA;
	bool waits = site->class == CLASS_SYNC || (site->class == CLASS_RUNTIME && strstr(name, "Synchronize"));
	return waits ? ROLE_WAIT : N_ROLES;
}

/* Once per site and place: names are long, and rows are many. */
static void find_roles(const rows *r, uint8_t *ret_roles)
{
	for (size_t i = 0; i < r->n_sites; i++)
		for (int place = 0; place < N_PLACES; place++)
			ret_roles[N_PLACES * i + (size_t)place] = (uint8_t)role_of(r, &r->sites[i], place);
}

/* Idle is what is left of the time from the rank's first to its last row. */
static bool find_idle(const rows_rank *rank, const intervals *busy, intervals *ret)
{
	intervals all = { 0 };

	intervals_add(&all, rank->start_ns, rank->end_ns);
	bool ok = intervals_merge(&all) && intervals_subtract(&all, busy, ret);
	intervals_done(&all);
	return ok;
}

/* When each role was active on a rank. */
static bool merge_roles(const rows *r, const rows_rank *rank, const uint8_t *roles, intervals *ret)
{
	intervals busy = { 0 };
	bool ok = true;

	for (size_t t = 0; t < r->n_tracks; t++) {
		uint32_t i = r->first_of_track[t], end = r->first_of_track[t + 1];
		for (; i < end && track_rank(r, t) == rank->rank; i++) {
			const row *at = ROW_AT(r, i);
			int place = place_of(at);
			uint8_t is = roles[N_PLACES * (size_t)at->site + (size_t)place];
			if (is != N_ROLES)
				intervals_add(&ret[is], at->start_ns, row_end_ns(at));
			if (place == ON_DEVICE)
				intervals_add(&busy, at->start_ns, row_end_ns(at));
		}
	}
	for (int k = 0; k < N_ROLES; k++)
		ok = intervals_merge(&ret[k]) && ok;
	ok = intervals_merge(&busy) && ok;
	if (ok && busy.n)
		ok = find_idle(rank, &busy, &ret[ROLE_IDLE]);
	intervals_done(&busy);
	return ok;
}

static bool sum_rank(const compare_run *run, const rows *r, const rows_rank *rank, const uint8_t *roles,
		     const run_step *steps, size_t n_steps, int64_t *sums)
{
	intervals of[N_ROLES] = { 0 };
	bool ok = merge_roles(r, rank, roles, of);

	for (size_t i = 0; ok && i < n_steps; i++) {
		const run_step *s = &steps[i];
		if (s->rank != rank->rank || s->sample == RUN_NO_SAMPLE)
			continue;
		for (size_t k = 0; k < N_ROLES; k++) {
			int64_t *sum = &sums[k * run->n_steps + s->sample];
			*sum = add_bounded(*sum, intervals_overlap_with(&of[k], s->start_ns, s->end_ns));
		}
	}
	for (int k = 0; k < N_ROLES; k++)
		intervals_done(&of[k]);
	return ok;
}

/* What never happened is no item. */
static bool add_role(compare_run *run, role is, int64_t *sums)
{
	int64_t all = 0;

	for (size_t i = 0; i < run->n_steps; i++) {
		all = add_bounded(all, sums[i]);
		sums[i] /= (int64_t)run->n_ranks;
	}
	if (!all)
		return true;
	compare_item *item = compare_run_add(run, ITEM_ROLE, role_names[is]);
	if (!item)
		return false;
	item->calls = run->n_steps;
	item->sum_ns = item->total_ns = all;
	item->step = summary_in_time(sums, run->n_steps);
	return item->step.n != 0;
}

bool compare_run_roles(compare_run *run, const rows *r, const run_step *steps, size_t n_steps)
{
	if (!run->n_steps)
		return true;
	uint8_t *roles = malloc(N_PLACES * r->n_sites + 1);
	int64_t *sums = calloc(N_ROLES * run->n_steps, sizeof *sums);
	bool ok = roles && sums;
	if (ok)
		find_roles(r, roles);
	for (size_t k = 0; ok && k < r->n_ranks; k++)
		ok = sum_rank(run, r, &r->ranks[k], roles, steps, n_steps, sums);
	for (size_t k = 0; ok && k < N_ROLES; k++)
		ok = add_role(run, (role)k, sums + k * run->n_steps);
	free(roles);
	free(sums);
	return ok;
}
