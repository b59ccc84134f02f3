/* One rank comes later to the collectives than the others, who wait for it there: what `sonde hta` calls the straggler,
   with the same size. */
#include "analyze/bottlenecks/rule.h"

#include <inttypes.h>
#include "analyze/tables/straggler_search.h"

enum { FACTOR, STEPS };
static const setting_def settings[] = {
	{ "straggler.factor", SETTING_NUMBER, "1.1", "minimum factor by which it makes steps longer" },
	{ "straggler.steps", SETTING_SHARE, "50%", "minimum share of steps in which the same rank is last" },
};

/* The rank's own step of that number, or the reference's. */
static const rows_step *step_of(const rule_run *r, int32_t rank, const rows_step *step)
{
	const evidence_rank *k = evidence_find_rank(r->e, rank);

	for (size_t i = 0; k && i < k->of->n_steps; i++)
		if (k->of->steps[i].number == step->number)
			return &k->of->steps[i];
	return step;
}

static void tell(rule_run *r, const straggler_search *s, size_t late)
{
	const lateness *l = &s->ranks[late];
	int32_t rank = s->found.ranks[late].rank;
	size_t worst = 0;

	for (size_t i = 1; i < s->n_steps; i++)
		worst = l->by_step[i] > l->by_step[worst] ? i : worst;
	sonde_finding *f =
		rule_found(r, l->lost_ns * (int64_t)r->e->n_ranks, "rank %d makes the others wait", (int)rank);
	finding_evidence(r->result, f,
			 "Rank %d costs the others most in %s of %zu steps, %s per step on average, at most %s in step "
			 "%" PRId64 ".",
			 (int)rank, say_count(r, l->n_worst), s->n_steps, say_ns(r, l->lost_ns / (int64_t)s->n_steps),
			 say_ns(r, l->by_step[worst]), s->steps[worst].number);
	finding_suggest(
		r->result, f,
		"compare its step with another rank's: clocks, temperature, data, other programs on its machine");
	f->rank = rank;
	f->confidence = 0.85;
	const rows_step *step = step_of(r, rank, &s->steps[worst]);
	finding_time(f, step->start_ns, step->start_ns + step->dur_ns);
	finding_slice(r->result, f, evidence_row(r->e, step->row)->slice);
}

static void run(rule_run *r)
{
	straggler_search s;
	size_t late;

	r->result->failed = stragglers_search(&r->e->rows, &s, NULL) || r->result->failed;
	if (s.missing || !s.steps) {
		rule_no_data(r, s.missing ? "no collectives" : "no steps");
	} else if (s.ranks) {
		straggler_limits limits = { rule_setting(r, FACTOR), rule_setting(r, STEPS) };
		bool is_late = stragglers_lasting(&s, limits, &late);
		rule_saw(r, "rank %d worst in %s of %zu steps, costs %s", (int)s.found.ranks[late].rank,
			 say_count(r, s.ranks[late].n_worst), s.n_steps, say_ns(r, s.ranks[late].lost_ns));
		if (is_late)
			tell(r, &s, late);
	}
	stragglers_done(&s);
}

const rule straggler_rule = {
	.name = "straggler",
	.checks = "One rank makes the others wait",
	.number = 14,
	.needs = NEED_RANKS | NEED_STEPS,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
