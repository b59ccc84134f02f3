/* The processor is busy while the device waits. From counters of the machine, where the trace has them. */
#include "analyze/rule.h"

enum { BUSY, USE, SAMPLES };
static const setting_def settings[] = {
	{ "cpu_bottleneck.busy", SETTING_SHARE, "90%", "of the processor, more than this" },
	{ "cpu_bottleneck.use", SETTING_SHARE, "10%", "of the device, less than this" },
	{ "cpu_bottleneck.samples", SETTING_SHARE, "50%", "of the samples" },
};

static void run(rule_run *r)
{
	starved s;

	rule_starved(r, COUNTER_CPU, rule_setting(r, BUSY), rule_setting(r, USE), rule_setting(r, SAMPLES), &s);
	if (!s.n_samples) {
		rule_no_data(r, "no counters of the machine");
		return;
	}
	rule_saw(r, "%zu of %zu samples, the device idle for %s", s.n, s.n_samples, say_each(r, s.lost_ns));
	if (!s.is_often)
		return;
	sonde_finding *f = rule_found(r, s.lost_ns, "the processor is the bottleneck");
	finding_evidence(r->result, f,
			 "In %zu of %zu samples the processor is more than %.0f %% of the time while the device is "
			 "used less than "
			 "%.0f %%.",
			 s.n, s.n_samples, 100 * rule_setting(r, BUSY), 100 * rule_setting(r, USE));
	finding_suggest(r->result, f, "more cores, cheaper preprocessing, or do it on the device");
	f->confidence = 0.8;
	rule_link_time(r, f, s.worst.rank, s.worst.from_ns, s.worst.to_ns);
}

const rule cpu_bottleneck_rule = {
	.name = "cpu_bottleneck",
	.checks = "The processor is busy while the device waits",
	.number = 10,
	.needs = NEED_DEVICE,
	.sign_of = "dataloader",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
