/*
 * The conditions of a plan with their values: ranges of keys, and marks for what sites, tracks and lanes hold.
 *
 * A mark may be set although the condition does not hold, when types differ and SQLite's rules for that would have to
 * be followed: SQLite then checks again (plan.c). It is never missing where the condition holds.
 */
#include "query/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One condition on a column that is not a key. `values` are those of IN, sorted; else there is one. */
typedef struct condition {
	const query_column *column;
	char op;
	query_cell *values;
	size_t n_values;
	bool is_open; /* says nothing: see above */
} condition;

/* How many things of a kind there are. */
static size_t n_of(const query_cursor *c, column_of of)
{
	return of == OF_TRACK ? c->n_tracks : of == OF_SITE ? c->n_sites : of == OF_LANE ? c->n_lanes : 0;
}

void filter_done(query_filter *f)
{
	for (size_t i = 0; i < N_OF; i++)
		free(f->marks[i]);
	free(f->text);
	memset(f, 0, sizeof *f);
}

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

static void narrow(query_filter *f, key_range *r, char op, int64_t value)
{
	int64_t min = value, max = value;

	if ((op == '>' && __builtin_add_overflow(value, 1, &min)) ||
	    (op == '<' && __builtin_sub_overflow(value, 1, &max)))
		f->is_empty = true;
	if (strchr("=>]", op) && min > r->min)
		r->min = min;
	if (strchr("=<[", op) && max < r->max)
		r->max = max;
}

/* Whole numbers compare with a real as they do with the whole number below it, or nearly so. */
static void narrow_real(query_filter *f, key_range *r, char op, double value)
{
	double low = floor(value);

	if (low >= 0x1p63)
		f->is_empty |= !strchr("<[", op);
	else if (low < -0x1p63)
		f->is_empty |= !strchr(">]", op);
	else if (op == '=' && low != value)
		f->is_empty = true;
	else
		narrow(f, r, low == value ? op : op == ']' ? '>' : op == '<' ? '[' : op, (int64_t)low);
}

static void take_key(query_filter *f, column_key key, char op, sqlite3_value *value)
{
	key_range *r = &f->keys[key];

	r->is_set = true;
	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_INTEGER:
		narrow(f, r, op, sqlite3_value_int64(value));
		break;
	case SQLITE_FLOAT:
		narrow_real(f, r, op, sqlite3_value_double(value));
		break;
	case SQLITE_NULL:
		f->is_empty = true;
		break;
	default: /* texts and blobs come after all numbers */
		f->is_empty |= !strchr("<[", op);
	}
	f->is_empty |= r->min > r->max;
}

static char *copy_text(const char *text, size_t len)
{
	char *copy = text ? malloc(len + 1) : NULL;

	if (copy) {
		memcpy(copy, text, len);
		copy[len] = '\0';
	}
	return copy;
}

