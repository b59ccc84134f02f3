/*
 * What changed, name by name: phases and what steps consist of, layers, names on the host, kernels. Two runs get the
 * difference with its interval; more of them a column of changes each.
 *
 * The intervals of a table hold all together with 95 %, so that of a thousand names that did not change none is called
 * slower by chance.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/compare/comparison.h"
#include "base/error.h"
#include "base/format_number.h"

enum { TOP_OF_ALL = 10, TOP_OF_ONE = 20 };

/* One table. */
typedef struct view {
	const char *by, *key, *header;
	item_kind kinds[2];
	size_t n_kinds;
	const char *what; /* in sentences */
} view;

static const view views[] = {
	{ "phase", "phases", "where steps go", { ITEM_ROLE, ITEM_PHASE }, 2, "parts of steps" },
	{ "layer", "layers", "layer", { ITEM_LAYER }, 1, "layers" },
	{ "name", "names", "on the host, self", { ITEM_HOST }, 1, "names" },
	{ "kernel", "kernels", "on the device", { ITEM_DEVICE }, 1, "kernels" },
};

/* One row: the same name in every run. */
typedef struct line {
	const char *name;
	item_kind kind;
	const compare_item *items[SONDE_COMPARE_MAX]; /* NULL: not there */
	summary of[SONDE_COMPARE_MAX];
	difference differences[SONDE_COMPARE_MAX]; /* from the first */
	bool by_steps;
	double weight; /* the largest change */
} line;
typedef VEC(line) lines;

/* The same: no difference is certain, and none above SAME_SHARE is likely. Unsure: it could be anything. */
typedef enum verdict { SAME, SLOWER, FASTER, ADDED, REMOVED, UNSURE, ABSENT, N_VERDICTS } verdict;
static const char *const verdicts[] = { "same", "slower", "faster", "added", "removed", "unsure", "-" };
#define SAME_SHARE 0.1

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static bool matches(const char *name, const char *filter)
{
	size_t len = filter ? strlen(filter) : 0, name_len = strlen(name);

	if (!len)
		return true;
	bool at_start = filter[0] == '^', at_end = len > (at_start ? 1u : 0u) && filter[len - 1] == '$';
	size_t text_len = len - at_start - at_end;
	const char *text = filter + at_start, *tail = name + name_len - text_len;
	if (text_len > name_len || (at_start && at_end && text_len != name_len))
		return false;
	if (at_start)
		return memcmp(name, text, text_len) == 0;
	return at_end ? memcmp(tail, text, text_len) == 0 : memmem(name, name_len, text, text_len) != NULL;
}

/* The runs are sorted: all of them are walked at once, the least name next. */
static bool list_lines(const comparison *c, item_kind kind, lines *ret)
{
	size_t at[SONDE_COMPARE_MAX] = { 0 };

	for (size_t i = 0; i < c->n; i++)
		while (at[i] < c->runs[i].items.n && c->runs[i].items.items[at[i]].kind < kind)
			at[i]++;
	for (;;) {
		const char *least = NULL;
		for (size_t i = 0; i < c->n; i++) {
			const compare_item *item = at[i] < c->runs[i].items.n ? &c->runs[i].items.items[at[i]] : NULL;
			if (item && item->kind == kind && (!least || strcmp(item->name, least) < 0))
				least = item->name;
		}
		if (!least)
			return true;
		line found = { .name = least, .kind = kind };
		for (size_t i = 0; i < c->n; i++) {
			const compare_item *item = at[i] < c->runs[i].items.n ? &c->runs[i].items.items[at[i]] : NULL;
			if (!item || item->kind != kind || strcmp(item->name, least) != 0)
				continue;
			found.items[i] = item;
			at[i]++;
		}
		line *add = matches(least, c->select->filter) ? VEC_ADD(ret) : &found;
		if (!add)
			return false;
		*add = found;
	}
}

/* How much of the time of a whole run a sample stands for. */
static double samples_in(const comparison *c, const compare_item *item)
{
	return c->has_steps || !item ? 1 : (double)item->calls;
}

