/* The optimizer takes a large part of the step. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "optimizer_heavy.warn", SETTING_SHARE, "10%", "the optimizer, as a share of the selected time" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally scopes = { 0 };

	site_set sites = rule_sites(r, TRAIT_OPTIMIZER);
	FOR_ROWS(i, r, &sites)
	{
		const row *at = ROW_AT(&e->rows, i);
		if (!(at->flags & ROW_ON_STREAM) && !row_is_inside(e, (uint32_t)i, TRAIT_OPTIMIZER))
			tally_add(&scopes, (uint32_t)i, row_cost_ns(e, (uint32_t)i));
	}
	site_set_done(&sites);
	if (!scopes.n) {
		rule_no_data(r, "no optimizer");
		return;
	}
	rule_saw(r, "%s calls, %s (%s)", say_count(r, scopes.n), say_each(r, scopes.ns), say_part(r, scopes.ns));
	if (!rule_exceeds(r, scopes.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, scopes.ns, "the optimizer takes a large part of the step");
	finding_evidence(r->result, f, "The optimizer takes %s per call, %s of the time.",
			 say_ns(r, scopes.ns / (int64_t)scopes.n), say_part(r, scopes.ns));
	finding_suggest(r->result, f, "%s, accumulate gradients over several batches, shard its state%s",
			e->rows.trace->is_recorded ? "update all tensors in one pass" : "fused=True",
			e->rows.trace->is_recorded ? "" : " (ZeRO, FSDP)");
	f->confidence = 0.7;
	tally_link(r, f, &scopes);
}

const rule optimizer_heavy_rule = {
	.name = "optimizer_heavy",
	.checks = "The optimizer takes a large part of the step",
	.number = 58,
	.needs = NEED_STEPS,
	.sign_of = "single_tensor_optimizer overhead",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
