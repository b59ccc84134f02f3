/* Work that was launched in time starts late although the device is idle: it waits for another stream or an event. */
#include "analyze/bottlenecks/rule.h"

enum { DELAY, WARN };
static const setting_def settings[] = {
	{ "stream_wait.delay", SETTING_NS, "100us", "minimum length of a wait" },
	{ "stream_wait.warn", SETTING_SHARE, "1%", "waiting, as a share of the selected time" },
};

static void run(rule_run *r)
{
	tally waits = { 0 };
	int64_t lost = rule_gaps(r, false, (int64_t)rule_setting(r, DELAY), &waits);

	rule_saw(r, "%s waits, %s (%s)", say_count(r, waits.n), say_each(r, lost), say_part(r, lost));
	if (!rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "queued work waits although the device is idle");
	finding_evidence(r->result, f,
			 "The device is idle for more than %s %s although its next work is already launched: it waits "
			 "for an event, a copy or another rank.",
			 say_ns(r, (int64_t)rule_setting(r, DELAY)), say_times(r, waits.n));
	finding_suggest(r->result, f, "check the dependencies of the named work; remove unneeded stream waits");
	f->confidence = 0.6;
	tally_link(r, f, &waits);
}

const rule stream_wait_rule = {
	.name = "stream_wait",
	.checks = "Queued work waits although the device is idle",
	.number = 30,
	.needs = NEED_DEVICE,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
