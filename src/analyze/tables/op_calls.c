/* See op_calls.h. */
#include "analyze/tables/op_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/math/packed.h"
#include "analyze/math/stats.h"
#include "base/big.h"
#include "base/search.h"
#include "base/vec.h"

static const fact_role arg_roles[OP_ARGS] = { ROLE_INPUT_DIMS, ROLE_INPUT_TYPES, ROLE_INPUT_STRIDES,
					      ROLE_INPUT_VALUES };

/* ---- Sites ------------------------------------------------------------------------------------------------------- */

/* TraceLens looks through operators named execute, and so do we: it is what runs others. */
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

/* ---- What launched what ------------------------------------------------------------------------------------------ */

/* An item and where its launch comes in the walk. */
typedef struct launched_item {
	uint32_t place, item;
} launched_item;

#define SORT_NAME sort_launched
#define SORT_TYPE launched_item
#define SORT_BEFORE(a, b) ((a)->place < (b)->place)
#include "base/sort_template.h"

/* A device row as long as calls around its launch are open. */
typedef struct item_span {
	int64_t start, end;
} item_span;

#define SORT_NAME sort_spans
#define SORT_TYPE item_span
#define SORT_BEFORE(a, b) ((a)->start < (b)->start)
#include "base/sort_template.h"

/* A row that is open. */
typedef struct open_row {
	uint32_t row, site;
	uint32_t op;			   /* the nearest operator at or above it, of walk.open; OP_NONE */
	uint32_t rank, first_item;	   /* of the call, when it is one: OP_NONE, it is none as yet */
	size_t spans, direct_spans, items; /* where its own begin in those of the walk */
	bool may_be_call;
} open_row;

typedef struct walk {
	op_calls *o;
	op_visit *visit;
	void *context;
	uint32_t *places; /* by row: where it comes; NULL: as rows do */
	uint32_t *items;  /* launched, by the place of the launch */
	size_t n_items, next;
	uint32_t next_place; /* of items[next]; ROW_NONE: there is none */
	VEC(open_row) open;
	VEC(item_span) spans;	     /* of all that open calls and what is inside launched */
	VEC(item_span) direct_spans; /* of what open calls launched themselves, and which items they are */
	VEC(uint32_t) own;
	size_t n_may_be_calls; /* of those that are open */
} walk;

static uint32_t rank_of_item(const op_calls *o, uint32_t item)
{
	return (uint32_t)FIRST_NOT(k, 0, o->w->n_ranks, o->first_of_rank[k + 1] <= item);
}

/* The row that launched an item, or ROW_NONE. */
static uint32_t launch_of(const op_calls *o, uint32_t rank, uint32_t item)
{
	const work_rank *of = &o->w->ranks[rank];
	size_t number = item - o->first_of_rank[rank];

	if (!of->calls)
		return rows_launch_of(&o->w->rows, of->device[number]);
	return of->items[number].launch == WORK_NONE ? ROW_NONE : of->calls[of->items[number].launch].row;
}

static uint32_t place_of(const walk *k, uint32_t rank, uint32_t item)
{
	uint32_t launch = launch_of(k->o, rank, item);

	return launch == ROW_NONE || !k->places ? launch : k->places[launch];
}

static void set_next(walk *k, size_t next)
{
	k->next = next;
	k->next_place = next < k->n_items ? place_of(k, rank_of_item(k->o, k->items[next]), k->items[next]) : ROW_NONE;
}

/* Where rows come in the walk by the rules of others. */
static bool find_places(walk *k)
{
	const work *w = k->o->w;

	if (!w->order)
		return true;
	k->places = malloc((w->rows.n + 1) * sizeof *k->places);
	if (!k->places)
		return false;
	memset(k->places, 0xff, w->rows.n * sizeof *k->places);
	for (size_t i = 0; i < w->n_order; i++)
		k->places[w->order[i]] = (uint32_t)i;
	return true;
}

