/* See query_print.h. */
#include "cli/query_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/csv_write.h"
#include "base/error.h"
#include "base/format_number.h"
#include "base/json_write.h"
#include "base/screen_text.h"
#include "base/vec.h"

enum { FIRST_ROWS = 200, FIRST_BYTES = 4 << 20, MARGIN = 1, GAP = 2, TEXT_LEAST = 8 };

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static void put_hex(FILE *out, const sonde_cell *cell)
{
	for (size_t i = 0; i < cell->len; i++)
		fprintf(out, "%02x", (unsigned char)cell->text[i]);
}

static void put_csv(FILE *out, const sonde_cell *cell)
{
	char number[NUMBER_TEXT];

	switch (cell->type) {
	case SONDE_CELL_NULL:
		break;
	case SONDE_CELL_INTEGER:
		fprintf(out, "%" PRId64, cell->integer);
		break;
	case SONDE_CELL_REAL:
		fputs(format_exact(number, cell->real), out);
		break;
	case SONDE_CELL_TEXT:
		csv_put(out, cell->text, cell->len);
		break;
	case SONDE_CELL_BLOB:
		put_hex(out, cell);
		break;
	}
}

static void put_json(json_writer *w, const sonde_cell *cell)
{
	switch (cell->type) {
	case SONDE_CELL_NULL:
		json_null(w);
		break;
	case SONDE_CELL_INTEGER:
		json_i64(w, cell->integer);
		break;
	case SONDE_CELL_REAL:
		json_f64(w, cell->real);
		break;
	case SONDE_CELL_TEXT:
		json_stringn(w, cell->text, cell->len);
		break;
	case SONDE_CELL_BLOB:
		json_raw(w, "\"", 1);
		put_hex(w->out, cell);
		fputc('"', w->out);
		break;
	}
}

/* ---- CSV, JSON --------------------------------------------------------------------------------------------------- */

/* The next row; false at the end, when it failed, and when nobody takes what is written. */
static bool next_row(sonde_query *q, FILE *out, sonde_status *status, uint64_t *n_rows, sonde_error *err)
{
	bool is_row = false;

	if (!ferror(out))
		*status = sonde_query_step(q, &is_row, err);
	*n_rows += is_row;
	return is_row;
}

static sonde_status print_csv(sonde_query *q, FILE *out, uint64_t *n_rows, sonde_error *err)
{
	size_t n = sonde_query_n_columns(q);
	sonde_status status = SONDE_OK;

	for (size_t i = 0; i < n; i++) {
		const char *name = sonde_query_column(q, i);
		fputs(i ? "," : "", out);
		csv_put(out, name, strlen(name));
	}
	fputs("\r\n", out);
	while (next_row(q, out, &status, n_rows, err)) {
		for (size_t i = 0; i < n; i++) {
			sonde_cell cell = sonde_query_cell(q, i);
			if (i)
				fputc(',', out);
			put_csv(out, &cell);
		}
		fputs("\r\n", out);
	}
	return status;
}

static sonde_status print_json(sonde_query *q, FILE *out, uint64_t *n_rows, sonde_error *err)
{
	json_writer w = json_to(out);
	size_t n = sonde_query_n_columns(q);
	sonde_status status = SONDE_OK;

	json_begin_object(&w);
	json_line(&w), json_key(&w, "schema"), json_string(&w, "sonde.query/1");
	json_line(&w), json_key(&w, "columns"), json_begin_array(&w);
	for (size_t i = 0; i < n; i++)
		json_string(&w, sonde_query_column(q, i));
	json_end_array(&w);
	json_line(&w), json_key(&w, "rows"), json_begin_array(&w);
	while (next_row(q, out, &status, n_rows, err)) {
		json_line(&w), json_begin_array(&w);
		for (size_t i = 0; i < n; i++) {
			sonde_cell cell = sonde_query_cell(q, i);
			put_json(&w, &cell);
		}
		json_end_array(&w);
	}
	json_line(&w), json_end_array(&w);
	json_line(&w), json_end_object(&w);
	fputc('\n', out);
	return status;
}

/* ---- A table ----------------------------------------------------------------------------------------------------- */

typedef struct text_cell {
	const char *text;
	size_t len;
	bool is_number;
} text_cell;

typedef struct text_column {
	unsigned width;
	bool is_text; /* stands at the left */
} text_column;

typedef struct text_table {
	FILE *out;
	sonde_print_options look;
	size_t n_columns;
	text_column *columns;
	text_cell *row; /* one row, whose texts are the query's or in numbers */
	char (*numbers)[NUMBER_TEXT];
} text_table;

/* Text that is neither the query's nor static lies in `number`. */
static text_cell text_of(const sonde_cell *cell, char *number)
{
	text_cell t = { .text = "-", .len = 1 };

	switch (cell->type) {
	case SONDE_CELL_NULL:
		break;
	case SONDE_CELL_INTEGER:
		snprintf(number, NUMBER_TEXT, "%" PRId64, cell->integer);
		t = (text_cell){ number, strlen(number), true };
		break;
	case SONDE_CELL_REAL:
		format_exact(number, cell->real);
		if (!*number) /* is infinite */
			snprintf(number, NUMBER_TEXT, "%s", cell->real < 0 ? "-inf" : "inf");
		t = (text_cell){ number, strlen(number), true };
		break;
	case SONDE_CELL_TEXT:
		t = (text_cell){ cell->text, cell->len, false };
		break;
	case SONDE_CELL_BLOB:
		snprintf(number, NUMBER_TEXT, "(%zu bytes)", cell->len);
		t = (text_cell){ number, strlen(number), false };
		break;
	}
	return t;
}