static void weigh(const comparison *c, line *l, double level)
{
	l->by_steps = comparison_by_steps(c, l->items);
	for (size_t i = 0; i < c->n; i++)
		if (l->items[i])
			l->of[i] = comparison_summary(c, i, l->items[i], l->by_steps);
	for (size_t i = 1; i < c->n; i++) {
		l->differences[i] = difference_of(&l->of[0], &l->of[i], level);
		double change = fabs(l->of[i].median * samples_in(c, l->items[i]) -
				     l->of[0].median * samples_in(c, l->items[0]));
		l->weight = change > l->weight ? change : l->weight;
	}
}

/* What changed most comes first. */
static int by_weight(const void *a, const void *b)
{
	const line *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return strcmp(x->name, y->name);
}

static verdict judge(const line *l, size_t run)
{
	const difference *d = &l->differences[run];

	if (!l->items[0] || !l->items[run])
		return l->items[run] ? ADDED : l->items[0] ? REMOVED : ABSENT;
	if (d->is_certain)
		return d->low > 0 ? SLOWER : FASTER;
	bool is_near = !isnan(d->low) ? d->low > -SAME_SHARE && d->high < SAME_SHARE : d->ns == 0;
	return is_near ? SAME : UNSURE;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

enum { FIXED_COLUMNS = 7, COLUMNS_PER_RUN = 2 };
_Static_assert(FIXED_COLUMNS + COLUMNS_PER_RUN * SONDE_COMPARE_MAX + 2 <= RESULT_MAX_COLUMNS, "columns of a table");

/* name, then a median for each run, then the changes, then the rest. */
static size_t make_columns(const comparison *c, const view *v, column *to)
{
	size_t n = 0;

	to[n++] = (column){ "name", v->header, CELL_STRING, 0, false };
	for (size_t i = 0; i < c->n; i++) {
		const char *key = result_format(c->r, "%c_ns", (char)('a' + i));
		to[n++] = (column){ key ? key : "", c->heads[i], CELL_NS, 0, false };
	}
	for (size_t i = 1; i < c->n && c->n > 2; i++) {
		const char *key = result_format(c->r, "%c_change_percent", (char)('a' + i));
		const char *head = result_format(c->r, "%s %%", c->heads[i]);
		to[n++] = (column){ key ? key : "", head ? head : "", CELL_PERCENT, 2, false };
	}
	if (c->n == 2) {
		to[n++] = (column){ "diff_ns", "difference", CELL_NS, 0, false };
		to[n++] = (column){ "change_percent", "change %", CELL_PERCENT, 0, false };
		to[n++] = (column){ "low_percent", "from %", CELL_PERCENT, 2, false };
		to[n++] = (column){ "high_percent", "to %", CELL_PERCENT, 2, false };
	}
	to[n++] = (column){ "verdict", "verdict", CELL_STRING, 0, false };
	to[n++] = (column){ "samples", "samples", CELL_STRING, 5, false };
	for (size_t i = 0; i < c->n && c->n == 2; i++)
		to[n++] = (column){ i ? "b_calls" : "a_calls", i ? "calls" : "calls before", CELL_COUNT, 4, false };
	return n;
}

static const char *verdict_text(const comparison *c, const line *l)
{
	const char *text = "";

	if (c->n == 2)
		return verdicts[judge(l, 1)];
	for (size_t i = 1; i < c->n; i++) {
		verdict is = judge(l, i);
		if (is != SAME && is != ABSENT && text)
			text = result_format(c->r, "%s%s%s %s", text, *text ? ", " : "", c->heads[i], verdicts[is]);
	}
	return text && *text ? text : "same";
}

static void put_line(const comparison *c, table *t, const line *l)
{
	cell *to = table_row(c->r, t, 0);
	const difference *d = &l->differences[1];

	*to++ = cell_string(result_string(c->r, l->name));
	for (size_t i = 0; i < c->n; i++)
		*to++ = l->items[i] ? cell_ns((int64_t)llround(l->of[i].median)) : cell_unknown();
	for (size_t i = 1; i < c->n && c->n > 2; i++)
		*to++ = share_cell(l->items[i] ? l->differences[i].change : NAN);
	if (c->n == 2) {
		*to++ = cell_ns((int64_t)llround(d->ns));
		*to++ = share_cell(d->change);
		*to++ = share_cell(d->low);
		*to++ = share_cell(d->high);
	}
	*to++ = cell_string(verdict_text(c, l));
	*to++ = cell_string(l->by_steps ? "steps" : "calls");
	for (size_t i = 0; i < c->n && c->n == 2; i++)
		*to++ = cell_count(l->items[i] ? l->items[i]->calls : 0);
}

static void limit_rows(const comparison *c, const view *v, table *t)
{
	uint64_t top = c->select->top ? c->select->top : c->options->by ? TOP_OF_ONE : TOP_OF_ALL;
	char number[NUMBER_TEXT];

	if (!t || t->n_rows <= top)
		return;
	t->more = result_format(c->r, "%s more %s: --by %s --top all", format_count(number, t->n_rows - top), v->what,
				v->by);
	t->n_shown = (size_t)top;
	if (c->select->top)
		t->n_rows = (size_t)top;
}

static void note_counts(const comparison *c, const view *v, const lines *all)
{
	size_t counts[N_VERDICTS] = { 0 };
	const char *text = "";

	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 1; k < c->n; k++)
			counts[judge(&all->items[i], k)]++;
	static const verdict order[] = { SLOWER, FASTER, ADDED, REMOVED, SAME, UNSURE };
	for (size_t i = 0; i < sizeof order / sizeof order[0] && text; i++)
		if (counts[order[i]])
			text = result_format(c->r, "%s%s%zu %s", text, *text ? ", " : "", counts[order[i]],
					     verdicts[order[i]]);
	if (text && *text)
		result_note_add(c->r, v->key, "%s", text);
}

