/* Collectives take a large part of the time, hidden or not. */
#include "analyze/bottlenecks/rule.h"

enum { WARN, EXPOSED };
static const setting_def settings[] = {
	{ "comm_heavy.warn", SETTING_SHARE, "10%", "collectives, hidden or not, as a share of the time" },
	{ "comm_heavy.exposed", SETTING_SHARE, "1%", "exposed collectives, as a share of the time" },
};

static void run(rule_run *r)
{
	tally calls = { 0 };
	int64_t exposed = rule_exposed(r, TRAIT_COMM_KERNEL, &calls), all = 0;

	for (size_t i = 0; i < r->e->n_ranks; i++)
		all = add_bounded(all, intervals_length(&r->e->ranks[i].comm));
	rule_saw(r, "collectives %s (%s), %s exposed", say_each(r, all), say_part(r, all), say_each(r, exposed));
	if (!rule_exceeds(r, all, WARN) || !rule_exceeds(r, exposed, EXPOSED))
		return;
	sonde_finding *f = rule_found(r, exposed, "collectives take a large part of the time");
	finding_evidence(r->result, f,
			 "Collectives run during %s of the time; hidden collectives also slow down concurrent work.",
			 say_part(r, all));
	finding_suggest(r->result, f, "communicate less: gradient accumulation, compression, different sharding");
	f->confidence = 0.6;
	tally_link(r, f, &calls);
}

const rule comm_heavy_rule = {
	.name = "comm_heavy",
	.checks = "Collectives take a large part of the time",
	.number = 6,
	.needs = NEED_DEVICE | NEED_COMM,
	.sign_of = "exposed_comm straggler late_comm small_collectives bus_bandwidth pipeline_bubble",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
