/*
 * A chart of a page, as SVG: values over time or steps, at most MAX_SERIES lines. Rows are in the order of x within a
 * series. Nothing is kept: a line is written in one pass, and where several values share a pixel it goes through the
 * least and the greatest of them, so that no peak is lost and its size does not depend on the number of rows.
 */
#include "present/html.h"

#include <math.h>
#include <string.h>

enum { LEFT = 72, TOP = 12, WIDTH = 800, HEIGHT = 176, BELOW = 28, RIGHT = 16 };
enum { MAX_SERIES = 8, MAX_BARS = 240, MAX_BAR = 48, X_TICKS = 7, Y_TICKS = 4, MAX_TICKS = 20 };

typedef struct axis {
	size_t column;
	number_unit unit;
	double least, most;
	double step; /* between ticks */
} axis;

typedef struct plot {
	const table *table;
	axis x, y;
	size_t n_points;
	size_t series[MAX_SERIES]; /* a row of each */
	size_t n_series;
	bool has_more_series;
} plot;

static const cell *at(const plot *c, size_t row, size_t i)
{
	return &c->table->cells[row * c->table->n_columns + i];
}

/* ---- Series ------------------------------------------------------------------------------------------------------ */

static bool is_same(const cell *a, const cell *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == CELL_STRING)
		return strcmp(a->string, b->string) == 0;
	return a->type == CELL_UNKNOWN || cell_real(a) == cell_real(b);
}

/* The number of a row's series; MAX_SERIES: it is not drawn. */
static size_t series_of(const plot *c, size_t row)
{
	size_t by = c->table->chart.series;

	if (by == SIZE_MAX)
		return 0;
	for (size_t i = 0; i < c->n_series; i++)
		if (is_same(at(c, row, by), at(c, c->series[i], by)))
			return i;
	return MAX_SERIES;
}

static bool point_at(const plot *c, size_t row, double *ret_x, double *ret_y)
{
	*ret_x = cell_real(at(c, row, c->x.column));
	*ret_y = cell_real(at(c, row, c->y.column));
	return isfinite(*ret_x) && isfinite(*ret_y);
}

static void add_row(plot *c, size_t row)
{
	double x, y;

	if (!point_at(c, row, &x, &y))
		return;
	if (c->n_series == 0 || (series_of(c, row) == MAX_SERIES && c->n_series < MAX_SERIES))
		c->series[c->n_series++] = row;
	if (series_of(c, row) == MAX_SERIES) {
		c->has_more_series = true;
		return;
	}
	if (c->n_points++ == 0) {
		c->x.least = c->x.most = x;
		c->y.least = fmin(y, 0);
		c->y.most = fmax(y, 0);
	}
	c->x.least = fmin(c->x.least, x);
	c->x.most = fmax(c->x.most, x);
	c->y.least = fmin(c->y.least, y);
	c->y.most = fmax(c->y.most, y);
}

/* ---- Axes -------------------------------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten in the unit of the axis, about n of them. */
static void choose_step(axis *a, const table *t, int n)
{
	cell_type type = t->columns[a->column].type;
	double scale = type == CELL_NS || type == CELL_BYTES ? a->unit.scale : 1;
	double rough = (a->most - a->least) / scale / n, power = pow(10, floor(log10(rough)));
	double times = rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1;

	a->step = times * power * scale;
	if ((type == CELL_INTEGER || type == CELL_COUNT) && a->step < 1)
		a->step = 1;
}

static double x_pixel(const plot *c, double x)
{
	return LEFT + (x - c->x.least) / (c->x.most - c->x.least) * (WIDTH - LEFT - RIGHT);
}

static double y_pixel(const plot *c, double y)
{
	return TOP + (c->y.most - y) / (c->y.most - c->y.least) * HEIGHT;
}

