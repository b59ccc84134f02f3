/*
 * Operators by the time they take on the host and on the device, by themselves and with what is inside: by name, by
 * name and shapes, by name and the place in the program that called them.
 *
 * Host self time is the operator's less that of operators and driver calls inside it; Python code that it runs is its
 * own. Device self time is that of what it launched, total time that of everything inside; durations are
 * added up. An operator that does nothing but call one of the same name is one call with it, as in PyTorch's own
 * tables.
 *
 * One pass over the rows finds the operators that are one call with the one around them, a bit a row. A second one
 * fills all tables: rows lie in pre-order, so what is open is a stack.
 */
#include "analyze/tables/evidence.h"
#include "analyze/tables/op_tree.h"
#include "analyze/tables/work.h"

#include <stdlib.h>
#include <string.h>
#include "base/intern.h"

enum { BY_NAME, BY_SHAPE, BY_STACK, N_TABLES };
enum { DIMS, STACK, N_ARGS };
enum { LONGEST_STACK = 64, LONGEST_TEXT = 4096 };

/* What a site is here. */
typedef enum node_kind { NODE_NONE, NODE_OP, NODE_CALL /* of the driver */ } node_kind;

typedef struct op_sum {
	uint32_t sample; /* a row */
	uint32_t stack;	 /* what Python code is around it */
	uint64_t calls;
	int64_t host_ns, host_self_ns, device_ns, device_self_ns, tensor_core_ns;
} op_sum;

/* The sums of one table. */
typedef struct op_sums {
	bool is_wanted;
	intern_table keys;
	VEC(op_sum) items;
	int64_t whole_ns; /* device self time of all, host self time where there is no device */
} op_sums;

/* An operator that is open. */
typedef struct open_op {
	uint32_t end; /* row */
	bool is_counted;
	uint32_t groups[N_TABLES];
	int64_t before_ns; /* device time of what was launched before it */
} open_op;

/* A Python function that is open. */
typedef struct open_frame {
	uint32_t end, stack;
} open_frame;

typedef struct op_table {
	const work *w;
	bool *is_op;	    /* by site */
	uint8_t *kinds;	    /* node_kind, by site */
	bool *tensor_cores; /* by site */
	uint64_t *merged;   /* a bit for each row */
	intern_table stacks;
	VEC(open_op) ops;
	VEC(open_frame) frames;
	op_sums sums[N_TABLES];
	args_column args[N_ARGS];
	bool has_args, has_shapes, has_stacks;
	size_t n_linked;
	int64_t linked_ns, unlinked_ns; /* of device rows whose launch is in the trace, and of the others */
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
	bool is_op = t->is_op[number] || (t->w->rows.trace->is_recorded && site->class == CLASS_COMPUTE);

	if (site->class == CLASS_RUNTIME)
		return NODE_CALL;
	return is_op && site->class != CLASS_STEP && !is_annotation(index_text(t->w->rows.ix, site->name)) ? NODE_OP
													   : NODE_NONE;
}

static bool load_sites(op_table *t)
{
	const rows *r = &t->w->rows;

	t->is_op = op_sites(r);
	t->kinds = calloc(r->n_sites + 1, 1);
	t->tensor_cores = traits_mark_kernels(r, TRAIT_TENSOR_CORE);
	if (!t->is_op || !t->kinds || !t->tensor_cores)
		return false;
	for (size_t i = 0; i < r->n_sites; i++)
		t->kinds[i] = (uint8_t)kind_of(t, &r->sites[i], i);
	return true;
}

static node_kind node_of(const op_table *t, const row *at)
{
	return at->flags & (ROW_ON_STREAM | ROW_ASYNC) ? NODE_NONE : (node_kind)t->kinds[at->site];
}

/* ---- Operators that are one call with the one around them ---------------------------------------------------------
 */

/* An operator that is open, and the operators right inside it. */
typedef struct outer_op {
	uint32_t end, site;
	uint32_t n_inside;
	uint32_t alike; /* the last one inside it that has its site; ROW_NONE */
} outer_op;
typedef VEC(outer_op) outer_ops;