static void read_row(const sonde_query *q, text_table *t)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		sonde_cell cell = sonde_query_cell(q, i);
		t->row[i] = text_of(&cell, t->numbers[i]);
	}
}

static void measure(text_table *t, const text_cell *row)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		unsigned width = screen_columnsn(row[i].text, row[i].len, t->look.utf8);

		t->columns[i].width = width > t->columns[i].width ? width : t->columns[i].width;
		t->columns[i].is_text |= !row[i].is_number && !(row[i].len == 1 && row[i].text[0] == '-');
	}
}

/* The widest texts shrink until a row fits, down to TEXT_LEAST. Numbers stay, and no column goes. */
static void fit(text_table *t)
{
	unsigned width = MARGIN;

	for (size_t i = 0; i < t->n_columns; i++) {
		if (t->columns[i].is_text && t->columns[i].width > t->look.width)
			t->columns[i].width = t->look.width;
		width += t->columns[i].width + (i ? GAP : 0);
	}
	while (width > t->look.width) {
		text_column *widest = NULL;

		for (size_t i = 0; i < t->n_columns; i++)
			if (t->columns[i].is_text && t->columns[i].width > TEXT_LEAST &&
			    (!widest || t->columns[i].width > widest->width))
				widest = &t->columns[i];
		if (!widest)
			break;
		widest->width--;
		width--;
	}
}

/* screen_put_cut() wants a text that ends: one with a NUL inside is cut there. */
static unsigned put_text(const text_table *t, const text_cell *cell, unsigned width)
{
	if (cell->is_number)
		return screen_putn(t->out, cell->text, cell->len, t->look.utf8);
	return screen_put_cut(t->out, cell->text, width, t->look.utf8);
}

static void put_row(const text_table *t, const text_cell *row)
{
	unsigned pad = MARGIN;

	for (size_t i = 0; i < t->n_columns; i++) {
		unsigned width = t->columns[i].width;
		bool is_left = t->columns[i].is_text;
		unsigned needed = is_left ? 0 : screen_columnsn(row[i].text, row[i].len, t->look.utf8);

		screen_pad(t->out, pad + (!is_left && needed < width ? width - needed : 0));
		unsigned taken = put_text(t, &row[i], width);
		pad = GAP + (is_left && taken < width ? width - taken : 0);
	}
	fputc('\n', t->out);
}

static void put_header(const sonde_query *q, text_table *t)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		const char *name = sonde_query_column(q, i);
		t->row[i] = (text_cell){ name, strlen(name), false };
	}
	fputs(t->look.color ? "\033[1m" : "", t->out);
	put_row(t, t->row);
	fputs(t->look.color ? "\033[0m" : "", t->out);
}

/* The first rows, which the widths are taken from. */
typedef struct first_rows {
	arena texts;
	VEC(text_cell) cells;
	size_t n;
} first_rows;

static bool keep_row(first_rows *f, const text_table *t)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		text_cell *cell = VEC_ADD(&f->cells);
		char *copy = arena_strndup(&f->texts, t->row[i].text, t->row[i].len);

		if (!cell || !copy)
			return false;
		*cell = (text_cell){ copy, t->row[i].len, t->row[i].is_number };
	}
	f->n++;
	return true;
}

static sonde_status print_rows(sonde_query *q, text_table *t, first_rows *f, uint64_t *n_rows, sonde_error *err)
{
	sonde_status status = SONDE_OK;
	bool is_row = true;

	while (is_row && f->n < FIRST_ROWS && f->texts.n_bytes < FIRST_BYTES) {
		is_row = next_row(q, t->out, &status, n_rows, err);
		if (!is_row)
			break;
		read_row(q, t);
		measure(t, t->row);
		if (!keep_row(f, t))
			return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	}
	for (size_t i = 0; i < t->n_columns; i++) {
		unsigned width = screen_columns(sonde_query_column(q, i), t->look.utf8);
		t->columns[i].width = width > t->columns[i].width ? width : t->columns[i].width;
	}
	fit(t);
	put_header(q, t);
	for (size_t i = 0; i < f->n; i++)
		put_row(t, f->cells.items + i * t->n_columns);
	while (is_row && next_row(q, t->out, &status, n_rows, err)) {
		read_row(q, t);
		put_row(t, t->row);
	}
	if (*n_rows == 0 && !status)
		fputs(" (none)\n", t->out);
	return status;
}

static sonde_status print_table(sonde_query *q, const output *to, uint64_t *n_rows, sonde_error *err)
{
	size_t n = sonde_query_n_columns(q);
	first_rows first = { 0 };
	text_table t = {
		.out = to->stream,
		.look = output_look(to, to->stream),
		.n_columns = n,
		.columns = calloc(n, sizeof *t.columns),
		.row = calloc(n, sizeof *t.row),
		.numbers = calloc(n, sizeof *t.numbers),
	};
	sonde_status status = t.columns && t.row && t.numbers ? print_rows(q, &t, &first, n_rows, err)
							      : error_set(err, SONDE_E_MEMORY, -1, "out of memory");

	free(t.columns);
	free(t.row);
	free(t.numbers);
	VEC_DONE(&first.cells);
	arena_done(&first.texts);
	return status;
}

sonde_status query_print(sonde_query *q, const output *to, uint64_t *ret_n_rows, sonde_error *err)
{
	uint64_t ignored = 0;
	sonde_status status = SONDE_OK;

	*ret_n_rows = 0;
	if (!query_has_rows(q)) {
		next_row(q, to->stream, &status, &ignored, err);
		return status;
	}
	if (to->format == SONDE_CSV)
		return print_csv(q, to->stream, ret_n_rows, err);
	if (to->format == SONDE_JSON)
		return print_json(q, to->stream, ret_n_rows, err);
	return print_table(q, to, ret_n_rows, err);
}
