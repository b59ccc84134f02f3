/* Matrix products run on a device with tensor cores, and none of them uses one. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "tensor_cores.warn", SETTING_SHARE, "1%", "these kernels, as a share of the selected time" },
};

static void run(rule_run *r)
{
	tally products = tally_rows(r, TRAIT_GEMM), with = tally_rows(r, TRAIT_TENSOR_CORE);

	if (r->e->compute_major < 7) {
		rule_no_data(r, "no device of compute capability 7");
		return;
	}
	rule_saw(r, "%s kernels, %s (%s), %s with tensor cores", say_count(r, products.n), say_each(r, products.ns),
		 say_part(r, products.ns), say_count(r, with.n));
	if (!rule_exceeds(r, products.ns, WARN) || with.n)
		return;
	sonde_finding *f = rule_found(r, products.ns / 2, "tensor cores are not used");
	finding_evidence(r->result, f,
			 "No kernel uses tensor cores; matrix products and convolutions take %s, which tensor cores "
			 "would at least halve.",
			 say_each(r, products.ns));
	finding_suggest(r->result, f, "use automatic mixed precision with bfloat16 or float16");
	f->confidence = 0.7;
	tally_link(r, f, &products);
}

const rule tensor_cores_rule = {
	.name = "tensor_cores",
	.checks = "Tensor cores are not used",
	.number = 19,
	.needs = NEED_DEVICE,
	.sign_of = "tf32",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
