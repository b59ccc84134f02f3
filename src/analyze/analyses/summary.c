/* One screen about a recording: what ran, for how long, what took the time, what it cost the machine. */
#include "analyze/analysis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "analyze/tables/overview.h"
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
	const char *start = trace_origin(trace, "start_utc_ns"), *host = trace_origin(trace, "host"),
		   *writer = trace_origin(trace, "writer");
	char when[40];
	struct tm tm;

	if (!trace->is_recorded || !start || !host || !writer)
		return;
	int64_t start_ns = strtoll(start, NULL, 10);
	time_t seconds = (time_t)(start_ns / 1000000000);
	if (!gmtime_r(&seconds, &tm) || !strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm))
		return;
	result_add(r, "start_utc_ns", cell_integer(start_ns));
	result_add(r, "host", cell_string(result_string(r, host)));
	result_note_add(r, "recorded", "%s UTC on %s by Sonde %s", when, host, writer);
	if (trace_origin(trace, "exit"))
		result_note_add(r, "ended", "%s", trace_origin(trace, "exit"));
}

/* What the recorder notes about a process, which is shown elsewhere or is for programs. */
static bool is_about_process(const char *key)
{
	static const char *const own[] = { "command", "exit", "program", "host", "writer", "start_utc_ns", "start_ns" };

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		if (strcmp(key, own[i]) == 0)
			return true;
	return strstr(key, " of process ") != NULL;
}

/* What the program said about itself. Other tools keep whole documents there: `sonde info --json` has them. */
static void note_meta(sonde_result *r, const sonde_trace *trace)
{
	enum { LONGEST = 200 };
	size_t n, len;
	const index_meta *metas = index_metas(trace->index, &n);

	for (size_t i = 0; i < n; i++) {
		const char *key = index_text(trace->index, metas[i].key);
		const char *value = index_textn(trace->index, metas[i].value, &len);
		bool ours = strncmp(key, "sonde.", 6) == 0;
		bool is_shown = trace->is_recorded ? !is_about_process(key) : len <= LONGEST;
		if (!ours && is_shown)
			result_note_add(r, key, "%s", value);
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
	trace_counts counts = trace_count(trace);
	uint64_t n_events = trace->is_recorded ? counts.n_events - counts.n_lost : counts.n_events;
	result_note_add(r, "events", "%s of %s", format_count(events, n_events),
			result_counted(r, p->nodes.n, "name", "names"));
	note_meta(r, trace);
	result_add_memory(r, p);
	result_add_counters(r, p);
	result_add_losses(r, trace, &p->counts);
	result_note_add(r, "next", "sonde report %s",
			trace->files.n && trace->files.items[0].path ? trace->files.items[0].path : "-");
	return status;
}

const analysis summary_analysis = {
	.name = "summary",
	.summary = "Summary of a run on one screen",
	.run = summary_run,
};
