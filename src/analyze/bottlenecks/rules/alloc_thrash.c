/* The caching allocator goes to the driver in steps that should reuse what they have. */
#include "analyze/bottlenecks/rule.h"

enum { CALLS, WARN };
static const setting_def settings[] = {
	{ "alloc_thrash.calls", SETTING_NUMBER, "1", "calls per step" },
	{ "alloc_thrash.warn", SETTING_SHARE, "1%", "time in the calls" },
};

static void run(rule_run *r)
{
	tally calls = tally_rows(r, TRAIT_MALLOC | TRAIT_FREE);
	double per_step = (double)calls.n / (double)(r->e->n_steps * r->e->n_ranks);

	rule_saw(r, "%s calls (%.2g per step), %s", say_count(r, calls.n), per_step, say_each(r, calls.ns));
	if (per_step <= rule_setting(r, CALLS) || !rule_exceeds(r, calls.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, calls.ns, "device memory is allocated and freed in every step");
	finding_evidence(r->result, f, "%s to the driver's allocator, %.2g per step: %s.",
			 say_some(r, calls.n, "call", "calls"), per_step, say_each(r, calls.ns));
	finding_suggest(r->result, f,
			"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, fewer different shapes, no empty_cache() in "
			"the loop, less memory per step");
	tally_link(r, f, &calls);
}

const rule alloc_thrash_rule = {
	.name = "alloc_thrash",
	.checks = "Device memory is allocated and freed in every step",
	.number = 41,
	.needs = NEED_DEVICE | NEED_STEPS,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
