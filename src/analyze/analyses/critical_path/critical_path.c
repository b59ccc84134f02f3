/*
 * The critical path: the chain of things, each waiting for the one before, that a step took as long as it did. What is
 * not on it can become slower or faster without any effect.
 *
 *   critical_path          its time by what it is: operators, kernels, launches, waiting ...
 *   critical_path_names    by name
 *   critical_path_what_if  how much shorter the path gets when a name is N times faster: the longest way again, through
 *                          the same graph
 *   critical_path_ranks    rank by rank: how long it took, how long the path is, how large the graph
 *   critical_path_pieces   the longest pieces
 *
 * How the graph is made: analyses/critical_path/build.c, and compat/hta/critical.c for HTA's.
 */
#include "analyze/analyses/critical_path/critical_path.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"
#include "analyze/tables/name_sums.h"
#include "base/error.h"
#include "base/format_number.h"

static const setting_def faster_setting = { "critical_path.faster", SETTING_TEXT, "",
					    "the name to make faster (default: those that take most of the path)" };
static const setting_def times_setting = { "critical_path.times", SETTING_NUMBER, "2", "how many times faster" };

static const setting_def memory_setting = { "critical_path.memory", SETTING_BYTES, "600MiB",
					    "memory limit of the graph" };

static const char *const kind_names[EDGE_KINDS] = {
	[EDGE_OPERATOR] = "operator",
	[EDGE_DATA_LOAD] = "data loading",
	[EDGE_KERNEL] = "kernel",
	[EDGE_COPY] = "copy",
	[EDGE_COMMUNICATION] = "communication",
	[EDGE_LAUNCH] = "launch",
	[EDGE_KERNEL_KERNEL] = "kernel-kernel",
	[EDGE_SYNC] = "sync",
	[EDGE_ORDER] = "order",
};

static const column kind_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false }, { "what", "what", CELL_STRING, 0, false },
	{ "sum_ns", "time", CELL_NS, 0, false },    { "step_ns", "per step", CELL_NS, 0, false },
	{ "percent", "%", CELL_PERCENT, 0, true },  { "count", "pieces", CELL_COUNT, 1, false },
};
static const column name_columns[] = {
	{ "name", "name", CELL_STRING, 0, false }, { "rank", "rank", CELL_INTEGER, 1, false },
	{ "what", "what", CELL_STRING, 0, false }, { "count", "pieces", CELL_COUNT, 0, false },
	{ "sum_ns", "time", CELL_NS, 0, false },   { "percent", "%", CELL_PERCENT, 0, true },
};
static const column what_if_columns[] = {
	{ "name", "if this were", CELL_STRING, 0, false },  { "rank", "rank", CELL_INTEGER, 1, false },
	{ "times", "times faster", CELL_NUMBER, 0, false }, { "path_ns", "path", CELL_NS, 1, false },
	{ "saved_ns", "shorter by", CELL_NS, 0, false },    { "saved_step_ns", "per step", CELL_NS, 0, false },
	{ "percent", "%", CELL_PERCENT, 0, true },
};
static const column rank_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },	    { "n_steps", "steps", CELL_COUNT, 0, false },
	{ "span_ns", "took", CELL_NS, 0, false },	    { "path_ns", "path", CELL_NS, 0, false },
	{ "n_path_nodes", "points", CELL_COUNT, 1, false }, { "n_path_rows", "rows", CELL_COUNT, 1, false },
	{ "n_nodes", "of points", CELL_COUNT, 2, false },   { "n_edges", "edges", CELL_COUNT, 2, false },
};
static const column piece_columns[] = {
	{ "name", "name", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 1, false },
	{ "what", "what", CELL_STRING, 0, false },
	{ "dur_ns", "time", CELL_NS, 0, false },
};

#define TABLE(r, key, title, columns) result_table(r, key, title, columns, sizeof columns / sizeof columns[0])

enum { N_PIECES = 20, N_WHAT_IF = 8 };

