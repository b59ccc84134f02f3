/* Gradients are filled with zeros where they could be dropped. */
#include "analyze/bottlenecks/rule.h"

#include <string.h>

enum { WARN };
static const setting_def settings[] = {
	{ "zero_grad.warn", SETTING_SHARE, "1%", "filling, as a share of the selected time" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally scopes = { 0 };
	uint64_t n = 0;

	site_set sites = rule_sites(r, TRAIT_ZERO_GRAD);
	FOR_ROWS(i, r, &sites)
	{
		const row *at = ROW_AT(&e->rows, i);
		if (row_is_inside(e, (uint32_t)i, TRAIT_ZERO_GRAD))
			continue;
		bool fills = false;
		for (uint32_t k = (uint32_t)i + 1; k < at->end && !fills; k++)
			fills = strstr(row_name(&e->rows, evidence_row(e, k)), "zero_");
		n++;
		if (fills)
			tally_add(&scopes, (uint32_t)i, at->dur_ns);
	}
	site_set_done(&sites);
	if (!n) {
		rule_no_data(r, "no zero_grad");
		return;
	}
	rule_saw(r, "%s of %s calls fill, %s", say_count(r, scopes.n), say_count(r, n), say_each(r, scopes.ns));
	if (!rule_exceeds(r, scopes.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, scopes.ns, "gradients are filled with zeros");
	finding_evidence(r->result, f, "%s the gradients, %s each.",
			 say_some(r, scopes.n, "call of zero_grad() fills", "calls of zero_grad() fill"),
			 say_ns(r, scopes.ns / (int64_t)scopes.n));
	finding_suggest(r->result, f, "zero_grad(set_to_none=True)");
	f->confidence = 0.8;
	tally_link(r, f, &scopes);
}

const rule zero_grad_rule = {
	.name = "zero_grad",
	.checks = "Gradients are filled with zeros",
	.number = 25,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
