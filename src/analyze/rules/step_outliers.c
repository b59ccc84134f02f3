/* Steps that take far longer than the median step. SageMaker takes mean and deviation, but of thousands of steps. */
#include "analyze/rule.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { DEVIATIONS, WARN };
static const setting_def settings[] = {
	{ "step_outliers.deviations", SETTING_NUMBER, "3", "standard deviations beyond the median" },
	{ "step_outliers.warn", SETTING_SHARE, "1%", "beyond the median, as a share of the time looked at" },
};

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The standard deviation as the median of the distances from the median has it: the outliers are not in it. Not less
   than a hundredth of a step. */
static double deviation_of(const rule_run *r)
{
	const evidence *e = r->e;
	int64_t *distances = malloc((e->rows.n_steps + 1) * sizeof *distances);

	r->result->failed = r->result->failed || !distances;
	if (!distances)
		return 0;
	for (size_t i = 0; i < e->rows.n_steps; i++)
		distances[i] = llabs(e->rows.steps[i].dur_ns - e->median_step_ns);
	qsort(distances, e->rows.n_steps, sizeof *distances, by_value);
	double deviation = 1.4826 * (double)distances[e->rows.n_steps / 2];
	free(distances);
	return fmax(deviation, 0.01 * (double)e->median_step_ns);
}

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
	double limit = (double)e->median_step_ns + rule_setting(r, DEVIATIONS) * deviation_of(r);
	for (size_t i = 0; i < e->rows.n_steps; i++) {
		const rows_step *s = &e->rows.steps[i];
		if ((double)s->dur_ns <= limit)
			continue;
		tally_add(&slow, s->row, s->dur_ns - e->median_step_ns);
		worst = s->dur_ns > worst_ns ? s->number : worst;
		worst_ns = s->dur_ns > worst_ns ? s->dur_ns : worst_ns;
	}
	rule_saw(r, "median %s, %s steps above %s, %s beyond it", say_ns(r, e->median_step_ns), say_count(r, slow.n),
		 say_ns(r, whole_bounded(limit)), say_each(r, slow.ns));
	if (!rule_exceeds(r, slow.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, slow.ns, "some steps take far longer than the others");
	finding_evidence(r->result, f,
			 "%s of %zu steps %s more than %s, %.3g deviations beyond the median of %s; the worst is "
			 "step %" PRId64 " with %s.",
			 say_count(r, slow.n), e->rows.n_steps, slow.n == 1 ? "takes" : "take",
			 say_ns(r, whole_bounded(limit)), rule_setting(r, DEVIATIONS), say_ns(r, e->median_step_ns),
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
