/* The set of analyses that answers what Holistic Trace Analysis does, over one reading of the trace. */
#include "analyze/tables/work.h"

#include <string.h>
#include "analyze/tables/calls.h"
#include "analyze/analyses/critical_path/critical_path.h"
#include "base/format_number.h"
#include "base/threads.h"

static const setting_def more_setting = { "hta.more", SETTING_BOOL, "yes",
					  "also run critical_path, op_delays and sequences" };

static const analysis *const parts[] = {
	&temporal_analysis,  &idle_analysis,	  &kernels_analysis,	   &overlap_analysis, &bandwidth_analysis,
	&queue_analysis,     &launches_analysis,  &annotations_analysis,   &steps_analysis,   &stragglers_analysis,
	&op_delays_analysis, &sequences_analysis, &critical_path_analysis,
};
static const work_analysis *const work_parts[] = {
	&temporal_work,	 &idle_work,	  &kernels_work,       &overlap_work, &bandwidth_work,
	&queue_work,	 &launches_work,  &annotations_work,   &steps_work,   &stragglers_work,
	&op_delays_work, &sequences_work, &critical_path_work,
};
enum { N_PARTS = sizeof parts / sizeof parts[0], N_BASIC = 10 };
_Static_assert(N_PARTS == sizeof work_parts / sizeof work_parts[0], "each part has both");

/* Long tables are for those who ask for them by the name of their analysis. */
static void hide_long(sonde_result *r, const sonde_analyze_options *options)
{
	static const char *const keys[] = { "op_delays", "sequences", "critical_path_names" };

	for (table *t = r->tables; t && !options->top; t = t->next)
		for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
			if (strcmp(t->key, keys[i]) == 0)
				t->n_shown = 0;
	if (!options->top)
		result_note_add(r, "more", "sonde analyze critical_path, op_delays, sequences, call_tree, counters");
}

static void add_headline(const work *w, const sonde_trace *trace, sonde_result *r)
{
	char busy[NUMBER_TEXT];
	double span = 0, idle = 0;
	size_t n = 0;

	for (size_t i = 0; i < w->n_ranks; i++) {
		const work_spans *all = &w->ranks[i].spans[KERNEL_KINDS];
		int64_t from_start = all->n ? all->last.end - all->first.start : 0;
		span += (double)from_start;
		idle += (double)(from_start - all->length);
		n += w->ranks[i].n;
	}
	const char *title = trace_title(trace);
	if (trace->files.n > 1)
		title = result_format(r, "%s and %zu more", title, trace->files.n - 1);
	if (!title)
		return;
	if (span > 0)
		result_answer(r, "%s: device busy %.1f %%, %s kernels and copies on %zu rank%s", title,
			      100 - 100 * idle / span, format_count(busy, n), w->n_ranks, w->n_ranks == 1 ? "" : "s");
	else if (w->is_empty) /* a note says why */
		result_answer(r, "%s: no device rows", title);
}

/* Each part has a result of its own, so that several can be made at once. */
typedef struct part_run {
	const work *w;
	const sonde_analyze_options *options;
	sonde_result *results[N_PARTS];
	sonde_status statuses[N_PARTS];
	sonde_error errs[N_PARTS];
} part_run;

static void run_part(void *context, size_t part)
{
	part_run *run = context;
	sonde_result *r = run->results[part] = result_new("hta");

	if (r)
		run->statuses[part] = work_parts[part]->add(run->w, run->options, r, &run->errs[part]);
}

/* By HTA's rules the kinds of names are found out on the way: one after the other. */
static sonde_status run_parts(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	part_run run = { .w = w, .options = options };
	size_t n_parts = setting(options, &more_setting) ? N_PARTS : N_BASIC, n_run = n_parts;
	const char *refused = n_parts == N_PARTS ? critical_refuses(w, options, r) : NULL;
	sonde_status status = SONDE_OK;

	if (refused) { /* it is the last */
		result_note_add(r, "left out", "critical path: %s", refused);
		n_run--;
	}

	if (n_parts == N_PARTS && w->is_hta && !calls_of(w, options))
		return out_of_memory(err);
	threads_run(w->is_hta || rows_are_paged(&w->rows) ? 1 : threads_available(), n_run, run_part, &run);
	for (size_t i = 0; i < n_run; i++) {
		if (run.statuses[i] && !status) {
			status = run.statuses[i];
			if (err)
				*err = run.errs[i];
		}
		result_take(r, run.results[i]);
	}
	if (!status && !w->is_empty && n_parts == N_PARTS)
		hide_long(r, options);
	return status;
}

static sonde_status run(const sonde_trace *trace, const sonde_analyze_options *options, sonde_result *r,
			sonde_error *err)
{
	work w;
	work_options what = { .bandwidth = true, .few_rows = !setting(options, &more_setting) };
	sonde_status status = work_load(trace, options, what, &w, err);

	if (!status) {
		work_explain(&w, r);
		add_headline(&w, trace, r);
	}
	if (!status)
		status = run_parts(&w, options, r, err);
	work_hide_empty(&w, r);
	work_done(&w);
	return status;
}

/* Its own, and those of its parts, one after the other. */
static const setting_def *settings(size_t index)
{
	if (index-- == 0)
		return &more_setting;
	for (size_t i = 0; i < N_PARTS; i++) {
		const setting_def *def = NULL;
		for (size_t k = 0; parts[i]->setting && (def = parts[i]->setting(k)); k++)
			if (index-- == 0)
				return def;
	}
	return NULL;
}

const analysis hta_analysis = {
	.name = "hta",
	.summary = "Device time, idle causes, kernels, overlap, bandwidth, queues, launches, annotations and steps",
	.compat = WORK_COMPAT,
	.setting = settings,
	.run = run,
};
