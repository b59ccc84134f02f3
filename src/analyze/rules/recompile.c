/* The compiler runs inside steps that should only run what is compiled. */
#include "analyze/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "recompile.warn", SETTING_SHARE, "1%", "compiling, as a share of the time looked at" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally runs = { 0 };
	bool has_regions = false;

	for (size_t i = 0; i < e->rows.n; i++) {
		const row *at = &e->rows.items[i];
		has_regions = has_regions || row_traits(e, at) & (TRAIT_REGION | TRAIT_COMPILE);
		if (row_traits(e, at) & TRAIT_COMPILE && !row_is_inside(e, (uint32_t)i, TRAIT_COMPILE))
			tally_add(&runs, (uint32_t)i, at->dur_ns);
	}
	if (!has_regions) {
		rule_no_data(r, "nothing compiled");
		return;
	}
	rule_saw(r, "%s compilations, %s", say_count(r, runs.n), say_each(r, runs.ns));
	if (!rule_exceeds(r, runs.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, runs.ns, "code is compiled again during the steps");
	finding_evidence(r->result, f, "The compiler runs %s times after the warm-up and takes %s.",
			 say_count(r, runs.n), say_each(r, runs.ns));
	finding_suggest(r->result, f,
			"TORCH_LOGS=recompiles says why; mark changing sizes with torch._dynamo.mark_dynamic");
	f->confidence = 0.9;
	tally_link(r, f, &runs);
}

const rule recompile_rule = {
	.name = "recompile",
	.checks = "Code is compiled again during the steps",
	.number = 51,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
