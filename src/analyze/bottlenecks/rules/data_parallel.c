/* DataParallel copies the model in every step and runs all devices from one process. */
#include "analyze/bottlenecks/rule.h"

static void run(rule_run *r)
{
	tally calls = tally_rows(r, TRAIT_DATA_PARALLEL);

	rule_saw(r, "%s calls", say_count(r, calls.n));
	if (!calls.n)
		return;
	sonde_finding *f = rule_found(r, -1, "DataParallel runs all devices from one process");
	f->severity = SONDE_MEDIUM;
	finding_evidence(r->result, f,
			 "DataParallel.forward was called %s: it copies the model to every device in each step, "
			 "from one process.",
			 say_times(r, calls.n));
	finding_suggest(r->result, f, "use DistributedDataParallel, one process per device");
	tally_link(r, f, &calls);
}

const rule data_parallel_rule = {
	.name = "data_parallel",
	.checks = "DataParallel is used instead of DistributedDataParallel",
	.number = 27,
	.needs = NEED_DEVICE,
	.run = run,
};
