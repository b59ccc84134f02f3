/* A step calls several compiled graphs, with Python between them. */
#include "analyze/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "graph_breaks.warn", SETTING_SHARE, "1%", "time between the graphs, as a share of the time looked at" },
};

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally breaks = { 0 };
	uint64_t n = 0;
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < e->rows.n; i++) {
		const row *at = &e->rows.items[i];
		if (!(row_traits(e, at) & TRAIT_REGION) || row_is_inside(e, (uint32_t)i, TRAIT_REGION))
			continue;
		const row *before = last == SIZE_MAX ? NULL : &e->rows.items[last];
		n++;
		last = i;
		/* Siblings of different names: two graphs of one function that broke. */
		if (before && before->parent == at->parent && before->track == at->track && before->site != at->site &&
		    at->parent != ROW_NONE)
			tally_add(&breaks, (uint32_t)i, at->start_ns - row_end_ns(before));
	}
	if (!n) {
		rule_no_data(r, "nothing compiled");
		return;
	}
	rule_saw(r, "%s calls of graphs, %s breaks, %s between", say_count(r, n), say_count(r, breaks.n),
		 say_each(r, breaks.ns));
	if (!rule_exceeds(r, breaks.ns, WARN))
		return;
	sonde_finding *f = rule_found(r, breaks.ns, "compiled code is interrupted by Python");
	finding_evidence(r->result, f,
			 "%s times one compiled graph follows another with %s of Python between them in all.",
			 say_count(r, breaks.n), say_each(r, breaks.ns));
	finding_suggest(r->result, f, "TORCH_LOGS=graph_breaks says where; fullgraph=True makes them errors");
	f->confidence = 0.6;
	tally_link(r, f, &breaks);
}

const rule graph_breaks_rule = {
	.name = "graph_breaks",
	.checks = "Compiled code is interrupted by Python",
	.number = 52,
	.needs = NEED_STEPS,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
