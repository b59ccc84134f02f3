/* The device's memory is nearly full. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "near_limit.warn", SETTING_SHARE, "90%", "share of the device memory" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	memory_peak reserved = rule_peak(r, ALLOCATION_RESERVED), allocated = rule_peak(r, ALLOCATION_TOTAL);
	memory_peak most = reserved.reserved > allocated.allocated ? reserved : allocated;
	int64_t peak = most.reserved > most.allocated ? most.reserved : most.allocated;

	if (e->device_memory <= 0 || peak < 0) {
		rule_no_data(r, "unknown device memory size");
		return;
	}
	rule_saw(r, "peak %s of %s", say_bytes(r, peak), say_bytes(r, e->device_memory));
	if ((double)peak <= rule_setting(r, WARN) * (double)e->device_memory)
		return;
	sonde_finding *f = rule_found(r, -1, "device memory is nearly full");
	f->severity = SONDE_MEDIUM;
	finding_evidence(r->result, f, "The peak is %s of %s; a longer sequence or another allocation may end the run.",
			 say_bytes(r, peak), say_bytes(r, e->device_memory));
	finding_suggest(r->result, f, "use activation checkpointing, mixed precision, a smaller batch, sharding");
	rule_link_place(r, f, most.track, most.time_ns);
}

const rule near_limit_rule = {
	.name = "near_limit",
	.checks = "Device memory is nearly full",
	.number = 18,
	.needs = NEED_DEVICE | NEED_ALLOCATIONS,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
