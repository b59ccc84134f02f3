/* Counters over time: of each pixel the smallest, the largest and the last value. */
#include <stdlib.h>
#include <string.h>
#include "serve/part.h"
#include "serve/routes.h"

enum { PIXELS_MAX = 16384, COUNTERS_MAX = PART_COUNTERS };

typedef struct curve {
	double *min, *max, *last;
	bool *has;
	double before; /* the last value left of the first pixel */
	bool has_before;
	size_t n_pixels;
} curve;

static double as_value(int64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

/* First of the counter's rows that is not before the time. */
static uint64_t find_value(table_cursor *rows, const sonde_index *ix, const index_counter *of, int64_t time_ns)
{
	uint64_t low = of->first_value, high = of->first_value + of->n_values;
	int64_t row[COLUMNS_MAX];

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		table_first(rows, ix, SECTION_VALUES, middle);
		if (table_next(rows, row) && row[VALUE_TIME] < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_value(curve *c, size_t pixel, double value)
{
	if (!c->has[pixel] || value < c->min[pixel])
		c->min[pixel] = value;
	if (!c->has[pixel] || value > c->max[pixel])
		c->max[pixel] = value;
	c->last[pixel] = value;
	c->has[pixel] = true;
}

/* from and to count from the trace's start. */
static void read_curve(const sonde_index *ix, const index_counter *of, int64_t from, int64_t to, table_cursor *rows,
		       curve *c)
{
	int64_t row[COLUMNS_MAX];
	uint64_t first = find_value(rows, ix, of, from), end = of->first_value + of->n_values;

	memset(c->has, 0, c->n_pixels * sizeof *c->has);
	table_first(rows, ix, SECTION_VALUES, first > of->first_value ? first - 1 : first);
	c->has_before = first > of->first_value && table_next(rows, row);
	c->before = c->has_before ? as_value(row[VALUE_BITS]) : 0;
	while (rows->row < end && table_next(rows, row) && row[VALUE_TIME] < to) {
		uint64_t at = (uint64_t)row[VALUE_TIME] - (uint64_t)from, width = (uint64_t)to - (uint64_t)from;
		size_t pixel = (size_t)((unsigned __int128)at * c->n_pixels / width);
		if (row[VALUE_TIME] >= from)
			add_value(c, pixel, as_value(row[VALUE_BITS]));
	}
}

/* A value holds until the next one. */
static void put_values(json_writer *w, const char *key, const curve *c, const double *values)
{
	bool is_known = c->has_before;
	double held = c->before;

	put_list(w, key);
	for (size_t i = 0; i < c->n_pixels; i++) {
		if (c->has[i]) {
			json_f64(w, values[i]);
			held = c->last[i];
			is_known = true;
		} else if (is_known) {
			json_f64(w, held);
		} else {
			json_null(w);
		}
	}
	json_end_array(w);
}

static void put_bounds(json_writer *w, const curve *c)
{
	double lowest = c->before, highest = c->before;
	bool is_known = c->has_before;

	for (size_t i = 0; i < c->n_pixels; i++) {
		if (!c->has[i])
			continue;
		lowest = !is_known || c->min[i] < lowest ? c->min[i] : lowest;
		highest = !is_known || c->max[i] > highest ? c->max[i] : highest;
		is_known = true;
	}
	json_key(w, "lowest");
	is_known ? json_f64(w, lowest) : json_null(w);
	json_key(w, "highest");
	is_known ? json_f64(w, highest) : json_null(w);
}

static bool make_curve(curve *c, size_t n_pixels)
{
	c->n_pixels = n_pixels;
	c->min = calloc(3 * n_pixels, sizeof *c->min);
	c->has = calloc(n_pixels, sizeof *c->has);
	c->max = c->min ? c->min + n_pixels : NULL;
	c->last = c->min ? c->max + n_pixels : NULL;
	return c->min && c->has;
}

static void want_counter(void *context, uint64_t counter)
{
	((uint8_t *)context)[counter] = 1;
}

void api_counters(call *c, reply *out)
{
	const sonde_index *ix = c->opened->ix;
	size_t n, told = 0;
	const index_counter *counters = index_counters(ix, &n);
	size_t n_pixels = (size_t)request_number(c->request, "px", 1, PIXELS_MAX, 1000);
	table_cursor *rows = malloc(sizeof *rows);
	uint8_t *wanted = calloc(n + 1, 1);
	curve k = { 0 };
	int64_t from, to;

	call_range(c, &from, &to);
	from = since_start(ix, from);
	to = since_start(ix, to);
	if (wanted && !request_numbers(c->request, "ids", n, want_counter, wanted))
		memset(wanted, 1, n);
	if (!rows || !wanted || !make_curve(&k, n_pixels)) {
		reply_out_of_memory(out);
	} else if (!call_failed(c, out)) {
		json_writer *w = reply_json(out);
		json_begin_object(w);
		w->max_text = c->part ? PART_NAME : 0;
		put_u64(w, "px", n_pixels);
		put_list(w, "counters");
		for (size_t i = 0; i < n; i++) {
			if (!wanted[i] || !PART_HAS(c->part, counters, i) || told++ >= COUNTERS_MAX)
				continue;
			read_curve(ix, &counters[i], from, to, rows, &k);
			json_begin_object(w);
			put_u64(w, "id", i);
			put_text(w, "name", index_text(ix, counters[i].name));
			put_values(w, "min", &k, k.min);
			put_values(w, "max", &k, k.max);
			put_values(w, "last", &k, k.last);
			put_bounds(w, &k);
			json_end_object(w);
		}
		json_end_array(w);
		json_end_object(w);
	}
	free(rows);
	free(wanted);
	free(k.min);
	free(k.has);
}
