/* See op_calls.h. */
#include "analyze/tables/op_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"

#define NOT_YET (ROW_NONE - 1)

static const char *const arg_keys[OP_ARGS] = { "Input Dims", "Input type", "Input Strides", "Concrete Inputs" };

/* ---- Up the tree ------------------------------------------------------------------------------------------------- */

static uint32_t parent_of(const op_calls *o, uint32_t at)
{
	return o->w->parents ? o->w->parents[at] : rows_at(&o->w->rows, at).parent;
}

/* TraceLens looks through operators of this name, and so do we: it is what runs others. */
static bool is_op(const op_calls *o, uint32_t at)
{
	return o->is_op[rows_at(&o->w->rows, at).site];
}

static bool has_call(const op_calls *o, uint32_t at)
{
	return o->call_of_row[at] != OP_NONE;
}

/* The nearest row at or above `from` that is wanted. memo: what is known, by row; a path is walked once. */
static uint32_t nearest_row(const op_calls *o, uint32_t *memo, uint32_t from,
			    bool (*is_wanted)(const op_calls *, uint32_t))
{
	uint32_t found = from;

	while (found != ROW_NONE && memo[found] == NOT_YET && !is_wanted(o, found))
		found = parent_of(o, found);
	if (found != ROW_NONE && memo[found] != NOT_YET)
		found = memo[found];
	for (uint32_t at = from; at != ROW_NONE && memo[at] == NOT_YET; at = parent_of(o, at)) {
		memo[at] = found;
		if (at == found)
			break;
	}
	return found;
}

