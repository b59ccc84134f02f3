/* One rank computes longer than the others, who wait for it in their collectives. No clocks are compared: who waits
 * least is late. */
#include "analyze/rule.h"

#include <inttypes.h>
#include <stdlib.h>

enum { WARN, STEPS };
static const setting_def settings[] = {
	{ "straggler.warn", SETTING_SHARE, "3%", "waiting of the others" },
	{ "straggler.steps", SETTING_SHARE, "50%", "of the steps the same rank is the last" },
};

/* What each rank spends in collectives in the step, which its cursor moves to; false when a rank lacks the step or
 * nobody communicates. */
static bool measure_step(const evidence *e, int64_t number, size_t *cursors, int64_t *ret_comm)
{
	int64_t all = 0;

	for (size_t i = 0; i < e->n_ranks; i++) {
		const evidence_rank *k = &e->ranks[i];
		while (cursors[i] < k->of->n_steps && k->of->steps[cursors[i]].number < number)
			cursors[i]++;
		if (cursors[i] == k->of->n_steps || k->of->steps[cursors[i]].number != number)
			return false;
		const rows_step *s = &k->of->steps[cursors[i]];
		ret_comm[i] = intervals_overlap_with(&k->comm, s->start_ns, s->start_ns + s->dur_ns) +
			      intervals_overlap_with(&k->comm_host, s->start_ns, s->start_ns + s->dur_ns);
		all += ret_comm[i];
	}
	return all > 0;
}

static size_t least(const int64_t *values, size_t n)
{
	size_t at = 0;

	for (size_t i = 1; i < n; i++)
		at = values[i] < values[at] ? i : at;
	return at;
}

/* How much longer than the last one the others are in collectives, on average. */
static int64_t usual_wait(const int64_t *comm, size_t n, size_t last)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += comm[i] - comm[last];
	return sum / (int64_t)(n - 1);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The median of the waits for the rank, times their number: a step that is slow for another reason counts as usual. */
static int64_t usual_sum(int64_t *waits, const size_t *last, size_t n_steps, size_t rank)
{
	size_t n = 0;

	for (size_t i = 0; i < n_steps; i++)
		if (last[i] == rank)
			waits[n++] = waits[i];
	qsort(waits, n, sizeof *waits, by_value);
	return n ? waits[n / 2] / 2 * (int64_t)n + waits[(n - 1) / 2] / 2 * (int64_t)n : 0;
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	int64_t lost = 0, worst_ns = 0, worst = 0;
	size_t n = 0, *times = calloc(e->n_ranks, sizeof *times), late = 0;
	size_t *cursors = calloc(e->n_ranks, sizeof *cursors);
	int64_t *comm = calloc(e->n_ranks, sizeof *comm), *waits = calloc(e->n_ranks, sizeof *waits);

	int64_t *step_waits = calloc(e->n_steps, sizeof *step_waits);
	size_t *step_last = calloc(e->n_steps, sizeof *step_last);
	bool ok = times && comm && waits && cursors && step_waits && step_last;

	r->result->failed = r->result->failed || !ok;
	for (size_t s = 0; ok && s < e->n_steps; s++) {
		if (!measure_step(e, e->steps[s].number, cursors, comm))
			continue;
		size_t last = least(comm, e->n_ranks);
		int64_t wait = usual_wait(comm, e->n_ranks, last);
		step_waits[n] = wait;
		step_last[n++] = last;
		times[last]++;
		waits[last] += wait;
		if (wait > worst_ns) {
			worst_ns = wait;
			worst = e->steps[s].number;
		}
	}
	for (size_t i = 0; n && i < e->n_ranks; i++)
		late = waits[i] > waits[late] ? i : late;
	lost = n ? usual_sum(step_waits, step_last, n, late) * (int64_t)e->n_ranks : 0;
	size_t n_late = n ? times[late] : 0;
	free(times);
	free(step_waits);
	free(step_last);
	free(cursors);
	free(comm);
	free(waits);
	if (!n) {
		rule_no_data(r, "no collectives");
		return;
	}
	rule_saw(r, "rank %d last in %zu of %zu steps, the others wait %s", (int)e->ranks[late].of->rank, n_late, n,
		 say_each(r, lost));
	if ((double)n_late <= rule_setting(r, STEPS) * (double)n || !rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "rank %d makes the others wait", (int)e->ranks[late].of->rank);
	finding_evidence(r->result, f,
			 "Rank %d comes last to the collectives in %zu of %zu steps; the others wait %s per "
			 "step (median), at most %s in step %" PRId64 ".",
			 (int)e->ranks[late].of->rank, n_late, n, say_ns(r, lost / (int64_t)(n_late * e->n_ranks)),
			 say_ns(r, worst_ns), worst);
	finding_suggest(r->result, f,
			"compare its step with another rank's: clocks, temperature, data, other programs on "
			"its machine");
	f->rank = e->ranks[late].of->rank;
	f->confidence = 0.85;
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
