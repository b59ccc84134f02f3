#define _GNU_SOURCE
/*
 * Where the time went: calls, total and self time, spread and percentiles per name, as a list, per thread or as a tree;
 * steps and phases; memory peaks; what was lost.
 */
#include "analyze/analysis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/imported.h"
#include "base/error.h"
#include "base/format_number.h"

enum { DEFAULT_TOP = 20 };

/* The order of the CSV, which scripts rely on. */
static const column name_columns[] = {
	{ "name", "name", CELL_STRING, 0, false },
	{ "category", "category", CELL_STRING, 8, false },
	{ "calls", "calls", CELL_COUNT, 0, false },
	{ "total_ns", "total", CELL_NS, 0, false },
	{ "self_ns", "self", CELL_NS, 0, false },
	{ "avg_ns", "avg", CELL_NS, 1, false },
	{ "min_ns", "min", CELL_NS, 7, false },
	{ "max_ns", "max", CELL_NS, 3, false },
	{ "std_ns", "std", CELL_NS, 6, false },
	{ "percent", "%", CELL_PERCENT, 0, true },
	{ "p50_ns", "p50", CELL_NS, 4, false },
	{ "p95_ns", "p95", CELL_NS, 2, false },
	{ "p99_ns", "p99", CELL_NS, 5, false },
	{ "thread", "thread", CELL_STRING, 0, false }, /* with --threads only */
};
enum { N_COLUMNS = sizeof name_columns / sizeof name_columns[0] - 1 };
enum { COLUMN_NAME, COLUMN_CATEGORY, COLUMN_CALLS };

/* ---- Which rows, in which order ---------------------------------------------------------------------------------- */

static const char *const sort_keys[] = { "name", "category", "calls",	"total", "self", "avg", "min",
					 "max",	 "std",	     "percent", "p50",	 "p95",	 "p99" };

static int find_sort(const char *sort)
{
	if (!sort)
		sort = "total";
	for (int i = 0; i < N_COLUMNS; i++)
		if (strcmp(sort, sort_keys[i]) == 0 || strcmp(sort, name_columns[i].key) == 0)
			return i;
	return -1;
}

static bool matches(const char *name, const char *filter)
{
	if (!filter || !*filter)
		return true;
	size_t len = strlen(filter), name_len = strlen(name);
	bool at_start = filter[0] == '^', at_end = len > (at_start ? 1u : 0u) && filter[len - 1] == '$';
	const char *text = filter + at_start;
	size_t text_len = len - at_start - at_end;
	if (text_len > name_len)
		return false;
	if (at_start && at_end)
		return text_len == name_len && memcmp(name, text, text_len) == 0;
	if (at_start)
		return memcmp(name, text, text_len) == 0;
	if (at_end)
		return memcmp(name + name_len - text_len, text, text_len) == 0;
	return memmem(name, name_len, text, text_len) != NULL;
}

typedef struct row {
	cell cells[N_COLUMNS];
	const profile_node *node;
	uint32_t index; /* of the node */
} row;

static int compare_cells(const cell *a, const cell *b)
{
	if (a->type == CELL_UNKNOWN || b->type == CELL_UNKNOWN)
		return (a->type == CELL_UNKNOWN) - (b->type == CELL_UNKNOWN);
	if (a->type == CELL_STRING)
		return strcmp(a->string, b->string);
	if (a->type == CELL_COUNT)
		return a->count > b->count ? -1 : a->count < b->count;
	if (a->type == CELL_PERCENT)
		return a->number > b->number ? -1 : a->number < b->number;
	return a->integer > b->integer ? -1 : a->integer < b->integer;
}

/* Largest first, then by name, so that the same trace always gives the same bytes. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const row *x = a, *y = b;
	int by = *(const int *)context, order = 0;

	if (x->node->depth == 0 && y->node->depth == 0 && x->node->parent != y->node->parent)
		return x->node->parent < y->node->parent ? -1 : 1; /* by thread; PROFILE_NO_NODE in a list */
	order = compare_cells(&x->cells[by], &y->cells[by]);
	if (!order)
		order = strcmp(x->cells[COLUMN_NAME].string, y->cells[COLUMN_NAME].string);
	return order ? order : x->index < y->index ? -1 : 1;
}

