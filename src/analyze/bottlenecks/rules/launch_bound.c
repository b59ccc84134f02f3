/* The device is idle while the host is inside operators and launches: it cannot feed the device fast enough. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "launch_bound.warn", SETTING_SHARE, "3%", "idle while the host launches" },
};

/* While the device is idle: in the row and in nothing inside it. */
static int64_t idle_in(const evidence *e, const evidence_rank *k, uint32_t number)
{
	const row *at = evidence_row(e, number);
	int64_t ns = intervals_overlap_with(&k->idle, at->start_ns, row_end_ns(at));

	for (uint32_t i = number + 1; i < at->end; i = evidence_row(e, i)->end)
		ns -= intervals_overlap_with(&k->idle, evidence_row(e, i)->start_ns, row_end_ns(evidence_row(e, i)));
	return ns;
}

/* The one operator or call that holds more than half of what its rank loses: the first use of a device, a compilation.
   ROW_NONE: there is none. */
static uint32_t find_single(const rule_run *r, int64_t *ret_ns)
{
	const evidence *e = r->e;
	site_set sites = rule_sites(r, TRAIT_OP | TRAIT_RUNTIME);
	uint32_t found = ROW_NONE;

	FOR_ROWS(i, r, &sites)
	{
		const row *at = ROW_AT(&e->rows, i);
		const evidence_rank *k =
			at->flags & ROW_ON_STREAM ? NULL : evidence_find_rank(e, row_rank(&e->rows, at));
		if (!k || at->dur_ns <= k->idle_ops_ns / 2)
			continue;
		*ret_ns = idle_in(e, k, (uint32_t)i);
		if (*ret_ns > k->idle_ops_ns / 2) {
			found = (uint32_t)i;
			break;
		}
	}
	site_set_done(&sites);
	return found;
}

static void tell_single(rule_run *r, sonde_finding *f, uint32_t number, int64_t ns)
{
	const row *at = evidence_row(r->e, number);

	finding_evidence(r->result, f, "For %s of it the host is in one call of `%.60s`.", say_ns(r, ns),
			 row_name(&r->e->rows, at));
	finding_suggest(r->result, f,
			"check this call; --from skips the first use of a device or library, a compilation, or a wait "
			"for earlier work");
	finding_affects(r->result, f, row_name(&r->e->rows, at));
	finding_slice(r->result, f, at->slice);
	finding_time(f, at->start_ns, row_end_ns(at));
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	int64_t lost = 0, in_single = 0;
	uint64_t n_kernels = 0;

	for (size_t i = 0; i < e->n_ranks; i++) {
		lost = add_bounded(lost, e->ranks[i].idle_ops_ns);
		n_kernels += e->ranks[i].of->n_device;
	}
	rule_saw(r, "idle %s (%s) while the host is in operators", say_each(r, lost), say_part(r, lost));
	if (!rule_exceeds(r, lost, WARN))
		return;
	uint32_t single = find_single(r, &in_single);
	sonde_finding *f = rule_found(r, lost, "the device waits for %s",
				      single == ROW_NONE ? "launches" : "one call of the host");
	finding_evidence(r->result, f,
			 "The device is idle for %s (%s of the time) while the host is inside operators and "
			 "launches; its %s kernels and copies take %s each on average.",
			 say_each(r, lost), say_part(r, lost), say_count(r, n_kernels),
			 say_ns(r, n_kernels ? e->device_ns / (int64_t)n_kernels : 0));
	f->confidence = 0.8;
	if (single != ROW_NONE) {
		tell_single(r, f, single, in_single);
		return;
	}
	finding_suggest(r->result, f,
			"launch less: use CUDA graphs, torch.compile, fused operators, or a larger batch");
	idle_worst worst = { 0 };
	for (size_t i = 0; i < e->n_ranks; i++)
		idle_worst_find(&worst, &e->ranks[i], &e->ranks[i].ops);
	rule_link_worst(r, f, &worst);
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
