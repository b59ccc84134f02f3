/*
 * What an analysis gives: a headline, single values, tables of typed cells, findings, and notes. Presenters turn it
 * into text, JSON, CSV, Markdown or HTML and know nothing of where it came from.
 *
 *   result_new("report")                 schema "sonde.report/1"
 *   result_headline()                    the first line for a person
 *   result_value_*()                     single values, in JSON only
 *   result_table(), table_row(), cell_*  tables; strings are copied
 *   table_chart()                        a table that is also drawn
 *   result_finding(), finding_*()        what is worth changing; result_rank_findings() puts them in order
 *   result_note_add()                    a line below the tables: "memory    cpu peak 312 MiB at 4.81 s"
 *
 *   result_own()                         something else that is released with the result
 *   table_cell()                         one cell, for presenters
 *
 * All memory belongs to the result's arena, or is owned. A table of very many rows has no cells of its own: it makes
 * them when they are asked for (table_make()). Building never fails visibly: after out of memory result_ok() is false
 * and further calls do nothing.
 */
#ifndef SONDE_ANALYZE_RESULT_RESULT_H
#define SONDE_ANALYZE_RESULT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include <sonde/analyze.h>

enum { RESULT_MAX_COLUMNS = 64 }; /* of a table */

typedef enum cell_type {
	CELL_UNKNOWN, /* "-" for people, null in JSON, empty in CSV */
	CELL_STRING,
	CELL_COUNT,   /* uint64: 31,744 */
	CELL_INTEGER, /* int64, printed as it is: a step number */
	CELL_NS,      /* int64 nanoseconds */
	CELL_BYTES,   /* uint64 */
	CELL_PERCENT, /* double, 0..100 */
	CELL_NUMBER,  /* double */
	CELL_BOOL,
} cell_type;

typedef struct cell {
	cell_type type;
	union {
		const char *string;
		uint64_t count;
		int64_t integer; /* also nanoseconds */
		double number;	 /* also percent */
		bool truth;
	};
} cell;

typedef struct column {
	const char *key;    /* in JSON and CSV, with its unit: "total_ns" */
	const char *header; /* for people: "total" */
	cell_type type;
	int priority; /* 0: always shown; higher ones go first when the terminal is narrow; -1: never shown in text */
	bool bar;     /* a percent column that also gets a bar where there is room */
} column;

/* How a table is drawn where there is room for drawings. */
typedef enum chart_kind {
	CHART_NONE,
	CHART_LINE,  /* values over x */
	CHART_STEPS, /* a value holds until the next: queue lengths, memory */
	CHART_BARS,  /* one bar for each x: steps */
} chart_kind;

typedef struct chart {
	chart_kind kind;
	size_t x, y;   /* columns of numbers */
	size_t series; /* a column whose values tell several lines apart; SIZE_MAX: one line */
} chart;

enum { PARTS_MAX = 6 };

typedef struct sonde_table {
	const char *key;   /* in JSON: "names" */
	const char *title; /* above the table in text; NULL: none */
	const column *columns;
	size_t n_columns;
	cell *cells;	 /* n_rows x n_columns, row by row; NULL where `make` makes them */
	uint8_t *depths; /* indentation of the first column, one per row; NULL: none is indented */
	cell (*make)(const void *context, size_t row, size_t at);
	const void *context; /* of make */
	size_t n_rows;
	size_t capacity;
	size_t n_shown;	  /* rows in text, the rest is summed up in `more`; SIZE_MAX, at first: all; 0: no table */
	const char *more; /* a line below the rows, "14 more names: --top all"; NULL: none */
	chart chart;
	uint8_t parts[PARTS_MAX]; /* columns that add up to a row's bar */
	size_t n_parts;
	struct sonde_table *next;
} table;

typedef struct result_value {
	const char *key;
	cell value;
	struct result_value *next;
} result_value;

typedef struct result_note {
	const char *label; /* "memory", "lost", "note" */
	const char *text;
	struct result_note *next;
} result_note;

/* Something that is not in the arena. */
typedef struct result_owned {
	void (*release)(void *object);
	void *object;
	struct result_owned *next;
} result_owned;

struct sonde_result {
	arena arena;
	result_owned *owned;
	const char *name;     /* "report" */
	const char *headline; /* NULL: none */
	const char *summary;  /* one sentence about the analysis, static; NULL: none */
	bool headline_wraps;  /* a sentence, which goes on in the next line; else it is cut in the middle */
	result_value *values;
	table *tables; /* the first one is what CSV prints when there can be no findings */
	result_note *notes;
	const char *flame; /* a flame graph for a page, as JSON, of sonde_flame_add(); NULL: none */
	sonde_finding **findings;
	size_t n_findings;
	size_t n_findings_shown; /* in text; 0: all */
	bool has_findings;	 /* there may be findings, even if there are none: an empty list says something */
	bool failed;
};

