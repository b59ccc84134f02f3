/*
 * Pipeline stages wait for each other longer than their number and that of the microbatches makes necessary.
 *
 * Stages are the ranks that send and receive. The first and the last of them send and receive once for each
 * microbatch, those between twice: the rank with the fewest messages tells how many microbatches a step has. Of a step
 * (p - 1) / (m + p - 1) must be waiting.
 */
#include "analyze/bottlenecks/rule.h"

enum { FACTOR };
static const setting_def settings[] = {
	{ "pipeline_bubble.factor", SETTING_NUMBER, "1.5", "minimum factor over the unavoidable waiting" },
};

typedef struct stages {
	uint64_t n;		 /* ranks that send or receive */
	uint64_t least_messages; /* in a step */
	int64_t span_ns, waiting_ns;
	tally waits;
} stages;

/* Idle, or in a message while nothing is computed. */
static void add_stage(rule_run *r, const messages *read, const evidence_rank *k, stages *s)
{
	uint64_t n = 0;
	int64_t exposed = 0;
	message m;

	for (size_t j = 0; j < k->of->n_device; j++) {
		const row *at = evidence_row(r->e, k->of->device[j]);
		if (!message_of(r, read, at, &m) || (m.kind != MESSAGE_SEND && m.kind != MESSAGE_RECEIVE))
			continue;
		int64_t alone = at->dur_ns - intervals_overlap_with(&k->compute, at->start_ns, row_end_ns(at));
		n++;
		exposed = add_bounded(exposed, alone);
		tally_add(&s->waits, k->of->device[j], alone);
	}
	if (!n || !k->of->n_steps)
		return;
	n /= k->of->n_steps;
	s->least_messages = !s->n || n < s->least_messages ? n : s->least_messages;
	s->n++;
	s->span_ns = add_bounded(s->span_ns, k->span_ns);
	s->waiting_ns = add_bounded(s->waiting_ns, add_bounded(exposed, intervals_length(&k->idle)));
}

static void judge(rule_run *r, const stages *s)
{
	double p = (double)s->n, m = (double)s->least_messages / 2, theory = (p - 1) / (m + p - 1);
	double is = s->span_ns > 0 ? (double)s->waiting_ns / (double)s->span_ns : 0;

	rule_saw(r, "%.0f stages, %.0f microbatches, waiting %.1f %% of the time, %.1f %% unavoidable", p, m, 100 * is,
		 100 * theory);
	if (is <= rule_setting(r, FACTOR) * theory)
		return;
	int64_t lost = s->waiting_ns - whole_bounded(theory * (double)s->span_ns);
	sonde_finding *f = rule_found(r, lost, "pipeline stages wait for each other too long");
	finding_evidence(r->result, f,
			 "%.0f stages wait %.1f %% of the time; with %.0f microbatches %.1f %% is unavoidable.", p,
			 100 * is, m, 100 * theory);
	finding_suggest(r->result, f, "use more microbatches, stages of equal length, an interleaved schedule");
	f->confidence = 0.6;
	tally_link(r, f, &s->waits);
}

static void run(rule_run *r)
{
	stages s = { 0 };
	messages read;

	if (!messages_read(r, &read))
		return;
	for (size_t i = 0; i < r->e->n_ranks; i++)
		add_stage(r, &read, &r->e->ranks[i], &s);
	messages_done(&read);
	if (s.n < 2 || s.least_messages < 2)
		rule_no_data(r, "no pipeline");
	else
		judge(r, &s);
}

const rule pipeline_bubble_rule = {
	.name = "pipeline_bubble",
	.checks = "Pipeline stages wait for each other too long",
	.number = 57,
	.needs = NEED_DEVICE | NEED_COMM | NEED_RANKS | NEED_STEPS,
	.sign_of = "straggler",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
