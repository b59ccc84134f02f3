/* The program waits for the device in the middle of a step; afterwards the device has nothing to do. */
#include "analyze/bottlenecks/rule.h"

enum { WARN, IDLE };
static const setting_def settings[] = {
	{ "explicit_sync.warn", SETTING_SHARE, "3%", "time in the calls" },
	{ "explicit_sync.idle", SETTING_SHARE, "1%", "idle time of the device after the calls" },
};

/* At the end of a step (its last twentieth) a synchronisation ends the step, which is in order. */
static bool is_at_step_end(const evidence *e, const row *at)
{
	for (uint32_t up = at->parent; up != ROW_NONE; up = evidence_row(e, up)->parent) {
		const row *step = evidence_row(e, up);
		if (step->class == CLASS_STEP)
			return row_end_ns(step) - row_end_ns(at) < step->dur_ns / 20;
	}
	return false;
}

static bool is_sync(const evidence *e, uint32_t i)
{
	const row *at = evidence_row(e, i);

	return !is_at_step_end(e, at) && !row_is_inside(e, i, TRAIT_SCALAR);
}

static void run(rule_run *r)
{
	tally calls = { 0 };
	int64_t lost = rule_idle_behind(r, TRAIT_SYNC_CALL, is_sync, &calls);

	rule_saw(r, "%s calls, %s, device idle after them %s", say_count(r, calls.n), say_each(r, calls.ns),
		 say_each(r, lost));
	if (!rule_exceeds(r, calls.ns, WARN) || !rule_exceeds(r, lost, IDLE))
		return;
	sonde_finding *f = rule_found(r, lost, "the program waits for the device %s",
				      r->e->n_steps ? "inside the steps" : "in between");
	finding_evidence(r->result, f, "%s %s; the device is then idle for %s until new work arrives.",
			 say_some(r, calls.n, "synchronizing call takes", "synchronizing calls take"),
			 say_each(r, calls.ns), say_each(r, lost));
	finding_suggest(r->result, f, "remove the calls, or wait for an event of an earlier step");
	f->confidence = 0.8;
	tally_link(r, f, &calls);
}

const rule explicit_sync_rule = {
	.name = "explicit_sync",
	.checks = "The program synchronizes with the device inside the steps",
	.number = 39,
	.needs = NEED_DEVICE,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
