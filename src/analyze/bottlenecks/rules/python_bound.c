/* The device is idle while the host is in none of: loader, operators, launches, communication. That is Python. */
#include "analyze/bottlenecks/rule.h"

#include <stdlib.h>
#include <string.h>

enum { WARN, MOST_CODE = 2 };
static const setting_def settings[] = {
	{ "python_bound.warn", SETTING_SHARE, "3%", "idle while the host is outside operators" },
};

/* ---- Whose code it is -------------------------------------------------------------------------------------------- */

/* A scope, an annotation or a Python function, no step. */
static bool is_code(const evidence *e, const row *at)
{
	return at->class != CLASS_STEP && !(at->flags & (ROW_ON_STREAM | ROW_ASYNC)) &&
	       !(row_traits(e, at) & (TRAIT_OP | TRAIT_RUNTIME | TRAIT_LOADER | TRAIT_COMM_HOST));
}

/* Where the nearest row of code above is, and the rows of code around that. */
typedef struct open_code {
	uint32_t site, end;
} open_code;
typedef VEC(open_code) open_codes;

/* Each instant that is lost goes to the innermost code of the thread that has the steps. False when out of memory. */
static bool add_thread(const evidence *e, const evidence_rank *k, const intervals *lost, int64_t *by_site)
{
	uint32_t end = e->rows.first_of_track[k->main_track + 1];
	open_codes open = { 0 };
	bool ok = true;

	for (uint32_t i = e->rows.first_of_track[k->main_track]; ok && i < end; i++) {
		const row *at = evidence_row(e, i);
		if (!is_code(e, at))
			continue;
		while (open.n && open.items[open.n - 1].end <= i)
			open.n--;
		int64_t ns = intervals_overlap_with(lost, at->start_ns, row_end_ns(at));
		by_site[at->site] = add_bounded(by_site[at->site], ns);
		if (open.n) {
			int64_t *outer = &by_site[open.items[open.n - 1].site];
			*outer = add_bounded(*outer, -ns);
		}
		open_code *code = VEC_ADD(&open);
		ok = code != NULL;
		if (code)
			*code = (open_code){ at->site, at->end };
	}
	VEC_DONE(&open);
	return ok;
}

static bool add_rank(const evidence *e, evidence_rank *k, int64_t *by_site, idle_worst *worst)
{
	intervals lost = { 0 };
	bool ok = evidence_other(k, &lost);

	if (ok && k->main_track < e->rows.n_tracks)
		ok = add_thread(e, k, &lost, by_site);
	if (ok)
		idle_worst_find(worst, k, &lost);
	intervals_done(&lost);
	return ok;
}

/* The sites with most of it, the most first; at least a tenth of what is lost. Returns how many. */
static size_t find_code(const rule_run *r, int64_t lost, uint32_t *ret_sites, int64_t *ret_ns, idle_worst *worst)
{
	enum { PART = 10 };
	const evidence *e = r->e;
	int64_t *by_site = calloc(e->rows.n_sites + 1, sizeof *by_site);
	bool ok = by_site != NULL;
	size_t n = 0;

	for (size_t i = 0; ok && i < e->n_ranks; i++)
		ok = add_rank(e, &e->ranks[i], by_site, worst);
	r->result->failed |= !ok;
	for (uint32_t i = 0; ok && i < e->rows.n_sites; i++) {
		size_t at = n;
		if (by_site[i] <= lost / PART)
			continue;
		while (at > 0 && ret_ns[at - 1] < by_site[i])
			at--;
		if (at == MOST_CODE)
			continue;
		n += n < MOST_CODE;
		memmove(&ret_sites[at + 1], &ret_sites[at], (n - 1 - at) * sizeof *ret_sites);
		memmove(&ret_ns[at + 1], &ret_ns[at], (n - 1 - at) * sizeof *ret_ns);
		ret_sites[at] = i;
		ret_ns[at] = by_site[i];
	}
	free(by_site);
	return n;
}

static const char *say_code(const rule_run *r, int64_t lost, const uint32_t *sites, const int64_t *ns, size_t n)
{
	const rows *all = &r->e->rows;
	const char *text = NULL;

	if (n)
		text = result_format(r->result, "%s of it in `%.60s` itself", say_share(r, ns[0], lost),
				     index_text(all->ix, all->sites[sites[0]].name));
	return text ? text : "the program's own code, or unrecorded code";
}

/* Where no code stands out. */
static const char *what_to_do(const rows *all)
{
	for (size_t i = 0; i < all->n_sites; i++)
		if (all->sites[i].class == CLASS_PYTHON)
			return "no single function dominates: call fewer and larger operators, torch.compile, CUDA "
			       "graphs";
	return all->trace->is_recorded ? "add scopes inside the steps to see the code; move logging, metrics and "
					 "bookkeeping out of the step"
				       : "record with with_stack=True to see the code; move logging, metrics and "
					 "bookkeeping out of the step";
}

static void tell(rule_run *r, sonde_finding *f, int64_t lost)
{
	const rows *all = &r->e->rows;
	uint32_t sites[MOST_CODE];
	int64_t ns[MOST_CODE];
	idle_worst worst = { 0 };
	size_t n = find_code(r, lost, sites, ns, &worst);

	finding_evidence(r->result, f,
			 "For %s of the time the device is idle and the host is neither in an operator nor "
			 "in a launch, a load or a collective: %s.",
			 say_part(r, lost), say_code(r, lost, sites, ns, n));
	for (size_t i = 0; i < n; i++)
		finding_affects(r->result, f, index_text(all->ix, all->sites[sites[i]].name));
	finding_suggest(r->result, f, "%s",
			n ? "prepare this work in another thread or for the next step, do it less often, or remove it"
			  : what_to_do(all));
	rule_link_worst(r, f, &worst);
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	int64_t lost = 0;

	for (size_t i = 0; i < e->n_ranks; i++)
		lost = add_bounded(lost, e->ranks[i].idle_other_ns);
	rule_saw(r, "idle %s (%s) while the host is outside operators", say_each(r, lost), say_part(r, lost));
	if (!rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "the device waits for code outside operators");
	tell(r, f, lost);
	f->confidence = 0.6;
}

const rule python_bound_rule = {
	.name = "python_bound",
	.checks = "The device waits for the program outside operators",
	.number = 5,
	.needs = NEED_DEVICE,
	.sign_of = "slow_start step_outliers io_bottleneck pipeline_bubble",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
