/* Collectives that no computation hides. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "exposed_comm.warn", SETTING_SHARE, "5%", "exposed communication, as a share of the time" },
};

static void run(rule_run *r)
{
	tally calls = { 0 };
	int64_t lost = rule_exposed(r, TRAIT_COMM_KERNEL, &calls);

	rule_saw(r, "%s collectives, %s exposed (%s)", say_count(r, calls.n), say_each(r, lost), say_part(r, lost));
	if (!rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "communication is not hidden behind computation");
	finding_evidence(r->result, f, "%s %s%s; for %s the device computes nothing.",
			 say_some(r, calls.n, "collective takes", "collectives take"), say_each(r, calls.ns),
			 say_per_rank(r), say_of_it(r, lost, calls.ns));
	finding_suggest(r->result, f,
			"overlap: smaller or earlier buckets (bucket_cap_mb), prefetch in FSDP, gradient "
			"accumulation, compression");
	tally_link(r, f, &calls);
}

const rule exposed_comm_rule = {
	.name = "exposed_comm",
	.checks = "Communication is not hidden behind computation",
	.number = 7,
	.needs = NEED_DEVICE | NEED_COMM,
	.sign_of = "straggler late_comm small_collectives bus_bandwidth pipeline_bubble",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
