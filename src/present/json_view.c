/* What a page has to know of a table besides its rows; docs/api.md. */
#include "present/present.h"

static const char *type_name(cell_type type)
{
	static const char *const names[] = {
		[CELL_UNKNOWN] = "string",  [CELL_STRING] = "string", [CELL_COUNT] = "count",
		[CELL_INTEGER] = "integer", [CELL_NS] = "ns",	      [CELL_BYTES] = "bytes",
		[CELL_PERCENT] = "percent", [CELL_NUMBER] = "number", [CELL_BOOL] = "bool"
	};

	return names[type];
}

static void put_text(json_writer *w, const char *key, const char *text)
{
	json_key(w, key);
	json_string(w, text);
}

static void put_column(json_writer *w, const column *c)
{
	json_begin_object(w);
	put_text(w, "key", c->key);
	put_text(w, "header", c->header);
	put_text(w, "type", type_name(c->type));
	json_key(w, "bar");
	json_bool(w, c->bar);
	json_key(w, "hidden");
	json_bool(w, c->priority < 0);
	json_key(w, "priority");
	json_i64(w, c->priority);
	json_end_object(w);
}

static void put_chart(json_writer *w, const table *t)
{
	static const char *const kinds[] = { NULL, "line", "steps", "bars" };

	json_key(w, "chart");
	if (t->chart.kind == CHART_NONE) {
		json_null(w);
		return;
	}
	json_begin_object(w);
	put_text(w, "kind", kinds[t->chart.kind]);
	put_text(w, "x", t->columns[t->chart.x].key);
	put_text(w, "y", t->columns[t->chart.y].key);
	put_text(w, "series", t->chart.series < t->n_columns ? t->columns[t->chart.series].key : NULL);
	json_end_object(w);
}

void json_put_view(json_writer *w, const table *t)
{
	put_text(w, "key", t->key);
	put_text(w, "title", t->title);
	json_key(w, "columns");
	json_begin_array(w);
	for (size_t i = 0; i < t->n_columns; i++)
		put_column(w, &t->columns[i]);
	json_end_array(w);
	put_chart(w, t);
	json_key(w, "parts");
	json_begin_array(w);
	for (size_t i = 0; i < t->n_parts; i++)
		json_string(w, t->columns[t->parts[i]].key);
	json_end_array(w);
}
