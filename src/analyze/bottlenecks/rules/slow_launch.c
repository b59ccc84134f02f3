/* Launch calls that take far longer than usual: the driver waits for something. */
#include "analyze/bottlenecks/rule.h"

#include "analyze/math/stats.h"

enum { CALL, WARN };
static const setting_def settings[] = {
	{ "slow_launch.call", SETTING_NS, "50us", "minimum length of a slow call" },
	{ "slow_launch.warn", SETTING_SHARE, "1%", "excess over the usual length, as a share of the selected time" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	stats lengths = { 0 };
	tally slow = { 0 };
	int64_t least = (int64_t)rule_setting(r, CALL), last = -1;

	site_set kernels = rule_kernels(r);
	FOR_ROWS(i, r, &kernels)
	{
		const row *at = ROW_AT(&e->rows, i);
		if (at->flags & ROW_DEVICE && row_has_launch(e, at))
			stats_add(&lengths, evidence_row(e, at->launch)->dur_ns);
	}
	stats_finish(&lengths);
	int64_t usual = stats_percentile(&lengths, 0.5);
	least = 2 * usual > least ? 2 * usual : least;
	for (size_t i = rule_next(r, &kernels, 0); i < e->rows.n && usual >= 0; i = rule_next(r, &kernels, i + 1)) {
		const row *at = ROW_AT(&e->rows, i);
		if (!(at->flags & ROW_DEVICE) || !row_has_launch(e, at) || (int64_t)at->launch == last)
			continue;
		const row *call = evidence_row(e, at->launch);
		last = at->launch; /* a graph's launch has many kernels */
		if (call->dur_ns > least)
			tally_add(&slow, at->launch, call->dur_ns - usual);
	}
	site_set_done(&kernels);
	int64_t idle = 0;
	for (size_t i = 0; i < e->n_ranks; i++)
		idle += e->ranks[i].idle_ops_ns;
	int64_t lost = slow.ns < idle ? slow.ns : idle; /* a device that is busy loses nothing */
	rule_saw(r, "%s slow launches, %s beyond the usual %s", say_count(r, slow.n), say_each(r, slow.ns),
		 say_ns(r, usual > 0 ? usual : 0));
	stats_done(&lengths);
	if (!rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "some launch calls take very long");
	finding_evidence(r->result, f,
			 "%s more than %s where %s is usual: the driver waits (a full "
			 "queue, memory, another thread, lazy loading of a kernel).",
			 say_some(r, slow.n, "launch call takes", "launch calls take"), say_ns(r, least),
			 say_ns(r, usual));
	finding_suggest(r->result, f, "skip the first steps; avoid allocations and driver calls of other threads");
	f->confidence = 0.5;
	tally_link(r, f, &slow);
}

const rule slow_launch_rule = {
	.name = "slow_launch",
	.checks = "Some launch calls take very long",
	.number = 29,
	.needs = NEED_DEVICE,
	.sign_of = "queue_full alloc_thrash launch_bound",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
