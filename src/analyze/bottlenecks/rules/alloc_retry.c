/* Memory ran out, the allocator gave back what it had cached and tried again: cudaFree after cudaFree, then cudaMalloc.
 */
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "alloc_retry.warn", SETTING_SHARE, "1%", "freeing and allocating again, as a share of the selected time" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally retries = { 0 };

	site_set frees = rule_sites(r, TRAIT_FREE);

	FOR_ROWS(i, r, &frees)
	{
		size_t n = 0, k = i;
		int64_t ns = 0;
		while (k < e->rows.n && row_traits(e, ROW_AT(&e->rows, k)) & TRAIT_FREE) {
			ns = add_bounded(ns, rows_at(&e->rows, k++).dur_ns);
			n++;
		}
		if (n >= 2 && k < e->rows.n && row_traits(e, ROW_AT(&e->rows, k)) & TRAIT_MALLOC &&
		    rows_at(&e->rows, k).parent == rows_at(&e->rows, i).parent &&
		    rows_at(&e->rows, k).track == rows_at(&e->rows, i).track)
			tally_add(&retries, (uint32_t)k, ns + rows_at(&e->rows, k).dur_ns);
		i = k - 1;
	}
	site_set_done(&frees);
	rule_saw(r, "%s retries, %s", say_count(r, retries.n), say_each(r, retries.ns));
	if (!rule_exceeds(r, retries.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, retries.ns, "device memory ran out and allocations were retried");
	finding_evidence(r->result, f, "The allocator freed its cache and retried %s: %s.", say_times(r, retries.n),
			 say_each(r, retries.ns));
	finding_suggest(r->result, f, "use less memory per step: smaller batch, checkpointing, expandable segments");
	f->confidence = 0.8;
	tally_link(r, f, &retries);
}

const rule alloc_retry_rule = {
	.name = "alloc_retry",
	.checks = "The allocator ran out of memory and retried",
	.number = 43,
	.needs = NEED_DEVICE,
	.sign_of = "alloc_thrash",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