static cell ns_or_unknown(int64_t ns)
{
	return ns < 0 ? cell_unknown() : cell_ns(ns);
}

static void fill_row(row *out, profile *p, uint32_t index)
{
	profile_node *node = &p->nodes.items[index];
	stats *s = &node->stats;
	int64_t span = p->span_ns;
	cell *c = out->cells;

	out->node = node;
	out->index = index;
	*c++ = cell_string(node->text);
	*c++ = cell_string(node->mixed ? "mixed" : trace_text(p->trace, node->category));
	*c++ = cell_count(s->calls);
	*c++ = cell_ns(s->total_ns);
	*c++ = cell_ns(s->self_ns);
	*c++ = cell_ns(stats_average(s));
	*c++ = cell_ns(s->min_ns);
	*c++ = cell_ns(s->max_ns);
	*c++ = s->calls > 1 ? cell_ns(stats_deviation(s)) : cell_unknown();
	*c++ = span > 0 ? cell_percent(100.0 * (double)s->total_ns / (double)span) : cell_unknown();
	*c++ = ns_or_unknown(stats_percentile(s, 0.50));
	*c++ = ns_or_unknown(stats_percentile(s, 0.95));
	*c++ = ns_or_unknown(stats_percentile(s, 0.99));
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void put_row(sonde_result *r, table *t, const row *from, unsigned depth)
{
	cell *c = table_row(r, t, depth);

	memcpy(c, from->cells, sizeof from->cells);
	for (int i = 0; i < COLUMN_CALLS; i++)
		c[i] = cell_string(result_string(r, from->cells[i].string));
}

static const char *thread_label(sonde_result *r, const profile *p, size_t index)
{
	const trace_thread *thread = &p->trace->threads.items[index];
	const char *name = p->thread_names[index];

	if (trace_is_imported(p->trace))
		return imported_thread_label(r, p->trace, index);
	return *name ? result_format(r, "%s %u", name, thread->tid) : result_format(r, "%u", thread->tid);
}

/* Numbers of rows, or PROFILE_NO_NODE. */
typedef struct tree_link {
	uint32_t first, next, parent;
} tree_link;

/* Each row and its children below it. Not recursive: a tree may be as deep as the program's stack. */
static void put_rows(sonde_result *r, table *t, const row *rows, const tree_link *links, uint32_t i)
{
	for (unsigned depth = 0; i != PROFILE_NO_NODE;) {
		put_row(r, t, &rows[i], depth);
		if (links[i].first != PROFILE_NO_NODE) {
			i = links[i].first;
			depth++;
			continue;
		}
		for (; i != PROFILE_NO_NODE && links[i].next == PROFILE_NO_NODE; depth--)
			i = links[i].parent;
		if (i != PROFILE_NO_NODE)
			i = links[i].next;
	}
}

/* Rows are sorted; links them into lists of children that keep the order. */
static sonde_status put_tree(sonde_result *r, table *t, const profile *p, const row *rows, size_t n, sonde_error *err)
{
	tree_link *links = malloc((n + 1) * sizeof *links);
	uint32_t *row_of = malloc((p->nodes.n + 1) * sizeof *row_of), root = PROFILE_NO_NODE;
	bool ok = links && row_of;

	for (size_t i = 0; ok && i < p->nodes.n; i++)
		row_of[i] = PROFILE_NO_NODE;
	for (size_t i = 0; ok && i < n; i++) {
		links[i].first = PROFILE_NO_NODE;
		row_of[rows[i].index] = (uint32_t)i;
	}
	for (size_t i = n; ok && i > 0; i--) { /* from the end, so that each list comes out in order */
		uint32_t node = rows[i - 1].node->parent;
		uint32_t parent = node == PROFILE_NO_NODE ? PROFILE_NO_NODE : row_of[node];
		uint32_t *head = parent == PROFILE_NO_NODE ? &root : &links[parent].first;
		links[i - 1].parent = parent;
		links[i - 1].next = *head;
		*head = (uint32_t)i - 1;
	}
	if (ok)
		put_rows(r, t, rows, links, root);
	free(links);
	free(row_of);
	return ok ? SONDE_OK : error_set(err, SONDE_E_MEMORY, -1, "out of memory");
}

static void limit_rows(sonde_result *r, table *t, const sonde_analyze_options *o)
{
	uint64_t top = o->top ? o->top : DEFAULT_TOP;

	if (!t || t->n_rows <= top)
		return;
	t->more = result_counted(r, t->n_rows - top, "more names: --top all");
	t->n_shown = (size_t)top;
	if (o->top)
		t->n_rows = (size_t)top; /* asked for: in JSON and CSV as well */
}

static sonde_status add_names(sonde_result *r, profile *p, const sonde_analyze_options *o, sonde_error *err)
{
	int sort = find_sort(o->sort);
	row *rows = malloc((p->nodes.n + 1) * sizeof *rows);
	size_t n = 0;
	sonde_status status = SONDE_OK;

	if (!rows)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	for (uint32_t i = 0; i < p->nodes.n; i++) {
		const profile_node *node = &p->nodes.items[i];
		if (node->stats.calls && matches(node->text, o->filter))
			fill_row(&rows[n++], p, i);
	}
	if (n)
		qsort_r(rows, n, sizeof *rows, compare_rows, &sort);
	table *t = result_table(r, "names", NULL, name_columns, o->threads ? N_COLUMNS + 1 : N_COLUMNS);
	if (o->tree) {
		status = put_tree(r, t, p, rows, n, err);
	} else {
		for (size_t i = 0; i < n; i++) {
			put_row(r, t, &rows[i], 0);
			if (o->threads && result_ok(r))
				t->cells[(t->n_rows - 1) * (N_COLUMNS + 1) + N_COLUMNS] =
					cell_string(thread_label(r, p, rows[i].node->parent));
		}
	}
	free(rows);
	limit_rows(r, t, o);
	if (!n && o->filter && p->nodes.n)
		result_note_add(r, "note", "no name matches \"%s\"", o->filter);
	else if (!n && o->use_time)
		result_note_add(r, "note", "nothing begins in the time that was asked for");
	if (t && !p->nodes.n && p->trace->samples.n) { /* a program that names nothing: what it used */
		t->n_shown = 0;
		result_add_processes(r, p->trace);
	}
	return status;
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
static void put_phase(sonde_result *r, table *t, const char *name, stats *s, int64_t share_ns, int64_t whole_ns,
		      unsigned depth)
{
	cell *c = table_row(r, t, depth);

	c[0] = cell_string(result_string(r, name));
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
static void put_phases(sonde_result *r, table *t, profile *p, bool in_steps)
{
	for (size_t i = 0; i < p->phases.n; i++) {
		profile_phase *phase = &p->phases.items[i];
		if (in_steps == (phase->in_steps_ns > 0))
			put_phase(r, t, trace_text(p->trace, phase->name), &phase->stats, phase->in_steps_ns,
				  p->step_stats.total_ns, in_steps);
	}
}

static void add_phases(sonde_result *r, profile *p)
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
		t->n_shown = show && t->n_rows < DEFAULT_TOP ? t->n_rows : show ? DEFAULT_TOP : 0;
		if (show && t->n_shown < t->n_rows)
			t->more = result_counted(r, t->n_rows - t->n_shown, "more steps: --json has them");
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
	sonde_status status = add_names(r, p, o, err);
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
	if (find_sort(o->sort) < 0)
		return error_set(
			err, SONDE_E_USAGE, -1,
			"cannot sort by '%s'; there are total, self, calls, avg, min, max, std, percent, p50, p95, "
			"p99 and name",
			o->sort);
	if (o->tree && o->threads)
		return error_set(err, SONDE_E_USAGE, -1, "a tree cannot be split by thread yet: choose one of the two");
	sonde_status status = profile_new(trace, &options, &p, err);
	if (!status)
		status = report_run_profile(p, o, r, err);
	profile_free(p);
	return status;
}

const analysis report_analysis = {
	.name = "report",
	.summary = "Where the time went, per name",
	.run = report_run,
};
