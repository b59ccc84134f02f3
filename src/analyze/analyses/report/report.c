/*
 * Where the time went: names (analyses/report/names.c), steps and phases, layers (analyses/report/layers.c), memory
 * peaks; what was lost. Names are the trace's and the profile's: the result owns the one and holds the other.
 */
#include "analyze/analyses/report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/format_number.h"

static cell ns_or_unknown(int64_t ns)
{
	return ns < 0 ? cell_unknown() : cell_ns(ns);
}

static const column phase_columns[] = {
	{ "name", "step and phases", CELL_STRING, 0, false },
	{ "count", "count", CELL_COUNT, 0, false },
	{ "total_ns", "total", CELL_NS, 0, false },
	{ "avg_ns", "avg", CELL_NS, 0, false },
	{ "min_ns", "min", CELL_NS, 3, false },
	{ "p50_ns", "p50", CELL_NS, 2, false },
	{ "p95_ns", "p95", CELL_NS, 1, false },
	{ "max_ns", "max", CELL_NS, 1, false },
	{ "percent_of_steps", "%", CELL_PERCENT, 0, true },
};

/* share_ns: what of the total lies in steps; of nothing no share is told. */
static void put_phase(sonde_result *r, table *t, const char *name, const stats *s, int64_t share_ns, int64_t whole_ns,
		      unsigned depth)
{
	cell *c = table_row(r, t, depth);

	c[0] = cell_string(name);
	c[1] = cell_count(s->calls);
	c[2] = cell_ns(s->total_ns);
	c[3] = cell_ns(stats_average(s));
	c[4] = cell_ns(s->min_ns);
	c[5] = ns_or_unknown(stats_percentile(s, 0.50));
	c[6] = ns_or_unknown(stats_percentile(s, 0.95));
	c[7] = cell_ns(s->max_ns);
	if (whole_ns > 0 && share_ns > 0)
		c[8] = cell_percent(100.0 * (double)share_ns / (double)whole_ns);
}

/* Those in steps, or those beside them. */
static void put_phases(sonde_result *r, table *t, const profile *p, bool in_steps)
{
	for (size_t i = 0; i < p->phases.n; i++) {
		const profile_phase *phase = &p->phases.items[i];
		if (in_steps == (phase->in_steps_ns > 0))
			put_phase(r, t, trace_text(p->trace, phase->name), &phase->stats, phase->in_steps_ns,
				  p->step_stats.total_ns, in_steps);
	}
}

static void add_phases(sonde_result *r, const profile *p)
{
	if (!p->steps.n && !p->phases.n)
		return;
	table *t = result_table(r, "phases", NULL, phase_columns, sizeof phase_columns / sizeof phase_columns[0]);
	if (p->steps.n)
		put_phase(r, t, "step", &p->step_stats, p->step_stats.total_ns, p->step_stats.total_ns, 0);
	put_phases(r, t, p, true);
	put_phases(r, t, p, false);
}

/* One row a step, one column a phase. */
static void add_steps(sonde_result *r, const profile *p)
{
	size_t n_phases = p->phases.n < PROFILE_PHASES ? p->phases.n : PROFILE_PHASES, n = 3 + n_phases;
	column *fields = arena_alloc(&r->arena, n * sizeof *fields);

	r->failed |= !fields;
	if (!p->steps.n || !fields)
		return;
	fields[0] = (column){ "step", "step", CELL_INTEGER, 0, false };
	fields[1] = (column){ "start_ns", "start", CELL_NS, 1, false };
	fields[2] = (column){ "dur_ns", "duration", CELL_NS, 0, false };
	for (size_t i = 0; i < n_phases; i++) {
		const char *name = trace_text(p->trace, p->phases.items[i].name);
		fields[3 + i] = (column){ result_format(r, "%s_ns", name), result_string(r, name), CELL_NS, 0, false };
	}
	table *t = result_table(r, "steps", NULL, fields, n);
	for (size_t k = 0; k < p->steps.n; k++) {
		const profile_step *step = &p->steps.items[k];
		cell *c = table_row(r, t, 0);
		c[0] = cell_integer(step->number);
		c[1] = cell_ns(step->start_ns - p->trace->start_ns);
		c[2] = cell_ns(step->dur_ns);
		for (size_t i = 0; i < n_phases; i++)
			c[3 + i] = cell_ns(step->phase_ns[i]);
	}
	table_chart(t, CHART_BARS, "step", "dur_ns", NULL);
	if (t) {
		bool show = p->options.use_steps;
		t->n_shown = show && t->n_rows < REPORT_TOP ? t->n_rows : show ? REPORT_TOP : 0;
		if (show && t->n_shown < t->n_rows)
			t->more = result_counted(r, t->n_rows - t->n_shown, "more step: --json has it",
						 "more steps: --json has them");
	}
}

static void note_slowest(sonde_result *r, const profile *p)
{
	const profile_step *slowest = NULL;
	char average[NUMBER_TEXT], worst[NUMBER_TEXT];

	for (size_t i = 0; i < p->steps.n; i++)
		if (!slowest || p->steps.items[i].dur_ns > slowest->dur_ns)
			slowest = &p->steps.items[i];
	if (slowest && p->steps.n > 1)
		result_note_add(r, "steps", "%zu of %s each on average, slowest %" PRId64 " with %s", p->steps.n,
				format_ns(average, stats_average(&p->step_stats)), slowest->number,
				format_ns(worst, slowest->dur_ns));
}

sonde_status report_run_profile(profile *p, const sonde_analyze_options *o, sonde_result *r, sonde_error *err)
{
	result_add_trace(r, p->trace, p);
	sonde_status status = report_add_names(r, p, o, err);
	if (status)
		return status;
	add_phases(r, p);
	add_steps(r, p);
	result_add_layers(r, p, o);
	note_slowest(r, p);
	result_add_activity(r, p);
	result_add_memory(r, p);
	result_add_memory_curves(r, p);
	result_add_counters(r, p);
	result_add_losses(r, p->trace, &p->counts);
	return SONDE_OK;
}

static sonde_status report_run(const sonde_trace *trace, const sonde_analyze_options *o, sonde_result *r,
			       sonde_error *err)
{
	profile_options options = profile_options_from(trace, o);
	profile *p = NULL;

	options.shape = o->tree ? PROFILE_TREE : o->threads ? PROFILE_THREADS : PROFILE_FLAT;
	if (report_find_sort(o->sort) < 0)
		return error_set(
			err, SONDE_E_USAGE, -1,
			"cannot sort by '%s'; choose total, self, calls, avg, min, max, std, percent, p50, p95, "
			"p99, name, allocated, freed or peak",
			o->sort);
	if (o->tree && o->threads)
		return error_set(err, SONDE_E_USAGE, -1, "--tree and --threads exclude each other");
	sonde_status status = profile_new(trace, &options, &p, err);
	if (status)
		return status;
	if (!result_keep_profile(r, p))
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	return report_run_profile(p, o, r, err);
}

const analysis report_analysis = {
	.name = "report",
	.summary = "Time by name",
	.run = report_run,
};
