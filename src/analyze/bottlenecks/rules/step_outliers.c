/* Steps that take far longer than the median step. SageMaker takes mean and deviation, but of thousands of steps. */
#include "analyze/bottlenecks/rule.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { DEVIATIONS, WARN };
static const setting_def settings[] = {
	{ "step_outliers.deviations", SETTING_NUMBER, "3", "minimum standard deviations over the median" },
	{ "step_outliers.warn", SETTING_SHARE, "1%", "excess over the median, as a share of the selected time" },
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

/* What is right inside a step, by site. */
static void add_inside(const evidence *e, const rows_step *s, int64_t *by_site)
{
	for (uint32_t i = s->row + 1; i < evidence_row(e, s->row)->end; i = evidence_row(e, i)->end) {
		int64_t *sum = &by_site[evidence_row(e, i)->site];
		*sum = add_bounded(*sum, evidence_row(e, i)->dur_ns);
	}
}

/* The name that takes most of what the step takes longer, at least half of it; how much longer than in the others.
   NULL: there is none. */
static const char *find_reason(const rule_run *r, const rows_step *worst, int64_t *ret_longer_ns)
{
	const evidence *e = r->e;
	int64_t *in = calloc(e->rows.n_sites + 1, sizeof *in), *in_others = calloc(e->rows.n_sites + 1, sizeof *in);
	uint32_t found = INDEX_NONE;
	int64_t n_others = 0;

	*ret_longer_ns = (worst->dur_ns - e->median_step_ns) / 2;
	for (size_t i = 0; in && in_others && i < e->rows.n_steps; i++) {
		const rows_step *s = &e->rows.steps[i];
		if (s->rank != worst->rank)
			continue;
		add_inside(e, s, s == worst ? in : in_others);
		n_others += s != worst;
	}
	for (uint32_t i = 0; in && in_others && n_others && i < e->rows.n_sites; i++)
		if (in[i] - in_others[i] / n_others > *ret_longer_ns) {
			*ret_longer_ns = in[i] - in_others[i] / n_others;
			found = i;
		}
	r->result->failed |= !in || !in_others;
	free(in);
	free(in_others);
	return found == INDEX_NONE ? NULL : index_text(e->rows.ix, e->rows.sites[found].name);
}

static void tell_reason(rule_run *r, sonde_finding *f, const rows_step *worst)
{
	int64_t longer;
	const char *name = find_reason(r, worst, &longer);

	if (name) {
		finding_evidence(r->result, f, "There `%.60s` takes %s longer than in the others.", name,
				 say_ns(r, longer));
		finding_affects(r->result, f, name);
		finding_suggest(r->result, f, "check `%.60s` in step %" PRId64, name, worst->number);
	} else {
		finding_suggest(r->result, f,
				"check step %" PRId64
				"; no single name explains it: check garbage collection, other programs, the machine",
				worst->number);
	}
}

static void run(rule_run *r)
{
	enum { LEAST = 5 };
	const evidence *e = r->e;
	tally slow = { 0 };
	const rows_step *worst = NULL;

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
		worst = !worst || s->dur_ns > worst->dur_ns ? s : worst;
	}
	rule_saw(r, "median %s, %s steps above %s, %s beyond it", say_ns(r, e->median_step_ns), say_count(r, slow.n),
		 say_ns(r, whole_bounded(limit)), say_each(r, slow.ns));
	if (!worst || !rule_exceeds(r, slow.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, slow.ns, "some steps take far longer than the others");
	finding_evidence(
		r->result, f,
		"%s of %zu steps %s more than %s, %.3g deviations over the median of %s; the worst is step %" PRId64
		" with %s.",
		say_count(r, slow.n), e->rows.n_steps, slow.n == 1 ? "takes" : "take", say_ns(r, whole_bounded(limit)),
		rule_setting(r, DEVIATIONS), say_ns(r, e->median_step_ns), worst->number, say_ns(r, worst->dur_ns));
	tell_reason(r, f, worst);
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
