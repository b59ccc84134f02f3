/* Gaps on the device that end with work launched only after the gap began. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "host_wait.warn", SETTING_SHARE, "10%", "waiting, as a share of the selected time" },
};

static void run(rule_run *r)
{
	tally waits = { 0 };
	int64_t lost = rule_gaps(r, true, 0, &waits);

	rule_saw(r, "%s gaps, %s (%s)", say_count(r, waits.n), say_each(r, lost), say_part(r, lost));
	if (!rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "the host launches the next work too late");
	finding_evidence(r->result, f, "%s with work launched after the gap began, %s in total.",
			 say_some(r, waits.n, "gap of the device ends", "gaps of the device end"), say_each(r, lost));
	finding_suggest(r->result, f, "let the host run ahead: fewer synchronizations, fewer and larger launches");
	tally_link(r, f, &waits);
}

const rule host_wait_rule = {
	.name = "host_wait",
	.checks = "The next work is launched too late",
	.number = 32,
	.needs = NEED_DEVICE,
	.sign_of = "dataloader sync_loader launch_bound python_bound item_sync explicit_sync alloc_thrash sync_copy "
		   "recompile straggler no_nccl low_utilization gpu_gaps",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
