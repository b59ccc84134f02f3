/*
 * Two traces by the tree of their operators: where in the program the device's time differs.
 *
 * Both are put into one tree, path by path: operators and scopes on the host, and below what launched them the kernels.
 * A path that both have is the same place in the program; what only one of them has hangs below the deepest place that
 * both have, its common ancestor. Steps, Python frames and driver calls are looked through, and the numbers at the end
 * of Triton's names and behind a # are not looked at, so that the same code of two compilations falls together.
 *
 * Times are the device's, durations added up, by step where both have steps; the host's where one has no device.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/compare/comparison.h"
#include "analyze/math/stats.h"
#include "base/error.h"
#include "base/format_number.h"
#include "base/intern.h"

enum { SIDES = 2, DEEPEST = 200, NODE_ROOT = 0 };

static const column tree_columns[] = {
	{ "name", "what", CELL_STRING, 0, false },	 { "in", "in", CELL_STRING, 1, false },
	{ "calls_a", "calls A", CELL_NUMBER, 2, false }, { "calls_b", "calls B", CELL_NUMBER, 2, false },
	{ "time_a_ns", "A", CELL_NS, 0, false },	 { "time_b_ns", "B", CELL_NS, 0, false },
	{ "difference_ns", "B - A", CELL_NS, 0, false }, { "change_percent", "%", CELL_PERCENT, 1, false },
	{ "is_kernel", "kernel", CELL_BOOL, -1, false },
};
static const column kernel_columns[] = {
	{ "name", "kernel", CELL_STRING, 0, false },
	{ "op", "launched by", CELL_STRING, 0, false },
	{ "common", "common ancestor", CELL_STRING, 1, false },
	{ "in", "in", CELL_STRING, 2, false },
	{ "calls_a", "calls A", CELL_NUMBER, 3, false },
	{ "calls_b", "calls B", CELL_NUMBER, 3, false },
	{ "time_a_ns", "A", CELL_NS, 0, false },
	{ "time_b_ns", "B", CELL_NS, 0, false },
	{ "difference_ns", "B - A", CELL_NS, 0, false },
};
#define N_COLUMNS(of) (sizeof(of) / sizeof(of)[0])

typedef struct node {
	uint32_t name, parent; /* of names; of nodes */
	uint32_t first_child, n_children;
	unsigned depth;
	bool is_kernel;
	uint64_t n[SIDES];
	int64_t ns[SIDES]; /* with everything below, once all are there */
} node;

typedef struct tree_diff {
	intern_table names, keys;
	VEC(node) nodes;
	uint32_t *order; /* children of each node behind each other, the largest difference first */
	bool on_host;
	double per[SIDES]; /* what times are divided by: steps */
	bool by_steps;
	size_t n_warmup[SIDES];
} tree_diff;

/* ---- One tree of two traces -------------------------------------------------------------------------------------- */

/* "forward#12" and "triton_poi_fused_add_3" without their numbers. */
static size_t plain_length(const char *name)
{
	size_t len = strlen(name), n = len;
	char before = strncmp(name, "triton_", 7) == 0 ? '_' : '#';

	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n > 1 && n < len && name[n - 1] == before ? n - 1 : len;
}

static uint32_t child_of(tree_diff *d, uint32_t parent, const char *name, bool is_kernel)
{
	uint32_t key[] = { parent, intern(&d->names, name, plain_length(name)), is_kernel };
	uint32_t number = key[1] == INTERN_NONE ? INTERN_NONE : intern(&d->keys, (const char *)key, sizeof key);

	if (number == INTERN_NONE || number < d->nodes.n)
		return number;
	unsigned depth = d->nodes.n ? d->nodes.items[parent].depth + 1 : 0;
	node *n = VEC_ADD(&d->nodes);
	if (!n)
		return INTERN_NONE;
	*n = (node){ .name = key[1], .parent = parent, .depth = depth, .is_kernel = is_kernel };
	return number;
}