/* Ends those that end at the row or before it. One that has nothing else inside is one call with what it has. */
static void end_outer(op_table *t, outer_ops *open, uint32_t at)
{
	while (open->n && open->items[open->n - 1].end <= at) {
		const outer_op *last = &open->items[--open->n];
		if (last->n_inside == 1 && last->alike != ROW_NONE)
			t->merged[last->alike / 64] |= UINT64_C(1) << last->alike % 64;
	}
}

static bool find_merged(op_table *t)
{
	const rows *r = &t->w->rows;
	outer_ops open = { 0 };
	bool ok = (t->merged = calloc(r->n / 64 + 1, sizeof *t->merged)) != NULL;

	for (uint32_t i = 0; ok && i < r->n; i++) {
		const row *at = ROW_AT(r, i);
		t->has_stacks |= at->class == CLASS_PYTHON;
		if (node_of(t, at) != NODE_OP)
			continue;
		end_outer(t, &open, i);
		if (open.n) {
			outer_op *around = &open.items[open.n - 1];
			around->n_inside++;
			around->alike = around->site == at->site ? i : ROW_NONE;
		}
		if (at->end == i + 1)
			continue;
		outer_op *to = VEC_ADD(&open);
		ok = to != NULL;
		if (to)
			*to = (outer_op){ at->end, at->site, 0, ROW_NONE };
	}
	if (ok)
		end_outer(t, &open, ROW_NONE);
	VEC_DONE(&open);
	return ok;
}

