/* Much time passes before the first step begins. */
#include "analyze/bottlenecks/rule.h"

enum { STEPS, LEAST };
static const setting_def settings[] = {
	{ "slow_start.steps", SETTING_NUMBER, "10", "minimum number of median steps before the first" },
	{ "slow_start.least", SETTING_NS, "5s", "minimum time before the first step" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	size_t n;
	const index_step *steps = index_steps(e->rows.ix, &n);
	int64_t first = INT64_MAX;
	uint64_t slice = 0;

	for (size_t i = 0; i < n; i++)
		if (steps[i].start_ns < first) {
			first = steps[i].start_ns;
			slice = steps[i].slice;
		}
	if (!n || e->options->use_steps || e->options->use_time) {
		rule_no_data(r, "only a part of the trace is selected");
		return;
	}
	rule_saw(r, "%s before the first step", say_ns(r, first));
	if ((double)first <= rule_setting(r, STEPS) * (double)e->median_step_ns ||
	    (double)first <= rule_setting(r, LEAST))
		return;
	sonde_finding *f = rule_found(r, -1, "the first step begins after %s", say_ns(r, first));
	finding_lost(f, first, first + e->span_ns / (int64_t)e->n_ranks);
	f->severity = f->share >= 0.4 ? SONDE_HIGH : SONDE_MEDIUM;
	finding_evidence(r->result, f, "The first step begins after %s, as long as %.0f steps.", say_ns(r, first),
			 e->median_step_ns ? (double)first / (double)e->median_step_ns : 0);
	finding_suggest(r->result, f,
			"cache compiled code (TORCHINDUCTOR_FX_GRAPH_CACHE, a persistent cache), load weights lazily, "
			"prepare data while the model loads");
	finding_time(f, 0, first);
	finding_slice(r->result, f, slice);
}

const rule slow_start_rule = {
	.name = "slow_start",
	.checks = "The first step begins late",
	.number = 16,
	.needs = NEED_STEPS,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
