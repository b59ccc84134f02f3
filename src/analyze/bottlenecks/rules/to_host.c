/* Copies to the host that no computation hides. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "to_host.warn", SETTING_SHARE, "5%", "exposed copies, as a share of the selected time" },
};

static void run(rule_run *r)
{
	tally copies = { 0 };
	int64_t lost = rule_exposed(r, TRAIT_TO_HOST, &copies);

	rule_saw(r, "%s copies, %s exposed (%s)", say_count(r, copies.n), say_each(r, lost), say_part(r, lost));
	if (!rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "results are copied to the host while nothing computes");
	finding_evidence(r->result, f, "%s %s%s, %s while the device computes nothing.",
			 say_some(r, copies.n, "copy to the host takes", "copies to the host take"),
			 say_each(r, copies.ns), say_per_rank(r), say_of_it(r, lost, copies.ns));
	finding_suggest(
		r->result, f,
		"copy less often (every n steps), into pinned memory, with non_blocking=True on a separate stream");
	tally_link(r, f, &copies);
}

const rule to_host_rule = {
	.name = "to_host",
	.checks = "Copies from the device to the host delay computation",
	.number = 3,
	.needs = NEED_DEVICE,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
