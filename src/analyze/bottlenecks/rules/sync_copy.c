/* Copies that block the host: cudaMemcpy instead of cudaMemcpyAsync. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "sync_copy.warn", SETTING_SHARE, "1%", "idle time of the device after the calls" },
};

static void run(rule_run *r)
{
	tally calls = { 0 };
	int64_t lost = rule_idle_behind(r, TRAIT_SYNC_COPY, NULL, &calls);

	rule_saw(r, "%s calls, %s, device idle after them %s", say_count(r, calls.n), say_each(r, calls.ns),
		 say_each(r, lost));
	if (!rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "the host blocks in copies");
	finding_evidence(r->result, f, "%s the host for %s; the device is then idle for %s.",
			 say_some(r, calls.n, "synchronous copy blocks", "synchronous copies block"),
			 say_each(r, calls.ns), say_each(r, lost));
	finding_suggest(r->result, f, "use the Async call (non_blocking=True) with pinned memory");
	f->confidence = 0.8;
	tally_link(r, f, &calls);
}

const rule sync_copy_rule = {
	.name = "sync_copy",
	.checks = "The host blocks in copies",
	.number = 37,
	.needs = NEED_DEVICE,
	.sign_of = "pageable to_host item_sync",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
