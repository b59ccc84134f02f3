#define _GNU_SOURCE
/*
 * The table of names of a report: calls, total and self time, spread and percentiles, as a list, per thread or as a
 * tree.
 *
 * A trace may have millions of names, and one name may be megabytes long. So the table has no cells and copies no name:
 * it has the order of the profile's nodes, and a cell is made from its node when it is asked for.
 */
#include "analyze/analyses/report/report.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/tables/overview.h"
#include "base/error.h"

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
	/* where allocations were recorded only */
	{ "allocated_bytes", "allocated", CELL_BYTES, 5, false },
	{ "freed_bytes", "freed", CELL_BYTES, 10, false },
	{ "peak_bytes", "peak", CELL_BYTES, 4, false },
};
enum { NAME, CATEGORY, CALLS, TOTAL, SELF, AVG, MIN, MAX, STD, PERCENT, P50, P95, P99, THREAD, ALLOCATED, FREED, PEAK };
enum { N_COLUMNS = THREAD };

/* The rows of the table, as they follow each other. */
typedef struct name_rows {
	const profile *profile;
	uint32_t *nodes;
	uint8_t *depths; /* of a tree, else NULL */
	size_t n;
	const char **threads; /* labels by number, with --threads; else NULL */
	int sort;	      /* column */
	column columns[PEAK + 1];
	uint8_t numbers[PEAK + 1]; /* of them in name_columns */
	size_t n_columns;
} name_rows;

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static cell ns_or_unknown(int64_t ns)
{
	return ns < 0 ? cell_unknown() : cell_ns(ns);
}

/* Nothing is known where no allocation was recorded, or where a call was not followed. */
static cell memory_cell(const profile *p, const profile_node *node, size_t at)
{
	profile_work work = profile_work_of(p, node);

	if (!p->memory.n || work.is_memory_unknown)
		return cell_unknown();
	return cell_bytes(at == ALLOCATED ? work.memory.allocated_bytes
			  : at == FREED	  ? work.memory.freed_bytes
					  : work.memory.peak_bytes);
}

static cell node_cell(const profile *p, const profile_node *node, size_t at)
{
	const stats *s = &node->stats;

	switch (at) {
	case NAME:
		return cell_string(node->text);
	case CATEGORY:
		return cell_string(node->mixed ? "mixed" : trace_text(p->trace, node->category));
	case CALLS:
		return cell_count(s->calls);
	case TOTAL:
		return cell_ns(s->total_ns);
	case SELF:
		return cell_ns(s->self_ns);
	case AVG:
		return cell_ns(stats_average(s));
	case MIN:
		return cell_ns(s->min_ns);
	case MAX:
		return cell_ns(s->max_ns);
	case STD:
		return s->calls > 1 ? cell_ns(stats_deviation(s)) : cell_unknown();
	case PERCENT:
		return p->span_ns > 0 ? cell_percent(100.0 * (double)s->total_ns / (double)p->span_ns) : cell_unknown();
	case P50:
		return ns_or_unknown(stats_percentile(s, 0.50));
	case P95:
		return ns_or_unknown(stats_percentile(s, 0.95));
	case P99:
		return ns_or_unknown(stats_percentile(s, 0.99));
	case ALLOCATED:
	case FREED:
	case PEAK:
		return memory_cell(p, node, at);
	}
	return cell_unknown();
}

/* Of a table_make(). */
static cell make_cell(const void *context, size_t row, size_t at)
{
	const name_rows *rows = context;
	const profile_node *node = &rows->profile->nodes.items[rows->nodes[row]];

	at = rows->numbers[at];
	return at == THREAD ? cell_string(rows->threads[node->parent]) : node_cell(rows->profile, node, at);
}

/* ---- Which rows, in which order ---------------------------------------------------------------------------------- */

static const char *const sort_keys[] = { "name", "category", "calls",	  "total",   "self", "avg",
					 "min",	 "max",	     "std",	  "percent", "p50",  "p95",
					 "p99",	 NULL,	     "allocated", "freed",   "peak" };

