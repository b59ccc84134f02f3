/* Kernels with fewer blocks than the device has multiprocessors: part of it has nothing to do. */
#include "analyze/bottlenecks/rule.h"

enum { KERNELS, WARN };
static const setting_def settings[] = {
	{ "partial_wave.kernels", SETTING_SHARE, "20%", "these kernels, as a share of kernel time" },
	{ "partial_wave.warn", SETTING_SHARE, "1%", "lost, as a share of the selected time" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	args_column value_of = { .role = ROLE_BLOCKS_PER_SM };
	tally low = { 0 };
	int64_t all = 0, kernels = 0;
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
		kernels = add_bounded(kernels, at->dur_ns);
		double value = args_column_f64(e->rows.ix, &value_of, at->args, -1);
		n += value >= 0;
		if (!(value >= 0 && value < 1))
			continue;
		tally_add(&low, (uint32_t)i, whole_bounded((double)at->dur_ns * (1 - value)));
		all = add_bounded(all, at->dur_ns);
	}
	args_columns_done(&value_of, 1);
	site_set_done(&sites);
	if (!n) {
		rule_no_data(r, "no grid sizes in the trace");
		return;
	}
	rule_saw(r, "%s of %s kernels, %s, %s lost", say_count(r, low.n), say_count(r, n), say_each(r, all),
		 say_each(r, low.ns));
	if ((double)all <= rule_setting(r, KERNELS) * (double)kernels || !rule_exceeds(r, low.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, low.ns, "kernels are too small to fill the device");
	finding_evidence(r->result, f, "%s blocks than the device has multiprocessors, %s in total.",
			 say_some(r, low.n, "kernel has fewer", "kernels have fewer"), say_each(r, all));
	finding_suggest(r->result, f, "use a larger batch, longer sequences, or several streams");
	f->confidence = 0.5;
	tally_link(r, f, &low);
}

const rule partial_wave_rule = {
	.name = "partial_wave",
	.checks = "Kernels are too small to fill the device",
	.number = 45,
	.needs = NEED_DEVICE,
	.sign_of = "launch_bound low_utilization",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