static int take_text(query_filter *f, sqlite3_value *value)
{
	if (sqlite3_value_type(value) == SQLITE_NULL)
		f->is_empty = true;
	if (sqlite3_value_type(value) != SQLITE_TEXT)
		return SQLITE_OK;
	size_t len = (size_t)sqlite3_value_bytes(value);
	const char *text = (const char *)sqlite3_value_text(value);
	if (f->text) /* equal to two texts */
		f->is_empty |= len != f->text_len || memcmp(text, f->text, len) != 0;
	else
		f->text = copy_text(text, f->text_len = len);
	return f->text ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

int cell_compare(const query_cell *a, const query_cell *b)
{
	int class_a = a->type == SONDE_CELL_NULL ? 0 : a->type == SONDE_CELL_TEXT ? 2 : 1;
	int class_b = b->type == SONDE_CELL_NULL ? 0 : b->type == SONDE_CELL_TEXT ? 2 : 1;

	if (class_a != class_b)
		return class_a < class_b ? -1 : 1;
	if (class_a == 0)
		return 0;
	if (class_a == 1) { /* a long double holds every int64 and every double */
		long double x = a->type == SONDE_CELL_REAL ? (long double)a->real : (long double)a->integer;
		long double y = b->type == SONDE_CELL_REAL ? (long double)b->real : (long double)b->integer;
		return (x > y) - (x < y);
	}
	int order = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
	return order ? order : (a->len > b->len) - (a->len < b->len);
}

static int compare_cells(const void *a, const void *b)
{
	return cell_compare(a, b);
}

static bool is_among(const condition *k, const query_cell *cell)
{
	return bsearch(cell, k->values, k->n_values, sizeof *cell, compare_cells) != NULL;
}

static bool holds(const condition *k, const query_cell *cell)
{
	if (k->op == '0' || k->op == '1')
		return (cell->type == SONDE_CELL_NULL) == (k->op == '0');
	if (cell->type == SONDE_CELL_NULL)
		return false;
	bool differ = k->n_values && (cell->type == SONDE_CELL_TEXT) != (k->values[0].type == SONDE_CELL_TEXT);
	if (k->is_open || differ)
		return true;
	int order = k->n_values ? cell_compare(cell, &k->values[0]) : 0;
	switch (k->op) {
	case '=':
	case '{':
		return is_among(k, cell);
	case '!':
		return order != 0;
	case '<':
		return order < 0;
	case '[':
		return order <= 0;
	case '>':
		return order > 0;
	case ']':
		return order >= 0;
	case '~':
		return sqlite3_strlike(k->values[0].text, cell->text, 0) == 0;
	case '*':
		return sqlite3_strglob(k->values[0].text, cell->text) == 0;
	}
	return true;
}

/* Copies a value; false when out of memory. NULL matches nothing and is left out. */
static bool add_value(condition *k, sqlite3_value *value)
{
	bool is_text = strcmp(k->column->type, "TEXT") == 0;
	int type = sqlite3_value_type(value);

	if (type == SQLITE_NULL)
		return true;
	if (is_text ? type != SQLITE_TEXT : type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		k->is_open = true;
	if (k->is_open)
		return true;
	if (!(k->n_values & (k->n_values - 1))) { /* a power of two: full */
		query_cell *grown = realloc(k->values, (k->n_values ? k->n_values * 2 : 1) * sizeof *grown);
		if (!grown)
			return false;
		k->values = grown;
	}
	query_cell *cell = &k->values[k->n_values];
	memset(cell, 0, sizeof *cell);
	if (type == SQLITE_INTEGER) {
		cell_int(cell, sqlite3_value_int64(value));
	} else if (type == SQLITE_FLOAT) {
		cell_real(cell, sqlite3_value_double(value));
	} else {
		size_t len = (size_t)sqlite3_value_bytes(value);
		char *copy = copy_text((const char *)sqlite3_value_text(value), len);
		if (!copy)
			return false;
		cell_text(cell, copy, len);
	}
	k->n_values++;
	return true;
}

static int add_list(condition *k, sqlite3_value *list)
{
	sqlite3_value *value;
	int code = sqlite3_vtab_in_first(list, &value);

	for (; code == SQLITE_OK && value; code = sqlite3_vtab_in_next(list, &value))
		if (!add_value(k, value))
			return SQLITE_NOMEM;
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int make_condition(condition *k, sqlite3_value *value)
{
	if (k->op == '0' || k->op == '1')
		return SQLITE_OK;
	if (k->op == '{')
		return add_list(k, value);
	return add_value(k, value) ? SQLITE_OK : SQLITE_NOMEM;
}

static void condition_done(condition *k)
{
	for (size_t i = 0; i < k->n_values; i++)
		if (k->values[i].type == SONDE_CELL_TEXT)
			free((char *)k->values[i].text);
	free(k->values);
}

/* Marks what the condition holds for; one more than there are, for numbers that do not exist. */
static int mark(query_cursor *c, const condition *k)
{
	column_of of = k->column->of;
	size_t n = n_of(c, of);
	uint8_t **marks = &c->filter.marks[of];

	if (!*marks) {
		*marks = malloc(n + 1);
		if (!*marks)
			return SQLITE_NOMEM;
		memset(*marks, 1, n + 1);
	}
	for (size_t i = 0; i <= n; i++) {
		query_cell cell = { 0 };

		if (!(*marks)[i])
			continue;
		k->column->get(c, i, k->column->which, &cell);
		(*marks)[i] = holds(k, &cell);
		if (i % 4096 == 4095 && query_is_stopped(c->query))
			return SQLITE_INTERRUPT;
	}
	return SQLITE_OK;
}

static int take_condition(query_cursor *c, const query_column *column, char op, sqlite3_value *value)
{
	condition k = { .column = column, .op = op };
	int code = make_condition(&k, value);

	if (!code && !k.n_values && !k.is_open && !strchr("01", op))
		c->filter.is_empty = true; /* compared with NULL */
	if (k.n_values > 1)
		qsort(k.values, k.n_values, sizeof k.values[0], compare_cells);
	if (!code && !c->filter.is_empty)
		code = mark(c, &k);
	condition_done(&k);
	return code;
}

int filter_make(query_cursor *c, int argc, sqlite3_value **argv)
{
	query_filter *f = &c->filter;
	int code = SQLITE_OK;

	filter_done(f);
	for (size_t i = 0; i < N_KEYS; i++)
		f->keys[i] = (key_range){ INT64_MIN, INT64_MAX, false };
	for (size_t i = 0; i < c->plan.n_terms && (int)i < argc && !code && !f->is_empty; i++) {
		const plan_term *t = &c->plan.terms[i];
		const query_column *column = &c->table->columns[t->column];

		if (column->key == KEY_TEXT)
			code = take_text(f, argv[i]);
		else if (column->key)
			take_key(f, column->key, t->op, argv[i]);
		else
			code = take_condition(c, column, t->op, argv[i]);
	}
	return code;
}
