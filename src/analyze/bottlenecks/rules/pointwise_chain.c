/* Kernels that touch each element once, one after the other on a stream: fused they would read and write memory once.
 */
#include "analyze/bottlenecks/rule.h"

enum { LENGTH, WARN };
static const setting_def settings[] = {
	{ "pointwise_chain.length", SETTING_NUMBER, "3", "minimum consecutive kernels" },
	{ "pointwise_chain.warn", SETTING_SHARE, "5%", "possible saving, as a share of the selected time" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally chains = { 0 };

	for (size_t t = 0; t < e->rows.n_tracks; t++) {
		if (e->rows.tracks[t].kind != TRACK_STREAM)
			continue;
		size_t first = 0, n = 0;
		int64_t sum = 0, longest = 0;
		for (size_t i = e->rows.first_of_track[t]; i <= e->rows.first_of_track[t + 1]; i++) {
			const row *at = i < e->rows.first_of_track[t + 1] ? ROW_AT(&e->rows, i) : NULL;
			if (at && !(at->flags & ROW_DEVICE))
				continue;
			if (at && row_traits(e, at) & TRAIT_POINTWISE) {
				first = n++ ? first : i;
				sum = add_bounded(sum, at->dur_ns);
				longest = at->dur_ns > longest ? at->dur_ns : longest;
				continue;
			}
			if (n && (double)n >= rule_setting(r, LENGTH))
				tally_add(&chains, (uint32_t)first, sum - longest);
			n = 0;
			sum = longest = 0;
		}
	}
	rule_saw(r, "%s chains, fusing saves up to %s (%s)", say_count(r, chains.n), say_each(r, chains.ns),
		 say_part(r, chains.ns));
	if (!rule_exceeds(r, chains.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, chains.ns, "chains of elementwise kernels could be fused");
	finding_evidence(
		r->result, f,
		"At least %d elementwise kernels follow each other %s; without the longest of each chain they take %s.",
		(int)rule_setting(r, LENGTH), say_times(r, chains.n), say_each(r, chains.ns));
	finding_suggest(r->result, f, "use torch.compile, or a fused operator");
	f->confidence = 0.6;
	tally_link(r, f, &chains);
}

const rule pointwise_chain_rule = {
	.name = "pointwise_chain",
	.checks = "Chains of elementwise kernels could be fused",
	.number = 46,
	.needs = NEED_DEVICE,
	.sign_of = "single_tensor_optimizer unfused_attention",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
