/* A step calls several compiled graphs, with Python between them. */
#include "analyze/tables/compile_calls.h"
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "graph_breaks.warn", SETTING_SHARE, "1%", "time between the graphs, as a share of the selected time" },
};

static void tell(rule_run *r, const tally *breaks, uint64_t n_inside)
{
	sonde_finding *f = rule_found(r, breaks->ns, "compiled code is interrupted by Python");

	finding_evidence(r->result, f,
			 "One compiled graph follows another %s, with %s of Python between them in total.",
			 say_times(r, breaks->n), say_each(r, breaks->ns));
	finding_suggest(r->result, f, "find them with TORCH_LOGS=graph_breaks; fullgraph=True turns them into errors");
	f->confidence = 2 * n_inside > breaks->n ? 0.9 : 0.6; /* graphs behind each other may be two functions */
	tally_link(r, f, breaks);
}

static void run(rule_run *r)
{
	tally breaks = { 0 };
	uint64_t n = 0, n_inside = 0;
	compile_calls c;

	if (!compile_calls_load(&c, &r->e->rows))
		r->result->failed = true;
	for (size_t i = 0; i < c.calls.n; i++)
		n += c.calls.items[i].kind == COMPILE_REGION;
	for (size_t i = 0; i < c.breaks.n; i++) {
		tally_add(&breaks, c.breaks.items[i].to, c.breaks.items[i].gap_ns);
		n_inside += c.breaks.items[i].is_inside;
	}
	if (!n)
		rule_no_data(r, "nothing compiled");
	else {
		rule_saw(r, "%s calls of graphs, %s breaks, %s between", say_count(r, n), say_count(r, breaks.n),
			 say_each(r, breaks.ns));
		if (rule_exceeds(r, breaks.ns, WARN))
			tell(r, &breaks, n_inside);
	}
	compile_calls_done(&c);
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
