/* The allocator holds much more memory than the program uses at its peak. */
#include "analyze/bottlenecks/rule.h"

enum { WARN, LEAST };
static const setting_def settings[] = {
	{ "fragmentation.warn", SETTING_SHARE, "20%", "unused share of the reserved memory" },
	{ "fragmentation.least", SETTING_BYTES, "256MiB", "minimum unused memory" },
};

static void run(rule_run *r)
{
	memory_peak peak = rule_peak(r, ALLOCATION_TOTAL);
	int64_t allocated = peak.allocated, reserved = peak.reserved;

	if (allocated < 0 || reserved <= 0) {
		rule_no_data(r, "reserved memory not recorded");
		return;
	}
	double unused = (double)(reserved - allocated);
	rule_saw(r, "%s allocated of %s reserved at the peak", say_bytes(r, allocated), say_bytes(r, reserved));
	if (unused <= rule_setting(r, WARN) * (double)reserved || unused < rule_setting(r, LEAST))
		return;
	sonde_finding *f = rule_found(r, -1, "much reserved device memory is unused");
	f->severity = unused > 0.4 * (double)reserved ? SONDE_MEDIUM : SONDE_LOW;
	finding_evidence(r->result, f, "At the peak, %s is allocated and %s reserved: %s is fragmented.",
			 say_bytes(r, allocated), say_bytes(r, reserved), say_bytes(r, reserved - allocated));
	finding_suggest(r->result, f, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, fewer different shapes");
	f->confidence = 0.6;
	rule_link_place(r, f, peak.track, peak.time_ns);
}

const rule fragmentation_rule = {
	.name = "fragmentation",
	.checks = "Much reserved device memory is unused",
	.number = 42,
	.needs = NEED_DEVICE | NEED_ALLOCATIONS,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
