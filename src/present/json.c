/* A result as one JSON object: schema, single values, every row of every table, notes. See docs/sonde-report.md. */
#include "present/present.h"

#include "base/json_write.h"

static void put_cell(json_writer *w, const cell *c)
{
	switch (c->type) {
	case CELL_UNKNOWN:
		json_null(w);
		break;
	case CELL_STRING:
		json_string(w, c->string);
		break;
	case CELL_COUNT:
	case CELL_BYTES:
		json_u64(w, c->count);
		break;
	case CELL_INTEGER:
	case CELL_NS:
		json_i64(w, c->integer);
		break;
	case CELL_PERCENT:
	case CELL_NUMBER:
		json_f64(w, c->number);
		break;
	case CELL_BOOL:
		json_bool(w, c->truth);
		break;
	}
}

static void put_schema(json_writer *w, const char *name)
{
	char schema[128];

	snprintf(schema, sizeof schema, "sonde.%s/1", name);
	json_line(w);
	json_key(w, "schema");
	json_string(w, schema);
}

static void put_table(json_writer *w, const table *t)
{
	bool is_tree = table_is_tree(t);

	json_line(w);
	json_key(w, t->key);
	json_begin_array(w);
	for (size_t row = 0; row < t->n_rows; row++) {
		json_line(w);
		json_begin_object(w);
		for (size_t i = 0; i < t->n_columns; i++) {
			json_key(w, t->columns[i].key);
			put_cell(w, &t->cells[row * t->n_columns + i]);
		}
		if (is_tree) {
			json_key(w, "depth");
			json_u64(w, t->depths[row]);
		}
		json_end_object(w);
	}
	if (t->n_rows)
		json_line(w);
	json_end_array(w);
}

static void put_notes(json_writer *w, const result_note *notes)
{
	json_line(w);
	json_key(w, "notes");
	json_begin_array(w);
	for (const result_note *note = notes; note; note = note->next) {
		json_line(w);
		json_begin_object(w);
		json_key(w, "label");
		json_string(w, note->label);
		json_key(w, "text");
		json_string(w, note->text);
		json_end_object(w);
	}
	if (notes)
		json_line(w);
	json_end_array(w);
}

void json_print(const sonde_result *result, const sonde_print_options *options, FILE *out)
{
	json_writer w = json_to(out);

	(void)options;
	json_begin_object(&w);
	put_schema(&w, result->name);
	for (const result_value *value = result->values; value; value = value->next) {
		json_line(&w);
		json_key(&w, value->key);
		put_cell(&w, &value->value);
	}
	for (const table *t = result->tables; t; t = t->next)
		put_table(&w, t);
	put_notes(&w, result->notes);
	json_line(&w);
	json_end_object(&w);
	fputc('\n', out);
}
