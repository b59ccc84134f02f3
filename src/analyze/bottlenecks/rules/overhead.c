/* Without a device: the time goes to calling operators, not to what they do. Tiny operators and the short pauses
 * between operators count. */
#include "analyze/bottlenecks/rule.h"

enum { OP, PAUSE, WARN, LEAST };
static const setting_def settings[] = {
	{ "overhead.op", SETTING_NS, "10us", "an operator shorter than this is mostly overhead" },
	{ "overhead.pause", SETTING_NS, "100us", "a pause shorter than this is overhead" },
	{ "overhead.warn", SETTING_SHARE, "50%", "overhead, as a share of the selected time" },
	{ "overhead.least", SETTING_NUMBER, "100", "minimum number of operators" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally tiny = { 0 };
	int64_t work = 0, lost = 0;
	double longest_pause = rule_setting(r, PAUSE), shortest = rule_setting(r, OP);

	for (size_t i = 0; i < e->n_ranks; i++) {
		interval_walk w = intervals_first(&e->ranks[i].ops);
		interval op;
		for (int64_t end = intervals_next(&w, &op) ? op.end : 0; intervals_next(&w, &op); end = op.end) {
			int64_t pause = op.start - end;
			if ((double)pause < longest_pause)
				lost = add_bounded(lost, pause);
		}
	}
	int64_t pauses = lost;
	site_set sites = rule_sites(r, TRAIT_OP);
	FOR_ROWS(i, r, &sites)
	{
		const row *at = ROW_AT(&e->rows, i);
		if (row_is_inside(e, (uint32_t)i, TRAIT_OP | TRAIT_LOADER))
			continue;
		if ((double)at->dur_ns < shortest)
			tally_add(&tiny, (uint32_t)i, at->dur_ns);
		else
			work = add_bounded(work, at->dur_ns);
	}
	site_set_done(&sites);
	lost = add_bounded(lost, tiny.ns);
	rule_saw(r, "%s tiny operators %s, pauses %s, larger operators %s", say_count(r, tiny.n), say_each(r, tiny.ns),
		 say_each(r, pauses), say_each(r, work));
	if ((double)tiny.n < rule_setting(r, LEAST) || !rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "operators are too small to be worth a call each");
	finding_evidence(r->result, f,
			 "%s operators are shorter than %s and take %s; the pauses between operators take %s. "
			 "Larger operators take %s.",
			 say_count(r, tiny.n), say_ns(r, (int64_t)rule_setting(r, OP)), say_each(r, tiny.ns),
			 say_each(r, pauses), say_each(r, work));
	finding_suggest(r->result, f, "process more data per call: a larger batch, vectorized code, torch.compile");
	f->confidence = 0.8;
	tally_link(r, f, &tiny);
}

const rule overhead_rule = {
	.name = "overhead",
	.checks = "Operators are too small to be worth a call each",
	.number = 0,
	.needs = NEED_HOST_ONLY,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