int report_find_sort(const char *sort)
{
	if (!sort)
		sort = "total";
	for (int i = 0; i <= PEAK; i++)
		if (sort_keys[i] && (strcmp(sort, sort_keys[i]) == 0 || strcmp(sort, name_columns[i].key) == 0))
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

static int compare_cells(cell a, cell b)
{
	if (a.type == CELL_UNKNOWN || b.type == CELL_UNKNOWN)
		return (a.type == CELL_UNKNOWN) - (b.type == CELL_UNKNOWN);
	if (a.type == CELL_STRING)
		return strcmp(a.string, b.string);
	if (a.type == CELL_COUNT || a.type == CELL_BYTES)
		return a.count > b.count ? -1 : a.count < b.count;
	if (a.type == CELL_PERCENT)
		return a.number > b.number ? -1 : a.number < b.number;
	return a.integer > b.integer ? -1 : a.integer < b.integer;
}

/* Largest first, then by name, so that the same trace always gives the same bytes. */
static int compare_nodes(const void *a, const void *b, void *context)
{
	const name_rows *rows = context;
	const profile *p = rows->profile;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const profile_node *x = &p->nodes.items[i], *y = &p->nodes.items[k];

	if (p->options.shape == PROFILE_THREADS && x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	size_t by = (size_t)rows->sort;
	int order = compare_cells(node_cell(p, x, by), node_cell(p, y, by));
	if (!order)
		order = strcmp(x->text, y->text);
	return order ? order : i < k ? -1 : i > k;
}

/* ---- A tree ------------------------------------------------------------------------------------------------------ */

/* Numbers of rows, or PROFILE_NO_NODE. */
typedef struct tree_link {
	uint32_t first, next, parent;
} tree_link;

/* Each row and its children below it, into `to`. Not recursive: a tree may be as deep as the program's stack. */
static void order_tree(const name_rows *rows, const tree_link *links, uint32_t i, name_rows *to)
{
	for (unsigned depth = 0; i != PROFILE_NO_NODE;) {
		to->nodes[to->n] = rows->nodes[i];
		to->depths[to->n++] = (uint8_t)(depth > UINT8_MAX ? UINT8_MAX : depth);
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

/* Links rows, which are sorted, into lists of children that keep the order. Returns the first root. */
static uint32_t link_tree(const name_rows *rows, tree_link *links, uint32_t *row_of)
{
	const profile_node *nodes = rows->profile->nodes.items;
	uint32_t root = PROFILE_NO_NODE;

	for (size_t i = 0; i < rows->profile->nodes.n; i++)
		row_of[i] = PROFILE_NO_NODE;
	for (size_t i = 0; i < rows->n; i++) {
		links[i].first = PROFILE_NO_NODE;
		row_of[rows->nodes[i]] = (uint32_t)i;
	}
	for (size_t i = rows->n; i > 0; i--) { /* from the end, so that each list comes out in order */
		uint32_t node = nodes[rows->nodes[i - 1]].parent;
		uint32_t parent = node == PROFILE_NO_NODE ? PROFILE_NO_NODE : row_of[node];
		uint32_t *head = parent == PROFILE_NO_NODE ? &root : &links[parent].first;
		links[i - 1].parent = parent;
		links[i - 1].next = *head;
		*head = (uint32_t)i - 1;
	}
	return root;
}

/* False when out of memory. */
static bool make_tree(sonde_result *r, name_rows *rows)
{
	tree_link *links = malloc((rows->n + 1) * sizeof *links);
	uint32_t *row_of = malloc((rows->profile->nodes.n + 1) * sizeof *row_of);
	name_rows to = *rows;

	to.nodes = arena_alloc(&r->arena, (rows->n + 1) * sizeof *to.nodes);
	to.depths = arena_alloc(&r->arena, rows->n + 1);
	to.n = 0;
	bool ok = links && row_of && to.nodes && to.depths;
	if (ok) {
		order_tree(rows, links, link_tree(rows, links, row_of), &to);
		*rows = to;
	}
	free(links);
	free(row_of);
	return ok;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static bool label_threads(sonde_result *r, name_rows *rows)
{
	const profile *p = rows->profile;

	rows->threads = arena_alloc(&r->arena, (p->trace->threads.n + 1) * sizeof *rows->threads);
	for (size_t i = 0; rows->threads && i < rows->n; i++) {
		const char **label = &rows->threads[p->nodes.items[rows->nodes[i]].parent];
		if (!*label)
			*label = trace_thread_label(r, p->trace, (size_t)(label - rows->threads));
	}
	return rows->threads;
}

/* False when out of memory. */
static bool collect(sonde_result *r, name_rows *rows, const sonde_analyze_options *o)
{
	const profile *p = rows->profile;

	rows->nodes = arena_alloc(&r->arena, (p->nodes.n + 1) * sizeof *rows->nodes);
	for (uint32_t i = 0; rows->nodes && i < p->nodes.n; i++)
		if (p->nodes.items[i].stats.calls && matches(p->nodes.items[i].text, o->filter))
			rows->nodes[rows->n++] = i;
	if (rows->n)
		qsort_r(rows->nodes, rows->n, sizeof *rows->nodes, compare_nodes, rows);
	return rows->nodes && (!o->tree || make_tree(r, rows)) && (!o->threads || label_threads(r, rows));
}

static void limit_rows(sonde_result *r, table *t, const sonde_analyze_options *o)
{
	uint64_t top = o->top ? o->top : REPORT_TOP;

	if (!t || t->n_rows <= top)
		return;
	t->more = result_counted(r, t->n_rows - top, "more name: --top all", "more names: --top all");
	t->n_shown = (size_t)top;
	if (o->top)
		t->n_rows = (size_t)top; /* asked for: in JSON and CSV as well */
}

static void add_column(name_rows *rows, uint8_t number)
{
	rows->columns[rows->n_columns] = name_columns[number];
	rows->numbers[rows->n_columns++] = number;
}

static void choose_columns(name_rows *rows)
{
	for (uint8_t i = 0; i < N_COLUMNS; i++)
		add_column(rows, i);
	if (rows->threads)
		add_column(rows, THREAD);
	for (uint8_t i = ALLOCATED; rows->profile->memory.n && i <= PEAK; i++)
		add_column(rows, i);
}

sonde_status report_add_names(sonde_result *r, const profile *p, const sonde_analyze_options *o, sonde_error *err)
{
	name_rows *rows = arena_alloc(&r->arena, sizeof *rows);

	if (rows)
		*rows = (name_rows){ .profile = p, .sort = report_find_sort(o->sort) };
	if (!rows || !collect(r, rows, o))
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	choose_columns(rows);
	table *t = result_table(r, "names", NULL, rows->columns, rows->n_columns);
	table_make(t, rows->n, rows->depths, make_cell, rows);
	limit_rows(r, t, o);
	if (!rows->n && o->filter && p->nodes.n)
		result_note_add(r, "note", "no name matches \"%s\"", o->filter);
	else if (!rows->n && o->use_time)
		result_note_add(r, "note", "no events begin in the selected time");
	if (t && !p->nodes.n && trace_has_samples(p->trace)) { /* a program that names nothing: what it used */
		t->n_shown = 0;
		result_add_processes(r, p->trace);
	}
	return SONDE_OK;
}
