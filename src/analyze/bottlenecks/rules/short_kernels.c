/* Kernels that run shorter than the call that launched them took. */
#include "analyze/bottlenecks/rule.h"

enum { KERNELS, WARN };
static const setting_def settings[] = {
	{ "short_kernels.kernels", SETTING_SHARE, "20%", "minimum share of all kernels" },
	{ "short_kernels.warn", SETTING_SHARE, "1%",
	  "excess of launch time over run time, as a share of the selected time" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally these = { 0 };
	uint64_t n = 0;
	int64_t idle = 0;

	site_set kernels = rule_kernels(r);
	FOR_ROWS(i, r, &kernels)
	{
		const row *at = ROW_AT(&e->rows, i);
		if (!(at->flags & ROW_DEVICE) || !row_has_launch(e, at))
			continue;
		int64_t more = evidence_row(e, at->launch)->dur_ns - at->dur_ns;
		n++;
		if (more > 0)
			tally_add(&these, (uint32_t)i, more);
	}
	site_set_done(&kernels);
	for (size_t i = 0; i < e->n_ranks; i++)
		idle += e->ranks[i].idle_ops_ns;
	int64_t lost = these.ns < idle ? these.ns : idle; /* a device that is busy loses nothing */
	rule_saw(r, "%s of %s kernels, launches %s longer", say_count(r, these.n), say_count(r, n),
		 say_each(r, these.ns));
	if ((double)these.n <= rule_setting(r, KERNELS) * (double)n || !rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "kernels are shorter than their launches");
	finding_evidence(r->result, f, "%s of %s kernels are shorter than the call that launched them.",
			 say_count(r, these.n), say_count(r, n));
	finding_suggest(r->result, f,
			"fuse them (torch.compile), record them once as a CUDA graph, or raise the batch size");
	tally_link(r, f, &these);
}

const rule short_kernels_rule = {
	.name = "short_kernels",
	.checks = "Kernels are shorter than their launches",
	.number = 31,
	.needs = NEED_DEVICE,
	.sign_of = "launch_bound python_bound host_wait low_utilization",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