static uint32_t *new_memo(const op_calls *o, uint32_t value)
{
	uint32_t *memo = malloc((o->w->rows.n + 1) * sizeof *memo);

	for (size_t i = 0; memo && i < o->w->rows.n; i++)
		memo[i] = value;
	return memo;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static bool look_at_sites(op_calls *o)
{
	const rows *r = &o->w->rows;

	o->is_op = malloc(r->n_sites + 1);
	o->site_category = malloc(r->n_sites + 1);
	for (size_t i = 0; o->is_op && o->site_category && i < r->n_sites; i++) {
		const char *category = index_text(r->ix, r->sites[i].category);
		const char *name = index_text(r->ix, r->sites[i].name);
		bool is_old = !o->w->is_tracelens && strcmp(category, "Operator") == 0;
		o->is_op[i] = (is_old || strcmp(category, "cpu_op") == 0) && strcmp(name, "execute") != 0;
		o->site_category[i] = (uint8_t)op_category_of_name(name, o->w->is_tracelens);
	}
	return o->is_op && o->site_category;
}

static bool add_item(op_calls *o, uint32_t rank, size_t number, uint32_t *ops)
{
	const work_rank *of = &o->w->ranks[rank];
	const work_item *item = WORK_AT(o->w, of, number);
	uint32_t *to = &o->op_of_item[o->first_of_rank[rank] + number];

	*to = ROW_NONE;
	if (item->launch == WORK_NONE)
		return true;
	uint32_t launch = work_call_at(o->w, of, item->launch).row, op = nearest_row(o, ops, launch, is_op);
	*to = op = op == ROW_NONE ? launch : op;
	if (item->kind == KERNEL_COMMUNICATION || o->call_of_row[op] != OP_NONE)
		return true;
	op_call *call = VEC_ADD(&o->calls);
	if (!call)
		return false;
	*call = (op_call){ .row = op,
			   .outer = OP_NONE,
			   .first_row = item->row,
			   .rank = rank,
			   .direct_end = INT64_MIN,
			   .subtree_end = INT64_MIN };
	o->call_of_row[op] = (uint32_t)(o->calls.n - 1);
	return true;
}

/* Items come by start, so a union is a running sum. */
static void add_time(int64_t *sum, int64_t *end, const work_item *item)
{
	int64_t item_end = item->start + item->dur, from = item->start > *end ? item->start : *end;

	if (item_end > from) {
		*sum = add_bounded(*sum, item_end - from);
		*end = item_end;
	}
}

static void add_times(op_calls *o, uint32_t rank, uint32_t *callers)
{
	enum { DEEPEST = 256 }; /* operators inside each other that launch: more are not believed */
	const work_rank *of = &o->w->ranks[rank];

	for (size_t i = 0; i < of->n; i++) {
		const work_item *item = WORK_AT(o->w, of, i);
		uint32_t own = op_call_of(o, rank, i);
		if (item->launch == WORK_NONE)
			continue;
		if (own != OP_NONE)
			add_time(&o->calls.items[own].direct, &o->calls.items[own].direct_end, item);
		uint32_t at = nearest_row(o, callers, work_call_at(o->w, of, item->launch).row, has_call);
		uint32_t c = at == ROW_NONE ? OP_NONE : o->call_of_row[at];
		for (int levels = 0; c != OP_NONE && levels < DEEPEST; levels++, c = o->calls.items[c].outer)
			add_time(&o->calls.items[c].subtree, &o->calls.items[c].subtree_end, item);
	}
}

static bool make_calls(op_calls *o)
{
	const work *w = o->w;
	size_t n = 0;
	uint32_t *ops = new_memo(o, NOT_YET), *callers = new_memo(o, NOT_YET);
	bool ok = (o->first_of_rank = malloc((w->n_ranks + 1) * sizeof *o->first_of_rank)) && ops && callers;

	for (size_t i = 0; ok && i < w->n_ranks; i++) {
		o->first_of_rank[i] = n;
		n += w->ranks[i].n;
	}
	ok = ok && (o->op_of_item = malloc((n + 1) * sizeof *o->op_of_item)) && (o->call_of_row = new_memo(o, OP_NONE));
	for (uint32_t k = 0; ok && k < w->n_ranks; k++)
		for (size_t i = 0; ok && i < w->ranks[k].n; i++)
			ok = add_item(o, k, i, ops);
	for (size_t i = 0; ok && i < o->calls.n; i++) {
		uint32_t up = parent_of(o, o->calls.items[i].row);
		up = up == ROW_NONE ? up : nearest_row(o, callers, up, has_call);
		o->calls.items[i].outer = up == ROW_NONE ? OP_NONE : o->call_of_row[up];
	}
	for (uint32_t k = 0; ok && k < w->n_ranks; k++)
		add_times(o, k, callers);
	free(ops);
	free(callers);
	return ok;
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

/* What its name says; else, by our rules, what an operator around it does; else what its kernel is called. */
static op_category category_of(const op_calls *o, const op_call *call)
{
	enum { FAR = 64 };
	const rows *r = &o->w->rows;
	op_category c = (op_category)o->site_category[rows_at(r, call->row).site];

	uint32_t at = o->w->is_tracelens ? ROW_NONE : call->row;

	for (int i = 0; i < FAR && c == OP_OTHER && at != ROW_NONE; i++, at = parent_of(o, at))
		if (is_op(o, at))
			c = (op_category)o->site_category[rows_at(r, at).site];
	return c != OP_OTHER ? c : op_category_of_kernel(row_name(r, ROW_AT(r, call->first_row)));
}

op_key op_key_of(const op_calls *o, uint32_t rank, uint32_t op)
{
	const row *at = ROW_AT(&o->w->rows, op);
	op_key key = { .name = o->w->rows.sites[at->site].name, .rank = rank };

	key.track = o->w->is_tracelens ? at->track : 0;
	for (int i = 0; i < OP_ARGS && o->has_args && at->args; i++) {
		size_t len; /* the same text is always at the same place */
		const char *text = args_column_text(o->w->rows.ix, &o->args[i], at->args, &len);
		key.args[i] = text ? (int64_t)(intptr_t)text : args_column_int(o->w->rows.ix, &o->args[i], at->args, 0);
	}
	return key;
}

static bool put_in_group(op_calls *o, op_call *call)
{
	op_category category = category_of(o, call);
	op_key key = op_key_of(o, call->rank, call->row);

	key.more = category;
	call->group = intern(&o->keys, (const char *)&key, sizeof key);
	if (call->group == INTERN_NONE)
		return false;
	if (call->group == o->groups.n) {
		op_group *g = VEC_ADD(&o->groups);
		if (!g)
			return false;
		*g = (op_group){ .name = key.name, .rank = call->rank, .category = category, .sample = call->row };
	}
	op_group *g = &o->groups.items[call->group];
	g->n++;
	g->direct += call->direct;
	g->subtree += call->subtree;
	return true;
}

typedef struct grouped_call {
	int64_t direct;
	uint32_t group, call;
} grouped_call;

#define SORT_NAME sort_grouped
#define SORT_TYPE grouped_call
#define SORT_BEFORE(a, b) ((a)->group != (b)->group ? (a)->group < (b)->group : (a)->direct < (b)->direct)
#include "base/sort_template.h"

static bool list_groups(op_calls *o)
{
	grouped_call *all = malloc((o->calls.n + 1) * sizeof *all);
	bool ok = all && (o->by_group = malloc((o->calls.n + 1) * sizeof *o->by_group));

	for (size_t i = 0; ok && i < o->calls.n; i++)
		all[i] = (grouped_call){ o->calls.items[i].direct, o->calls.items[i].group, (uint32_t)i };
	ok = ok && sort_grouped(all, o->calls.n);
	for (size_t i = 0; ok && i < o->calls.n; i++)
		o->by_group[i] = all[i].call;
	for (uint32_t i = 0, first = 0; ok && i < o->groups.n; i++) {
		o->groups.items[i].first = first;
		first += o->groups.items[i].n;
	}
	free(all);
	return ok;
}

bool op_calls_load(op_calls *o, const work *w)
{
	*o = (op_calls){ .w = w };
	for (int i = 0; i < OP_ARGS; i++)
		o->args[i].key = arg_keys[i];
	if (!w->rows.ix)
		return true;
	bool ok = look_at_sites(o) && make_calls(o);
	if (ok && o->calls.n && index_n_rows(w->rows.ix, SECTION_ARGS))
		ok = o->has_args = args_columns_read(w->rows.ix, o->args, OP_ARGS);
	for (size_t i = 0; ok && i < o->calls.n; i++)
		ok = put_in_group(o, &o->calls.items[i]);
	return ok && list_groups(o);
}

void op_calls_done(op_calls *o)
{
	if (o->has_args)
		args_columns_done(o->args, OP_ARGS);
	intern_done(&o->keys);
	VEC_DONE(&o->calls);
	VEC_DONE(&o->groups);
	free(o->op_of_item);
	free(o->first_of_rank);
	free(o->by_group);
	free(o->call_of_row);
	free(o->site_category);
	free(o->is_op);
}

const char *op_args(const op_calls *o, uint32_t op, int which, sonde_result *r)
{
	enum { LONGEST = 1000 };
	uint32_t args = rows_at(&o->w->rows, op).args;
	size_t len;
	const char *text = o->has_args && args ? args_column_text(o->w->rows.ix, &o->args[which], args, &len) : NULL;

	if (!text)
		return NULL;
	return len <= LONGEST ? result_format(r, "%.*s", (int)len, text) : result_format(r, "%.*s ...", LONGEST, text);
}

/* Of the JSON "[[64, 3], [], [5]]" the part "64x3, 5". */
const char *op_shapes(const op_calls *o, uint32_t op, sonde_result *r)
{
	enum { LONGEST = 200 };
	char text[LONGEST + 8];
	size_t len, n = 0;
	uint32_t args = rows_at(&o->w->rows, op).args;
	const char *json = o->has_args && args ? args_column_text(o->w->rows.ix, &o->args[OP_DIMS], args, &len) : NULL;
	bool inside = false, between = false;

	for (size_t i = 0; json && i < len && n < LONGEST; i++) {
		bool is_digit = json[i] >= '0' && json[i] <= '9';
		if (is_digit && !inside && n)
			n += (size_t)sprintf(text + n, ", ");
		else if (is_digit && between)
			text[n++] = 'x';
		if (is_digit)
			text[n++] = json[i];
		inside = is_digit || (inside && json[i] != ']' && json[i] != '[');
		between = !is_digit && (between || json[i] == ',');
	}
	text[n] = 0;
	return n ? result_string(r, text) : NULL;
}
