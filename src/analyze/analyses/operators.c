/*
 * Operators by the time they take on the host and on the device, by themselves and with what is inside: by name, by
 * name and shapes, by name and the place in the program that called them.
 *
 * Host self time is the operator's less that of operators and driver calls inside it; Python code that it runs is its
 * own. Device self time is that of what it launched, total time that of everything inside; durations are
 * added up. An operator that does nothing but call one of the same name is one call with it, as in PyTorch's own
 * tables.
 *
 * One pass over the rows for each table; the groups of rows take 4 bytes a row.
 */
#include "analyze/tables/evidence.h"
#include "analyze/tables/op_tree.h"
#include "analyze/tables/work.h"

#include <stdlib.h>
#include <string.h>
#include "base/intern.h"

enum { BY_NAME, BY_SHAPE, BY_STACK, N_TABLES };
enum { DIMS, OLD_DIMS, STACK, N_ARGS };
enum { LONGEST_STACK = 64, LONGEST_TEXT = 4096 };

/* What a site is here. */
typedef enum node_kind { NODE_NONE, NODE_OP, NODE_CALL /* of the driver */ } node_kind;

typedef struct op_sum {
	uint32_t sample; /* a row */
	uint64_t calls;
	int64_t host_ns, host_self_ns, device_ns, device_self_ns, tensor_core_ns;
} op_sum;

typedef struct op_table {
	const work *w;
	const op_tree *tree;
	uint8_t *kinds;	    /* node_kind, by site */
	bool *tensor_cores; /* by site */
	uint32_t *nearest;  /* by row: the op at or above it; ROW_NONE */
	uint8_t *n_inside;  /* by row: how many ops are right inside; 2: or more */
	uint32_t *group_of; /* by row that is an op */
	uint32_t *stack_of; /* by row: what Python code is around it, a number of stacks */
	intern_table stacks, keys;
	VEC(op_sum) sums;
	args_column args[N_ARGS];
	bool has_args, has_shapes, has_stacks;
	int64_t whole_ns; /* device self time of all, host self time where there is no device */
} op_table;

/* ---- What is what ------------------------------------------------------------------------------------------------ */

/* Old writers gave annotations the category of operators. */
static bool is_annotation(const char *name)
{
	return strncmp(name, "Optimizer.", 10) == 0 || strncmp(name, "enumerate(Data", 14) == 0 ||
	       strcmp(name, "DataParallel.forward") == 0 || strcmp(name, "DistributedDataParallel.forward") == 0;
}

static node_kind kind_of(const op_table *t, const index_site *site, size_t number)
{
	bool is_op = t->tree->is_op[number] || (t->w->rows.trace->is_recorded && site->class == CLASS_COMPUTE);

	if (site->class == CLASS_RUNTIME)
		return NODE_CALL;
	return is_op && site->class != CLASS_STEP && !is_annotation(index_text(t->w->rows.ix, site->name)) ? NODE_OP
													   : NODE_NONE;
}

static bool load_sites(op_table *t)
{
	const rows *r = &t->w->rows;

	t->kinds = calloc(r->n_sites + 1, 1);
	t->tensor_cores = traits_mark_kernels(r, TRAIT_TENSOR_CORE);
	if (!t->kinds || !t->tensor_cores)
		return false;
	for (size_t i = 0; i < r->n_sites; i++)
		t->kinds[i] = (uint8_t)kind_of(t, &r->sites[i], i);
	return true;
}

static node_kind node_of(const op_table *t, const row *at)
{
	return at->flags & (ROW_ON_STREAM | ROW_ASYNC) ? NODE_NONE : (node_kind)t->kinds[at->site];
}

/* Stacks are texts of two numbers: the stack around, and the function's site. */
static uint32_t stack_below(op_table *t, uint32_t outer, uint32_t site)
{
	uint32_t parts[] = { outer, site };

	return intern(&t->stacks, (const char *)parts, sizeof parts);
}

