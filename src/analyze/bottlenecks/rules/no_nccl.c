/* Collectives run on the processor although the ranks have devices. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "no_nccl.warn", SETTING_SHARE, "1%", "idle time of the device during them" },
};

static void run(rule_run *r)
{
	tally calls = tally_rows(r, TRAIT_COMM_HOST);
	int64_t lost = 0;

	for (size_t i = 0; i < r->e->n_ranks; i++)
		lost = add_bounded(lost, r->e->ranks[i].idle_comm_ns);
	if (!calls.n && !r->e->has_comm) {
		rule_no_data(r, "no collectives");
		return;
	}
	rule_saw(r, "%s collectives on the host, device idle during them %s", say_count(r, calls.n), say_each(r, lost));
	if (!rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "collectives run on the host");
	finding_evidence(r->result, f, "%s on the host; the device is idle for %s of that.",
			 say_some(r, calls.n, "collective runs", "collectives run"), say_each(r, lost));
	finding_suggest(r->result, f, "init_process_group(\"nccl\")");
	f->confidence = 0.9;
	tally_link(r, f, &calls);
}

const rule no_nccl_rule = {
	.name = "no_nccl",
	.checks = "Collectives of device tensors run on the host",
	.number = 28,
	.needs = NEED_DEVICE,
	.sign_of = "straggler",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
