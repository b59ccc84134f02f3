/* Kernels that only put elements into another order: conversions between channel orders, transposes. */
#include "analyze/rule.h"

#include <string.h>

enum { WARN };
static const setting_def settings[] = {
	{ "layout.warn", SETTING_SHARE, "5%", "conversions, as a share of the time looked at" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally moves = { 0 };

	for (size_t i = 0; i < e->rows.n; i++) {
		const row *at = &e->rows.items[i];
		if (row_traits(e, at) & TRAIT_LAYOUT)
			tally_add(&moves, (uint32_t)i, at->dur_ns);
		else if (row_traits(e, at) & TRAIT_OP && strcmp(row_name(&e->rows, at), "aten::contiguous") == 0)
			tally_add(&moves, (uint32_t)i, row_cost_ns(e, (uint32_t)i));
	}
	rule_saw(r, "%s conversions, %s (%s)", say_count(r, moves.n), say_each(r, moves.ns), say_part(r, moves.ns));
	if (!rule_exceeds(r, moves.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, moves.ns, "layouts are converted back and forth");
	finding_evidence(r->result, f, "%s %s.",
			 say_some(r, moves.n, "conversion of layout takes", "conversions of layout take"),
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
