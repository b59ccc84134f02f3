/*
 * Several traces side by side: what was asked for and whether it makes sense, loading, baselines. See
 * <sonde/compare.h>; compare/answer.c has what is said.
 */
#include <stdlib.h>
#include <string.h>
#include "analyze/analysis.h"
#include "analyze/compare/comparison.h"
#include "analyze/tables/step_list.h"
#include "analyze/tables/warmup.h"
#include "base/error.h"
#include "base/format_number.h"

static const char *name_of(const sonde_compare_options *o, const sonde_trace *const *traces, size_t i)
{
	return o->names ? o->names[i] : trace_title(traces[i]);
}

static void name_runs(comparison *c, const sonde_trace *const *traces, size_t n_traces)
{
	bool kept = c->options->baseline != NULL;

	for (size_t i = 0; i < c->n; i++) {
		c->labels[i] = c->heads[i] = result_format(c->r, "%c", (char)('A' + i));
		size_t from = kept ? i - 1 : i;
		if (from < n_traces)
			c->runs[i].name = name_of(c->options, traces, from);
	}
	if (!kept)
		return;
	c->labels[0] = "the baseline";
	c->heads[0] = "baseline";
	c->labels[1] = "this run";
	c->heads[1] = "this run";
}

static sonde_status run_baseline(comparison *c, sonde_error *err)
{
	if (!c->runs[0].n_runs) {
		result_answer(c->r, "first run of %s: no earlier run to compare with",
			      c->options->baseline_name ? c->options->baseline_name : "run");
		/* A name that is new every time would never be compared with anything. */
		const char *other = baseline_other_name(c->options, c->r);
		if (other)
			result_note_add(c->r, "baseline", "%s has runs of %s; --name %s compares with them",
					c->options->baseline, other, other);
		result_add(c->r, "n_regressions", cell_count(0));
		return baseline_add(c->options, &c->runs[1], err);
	}
	c->runs[0].name = result_format(c->r, "%zu earlier runs", c->runs[0].n_runs);
	sonde_status status = comparison_present(c, err);
	if (status || !result_ok(c->r))
		return status;
	if (c->n_regressions) {
		result_note_add(c->r, "baseline", "unchanged: a regression is not added");
		return SONDE_OK;
	}
	result_note_add(c->r, "baseline", "this run was added");
	return baseline_add(c->options, &c->runs[1], err);
}

static sonde_status load(comparison *c, const sonde_trace *const *traces, size_t n_traces, sonde_error *err)
{
	sonde_status status = SONDE_OK;

	if (c->options->baseline)
		status = baseline_read(c->options, &c->runs[c->n++], err);
	for (size_t i = 0; i < n_traces && !status; i++)
		status = compare_run_load(traces[i], c->select, &c->runs[c->n++], err);
	return status;
}

static const char *const bys[] = { "step", "phase", "layer", "name", "kernel", "tree" };

static sonde_status check(const sonde_compare_options *o, const sonde_analyze_options *select, size_t n_traces,
			  sonde_error *err)
{
	bool is_known = !o->by;

	for (size_t i = 0; i < sizeof bys / sizeof bys[0] && !is_known; i++)
		is_known = strcmp(o->by, bys[i]) == 0;
	if (!is_known)
		return error_set(err, SONDE_E_USAGE, -1,
				 "cannot compare by '%s'; choose step, phase, layer, name, kernel or tree", o->by);
	if (o->baseline && n_traces != 1)
		return error_set(err, SONDE_E_USAGE, -1, "a baseline is compared with one run, not %zu", n_traces);
	if (!o->baseline && n_traces < 2)
		return error_set(err, SONDE_E_USAGE, -1, "a comparison needs two runs, or a baseline");
	if (n_traces > SONDE_COMPARE_MAX)
		return error_set(err, SONDE_E_USAGE, -1, "a comparison accepts at most %d runs", SONDE_COMPARE_MAX);
	if (select->warmup && !warmup_is_rule(select->warmup))
		return error_set(err, SONDE_E_USAGE, -1,
				 "unknown warm-up \"%s\": expected auto, none or a number of steps", select->warmup);
	if (o->by && strcmp(o->by, "tree") == 0 && (n_traces != 2 || o->baseline || select->compat))
		return error_set(err, SONDE_E_USAGE, -1, "a comparison by tree needs exactly two runs and no baseline");
	if (select->compat && (strcmp(select->compat, "hta") != 0 || n_traces != 2))
		return error_set(err, SONDE_E_USAGE, -1, "unknown definitions: only hta is supported, for two runs");
	return SONDE_OK;
}

