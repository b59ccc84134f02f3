/* The program waits for disks or the network while the device is idle. From counters of the machine, where the trace
 * has them.
 */
#include "analyze/bottlenecks/rule.h"

static const setting_def settings[] = {
	{ "io_bottleneck.busy", SETTING_SHARE, "50%", "minimum share of time the processor waits" },
	{ "io_bottleneck.use", SETTING_SHARE, "10%", "maximum utilization of the device" },
	{ "io_bottleneck.samples", SETTING_SHARE, "50%", "minimum share of the samples" },
};

static void run(rule_run *r)
{
	rule_starved(
		r, &(starved_rule){ .counter = COUNTER_IO_WAIT,
				    .title = "I/O is the bottleneck",
				    .state = "the processor waits for disks or the network",
				    .suggestion = "use a local cache, larger files in a faster format, prefetching" });
}

const rule io_bottleneck_rule = {
	.name = "io_bottleneck",
	.checks = "The program waits for disks or the network while the device is idle",
	.number = 11,
	.needs = NEED_DEVICE,
	.sign_of = "dataloader",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
