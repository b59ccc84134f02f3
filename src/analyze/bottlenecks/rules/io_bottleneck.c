/* Disks or the network are waited for while the device is idle. From counters of the machine, where the trace has them.
 */
#include "analyze/bottlenecks/rule.h"

static const setting_def settings[] = {
	{ "io_bottleneck.busy", SETTING_SHARE, "50%", "of the processor waits" },
	{ "io_bottleneck.use", SETTING_SHARE, "10%", "of the device, less than this" },
	{ "io_bottleneck.samples", SETTING_SHARE, "50%", "of the samples" },
};

static void run(rule_run *r)
{
	rule_starved(r, &(starved_rule){ .counter = COUNTER_IO_WAIT,
					 .title = "reading and writing is the bottleneck",
					 .state = "the processor waits for disks or the network",
					 .suggestion = "a local cache, larger files in a faster format, prefetching" });
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
