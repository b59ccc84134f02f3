/* The compiler runs inside steps that should only run what is compiled. */
#include "analyze/tables/compile_calls.h"
#include "analyze/bottlenecks/rule.h"

enum { WARN };
static const setting_def settings[] = {
	{ "recompile.warn", SETTING_SHARE, "1%", "compiling, as a share of the selected time" },
};

/* "0/1, 0/2 and 3 more": which frames, compiled for which time. */
static const char *list_ids(rule_run *r, const compile_calls *c)
{
	enum { MOST = 3 };
	const char *list = NULL;
	size_t n = 0;

	for (size_t i = 0; i < c->runs.n; i++) {
		const compile_run *run = &c->runs.items[i];
		if (run->number < 1 || run->is_backward || n++ >= MOST)
			continue;
		list = result_format(r->result, "%s%s%.*s", list ? list : "", list ? ", " : "",
				     run->id_len < 32 ? (int)run->id_len : 32, run->id);
	}
	return n > MOST && list ? result_format(r->result, "%s and %s more", list, say_count(r, n - MOST)) : list;
}

static void tell(rule_run *r, const compile_calls *c, const tally *runs)
{
	bool in_steps = r->e->n_steps > 0; /* else it may well be the first time */
	sonde_finding *f =
		rule_found(r, runs->ns, "%s",
			   in_steps ? "code is recompiled during the steps" : "compilation takes much of the time");
	const char *ids = list_ids(r, c);

	finding_evidence(r->result, f, "The compiler runs %s%s and takes %s.", say_times(r, runs->n),
			 in_steps ? " after the warm-up" : "", say_each(r, runs->ns));
	if (ids)
		finding_evidence(r->result, f, "Recompiled for other inputs: %s (frame/time).", ids);
	finding_suggest(r->result, f, "%s",
			in_steps || ids ? "find the cause with TORCH_LOGS=recompiles; mark changing sizes with "
					  "torch._dynamo.mark_dynamic"
					: "measure after the first call of each shape (--from skips the start), or "
					  "cache compiled code on disk");
	f->confidence = 0.9;
	tally_link(r, f, runs);
}

static void run(rule_run *r)
{
	const evidence *e = r->e;
	tally runs = { 0 };
	compile_calls c;

	if (!compile_calls_load(&c, &e->rows))
		r->result->failed = true;
	for (size_t i = 0; i < c.runs.n; i++)
		tally_add(&runs, c.runs.items[i].row, c.runs.items[i].ns);
	if (!c.runs.n && !c.calls.n) {
		rule_no_data(r, "nothing compiled");
	} else {
		rule_saw(r, "%s compilations, %s", say_count(r, runs.n), say_each(r, runs.ns));
		if (rule_exceeds(r, runs.ns, WARN))
			tell(r, &c, &runs);
	}
	compile_calls_done(&c);
}

const rule recompile_rule = {
	.name = "recompile",
	.checks = "Code is recompiled during the steps",
	.number = 51,
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
