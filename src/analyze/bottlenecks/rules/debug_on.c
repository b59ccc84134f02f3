/* Checks that are made for finding errors are on. */
#include "analyze/bottlenecks/rule.h"

static void run(rule_run *r)
{
	tally calls = tally_rows(r, TRAIT_DEBUG);

	rule_saw(r, "%s calls", say_count(r, calls.n));
	if (!calls.n)
		return;
	sonde_finding *f = rule_found(r, -1, "debugging checks are on");
	f->severity = SONDE_MEDIUM;
	finding_evidence(r->result, f,
			 "detect_anomaly or gradcheck was called %s; both make training several times slower.",
			 say_times(r, calls.n));
	finding_suggest(r->result, f, "turn them off except for debugging");
	tally_link(r, f, &calls);
}

const rule debug_on_rule = {
	.name = "debug_on",
	.checks = "Anomaly detection or gradcheck is on",
	.number = 60,

	.run = run,
};
