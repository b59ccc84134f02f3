/* What a report says of layers, and of who worked when. */
#include "analyze/analysis.h"

#include <inttypes.h>
#include <stdlib.h>
#include "analyze/tables/work.h"
#include "base/format_number.h"

static const column layer_columns[] = {
	{ "layer", "layer", CELL_STRING, 0, false },
	{ "calls", "calls", CELL_COUNT, 0, false },
	{ "total_ns", "total", CELL_NS, 0, false },
	{ "self_ns", "self", CELL_NS, 3, false },
	{ "avg_ns", "avg", CELL_NS, 0, false },
	{ "std_ns", "std", CELL_NS, 0, false },
	{ "min_ns", "min", CELL_NS, 1, false },
	{ "max_ns", "max", CELL_NS, 1, false },
	{ "variation_percent", "std % of avg", CELL_PERCENT, 2, false },
	{ "slowest_step", "slowest in step", CELL_INTEGER, 2, false },
	{ "percent", "%", CELL_PERCENT, 0, true },
};
static const column history_columns[] = {
	{ "layer", "layer", CELL_STRING, 0, false },  { "step", "step", CELL_INTEGER, 0, false },
	{ "n_steps", "steps", CELL_COUNT, 0, false }, { "calls", "calls", CELL_COUNT, 0, false },
	{ "avg_ns", "avg", CELL_NS, 0, false },
};

static double variation(const profile_layer *l)
{
	int64_t average = stats_average(&l->stats);

	return l->stats.calls > 1 && average > 0 ? 100.0 * (double)stats_deviation(&l->stats) / (double)average : 0;
}

static const char *name_of(const profile *p, const profile_layer *l)
{
	return trace_text(p->trace, l->name);
}

static void put_layer(sonde_result *r, table *t, const profile *p, const profile_layer *l)
{
	const stats *s = &l->stats;
	cell *c = table_row(r, t, 0);

	c[0] = cell_string(name_of(p, l));
	c[1] = cell_count(s->calls);
	c[2] = cell_ns(s->sum_ns);
	c[3] = cell_ns(s->self_ns);
	c[4] = cell_ns(stats_average(s));
	c[6] = cell_ns(s->min_ns);
	c[7] = cell_ns(s->max_ns);
	if (s->calls > 1) {
		c[5] = cell_ns(stats_deviation(s));
		c[8] = cell_percent(variation(l));
	}
	if (l->is_slowest_known)
		c[9] = cell_integer(l->slowest_step);
	if (p->span_ns > 0)
		c[10] = cell_percent(100.0 * (double)s->sum_ns / (double)p->span_ns);
}

static void add_history(sonde_result *r, const profile *p, profile_layer *const *layers, size_t n)
{
	table *t = result_table(r, "layer_history", NULL, history_columns,
				sizeof history_columns / sizeof history_columns[0]);

	for (size_t i = 0; i < n; i++) {
		const char *name = name_of(p, layers[i]);
		for (size_t k = 0; k < PROFILE_HISTORY; k++) {
			const profile_point *point = &layers[i]->history[k];
			if (!point->calls)
				continue;
			cell *c = table_row(r, t, 0);
			c[0] = cell_string(name);
			c[1] = cell_integer(point->first);
			c[2] = cell_count(layers[i]->per_point);
			c[3] = cell_count(point->calls);
			c[4] = cell_ns(point->total_ns / (int64_t)point->calls);
		}
	}
	table_chart(t, CHART_LINE, "step", "avg_ns", "layer");
	if (t)
		t->n_shown = 0;
}

static void note_extremes(sonde_result *r, const profile *p, profile_layer *const *layers, size_t n)
{
	const profile_layer *slowest = NULL, *varied = NULL;
	char average[NUMBER_TEXT];

	for (size_t i = 0; i < n; i++) {
		if (!slowest || stats_average(&layers[i]->stats) > stats_average(&slowest->stats))
			slowest = layers[i];
		if (!varied || variation(layers[i]) > variation(varied))
			varied = layers[i];
	}
	result_add(r, "slowest_layer", cell_string(name_of(p, slowest)));
	result_add(r, "most_variable_layer", variation(varied) > 0 ? cell_string(name_of(p, varied)) : cell_unknown());
	result_note_add(r, "layers", "slowest %s (%s on average)%s", name_of(p, slowest),
			format_ns(average, stats_average(&slowest->stats)),
			variation(varied) > 0 ? result_format(r, "; most variable %s (%.1f %%)", name_of(p, varied),
							      variation(varied))
					      : "");
}

static int by_total(const void *a, const void *b)
{
	const profile_layer *x = *(profile_layer *const *)a, *y = *(profile_layer *const *)b;

	if (x->stats.sum_ns != y->stats.sum_ns)
		return x->stats.sum_ns > y->stats.sum_ns ? -1 : 1;
	return x->name < y->name ? -1 : 1;
}

void result_add_layers(sonde_result *r, profile *p, const sonde_analyze_options *o)
{
	if (!p->layers.n)
		return;
	table *t = result_table(r, "layers", NULL, layer_columns, sizeof layer_columns / sizeof layer_columns[0]);
	qsort(p->layers.items, p->layers.n, sizeof p->layers.items[0], by_total);
	for (size_t i = 0; i < p->layers.n; i++)
		put_layer(r, t, p, p->layers.items[i]);
	limit_rows(r, t, o, "layers");
	add_history(r, p, p->layers.items, p->layers.n);
	note_extremes(r, p, p->layers.items, p->layers.n);
}

void result_add_activity(sonde_result *r, const profile *p)
{
	const profile_activity *a = &p->activity;
	char cpu[NUMBER_TEXT], device[NUMBER_TEXT], both[NUMBER_TEXT];
	double percent = p->span_ns > 0 ? 100.0 / (double)p->span_ns : 0;

	result_add(r, "cpu_active_ns", a->is_known ? cell_ns(a->cpu_ns) : cell_unknown());
	result_add(r, "device_active_ns", a->is_known && a->has_device ? cell_ns(a->device_ns) : cell_unknown());
	result_add(r, "overlap_ns", a->is_known && a->has_device ? cell_ns(a->both_ns) : cell_unknown());
	if (!a->is_known)
		result_note_add(r, "active", "unknown: too many slices to compute overlaps");
	else if (a->has_device)
		result_note_add(r, "active", "cpu %s (%.1f %%), device %s (%.1f %%), both at once %s (%.1f %%)",
				format_ns(cpu, a->cpu_ns), (double)a->cpu_ns * percent, format_ns(device, a->device_ns),
				(double)a->device_ns * percent, format_ns(both, a->both_ns),
				(double)a->both_ns * percent);
	else if (a->cpu_ns)
		result_note_add(r, "active", "cpu %s (%.1f %%)", format_ns(cpu, a->cpu_ns),
				(double)a->cpu_ns * percent);
}