/* What accounts for the difference, for people. */
static void note_reason(const comparison *c, const view *v, const lines *all)
{
	char times[FROM_TO_TEXT];

	for (size_t i = 0; c->n == 2 && v->kinds[0] == ITEM_ROLE && i < all->n; i++) {
		const line *l = &all->items[i];
		if (!l->differences[1].is_certain)
			continue;
		result_note_add(c->r, "mostly", "%s: %s per step", l->name,
				format_from_to(times, l->of[0].median, l->of[1].median));
		return;
	}
}

/* Names are looked at one by one only when the user asks for them: a thousand of them fail more often than one step. */
static void check_lines(comparison *c, const view *v, const lines *all)
{
	if (!c->options->by || strcmp(c->options->by, v->by) != 0)
		return;
	for (size_t i = 0; i < all->n; i++) {
		const line *l = &all->items[i];
		for (size_t k = 1; k < c->n; k++)
			if (l->items[0] && l->items[k])
				comparison_check(c, k, &l->differences[k], l->name,
						 c->has_steps ? (double)c->runs[k].n_steps
							      : samples_in(c, l->items[k]));
	}
}

static sonde_status add_view(comparison *c, const view *v, sonde_error *err)
{
	lines all = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < v->n_kinds; i++)
		ok = list_lines(c, v->kinds[i], &all);
	double level = level_for(all.n * (c->n - 1));
	for (size_t i = 0; i < all.n; i++)
		weigh(c, &all.items[i], level);
	if (all.n)
		qsort(all.items, all.n, sizeof *all.items, by_weight);
	column *fields = arena_alloc(&c->r->arena, RESULT_MAX_COLUMNS * sizeof *fields);
	c->r->failed |= !fields;
	if (ok && fields && (all.n || (c->options->by && strcmp(c->options->by, v->by) == 0))) {
		table *t = result_table(c->r, v->key, NULL, fields, make_columns(c, v, fields));
		for (size_t i = 0; i < all.n; i++)
			put_line(c, t, &all.items[i]);
		limit_rows(c, v, t);
		check_lines(c, v, &all);
		note_reason(c, v, &all);
		note_counts(c, v, &all);
	}
	VEC_DONE(&all);
	return ok && fields ? SONDE_OK : error_set(err, SONDE_E_MEMORY, -1, "out of memory");
}

sonde_status comparison_add_tables(comparison *c, sonde_error *err)
{
	sonde_status status = SONDE_OK;

	for (size_t i = 0; i < sizeof views / sizeof views[0] && !status; i++)
		if (!c->options->by || strcmp(c->options->by, views[i].by) == 0)
			status = add_view(c, &views[i], err);
	return status;
}
