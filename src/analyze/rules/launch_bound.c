/* The device is idle while the host is inside operators and launches: it cannot feed the device fast enough. */
#include "analyze/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "launch_bound.warn", SETTING_SHARE, "3%", "idle while the host launches" },
};

static int64_t in_operators(const evidence_rank *k, interval idle)
{
	return intervals_overlap_with(&k->ops, idle.start, idle.end);
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	int64_t lost = 0;
	uint64_t n_kernels = 0;

	for (size_t i = 0; i < e->n_ranks; i++) {
		lost = add_bounded(lost, e->ranks[i].idle_ops_ns);
		n_kernels += e->ranks[i].of->n_device;
	}
	rule_saw(r, "idle %s (%s) while the host is in operators", say_each(r, lost), say_part(r, lost));
	if (!rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "the device waits for launches");
	finding_evidence(r->result, f,
			 "The device is idle %s of the time while the host is inside operators and "
			 "launches; its %s pieces of work take %s each on average.",
			 say_part(r, lost), say_count(r, n_kernels),
			 say_ns(r, n_kernels ? e->device_ns / (int64_t)n_kernels : 0));
	finding_suggest(r->result, f, "launch less: CUDA graphs, torch.compile, fused operators, or a larger batch");
	f->confidence = 0.8;
	rule_link_idle(r, f, in_operators);
}

const rule launch_bound_rule = {
	.name = "launch_bound",
	.checks = "The device waits for the host to launch work",
	.number = 4,
	.needs = NEED_DEVICE,
	.sign_of = "item_sync explicit_sync alloc_thrash sync_copy recompile single_tensor_optimizer loop_indexing",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