static const char *tick_text(const plot *c, const axis *a, double value, char *buffer)
{
	cell_type type = c->table->columns[a->column].type;
	cell tick = { .type = type };

	switch (type) {
	case CELL_COUNT:
	case CELL_BYTES:
		tick.count = value > 0 ? (uint64_t)llround(value) : 0;
		break;
	case CELL_INTEGER:
	case CELL_NS:
		tick.integer = llround(value);
		break;
	default:
		tick = cell_number(value);
	}
	return cell_text(&tick, type, a->unit, buffer);
}

/* The value of tick number i; false past the last. A step too small for its value would never end: hence the limit. */
static bool tick_at(const axis *a, int i, double *ret_value)
{
	*ret_value = (ceil(a->least / a->step) + i) * a->step;
	return i < MAX_TICKS && *ret_value <= a->most + a->step * 1e-9;
}

static void put_ticks(page *p, const plot *c)
{
	char buffer[NUMBER_TEXT];
	double value;

	for (int i = 0; tick_at(&c->y, i, &value); i++) {
		double y = y_pixel(c, value);

		page_format(p, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT,
			    WIDTH - RIGHT, y, y);
		page_format(p, "<text class=\"y\" x=\"%d\" y=\"%.1f\">", LEFT - 8, y + 4);
		page_text(p, tick_text(c, &c->y, value, buffer), NUMBER_TEXT);
		page_raw(p, "</text>");
	}
	for (int i = 0; tick_at(&c->x, i, &value); i++) {
		page_format(p, "<text class=\"x\" x=\"%.1f\" y=\"%d\">", x_pixel(c, value), TOP + HEIGHT + 20);
		page_text(p, tick_text(c, &c->x, value, buffer), NUMBER_TEXT);
		page_raw(p, "</text>");
	}
}

/* ---- Marks ------------------------------------------------------------------------------------------------------- */

typedef struct pen {
	bool is_down, has_steps;
	double pixel;	    /* the column of pixels that is being collected */
	double least, most; /* in it */
	double first, last;
} pen;

static void move_to(page *p, pen *n, const plot *c, double x, double y)
{
	if (n->is_down && n->has_steps)
		page_format(p, "H%.1f", x);
	page_format(p, n->is_down ? "L%.1f %.1f" : "M%.1f %.1f", x, y_pixel(c, y));
	n->is_down = true;
}

static void end_pixel(page *p, pen *n, const plot *c)
{
	if (isnan(n->pixel))
		return;
	move_to(p, n, c, n->pixel, n->first);
	if (n->least < fmin(n->first, n->last))
		move_to(p, n, c, n->pixel, n->least);
	if (n->most > fmax(n->first, n->last))
		move_to(p, n, c, n->pixel, n->most);
	if (n->last != n->first)
		move_to(p, n, c, n->pixel, n->last);
}

static void put_line(page *p, const plot *c, size_t series)
{
	pen n = { .pixel = NAN, .has_steps = c->table->chart.kind != CHART_LINE };
	double x, y;

	page_format(p, "<path class=\"line s%zu\" d=\"", series);
	for (size_t row = 0; row < c->table->n_rows; row++) {
		if (!point_at(c, row, &x, &y) || series_of(c, row) != series)
			continue;
		double pixel = round(x_pixel(c, x) * 2) / 2;
		if (!(pixel == n.pixel)) {
			end_pixel(p, &n, c);
			n.pixel = pixel;
			n.first = n.least = n.most = y;
		}
		n.last = y;
		n.least = fmin(n.least, y);
		n.most = fmax(n.most, y);
	}
	end_pixel(p, &n, c);
	page_raw(p, "\"/>");
}

/* Places on the x axis; several series have their bars side by side at each. */
static size_t n_places(const plot *c)
{
	return (c->n_points + c->n_series - 1) / c->n_series;
}

