/* Kernels that only put elements into another order: conversions between channel orders, transposes. */
#include "analyze/bottlenecks/rule.h"

#include <string.h>

enum { WARN };
static const setting_def settings[] = {
	{ "layout.warn", SETTING_SHARE, "5%", "conversions, as a share of the selected time" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally moves = { 0 };

	site_set sites = rule_sites(r, TRAIT_LAYOUT);
	for (uint32_t i = 0; sites.has && i < e->rows.n_sites; i++)
		if (e->traits[i] & TRAIT_OP &&
		    strcmp(index_text(e->rows.ix, e->rows.sites[i].name), "aten::contiguous") == 0)
			site_set_add(&sites, i);
	FOR_ROWS(i, r, &sites)
	{
		const row *at = ROW_AT(&e->rows, i);
		tally_add(&moves, (uint32_t)i,
			  row_traits(e, at) & TRAIT_LAYOUT ? at->dur_ns : row_cost_ns(e, (uint32_t)i));
	}
	site_set_done(&sites);
	rule_saw(r, "%s conversions, %s (%s)", say_count(r, moves.n), say_each(r, moves.ns), say_part(r, moves.ns));
	if (!rule_exceeds(r, moves.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, moves.ns, "layouts are converted back and forth");
	finding_evidence(r->result, f, "%s %s.",
			 say_some(r, moves.n, "layout conversion takes", "layout conversions take"),
			 say_each(r, moves.ns));
	finding_suggest(r->result, f,
			"keep one layout: memory_format=torch.channels_last for model and input; avoid "
			"contiguous() after transposes");
	tally_link(r, f, &moves);
}

const rule layout_rule = {
	.name = "layout",
	.checks = "Layouts are converted back and forth",
	.number = 48,
	.needs = NEED_DEVICE,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
