/*
 * What a GPU did and felt: how busy it was over time, what it held, and what monitors wrote down of its use, memory,
 * temperature, power and clock.
 *
 * The first part is that of `utilization`; memory comes from the allocations. The rest are counters of the trace whose
 * names say that they are a GPU's: "gpu0 power (W)", "system.gpu.0.temp", "nvml utilization". Their units are in their
 * names, if anywhere, and are not converted. A value holds until the next.
 */
#define _GNU_SOURCE /* strcasestr */
#include "analyze/tables/memory_events.h"
#include "analyze/tables/step_list.h"
#include "analyze/tables/work.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/format_number.h"

enum { MOST_POINTS = 256, MOST_COUNTERS = 256 };

typedef enum gpu_counter {
	GPU_TEMPERATURE,
	GPU_POWER,
	GPU_CLOCK,
	GPU_MEMORY,
	GPU_USE,
	GPU_KINDS,
	GPU_NONE
} gpu_counter;

static const column counter_columns[] = {
	{ "name", "counter", CELL_STRING, 0, false }, { "kind", "kind", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 2, false },   { "n_values", "values", CELL_COUNT, 1, false },
	{ "min", "min", CELL_NUMBER, 0, false },      { "mean", "mean", CELL_NUMBER, 0, false },
	{ "max", "max", CELL_NUMBER, 0, false },      { "max_at_ns", "at", CELL_NS, 0, false },
	{ "last", "last", CELL_NUMBER, 1, false },
};
static const column value_columns[] = {
	{ "name", "counter", CELL_STRING, 0, false },
	{ "time_ns", "time", CELL_NS, 0, false },
	{ "value", "value", CELL_NUMBER, 0, false },
};
static const column memory_columns[] = {
	{ "device", "device", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 1, false },
	{ "time_ns", "time", CELL_NS, 0, false },
	{ "allocated_bytes", "allocated", CELL_BYTES, 0, false },
};
#define N_COLUMNS(of) (sizeof(of) / sizeof(of)[0])

static const struct {
	const char *key, *title, *kind;
	const char *words[6]; /* any of them in a name that is a GPU's; the first kind that fits */
} kinds[] = {
	[GPU_TEMPERATURE] = { "gpu_temperature", "Temperature", "temperature", { "temp" } },
	[GPU_POWER] = { "gpu_power", "Power", "power", { "power", "watt" } },
	[GPU_CLOCK] = { "gpu_clock", "Clock", "clock", { "clock", "freq", "mhz" } },
	[GPU_MEMORY] = { "gpu_memory", "Memory, from monitors", "memory", { "mem", "vram", "hbm" } },
	[GPU_USE] = { "gpu_use",
		      "Utilization, from monitors",
		      "use",
		      { "util", "busy", "usage", "%", "percent", "active" } },
};

static gpu_counter kind_of(const char *name)
{
	static const char *const devices[] = { "gpu", "nvml", "cuda", "rocm", "amdsmi", "vram", "hbm" };
	bool is_gpu = false;

	for (size_t i = 0; i < N_COLUMNS(devices); i++)
		is_gpu = is_gpu || strcasestr(name, devices[i]);
	for (int kind = 0; is_gpu && kind < GPU_KINDS; kind++)
		for (size_t i = 0; i < N_COLUMNS(kinds[kind].words) && kinds[kind].words[i]; i++)
			if (strcasestr(name, kinds[kind].words[i]))
				return (gpu_counter)kind;
	return GPU_NONE;
}

/* ---- One counter ------------------------------------------------------------------------------------------------- */

typedef struct series {
	const char *name;
	gpu_counter kind;
	int32_t rank;
	int64_t from, to; /* of the time looked at */
	uint64_t n;
	double min, max, last;
	int64_t max_at, last_at;
	double weighted, weight; /* by time */
	struct {
		double max, last;
		int64_t max_at, last_at;
		bool is_there;
	} points[MOST_POINTS]; /* the highest value of each part of the time, and the one that holds behind it */
} series;

static void add_value(series *s, int64_t ns, double value)
{
	if (!isfinite(value))
		return;
	if (s->n && ns > s->last_at) {
		s->weighted += s->last * (double)(ns - s->last_at);
		s->weight += (double)(ns - s->last_at);
	}
	if (!s->n || value > s->max) {
		s->max = value;
		s->max_at = ns;
	}
	s->min = s->n && s->min < value ? s->min : value;
	s->last = value;
	s->last_at = ns;
	s->n++;
	size_t at = (size_t)((__int128)(ns - s->from) * MOST_POINTS / ((__int128)s->to - s->from + 1));
	if (!s->points[at].is_there || value > s->points[at].max) {
		s->points[at].max = value;
		s->points[at].max_at = ns;
	}
	s->points[at].last = value;
	s->points[at].last_at = ns;
	s->points[at].is_there = true;
}

