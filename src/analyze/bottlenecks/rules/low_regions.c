/* Parts of the time in which the device is mostly idle although it is busy on the whole. */
#include "analyze/bottlenecks/rule.h"

enum { BUSY, PARTS_ALLOWED };
static const setting_def settings[] = {
	{ "low_regions.busy", SETTING_SHARE, "50%", "minimum busy share of each part" },
	{ "low_regions.parts", SETTING_SHARE, "10%", "share of parts that may be below" },
};

static void run(rule_run *r)
{
	enum { PARTS = 30 };
	const evidence *e = r->e;
	int64_t lost = 0, busy = 0;
	uint64_t n_low = 0, n = 0;

	for (size_t i = 0; i < e->n_ranks; i++) {
		const evidence_rank *k = &e->ranks[i];
		if (!k->span.n)
			continue;
		int64_t start = intervals_span(&k->span).start, length = intervals_span(&k->span).end - start;
		busy += k->span_ns - intervals_length(&k->idle);
		for (int64_t p = 0; p < PARTS; p++) {
			int64_t from = start + length / PARTS * p, to = start + length / PARTS * (p + 1);
			int64_t seen = intervals_overlap_with(&k->span, from, to);
			int64_t idle = intervals_overlap_with(&k->idle, from, to);
			n += seen > 0;
			if ((double)(seen - idle) >= rule_setting(r, BUSY) * (double)seen)
				continue;
			n_low++;
			lost = add_bounded(lost, idle);
		}
	}
	rule_saw(r, "%s of %s parts mostly idle", say_count(r, n_low), say_count(r, n));
	if ((double)n_low <= rule_setting(r, PARTS_ALLOWED) * (double)n || (double)busy < 0.5 * (double)e->span_ns)
		return;
	sonde_finding *f = rule_found(r, lost, "the device is mostly idle in parts of the run");
	finding_evidence(
		r->result, f,
		"In %s of %s equal parts of the time the device is mostly idle, although it is busy %s overall.",
		say_count(r, n_low), say_count(r, n), say_part(r, busy));
	finding_suggest(r->result, f, "compare an idle part with a busy one in the timeline");
	f->confidence = 0.6;
	rule_link_idle(r, f);
}

const rule low_regions_rule = {
	.name = "low_regions",
	.checks = "The device is mostly idle in parts of the run",
	.number = 35,
	.needs = NEED_DEVICE,
	.sign_of = "dataloader launch_bound python_bound item_sync explicit_sync gpu_gaps straggler recompile "
		   "step_outliers stream_wait alloc_thrash exposed_comm to_host pageable",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