typedef struct piece {
	int64_t ticks;
	uint32_t name;
	uint8_t kind;
} piece;

typedef struct kind_sum {
	int64_t ticks;
	uint64_t n;
} kind_sum;

typedef struct finder {
	const work *w;
	sonde_result *r;
	table *kinds, *names, *what_if, *ranks, *pieces;
	double times;
	uint32_t faster; /* name, or NODE_NONE: those that take most of the path */
	uint8_t *seen;	 /* by row: on the path */
	name_sums sums;	 /* of a rank's path; the kind is the edge's */
} finder;

/* The path of a rank. */
typedef struct path {
	const critical_window *window;
	critical_graph *g;
	uint32_t end; /* its last node */
	int64_t ticks;
	size_t n_edges;
	kind_sum kinds[EDGE_KINDS];
	piece pieces[N_PIECES]; /* the longest first */
	size_t n_pieces;
} path;

static void add_piece(path *p, const edge *e)
{
	size_t at = p->n_pieces;

	while (at && p->pieces[at - 1].ticks < e->weight)
		at--;
	if (at == N_PIECES)
		return;
	p->n_pieces += p->n_pieces < N_PIECES;
	memmove(&p->pieces[at + 1], &p->pieces[at], (p->n_pieces - 1 - at) * sizeof *p->pieces);
	p->pieces[at] = (piece){ e->weight, e->name, e->kind };
}

static bool sum_up(finder *f, path *p)
{
	bool ok = true;

	for (const edge *e = graph_before(p->g, p->end); ok && e; e = graph_before(p->g, e->from)) {
		p->ticks = add_bounded(p->ticks, e->weight);
		p->n_edges++;
		p->kinds[e->kind].ticks = add_bounded(p->kinds[e->kind].ticks, e->weight);
		p->kinds[e->kind].n++;
		if (e->kind == EDGE_ORDER && !f->w->is_hta)
			continue;
		add_piece(p, e);
		ok = name_sums_add(&f->sums, e->name, e->kind, e->weight);
	}
	name_sums_sort(&f->sums, f->w);
	return ok;
}

/* How many rows have a node on the path. */
static size_t count_rows(finder *f, const path *p, bool mark)
{
	size_t n = 0;

	for (uint32_t node = p->end; node != NODE_NONE;) {
		uint32_t at = p->window->node_rows[node];
		const edge *e = graph_before(p->g, node);
		if (at != ROW_NONE) {
			n += f->seen[at] != mark;
			f->seen[at] = mark;
		}
		node = e ? e->from : NODE_NONE;
	}
	return n;
}

/* ---- Tables -------------------------------------------------------------------------------------------------------
 */

/* What has no name: on the host it is between operators, else it began before the window. */
static cell name_cell(finder *f, uint32_t name, unsigned kind)
{
	if (name != NODE_NONE)
		return cell_string(result_string(f->r, index_text(f->w->rows.ix, name)));
	if (f->w->is_hta)
		return cell_unknown();
	return cell_string(kind == EDGE_OPERATOR ? "(outside operators)" : "(what was before)");
}

static void put_rank(finder *f, const path *p)
{
	cell *c = table_row(f->r, f->ranks, 0);
	size_t n_rows = count_rows(f, p, true);

	count_rows(f, p, false);
	c[0] = cell_integer(p->window->rank);
	c[1] = cell_count(p->window->n_steps);
	c[2] = work_cell(f->w, p->window->end - p->window->start);
	c[3] = work_cell(f->w, p->ticks);
	c[4] = cell_count(p->n_edges + 1);
	c[5] = cell_count(n_rows);
	c[6] = cell_count(p->window->n_nodes);
	c[7] = cell_count(p->g->n_edges);
}