/* A parent comes before its children. False when out of memory. */
static bool link_rows(op_table *t)
{
	const rows *r = &t->w->rows;

	t->nearest = malloc((r->n + 1) * sizeof *t->nearest);
	t->n_inside = calloc(r->n + 1, 1);
	t->group_of = malloc((r->n + 1) * sizeof *t->group_of);
	t->stack_of = malloc((r->n + 1) * sizeof *t->stack_of);
	if (!t->nearest || !t->n_inside || !t->group_of || !t->stack_of)
		return false;
	for (uint32_t i = 0; i < r->n; i++) {
		const row *at = ROW_AT(r, i);
		bool is_op = node_of(t, at) == NODE_OP;
		uint32_t above = at->parent == ROW_NONE ? ROW_NONE : t->nearest[at->parent];
		if (is_op && above != ROW_NONE && t->n_inside[above] < 2)
			t->n_inside[above]++;
		t->nearest[i] = is_op ? i : above;
		t->stack_of[i] = at->parent == ROW_NONE ? INTERN_NONE : t->stack_of[at->parent];
		if (at->class == CLASS_PYTHON) {
			t->stack_of[i] = stack_below(t, t->stack_of[i], at->site);
			if (t->stack_of[i] == INTERN_NONE)
				return false;
			t->has_stacks = true;
		}
	}
	return true;
}

