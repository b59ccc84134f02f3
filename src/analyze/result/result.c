#define _GNU_SOURCE /* qsort_r */
/*
 * See result.h. Lists keep the order in which things were added; they are short, so the end is found by walking. Rows
 * double into new arena memory: a table wastes at most as much as it holds, and everything goes at once in the end.
 */
#include "analyze/result/result.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROWS = 16 };

sonde_result *result_new(const char *name)
{
	sonde_result *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->name = arena_strdup(&r->arena, name);
	r->failed = !r->name;
	return r;
}

bool result_ok(const sonde_result *r)
{
	return r && !r->failed;
}

void sonde_result_free(sonde_result *r)
{
	if (!r)
		return;
	for (result_owned *o = r->owned; o; o = o->next)
		o->release(o->object);
	arena_done(&r->arena);
	free(r);
}

void result_take(sonde_result *r, sonde_result *from)
{
	result_value **values = &r->values;
	table **tables = &r->tables;
	result_note **notes = &r->notes;
	result_owned **owned = &r->owned;

	r->failed = r->failed || !result_ok(from);
	if (!from)
		return;
	while (*owned)
		owned = &(*owned)->next;
	*owned = from->owned;
	while (*values)
		values = &(*values)->next;
	while (*tables)
		tables = &(*tables)->next;
	while (*notes)
		notes = &(*notes)->next;
	*values = from->values;
	*tables = from->tables;
	*notes = from->notes;
	arena_take(&r->arena, &from->arena);
	free(from);
}

/* Memory of the result, NULL after out of memory, now or before. */
static void *allocate(sonde_result *r, size_t n, size_t size)
{
	size_t bytes;
	void *memory = NULL;

	if (!result_ok(r))
		return NULL;
	if (!__builtin_mul_overflow(n, size, &bytes))
		memory = arena_alloc(&r->arena, bytes);
	r->failed = !memory;
	return memory;
}

void result_own(sonde_result *r, void (*release)(void *object), void *object)
{
	result_owned *owned = allocate(r, 1, sizeof *owned);

	if (!owned) {
		release(object);
		return;
	}
	*owned = (result_owned){ release, object, r->owned };
	r->owned = owned;
}

const char *result_string(sonde_result *r, const char *text)
{
	size_t len = text ? strlen(text) + 1 : 0;
	char *copy = len ? allocate(r, len, 1) : NULL;

	return copy ? memcpy(copy, text, len) : NULL;
}

static const char *format_string(sonde_result *r, const char *format, va_list args)
{
	if (!result_ok(r))
		return NULL;
	const char *text = arena_vprintf(&r->arena, format, args);
	r->failed = !text;
	return text;
}

const char *result_format(sonde_result *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	const char *text = format_string(r, format, args);
	va_end(args);
	return text;
}

void result_headline(sonde_result *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	const char *text = format_string(r, format, args);
	va_end(args);
	if (text)
		r->headline = text;
}

void result_answer(sonde_result *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	const char *text = format_string(r, format, args);
	va_end(args);
	if (!text)
		return;
	r->headline = text;
	r->headline_wraps = true;
}

void result_add(sonde_result *r, const char *key, cell value)
{
	result_value *added = allocate(r, 1, sizeof *added);

	if (!added)
		return;
	added->key = result_string(r, key);
	added->value = value;
	if (value.type == CELL_STRING)
		added->value.string = result_string(r, value.string);
	if (!result_ok(r))
		return;
	result_value **end = &r->values;
	while (*end)
		end = &(*end)->next;
	*end = added;
}

void result_note_add(sonde_result *r, const char *label, const char *format, ...)
{
	result_note *added = allocate(r, 1, sizeof *added);
	va_list args;

	if (!added)
		return;
	va_start(args, format);
	added->text = format_string(r, format, args);
	va_end(args);
	added->label = result_string(r, label);
	if (!result_ok(r))
		return;
	result_note **end = &r->notes;
	while (*end)
		end = &(*end)->next;
	*end = added;
}

table *result_table(sonde_result *r, const char *key, const char *title, const column *columns, size_t n_columns)
{
	table *t = allocate(r, 1, sizeof *t);

	assert(n_columns <= RESULT_MAX_COLUMNS);
	if (!t)
		return NULL;
	t->key = result_string(r, key);
	t->title = result_string(r, title);
	t->columns = columns;
	t->n_columns = n_columns;
	t->n_shown = SIZE_MAX;
	if (!result_ok(r))
		return NULL;
	table **end = &r->tables;
	while (*end)
		end = &(*end)->next;
	*end = t;
	return t;
}

static size_t column_named(const table *t, const char *key)
{
	size_t i = 0;

	while (i < t->n_columns && strcmp(t->columns[i].key, key) != 0)
		i++;
	return i;
}

void table_chart(table *t, chart_kind kind, const char *x, const char *y, const char *series)
{
	if (!t)
		return;
	size_t x_at = column_named(t, x), y_at = column_named(t, y);
	size_t series_at = series ? column_named(t, series) : SIZE_MAX;
	if (x_at < t->n_columns && y_at < t->n_columns && (!series || series_at < t->n_columns))
		t->chart = (chart){ .kind = kind, .x = x_at, .y = y_at, .series = series_at };
}

void table_parts(table *t, const char *const *keys)
{
	for (; t && *keys && t->n_parts < PARTS_MAX; keys++) {
		size_t at = column_named(t, *keys);
		if (at < t->n_columns)
			t->parts[t->n_parts++] = (uint8_t)at;
	}
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const cell *x = a, *y = b;
	size_t by = *(const size_t *)context;

	if (x[by].integer != y[by].integer)
		return x[by].integer > y[by].integer ? -1 : 1;
	return x[0].type == CELL_STRING && y[0].type == CELL_STRING ? strcmp(x[0].string, y[0].string) : 0;
}

void table_sort(table *t, size_t by)
{
	if (t && t->n_rows)
		qsort_r(t->cells, t->n_rows, t->n_columns * sizeof *t->cells, compare_rows, &by);
}

void table_make(table *t, size_t n_rows, uint8_t *depths, cell (*make)(const void *, size_t, size_t),
		const void *context)
{
	if (!t)
		return;
	t->n_rows = n_rows;
	t->depths = depths;
	t->make = make;
	t->context = context;
}

static bool grow(sonde_result *r, table *t)
{
	size_t capacity = t->capacity ? t->capacity * 2 : FIRST_ROWS;
	cell *cells = allocate(r, capacity, t->n_columns * sizeof *cells);
	uint8_t *depths = allocate(r, capacity, 1);

	if (!cells || !depths)
		return false;
	if (t->n_rows) {
		memcpy(cells, t->cells, t->n_rows * t->n_columns * sizeof *cells);
		memcpy(depths, t->depths, t->n_rows);
	}
	t->cells = cells;
	t->depths = depths;
	t->capacity = capacity;
	return true;
}

/* Where the cells of a row go that nobody will see. Per thread, since its content does not matter but races do. */
static cell *dummy_row(void)
{
	static __thread cell cells[RESULT_MAX_COLUMNS];

	return cells;
}

cell *table_row(sonde_result *r, table *t, unsigned depth)
{
	if (!t || !result_ok(r) || (t->n_rows == t->capacity && !grow(r, t)))
		return dummy_row();
	cell *row = t->cells + t->n_rows * t->n_columns;
	t->depths[t->n_rows++] = (uint8_t)(depth > UINT8_MAX ? UINT8_MAX : depth);
	return row;
}
