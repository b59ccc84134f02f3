/* The device is idle while the host is in none of: loader, operators, launches, communication. That is Python. */
#include "analyze/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "python_bound.warn", SETTING_SHARE, "3%", "idle while the host is outside of operators" },
};

static int64_t outside_of_operators(const evidence_rank *k, interval idle)
{
	return idle.end - idle.start - intervals_overlap_with(&k->ops, idle.start, idle.end) -
	       intervals_overlap_with(&k->loading, idle.start, idle.end) -
	       intervals_overlap_with(&k->comm_host, idle.start, idle.end);
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	int64_t lost = 0;

	for (size_t i = 0; i < e->n_ranks; i++)
		lost = add_bounded(lost, e->ranks[i].idle_other_ns);
	rule_saw(r, "idle %s (%s) while the host is outside of operators", say_each(r, lost), say_part(r, lost));
	if (!rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "the device waits for code outside of any operator");
	finding_evidence(r->result, f,
			 "For %s of the time the device is idle and the host is neither in an operator nor "
			 "in a launch, a load or a collective: the program's own code, or nothing recorded.",
			 say_part(r, lost));
	finding_suggest(r->result, f,
			"record it again with with_stack=True, or sample it, to see which code; "
			"move logging, metrics and bookkeeping out of the step");
	f->confidence = 0.6;
	rule_link_idle(r, f, outside_of_operators);
}

const rule python_bound_rule = {
	.name = "python_bound",
	.checks = "The device waits for the program outside of any operator",
	.number = 5,
	.needs = NEED_DEVICE,
	.sign_of = "slow_start step_outliers cpu_bottleneck io_bottleneck pipeline_bubble",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
