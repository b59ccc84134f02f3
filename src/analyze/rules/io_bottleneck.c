/* Disks or the network are waited for while the device is idle. From counters of the machine, where the trace has them.
 */
#include "analyze/rule.h"

enum { BUSY, USE, SAMPLES };
static const setting_def settings[] = {
	{ "io_bottleneck.busy", SETTING_SHARE, "50%", "of the processor waits" },
	{ "io_bottleneck.use", SETTING_SHARE, "10%", "of the device, less than this" },
	{ "io_bottleneck.samples", SETTING_SHARE, "50%", "of the samples" },
};

static void run(rule_run *r)
{
	starved s;

	rule_starved(r, COUNTER_IO_WAIT, rule_setting(r, BUSY), rule_setting(r, USE), rule_setting(r, SAMPLES), &s);
	if (!s.n_samples) {
		rule_no_data(r, "no counters of the machine");
		return;
	}
	rule_saw(r, "%zu of %zu samples, the device idle for %s", s.n, s.n_samples, say_each(r, s.lost_ns));
	if (!s.is_often)
		return;
	sonde_finding *f = rule_found(r, s.lost_ns, "reading and writing is the bottleneck");
	finding_evidence(r->result, f,
			 "In %zu of %zu samples the processor waits for disks or the network more than %.0f %% of the "
			 "time while the device is used less than "
			 "%.0f %%.",
			 s.n, s.n_samples, 100 * rule_setting(r, BUSY), 100 * rule_setting(r, USE));
	finding_suggest(r->result, f, "a local cache, larger files in a faster format, prefetching");
	f->confidence = 0.8;
	rule_link_time(r, f, s.worst.rank, s.worst.from_ns, s.worst.to_ns);
}

const rule io_bottleneck_rule = {
	.name = "io_bottleneck",
	.checks = "Disks or the network are waited for while the device is idle",
	.number = 11,
	.needs = NEED_DEVICE,
	.sign_of = "dataloader",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
