/*
 * A result as CSV (RFC 4180, CRLF): the column keys, then every row of the first table. A tree gets a last column
 * "depth". A result without tables becomes one row of its single values.
 *
 * Spreadsheets run what looks like a formula, so a string that begins like one gets a leading apostrophe. Control
 * characters and bytes that are not UTF-8 become U+FFFD: the output may well be looked at on a terminal.
 */
#include "present/present.h"

#include <inttypes.h>
#include <string.h>

#include "base/format_number.h"
#include "base/utf8.h"

static void put_clean(FILE *out, const char *text)
{
	for (size_t len = strlen(text); len > 0;) {
		uint32_t code = 0;
		size_t n = utf8_decode(text, len, &code);
		bool is_space = code == '\t' || code == '\n' || code == '\r';

		if (n == 0 || (utf8_is_control(code) && !is_space))
			fputs("\xef\xbf\xbd", out);
		else
			fwrite(text, 1, n, out);
		if (code == '"')
			fputc('"', out);
		n = n ? n : 1;
		text += n;
		len -= n;
	}
}

static void put_string(FILE *out, const char *text)
{
	bool is_formula = text[0] && strchr("=+-@\t\r", text[0]);
	bool is_quoted = is_formula || strpbrk(text, ",\"\r\n") || text[0] == ' ';

	if (is_quoted)
		fputc('"', out);
	if (is_formula)
		fputc('\'', out);
	put_clean(out, text);
	if (is_quoted)
		fputc('"', out);
}

static void put_cell(FILE *out, const cell *c)
{
	char text[NUMBER_TEXT];

	switch (c->type) {
	case CELL_UNKNOWN:
		break;
	case CELL_STRING:
		put_string(out, c->string);
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
			if (i)
				fputc(',', out);
			put_cell(out, &t->cells[row * t->n_columns + i]);
		}
		if (is_tree)
			fprintf(out, ",%u", t->depths[row]);
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

void csv_print(const sonde_result *result, const sonde_print_options *options, FILE *out)
{
	(void)options;
	if (result->tables)
		put_table(out, result->tables);
	else
		put_values(out, result->values);
}
