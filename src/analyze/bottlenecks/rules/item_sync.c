/* Operators that give the host a value of a tensor: .item(), .cpu(), nonzero(). The host waits, then the device. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "item_sync.warn", SETTING_SHARE, "1%", "idle time of the device after the calls" },
};

/* Only where it really waits for the device. */
static bool is_read(const evidence *e, uint32_t i)
{
	const row *at = evidence_row(e, i);

	if (row_is_inside(e, i, TRAIT_SCALAR))
		return false;
	for (uint32_t k = i + 1; k < at->end; k++)
		if (row_traits(e, evidence_row(e, k)) & (TRAIT_SYNC_CALL | TRAIT_SYNC_COPY))
			return true;
	return false;
}

static void run(rule_run *r)
{
	tally reads = { 0 };
	int64_t lost = rule_idle_behind(r, TRAIT_SCALAR, is_read, &reads);
	uint64_t n_steps = r->e->n_steps ? r->e->n_steps * r->e->n_ranks : 1;

	rule_saw(r, "%s reads, %s, device idle after them %s", say_count(r, reads.n), say_each(r, reads.ns),
		 say_each(r, lost));
	if (reads.n < n_steps || !rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "values are copied back to the host %s",
				      r->e->n_steps ? "inside the steps" : "in between");
	const char *per_step =
		r->e->n_steps ? result_format(r->result, " (%s per step)", say_count(r, reads.n / n_steps)) : "";
	finding_evidence(r->result, f,
			 "%s a value to the host%s; the host waits %s and the "
			 "device is then idle for %s.",
			 say_some(r, reads.n, "operator hands", "operators hand"), per_step ? per_step : "",
			 say_each(r, reads.ns), say_each(r, lost));
	finding_suggest(
		r->result, f,
		"keep sums on the device and read them every n steps; avoid nonzero() and masks of unknown size");
	f->confidence = 0.9;
	tally_link(r, f, &reads);
}

const rule item_sync_rule = {
	.name = "item_sync",
	.checks = "Values are copied back to the host inside the steps",
	.number = 40,
	.needs = NEED_DEVICE,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
