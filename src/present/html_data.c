/* A result as the JSON that web/src/report/main.tsx shows. See html.h. */
#include "present/html.h"

#include <string.h>

static void put_text(json_writer *w, const char *key, const char *text, size_t max)
{
	json_key(w, key);
	w->max_text = max;
	json_string(w, text);
	w->max_text = PAGE_NAME;
}

static void put_values(json_writer *w, const result_value *value)
{
	json_key(w, "values");
	json_begin_array(w);
	for (; value; value = value->next) {
		json_begin_array(w);
		json_string(w, value->key);
		json_put_cell(w, &value->value);
		json_end_array(w);
	}
	json_end_array(w);
}

/* null where there can be none: an empty list says something. Returns how many there are. */
static size_t put_findings(json_writer *w, const sonde_result *result)
{
	size_t n = 0;

	json_key(w, "findings");
	if (!result->has_findings) {
		json_null(w);
		return 0;
	}
	w->max_text = PAGE_SENTENCE;
	json_begin_array(w);
	for (; n < result->n_findings && n < PAGE_FINDINGS && w->n_bytes < PAGE_BUDGET; n++)
		json_put_finding(w, result->findings[n]);
	json_end_array(w);
	w->max_text = PAGE_NAME;
	return n;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

typedef struct rows_to {
	json_writer *w;
	const table *table;
	size_t n;
} rows_to;

static void put_row(void *context, size_t row)
{
	rows_to *to = context;
	const table *t = to->table;

	if (to->w->n_bytes >= PAGE_BUDGET)
		return;
	to->n++;
	json_line(to->w);
	json_begin_array(to->w);
	for (size_t i = 0; i < t->n_columns; i++) {
		cell c = table_cell(t, row, i);
		json_put_cell(to->w, &c);
	}
	json_end_array(to->w);
}

static void put_depths(json_writer *w, const table *t, size_t n)
{
	json_key(w, "depths");
	if (!table_is_tree(t)) {
		json_null(w);
		return;
	}
	json_begin_array(w);
	for (size_t i = 0; i < n; i++)
		json_u64(w, table_depth(t, i));
	json_end_array(w);
}

/* Where the data are that the page leaves out. */
static void put_cut(json_writer *w, const table *t, size_t n)
{
	char text[PAGE_TITLE], shown[NUMBER_TEXT], all[NUMBER_TEXT];

	if (n == t->n_rows)
		return;
	snprintf(text, sizeof text, "This page has %s of %s rows%s; --csv --table %.*s has all.",
		 format_count(shown, n), format_count(all, t->n_rows),
		 t->chart.kind != CHART_NONE ? ", those in the chart" : "", PAGE_NAME, t->key);
	put_text(w, "cut", text, PAGE_TITLE);
}

static void put_table(json_writer *w, const table *t)
{
	rows_to to = { .w = w, .table = t };

	json_begin_object(w);
	json_put_view(w, t);
	json_key(w, "rows");
	json_begin_array(w);
	html_rows_each(t, put_row, &to);
	json_end_array(w);
	put_depths(w, t, to.n);
	put_cut(w, t, to.n);
	json_end_object(w);
}

static void put_written(json_writer *w, size_t n_findings, size_t n_all)
{
	char cut[128] = "", text[PAGE_TITLE];

	if (n_findings < n_all)
		snprintf(cut, sizeof cut, "This page has the first %zu of %zu findings; --json has all. ", n_findings,
			 n_all);
	snprintf(text, sizeof text, "%sWritten by sonde " SONDE_VERSION ". This page is self-contained.", cut);
	put_text(w, "written", text, PAGE_TITLE);
}

void html_data_print(const sonde_result *result, FILE *out)
{
	json_writer w = json_to(out);

	w.in_page = true;
	w.max_text = PAGE_NAME;
	json_begin_object(&w);
	put_text(&w, "name", result->name, PAGE_NAME);
	put_text(&w, "headline", html_headline(result), PAGE_TITLE);
	put_values(&w, result->values);
	size_t n_findings = put_findings(&w, result);
	json_key(&w, "tables");
	json_begin_array(&w);
	for (const table *t = result->tables; t; t = t->next)
		put_table(&w, t);
	json_end_array(&w);
	w.max_text = PAGE_SENTENCE;
	json_put_notes(&w, result->notes);
	json_key(&w, "flame");
	if (result->flame)
		json_raw(&w, result->flame, strlen(result->flame));
	else
		json_null(&w);
	put_written(&w, n_findings, result->n_findings);
	json_end_object(&w);
}
