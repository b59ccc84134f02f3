/* Tensors are made on the host and then copied to the device, which could have made them. */
#include "analyze/bottlenecks/rule.h"

#include <string.h>

enum { WARN };
static const setting_def settings[] = {
	{ "cpu_fill.warn", SETTING_SHARE, "1%", "filling and copying, as a share of the selected time" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally copies = { 0 };

	site_set fills = rule_sites(r, TRAIT_FILL);

	FOR_ROWS(i, r, &fills)
	{
		const row *fill = ROW_AT(&e->rows, i);
		if (row_is_inside(e, (uint32_t)i, TRAIT_FILL) || fill->end >= e->rows.n ||
		    row_cost_ns(e, (uint32_t)i) > 0)
			continue;
		const row *copy = ROW_AT(&e->rows, fill->end);
		if (copy->parent == fill->parent && copy->track == fill->track &&
		    strcmp(row_name(&e->rows, copy), "aten::to") == 0 && row_cost_ns(e, fill->end) > 0)
			tally_add(&copies, (uint32_t)i, fill->dur_ns + copy->dur_ns);
	}
	site_set_done(&fills);
	rule_saw(r, "%s times, %s (%s)", say_count(r, copies.n), say_each(r, copies.ns), say_part(r, copies.ns));
	/* Once is the start of a program, with the first use of the device in it. */
	if (copies.n < 2 || !rule_exceeds(r, copies.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, copies.ns, "tensors are filled on the host and then copied");
	finding_evidence(r->result, f, "%s tensors are filled by the host and then copied to the device: %s.",
			 say_count(r, copies.n), say_each(r, copies.ns));
	finding_suggest(r->result, f, "create them on the device: device= in the call");
	f->confidence = 0.8;
	tally_link(r, f, &copies);
}

const rule cpu_fill_rule = {
	.name = "cpu_fill",
	.checks = "Tensors are filled on the host and then copied",
	.number = 22,
	.needs = NEED_DEVICE,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
