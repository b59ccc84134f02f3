/* Kernels that are not matrix products and leave most of the device's warps unused. */
#include "analyze/bottlenecks/rule.h"

enum { OCCUPANCY, WARN };
static const setting_def settings[] = {
	{ "low_occupancy.occupancy", SETTING_NUMBER, "25", "maximum occupancy, in percent" },
	{ "low_occupancy.warn", SETTING_SHARE, "1%", "lost, as a share of the selected time" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	args_column value_of = { .role = ROLE_OCCUPANCY };
	double limit = rule_setting(r, OCCUPANCY);
	tally low = { 0 };
	int64_t all = 0;
	uint64_t n = 0;

	if (!args_columns_read(e->rows.ix, &value_of, 1)) {
		r->result->failed = true;
		return;
	}
	site_set sites = rule_kernels(r);
	FOR_ROWS(i, r, &sites)
	{
		const row *at = ROW_AT(&e->rows, i);
		if (at->class != CLASS_KERNEL || row_traits(e, at) & TRAIT_COMM_KERNEL)
			continue;
		double value = args_column_f64(e->rows.ix, &value_of, at->args, -1);
		n += value >= 0;
		if (!(value >= 0 && value < limit && !(row_traits(e, at) & TRAIT_GEMM)))
			continue;
		tally_add(&low, (uint32_t)i, whole_bounded((double)at->dur_ns * (1 - value / limit)));
		all = add_bounded(all, at->dur_ns);
	}
	args_columns_done(&value_of, 1);
	site_set_done(&sites);
	if (!n) {
		rule_no_data(r, "no occupancy in the trace");
		return;
	}
	rule_saw(r, "%s of %s kernels, %s, %s lost", say_count(r, low.n), say_count(r, n), say_each(r, all),
		 say_each(r, low.ns));
	if (!rule_exceeds(r, low.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, low.ns, "kernels leave most of the device unused");
	finding_evidence(r->result, f, "%s less than %.3g %% occupancy, %s in total.",
			 say_some(r, low.n, "kernel reaches", "kernels reach"), limit, say_each(r, all));
	finding_suggest(r->result, f, "use other block sizes, fewer registers, fused or larger kernels");
	f->confidence = 0.5;
	tally_link(r, f, &low);
}

const rule low_occupancy_rule = {
	.name = "low_occupancy",
	.checks = "Kernels leave most warps of the device unused",
	.number = 44,
	.needs = NEED_DEVICE,
	.sign_of = "partial_wave launch_bound low_utilization",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
