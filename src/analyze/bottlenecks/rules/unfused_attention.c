/* Attention as product, softmax, product: its matrix of weights goes through memory several times. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "unfused_attention.warn", SETTING_SHARE, "2%", "between the products, as a share of the selected time" },
};

static void run(rule_run *r)
{
	enum { BEFORE = 6, BEHIND = 4 };
	const evidence *e = r->e;
	tally attentions = { 0 };

	site_set products = rule_sites(r, TRAIT_MATMUL);
	FOR_ROWS(i, r, &products)
	{
		int64_t between = 0;
		size_t n = 0, at = i;
		/* From a product on: the softmax within so many siblings, the other product soon behind it. */
		bool has_softmax = false;
		while (n < BEFORE + BEHIND && (at = row_sibling(e, at)) != SIZE_MAX) {
			uint32_t traits = row_traits(e, ROW_AT(&e->rows, at));
			if (traits & TRAIT_MATMUL)
				break;
			has_softmax = has_softmax || traits & TRAIT_SOFTMAX;
			between += row_cost_ns(e, (uint32_t)at);
			n++;
		}
		if (has_softmax && at != SIZE_MAX && row_traits(e, ROW_AT(&e->rows, at)) & TRAIT_MATMUL)
			tally_add(&attentions, (uint32_t)i, between);
	}
	site_set_done(&products);
	rule_saw(r, "%s attentions, %s between their products", say_count(r, attentions.n), say_each(r, attentions.ns));
	if (!rule_exceeds(r, attentions.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, attentions.ns, "attention is not fused");
	finding_evidence(r->result, f,
			 "A softmax is between two matrix products %s; the work between the products takes %s.",
			 say_times(r, attentions.n), say_each(r, attentions.ns));
	finding_suggest(r->result, f, "torch.nn.functional.scaled_dot_product_attention");
	f->confidence = 0.8;
	tally_link(r, f, &attentions);
}

const rule unfused_attention_rule = {
	.name = "unfused_attention",
	.checks = "Attention is not fused",
	.number = 47,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
