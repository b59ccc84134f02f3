/* Scopes of the program whose slow calls, those above a percentile, take far longer than usual. */
#include "analyze/rule.h"

#include <stdlib.h>
#include "analyze/stats.h"

enum { PERCENTILE, FACTOR, WARN };
static const setting_def settings[] = {
	{ "call_outliers.percentile", SETTING_NUMBER, "90", "calls above it are slow" },
	{ "call_outliers.factor", SETTING_NUMBER, "3", "times the median, at least" },
	{ "call_outliers.warn", SETTING_SHARE, "5%", "beyond the median, as a share of the time looked at" },
};

/* Steps have a rule of their own; operators and kernels differ by their shapes. */
static bool is_scope(const evidence *e, const row *at)
{
	return !(at->flags & ROW_ON_STREAM) && !(row_traits(e, at) & (TRAIT_OP | TRAIT_RUNTIME | TRAIT_LOADER)) &&
	       (at->class == CLASS_ANNOTATION || at->class == CLASS_PHASE || at->class == CLASS_OTHER);
}

/* What calls itself, also through others, has no usual length: imports of modules, walks over trees. */
static bool is_recursive(const evidence *e, const row *at)
{
	for (uint32_t up = at->parent; up != ROW_NONE; up = evidence_row(e, up)->parent)
		if (evidence_row(e, up)->site == at->site)
			return true;
	return false;
}

static void tell(rule_run *r, size_t site, stats *s, int64_t extra)
{
	const evidence *e = r->e;
	const char *name = index_text(e->rows.ix, e->rows.sites[site].name);
	tally slow = { 0 };
	int64_t median = stats_percentile(s, 0.5);

	rule_saw(r, "worst `%.60s`: %s beyond its median of %s", name, say_each(r, extra), say_ns(r, median));
	if (!rule_exceeds(r, extra, WARN))
		return;
	for (size_t i = 0; i < e->rows.n; i++)
		if (e->rows.items[i].site == site)
			tally_add(&slow, (uint32_t)i, e->rows.items[i].dur_ns);
	sonde_finding *f = rule_found(r, extra, "some calls of `%.40s` take far longer than usual", name);
	finding_evidence(r->result, f,
			 "Half of the %s calls of `%.60s` take %s or less, the slowest %s; slow calls cost %s more.",
			 say_count(r, slow.n), name, say_ns(r, median), say_ns(r, slow.worst_ns[0]),
			 say_each(r, extra));
	finding_suggest(r->result, f, "compare a slow call with a usual one in the timeline");
	f->confidence = 0.6;
	tally_link(r, f, &slow);
}

static void run(rule_run *r)
{
	enum { LEAST = 20 };
	const evidence *e = r->e;
	stats *all = calloc(e->rows.n_sites + 1, sizeof *all);
	int64_t *extra = calloc(e->rows.n_sites + 1, sizeof *extra);
	size_t worst = e->rows.n_sites;

	r->result->failed = r->result->failed || !all || !extra;
	for (size_t i = 0; all && extra && i < e->rows.n; i++) {
		const row *at = &e->rows.items[i];
		if (!is_scope(e, at))
			continue;
		stats_add(&all[at->site], at->dur_ns);
		if (is_recursive(e, at))
			extra[at->site] = -1;
	}
	for (size_t i = 0; all && extra && i < e->rows.n; i++) {
		const row *at = &e->rows.items[i];
		stats *s = &all[at->site];
		if (!is_scope(e, at) || extra[at->site] < 0 || s->calls < LEAST)
			continue;
		int64_t median = stats_percentile(s, 0.5);
		if (at->dur_ns >= stats_percentile(s, rule_setting(r, PERCENTILE) / 100) &&
		    (double)at->dur_ns >= rule_setting(r, FACTOR) * (double)median)
			extra[at->site] = add_bounded(extra[at->site], at->dur_ns - median);
	}
	for (size_t i = 0; all && extra && i < e->rows.n_sites; i++)
		worst = extra[i] > 0 && (worst == e->rows.n_sites || extra[i] > extra[worst]) ? i : worst;
	if (worst < e->rows.n_sites)
		tell(r, worst, &all[worst], extra[worst]);
	else
		rule_saw(r, "no scope has slow calls");
	for (size_t i = 0; all && i < e->rows.n_sites; i++)
		stats_done(&all[i]);
	free(all);
	free(extra);
}

const rule call_outliers_rule = {
	.name = "call_outliers",
	.checks = "Some calls of a scope take far longer than usual",
	.number = 0,
	.sign_of = "step_outliers dataloader straggler recompile",
	.settings = settings,
	.n_settings = sizeof settings / sizeof *settings,
	.run = run,
};
