/*
 * Device time of nn.Modules as a tree: how often each was called, how long the host took, how long the device was busy
 * with what it launched, and how much of that is its own and not its children's.
 *
 * torch.profiler writes a row "nn.Module: Linear_3" for each call when it records Python stacks, a program says
 * SONDE_MODULE("linear"). Calls of the same path are one node. Backward passes run in other threads, outside of
 * modules, and are not in it.
 */
#include "analyze/tables/op_tree.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/math/intervals.h"
#include "analyze/math/stats.h"
#include "analyze/tables/work.h"
#include "base/intern.h"
#include "base/vec.h"

static const column module_columns[] = {
	{ "module", "module", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 2, false },
	{ "count", "calls", CELL_COUNT, 0, false },
	{ "host_ns", "host", CELL_NS, 1, false },
	{ "host_own_ns", "host own", CELL_NS, 3, false },
	{ "n_ops", "ops", CELL_COUNT, 3, false },
	{ "n_device_rows", "kernels", CELL_COUNT, 0, false },
	{ "device_ns", "device", CELL_NS, 0, false },
	{ "own_ns", "own", CELL_NS, 0, false },
	{ "percent", "%", CELL_PERCENT, 0, true },
};

#define PREFIX "nn.Module: "
enum { DEEPEST = 200 }; /* what is deeper belongs to the one above */

typedef struct node {
	uint32_t name, parent; /* string; node or UINT32_MAX */
	uint32_t first_child, last_child, next;
	int32_t rank;
	unsigned depth;
	uint64_t n, n_device;
	uint64_t n_ops; /* operators right inside, not those within others */
	int64_t host_ns, host_own_ns, device_ns, own_ns;
} node;

/* A call that is still going on, and what of its subtree is not its children's. */
typedef struct open_call {
	uint32_t node, row;
	uint32_t own_from; /* of op_tree.launched: before it everything is counted */
	intervals own;
} open_call;

typedef struct module_tree {
	const rows *r;
	const op_tree *tree;
	bool *is_module; /* by site */
	intern_table keys;
	VEC(node) nodes;
	VEC(open_call) open; /* entries are reused, with their intervals' memory */
	size_t depth;
	uint32_t op_end; /* rows before it are inside an operator */
	uint32_t first_root, last_root;
	bool failed;
} module_tree;

static uint32_t node_of(module_tree *m, const row *at)
{
	uint32_t parent = m->depth ? m->open.items[m->depth - 1].node : UINT32_MAX;
	uint32_t key[] = { m->r->sites[at->site].name, parent, (uint32_t)row_rank(m->r, at) };
	uint32_t number = intern(&m->keys, (const char *)key, sizeof key);

	if (number == INTERN_NONE || number < m->nodes.n)
		return number;
	node *n = VEC_ADD(&m->nodes);
	if (!n)
		return INTERN_NONE;
	*n = (node){ .name = key[0],
		     .parent = parent,
		     .first_child = UINT32_MAX,
		     .last_child = UINT32_MAX,
		     .next = UINT32_MAX,
		     .rank = row_rank(m->r, at),
		     .depth = (unsigned)m->depth };
	uint32_t *first = parent == UINT32_MAX ? &m->first_root : &m->nodes.items[parent].first_child;
	uint32_t *last = parent == UINT32_MAX ? &m->last_root : &m->nodes.items[parent].last_child;
	*(*first == UINT32_MAX ? first : &m->nodes.items[*last].next) = number;
	*last = number;
	return number;
}

static void add_own(module_tree *m, open_call *of, uint32_t end)
{
	for (; of->own_from < end; of->own_from++) {
		const row *device = ROW_AT(m->r, m->tree->launched[of->own_from]);
		intervals_add(&of->own, device->start_ns, row_end_ns(device));
	}
}

static void enter(module_tree *m, uint32_t number)
{
	const row *at = ROW_AT(m->r, number);
	uint32_t of = node_of(m, at);

	if (m->depth == m->open.n && !VEC_ADD(&m->open))
		of = INTERN_NONE;
	if (of == INTERN_NONE) {
		m->failed = true;
		return;
	}
	if (m->depth)
		add_own(m, &m->open.items[m->depth - 1], (uint32_t)op_tree_first(m->tree, number));
	open_call *call = &m->open.items[m->depth++];
	call->node = of;
	call->row = number;
	call->own_from = (uint32_t)op_tree_first(m->tree, number);
	intervals_clear(&call->own);
	m->op_end = 0;
}

static void leave(module_tree *m)
{
	open_call *call = &m->open.items[--m->depth];
	const row *at = ROW_AT(m->r, call->row);
	node *n = &m->nodes.items[call->node];
	size_t n_device;
	const uint32_t *device = op_tree_subtree(m->tree, call->row, &n_device);
	int64_t busy = op_tree_busy_ns(m->tree, device, n_device);

	add_own(m, call, (uint32_t)op_tree_first(m->tree, at->end));
	m->failed |= !intervals_merge(&call->own) || busy < 0;
	n->n++;
	n->n_device += n_device;
	n->host_ns = add_bounded(n->host_ns, at->dur_ns);
	n->host_own_ns = add_bounded(n->host_own_ns, at->dur_ns);
	n->device_ns = add_bounded(n->device_ns, busy);
	n->own_ns = add_bounded(n->own_ns, intervals_length(&call->own));
	m->op_end = at->end;
	if (!m->depth)
		return;
	m->open.items[m->depth - 1].own_from = (uint32_t)op_tree_first(m->tree, at->end);
	node *above = &m->nodes.items[m->open.items[m->depth - 1].node];
	above->host_own_ns = add_bounded(above->host_own_ns, -at->dur_ns);
}