sonde_result *result_new(const char *name);
bool result_ok(const sonde_result *r);
/* Puts the values, tables and notes of `from` behind those of r, and frees it. NULL stands for one that failed. */
void result_take(sonde_result *r, sonde_result *from);
/* release(object) is called when the result is freed, in the reverse order of the calls; at once after out of memory.
 */
void result_own(sonde_result *r, void (*release)(void *object), void *object);
const char *result_string(sonde_result *r, const char *text); /* a copy in the arena; NULL stays NULL */
const char *result_format(sonde_result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void result_headline(sonde_result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A headline that is a sentence and is never cut. */
void result_answer(sonde_result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void result_add(sonde_result *r, const char *key, cell value); /* a single value */
void result_note_add(sonde_result *r, const char *label, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* columns are static. */
table *result_table(sonde_result *r, const char *key, const char *title, const column *columns, size_t n_columns);
/* Appends a row of n_columns unknown cells to fill in; never NULL (a dummy row after out of memory). */
cell *table_row(sonde_result *r, table *t, unsigned depth);
/* Gives an empty table n_rows rows whose cells are made when they are asked for, again each time: make(context, row,
   column), from any thread. depths: as in the table. What context and depths point to lives as long as the result. */
void table_make(table *t, size_t n_rows, uint8_t *depths, cell (*make)(const void *, size_t, size_t),
		const void *context);
static inline cell table_cell(const table *t, size_t n, size_t at)
{
	return t->make ? t->make(t->context, n, at) : t->cells[n * t->n_columns + at];
}
static inline unsigned table_depth(const table *t, size_t n)
{
	return t->depths ? t->depths[n] : 0;
}
/* By a column of integers, the largest first, then by the first column; not for trees. */
void table_sort(table *t, size_t by);
/* Columns by their keys; series may be NULL. A key that the table does not have is ignored, and so is the chart. */
void table_chart(table *t, chart_kind kind, const char *x, const char *y, const char *series);
/* Each row is also drawn as a bar, and these columns are its parts; keys ends with NULL. */
void table_parts(table *t, const char *const *keys);

/* ---- Findings; findings.c ---------------------------------------------------------------------------------------- */

/* Says that this result is one that has findings, if there are any. */
void result_expect_findings(sonde_result *r);
/* Adds one that has no evidence yet, loses nobody knows how much, and is certain; never NULL (a dummy after out of
   memory). rule is static. The caller sets seconds_lost, share, confidence, times, steps and rank. */
sonde_finding *result_finding(sonde_result *r, const char *rule, sonde_severity severity, const char *title_format, ...)
	__attribute__((format(printf, 4, 5)));
void finding_lost(sonde_finding *f, int64_t lost_ns, int64_t of_ns);		  /* seconds_lost and share */
void finding_evidence(sonde_result *r, sonde_finding *f, const char *format, ...) /* one sentence, with its full stop */
	__attribute__((format(printf, 3, 4)));
void finding_suggest(sonde_result *r, sonde_finding *f, const char *format, ...) __attribute__((format(printf, 3, 4)));
void finding_affects(sonde_result *r, sonde_finding *f, const char *name); /* each name once */
void finding_slice(sonde_result *r, sonde_finding *f, uint64_t slice_id);
void finding_time(sonde_finding *f, int64_t from_ns, int64_t to_ns); /* grows the range that is there */
void finding_steps(sonde_finding *f, int64_t first, int64_t last);
/* By seconds lost, the most first; those of which nobody knows after them; equals by severity and rule. */
void result_rank_findings(sonde_result *r);

static inline cell cell_unknown(void)
{
	return (cell){ .type = CELL_UNKNOWN };
}
static inline cell cell_string(const char *text)
{
	return text ? (cell){ .type = CELL_STRING, .string = text } : cell_unknown();
}
static inline cell cell_count(uint64_t n)
{
	return (cell){ .type = CELL_COUNT, .count = n };
}
static inline cell cell_integer(int64_t i)
{
	return (cell){ .type = CELL_INTEGER, .integer = i };
}
static inline cell cell_ns(int64_t ns)
{
	return (cell){ .type = CELL_NS, .integer = ns };
}
static inline cell cell_bytes(uint64_t bytes)
{
	return (cell){ .type = CELL_BYTES, .count = bytes };
}
static inline cell cell_percent(double percent)
{
	return (cell){ .type = CELL_PERCENT, .number = percent };
}
static inline cell cell_number(double number)
{
	return (cell){ .type = CELL_NUMBER, .number = number };
}
static inline cell cell_bool(bool truth)
{
	return (cell){ .type = CELL_BOOL, .truth = truth };
}

#endif
