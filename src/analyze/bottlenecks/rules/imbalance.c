/* Ranks compute for different lengths of time. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "imbalance.warn", SETTING_SHARE, "5%", "excess of the busiest rank over the average" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	int64_t sum = 0, most = 0;
	size_t at = 0;

	for (size_t i = 0; i < e->n_ranks; i++) {
		int64_t ns = intervals_length(&e->ranks[i].compute);
		sum = add_bounded(sum, ns);
		at = ns > most ? i : at;
		most = ns > most ? ns : most;
	}
	int64_t lost = 0;
	for (size_t i = 0; i < e->n_ranks; i++)
		lost = add_bounded(lost, most - intervals_length(&e->ranks[i].compute));
	rule_saw(r, "rank %d computes %s, the average %s", (int)e->ranks[at].of->rank, say_ns(r, most),
		 say_each(r, sum));
	if (!rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "rank %d has more work than the others", (int)e->ranks[at].of->rank);
	finding_evidence(r->result, f, "Rank %d computes for %s, the average rank for %s.", (int)e->ranks[at].of->rank,
			 say_ns(r, most), say_each(r, sum));
	finding_suggest(r->result, f, "rebalance the work: shards, experts, sequence lengths, pipeline stages");
	f->rank = e->ranks[at].of->rank;
	tally longest = { 0 };
	for (size_t i = 0; i < e->ranks[at].of->n_device; i++)
		if (evidence_row(e, e->ranks[at].of->device[i])->class == CLASS_KERNEL)
			tally_add(&longest, e->ranks[at].of->device[i],
				  evidence_row(e, e->ranks[at].of->device[i])->dur_ns);
	tally_link(r, f, &longest);
}

const rule imbalance_rule = {
	.name = "imbalance",
	.checks = "Ranks have different amounts of work",
	.number = 13,
	.needs = NEED_DEVICE | NEED_RANKS,
	.sign_of = "straggler",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
