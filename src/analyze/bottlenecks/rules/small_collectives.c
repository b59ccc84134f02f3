/* Most collectives move so little that their latency is what they cost. */
#include "analyze/bottlenecks/rule.h"

enum { BYTES, COUNT, WARN };
static const setting_def settings[] = {
	{ "small_collectives.bytes", SETTING_BYTES, "256KiB", "maximum size of a small collective" },
	{ "small_collectives.count", SETTING_SHARE, "50%", "minimum share of small collectives" },
	{ "small_collectives.warn", SETTING_SHARE, "1%", "exposed small collectives, as a share of the selected time" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	messages read;
	message m;
	tally small = { 0 };
	uint64_t n = 0;
	int64_t lost = 0;

	if (!messages_read(r, &read))
		return;
	for (size_t i = 0; i < e->n_ranks; i++)
		for (size_t j = 0; j < e->ranks[i].of->n_device; j++) {
			uint32_t number = e->ranks[i].of->device[j];
			const row *at = evidence_row(e, number);
			if (!message_of(r, &read, at, &m) || m.in_bytes < 0)
				continue;
			n++;
			if ((double)m.in_bytes >= rule_setting(r, BYTES))
				continue;
			tally_add(&small, number, at->dur_ns);
			lost = add_bounded(lost, at->dur_ns - intervals_overlap_with(&e->ranks[i].compute, at->start_ns,
										     row_end_ns(at)));
		}
	messages_done(&read);
	if (!n) {
		rule_no_data(r, "no sizes of collectives");
		return;
	}
	rule_saw(r, "%s of %s are small, %s exposed", say_count(r, small.n), say_count(r, n), say_each(r, lost));
	if ((double)small.n <= rule_setting(r, COUNT) * (double)n || !rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "collectives are too small");
	finding_evidence(r->result, f, "%s of %s collectives move less than %s each; their exposed time is %s.",
			 say_count(r, small.n), say_count(r, n), say_bytes(r, (int64_t)rule_setting(r, BYTES)),
			 say_each(r, lost));
	finding_suggest(r->result, f, "combine them: larger buckets, flattened tensors, coalescing");
	f->confidence = 0.7;
	tally_link(r, f, &small);
}

const rule small_collectives_rule = {
	.name = "small_collectives",
	.checks = "Collectives are too small",
	.number = 55,
	.needs = NEED_DEVICE | NEED_COMM,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
