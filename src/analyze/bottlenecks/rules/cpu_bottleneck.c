/* The processor is busy while the device waits. From counters of the machine, where the trace has them; in
   recordings of ours from the program's processor time. */
#include "analyze/bottlenecks/rule.h"

static const setting_def settings[] = {
	{ "cpu_bottleneck.busy", SETTING_SHARE, "90%", "minimum utilization of the processor" },
	{ "cpu_bottleneck.use", SETTING_SHARE, "10%", "maximum utilization of the device" },
	{ "cpu_bottleneck.samples", SETTING_SHARE, "50%", "minimum share of the samples" },
};

static void run(rule_run *r)
{
	rule_starved(r, &(starved_rule){
				.counter = COUNTER_CPU,
				.title = "the processor is the bottleneck",
				.state = "the processor is busy",
				.own_state = "the program keeps a processor busy",
				.suggestion = "use more cores, cheaper preprocessing, or preprocess on the device" });
}

const rule cpu_bottleneck_rule = {
	.name = "cpu_bottleneck",
	.checks = "The processor is busy while the device waits",
	.number = 10,
	.needs = NEED_DEVICE,
	.sign_of = "dataloader python_bound", /* which says whose code it is */
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
