/* Scopes of the program whose slow calls, those above a percentile, take far longer than usual. */
#include "analyze/bottlenecks/rule.h"

#include <stdlib.h>
#include "analyze/math/stats.h"

enum { PERCENTILE, FACTOR, WARN };
static const setting_def settings[] = {
	{ "call_outliers.percentile", SETTING_NUMBER, "90", "percentile above which calls are slow" },
	{ "call_outliers.factor", SETTING_NUMBER, "3", "minimum factor over the median" },
	{ "call_outliers.warn", SETTING_SHARE, "5%", "excess over the median, as a share of the selected time" },
};

/* Steps have a rule of their own; operators and kernels differ by their shapes. */
static site_set find_scopes(const rule_run *r)
{
	const evidence *e = r->e;
	site_set scopes;

	if (!site_set_init(&scopes, &e->rows))
		r->result->failed = true;
	for (uint32_t i = 0; scopes.has && i < e->rows.n_sites; i++) {
		uint8_t class = e->rows.sites[i].class;
		if (!(e->traits[i] & (TRAIT_OP | TRAIT_RUNTIME | TRAIT_LOADER)) &&
		    (class == CLASS_ANNOTATION || class == CLASS_PHASE || class == CLASS_OTHER))
			site_set_add(&scopes, i);
	}
	return scopes;
}

/* What calls itself, also through others, has no usual length: imports of modules, walks over trees. */
static bool is_recursive(const evidence *e, const row *at)
{
	for (uint32_t up = at->parent; up != ROW_NONE; up = evidence_row(e, up)->parent)
		if (evidence_row(e, up)->site == at->site)
			return true;
	return false;
}

static void tell(rule_run *r, size_t site, const stats *s, int64_t extra)
{
	const evidence *e = r->e;
	const char *name = index_text(e->rows.ix, e->rows.sites[site].name);
	tally slow = { 0 };
	int64_t median = stats_percentile(s, 0.5);

	rule_saw(r, "worst `%.60s`: %s beyond its median of %s", name, say_each(r, extra), say_ns(r, median));
	if (!rule_exceeds(r, extra, WARN))
		return;
	site_set one = { 0 };
	if (site_set_init(&one, &e->rows))
		site_set_add(&one, (uint32_t)site);
	FOR_ROWS(i, r, &one)
	tally_add(&slow, (uint32_t)i, rows_at(&e->rows, i).dur_ns);
	r->result->failed = r->result->failed || !one.has;
	site_set_done(&one);
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
	site_set scopes = find_scopes(r);

	r->result->failed = r->result->failed || !all || !extra;
	for (size_t i = rule_next(r, &scopes, 0); all && extra && i < e->rows.n; i = rule_next(r, &scopes, i + 1)) {
		const row *at = ROW_AT(&e->rows, i);
		if (at->flags & ROW_ON_STREAM)
			continue;
		stats_add(&all[at->site], at->dur_ns);
		if (is_recursive(e, at))
			extra[at->site] = -1;
	}
	for (size_t i = 0; all && i < e->rows.n_sites; i++)
		stats_finish(&all[i]);
	for (size_t i = rule_next(r, &scopes, 0); all && extra && i < e->rows.n; i = rule_next(r, &scopes, i + 1)) {
		const row *at = ROW_AT(&e->rows, i);
		const stats *s = &all[at->site];
		if (at->flags & ROW_ON_STREAM || extra[at->site] < 0 || s->calls < LEAST)
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
	site_set_done(&scopes);
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
