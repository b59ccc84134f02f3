/* Batches are made in the training process itself: PyTorch's loader with num_workers=0. */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "sync_loader.warn", SETTING_SHARE, "1%", "time in the loader" },
};

static void run(rule_run *r)
{
	tally all = tally_rows(r, TRAIT_LOADER), own = tally_rows(r, TRAIT_LOADER_SINGLE);
	int64_t lost = 0;

	for (size_t i = 0; i < r->e->n_ranks; i++)
		lost = add_bounded(lost, r->e->has_device ? r->e->ranks[i].idle_loading_ns
							  : intervals_length(&r->e->ranks[i].loading));
	if (all.ns > 0)
		lost = whole_bounded((double)lost * ((double)own.ns / (double)all.ns));
	if (!all.n) {
		rule_no_data(r, "no data loader");
		return;
	}
	rule_saw(r, "%s of %s loads in the training thread, %s exposed", say_count(r, own.n), say_count(r, all.n),
		 say_each(r, lost));
	if (!own.n || !rule_exceeds(r, lost, WARN))
		return;
	sonde_finding *f = rule_found(r, lost, "the training thread loads its own batches");
	finding_evidence(r->result, f, "The loader has no worker processes (num_workers=0): %s %s%s.",
			 say_some(r, own.n, "batch costs", "batches cost"), say_each(r, own.ns), say_per_rank(r));
	finding_suggest(r->result, f, "set num_workers to 2 or more, with persistent_workers");
	tally_link(r, f, &own);
}

const rule sync_loader_rule = {
	.name = "sync_loader",
	.checks = "The training thread loads its own batches",
	.number = 2,
	.sign_of = "dataloader",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
