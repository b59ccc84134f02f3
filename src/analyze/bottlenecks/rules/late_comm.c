/* The first collective of a step begins only after half of the backward pass. */
#include "analyze/bottlenecks/rule.h"

#include <stdlib.h>

enum { AFTER, WARN };
static const setting_def settings[] = {
	{ "late_comm.after", SETTING_SHARE, "50%", "share of the backward pass" },
	{ "late_comm.warn", SETTING_SHARE, "1%",
	  "exposed communication of such steps, as a share of the selected time" },
};

/* Of a step: the device's part of the backward pass, and the first collective in it or behind. */
typedef struct backward {
	int64_t from, to, first;
} backward;

/* The step in which the time lies, or before which none begins later; NULL: it is before all. */
static backward *step_at(const rows_rank *of, backward *steps, int64_t ns)
{
	int64_t at = rank_step_at(of, ns);

	return at >= 0 ? &steps[at] : NULL;
}

static void find_backward(const evidence *e, const rows_rank *of, backward *steps)
{
	for (size_t i = 0; i < of->n_steps; i++)
		steps[i] = (backward){ INT64_MAX, INT64_MIN, INT64_MAX };
	for (size_t i = 0; i < of->n_device; i++) {
		const row *at = evidence_row(e, of->device[i]);
		backward *b = at->launch == ROW_NONE ? NULL : step_at(of, steps, evidence_row(e, at->launch)->start_ns);
		if (!b)
			continue;
		if (row_traits(e, at) & TRAIT_COMM_KERNEL) {
			b->first = b->first == INT64_MAX && b->from != INT64_MAX ? at->start_ns : b->first;
		} else if (row_is_inside(e, at->launch, TRAIT_BACKWARD)) {
			b->from = at->start_ns < b->from ? at->start_ns : b->from;
			b->to = row_end_ns(at) > b->to ? row_end_ns(at) : b->to;
		}
	}
}

static int64_t end_of_step(const evidence_rank *k, size_t step)
{
	if (step + 1 < k->of->n_steps)
		return k->of->steps[step + 1].start_ns;
	return k->span.n ? intervals_span(&k->span).end : 0;
}

typedef struct lateness {
	uint64_t n, n_late;
	int64_t lost, worst;
	interval worst_time; /* of the backward pass before the first collective */
	int32_t worst_rank;
} lateness;

static void measure_rank(const rule_run *r, const evidence_rank *k, lateness *l)
{
	intervals exposed = { 0 };
	backward *steps = calloc(k->of->n_steps + 1, sizeof *steps);

	if (!steps || !intervals_subtract(&k->comm, &k->compute, &exposed))
		r->result->failed = true;
	else
		find_backward(r->e, k->of, steps);
	for (size_t s = 0; !r->result->failed && s < k->of->n_steps; s++) {
		const backward *b = &steps[s];
		int64_t end = end_of_step(k, s);
		if (b->from >= b->to || b->first == INT64_MAX)
			continue;
		l->n++;
		if ((double)(b->first - b->from) <= rule_setting(r, AFTER) * (double)(b->to - b->from))
			continue;
		int64_t open = b->first < end ? intervals_overlap_with(&exposed, b->first, end) : 0;
		l->n_late++;
		int64_t lost = open < b->first - b->from ? open : b->first - b->from;
		l->lost = add_bounded(l->lost, lost);
		if (lost > l->worst) {
			l->worst = lost;
			l->worst_time = (interval){ .start = b->from, .end = b->first };
			l->worst_rank = k->of->rank;
		}
	}
	intervals_done(&exposed);
	free(steps);
}

static void run(rule_run *r)
{
	lateness all = { 0 };

	for (size_t i = 0; i < r->e->n_ranks; i++)
		measure_rank(r, &r->e->ranks[i], &all);
	int64_t lost = all.lost;
	uint64_t n = all.n, n_late = all.n_late;
	if (!n) {
		rule_no_data(r, "no backward pass with collectives");
		return;
	}
	rule_saw(r, "%s of %s steps, %s", say_count(r, n_late), say_count(r, n), say_each(r, lost));
	if (!rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "gradients are sent late");
	finding_evidence(r->result, f,
			 "In %s of %s steps the first collective begins after more than half of the backward pass; an "
			 "earlier start could hide %s.",
			 say_count(r, n_late), say_count(r, n), say_each(r, lost));
	finding_suggest(r->result, f, "use smaller buckets (bucket_cap_mb), so that the first fills earlier");
	f->confidence = 0.6;
	rule_link_time(r, f, all.worst_rank, all.worst_time.start, all.worst_time.end);
}

const rule late_comm_rule = {
	.name = "late_comm",
	.checks = "Gradients are sent late",
	.number = 54,
	.needs = NEED_DEVICE | NEED_COMM | NEED_STEPS,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
