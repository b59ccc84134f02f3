/* Without a device: the time goes to calling operators, not to what they do. Tiny operators and the short pauses
 * between operators count. */
#include "analyze/rule.h"

enum { OP, PAUSE, WARN, LEAST };
static const setting_def settings[] = {
	{ "overhead.op", SETTING_NS, "10us", "operators shorter than this are mostly overhead" },
	{ "overhead.pause", SETTING_NS, "100us", "pauses shorter than this are overhead" },
	{ "overhead.warn", SETTING_SHARE, "50%", "overhead, as a share of the time looked at" },
	{ "overhead.least", SETTING_NUMBER, "100", "operators, at least" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally tiny = { 0 };
	int64_t work = 0, lost = 0;

	for (size_t i = 0; i < e->n_ranks; i++) {
		const intervals *ops = &e->ranks[i].ops;
		for (size_t j = 1; j < ops->n; j++) {
			int64_t pause = ops->items[j].start - ops->items[j - 1].end;
			if ((double)pause < rule_setting(r, PAUSE))
				lost = add_bounded(lost, pause);
		}
	}
	int64_t pauses = lost;
	for (size_t i = 0; i < e->rows.n; i++) {
		const row *at = &e->rows.items[i];
		if (!(row_traits(e, at) & TRAIT_OP) || row_is_inside(e, (uint32_t)i, TRAIT_OP | TRAIT_LOADER))
			continue;
		if ((double)at->dur_ns < rule_setting(r, OP))
			tally_add(&tiny, (uint32_t)i, at->dur_ns);
		else
			work = add_bounded(work, at->dur_ns);
	}
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
	finding_suggest(r->result, f, "work on more data per call: a larger batch, vectorised code, torch.compile");
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
