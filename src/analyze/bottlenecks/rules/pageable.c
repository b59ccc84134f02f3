/* Copies between pageable host memory and the device: they go through a buffer and block. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "pageable.warn", SETTING_SHARE, "1%", "copies, as a share of the selected time" },
};

static void run(rule_run *r)
{
	tally copies = { 0 };
	int64_t exposed = rule_exposed(r, TRAIT_PAGEABLE, &copies);

	rule_saw(r, "%s copies, %s, %s exposed", say_count(r, copies.n), say_each(r, copies.ns), say_each(r, exposed));
	if (!rule_exceeds(r, exposed, WARN))
		return;
	sonde_finding *f = rule_found(r, exposed, "copies use pageable memory");
	finding_evidence(r->result, f, "%s %s%s, %s while nothing computes.",
			 say_some(r, copies.n, "copy from or to pageable memory takes",
				  "copies from or to pageable memory take"),
			 say_each(r, copies.ns), say_per_rank(r), say_of_it(r, exposed, copies.ns));
	finding_suggest(r->result, f, "use pin_memory=True in the loader and non_blocking=True in the copy");
	tally_link(r, f, &copies);
}

const rule pageable_rule = {
	.name = "pageable",
	.checks = "Copies use pageable host memory",
	.number = 36,
	.needs = NEED_DEVICE,
	.sign_of = "to_host",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
