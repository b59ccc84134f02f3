/*
 * Several runs side by side, on their way into a result.
 *
 *   compare.c           what was asked for; loading
 *   compare/answer.c    the first line, the runs, the notes
 *   compare/tables.c    what changed, name by name
 *   compare/baseline.c  runs that were kept, compare/json.c as files
 *   compat/hta/compare.c       HTA's trace diff
 *   compare/tree.c      two traces by the tree of their operators
 */
#ifndef SONDE_ANALYZE_COMPARE_COMPARISON_H
#define SONDE_ANALYZE_COMPARE_COMPARISON_H

#include "analyze/compare/run.h"
#include "analyze/result/result.h"

typedef struct comparison {
	const sonde_compare_options *options;
	const sonde_analyze_options *select;
	compare_run runs[SONDE_COMPARE_MAX];
	const char *labels[SONDE_COMPARE_MAX]; /* in sentences: "A", "the baseline" */
	const char *heads[SONDE_COMPARE_MAX];  /* above columns: "A", "baseline" */
	size_t n;
	bool has_steps; /* all of them */
	size_t n_regressions;
	sonde_result *r;
} comparison;

/* What is compared of an item of a run. Steps where that works for all runs that have it; else calls, times as many as
   there are in a step where there are steps. */
bool comparison_by_steps(const comparison *c, const compare_item *const *items);
summary comparison_summary(const comparison *c, size_t run, const compare_item *item, bool by_steps);

/* Everything: the answer, the runs, the tables, the notes. */
sonde_status comparison_present(comparison *c, sonde_error *err);

/* A regression, when the difference is certain and more than the user allows; adds a finding. */
void comparison_check(comparison *c, size_t run, const difference *d, const char *what, double n_samples);

/* The tables that were asked for. */
sonde_status comparison_add_tables(comparison *c, sonde_error *err);

cell share_cell(double share); /* in percent; unknown when it is NaN */

/* "62.1 -> 54.5 ms" */
enum { FROM_TO_TEXT = 128 };
const char *format_from_to(char *ret_text, double from_ns, double to_ns);

/* ---- Baselines: compare/baseline.c ------------------------------------------------------------------------------- */

/* Joins the runs that are kept in options->baseline into *ret_run, whose n_runs is 0 when there are none. */
sonde_status baseline_read(const sonde_compare_options *options, compare_run *ret_run, sonde_error *err);
/* The name of other runs that the directory holds, the first by the alphabet; NULL: none. */
const char *baseline_other_name(const sonde_compare_options *options, sonde_result *r);
/* Adds the run and removes what is older than the last options->baseline_runs. */
sonde_status baseline_add(const sonde_compare_options *options, const compare_run *run, sonde_error *err);

/* ---- HTA: compat/hta/compare.c
 * ------------------------------------------------------------------------------------------ */

sonde_status compare_as_hta(const sonde_trace *control, const sonde_trace *test, const sonde_analyze_options *select,
			    sonde_result *r, sonde_error *err);

/* ---- By tree: compare/tree.c; two traces ------------------------------------------------------------------------- */

sonde_status compare_trees(const sonde_trace *const *traces, const sonde_analyze_options *select, sonde_result *r,
			   sonde_error *err);

#endif
