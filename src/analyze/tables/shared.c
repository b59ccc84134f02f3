/* What several analyses show: memory and counters. */
#include "analyze/analysis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/format_number.h"

static void free_trace(void *trace)
{
	sonde_trace_free(trace);
}

static void free_profile(void *p)
{
	profile_free(p);
}

bool result_keep_profile(sonde_result *r, profile *p)
{
	result_own(r, free_trace, trace_hold(p->trace));
	result_own(r, free_profile, p);
	return result_ok(r);
}

static const column memory_columns[] = {
	{ "device", "device", CELL_STRING, 0, false },
	{ "peak_bytes", "peak", CELL_BYTES, 0, false },
	{ "peak_at_ns", "at", CELL_NS, 0, false },
	{ "peak_in", "in", CELL_STRING, 0, false },
	{ "end_bytes", "at the end", CELL_BYTES, 1, false },
	{ "n_allocs", "allocs", CELL_COUNT, 1, false },
	{ "n_frees", "frees", CELL_COUNT, 2, false },
	{ "allocated_bytes", "allocated", CELL_BYTES, 2, false },
	{ "n_unknown_frees", "unknown frees", CELL_COUNT, 3, false },
};

void result_add_memory(sonde_result *r, const profile *p)
{
	char bytes[NUMBER_TEXT], at[NUMBER_TEXT];

	if (!p->memory.n)
		return;
	table *t = result_table(r, "memory", NULL, memory_columns, sizeof memory_columns / sizeof memory_columns[0]);
	for (size_t i = 0; i < p->memory.n; i++) {
		const profile_memory *m = p->memory.items[i];
		const char *inside = m->peak_inside == INDEX_NONE ? NULL : trace_text(p->trace, m->peak_inside);
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(result_string(r, m->device));
		c[1] = cell_bytes(m->peak_bytes);
		int64_t peak_at = m->peak_bytes ? m->peak_ns - p->start_ns : 0;
		if (m->peak_bytes)
			c[2] = cell_ns(peak_at);
		c[3] = cell_string(inside);
		c[4] = cell_bytes(m->current_bytes);
		c[5] = cell_count(m->n_allocs);
		c[6] = cell_count(m->n_frees);
		c[7] = cell_bytes(m->allocated_bytes);
		c[8] = cell_count(m->n_unknown_frees);
		result_note_add(r, "memory", "%s peak %s%s%s%s%s", m->device, format_bytes(bytes, m->peak_bytes),
				m->peak_bytes ? " at " : "", m->peak_bytes ? format_ns(at, peak_at) : "",
				inside ? " in " : "", inside ? inside : "");
	}
	if (t)
		t->n_shown = 0;
}

static const column timeline_columns[] = {
	{ "device", "device", CELL_STRING, 0, false },
	{ "time_ns", "time", CELL_NS, 0, false },
	{ "peak_bytes", "peak", CELL_BYTES, 0, false },
};
static const column snapshot_columns[] = {
	{ "device", "snapshot of", CELL_STRING, 0, false },  { "time_ns", "at", CELL_NS, 0, false },
	{ "current_bytes", "in use", CELL_BYTES, 0, false }, { "peak_bytes", "peak so far", CELL_BYTES, 0, false },
	{ "n_live", "blocks", CELL_COUNT, 0, false },
};

/* For programs: the curve of each device, and the snapshots that were taken. */
void result_add_memory_curves(sonde_result *r, const profile *p)
{
	int64_t times[PROFILE_POINTS];
	uint64_t peaks[PROFILE_POINTS];

	table *t = p->memory.n ? result_table(r, "memory_timeline", NULL, timeline_columns, 3) : NULL;
	for (size_t i = 0; i < p->memory.n; i++) {
		size_t n = profile_timeline(p, p->memory.items[i], times, peaks, PROFILE_POINTS);
		const char *device = result_string(r, p->memory.items[i]->device);
		for (size_t k = 0; k < n; k++) {
			cell *c = table_row(r, t, 0);
			c[0] = cell_string(device);
			c[1] = cell_ns(times[k]);
			c[2] = cell_bytes(peaks[k]);
		}
	}
	table_chart(t, CHART_STEPS, "time_ns", "peak_bytes", "device");
	if (t)
		t->n_shown = 0;
	t = p->snapshots.n ? result_table(r, "memory_snapshots", NULL, snapshot_columns, 5) : NULL;
	for (size_t i = 0; i < p->snapshots.n; i++) {
		const profile_snapshot *s = &p->snapshots.items[i];
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(result_string(r, s->device));
		c[1] = cell_ns(s->what.time_ns - p->start_ns);
		c[2] = cell_bytes(s->what.current_bytes);
		c[3] = cell_bytes(s->what.peak_bytes);
		c[4] = cell_count(s->what.n_live);
	}
	if (t && t->n_rows > 10)
		t->n_shown = 10;
}

static const column counter_columns[] = {
	{ "name", "counter", CELL_STRING, 0, false }, { "n_values", "values", CELL_COUNT, 0, false },
	{ "first", "first", CELL_NUMBER, 0, false },  { "last", "last", CELL_NUMBER, 0, false },
	{ "min", "min", CELL_NUMBER, 1, false },      { "max", "max", CELL_NUMBER, 1, false },
};

void result_add_counters(sonde_result *r, const profile *p)
{
	char first[NUMBER_TEXT], last[NUMBER_TEXT];

	if (!p->counters.n)
		return;
	table *t =
		result_table(r, "counters", NULL, counter_columns, sizeof counter_columns / sizeof counter_columns[0]);
	for (size_t i = 0; i < p->counters.n; i++) {
		const profile_counter *k = &p->counters.items[i];
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(trace_text(p->trace, k->name));
		c[1] = cell_count(k->n);
		c[2] = cell_number(k->first);
		c[3] = cell_number(k->last);
		c[4] = cell_number(k->min);
		c[5] = cell_number(k->max);
		if (i < 8)
			result_note_add(r, "counter", "%s from %s to %s, %s", trace_text(p->trace, k->name),
					format_number(first, k->first), format_number(last, k->last),
					result_counted(r, k->n, "value", "values"));
	}
	if (t)
		t->n_shown = 0;
}