static bool is_merged(const op_table *t, uint32_t i)
{
	return t->merged[i / 64] >> i % 64 & 1;
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

typedef struct op_key {
	uint32_t name;
	int32_t rank;
	int64_t more, kind;
} op_key;

static bool arg_of(const op_table *t, int which, const row *at, op_key *key)
{
	if (!t->has_args || !at->args)
		return false;
	args_value value = args_column_value(t->w->rows.ix, &t->args[which], at->args);
	if (value.kind == ARGS_MISSING)
		return false;
	key->more = value.value;
	key->kind = which + 1;
	return true;
}

static uint32_t stack_of(const op_table *t)
{
	return t->frames.n ? t->frames.items[t->frames.n - 1].stack : INTERN_NONE;
}

static uint32_t find_group(op_table *t, int table_kind, uint32_t i, const row *at)
{
	op_key key = { .name = t->w->rows.sites[at->site].name, .rank = row_rank(&t->w->rows, at) };
	op_sums *to = &t->sums[table_kind];

	if (table_kind == BY_SHAPE)
		arg_of(t, DIMS, at, &key);
	if (table_kind == BY_STACK && !arg_of(t, STACK, at, &key))
		key.more = stack_of(t);
	uint32_t number = intern(&to->keys, (const char *)&key, sizeof key);
	if (number != INTERN_NONE && number >= to->items.n) {
		op_sum *sum = VEC_ADD(&to->items);
		if (!sum)
			return INTERN_NONE;
		sum->sample = i;
		sum->stack = stack_of(t);
	}
	return number;
}

static void add_ns(int64_t *to, int64_t ns)
{
	*to = add_bounded(*to, ns);
}

/* The sum of an open operator in a table; NULL: the table is not wanted. */
static op_sum *sum_of(op_table *t, const open_op *op, int table_kind)
{
	return t->sums[table_kind].is_wanted ? &t->sums[table_kind].items.items[op->groups[table_kind]] : NULL;
}

/* Ends what ends at the row or before it. */
static void end_open(op_table *t, uint32_t at)
{
	while (t->ops.n && t->ops.items[t->ops.n - 1].end <= at) {
		const open_op *op = &t->ops.items[--t->ops.n];
		for (int k = 0; k < N_TABLES; k++)
			if (op->is_counted && t->sums[k].is_wanted)
				add_ns(&sum_of(t, op, k)->device_ns, t->linked_ns - op->before_ns);
	}
	while (t->frames.n && t->frames.items[t->frames.n - 1].end <= at)
		t->frames.n--;
}

/* Stacks are texts of two numbers: the stack around, and the function's site. */
static bool open_function(op_table *t, const row *at)
{
	uint32_t parts[] = { stack_of(t), at->site };
	uint32_t stack = intern(&t->stacks, (const char *)parts, sizeof parts);
	open_frame *to = stack == INTERN_NONE ? NULL : VEC_ADD(&t->frames);

	if (to)
		*to = (open_frame){ at->end, stack };
	return to != NULL;
}

static bool open_operator(op_table *t, uint32_t i, const row *at)
{
	bool is_counted = !is_merged(t, i);
	open_op *to = VEC_ADD(&t->ops);

	if (!to)
		return false;
	const open_op *around = t->ops.n > 1 ? to - 1 : NULL;
	*to = (open_op){ .end = at->end, .is_counted = is_counted, .before_ns = t->linked_ns };
	for (int k = 0; k < N_TABLES; k++) {
		if (!t->sums[k].is_wanted)
			continue;
		to->groups[k] = is_counted || !around ? find_group(t, k, i, at) : around->groups[k];
		if (to->groups[k] == INTERN_NONE)
			return false;
		op_sum *sum = sum_of(t, to, k);
		add_ns(&sum->host_self_ns, at->dur_ns);
		sum->calls += is_counted;
		add_ns(&sum->host_ns, is_counted ? at->dur_ns : 0);
	}
	return true;
}

/* A device row that the open operator launched, or something inside it that is no operator. */
static void add_launched(op_table *t, const row *at)
{
	add_ns(&t->linked_ns, at->dur_ns);
	for (int k = 0; t->ops.n && k < N_TABLES; k++) {
		op_sum *sum = sum_of(t, &t->ops.items[t->ops.n - 1], k);
		if (!sum)
			continue;
		add_ns(&sum->device_self_ns, at->dur_ns);
		add_ns(&sum->tensor_core_ns, t->tensor_cores[at->site] ? at->dur_ns : 0);
	}
}

static bool add_row(op_table *t, uint32_t i, launch_cursor *c)
{
	const row *at = ROW_AT(&t->w->rows, i);
	node_kind kind = node_of(t, at);
	bool ok = true;

	end_open(t, i);
	for (int k = 0; kind != NODE_NONE && t->ops.n && k < N_TABLES; k++)
		if (t->sums[k].is_wanted)
			add_ns(&sum_of(t, &t->ops.items[t->ops.n - 1], k)->host_self_ns, -at->dur_ns);
	if (at->class == CLASS_PYTHON)
		ok = open_function(t, at);
	if (ok && kind == NODE_OP)
		ok = open_operator(t, i, at);
	if (c->launch == i) {
		size_t n;
		const uint32_t *launched = launched_by(c, i, &n);
		for (size_t k = 0; ok && k < n; k++)
			add_launched(t, ROW_AT(&t->w->rows, launched[k]));
	}
	return ok;
}

static bool add_rows(op_table *t)
{
	const rows *r = &t->w->rows;
	uint32_t *by_launch = rows_by_launch(r, &t->n_linked);
	launch_cursor c = launch_cursor_at(r, by_launch, t->n_linked, 0);
	bool ok = by_launch != NULL;

	for (uint32_t i = 0; ok && i < r->n; i++)
		ok = add_row(t, i, &c);
	if (ok)
		end_open(t, ROW_NONE);
	free(by_launch);
	for (size_t i = 0; ok && t->n_linked < r->n_device && i < r->n_device; i++)
		if (rows_launch_of(r, r->device_rows[i]) == ROW_NONE)
			add_ns(&t->unlinked_ns, rows_at(r, r->device_rows[i]).dur_ns);
	return ok;
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
static const char *stack_text(const op_table *t, const op_sum *s, sonde_result *r)
{
	const rows *all = &t->w->rows;
	const char *text = json_text(t, STACK, ROW_AT(all, s->sample), r);
	uint32_t stack = s->stack;

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
		*c++ = cell_string(stack_text(t, s, r));
	} else if (table_kind == BY_SHAPE) {
		*c++ = cell_string(json_text(t, DIMS, sample, r));
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
	int64_t whole = t->sums[table_kind].whole_ns;
	c[7] = whole ? cell_percent(100.0 * (double)part / (double)whole) : cell_unknown();
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

static void add_table(op_table *t, int table_kind, const sonde_analyze_options *options, sonde_result *r)
{
	static const char *const keys[] = { "operators", "operator_shapes", "operator_stacks" };
	static const char *const titles[] = { "Operators", "Operators by shapes", "Operators by call stack" };
	static const column *const columns_of[] = { name_columns, shape_columns, stack_columns };
	op_sums *sums = &t->sums[table_kind];
	table *to = result_table(r, keys[table_kind], titles[table_kind], columns_of[table_kind],
				 N_COLUMNS + (table_kind != BY_NAME));

	for (size_t i = 0; i < sums->items.n; i++)
		add_ns(&sums->whole_ns,
		       t->w->is_empty ? sums->items.items[i].host_self_ns : sums->items.items[i].device_self_ns);
	if (sums->items.n)
		qsort(sums->items.items, sums->items.n, sizeof sums->items.items[0], by_self);
	for (size_t i = 0; i < sums->items.n; i++)
		put_sum(t, table_kind, &sums->items.items[i], r, to);
	limit_rows(r, to, options, "operators");
	if (to && table_kind != BY_NAME) /* long: for those who ask */
		to->n_shown = 0;
}

static void tell(const op_table *t, sonde_result *r)
{
	result_add(r, "n_device_rows", cell_count(t->w->rows.n_device));
	result_add(r, "n_linked", cell_count(t->n_linked));
	if (!t->w->is_empty && t->n_linked < t->w->rows.n_device)
		result_note_add(r, "covers",
				"%.1f %% of the device time: the launches of the rest are not in the trace",
				100.0 * (double)t->linked_ns / ((double)t->linked_ns + (double)t->unlinked_ns));
	if (t->has_shapes || t->has_stacks)
		result_note_add(r, "more", "--table %s%s%s with --csv, or --json and --html",
				t->has_shapes ? "operator_shapes" : "", t->has_shapes && t->has_stacks ? " or " : "",
				t->has_stacks ? "operator_stacks" : "");
}

/* Which tables there are, and all their sums. False when out of memory. */
static bool load(op_table *t)
{
	const sonde_index *ix = t->w->rows.ix;
	bool ok = load_sites(t) && find_merged(t);

	if (ok && index_n_rows(ix, SECTION_ARGS))
		ok = t->has_args = args_columns_read(ix, t->args, N_ARGS);
	if (!ok)
		return false;
	t->has_shapes = t->has_args && args_column_has_any(ix, &t->args[DIMS]);
	t->has_stacks |= t->has_args && args_column_has_any(ix, &t->args[STACK]);
	t->sums[BY_SHAPE].is_wanted = t->has_shapes;
	t->sums[BY_STACK].is_wanted = t->has_stacks;
	return add_rows(t);
}

static void table_done(op_table *t)
{
	if (t->has_args)
		args_columns_done(t->args, N_ARGS);
	for (int k = 0; k < N_TABLES; k++) {
		intern_done(&t->sums[k].keys);
		VEC_DONE(&t->sums[k].items);
	}
	intern_done(&t->stacks);
	VEC_DONE(&t->ops);
	VEC_DONE(&t->frames);
	free(t->is_op);
	free(t->kinds);
	free(t->tensor_cores);
	free(t->merged);
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	op_table t = { .w = w,
		       .sums[BY_NAME].is_wanted = true,
		       .args = { { .role = ROLE_INPUT_DIMS }, { .role = ROLE_STACK } } };
	bool ok = !w->rows.ix || load(&t);

	for (int k = 0; ok && k < N_TABLES; k++)
		if (t.sums[k].is_wanted)
			add_table(&t, k, options, r);
	if (ok && w->rows.ix)
		tell(&t, r);
	table_done(&t);
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis operators_work = { .add = add, .needs_no_device = true };

const analysis operators_analysis = {
	.name = "operators",
	.summary = "Operators: time on the host and on the device, self and total, by shapes and call stack",
	.work = &operators_work,
};