static cell number_cell(double value)
{
	return isfinite(value) ? cell_number(value) : cell_unknown();
}

static void put_value(const series *s, int64_t ns, double value, sonde_result *r, table *t)
{
	cell *c = table_row(r, t, 0);

	c[0] = cell_string(s->name);
	c[1] = cell_ns(ns);
	c[2] = cell_number(value);
}

static void put_series(const series *s, sonde_result *r, table *t, table *const *values)
{
	cell *c = table_row(r, t, 0);

	c[0] = cell_string(s->name);
	c[1] = cell_string(kinds[s->kind].kind);
	c[2] = cell_integer(s->rank);
	c[3] = cell_count(s->n);
	c[4] = number_cell(s->min);
	c[5] = number_cell(s->weight > 0 ? s->weighted / s->weight : s->last);
	c[6] = number_cell(s->max);
	c[7] = cell_ns(s->max_at);
	c[8] = number_cell(s->last);
	for (int64_t i = 0; i < MOST_POINTS; i++) {
		if (!s->points[i].is_there)
			continue;
		put_value(s, s->points[i].max_at, s->points[i].max, r, values[s->kind]);
		if (s->points[i].last_at > s->points[i].max_at)
			put_value(s, s->points[i].last_at, s->points[i].last, r, values[s->kind]);
	}
}

/* Within the ranks, steps and times that were asked for. */
static void read_series(const work *w, const rows_options *chosen, const index_counter *c, table_cursor *cursor,
			series *s)
{
	int64_t at[COLUMNS_MAX];

	table_first(cursor, w->rows.ix, SECTION_VALUES, c->first_value);
	for (uint64_t i = 0; i < c->n_values && table_next(cursor, at); i++) {
		double value;
		memcpy(&value, &at[VALUE_BITS], sizeof value);
		int64_t ns = at[VALUE_TIME];
		if (ns >= s->from && ns <= s->to && rows_choose(&w->rows, chosen, s->rank, ns))
			add_value(s, ns, value);
	}
}

/* From its first value to its last: a monitor may begin before the program and end after it. */
static bool find_span(const work *w, const index_counter *c, table_cursor *cursor, series *s)
{
	int64_t at[COLUMNS_MAX];

	s->from = INT64_MAX;
	s->to = INT64_MIN;
	table_first(cursor, w->rows.ix, SECTION_VALUES, c->first_value);
	for (uint64_t i = 0; i < c->n_values && table_next(cursor, at); i++) {
		s->from = at[VALUE_TIME] < s->from ? at[VALUE_TIME] : s->from;
		s->to = at[VALUE_TIME] > s->to ? at[VALUE_TIME] : s->to;
	}
	return s->from <= s->to;
}