static void walk(module_tree *m)
{
	for (uint32_t i = 0; i < m->r->n && !m->failed; i++) {
		while (m->depth && i >= rows_at(m->r, m->open.items[m->depth - 1].row).end)
			leave(m);
		if (m->is_module[rows_at(m->r, i).site] && m->depth < DEEPEST)
			enter(m, i);
		if (m->depth && i >= m->op_end && m->tree->is_op[rows_at(m->r, i).site]) {
			m->nodes.items[m->open.items[m->depth - 1].node].n_ops++;
			m->op_end = rows_at(m->r, i).end;
		}
	}
	while (m->depth && !m->failed)
		leave(m);
}

static bool has_prefix(const char *name)
{
	return strncmp(name, PREFIX, strlen(PREFIX)) == 0;
}

static bool look_at_sites(module_tree *m)
{
	m->is_module = malloc(m->r->n_sites + 1);
	for (size_t i = 0; m->is_module && i < m->r->n_sites; i++)
		m->is_module[i] =
			m->r->sites[i].kind == NAME_MODULE || has_prefix(index_text(m->r->ix, m->r->sites[i].name));
	return m->is_module != NULL;
}

static void put_node(const module_tree *m, const node *n, double total_ns, sonde_result *r, table *t)
{
	cell *c = table_row(r, t, n->depth);
	const char *name = index_text(m->r->ix, n->name);

	*c++ = cell_string(result_string(r, has_prefix(name) ? name + strlen(PREFIX) : name));
	*c++ = cell_integer(n->rank);
	*c++ = cell_count(n->n);
	*c++ = cell_ns(n->host_ns);
	*c++ = cell_ns(n->host_own_ns);
	*c++ = cell_count(n->n_ops);
	*c++ = cell_count(n->n_device);
	*c++ = cell_ns(n->device_ns);
	*c++ = cell_ns(n->own_ns);
	*c++ = total_ns > 0 ? cell_percent(100.0 * (double)n->device_ns / total_ns) : cell_unknown();
}

/* Depth first, in the order of first calls. */
static void put_tree(const module_tree *m, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "module_tree", "nn.Modules", module_columns,
				sizeof module_columns / sizeof module_columns[0]);
	double total_ns = 0;

	for (size_t i = 0; i < m->nodes.n; i++)
		total_ns += m->nodes.items[i].depth ? 0 : (double)m->nodes.items[i].device_ns;
	for (uint32_t at = m->nodes.n ? m->first_root : UINT32_MAX; at != UINT32_MAX;) {
		const node *n = &m->nodes.items[at];
		put_node(m, n, total_ns, r, t);
		at = n->first_child;
		while (at == UINT32_MAX && n) {
			at = n->next;
			n = n->parent == UINT32_MAX ? NULL : &m->nodes.items[n->parent];
		}
	}
	limit_rows(r, t, options, "modules");
	if (t && !t->n_rows)
		t->n_shown = 0;
}

/* Of the devices' rows those that were launched inside of a module: the roots'. */
static coverage covered_by(const module_tree *m, const work *w)
{
	coverage c = { 0 };
	bool *inside = calloc(m->r->n + 1, sizeof *inside);

	for (uint32_t i = 0, end = 0; inside && i < m->r->n; i++) {
		if (i >= end && m->is_module[rows_at(m->r, i).site])
			end = rows_at(m->r, i).end;
		inside[i] = i < end;
	}
	for (size_t k = 0; inside && k < w->n_ranks; k++)
		for (size_t i = 0; i < w->ranks[k].n; i++) {
			uint32_t launch = rows_at(m->r, WORK_AT(w, &w->ranks[k], i)->row).launch;
			cover(&c, WORK_AT(w, &w->ranks[k], i), launch != ROW_NONE && inside[launch]);
		}
	free(inside);
	return c;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	op_tree tree;
	module_tree m = { .r = &w->rows, .tree = &tree, .first_root = UINT32_MAX, .last_root = UINT32_MAX };
	bool ok = op_tree_load(&tree, &w->rows) && look_at_sites(&m);

	if (ok) {
		walk(&m);
		put_tree(&m, options, r);
		coverage c = covered_by(&m, w);
		if (m.nodes.n)
			work_covers(w, r, "module_tree", &c, "launched outside modules, like the backward pass");
		else if (!w->is_empty)
			result_note_add(r, "note",
					"no nn.Module rows: record with with_stack=True or with_modules=True of "
					"torch.profiler");
	}
	ok = ok && !m.failed;
	for (size_t i = 0; i < m.open.n; i++)
		intervals_done(&m.open.items[i].own);
	VEC_DONE(&m.open);
	VEC_DONE(&m.nodes);
	intern_done(&m.keys);
	free(m.is_module);
	op_tree_done(&tree);
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis module_work = { .add = add };

const analysis module_tree_analysis = {
	.name = "module_tree",
	.summary = "Device and host time of nn.Modules, as a tree",
	.work = &module_work,
};
