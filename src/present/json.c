/* A result as one JSON object: schema, single values, findings, every row of every table, notes. See
 * docs/sonde-report.md. */
#include "present/present.h"

void json_put_cell(json_writer *w, const cell *c)
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
			cell c = table_cell(t, row, i);
			json_put_cell(w, &c);
		}
		if (is_tree) {
			json_key(w, "depth");
			json_u64(w, table_depth(t, row));
		}
		json_end_object(w);
	}
	if (t->n_rows)
		json_line(w);
	json_end_array(w);
}

static void put_texts(json_writer *w, const char *key, const char *const *texts, size_t n)
{
	json_key(w, key);
	json_begin_array(w);
	for (size_t i = 0; i < n; i++)
		json_string(w, texts[i]);
	json_end_array(w);
}

/* null where it is not known */
static void put_real(json_writer *w, const char *key, double value)
{
	json_key(w, key);
	if (value < 0)
		json_null(w);
	else
		json_f64(w, value);
}

static void put_integer(json_writer *w, const char *key, bool is_known, int64_t value)
{
	json_key(w, key);
	if (is_known)
		json_i64(w, value);
	else
		json_null(w);
}

void json_put_finding(json_writer *w, const sonde_finding *f)
{
	json_begin_object(w);
	json_key(w, "rule");
	json_string(w, f->rule);
	json_key(w, "severity");
	json_string(w, sonde_severity_name(f->severity));
	put_real(w, "seconds_lost", f->seconds_lost);
	put_real(w, "share", f->share);
	put_real(w, "confidence", f->confidence);
	json_key(w, "title");
	json_string(w, f->title);
	put_texts(w, "evidence", f->evidence, f->n_evidence);
	json_key(w, "suggestion");
	json_string(w, f->suggestion);
	put_texts(w, "affected", f->affected, f->n_affected);
	json_key(w, "slices");
	json_begin_array(w);
	for (size_t i = 0; i < f->n_slices; i++)
		json_u64(w, f->slices[i]);
	json_end_array(w);
	put_integer(w, "from_ns", f->has_time, f->from_ns);
	put_integer(w, "to_ns", f->has_time, f->to_ns);
	put_integer(w, "first_step", f->has_steps, f->first_step);
	put_integer(w, "last_step", f->has_steps, f->last_step);
	put_integer(w, "rank", f->rank >= 0, f->rank);
	json_end_object(w);
}

static void put_findings(json_writer *w, const sonde_result *result)
{
	json_line(w);
	json_key(w, "findings");
	json_begin_array(w);
	for (size_t i = 0; i < result->n_findings; i++) {
		json_line(w);
		json_put_finding(w, result->findings[i]);
	}
	if (result->n_findings)
		json_line(w);
	json_end_array(w);
}

void json_put_notes(json_writer *w, const result_note *notes)
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

void json_put_members(json_writer *w, const sonde_result *result)
{
	put_schema(w, result->name);
	for (const result_value *value = result->values; value; value = value->next) {
		json_line(w);
		json_key(w, value->key);
		json_put_cell(w, &value->value);
	}
	if (result->has_findings)
		put_findings(w, result);
	for (const table *t = result->tables; t; t = t->next)
		put_table(w, t);
	json_put_notes(w, result->notes);
}

void json_print(const sonde_result *result, const sonde_print_options *options, FILE *out)
{
	json_writer w = json_to(out);

	(void)options;
	json_begin_object(&w);
	json_put_members(&w, result);
	json_line(&w);
	json_end_object(&w);
	fputc('\n', out);
}
