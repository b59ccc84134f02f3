/*
 * A result as CSV (RFC 4180, CRLF): the column keys, then every row of one table: the one that was asked for, else the
 * findings, else the first. A tree gets a last column "depth". A result without tables becomes one row of its single
 * values.
 */
#include "present/present.h"

#include <inttypes.h>
#include <string.h>

#include "base/csv_write.h"
#include "base/format_number.h"

static void put_cell(FILE *out, const cell *c)
{
	char text[NUMBER_TEXT];

	switch (c->type) {
	case CELL_UNKNOWN:
		break;
	case CELL_STRING:
		csv_put(out, c->string, strlen(c->string));
		break;
	case CELL_COUNT:
	case CELL_BYTES:
		fprintf(out, "%" PRIu64, c->count);
		break;
	case CELL_INTEGER:
	case CELL_NS:
		fprintf(out, "%" PRId64, c->integer);
		break;
	case CELL_PERCENT:
	case CELL_NUMBER:
		fputs(format_exact(text, c->number), out);
		break;
	case CELL_BOOL:
		fputs(c->truth ? "true" : "false", out);
		break;
	}
}

static void put_table(FILE *out, const table *t)
{
	bool is_tree = table_is_tree(t);

	for (size_t i = 0; i < t->n_columns; i++)
		fprintf(out, "%s%s", i ? "," : "", t->columns[i].key);
	fputs(is_tree ? ",depth\r\n" : "\r\n", out);
	for (size_t row = 0; row < t->n_rows; row++) {
		for (size_t i = 0; i < t->n_columns; i++) {
			cell c = table_cell(t, row, i);
			if (i)
				fputc(',', out);
			put_cell(out, &c);
		}
		if (is_tree)
			fprintf(out, ",%u", table_depth(t, row));
		fputs("\r\n", out);
	}
}

static void put_values(FILE *out, const result_value *values)
{
	for (const result_value *v = values; v; v = v->next)
		fprintf(out, "%s%s", v->key, v->next ? "," : "\r\n");
	for (const result_value *v = values; v; v = v->next) {
		put_cell(out, &v->value);
		fputs(v->next ? "," : "\r\n", out);
	}
}

static void put_finding(FILE *out, const sonde_finding *f)
{
	cell lost = f->seconds_lost < 0 ? cell_unknown() : cell_number(f->seconds_lost);
	cell share = f->share < 0 ? cell_unknown() : cell_number(f->share);
	const cell cells[] = {
		cell_string(f->rule),
		cell_string(sonde_severity_name(f->severity)),
		lost,
		share,
		cell_number(f->confidence),
		cell_string(f->title),
		cell_string(f->suggestion),
		f->rank < 0 ? cell_unknown() : cell_integer(f->rank),
		f->has_steps ? cell_integer(f->first_step) : cell_unknown(),
		f->has_steps ? cell_integer(f->last_step) : cell_unknown(),
		f->has_time ? cell_ns(f->from_ns) : cell_unknown(),
		f->has_time ? cell_ns(f->to_ns) : cell_unknown(),
	};

	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
		put_cell(out, &cells[i]);
		fputc(',', out);
	}
	csv_put_texts(out, f->evidence, f->n_evidence, " ");
	fputc(',', out);
	csv_put_texts(out, f->affected, f->n_affected, "; ");
	fputs("\r\n", out);
}

static void put_findings(FILE *out, const sonde_result *result)
{
	fputs("rule,severity,seconds_lost,share,confidence,title,suggestion,rank,first_step,last_step,from_ns,to_ns,"
	      "evidence,affected\r\n",
	      out);
	for (size_t i = 0; i < result->n_findings; i++)
		put_finding(out, result->findings[i]);
}

void csv_print(const sonde_result *result, const sonde_print_options *options, FILE *out)
{
	const table *asked = options->table ? sonde_result_find_table(result, options->table) : NULL;

	if (asked)
		put_table(out, asked);
	else if (result->has_findings)
		put_findings(out, result);
	else if (result->tables)
		put_table(out, result->tables);
	else
		put_values(out, result->values);
}
