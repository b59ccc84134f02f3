/* Neither the device, nor its memory, nor the processor is well used: there is room for a larger batch. */
#include "analyze/bottlenecks/rule.h"

#include <stdlib.h>

enum { USE };
static const setting_def settings[] = {
	{ "small_batch.use", SETTING_SHARE, "70%",
	  "utilization of the device, its memory and the processor at the 95th percentile" },
};

static int by_value(const void *a, const void *b)
{
	double x = ((const counter_sample *)a)->value, y = ((const counter_sample *)b)->value;

	return (x > y) - (x < y);
}

/* -1: the trace does not say. */
static double processor_use(const rule_run *r)
{
	counter_samples samples = rule_counter(r, COUNTER_CPU);
	double use = -1;

	if (samples.n) {
		qsort(samples.items, samples.n, sizeof *samples.items, by_value);
		use = samples.items[(samples.n - 1) * 95 / 100].value;
	}
	VEC_DONE(&samples);
	return use;
}

static void tell(rule_run *r, const use_parts *parts, double memory)
{
	int64_t lost = 0;

	for (size_t i = 0; i < parts->n; i++)
		lost = add_bounded(lost, parts->items[i].seen_ns - parts->items[i].busy_ns);
	sonde_finding *f = rule_found(r, lost, "there is room for a larger batch");
	finding_evidence(r->result, f,
			 "%s the device is idle %.1f %% of the time, and %.1f %% of its memory stays free.",
			 r->e->n_steps > 1 ? "Even in its busiest steps"
			 : r->e->n_steps   ? "In the step"
					   : "Even when it is busiest",
			 100 * (1 - use_percentile(parts, 95)), 100 * (1 - memory));
	finding_suggest(r->result, f, "raise the batch size until memory is nearly full or a step takes longer");
	f->confidence = 0.5;
	rule_link_time(r, f, parts->items[0].rank, parts->items[0].from_ns, parts->items[0].to_ns);
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	int64_t allocated = rule_peak(r, ALLOCATION_TOTAL).allocated;

	if (e->device_memory <= 0 || allocated < 0) {
		rule_no_data(r, "unknown device memory size");
		return;
	}
	use_parts parts = rule_device_use(r);
	double limit = rule_setting(r, USE), memory = (double)allocated / (double)e->device_memory;
	double processor = processor_use(r), use = parts.n ? use_percentile(&parts, 95) : 1;
	rule_saw(r, "device %.1f %%, its memory %.1f %%, processor %s", 100 * use, 100 * memory,
		 processor < 0 ? "unknown" : say_share(r, whole_bounded(processor * 1e6), 1000000));
	if (use < limit && memory < limit && processor < limit)
		tell(r, &parts, memory);
	VEC_DONE(&parts);
}

const rule small_batch_rule = {
	.name = "small_batch",
	.checks = "The device, its memory and the processor all have room for a larger batch",
	.number = 12,
	.needs = NEED_DEVICE | NEED_ALLOCATIONS,
	.sign_of = "dataloader sync_loader launch_bound python_bound item_sync explicit_sync low_utilization overhead "
		   "uneven_use exposed_comm straggler",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
