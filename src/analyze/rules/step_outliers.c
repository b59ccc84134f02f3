/* Steps that take far longer than the median step. */
#include "analyze/rule.h"

#include <inttypes.h>

enum { FACTOR, WARN };
static const setting_def settings[] = {
	{ "step_outliers.factor", SETTING_NUMBER, "1.5", "times the median" },
	{ "step_outliers.warn", SETTING_SHARE, "2%", "beyond the median, as a share of the time looked at" },
};

static void run(rule_run *r)
{
	enum { LEAST = 5 };
	const evidence *e = r->e;
	tally slow = { 0 };
	int64_t worst_ns = 0, worst = 0;

	if (e->n_steps < LEAST) {
		rule_no_data(r, "fewer than 5 steps");
		return;
	}
	for (size_t i = 0; i < e->rows.n_steps; i++) {
		const rows_step *s = &e->rows.steps[i];
		if ((double)s->dur_ns <= rule_setting(r, FACTOR) * (double)e->median_step_ns)
			continue;
		tally_add(&slow, s->row, s->dur_ns - e->median_step_ns);
		worst = s->dur_ns > worst_ns ? s->number : worst;
		worst_ns = s->dur_ns > worst_ns ? s->dur_ns : worst_ns;
	}
	rule_saw(r, "median %s, %s slow steps, %s beyond it", say_ns(r, e->median_step_ns), say_count(r, slow.n),
		 say_each(r, slow.ns));
	if (!rule_exceeds(r, slow.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, slow.ns, "some steps take far longer than the others");
	finding_evidence(r->result, f,
			 "%s of %zu steps take more than %.3g times the median of %s; the worst is step "
			 "%" PRId64 " with %s.",
			 say_count(r, slow.n), e->rows.n_steps, rule_setting(r, FACTOR), say_ns(r, e->median_step_ns),
			 worst, say_ns(r, worst_ns));
	finding_suggest(r->result, f,
			"look at step %" PRId64 ": garbage collection, checkpoints, logging, input, other "
			"programs",
			worst);
	tally_link(r, f, &slow);
}

const rule step_outliers_rule = {
	.name = "step_outliers",
	.checks = "Some steps take far longer than the others",
	.number = 15,
	.needs = NEED_STEPS,
	.sign_of = "dataloader straggler",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