static void put_kinds(finder *f, const path *p)
{
	for (int i = 0; i < EDGE_KINDS; i++) {
		const kind_sum *k = &p->kinds[i];
		if (!k->n || (i == EDGE_ORDER && !f->w->is_hta))
			continue;
		cell *c = table_row(f->r, f->kinds, 0);
		c[0] = cell_integer(p->window->rank);
		c[1] = cell_string(kind_names[i]);
		c[2] = work_cell(f->w, k->ticks);
		c[3] = work_cell_f64(f->w, (double)k->ticks / (double)p->window->n_steps);
		c[4] = percent_of((double)k->ticks, (double)p->ticks);
		c[5] = cell_count(k->n);
	}
}

static void put_names(finder *f, const path *p)
{
	for (size_t i = 0; i < f->sums.items.n; i++) {
		const name_sum *n = &f->sums.items.items[i];
		cell *c = table_row(f->r, f->names, 0);
		c[0] = name_cell(f, n->name, n->kind);
		c[1] = cell_integer(p->window->rank);
		c[2] = cell_string(kind_names[n->kind]);
		c[3] = cell_count(n->n);
		c[4] = work_cell_f64(f->w, (double)n->sum);
		c[5] = percent_of((double)n->sum, (double)p->ticks);
	}
	for (size_t i = 0; i < p->n_pieces; i++) {
		const piece *one = &p->pieces[i];
		cell *c = table_row(f->r, f->pieces, 0);
		c[0] = name_cell(f, one->name, one->kind);
		c[1] = cell_integer(p->window->rank);
		c[2] = cell_string(kind_names[one->kind]);
		c[3] = work_cell(f->w, one->ticks);
	}
}

/* ---- What if ------------------------------------------------------------------------------------------------------
 */

typedef struct saving {
	int64_t ticks;
	uint32_t name;
	const char *text;
} saving;

