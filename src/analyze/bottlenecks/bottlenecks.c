/*
 * What is slow, why, and what to change: every rule of rules.def looks at the evidence, what is only a sign of another
 * finding goes there, the rest is ranked.
 *
 * First come findings that will end the run (critical, and nobody knows how many seconds), then by seconds lost.
 */
#include "analyze/bottlenecks/rule.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/analysis.h"
#include "base/format_number.h"

#define RULE(name) &name##_rule,
static const rule *const rules[] = {
#include "analyze/bottlenecks/rules.def"
};
#undef RULE
enum { N_RULES = sizeof rules / sizeof rules[0], FINDINGS_SHOWN = 5, EVIDENCE_MAX = 5 };

static const setting_def explain_setting = { "explain", SETTING_BOOL, "no", "list every rule and its numbers" };

static const setting_def *setting_at(size_t index)
{
	if (index-- == 0)
		return &explain_setting;
	for (size_t i = 0; i < N_RULES; i++) {
		if (index < rules[i]->n_settings)
			return &rules[i]->settings[index];
		index -= rules[i]->n_settings;
	}
	return NULL;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* What the rule needs and the trace does not have, or NULL. */
static const char *lacks(const evidence *e, unsigned needs)
{
	if (!e->rows.n || e->span_ns <= 0)
		return "no slices";
	if (needs & NEED_DEVICE && !e->has_device)
		return "no device rows";
	if (needs & NEED_RANKS && e->n_ranks < 2)
		return "one rank";
	if (needs & NEED_COMM && !e->has_comm)
		return "no collectives";
	if (needs & NEED_HOST_ONLY && e->has_device)
		return "for traces without a device";
	if (needs & NEED_STEPS && !e->n_steps)
		return "no steps";
	if (needs & NEED_ALLOCATIONS && !index_n_rows(e->rows.ix, SECTION_ALLOCATIONS))
		return "no allocations";
	return NULL;
}

static void run_rules(const evidence *e, sonde_result *result, rule_run *runs)
{
	for (size_t i = 0; i < N_RULES; i++) {
		rule_run *r = &runs[i];
		*r = (rule_run){ .rule = rules[i], .e = e, .result = result, .saw = "" };
		const char *missing = lacks(e, rules[i]->needs);
		if (missing)
			rule_no_data(r, missing);
		else
			rules[i]->run(r);
	}
}

/* ---- One cause, one finding -------------------------------------------------------------------------------------- */

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; at && (at = strstr(at, word)); at += len)
		if ((at == list || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

static rule_run *run_of(rule_run *runs, const char *name)
{
	for (size_t i = 0; i < N_RULES; i++)
		if (strcmp(runs[i].rule->name, name) == 0)
			return &runs[i];
	return NULL;
}

/* The finding that explains f: at least half as large, the largest of them. Rules are signs of each other in no circle.
 */
static sonde_finding *cause_of(rule_run *runs, sonde_result *r, const sonde_finding *f)
{
	const char *signs = run_of(runs, f->rule)->rule->sign_of;
	sonde_finding *cause = NULL;

	for (size_t i = 0; signs && i < r->n_findings; i++) {
		sonde_finding *other = r->findings[i];
		if (other != f && has_word(signs, other->rule) && 2 * other->seconds_lost >= f->seconds_lost &&
		    (!cause || other->seconds_lost > cause->seconds_lost))
			cause = other;
	}
	return cause;
}

/* Signs of signs go to the end of the chain. */
static size_t root_of(const size_t *causes, size_t n, size_t i)
{
	for (size_t steps = 0; causes[i] != i && steps < n; steps++)
		i = causes[i];
	return i;
}

/* causes[i]: the number of the finding that explains finding i, or i. */
static void find_causes(rule_run *runs, sonde_result *r, size_t *causes)
{
	for (size_t i = 0; i < r->n_findings; i++) {
		const sonde_finding *cause = cause_of(runs, r, r->findings[i]);
		causes[i] = i;
		for (size_t k = 0; cause && k < r->n_findings; k++)
			causes[i] = r->findings[k] == cause ? k : causes[i];
	}
}

/* What the sign saw is further evidence of the cause. */
static void merge_findings(rule_run *runs, sonde_result *r)
{
	size_t n = 0, *causes = calloc(r->n_findings + 1, sizeof *causes);

	if (!causes) {
		r->failed = true;
		return;
	}
	find_causes(runs, r, causes);
	for (size_t i = 0; i < r->n_findings; i++) {
		sonde_finding *f = r->findings[i], *cause = r->findings[root_of(causes, r->n_findings, i)];
		if (cause == f)
			continue;
		rule_run *run = run_of(runs, f->rule);
		run->verdict = VERDICT_MERGED;
		run->missing = cause->rule;
		if (f->n_evidence && cause->n_evidence < EVIDENCE_MAX)
			finding_evidence(r, cause, "%s", f->evidence[0]);
	}
	for (size_t i = 0; i < r->n_findings; i++)
		if (run_of(runs, r->findings[i]->rule)->verdict != VERDICT_MERGED)
			r->findings[n++] = r->findings[i];
	r->n_findings = n;
	free(causes);
}

static bool ends_the_run(const sonde_finding *f)
{
	return f->severity == SONDE_CRITICAL && f->seconds_lost < 0;
}

/* They are sorted by seconds; those that end the run go to the front and keep their order. */
static void rank_findings(sonde_result *r)
{
	size_t at = 0;

	result_rank_findings(r);
	for (size_t i = 0; i < r->n_findings; i++) {
		sonde_finding *f = r->findings[i];
		if (!ends_the_run(f))
			continue;
		memmove(&r->findings[at + 1], &r->findings[at], (i - at) * sizeof *r->findings);
		r->findings[at++] = f;
	}
}

/* ---- Telling ----------------------------------------------------------------------------------------------------- */

/* Of a recording that is cut off nobody knows what was in the rest. */
static bool has_lost(const sonde_trace *trace)
{
	sonde_trace_facts facts = { .struct_size = sizeof facts };

	sonde_trace_get_facts(trace, &facts);
	return facts.n_lost > 0;
}

static void tell_headline(sonde_result *r, const evidence *e, bool any_data)
{
	char lost[NUMBER_TEXT], span[NUMBER_TEXT], share[NUMBER_TEXT];
	int64_t each = e->span_ns / (e->n_ranks ? (int64_t)e->n_ranks : 1);
	const char *steps = "", *worth = "", *without_warmup = e->n_warmup ? " without warm-up" : "";
	double most = -1;

	if (e->n_steps == 1)
		steps = result_format(r, "; step %" PRId64 "%s", e->steps[0].number, without_warmup);
	else if (e->n_steps)
		steps = result_format(r, "; steps %" PRId64 "-%" PRId64 "%s", e->steps[0].number,
				      e->steps[e->n_steps - 1].number, without_warmup);
	format_ns(span, each);
	for (size_t i = 0; i < r->n_findings; i++)
		most = r->findings[i]->seconds_lost > most ? r->findings[i]->seconds_lost : most;
	if (most >= 0)
		worth = result_format(r, ", up to %s of %s (%s %%)%s", format_ns(lost, whole_bounded(most * 1e9)), span,
				      format_percent(share, each > 0 ? most * 1e11 / (double)each : 0),
				      e->n_ranks > 1 ? " per rank" : "");
	if (!steps || !worth)
		return;
	if (!any_data)
		result_headline(r, "no rule could check the trace: %s",
				e->rows.n_left_out	      ? "the selection is empty"
				: !e->rows.trace->is_recorded ? "the trace has no slices"
				: has_lost(e->rows.trace)     ? "the rest of the recording has no scopes"
							      : "the program has no scopes");
	else if (r->n_findings)
		result_headline(r, "%zu finding%s%s%s", r->n_findings, r->n_findings == 1 ? "" : "s", worth, steps);
	else
		result_headline(r, "no findings in %s%s", span, steps);
}

static const char *verdict_text(sonde_result *r, const rule_run *run)
{
	switch (run->verdict) {
	case VERDICT_PASSED:
		return "passed";
	case VERDICT_FOUND:
		return "found";
	case VERDICT_MERGED:
		return result_format(r, "part of %s", run->missing);
	case VERDICT_NO_DATA:
		return "no data";
	}
	return "";
}

static void tell_rules(sonde_result *r, const rule_run *runs, bool explain)
{
	static const column shown[] = {
		{ "rule", "rule", CELL_STRING, 0, false },
		{ "verdict", "verdict", CELL_STRING, 0, false },
		{ "saw", "numbers", CELL_STRING, 0, false },
		{ "checks", "checks", CELL_STRING, 1, false },
	};
	table *t = result_table(r, "rules", "Rules", shown, sizeof shown / sizeof *shown);

	for (size_t i = 0; i < N_RULES; i++) {
		cell *cells = table_row(r, t, 0);
		cells[0] = cell_string(runs[i].rule->name);
		cells[1] = cell_string(verdict_text(r, &runs[i]));
		cells[2] = cell_string(*runs[i].saw ? runs[i].saw : NULL);
		cells[3] = cell_string(runs[i].rule->checks);
	}
	if (t && !explain)
		t->n_shown = 0;
}

static size_t count_verdicts(const rule_run *runs, rule_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < N_RULES; i++)
		n += runs[i].verdict == verdict;
	return n;
}

/* "no device rows: 19; one rank: 4; others: 3", others being reasons of one rule alone. */
static const char *missing_text(sonde_result *r, const rule_run *runs)
{
	const char *text = "";
	size_t n_others = 0;

	for (size_t i = 0; i < N_RULES; i++) {
		size_t n = 0;
		bool is_first = true;

		for (size_t k = 0; runs[i].verdict == VERDICT_NO_DATA && k < N_RULES; k++) {
			bool is_same =
				runs[k].verdict == VERDICT_NO_DATA && strcmp(runs[k].missing, runs[i].missing) == 0;
			n += is_same;
			is_first = is_first && !(is_same && k < i);
		}
		n_others += n == 1;
		if (n > 1 && is_first)
			text = result_format(r, "%s%s%s: %zu", text ? text : "", text && *text ? "; " : "",
					     runs[i].missing, n);
	}
	if (n_others && text && *text)
		text = result_format(r, "%s; others: %zu", text, n_others);
	return text ? text : "";
}

static void tell_checked(sonde_result *r, const rule_run *runs, bool explain)
{
	size_t found = count_verdicts(runs, VERDICT_FOUND), merged = count_verdicts(runs, VERDICT_MERGED);
	size_t without = count_verdicts(runs, VERDICT_NO_DATA);
	const char *missing = missing_text(r, runs);

	result_add(r, "n_rules", cell_count(N_RULES));
	result_add(r, "n_found", cell_count(found + merged));
	result_add(r, "n_passed", cell_count(count_verdicts(runs, VERDICT_PASSED)));
	result_add(r, "n_no_data", cell_count(without));
	const char *signs = merged ? result_format(r, " (%zu of them symptoms of another finding)", merged) : "";
	result_note_add(r, "checked", "%d rules: %zu found something%s, %zu passed, %zu had no data%s%s%s.%s", N_RULES,
			found + merged, signs ? signs : "", count_verdicts(runs, VERDICT_PASSED), without,
			*missing ? " (" : "", missing, *missing ? ")" : "", explain ? "" : " --explain lists them.");
}

static void limit_findings(sonde_result *r, const sonde_analyze_options *options)
{
	size_t top = options->top ? (size_t)options->top : FINDINGS_SHOWN;

	if (r->n_findings <= top)
		return;
	r->n_findings_shown = top;
}

static void tell(sonde_result *r, const evidence *e, const rule_run *runs)
{
	bool explain = setting(e->options, &explain_setting) != 0;

	tell_headline(r, e, count_verdicts(runs, VERDICT_NO_DATA) < N_RULES);
	result_add(r, "span_ns", cell_ns(e->span_ns / (e->n_ranks ? (int64_t)e->n_ranks : 1)));
	result_add(r, "n_steps", cell_count(e->n_steps));
	tell_rules(r, runs, explain);
	limit_findings(r, e->options);
	if (!e->rows.n && !e->rows.n_left_out && e->rows.trace->is_recorded && !has_lost(e->rows.trace))
		result_note_add(r, "next",
				"sonde summary shows the resource use; scopes in the program (SONDE_SCOPE of "
				"sonde/record.h) show where its time goes");
	if (e->rows.damaged)
		result_note_add(r, "damaged", "parts of the trace could not be read; the results lack them");
	tell_checked(r, runs, explain);
}

static sonde_status run(const sonde_trace *trace, const sonde_analyze_options *options, sonde_result *r,
			sonde_error *err)
{
	evidence e;
	rule_run runs[N_RULES];

	result_expect_findings(r);
	sonde_status status = evidence_load(&e, trace, options, err);
	if (!status) {
		run_rules(&e, r, runs);
		merge_findings(runs, r);
		rank_findings(r);
		tell(r, &e, runs);
	}
	evidence_done(&e);
	return status;
}

const analysis bottlenecks_analysis = {
	.name = "bottlenecks",
	.summary = "Bottlenecks, their cause and cost, and what to change",
	.setting = setting_at,
	.run = run,
};
