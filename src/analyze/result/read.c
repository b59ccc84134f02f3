/* A result piece by piece, for programs: the functions of <sonde/analyze.h>. */
#include "analyze/result/result.h"

#include <string.h>

_Static_assert((int)CELL_UNKNOWN == SONDE_VALUE_UNKNOWN && (int)CELL_STRING == SONDE_VALUE_STRING &&
		       (int)CELL_COUNT == SONDE_VALUE_COUNT && (int)CELL_INTEGER == SONDE_VALUE_INTEGER &&
		       (int)CELL_NS == SONDE_VALUE_NS && (int)CELL_BYTES == SONDE_VALUE_BYTES &&
		       (int)CELL_PERCENT == SONDE_VALUE_PERCENT && (int)CELL_NUMBER == SONDE_VALUE_NUMBER &&
		       (int)CELL_BOOL == SONDE_VALUE_BOOL,
	       "the types of cells are those of values");

static sonde_value value_of(const cell *c)
{
	sonde_value v = { .type = (sonde_value_type)c->type };

	switch (c->type) {
	case CELL_UNKNOWN:
		break;
	case CELL_STRING:
		v.string = c->string;
		break;
	case CELL_COUNT:
	case CELL_BYTES:
		v.integer = c->count > INT64_MAX ? INT64_MAX : (int64_t)c->count;
		v.number = (double)c->count;
		break;
	case CELL_INTEGER:
	case CELL_NS:
		v.integer = c->integer;
		v.number = (double)c->integer;
		break;
	case CELL_PERCENT:
	case CELL_NUMBER:
		v.number = c->number;
		break;
	case CELL_BOOL:
		v.integer = c->truth;
		v.number = c->truth;
		break;
	}
	return v;
}

static const char *unit_of(cell_type type)
{
	return type == CELL_NS ? "ns" : type == CELL_BYTES ? "bytes" : type == CELL_PERCENT ? "%" : "";
}

const char *sonde_result_headline(const sonde_result *result)
{
	return result->headline;
}

sonde_value sonde_result_value(const sonde_result *result, const char *key)
{
	for (const result_value *v = result->values; v; v = v->next)
		if (strcmp(v->key, key) == 0)
			return value_of(&v->value);
	return (sonde_value){ .type = SONDE_VALUE_UNKNOWN };
}

bool sonde_result_value_at(const sonde_result *result, size_t index, const char **ret_key, sonde_value *ret_value)
{
	const result_value *v = result->values;

	for (; v && index > 0; index--)
		v = v->next;
	if (!v)
		return false;
	*ret_key = v->key;
	*ret_value = value_of(&v->value);
	return true;
}

bool sonde_result_note(const sonde_result *result, size_t index, const char **ret_label, const char **ret_text)
{
	const result_note *note = result->notes;

	for (; note && index > 0; index--)
		note = note->next;
	if (!note)
		return false;
	*ret_label = note->label;
	*ret_text = note->text;
	return true;
}

size_t sonde_result_n_tables(const sonde_result *result)
{
	size_t n = 0;

	for (const table *t = result->tables; t; t = t->next)
		n++;
	return n;
}

const sonde_table *sonde_result_table(const sonde_result *result, size_t index)
{
	const table *t = result->tables;

	for (; t && index > 0; index--)
		t = t->next;
	return t;
}

const sonde_table *sonde_result_find_table(const sonde_result *result, const char *key)
{
	const table *t = result->tables;

	while (t && strcmp(t->key, key) != 0)
		t = t->next;
	return t;
}

const char *sonde_table_key(const sonde_table *t)
{
	return t->key;
}

const char *sonde_table_title(const sonde_table *t)
{
	return t->title;
}

size_t sonde_table_n_rows(const sonde_table *t)
{
	return t->n_rows;
}

size_t sonde_table_n_columns(const sonde_table *t)
{
	return t->n_columns;
}

bool sonde_table_column(const sonde_table *t, size_t index, sonde_column *ret_column)
{
	if (index >= t->n_columns)
		return false;
	const column *c = &t->columns[index];
	*ret_column = (sonde_column){
		.key = c->key,
		.header = c->header,
		.unit = unit_of(c->type),
		.type = (sonde_value_type)c->type,
	};
	return true;
}

unsigned sonde_table_depth(const sonde_table *t, size_t row)
{
	return row < t->n_rows ? table_depth(t, row) : 0;
}

sonde_value sonde_table_cell(const sonde_table *t, size_t row, size_t at)
{
	if (row >= t->n_rows || at >= t->n_columns)
		return (sonde_value){ .type = SONDE_VALUE_UNKNOWN };
	cell c = table_cell(t, row, at);
	return value_of(&c);
}
