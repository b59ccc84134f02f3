/* Matrix products in full float32 on a device that has TF32. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "tf32.warn", SETTING_SHARE, "1%", "these kernels, as a share of the selected time" },
};

static void run(rule_run *r)
{
	tally products = tally_rows(r, TRAIT_FP32_GEMM);

	if (r->e->compute_major < 8) {
		rule_no_data(r, "no device of compute capability 8");
		return;
	}
	rule_saw(r, "%s kernels, %s (%s)", say_count(r, products.n), say_each(r, products.ns),
		 say_part(r, products.ns));
	if (!rule_exceeds(r, products.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, products.ns / 2, "matrix products run in full float32");
	finding_evidence(
		r->result, f,
		"Kernels of float32 matrix products without TF32 take %s, which tensor cores would at least halve.",
		say_each(r, products.ns));
	finding_suggest(r->result, f, "torch.set_float32_matmul_precision(\"high\"), or mixed precision");
	f->confidence = 0.7;
	tally_link(r, f, &products);
}

const rule tf32_rule = {
	.name = "tf32",
	.checks = "Matrix products run in full float32",
	.number = 20,
	.needs = NEED_DEVICE,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
