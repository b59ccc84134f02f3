/* Steps without a backward pass record what a backward pass would need. */
#include "analyze/bottlenecks/rule.h"

enum { OPS };
static const setting_def settings[] = {
	{ "grad_in_eval.ops", SETTING_NUMBER, "20", "minimum operators per step" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	args_column numbers = { .role = ROLE_SEQUENCE };
	tally ops = { 0 };
	site_set sites = rule_sites(r, TRAIT_BACKWARD);
	bool has_backward = rule_next(r, &sites, 0) < e->rows.n;

	site_set_done(&sites);
	if (has_backward) {
		rule_saw(r, "the trace has a backward pass");
		return;
	}
	if (!args_columns_read(e->rows.ix, &numbers, 1)) {
		r->result->failed = true;
		return;
	}
	sites = rule_sites(r, TRAIT_OP);
	FOR_ROWS(i, r, &sites)
	{
		const row *at = ROW_AT(&e->rows, i);
		if (args_column_int(e->rows.ix, &numbers, at->args, -1) >= 0)
			tally_add(&ops, (uint32_t)i, at->dur_ns);
	}
	site_set_done(&sites);
	args_columns_done(&numbers, 1);
	rule_saw(r, "%s operators save data for a backward pass that never runs", say_count(r, ops.n));
	if ((double)ops.n < rule_setting(r, OPS) * (double)(e->n_steps * e->n_ranks))
		return;
	sonde_finding *f = rule_found(r, -1, "gradients are prepared but never computed");
	finding_evidence(r->result, f,
			 "%s operators save data for a backward pass that never runs: it costs memory and time.",
			 say_count(r, ops.n));
	finding_suggest(r->result, f, "use torch.inference_mode() around evaluation and inference");
	f->confidence = 0.5;
	tally_link(r, f, &ops);
}

const rule grad_in_eval_rule = {
	.name = "grad_in_eval",
	.checks = "Gradients are prepared but never computed",
	.number = 59,
	.needs = NEED_STEPS,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
