/* What rules about devices share; see rule.h. */
#include "analyze/bottlenecks/rule.h"

#include <stdlib.h>
#include <string.h>
#include "base/search.h"

int64_t rule_exposed(const rule_run *r, uint32_t traits, tally *t)
{
	const evidence *e = r->e;
	int64_t sum = 0;

	for (size_t i = 0; i < e->n_ranks; i++) {
		const evidence_rank *k = &e->ranks[i];
		intervals these = { 0 }, inside = { 0 };
		for (size_t j = 0; j < k->of->n_device; j++) {
			const row *at = evidence_row(e, k->of->device[j]);
			if (!(row_traits(e, at) & traits))
				continue;
			intervals_add(&these, at->start_ns, row_end_ns(at));
			tally_add(t, k->of->device[j], at->dur_ns);
		}
		if (intervals_merge(&these) && intervals_intersect(&these, &k->span, &inside))
			sum = add_bounded(sum, intervals_length(&inside) - intervals_overlap(&inside, &k->compute));
		else
			r->result->failed = true;
		intervals_done(&these);
		intervals_done(&inside);
	}
	return sum;
}

int64_t rule_idle_behind(const rule_run *r, uint32_t traits, bool (*wanted)(const evidence *e, uint32_t number),
			 tally *t)
{
	const evidence *e = r->e;
	intervals *stretches = calloc(e->n_ranks + 1, sizeof *stretches); /* several rows may share one */
	int64_t sum = 0;

	site_set sites = rule_sites(r, traits);

	r->result->failed = r->result->failed || !stretches;
	for (size_t i = rule_next(r, &sites, 0); stretches && i < e->rows.n; i = rule_next(r, &sites, i + 1)) {
		const row *at = ROW_AT(&e->rows, i);
		bool counts = !wanted || wanted(e, (uint32_t)i);
		const evidence_rank *k = counts ? evidence_find_rank(e, row_rank(&e->rows, at)) : NULL;
		if (!k)
			continue;
		interval idle;
		if (intervals_find(&k->idle, row_end_ns(at), &idle))
			intervals_add(&stretches[k - e->ranks], idle.start, idle.end);
		tally_add(t, (uint32_t)i, at->dur_ns);
	}
	for (size_t i = 0; stretches && i < e->n_ranks; i++) {
		r->result->failed = !intervals_merge(&stretches[i]) || r->result->failed;
		sum = add_bounded(sum, intervals_length(&stretches[i]) -
					       intervals_overlap(&stretches[i], &e->ranks[i].loading));
		intervals_done(&stretches[i]);
	}
	free(stretches);
	site_set_done(&sites);
	return sum;
}

int64_t rule_gaps(const rule_run *r, bool late, int64_t least_ns, tally *t)
{
	const evidence *e = r->e;
	int64_t sum = 0;

	for (size_t i = 0; i < e->n_ranks; i++) {
		const rows_rank *of = e->ranks[i].of;
		int64_t end = of->n_device ? evidence_row(e, of->device[0])->start_ns : 0;

		for (size_t j = 0; j < of->n_device; j++) {
			const row *at = evidence_row(e, of->device[j]);
			int64_t gap = at->start_ns - end;
			const row *launch = at->launch == ROW_NONE ? NULL : evidence_row(e, at->launch);
			if (gap > least_ns && launch && (launch->start_ns > end) == late &&
			    intervals_overlap_with(&e->ranks[i].idle, end, at->start_ns) == gap) {
				sum = add_bounded(sum, gap);
				tally_add(t, of->device[j], gap);
			}
			end = row_end_ns(at) > end ? row_end_ns(at) : end;
		}
	}
	return sum;
}

bool row_has_launch(const evidence *e, const row *at)
{
	return at->class == CLASS_KERNEL && at->launch != ROW_NONE && !(row_traits(e, at) & TRAIT_COMM_KERNEL) &&
	       !strstr(row_name(&e->rows, evidence_row(e, at->launch)), "Graph");
}

memory_peak rule_peak(const rule_run *r, allocation_column of)
{
	table_cursor *c = malloc(sizeof *c);
	memory_peak peak = { .allocated = -1, .reserved = -1 };
	int64_t at[COLUMNS_MAX], most = -1;

	r->result->failed = r->result->failed || !c;
	if (!c)
		return peak;
	table_first(c, r->e->rows.ix, SECTION_ALLOCATIONS, 0);
	while (table_next(c, at)) {
		if (at[ALLOCATION_DEVICE_TYPE] <= 0 || at[of] <= most)
			continue;
		most = at[of];
		peak = (memory_peak){ at[ALLOCATION_TIME], at[ALLOCATION_TOTAL], at[ALLOCATION_RESERVED],
				      (uint32_t)at[ALLOCATION_TRACK] };
	}
	free(c);
	return peak;
}