/* The items whose launch is known, by where it comes, then as they lie. */
static bool list_items(walk *k)
{
	const op_calls *o = k->o;
	size_t n = o->first_of_rank[o->w->n_ranks];
	launched_item *all = big_alloc(n + 1, sizeof *all);

	for (uint32_t rank = 0; all && rank < o->w->n_ranks; rank++)
		for (size_t i = o->first_of_rank[rank]; i < o->first_of_rank[rank + 1]; i++) {
			uint32_t place = place_of(k, rank, (uint32_t)i);
			if (place != ROW_NONE)
				all[k->n_items++] = (launched_item){ place, (uint32_t)i };
		}
	if (all && sort_launched(all, k->n_items))
		k->items = big_alloc(k->n_items + 1, sizeof *k->items);
	for (size_t i = 0; k->items && i < k->n_items; i++)
		k->items[i] = all[i].item;
	free(all);
	return k->items != NULL;
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

/* What its name says; else, by our rules, what an operator around it does; else what its kernel is called. */
static op_category category_of(const walk *k, const open_row *of, uint32_t item_row)
{
	enum { FAR = 64 };
	const op_calls *o = k->o;
	const rows *r = &o->w->rows;
	op_category c = (op_category)o->site_category[of->site];
	const open_row *first = k->open.items, *up = of;

	for (int i = 0; !o->w->is_tracelens && i < FAR && c == OP_OTHER; i++, up--) {
		if (o->is_op[up->site])
			c = (op_category)o->site_category[up->site];
		if (up == first)
			break;
	}
	return c != OP_OTHER ? c : op_category_of_kernel(row_name(r, ROW_AT(r, item_row)));
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

static bool keep_direct(op_group *g, int64_t direct)
{
	if (!packed_reserve(&g->directs, g->n_bytes, &g->capacity))
		return false;
	g->n_bytes = (size_t)(packed_put(g->directs + g->n_bytes, packed_sign(direct)) - g->directs);
	return true;
}

/* The number of the call's group, INTERN_NONE when out of memory. */
static uint32_t put_in_group(op_calls *o, const op_call *one, op_category category)
{
	op_key key = op_key_of(o, one->rank, one->row);

	key.more = category;
	uint32_t number = intern(&o->keys, (const char *)&key, sizeof key);
	if (number == INTERN_NONE || (number == o->groups.n && !VEC_ADD(&o->groups)))
		return INTERN_NONE;
	op_group *g = &o->groups.items[number];
	g->name = key.name;
	g->rank = one->rank;
	g->category = category;
	if (!g->n++ || one->first_item < g->first_item) {
		g->first_item = one->first_item;
		g->sample = one->row;
	}
	g->direct += one->direct;
	g->subtree += one->subtree;
	return keep_direct(g, one->direct) ? number : INTERN_NONE;
}

#define SORT_NAME sort_values
#define SORT_TYPE int64_t
#define SORT_BEFORE(a, b) (*(a) < *(b))
#include "base/sort_template.h"

int64_t *op_group_directs(const op_group *g)
{
	int64_t *values = big_alloc((size_t)g->n + 1, sizeof *values);
	const uint8_t *at = g->directs;

	for (size_t i = 0; values && i < g->n; i++) {
		uint64_t value;
		at = packed_get(at, &value);
		values[i] = packed_signed(value);
	}
	if (values && !sort_values(values, g->n)) {
		free(values);
		return NULL;
	}
	return values;
}

typedef struct group_place {
	uint32_t first_item, group;
} group_place;

#define SORT_NAME sort_groups
#define SORT_TYPE group_place
#define SORT_BEFORE(a, b) ((a)->first_item < (b)->first_item)
#include "base/sort_template.h"

/* Groups are numbered as their first items come. */
static bool number_groups(op_calls *o)
{
	size_t n = o->groups.n;
	group_place *order = malloc((n + 1) * sizeof *order);
	op_group *sorted = malloc((n + 1) * sizeof *sorted);
	uint32_t *new_of = malloc((n + 1) * sizeof *new_of);
	bool ok = order && sorted && new_of;

	for (uint32_t i = 0; ok && i < n; i++)
		order[i] = (group_place){ o->groups.items[i].first_item, i };
	ok = ok && sort_groups(order, n);
	for (uint32_t i = 0; ok && i < n; i++) {
		sorted[i] = o->groups.items[order[i].group];
		new_of[order[i].group] = i;
	}
	if (ok && n)
		memcpy(o->groups.items, sorted, n * sizeof *sorted);
	for (size_t i = 0; ok && i < o->first_of_rank[o->w->n_ranks]; i++)
		if (o->group_of_item[i] != OP_NONE)
			o->group_of_item[i] = new_of[o->group_of_item[i]];
	free(order);
	free(sorted);
	free(new_of);
	return ok;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Sorts and joins them; returns how many are left, and how long they are. SIZE_MAX when out of memory. */
static size_t join_spans(item_span *spans, size_t n, int64_t *ret_length)
{
	size_t n_joined = 0;

	*ret_length = n == 1 && spans[0].end > spans[0].start ? spans[0].end - spans[0].start : 0;
	if (n <= 1)
		return n;
	if (!sort_spans(spans, n))
		return SIZE_MAX;
	for (size_t i = 0; i < n; i++) {
		item_span *last = n_joined ? &spans[n_joined - 1] : NULL;
		if (last && spans[i].start <= last->end)
			last->end = spans[i].end > last->end ? spans[i].end : last->end;
		else
			spans[n_joined++] = spans[i];
	}
	for (size_t i = 0; i < n_joined; i++)
		if (spans[i].end > spans[i].start)
			*ret_length = add_bounded(*ret_length, spans[i].end - spans[i].start);
	return n_joined;
}

/* The last of the open rows is a call, and ends. */
static bool end_call(walk *k, const open_row *of)
{
	op_calls *o = k->o;
	op_call one = { .row = of->row, .rank = of->rank, .first_item = of->first_item };
	const work_rank *rank = &o->w->ranks[of->rank];
	size_t n_left = join_spans(k->spans.items + of->spans, k->spans.n - of->spans, &one.subtree);
	size_t n_direct =
		join_spans(k->direct_spans.items + of->direct_spans, k->direct_spans.n - of->direct_spans, &one.direct);

	if (n_left == SIZE_MAX || n_direct == SIZE_MAX)
		return false;
	k->spans.n = of->spans + n_left;
	uint32_t item_row = WORK_AT(o->w, rank, of->first_item - o->first_of_rank[of->rank])->row;
	uint32_t group = put_in_group(o, &one, category_of(k, of, item_row));
	for (size_t i = of->items; i < k->own.n; i++)
		o->group_of_item[k->own.items[i]] = group;
	k->own.n = of->items;
	k->direct_spans.n = of->direct_spans;
	return group != INTERN_NONE && (!k->visit || k->visit(k->context, &one));
}

static bool end_row(walk *k)
{
	const open_row *last = &k->open.items[k->open.n - 1];

	if (last->first_item != OP_NONE && !end_call(k, last))
		return false;
	k->n_may_be_calls -= last->may_be_call;
	if (!k->n_may_be_calls)
		k->spans.n = 0;
	k->open.n--;
	return true;
}

static bool add_span(walk *k, bool is_direct, const work_item *item)
{
	item_span *to = is_direct ? VEC_ADD(&k->direct_spans) : VEC_ADD(&k->spans);

	if (to)
		*to = (item_span){ item->start, item->start + item->dur };
	return to != NULL;
}

/* An item that the last of the open rows launched. */
static bool add_item(walk *k, uint32_t number)
{
	op_calls *o = k->o;
	uint32_t rank = rank_of_item(o, number);
	const work_item *item = WORK_AT(o->w, &o->w->ranks[rank], number - o->first_of_rank[rank]);
	open_row *top = &k->open.items[k->open.n - 1], *op = top->op == OP_NONE ? top : &k->open.items[top->op];

	o->op_of_item[number] = op->row;
	if (item->kind != KERNEL_COMMUNICATION) {
		uint32_t *own = VEC_ADD(&k->own);
		if (!own || !add_span(k, true, item))
			return false;
		*own = number;
		op->rank = rank;
		op->first_item = number < op->first_item ? number : op->first_item;
	}
	return !k->n_may_be_calls || add_span(k, false, item);
}

/* An operator may be a call; what launches something and is in no operator may be one too. */
static bool begin_row(walk *k, uint32_t number, const row *at, bool launches)
{
	bool is_op = k->o->is_op[at->site];
	uint32_t place = (uint32_t)k->open.n;
	open_row *to = VEC_ADD(&k->open);

	if (!to)
		return false;
	*to = (open_row){ .row = number,
			  .site = at->site,
			  .op = is_op	? place
				: place ? to[-1].op
					: OP_NONE,
			  .first_item = OP_NONE,
			  .spans = k->spans.n,
			  .direct_spans = k->direct_spans.n,
			  .items = k->own.n,
			  .may_be_call = is_op || launches };
	k->n_may_be_calls += is_op || launches;
	return true;
}

static bool walk_row(walk *k, uint32_t place)
{
	const work *w = k->o->w;
	uint32_t number = w->order ? w->order[place] : place;
	const row *at = ROW_AT(&w->rows, number);
	uint32_t parent = w->parents ? w->parents[number] : at->parent;
	bool ok = true;

	while (ok && k->open.n && k->open.items[k->open.n - 1].row != parent)
		ok = end_row(k);
	ok = ok && begin_row(k, number, at, k->next_place == place);
	for (; ok && k->next_place == place; set_next(k, k->next + 1))
		ok = add_item(k, k->items[k->next]);
	return ok;
}

static bool make_room(op_calls *o)
{
	size_t n = o->first_of_rank[o->w->n_ranks];

	o->op_of_item = big_alloc(n + 1, sizeof *o->op_of_item);
	o->group_of_item = big_alloc(n + 1, sizeof *o->group_of_item);
	if (!o->op_of_item || !o->group_of_item)
		return false;
	memset(o->op_of_item, 0xff, n * sizeof *o->op_of_item);
	memset(o->group_of_item, 0xff, n * sizeof *o->group_of_item);
	return true;
}

/* The list of items needs as much again while it is sorted: it comes first. */
static bool walk_rows(op_calls *o, op_visit *visit, void *context)
{
	walk k = { .o = o, .visit = visit, .context = context };
	size_t n = o->w->order ? o->w->n_order : o->w->rows.n;
	bool ok = find_places(&k) && list_items(&k) && make_room(o);

	if (ok)
		set_next(&k, 0);
	for (uint32_t i = 0; ok && i < n && k.next < k.n_items; i++)
		ok = walk_row(&k, i);
	while (ok && k.open.n)
		ok = end_row(&k);
	free(k.places);
	free(k.items);
	VEC_DONE(&k.open);
	VEC_DONE(&k.spans);
	VEC_DONE(&k.direct_spans);
	VEC_DONE(&k.own);
	return ok;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static bool find_firsts(op_calls *o)
{
	const work *w = o->w;
	size_t n = 0;

	o->first_of_rank = malloc((w->n_ranks + 1) * sizeof *o->first_of_rank);
	for (size_t i = 0; o->first_of_rank && i <= w->n_ranks; i++) {
		o->first_of_rank[i] = n;
		n += i < w->n_ranks ? w->ranks[i].n : 0;
	}
	return o->first_of_rank != NULL;
}

bool op_calls_load(op_calls *o, const work *w, op_visit *visit, void *context)
{
	*o = (op_calls){ .w = w };
	for (int i = 0; i < OP_ARGS; i++)
		o->args[i].role = arg_roles[i];
	if (!w->rows.ix)
		return true;
	bool ok = look_at_sites(o) && find_firsts(o);
	if (ok && o->first_of_rank[w->n_ranks] && index_n_rows(w->rows.ix, SECTION_ARGS))
		ok = o->has_args = args_columns_read(w->rows.ix, o->args, OP_ARGS);
	return ok && walk_rows(o, visit, context) && number_groups(o);
}

void op_calls_done(op_calls *o)
{
	if (o->has_args)
		args_columns_done(o->args, OP_ARGS);
	for (size_t i = 0; i < o->groups.n; i++)
		free(o->groups.items[i].directs);
	intern_done(&o->keys);
	VEC_DONE(&o->groups);
	free(o->op_of_item);
	free(o->group_of_item);
	free(o->first_of_rank);
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
