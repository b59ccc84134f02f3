/*
 * Which rows of a table a page has. A table that is too long and is drawn is cut into PLACES along x, and in each every
 * series keeps its first, least, greatest and last row: no peak is lost, and the size does not depend on the number of
 * rows, which are in the order of x within a series.
 */
#include "present/html.h"

#include <math.h>
#include <string.h>

enum { SERIES_MAX = 12 /* as in web/src/data/chart.ts */, PLACES = 800 };

typedef struct place {
	size_t number;
	size_t first, least, most, last; /* rows */
} place;

typedef struct thinning {
	const table *t;
	double from, to; /* of x */
	place open[SERIES_MAX];
	size_t n_series;
	html_row *visit;
	void *context;
} thinning;

static double real_at(const table *t, size_t row, size_t i)
{
	cell c = table_cell(t, row, i);

	return cell_real(&c);
}

static bool is_same(const table *t, size_t row, size_t other, size_t i)
{
	cell a = table_cell(t, row, i), b = table_cell(t, other, i);

	if (a.type != b.type)
		return false;
	if (a.type == CELL_STRING)
		return strcmp(a.string, b.string) == 0;
	return a.type == CELL_UNKNOWN || cell_real(&a) == cell_real(&b);
}

/* The number of a row's series, which may be new; SERIES_MAX: it is not drawn. */
static size_t series_of(const thinning *n, size_t row)
{
	size_t by = n->t->chart.series;

	for (size_t i = 0; i < n->n_series; i++)
		if (by == SIZE_MAX || is_same(n->t, row, n->open[i].first, by))
			return i;
	return n->n_series;
}

static void end_place(const thinning *n, const place *p)
{
	bool is_up = p->least < p->most;
	size_t rows[] = { p->first, is_up ? p->least : p->most, is_up ? p->most : p->least, p->last };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (i == 0 || rows[i] != rows[i - 1])
			n->visit(n->context, rows[i]);
}

static void add_row(thinning *n, size_t row)
{
	double x = real_at(n->t, row, n->t->chart.x), y = real_at(n->t, row, n->t->chart.y);
	size_t series = series_of(n, row);

	if (!isfinite(x) || !isfinite(y) || series == SERIES_MAX)
		return;
	size_t number = (size_t)((x - n->from) / (n->to - n->from) * PLACES);
	place *p = &n->open[series];
	bool is_new = series == n->n_series;
	if (!is_new && number != p->number)
		end_place(n, p);
	if (is_new || number != p->number)
		*p = (place){ number, row, row, row, row };
	n->n_series += is_new;
	p->last = row;
	if (y < real_at(n->t, p->least, n->t->chart.y))
		p->least = row;
	if (y > real_at(n->t, p->most, n->t->chart.y))
		p->most = row;
}

static void measure(thinning *n)
{
	n->from = INFINITY;
	n->to = -INFINITY;
	for (size_t row = 0; row < n->t->n_rows; row++) {
		double x = real_at(n->t, row, n->t->chart.x);

		if (isfinite(x)) {
			n->from = fmin(n->from, x);
			n->to = fmax(n->to, x);
		}
	}
}

void html_rows_each(const table *t, html_row *visit, void *context)
{
	thinning n = { .t = t, .visit = visit, .context = context };

	if (t->n_rows > PAGE_ROWS && t->chart.kind != CHART_NONE)
		measure(&n);
	if (!(n.from < n.to)) {
		for (size_t row = 0; row < t->n_rows && row < PAGE_ROWS; row++)
			visit(context, row);
		return;
	}
	for (size_t row = 0; row < t->n_rows; row++)
		add_row(&n, row);
	for (size_t i = 0; i < n.n_series; i++)
		end_place(&n, &n.open[i]);
}
