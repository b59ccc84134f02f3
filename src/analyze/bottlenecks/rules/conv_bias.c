/* A convolution adds a bias that the batch normalization behind it takes away again. */
#include "analyze/bottlenecks/rule.h"

#include <string.h>

enum { WARN };
static const setting_def settings[] = {
	{ "conv_bias.warn", SETTING_SHARE, "1%", "adding, as a share of the selected time" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally adds = { 0 };
	uint64_t n = 0;

	site_set convolutions = rule_sites_named(r, "aten::conv2d");

	FOR_ROWS(i, r, &convolutions)
	{
		const row *conv = ROW_AT(&e->rows, i);
		if (conv->end >= e->rows.n)
			continue;
		const row *next = ROW_AT(&e->rows, conv->end);
		n++;
		if (strcmp(row_name(&e->rows, next), "aten::batch_norm") != 0 || next->track != conv->track)
			continue;
		for (uint32_t k = (uint32_t)i + 1; k < conv->end; k++)
			if (strcmp(row_name(&e->rows, evidence_row(e, k)), "aten::add_") == 0)
				tally_add(&adds, k, row_cost_ns(e, k));
	}
	site_set_done(&convolutions);
	if (!n) {
		rule_no_data(r, "no convolutions");
		return;
	}
	rule_saw(r, "%s of %s convolutions, %s", say_count(r, adds.n), say_count(r, n), say_each(r, adds.ns));
	if (!rule_exceeds(r, adds.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, adds.ns, "convolutions before a batch normalization add a bias");
	finding_evidence(r->result, f, "%s a bias right before a batch normalization: %s.",
			 say_some(r, adds.n, "convolution adds", "convolutions add"), say_each(r, adds.ns));
	finding_suggest(r->result, f, "Conv2d(..., bias=False): the normalization cancels the bias");
	tally_link(r, f, &adds);
}

const rule conv_bias_rule = {
	.name = "conv_bias",
	.checks = "Convolutions before a batch normalization add a bias",
	.number = 26,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