static bool add_counters(const work *w, const rows_options *chosen, sonde_result *r, uint64_t *ret_n)
{
	table *t = result_table(r, "gpu_counters", "Counters of monitors", counter_columns, N_COLUMNS(counter_columns));
	table *values[GPU_KINDS];
	size_t n_counters = 0;
	const index_counter *counters = w->rows.ix ? index_counters(w->rows.ix, &n_counters) : NULL;
	table_cursor *cursor = malloc(sizeof *cursor);
	series *s = malloc(sizeof *s);

	for (int kind = 0; kind < GPU_KINDS; kind++) {
		values[kind] =
			result_table(r, kinds[kind].key, kinds[kind].title, value_columns, N_COLUMNS(value_columns));
		table_chart(values[kind], CHART_STEPS, "time_ns", "value", "name");
		if (values[kind])
			values[kind]->n_shown = 0;
	}
	for (size_t i = 0; cursor && s && i < n_counters && *ret_n < MOST_COUNTERS; i++) {
		const char *name = index_text(w->rows.ix, counters[i].name);
		gpu_counter kind = kind_of(name);
		if (kind == GPU_NONE)
			continue;
		*s = (series){ .name = result_string(r, name),
			       .kind = kind,
			       .rank = rank_of_track(w->rows.trace, counters[i].track) };
		if (!find_span(w, &counters[i], cursor, s))
			continue;
		read_series(w, chosen, &counters[i], cursor, s);
		if (!s->n)
			continue;
		put_series(s, r, t, values);
		++*ret_n;
	}
	bool ok = cursor && s;
	free(cursor);
	free(s);
	return ok;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void put_level(const memory_events *m, const memory_event *e, const char *name, sonde_result *r, table *t)
{
	cell *c = table_row(r, t, 0);

	c[0] = cell_string(name);
	c[1] = cell_integer(m->devices.items[e->device].rank);
	c[2] = cell_ns(e->time_ns);
	c[3] = cell_bytes((uint64_t)e->allocated);
}

/* The highest moment of each part of the time, and what holds behind it. */
static void add_curve(const memory_events *m, uint32_t device, const char *name, sonde_result *r, table *t)
{
	const memory_event *peaks[MOST_POINTS] = { 0 }, *lasts[MOST_POINTS] = { 0 };
	int64_t from = INT64_MAX, to = INT64_MIN;

	for (size_t i = 0; i < m->items.n; i++) {
		const memory_event *e = &m->items.items[i];
		if (e->device != device || !e->is_chosen)
			continue;
		from = e->time_ns < from ? e->time_ns : from;
		to = e->time_ns > to ? e->time_ns : to;
	}
	for (size_t i = 0; i < m->items.n; i++) {
		const memory_event *e = &m->items.items[i];
		if (e->device != device || !e->is_chosen || e->allocated < 0)
			continue;
		size_t at = (size_t)((__int128)(e->time_ns - from) * MOST_POINTS / ((__int128)to - from + 1));
		if (!peaks[at] || e->allocated > peaks[at]->allocated)
			peaks[at] = e;
		if (!lasts[at] || e->time_ns >= lasts[at]->time_ns)
			lasts[at] = e;
	}
	for (size_t i = 0; i < MOST_POINTS; i++) {
		if (peaks[i])
			put_level(m, peaks[i], name, r, t);
		if (peaks[i] && lasts[i]->time_ns > peaks[i]->time_ns)
			put_level(m, lasts[i], name, r, t);
	}
}

static bool add_memory(const work *w, const rows_options *chosen, sonde_result *r)
{
	table *t = result_table(r, "gpu_allocated", "Memory allocated by the program", memory_columns,
				N_COLUMNS(memory_columns));
	memory_events m = { 0 };
	char buffer[32];
	bool ok = !w->rows.ix || memory_events_load(&m, &w->rows, chosen);

	for (uint32_t i = 0; ok && i < m.devices.n; i++) {
		const char *name = trace_device_name(w->rows.trace, m.devices.items[i].id, buffer, sizeof buffer);
		if (strcmp(name, "cpu") != 0)
			add_curve(&m, i, result_string(r, name), r, t);
	}
	table_chart(t, CHART_STEPS, "time_ns", "allocated_bytes", "device");
	if (t)
		t->n_shown = 0;
	memory_events_done(&m);
	return ok;
}

/* ---- In words ---------------------------------------------------------------------------------------------------- */

/* The mean over the devices of what `utilization` found. */
static void answer(sonde_result *r, const table *use, uint64_t n_counters)
{
	enum { UTILIZATION = 4 };
	char percent[NUMBER_TEXT];
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; use && i < use->n_rows; i++) {
		const cell *c = &use->cells[i * use->n_columns + UTILIZATION];
		if (c->type == CELL_PERCENT) {
			sum += c->number;
			n++;
		}
	}
	if (n)
		result_answer(r, "kernels run %s %% of the time%s", format_percent(percent, sum / (double)n),
			      n > 1 ? result_format(r, ", the mean of %zu devices", n) : "");
	if (n_counters)
		return;
	result_note_add(r, "note",
			"%sno GPU counters of temperature, power, clock, memory or utilization: a monitor or the "
			"program can write them: SONDE_COUNTER(\"gpu0 power (W)\", watts)",
			n ? "" : "no device rows, or the device profiler was off; and ");
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	rows_options chosen = rows_options_from(options);
	const table *use = r->tables; /* of utilization, which ran before */
	uint64_t n_counters = 0;

	if (!add_memory(w, &chosen, r) || !add_counters(w, &chosen, r, &n_counters))
		return out_of_memory(err);
	answer(r, use, n_counters);
	return SONDE_OK;
}

static result_note **last_note(sonde_result *r)
{
	result_note **end = &r->notes;

	while (*end)
		end = &(*end)->next;
	return end;
}

static sonde_status run(const sonde_trace *trace, const sonde_analyze_options *options, sonde_result *r,
			sonde_error *err)
{
	static const work_analysis gpu_work = { .add = add, .needs_no_device = true };
	result_note **end = last_note(r);
	sonde_status status = work_run(utilization_analysis.work, trace, options, r, err);

	if (r->tables && !r->tables->n_rows)
		*end = NULL; /* that there is no device row, which is half of what is missing */

	if (!status)
		status = work_run(&gpu_work, trace, options, r, err);
	for (table *t = r->tables; t; t = t->next)
		t->n_shown = t->n_rows ? t->n_shown : 0;
	return status;
}

const analysis gpu_analysis = {
	.name = "gpu",
	.summary = "GPU utilization and memory over time, and temperature, power and clocks from monitors",
	.run = run,
};