static void add_ns(node *to, int side, int64_t ns)
{
	to->ns[side] = add_bounded(to->ns[side], ns);
}

static bool add_kernel(tree_diff *d, int side, const rows *r, uint32_t device_row, uint32_t parent)
{
	const row *at = ROW_AT(r, device_row);
	uint32_t leaf = child_of(d, parent, row_name(r, at), true);

	if (leaf == INTERN_NONE)
		return false;
	d->nodes.items[leaf].n[side]++;
	add_ns(&d->nodes.items[leaf], side, at->dur_ns);
	return true;
}

/* By site: a row is a node. */
static bool *mark_nodes(const rows *r)
{
	bool *marks = malloc(r->n_sites + 1);

	for (size_t i = 0; marks && i < r->n_sites; i++) {
		site_class class = (site_class)r->sites[i].class;
		marks[i] = class != CLASS_PYTHON && class != CLASS_RUNTIME && class != CLASS_STEP &&
			   class != CLASS_OVERHEAD && class != CLASS_KERNEL && class != CLASS_COPY;
	}
	return marks;
}

/* Rows lie in pre-order: what is open is a stack. */
static bool add_host_rows(tree_diff *d, int side, const rows *r, launch_cursor *c)
{
	struct {
		uint32_t end, node;
	} open[DEEPEST + 1];
	size_t depth = 0;
	bool *marks = mark_nodes(r), ok = marks != NULL;

	for (uint32_t i = 0; ok && i < r->n; i++) {
		const row *at = ROW_AT(r, i);
		bool launches = c->launch < at->end; /* itself, or what is inside */
		size_t n;
		const uint32_t *launched = launched_by(c, i, &n);
		while (depth && i >= open[depth - 1].end)
			depth--;
		uint32_t top = depth ? open[depth - 1].node : NODE_ROOT;
		bool is_node = marks[at->site] && !(at->flags & (ROW_ON_STREAM | ROW_ASYNC)) && depth < DEEPEST &&
			       (d->on_host || launches);
		if (is_node) {
			top = child_of(d, top, row_name(r, at), false);
			ok = top != INTERN_NONE;
			if (!ok)
				break;
			open[depth].end = at->end;
			open[depth++].node = top;
			d->nodes.items[top].n[side]++;
			/* The host's time of a node has that of what is inside it. */
			add_ns(&d->nodes.items[top], side, d->on_host ? at->dur_ns : 0);
		}
		for (size_t k = 0; ok && !d->on_host && k < n; k++)
			ok = add_kernel(d, side, r, launched[k], top);
	}
	free(marks);
	return ok;
}

static bool add_unlinked(tree_diff *d, int side, const rows *r)
{
	bool ok = true;

	for (size_t i = 0; ok && !d->on_host && i < r->n_device; i++) {
		if (rows_launch_of(r, r->device_rows[i]) != ROW_NONE)
			continue;
		uint32_t top = child_of(d, NODE_ROOT, "(launch not in the trace)", false);
		ok = top != INTERN_NONE && add_kernel(d, side, r, r->device_rows[i], top);
		if (ok)
			d->nodes.items[top].n[side]++;
	}
	return ok;
}

static bool add_trace(tree_diff *d, int side, const rows *r)
{
	size_t n;
	uint32_t *by_launch = rows_by_launch(r, &n);
	launch_cursor c = launch_cursor_at(r, by_launch, n, 0);
	bool ok = by_launch && add_host_rows(d, side, r, &c) && add_unlinked(d, side, r);

	free(by_launch);
	return ok;
}