static int by_saving(const void *a, const void *b)
{
	const saving *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks > y->ticks ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* The name that was asked for, or those that take most of the path. */
static size_t choose_names(const finder *f, saving *to)
{
	size_t n = 0;

	if (f->faster != NODE_NONE)
		to[n++].name = f->faster;
	for (size_t i = 0; f->faster == NODE_NONE && i < f->sums.items.n && n < N_WHAT_IF; i++) {
		const name_sum *s = &f->sums.items.items[i];
		bool counts = s->name != NODE_NONE && s->sum > 0 && s->kind < EDGE_KERNEL_KERNEL;
		for (size_t k = 0; counts && k < n; k++)
			counts = to[k].name != s->name;
		if (counts)
			to[n++].name = s->name;
	}
	return n;
}

static void put_what_if(finder *f, const path *p)
{
	saving savings[N_WHAT_IF];
	size_t n = choose_names(f, savings);
	uint32_t end;

	int64_t now = graph_longest(p->g, NODE_NONE, 1, &end);
	for (size_t i = 0; i < n; i++) {
		savings[i].ticks = now - graph_longest(p->g, savings[i].name, f->times, &end);
		savings[i].text = index_text(f->w->rows.ix, savings[i].name);
	}
	if (n)
		qsort(savings, n, sizeof *savings, by_saving);
	for (size_t i = 0; i < n; i++) {
		cell *c = table_row(f->r, f->what_if, 0);
		c[0] = name_cell(f, savings[i].name, 0);
		c[1] = cell_integer(p->window->rank);
		c[2] = cell_number(f->times);
		c[3] = work_cell(f->w, now - savings[i].ticks);
		c[4] = work_cell(f->w, savings[i].ticks);
		c[5] = work_cell_f64(f->w, (double)savings[i].ticks / (double)p->window->n_steps);
		c[6] = percent_of((double)savings[i].ticks, (double)p->ticks);
	}
}

/* ---- All of it ----------------------------------------------------------------------------------------------------
 */

static bool find_path(void *context, const critical_window *window, critical_graph *g)
{
	finder *f = context;
	path p = { .window = window, .g = g };

	if (!graph_prepare(g))
		return false;
	graph_longest(g, NODE_NONE, 1, &p.end);
	if (p.end == NODE_NONE)
		return true;
	bool ok = sum_up(f, &p);
	put_rank(f, &p);
	put_kinds(f, &p);
	put_names(f, &p);
	put_what_if(f, &p);
	name_sums_clear(&f->sums);
	return ok;
}

/* The name that the user gave, or NODE_NONE. */
static uint32_t find_name(const work *w, const char *text)
{
	for (size_t i = 0; *text && i < w->rows.n_sites; i++)
		if (strcmp(index_text(w->rows.ix, w->rows.sites[i].name), text) == 0)
			return w->rows.sites[i].name;
	return NODE_NONE;
}

static void explain(const finder *f, const char *faster)
{
	if (*faster && f->faster == NODE_NONE)
		result_note_add(f->r, "what if", "no name \"%s\"", faster);
	if (f->ranks && !f->ranks->n_rows)
		result_note_add(f->r, "critical path", "%s",
				f->w->is_hta ? "no row matches critical_path.annotation" : "no launches in a step");
	work_differs(f->w, f->r,
		     "the critical path covers all steps and the time between operators; a wait begins when the "
		     "awaited work ends; all launching calls count, including HIP and graphs");
}

/* By HTA's rules it is of one step. */
const char *critical_refuses(const work *w, const sonde_analyze_options *options, sonde_result *r)
{
	enum { ROW_BYTES = 160 }; /* two nodes, and between two and three edges */
	char needed[NUMBER_TEXT], number[NUMBER_TEXT], limit[NUMBER_TEXT];
	double most = setting(options, &memory_setting), bytes = ROW_BYTES * (double)w->rows.n;

	if (w->is_hta || w->is_empty || bytes <= most)
		return NULL;
	return result_format(r,
			     "its graph of %s rows would take about %s of memory, more than critical_path.memory (%s); "
			     "select steps with --steps, or raise it with --set",
			     format_count(number, w->rows.n), format_bytes(needed, (uint64_t)bytes),
			     format_bytes(limit, (uint64_t)most));
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	const char *refused = critical_refuses(w, options, r);
	if (refused)
		return error_set(err, SONDE_E_UNSUPPORTED, -1, "critical path: %s", refused);
	const char *faster = setting_text(options, &faster_setting);
	double times = setting(options, &times_setting);
	finder f = { .w = w, .r = r, .times = times > 0 ? times : 1, .faster = NODE_NONE };
	bool ok = name_sums_init(&f.sums, w) && (f.seen = calloc(w->rows.n + 1, 1));

	f.kinds = TABLE(r, "critical_path", "Critical path", kind_columns);
	f.names = TABLE(r, "critical_path_names", "Critical path by name", name_columns);
	f.what_if = TABLE(r, "critical_path_what_if", "What if", what_if_columns);
	f.ranks = TABLE(r, "critical_path_ranks", "Critical path by rank", rank_columns);
	f.pieces = TABLE(r, "critical_path_pieces", "The longest pieces of the critical path", piece_columns);
	if (ok && w->rows.ix && !w->is_empty) {
		f.faster = find_name(w, faster);
		ok = w->is_hta ? hta_critical_each(w, options, find_path, &f) : critical_each(w, find_path, &f);
		explain(&f, faster);
	}
	limit_rows(r, f.names, options, "names");
	if (f.pieces)
		f.pieces->n_shown = 0;
	name_sums_done(&f.sums);
	free(f.seen);
	return ok ? SONDE_OK : out_of_memory(err);
}

const work_analysis critical_path_work = { .add = add };

static const setting_def *settings(size_t index)
{
	static const setting_def *const all[] = { &faster_setting, &times_setting, &memory_setting,
						  &critical_annotation, &critical_instance };

	return index < sizeof all / sizeof all[0] ? all[index] : NULL;
}

const analysis critical_path_analysis = {
	.name = "critical_path",
	.summary = "Critical path of steps, and the gain if a part of it were faster",
	.compat = WORK_COMPAT,
	.setting = settings,
	.work = &critical_path_work,
};
