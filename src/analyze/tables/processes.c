/*
 * What the processes of a program used, as `sonde record` saw it from outside: counters of the category "process",
 * which import/recording/feed.c makes.
 */
#include <stdlib.h>
#include <string.h>
#include "analyze/analysis.h"

static const column process_columns[] = {
	{ "pid", "pid", CELL_INTEGER, 0, false },
	{ "command", "process", CELL_STRING, 0, false },
	{ "cpu_ns", "cpu time", CELL_NS, 0, false },
	{ "peak_rss_bytes", "peak rss", CELL_BYTES, 0, false },
	{ "peak_threads", "threads", CELL_COUNT, 0, false },
	{ "minor_faults", "faults", CELL_COUNT, 1, false },
	{ "major_faults", "major", CELL_COUNT, 2, false },
	{ "read_bytes", "read", CELL_BYTES, 1, false },
	{ "write_bytes", "written", CELL_BYTES, 1, false },
	{ "n_samples", "samples", CELL_COUNT, 3, false },
};

typedef enum use {
	USE_RSS,
	USE_PEAK_RSS,
	USE_USER,
	USE_SYSTEM,
	USE_THREADS,
	USE_MINOR,
	USE_MAJOR,
	USE_READ,
	USE_WRITTEN,
	USES,
} use;

static const struct {
	const char *name, *series;
} uses[USES] = {
	[USE_RSS] = { "rss bytes", "" },	  [USE_PEAK_RSS] = { "peak rss bytes", "" },
	[USE_USER] = { "cpu time ns", "user" },	  [USE_SYSTEM] = { "cpu time ns", "system" },
	[USE_THREADS] = { "threads", "" },	  [USE_MINOR] = { "page faults", "minor" },
	[USE_MAJOR] = { "page faults", "major" }, [USE_READ] = { "read bytes", "" },
	[USE_WRITTEN] = { "written bytes", "" },
};

typedef struct usage {
	uint64_t n[USES];
	double last[USES], peak[USES];
} usage;

static bool is_sample(const sonde_index *ix, const index_counter *c)
{
	return strcmp(index_text(ix, c->category), "process") == 0;
}

bool trace_has_samples(const sonde_trace *trace)
{
	size_t n;
	const index_counter *counters = index_counters(trace->index, &n);

	for (size_t i = 0; trace->is_recorded && i < n; i++)
		if (is_sample(trace->index, &counters[i]))
			return true;
	return false;
}

static use use_of(const sonde_index *ix, const index_counter *c)
{
	const char *name = index_text(ix, c->name), *series = index_text(ix, c->series);
	use i = 0;

	/* The name of a counter with several series ends with that of the series. */
	while (i < USES &&
	       (strncmp(name, uses[i].name, strlen(uses[i].name)) != 0 || strcmp(series, uses[i].series) != 0))
		i++;
	return i;
}

static void add_counter(const sonde_index *ix, const index_counter *c, table_cursor *cursor, usage *u)
{
	use what = use_of(ix, c);
	int64_t row[COLUMNS_MAX];

	if (what == USES)
		return;
	table_first(cursor, ix, SECTION_VALUES, c->first_value);
	for (uint64_t i = 0; i < c->n_values && table_next(cursor, row); i++) {
		double value;
		memcpy(&value, &row[VALUE_BITS], sizeof value);
		u->n[what]++;
		u->last[what] = value;
		u->peak[what] = value > u->peak[what] ? value : u->peak[what];
	}
}

/* By process of the index; NULL when out of memory. */
static usage *load(const sonde_index *ix, size_t n_processes)
{
	size_t n, n_tracks;
	const index_counter *counters = index_counters(ix, &n);
	const index_track *tracks = index_tracks(ix, &n_tracks);
	usage *all = calloc(n_processes + 1, sizeof *all);
	table_cursor *cursor = malloc(sizeof *cursor);

	for (size_t i = 0; all && cursor && i < n; i++)
		if (is_sample(ix, &counters[i]) && counters[i].track < n_tracks)
			add_counter(ix, &counters[i], cursor, &all[tracks[counters[i].track].process]);
	free(cursor);
	return all;
}

static void put_process(sonde_result *r, table *t, const sonde_index *ix, const index_process *p, const usage *u)
{
	double peak_rss = u->peak[USE_RSS] > u->peak[USE_PEAK_RSS] ? u->peak[USE_RSS] : u->peak[USE_PEAK_RSS];
	double cpu_ns = u->last[USE_USER] + u->last[USE_SYSTEM];
	cell *c = table_row(r, t, 0);

	c[0] = cell_integer(p->pid);
	c[1] = cell_string(result_string(r, index_text(ix, p->name)));
	c[9] = cell_count(u->n[USE_RSS]);
	if (!u->n[USE_RSS])
		return;
	if (cpu_ns > 0) /* 0: below what the kernel counts in, mostly 10 ms */
		c[2] = cell_ns((int64_t)cpu_ns);
	if (peak_rss > 0) /* 0: it was only seen before it had memory, and after */
		c[3] = cell_bytes((uint64_t)peak_rss);
	c[4] = cell_count((uint64_t)u->peak[USE_THREADS]);
	c[5] = cell_count((uint64_t)u->last[USE_MINOR]);
	c[6] = cell_count((uint64_t)u->last[USE_MAJOR]);
	if (u->n[USE_READ]) {
		c[7] = cell_bytes((uint64_t)u->last[USE_READ]);
		c[8] = cell_bytes((uint64_t)u->last[USE_WRITTEN]);
	}
}

void result_add_processes(sonde_result *r, const sonde_trace *trace)
{
	enum { SHOWN = 8, MOST = 1000 };
	size_t n;
	const index_process *processes = index_processes(trace->index, &n);

	if (!trace_has_samples(trace))
		return;
	usage *all = load(trace->index, n);
	r->failed |= !all;
	if (!all)
		return;
	table *t =
		result_table(r, "processes", NULL, process_columns, sizeof process_columns / sizeof process_columns[0]);
	for (size_t i = 0; t && i < n && t->n_rows < MOST; i++)
		if (processes[i].device < 0)
			put_process(r, t, trace->index, &processes[i], &all[i]);
	free(all);
	if (t && t->n_rows > SHOWN) {
		t->n_shown = SHOWN;
		t->more = result_format(r, "%zu more processes: --json has them", t->n_rows - SHOWN);
	}
}
