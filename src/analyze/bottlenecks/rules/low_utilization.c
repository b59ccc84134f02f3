/* The device is busy less than half of the time. */
#include "analyze/bottlenecks/rule.h"

enum { BUSY };
static const setting_def settings[] = {
	{ "low_utilization.busy", SETTING_SHARE, "50%", "minimum busy share of the time" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	int64_t busy = 0;

	for (size_t i = 0; i < e->n_ranks; i++)
		busy += e->ranks[i].span_ns - intervals_length(&e->ranks[i].idle);
	rule_saw(r, "busy %s (%s)", say_each(r, busy), say_part(r, busy));
	if ((double)busy >= rule_setting(r, BUSY) * (double)e->span_ns)
		return;
	sonde_finding *f = rule_found(r, e->span_ns - busy, "the device is idle most of the time");
	finding_evidence(r->result, f, "The device is busy %s of the time (%s of %s).", say_part(r, busy),
			 say_each(r, busy), say_each(r, e->span_ns));
	finding_suggest(r->result, f, "use a larger batch, several streams, or a smaller device");
	f->confidence = 0.7;
	rule_link_idle(r, f);
}

const rule low_utilization_rule = {
	.name = "low_utilization",
	.checks = "The device is idle most of the time",
	.number = 8,
	.needs = NEED_DEVICE,
	.sign_of = "dataloader sync_loader launch_bound python_bound item_sync explicit_sync stream_wait gpu_gaps "
		   "straggler alloc_thrash sync_copy recompile no_nccl pipeline_bubble cpu_bottleneck "
		   "io_bottleneck",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
