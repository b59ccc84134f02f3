/* Memsets that block the host: cudaMemset instead of cudaMemsetAsync. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "sync_memset.warn", SETTING_SHARE, "1%", "idle time of the device after the calls" },
};

static void run(rule_run *r)
{
	tally calls = { 0 };
	int64_t lost = rule_idle_behind(r, TRAIT_SYNC_MEMSET, NULL, &calls);

	rule_saw(r, "%s calls, %s, device idle after them %s", say_count(r, calls.n), say_each(r, calls.ns),
		 say_each(r, lost));
	if (!rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "the host blocks in memsets");
	finding_evidence(r->result, f, "%s the host for %s; the device is then idle for %s.",
			 say_some(r, calls.n, "synchronous memset blocks", "synchronous memsets block"),
			 say_each(r, calls.ns), say_each(r, lost));
	finding_suggest(r->result, f, "use the Async call");
	f->confidence = 0.8;
	tally_link(r, f, &calls);
}

const rule sync_memset_rule = {
	.name = "sync_memset",
	.checks = "The host blocks in memsets",
	.number = 38,
	.needs = NEED_DEVICE,
	.sign_of = "pageable to_host item_sync",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