/* Children come after their parents. */
static void sum_up(tree_diff *d)
{
	for (size_t i = d->nodes.n; i-- > 1;) {
		const node *n = &d->nodes.items[i];
		node *parent = &d->nodes.items[n->parent];
		for (int side = 0; side < SIDES && (!d->on_host || n->parent == NODE_ROOT); side++)
			add_ns(parent, side, n->ns[side]);
	}
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

static sonde_status load(tree_diff *d, int side, const sonde_trace *trace, const sonde_analyze_options *select,
			 rows *ret_rows, sonde_error *err)
{
	rows_options how = rows_options_from(select);
	run_steps steps = { 0 };

	how.n_warmup = 0;
	how.memory_bytes = (how.memory_bytes ? how.memory_bytes : 1000000000) / SIDES; /* both are there at once */
	sonde_status status = rows_load(trace, &how, ret_rows, err);
	if (status)
		return status;
	bool ok = run_steps_find(&steps, ret_rows, select);
	d->n_warmup[side] = steps.n_warmup;
	run_steps_done(&steps);
	if (!ok)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (!d->n_warmup[side] || select->use_steps)
		return SONDE_OK;
	how.n_warmup = d->n_warmup[side];
	rows_done(ret_rows);
	return rows_load(trace, &how, ret_rows, err);
}

static sonde_status build(tree_diff *d, const sonde_trace *const *traces, const sonde_analyze_options *select,
			  sonde_error *err)
{
	rows r[SIDES] = { { 0 } };
	sonde_status status = SONDE_OK;
	bool ok = child_of(d, NODE_ROOT, "(everything)", false) == NODE_ROOT;

	for (int side = 0; side < SIDES && !status; side++)
		status = load(d, side, traces[side], select, &r[side], err);
	d->on_host = !r[0].n_device || !r[1].n_device;
	d->by_steps = r[0].n_steps && r[1].n_steps;
	for (int side = 0; side < SIDES && !status && ok; side++) {
		d->per[side] = d->by_steps ? (double)r[side].n_steps : r[side].n_ranks ? (double)r[side].n_ranks : 1;
		ok = add_trace(d, side, &r[side]);
	}
	for (int side = 0; side < SIDES; side++)
		rows_done(&r[side]);
	if (!status && !ok)
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (!status)
		sum_up(d);
	return status;
}

/* ---- What differs ------------------------------------------------------------------------------------------------ */

static double time_of(const tree_diff *d, const node *n, int side)
{
	return (double)n->ns[side] / d->per[side];
}

static double difference_ns(const tree_diff *d, const node *n)
{
	return time_of(d, n, 1) - time_of(d, n, 0);
}

static bool is_common(const node *n)
{
	return n->n[0] && n->n[1];
}

/* The node itself, or the nearest above it, that both have. */
static uint32_t common_of(const tree_diff *d, uint32_t at)
{
	while (at != NODE_ROOT && !is_common(&d->nodes.items[at]))
		at = d->nodes.items[at].parent;
	return at;
}

static const char *name_of(const tree_diff *d, uint32_t at)
{
	return intern_text(&d->names, d->nodes.items[at].name);
}

typedef struct child {
	double size;
	uint32_t parent, node;
} child;

#define SORT_NAME sort_children
#define SORT_TYPE child
#define SORT_BEFORE(a, b) ((a)->parent != (b)->parent ? (a)->parent < (b)->parent : (a)->size > (b)->size)
#include "base/sort_template.h"

#define SORT_NAME sort_by_size
#define SORT_TYPE child
#define SORT_BEFORE(a, b) ((a)->size > (b)->size)
#include "base/sort_template.h"

static child *list_nodes(const tree_diff *d, bool kernels_only, size_t *ret_n)
{
	child *all = malloc((d->nodes.n + 1) * sizeof *all);

	*ret_n = 0;
	for (uint32_t i = 1; all && i < d->nodes.n; i++)
		if (!kernels_only || d->nodes.items[i].is_kernel)
			all[(*ret_n)++] =
				(child){ fabs(difference_ns(d, &d->nodes.items[i])), d->nodes.items[i].parent, i };
	return all;
}

static bool put_in_order(tree_diff *d)
{
	size_t n;
	child *all = list_nodes(d, false, &n);
	bool ok = all && sort_children(all, n) && (d->order = malloc((n + 1) * sizeof *d->order));

	for (size_t i = 0; ok && i < n; i++) {
		node *parent = &d->nodes.items[all[i].parent];
		if (!parent->n_children++)
			parent->first_child = (uint32_t)i;
		d->order[i] = all[i].node;
	}
	free(all);
	return ok;
}

static const char *where(const node *n)
{
	return is_common(n) ? "both" : n->n[0] ? "only A" : "only B";
}

/* calls A, calls B, A, B, B - A */
static cell *put_numbers(const tree_diff *d, const node *n, cell *c)
{
	*c++ = cell_number((double)n->n[0] / d->per[0]);
	*c++ = cell_number((double)n->n[1] / d->per[1]);
	*c++ = cell_ns(whole_bounded(rint(time_of(d, n, 0))));
	*c++ = cell_ns(whole_bounded(rint(time_of(d, n, 1))));
	*c++ = cell_ns(whole_bounded(rint(difference_ns(d, n))));
	return c;
}

static void put_node(const tree_diff *d, uint32_t number, sonde_result *r, table *t)
{
	const node *n = &d->nodes.items[number];
	double before = time_of(d, n, 0);
	cell *c = table_row(r, t, n->depth ? n->depth - 1 : 0);

	*c++ = cell_string(result_string(r, name_of(d, number)));
	*c++ = cell_string(where(n));
	c = put_numbers(d, n, c);
	*c++ = before > 0 ? cell_percent(100 * difference_ns(d, n) / before) : cell_unknown();
	*c++ = cell_bool(n->is_kernel);
}

/* Depth first, the largest difference first. */
static bool put_tree(const tree_diff *d, sonde_result *r, table *t)
{
	VEC(uint32_t) open = { 0 };
	uint32_t at = NODE_ROOT;
	bool ok = true;

	while (ok) {
		const node *n = &d->nodes.items[at];
		if (at != NODE_ROOT)
			put_node(d, at, r, t);
		for (uint32_t i = n->n_children; ok && i > 0; i--) {
			uint32_t *next = VEC_ADD(&open);
			ok = next != NULL;
			if (next)
				*next = d->order[n->first_child + i - 1];
		}
		if (!open.n)
			break;
		at = open.items[--open.n];
	}
	VEC_DONE(&open);
	return ok;
}

static bool put_kernels(const tree_diff *d, sonde_result *r, table *t)
{
	size_t n;
	child *all = list_nodes(d, true, &n);
	bool ok = all && sort_by_size(all, n);

	for (size_t i = 0; ok && i < n; i++) {
		const node *leaf = &d->nodes.items[all[i].node];
		cell *c = table_row(r, t, 0);
		*c++ = cell_string(result_string(r, name_of(d, all[i].node)));
		*c++ = cell_string(result_string(r, name_of(d, leaf->parent)));
		*c++ = cell_string(result_string(r, name_of(d, common_of(d, all[i].node))));
		*c++ = cell_string(where(leaf));
		put_numbers(d, leaf, c);
	}
	free(all);
	return ok;
}

/* The operator in both whose own work differs most: its kernels, and what only one of them has below it. */
static uint32_t largest_place(const tree_diff *d, double *ret_ns)
{
	double *own = calloc(d->nodes.n + 1, sizeof *own);
	uint32_t best = NODE_ROOT;

	for (uint32_t i = 1; own && i < d->nodes.n; i++) {
		const node *n = &d->nodes.items[i];
		uint32_t place = common_of(d, n->is_kernel ? n->parent : i);
		if (n->is_kernel || (d->on_host && !n->n_children))
			own[place] += difference_ns(d, n);
	}
	for (uint32_t i = 1; own && i < d->nodes.n; i++)
		best = fabs(own[i]) > fabs(own[best]) ? i : best;
	*ret_ns = own ? own[best] : 0;
	free(own);
	return best;
}

static void say(const tree_diff *d, sonde_result *r)
{
	char from_to[FROM_TO_TEXT], most[NUMBER_TEXT];
	const node *all = &d->nodes.items[NODE_ROOT];
	double a = time_of(d, all, 0), b = time_of(d, all, 1), most_ns;
	uint32_t place = largest_place(d, &most_ns);
	const char *what = d->on_host ? "host" : "device", *per = d->by_steps ? " per step" : "";

	if (a <= 0 || b <= 0) {
		result_answer(r, "no comparison: %s has no rows", a > 0 ? "B" : "A");
		return;
	}
	result_answer(r, "B takes %.3g %% %s %s time%s than A (%s); most of it at %s: %s%s", fabs(100 * (b - a) / a),
		      b < a ? "less" : "more", what, per, format_from_to(from_to, a, b),
		      place == NODE_ROOT ? "rows of one run only" : name_of(d, place), most_ns > 0 ? "+" : "-",
		      format_ns(most, whole_bounded(rint(fabs(most_ns)))));
	result_add(r, "change_percent", cell_percent(100 * (b - a) / a));
	if (d->on_host)
		result_note_add(r, "note", "one run has no device rows: host times are compared");
	result_note_add(r, "times", "%s", d->by_steps ? "by step and rank" : "by rank; no common steps");
	if (d->n_warmup[0] || d->n_warmup[1])
		result_note_add(r, "warm-up", "skipped: A %zu steps, B %zu; --warmup none keeps them", d->n_warmup[0],
				d->n_warmup[1]);
}

static void note_coverage(const tree_diff *d, sonde_result *r)
{
	for (int side = 0; side < SIDES && !d->on_host; side++) {
		char both[NUMBER_TEXT], all[NUMBER_TEXT];
		int64_t common = 0;
		uint64_t n = 0, n_common = 0;
		for (uint32_t i = 1; i < d->nodes.n; i++) {
			const node *leaf = &d->nodes.items[i];
			n += leaf->is_kernel ? leaf->n[side] : 0;
			n_common += leaf->is_kernel && common_of(d, leaf->parent) != NODE_ROOT ? leaf->n[side] : 0;
			common = add_bounded(common, leaf->is_kernel && common_of(d, leaf->parent) != NODE_ROOT
							     ? leaf->ns[side]
							     : 0);
		}
		int64_t whole = d->nodes.items[NODE_ROOT].ns[side];
		result_note_add(r, "covers",
				"%c: %" PRIu64 " of %" PRIu64 " device rows, %s of %s, are below a common place",
				side ? 'B' : 'A', n_common, n, format_ns(both, common), format_ns(all, whole));
	}
}

static void limit(sonde_result *r, table *t, const sonde_analyze_options *select, uint64_t standard, const char *what)
{
	uint64_t top = select->top ? select->top : standard;

	if (!t || t->n_rows <= top)
		return;
	t->more = result_format(r, "%zu more %s: --top all", (size_t)(t->n_rows - top), what);
	t->n_shown = (size_t)top;
	if (select->top)
		t->n_rows = (size_t)top;
}

sonde_status compare_trees(const sonde_trace *const *traces, const sonde_analyze_options *select, sonde_result *r,
			   sonde_error *err)
{
	tree_diff d = { 0 };
	sonde_status status = build(&d, traces, select, err);
	bool ok = !status && put_in_order(&d);

	if (ok) {
		say(&d, r);
		table *tree = result_table(r, "tree", "Where it differs", tree_columns, N_COLUMNS(tree_columns));
		table *kernels = d.on_host ? NULL
					   : result_table(r, "tree_kernels", "Kernels that differ", kernel_columns,
							  N_COLUMNS(kernel_columns));
		ok = put_tree(&d, r, tree) && (d.on_host || put_kernels(&d, r, kernels));
		limit(r, tree, select, 20, "places");
		limit(r, kernels, select, 10, "kernels");
		note_coverage(&d, r);
		result_add(r, "n_regressions", cell_count(0));
	}
	if (!status && !ok)
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	intern_done(&d.names);
	intern_done(&d.keys);
	VEC_DONE(&d.nodes);
	free(d.order);
	return status;
}