static void put_bars(page *p, const plot *c)
{
	double room = (WIDTH - LEFT - RIGHT) / (double)n_places(c) * 0.8 / (double)c->n_series, x, y;
	double width = fmin(fmax(room, 1), MAX_BAR), left = width * (double)c->n_series / 2;
	char x_text[NUMBER_TEXT], y_text[NUMBER_TEXT];

	for (size_t row = 0; row < c->table->n_rows; row++) {
		if (!point_at(c, row, &x, &y) || series_of(c, row) == MAX_SERIES)
			continue;
		size_t series = series_of(c, row);
		page_format(p, "<rect class=\"bar s%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>",
			    series, x_pixel(c, x) - left + width * (double)series, y_pixel(c, fmax(y, 0)), width,
			    fabs(y_pixel(c, y) - y_pixel(c, 0)));
		page_text(p, tick_text(c, &c->x, x, x_text), NUMBER_TEXT);
		page_raw(p, ": ");
		page_text(p, tick_text(c, &c->y, y, y_text), NUMBER_TEXT);
		page_raw(p, "</title></rect>");
	}
}

static void put_legend(page *p, const plot *c)
{
	char buffer[NUMBER_TEXT];
	size_t by = c->table->chart.series;

	if (by == SIZE_MAX)
		return;
	page_raw(p, "<ul class=\"legend\">");
	for (size_t i = 0; i < c->n_series; i++) {
		page_format(p, "<li class=\"s%zu\">", i);
		page_text(p, c->table->columns[by].header, PAGE_NAME);
		page_raw(p, " ");
		page_text(p, cell_text(at(c, c->series[i], by), CELL_UNKNOWN, c->x.unit, buffer), PAGE_NAME);
		page_raw(p, "</li>");
	}
	page_raw(p, c->has_more_series ? "<li>more in the table</li></ul>" : "</ul>");
}

static bool has_bars(const plot *c)
{
	return c->table->chart.kind == CHART_BARS && c->n_points <= MAX_BARS;
}

static bool measure(plot *c)
{
	const table *t = c->table;

	for (size_t row = 0; row < t->n_rows; row++)
		add_row(c, row);
	if (c->n_points < 2 || c->x.least >= c->x.most || c->y.least >= c->y.most)
		return false;
	c->x.unit = column_unit(t, c->x.column, t->n_rows);
	c->y.unit = column_unit(t, c->y.column, t->n_rows);
	if (has_bars(c)) { /* half a bar more on both sides */
		double half = (c->x.most - c->x.least) / (double)(n_places(c) > 1 ? n_places(c) - 1 : 1) / 2;

		c->x.least -= half;
		c->x.most += half;
	}
	choose_step(&c->x, t, X_TICKS);
	choose_step(&c->y, t, Y_TICKS);
	return isfinite(c->x.step) && isfinite(c->y.step) && c->x.step > 0 && c->y.step > 0;
}

bool html_chart_print(page *p, const table *t)
{
	plot c = { .table = t, .x.column = t->chart.x, .y.column = t->chart.y };

	if (t->chart.kind == CHART_NONE || page_is_full(p) || !measure(&c))
		return false;
	page_format(p,
		    "<figure><svg class=\"chart\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
		    "aria-label=\"",
		    WIDTH, TOP + HEIGHT + BELOW, WIDTH, TOP + HEIGHT + BELOW);
	page_text(p, t->columns[c.y.column].header, PAGE_NAME);
	page_raw(p, " over ");
	page_text(p, t->columns[c.x.column].header, PAGE_NAME);
	page_raw(p, "\">");
	put_ticks(p, &c);
	if (has_bars(&c))
		put_bars(p, &c);
	else
		for (size_t i = 0; i < c.n_series; i++)
			put_line(p, &c, i);
	page_raw(p, "</svg><figcaption>");
	page_text(p, t->columns[c.y.column].header, PAGE_NAME);
	page_raw(p, " over ");
	page_text(p, t->columns[c.x.column].header, PAGE_NAME);
	page_raw(p, "</figcaption>");
	put_legend(p, &c);
	page_raw(p, "</figure>\n");
	return true;
}
