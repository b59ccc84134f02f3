/* The program waits for its next batch: time in the loader that no work of the device hides. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "dataloader.warn", SETTING_SHARE, "5%", "waiting, as a share of the selected time" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally waits = tally_rows(r, TRAIT_LOADER);
	int64_t lost = 0;

	for (size_t i = 0; i < e->n_ranks; i++)
		lost = add_bounded(lost, e->has_device ? e->ranks[i].idle_loading_ns
						       : intervals_length(&e->ranks[i].loading));
	rule_saw(r, "%s waits, %s exposed (%s)", say_count(r, waits.n), say_each(r, lost), say_part(r, lost));
	if (!waits.n)
		rule_no_data(r, "no data loader");
	if (!waits.n || !rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "data loading delays %s", e->n_steps ? "the steps" : "the program");
	finding_evidence(r->result, f, "The program waits for its next batch %s, %s on average%s.",
			 say_times(r, waits.n), say_ns(r, waits.ns / (int64_t)waits.n),
			 e->has_device ? ", while the device is idle" : "");
	finding_suggest(r->result, f,
			"load in more processes (num_workers), prefetch, cache decoded data, or move augmentation to "
			"the device");
	f->confidence = 0.95;
	tally_link(r, f, &waits);
}

const rule dataloader_rule = {
	.name = "dataloader",
	.checks = "The program waits for its next batch",
	.number = 1,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
