/* One screen about a recording: what ran, for how long, what took the time, what it cost the machine. */
#include "analyze/analysis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "analyze/tables/imported.h"
#include "base/error.h"
#include "base/format_number.h"

enum { TOP = 6 };

static const column top_columns[] = {
	{ "name", "most time in", CELL_STRING, 0, false },
	{ "calls", "calls", CELL_COUNT, 0, false },
	{ "self_ns", "self", CELL_NS, 0, false },
	{ "percent", "%", CELL_PERCENT, 0, true },
};

static int compare_self(const void *a, const void *b)
{
	const profile_node *const *x = a, *const *y = b;
	int64_t first = (*x)->stats.self_ns, second = (*y)->stats.self_ns;

	if (first != second)
		return first > second ? -1 : 1;
	return strcmp((*x)->text, (*y)->text);
}

static sonde_status add_top(sonde_result *r, const profile *p, sonde_error *err)
{
	const profile_node **order = malloc((p->nodes.n + 1) * sizeof *order);
	int64_t span = p->span_ns;
	size_t n = 0;

	if (!order)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	for (size_t i = 0; i < p->nodes.n; i++)
		if (p->nodes.items[i].stats.calls)
			order[n++] = &p->nodes.items[i];
	if (n)
		qsort(order, n, sizeof *order, compare_self);
	table *t = result_table(r, "top", NULL, top_columns, sizeof top_columns / sizeof top_columns[0]);
	for (size_t i = 0; i < n && i < TOP; i++) {
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(order[i]->text);
		c[1] = cell_count(order[i]->stats.calls);
		c[2] = cell_ns(order[i]->stats.self_ns);
		if (span > 0)
			c[3] = cell_percent(100.0 * (double)order[i]->stats.self_ns / (double)span);
	}
	free(order);
	return SONDE_OK;
}

static void note_origin(sonde_result *r, const sonde_trace *trace)
{
	const stream_block *info = NULL;
	char when[40];
	struct tm tm;

	for (size_t i = 0; i < trace->streams.n && !info; i++)
		if (trace->streams.items[i].has_info)
			info = &trace->streams.items[i].info;
	if (!info)
		return;
	time_t seconds = (time_t)(info->start_utc_ns / 1000000000);
	if (!gmtime_r(&seconds, &tm) || !strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm))
		return;
	result_add(r, "start_utc_ns", cell_integer(info->start_utc_ns));
	result_add(r, "host", cell_string(result_string(r, info->host)));
	result_note_add(r, "recorded", "%s UTC on %s by Sonde %s", when, info->host, info->writer);
}

static void note_end(sonde_result *r, const sonde_trace *trace)
{
	for (size_t i = 0; i < trace->streams.n; i++)
		for (size_t k = 0; k < trace->streams.items[i].meta.n; k++) {
			const trace_meta *m = &trace->streams.items[i].meta.items[k];
			if (strcmp(m->key, "exit") == 0)
				result_note_add(r, "ended", "%s", m->value);
		}
}

/* What the program said about itself. Other tools keep whole documents there: `sonde info --json` has them. */
static void note_meta(sonde_result *r, const profile *p)
{
	enum { LONGEST = 200 };

	for (size_t i = 0; i < p->meta.n; i++) {
		const trace_meta *m = &p->meta.items[i];
		bool ours = strncmp(m->key, "sonde.", 6) == 0;
		if (!trace_is_imported(p->trace) || (!ours && strlen(m->value) <= LONGEST))
			result_note_add(r, m->key, "%s", m->value);
	}
}

static sonde_status summary_run(const sonde_trace *trace, const sonde_analyze_options *o, sonde_result *r,
				sonde_error *err)
{
	profile_options options = profile_options_from(trace, o);
	profile *p = NULL;
	char events[NUMBER_TEXT];

	sonde_status status = profile_new(trace, &options, &p, err);
	if (status)
		return status;
	if (!result_keep_profile(r, p))
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	result_add_trace(r, trace, p);
	status = add_top(r, p, err);
	result_add_processes(r, trace);
	note_origin(r, trace);
	uint64_t n_events = trace_is_imported(trace) ? imported_count(trace).n_events : trace->diagnostics.n_kept;
	result_note_add(r, "events", "%s of %zu names", format_count(events, n_events), p->nodes.n);
	note_end(r, trace);
	note_meta(r, p);
	result_add_memory(r, p);
	result_add_counters(r, p);
	result_add_losses(r, trace, &p->counts);
	result_note_add(r, "next", "sonde report %s",
			trace->files.n && trace->files.items[0].path ? trace->files.items[0].path : "-");
	return status;
}

const analysis summary_analysis = {
	.name = "summary",
	.summary = "One screen about a recording",
	.run = summary_run,
};
