/* Long stretches in which the device does nothing at all. */
#include "analyze/bottlenecks/rule.h"

enum { GAP };
static const setting_def settings[] = {
	{ "gpu_gaps.gap", SETTING_NS, "500ms", "minimum length of a gap" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	int64_t lost = 0, longest = 0;
	uint64_t n = 0;

	for (size_t i = 0; i < e->n_ranks; i++) {
		interval gap;
		for (interval_walk at = intervals_first(&e->ranks[i].idle); intervals_next(&at, &gap);) {
			int64_t ns = gap.end - gap.start;
			if ((double)ns <= rule_setting(r, GAP))
				continue;
			n++;
			lost = add_bounded(lost, ns);
			longest = ns > longest ? ns : longest;
		}
	}
	rule_saw(r, "%s long gaps, %s", say_count(r, n), say_each(r, lost));
	if (!n)
		return;
	sonde_finding *f = rule_found(r, lost, "the device is idle for %s", say_ns(r, longest));
	finding_evidence(r->result, f, "%s longer than %s, the longest %s.",
			 say_some(r, n, "idle gap is", "idle gaps are"), say_ns(r, (int64_t)rule_setting(r, GAP)),
			 say_ns(r, longest));
	finding_suggest(r->result, f, "check the host activity there: checkpoints, evaluation, loading, compilation");
	rule_link_idle(r, f);
}

const rule gpu_gaps_rule = {
	.name = "gpu_gaps",
	.checks = "The device is idle for a long time",
	.number = 34,
	.needs = NEED_DEVICE,
	.sign_of = "dataloader python_bound explicit_sync recompile slow_start step_outliers straggler launch_bound",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