/* The operator right around it, of the same name, that has nothing else inside; or ROW_NONE. */
static uint32_t merged_with(const op_table *t, const row *at)
{
	uint32_t above = at->parent == ROW_NONE ? ROW_NONE : t->nearest[at->parent];
	const row *outer = above == ROW_NONE ? NULL : ROW_AT(&t->w->rows, above);

	return outer && outer->site == at->site && t->n_inside[above] == 1 ? above : ROW_NONE;
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

typedef struct op_key {
	uint32_t name;
	int32_t rank;
	int64_t more, kind;
} op_key;

static bool arg_of(const op_table *t, int which, const row *at, op_key *key)
{
	const args_column *c = &t->args[which];

	if (!t->has_args || !at->args || !c->kinds || c->kinds[at->args - 1] == ARGS_MISSING)
		return false;
	key->more = c->values[at->args - 1];
	key->kind = which + 1;
	return true;
}

static uint32_t find_group(op_table *t, int table_kind, uint32_t i)
{
	const row *at = ROW_AT(&t->w->rows, i);
	op_key key = { .name = t->w->rows.sites[at->site].name, .rank = row_rank(&t->w->rows, at) };

	if (table_kind == BY_SHAPE && !arg_of(t, DIMS, at, &key))
		arg_of(t, OLD_DIMS, at, &key);
	if (table_kind == BY_STACK && !arg_of(t, STACK, at, &key))
		key.more = t->stack_of[i];
	uint32_t number = intern(&t->keys, (const char *)&key, sizeof key);
	if (number != INTERN_NONE && number >= t->sums.n) {
		op_sum *sum = VEC_ADD(&t->sums);
		if (!sum)
			return INTERN_NONE;
		sum->sample = i;
	}
	return number;
}

static void add_ns(int64_t *to, int64_t ns)
{
	*to = add_bounded(*to, ns);
}

static bool add_host(op_table *t, int table_kind)
{
	const rows *r = &t->w->rows;

	for (uint32_t i = 0; i < r->n; i++) {
		const row *at = ROW_AT(r, i);
		node_kind kind = node_of(t, at);
		uint32_t above = at->parent == ROW_NONE ? ROW_NONE : t->nearest[at->parent];
		if (kind != NODE_NONE && above != ROW_NONE)
			add_ns(&t->sums.items[t->group_of[above]].host_self_ns, -at->dur_ns);
		if (kind != NODE_OP)
			continue;
		uint32_t merged = merged_with(t, at);
		t->group_of[i] = merged != ROW_NONE ? t->group_of[merged] : find_group(t, table_kind, i);
		if (t->group_of[i] == INTERN_NONE)
			return false;
		op_sum *sum = &t->sums.items[t->group_of[i]];
		add_ns(&sum->host_self_ns, at->dur_ns);
		if (merged != ROW_NONE)
			continue;
		sum->calls++;
		add_ns(&sum->host_ns, at->dur_ns);
		add_ns(&sum->device_ns, op_tree_ns(t->tree, i));
	}
	return true;
}

static void add_device(op_table *t)
{
	const rows *r = &t->w->rows;

	for (size_t i = 0; i < r->n_device; i++) {
		const row *at = ROW_AT(r, r->device_rows[i]);
		uint32_t op = at->launch == ROW_NONE ? ROW_NONE : t->nearest[at->launch];
		if (op == ROW_NONE)
			continue;
		op_sum *sum = &t->sums.items[t->group_of[op]];
		add_ns(&sum->device_self_ns, at->dur_ns);
		add_ns(&sum->tensor_core_ns, t->tensor_cores[at->site] ? at->dur_ns : 0);
	}
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

#define SUM_COLUMNS                                                                                                    \
	{ "rank", "rank", CELL_INTEGER, 4, false }, { "calls", "calls", CELL_COUNT, 0, false },                        \
		{ "device_self_ns", "device self", CELL_NS, 0, false }, { "device_ns", "device", CELL_NS, 1, false },  \
		{ "host_self_ns", "host self", CELL_NS, 0, false }, { "host_ns", "host", CELL_NS, 1, false },          \
		{ "tensor_core_percent", "tensor cores %", CELL_PERCENT, 3, false },                                   \
	{                                                                                                              \
		"percent", "%", CELL_PERCENT, 0, true                                                                  \
	}
static const column name_columns[] = { { "name", "operator", CELL_STRING, 0, false }, SUM_COLUMNS };
static const column shape_columns[] = { { "name", "operator", CELL_STRING, 0, false },
					{ "shapes", "shapes", CELL_STRING, 0, false },
					SUM_COLUMNS };
static const column stack_columns[] = { { "name", "operator", CELL_STRING, 0, false },
					{ "stack", "called from", CELL_STRING, 0, false },
					SUM_COLUMNS };
enum { N_COLUMNS = sizeof name_columns / sizeof name_columns[0] };

static const char *json_text(const op_table *t, int which, const row *at, sonde_result *r)
{
	size_t len;
	const char *text =
		t->has_args && at->args ? args_column_text(t->w->rows.ix, &t->args[which], at->args, &len) : NULL;

	if (!text)
		return NULL;
	bool quoted = len >= 2 && text[0] == '"';
	len = len > LONGEST_TEXT ? LONGEST_TEXT : len;
	return result_format(r, "%.*s", (int)(len - 2 * quoted), text + quoted);
}

/* The innermost function first, as in a call stack of PyTorch's. */
static const char *stack_text(const op_table *t, uint32_t i, sonde_result *r)
{
	const rows *all = &t->w->rows;
	const char *text = json_text(t, STACK, ROW_AT(all, i), r);
	uint32_t stack = t->stack_of[i];

	if (text)
		return text;
	for (int n = 0; stack != INTERN_NONE && n < LONGEST_STACK; n++) {
		uint32_t parts[2];
		memcpy(parts, intern_text(&t->stacks, stack), sizeof parts);
		text = result_format(r, "%s%s%s", text ? text : "", text ? ";" : "",
				     index_text(all->ix, all->sites[parts[1]].name));
		stack = parts[0];
	}
	return text;
}

static void put_sum(const op_table *t, int table_kind, const op_sum *s, sonde_result *r, table *to)
{
	const rows *all = &t->w->rows;
	const row *sample = ROW_AT(all, s->sample);
	bool has_device = !t->w->is_empty;
	int64_t part = has_device ? s->device_self_ns : s->host_self_ns;
	cell *c = table_row(r, to, 0);

	*c++ = cell_string(result_string(r, row_name(all, sample)));
	if (table_kind == BY_STACK) {
		*c++ = cell_string(stack_text(t, s->sample, r));
	} else if (table_kind == BY_SHAPE) {
		const char *dims = json_text(t, DIMS, sample, r);
		*c++ = cell_string(dims ? dims : json_text(t, OLD_DIMS, sample, r));
	}
	c[0] = cell_integer(row_rank(all, sample));
	c[1] = cell_count(s->calls);
	if (has_device) {
		c[2] = cell_ns(s->device_self_ns);
		c[3] = cell_ns(s->device_ns);
	}
	c[4] = cell_ns(s->host_self_ns);
	c[5] = cell_ns(s->host_ns);
	if (s->device_self_ns > 0)
		c[6] = cell_percent(100.0 * (double)s->tensor_core_ns / (double)s->device_self_ns);
	c[7] = t->whole_ns ? cell_percent(100.0 * (double)part / (double)t->whole_ns) : cell_unknown();
}

static int by_self(const void *a, const void *b)
{
	const op_sum *x = a, *y = b;

	if (x->device_self_ns != y->device_self_ns)
		return x->device_self_ns > y->device_self_ns ? -1 : 1;
	if (x->host_self_ns != y->host_self_ns)
		return x->host_self_ns > y->host_self_ns ? -1 : 1;
	return x->sample < y->sample ? -1 : 1;
}

static bool add_table(op_table *t, int table_kind, const sonde_analyze_options *options, sonde_result *r)
{
	static const char *const keys[] = { "operators", "operator_shapes", "operator_stacks" };
	static const char *const titles[] = { "Operators", "Operators by shapes", "Operators by call stack" };
	static const column *const columns_of[] = { name_columns, shape_columns, stack_columns };
	table *to = result_table(r, keys[table_kind], titles[table_kind], columns_of[table_kind],
				 N_COLUMNS + (table_kind != BY_NAME));
	bool ok = add_host(t, table_kind);

	if (ok) {
		add_device(t);
		t->whole_ns = 0;
		for (size_t i = 0; i < t->sums.n; i++)
			add_ns(&t->whole_ns,
			       t->w->is_empty ? t->sums.items[i].host_self_ns : t->sums.items[i].device_self_ns);
		if (t->sums.n)
			qsort(t->sums.items, t->sums.n, sizeof t->sums.items[0], by_self);
	}
	for (size_t i = 0; ok && i < t->sums.n; i++)
		put_sum(t, table_kind, &t->sums.items[i], r, to);
	VEC_DONE(&t->sums);
	intern_done(&t->keys);
	t->keys = (intern_table){ 0 };
	limit_rows(r, to, options, "operators");
	if (to && table_kind != BY_NAME) /* long: for those who ask */
		to->n_shown = 0;
	return ok;
}

static bool has_arg(const op_table *t, int which)
{
	for (uint64_t i = 0, n = t->has_args ? index_n_rows(t->w->rows.ix, SECTION_ARGS) : 0; i < n; i++)
		if (t->args[which].kinds[i] != ARGS_MISSING)
			return true;
	return false;
}

static void tell(const op_table *t, const op_tree *tree, sonde_result *r)
{
	int64_t linked = t->tree->sums_ns[t->tree->n_linked];

	result_add(r, "n_device_rows", cell_count(t->w->rows.n_device));
	result_add(r, "n_linked", cell_count(tree->n_linked));
	if (!t->w->is_empty && tree->n_unlinked)
		result_note_add(r, "covers", "%.1f %% of the device's time: what launched the rest is not in the trace",
				100.0 * (double)linked / ((double)linked + (double)tree->unlinked_ns));
	if (t->has_shapes || t->has_stacks)
		result_note_add(r, "more", "--table %s%s%s with --csv, or --json and --html",
				t->has_shapes ? "operator_shapes" : "", t->has_shapes && t->has_stacks ? " or " : "",
				t->has_stacks ? "operator_stacks" : "");
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	op_tree tree = { 0 };
	op_table t = { .w = w,
		       .tree = &tree,
		       .args = { { .key = "Input Dims" }, { .key = "Input dims" }, { .key = "Call stack" } } };
	bool ok = !w->rows.ix || (op_tree_load(&tree, &w->rows) && load_sites(&t) && link_rows(&t));

	if (ok && w->rows.ix && index_n_rows(w->rows.ix, SECTION_ARGS))
		ok = t.has_args = args_columns_read(w->rows.ix, t.args, N_ARGS);
	t.has_shapes = ok && (has_arg(&t, DIMS) || has_arg(&t, OLD_DIMS));
	t.has_stacks = ok && (t.has_stacks || has_arg(&t, STACK));
	ok = ok && add_table(&t, BY_NAME, options, r) && (!t.has_shapes || add_table(&t, BY_SHAPE, options, r)) &&
	     (!t.has_stacks || add_table(&t, BY_STACK, options, r));
	if (ok && w->rows.ix)
		tell(&t, &tree, r);
	if (t.has_args)
		args_columns_done(t.args, N_ARGS);
	free(t.kinds);
	free(t.tensor_cores);
	free(t.nearest);
	free(t.n_inside);
	free(t.group_of);
	free(t.stack_of);
	intern_done(&t.stacks);
	op_tree_done(&tree);
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis operators_work = { .add = add, .needs_no_device = true };

const analysis operators_analysis = {
	.name = "operators",
	.summary = "Operators: time on the host and on the device, self and total, by shapes and call stack",
	.work = &operators_work,
};