/* Each run has to have some of the ranks and steps. */
static sonde_status check_traces(const sonde_compare_options *o, const sonde_analyze_options *select,
				 const sonde_trace *const *traces, size_t n, sonde_error *err)
{
	for (size_t i = 0; i < n; i++) {
		sonde_status status = select->ranks ? ranks_check(traces[i], select->ranks, err) : SONDE_OK;
		if (!status && select->use_steps)
			status = steps_check(traces[i], select->first_step, select->last_step, err);
		if (status)
			return error_prefix(err, status, name_of(o, traces, i));
	}
	return SONDE_OK;
}

/* Options of a caller that knows fewer. */
static sonde_compare_options known_options(const sonde_compare_options *given)
{
	sonde_compare_options o = { .struct_size = sizeof o };

	if (given)
		memcpy(&o, given, given->struct_size < sizeof o ? given->struct_size : sizeof o);
	return o;
}

static sonde_analyze_options known_select(const sonde_analyze_options *given)
{
	sonde_analyze_options o = { .struct_size = sizeof o };

	if (given)
		memcpy(&o, given, given->struct_size < sizeof o ? given->struct_size : sizeof o);
	return o;
}

static void note_losses(const comparison *c, const sonde_trace *const *traces, size_t n_traces)
{
	sonde_trace_facts facts = { .struct_size = sizeof facts };
	char number[NUMBER_TEXT];

	for (size_t i = 0; i < n_traces; i++) {
		sonde_trace_get_facts(traces[i], &facts);
		if (facts.n_lost)
			result_note_add(c->r, "lost", "%s lost %s event%s; sonde info shows the reason",
					c->labels[c->n - n_traces + i], format_count(number, facts.n_lost),
					facts.n_lost == 1 ? "" : "s");
	}
}

static sonde_status compare_runs(comparison *c, const sonde_trace *const *traces, size_t n_traces, sonde_error *err)
{
	if (c->options->by && strcmp(c->options->by, "tree") == 0)
		return compare_trees(traces, c->select, c->r, err);
	sonde_status status = load(c, traces, n_traces, err);
	if (status)
		return status;
	name_runs(c, traces, n_traces);
	status = c->options->baseline ? run_baseline(c, err) : comparison_present(c, err);
	note_losses(c, traces, n_traces);
	return status;
}

sonde_status sonde_compare(const sonde_trace *const *traces, size_t n_traces, const sonde_compare_options *options,
			   sonde_result **ret_result, sonde_error *err)
{
	sonde_compare_options given = known_options(options);
	sonde_analyze_options select = known_select(given.select);
	sonde_status status = check(&given, &select, n_traces, err);

	if (!status)
		status = check_traces(&given, &select, traces, n_traces, err);
	if (status)
		return status;
	comparison *c = calloc(1, sizeof *c);
	sonde_result *r = result_new(select.compat ? "trace-diff" : "compare");
	if (!c || !r) {
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	} else {
		*c = (comparison){ .options = &given, .select = &select, .r = r };
		status = select.compat ? compare_as_hta(traces[0], traces[1], &select, r, err)
				       : compare_runs(c, traces, n_traces, err);
		if (!status && !result_ok(r))
			status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	}
	for (size_t i = 0; c && i < SONDE_COMPARE_MAX; i++)
		compare_run_done(&c->runs[i]);
	free(c);
	if (status)
		sonde_result_free(r);
	else
		*ret_result = r;
	return status;
}
