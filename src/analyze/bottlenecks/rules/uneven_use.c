/* The device is never well used, or well used at times and idle at others. Samples are the steps. */
#include "analyze/bottlenecks/rule.h"

enum { HIGH, LOW };
static const setting_def settings[] = {
	{ "uneven_use.high", SETTING_SHARE, "70%",
	  "95th percentile of utilization: below it the device is never well used" },
	{ "uneven_use.low", SETTING_SHARE, "10%",
	  "5th percentile of utilization: below it the device is idle at times" },
};

/* Percentiles as what they say of a twentieth. */
static void tell(const rule_run *r, sonde_finding *f, bool is_never, double least, double best)
{
	const char *parts = r->e->n_steps ? "steps" : "hundredths of the time";

	if (is_never)
		finding_evidence(r->result, f, "In 19 of 20 %s the device is busy at most %.1f %%.", parts, 100 * best);
	else
		finding_evidence(
			r->result, f,
			"In the busiest twentieth of the %s the device is busy %.1f %% and more, in the idlest "
			"%.1f %% and less.",
			parts, 100 * best, 100 * least);
}

static void run(rule_run *r)
{
	enum { LEAST = 5 };
	use_parts parts = rule_device_use(r);
	int64_t lost = 0;

	if (parts.n < LEAST) {
		rule_no_data(r, "fewer than 5 steps");
		VEC_DONE(&parts);
		return;
	}
	double best = use_percentile(&parts, 95), least = use_percentile(&parts, 5);
	bool is_never = best < rule_setting(r, HIGH);
	bool is_uneven = !is_never && least < rule_setting(r, LOW);
	for (size_t i = 0; i < parts.n; i++)
		if (is_never || use_of(&parts.items[i]) < rule_setting(r, LOW))
			lost = add_bounded(lost, parts.items[i].seen_ns - parts.items[i].busy_ns);
	rule_saw(r, "used %.1f %% at its best, %.1f %% at its least", 100 * best, 100 * least);
	if (is_never || is_uneven) {
		sonde_finding *f =
			rule_found(r, lost, is_never ? "the device is never well used" : "the device is idle at times");
		tell(r, f, is_never, least, best);
		finding_suggest(
			r->result, f,
			is_never ? "use a larger batch, or several streams"
				 : "compare an idle part with a busy one: input, checkpoints, evaluation, logging");
		f->confidence = 0.6;
		rule_link_time(r, f, parts.items[0].rank, parts.items[0].from_ns, parts.items[0].to_ns);
	}
	VEC_DONE(&parts);
}

const rule uneven_use_rule = {
	.name = "uneven_use",
	.checks = "The device is never well used, or idle at times",
	.number = 9,
	.needs = NEED_DEVICE,
	.sign_of = "dataloader sync_loader launch_bound python_bound item_sync explicit_sync stream_wait gpu_gaps "
		   "straggler "
		   "alloc_thrash sync_copy recompile no_nccl low_utilization low_regions step_outliers pipeline_bubble "
		   "cpu_bottleneck io_bottleneck",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
