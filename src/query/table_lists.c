/* Small tables that lie in the index as lists: tracks, processes, names, counters, steps, meta,
   devices, diagnostics. */
#include "query/columns.h"

#include <stdio.h>
#include <string.h>

/* ---- The scan: rows by number ------------------------------------------------------------------------------------ */

typedef struct list_source {
	/* The track and the site of a row, where it has them; NULL: what is never looked at. */
	void (*find)(query_cursor *c, uint64_t row);
} list_source;

static int next(query_cursor *c)
{
	uint64_t n = c->table->n_rows(c->ix);
	const key_range *ids = &c->filter.keys[KEY_ID];
	const list_source *source = c->table->source;

	for (uint64_t row = c->at[OF_ROW] + 1; row < n && (int64_t)row <= ids->max; row++) {
		c->at[OF_ROW] = row;
		if (source)
			source->find(c, row);
		if (!source || (filter_marked(&c->filter, OF_TRACK, c->at[OF_TRACK], c->n_tracks) &&
				filter_marked(&c->filter, OF_SITE, c->at[OF_SITE], c->n_sites)))
			return SQLITE_OK;
	}
	return SQLITE_DONE;
}

static int first(query_cursor *c)
{
	int64_t min = c->filter.keys[KEY_ID].min;

	c->at[OF_ROW] = (min > 0 ? (uint64_t)min : 0) - 1;
	return next(c);
}

#define LIST_SCAN .cursor_bytes = sizeof(query_cursor), .first = first, .next = next

/* ---- tracks ------------------------------------------------------------------------------------------------------ */

static void find_track(query_cursor *c, uint64_t row)
{
	c->at[OF_TRACK] = row;
}

static uint64_t n_tracks(const sonde_index *ix)
{
	size_t n;

	index_tracks(ix, &n);
	return n;
}

static const list_source tracks_source = { find_track };
static const query_column tracks_columns[] = {
	KEY_COLUMN("id", KEY_ID, get_number, 0, "number of the track"),
	COLUMN("kind", "TEXT", OF_TRACK, get_track, TRACK_KIND, "thread, stream, async or process"),
	COLUMN("name", "TEXT", OF_TRACK, get_track, TRACK_NAME, "name of the thread or stream"),
	COLUMN("tid", "NUMERIC", OF_TRACK, get_track, TRACK_TID, "thread id: a number, or text in some traces"),
	COLUMN("pid", "NUMERIC", OF_TRACK, get_track, TRACK_PID, "process id: a number, or text in some traces"),
	COLUMN("process", "TEXT", OF_TRACK, get_track, TRACK_PROCESS_NAME, "name of the process"),
	COLUMN("process_id", "INTEGER", OF_TRACK, get_track, TRACK_PROCESS_NUMBER, "processes.id"),
	COLUMN("rank", "INTEGER", OF_TRACK, get_track, TRACK_RANK, "rank in a distributed run"),
	COLUMN("device", "INTEGER", OF_TRACK, get_track, TRACK_DEVICE, "number of a stream's device"),
	COLUMN("stream", "NUMERIC", OF_TRACK, get_track, TRACK_STREAM_NUMBER, "number of the stream"),
	COLUMN("category", "TEXT", OF_TRACK, get_track, TRACK_CATEGORY, "category of an async track"),
	COLUMN("sort", "INTEGER", OF_TRACK, get_track, TRACK_SORT, "order among the tracks of its process"),
	COLUMN("n_lanes", "INTEGER", OF_TRACK, get_track, TRACK_LANES, "rows of the timeline"),
	COLUMN("n_slices", "INTEGER", OF_TRACK, get_track, TRACK_SLICES, "slices on it"),
};

const query_table tracks_table = {
	.name = "tracks",
	.summary = "Threads, device streams, asynchronous tracks and processes",
	.columns = tracks_columns,
	.n_columns = sizeof tracks_columns / sizeof tracks_columns[0],
	.order = { KEY_ID },
	.has_unique_ids = true,
	.n_rows = n_tracks,
	.source = &tracks_source,
	LIST_SCAN,
};

/* ---- processes --------------------------------------------------------------------------------------------------- */

enum { PROCESS_PID, PROCESS_NAME, PROCESS_LABELS, PROCESS_RANK, PROCESS_DEVICE, PROCESS_SORT };

static void get_process(query_cursor *c, uint64_t row, unsigned which, query_cell *ret_cell)
{
	size_t n;
	const index_process *p = &index_processes(c->ix, &n)[row];

	switch (which) {
	case PROCESS_PID:
		if (p->pid_text != INDEX_NONE)
			cell_string_of(c, p->pid_text, ret_cell);
		else
			cell_int(ret_cell, p->pid);
		break;
	case PROCESS_NAME:
		cell_string_of(c, p->name, ret_cell);
		break;
	case PROCESS_LABELS:
		cell_string_of(c, p->labels, ret_cell);
		break;
	case PROCESS_SORT:
		cell_int(ret_cell, p->sort);
		break;
	default:
		cell_known(ret_cell, which == PROCESS_RANK ? p->rank : p->device);
	}
}

static uint64_t n_processes(const sonde_index *ix)
{
	size_t n;

	index_processes(ix, &n);
	return n;
}

static const query_column processes_columns[] = {
	KEY_COLUMN("id", KEY_ID, get_number, 0, "number of the process in the trace"),
	COLUMN("pid", "NUMERIC", OF_ROW, get_process, PROCESS_PID, "process id: a number, or text in some traces"),
	COLUMN("name", "TEXT", OF_ROW, get_process, PROCESS_NAME, "name"),
	COLUMN("labels", "TEXT", OF_ROW, get_process, PROCESS_LABELS, "labels in the trace"),
	COLUMN("rank", "INTEGER", OF_ROW, get_process, PROCESS_RANK, "rank in a distributed run"),
	COLUMN("device", "INTEGER", OF_ROW, get_process, PROCESS_DEVICE,
	       "number of the device, for a device shown as a process"),
	COLUMN("sort", "INTEGER", OF_ROW, get_process, PROCESS_SORT, "order among the processes"),
};

const query_table processes_table = {
	.name = "processes",
	.summary = "Processes, and devices that the trace shows as processes",
	.columns = processes_columns,
	.n_columns = sizeof processes_columns / sizeof processes_columns[0],
	.order = { KEY_ID },
	.has_unique_ids = true,
	.n_rows = n_processes,
	LIST_SCAN,
};

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void find_site(query_cursor *c, uint64_t row)
{
	c->at[OF_SITE] = row;
}

static uint64_t n_sites(const sonde_index *ix)
{
	size_t n;

	index_sites(ix, &n);
	return n;
}

static const list_source names_source = { find_site };
static const query_column names_columns[] = {
	SITE_COLUMNS,
	COLUMN("calls", "INTEGER", OF_SITE, get_site, SITE_CALLS, "number of slices"),
	COLUMN("total", "INTEGER", OF_SITE, get_site, SITE_TOTAL, "sum of their durations, in ns"),
	COLUMN("self", "INTEGER", OF_SITE, get_site, SITE_SELF, "sum of their self times, in ns"),
	COLUMN("min", "INTEGER", OF_SITE, get_site, SITE_MIN, "shortest duration, in ns"),
	COLUMN("max", "INTEGER", OF_SITE, get_site, SITE_MAX, "longest duration, in ns"),
};

const query_table names_table = {
	.name = "names",
	.summary = "Names of slices and instants, with precomputed sums",
	.columns = names_columns,
	.n_columns = sizeof names_columns / sizeof names_columns[0],
	.n_rows = n_sites,
	.source = &names_source,
	LIST_SCAN,
};

/* ---- counters ---------------------------------------------------------------------------------------------------- */

enum { COUNTER_NAME, COUNTER_SERIES, COUNTER_CATEGORY, COUNTER_VALUES };

static const index_counter *counter_of(const query_cursor *c, uint64_t row)
{
	size_t n;

	return &index_counters(c->ix, &n)[row];
}

static void find_counter(query_cursor *c, uint64_t row)
{
	c->at[OF_TRACK] = counter_of(c, row)->track;
}

static void get_counter(query_cursor *c, uint64_t row, unsigned which, query_cell *ret_cell)
{
	const index_counter *k = counter_of(c, row);

	if (which == COUNTER_VALUES)
		cell_int(ret_cell, (int64_t)k->n_values);
	else
		cell_string_of(c,
			       which == COUNTER_NAME	 ? k->name
			       : which == COUNTER_SERIES ? k->series
							 : k->category,
			       ret_cell);
}

static uint64_t n_counters(const sonde_index *ix)
{
	size_t n;

	index_counters(ix, &n);
	return n;
}

static const list_source counters_source = { find_counter };
static const query_column counters_columns[] = {
	KEY_COLUMN("id", KEY_ID, get_number, 0, "number of the counter"),
	COLUMN("name", "TEXT", OF_ROW, get_counter, COUNTER_NAME, "name"),
	COLUMN("series", "TEXT", OF_ROW, get_counter, COUNTER_SERIES, "series of a counter with several"),
	COLUMN("category", "TEXT", OF_ROW, get_counter, COUNTER_CATEGORY, "as in the trace"),
	COLUMN("n_values", "INTEGER", OF_ROW, get_counter, COUNTER_VALUES, "rows of counter_values"),
	TRACK_COLUMNS,
};

const query_table counters_table = {
	.name = "counters",
	.summary = "Values that change over time: memory, loss, utilization",
	.columns = counters_columns,
	.n_columns = sizeof counters_columns / sizeof counters_columns[0],
	.order = { KEY_ID },
	.has_unique_ids = true,
	.n_rows = n_counters,
	.source = &counters_source,
	LIST_SCAN,
};

/* ---- steps ------------------------------------------------------------------------------------------------------- */

enum { STEP_NUMBER, STEP_TS, STEP_DUR, STEP_END, STEP_SLICE };

static const index_step *step_of(const query_cursor *c, uint64_t row)
{
	size_t n;

	return &index_steps(c->ix, &n)[row];
}

static void find_step(query_cursor *c, uint64_t row)
{
	c->at[OF_TRACK] = step_of(c, row)->track;
}

static void get_step(query_cursor *c, uint64_t row, unsigned which, query_cell *ret_cell)
{
	const index_step *s = step_of(c, row);

	if (which == STEP_SLICE && s->slice >= index_n_slices(c->ix))
		cell_null(ret_cell);
	else
		cell_int(ret_cell, which == STEP_NUMBER ? s->number
				   : which == STEP_TS	? s->start_ns
				   : which == STEP_DUR	? s->dur_ns
				   : which == STEP_END	? s->start_ns + s->dur_ns
							: (int64_t)s->slice);
}

static uint64_t n_steps(const sonde_index *ix)
{
	size_t n;

	index_steps(ix, &n);
	return n;
}

static const list_source steps_source = { find_step };
static const query_column steps_columns[] = {
	COLUMN("step", "INTEGER", OF_ROW, get_step, STEP_NUMBER, "number of the iteration"),
	COLUMN("ts", "INTEGER", OF_ROW, get_step, STEP_TS, "start, in ns since the trace's start"),
	COLUMN("dur", "INTEGER", OF_ROW, get_step, STEP_DUR, "duration in ns"),
	COLUMN("end", "INTEGER", OF_ROW, get_step, STEP_END, "ts + dur"),
	COLUMN("slice", "INTEGER", OF_ROW, get_step, STEP_SLICE, "id of its slice"),
	TRACK_COLUMNS,
};

const query_table steps_table = {
	.name = "steps",
	.summary = "Iterations of training",
	.columns = steps_columns,
	.n_columns = sizeof steps_columns / sizeof steps_columns[0],
	.n_rows = n_steps,
	.source = &steps_source,
	LIST_SCAN,
};

/* ---- meta -------------------------------------------------------------------------------------------------------- */

/* What every trace has comes before what the file says. */
enum { META_START, META_DURATION, META_CLOCK, META_OWN };
enum { META_KEY, META_VALUE, META_RANK };

static void get_own_meta(const query_cursor *c, uint64_t row, unsigned which, query_cell *ret_cell)
{
	static const char *const keys[META_OWN] = { "trace.start_ns", "trace.duration_ns", "trace.clock" };
	static const char *const clocks[] = { "trace", "epoch", "monotonic" };

	cell_null(ret_cell);
	if (which == META_KEY) {
		cell_text(ret_cell, keys[row], strlen(keys[row]));
	} else if (which == META_VALUE && row == META_CLOCK) {
		const char *clock = clocks[index_clock_of(c->ix)];
		cell_text(ret_cell, clock, strlen(clock));
	} else if (which == META_VALUE) {
		cell_int(ret_cell, row == META_START ? c->start_ns : index_end_ns(c->ix) - c->start_ns);
	}
}

static void get_meta(query_cursor *c, uint64_t row, unsigned which, query_cell *ret_cell)
{
	size_t n;
	const index_meta *metas = index_metas(c->ix, &n);

	if (row < META_OWN)
		get_own_meta(c, row, which, ret_cell);
	else if (which == META_RANK)
		cell_known(ret_cell, metas[row - META_OWN].rank);
	else
		cell_string_of(c, which == META_KEY ? metas[row - META_OWN].key : metas[row - META_OWN].value,
			       ret_cell);
}

static uint64_t n_meta(const sonde_index *ix)
{
	size_t n;

	index_metas(ix, &n);
	return n + META_OWN;
}

static const query_column meta_columns[] = {
	COLUMN("key", "TEXT", OF_ROW, get_meta, META_KEY, "such as trace.start_ns, the zero of ts, and trace.clock"),
	COLUMN("value", "", OF_ROW, get_meta, META_VALUE, "text, or JSON as in the trace"),
	COLUMN("rank", "INTEGER", OF_ROW, get_meta, META_RANK, "rank of the metadata"),
};

const query_table meta_table = {
	.name = "meta",
	.summary = "Metadata of the trace: host, devices, versions",
	.columns = meta_columns,
	.n_columns = sizeof meta_columns / sizeof meta_columns[0],
	.n_rows = n_meta,
	LIST_SCAN,
};

/* ---- devices ----------------------------------------------------------------------------------------------------- */

enum { DEVICE_ID, DEVICE_RANK, DEVICE_NAME, DEVICE_VENDOR, DEVICE_MEMORY, DEVICE_SMS, DEVICE_MAJOR, DEVICE_MINOR };

static void get_device(query_cursor *c, uint64_t row, unsigned which, query_cell *ret_cell)
{
	static const char *const vendors[DEVICE_VENDORS] = { NULL, "NVIDIA", "AMD", "Intel" };
	size_t n;
	const index_device *d = &index_devices(c->ix, &n)[row];
	const int64_t numbers[] = {
		[DEVICE_ID] = d->id,	 [DEVICE_RANK] = d->rank,	    [DEVICE_MEMORY] = d->memory_bytes,
		[DEVICE_SMS] = d->n_sms, [DEVICE_MAJOR] = d->compute_major, [DEVICE_MINOR] = d->compute_minor
	};

	cell_null(ret_cell);
	if (which == DEVICE_NAME)
		cell_string_of(c, d->name, ret_cell);
	else if (which != DEVICE_VENDOR)
		cell_known(ret_cell, numbers[which]);
	else if (d->vendor < DEVICE_VENDORS && vendors[d->vendor])
		cell_text(ret_cell, vendors[d->vendor], strlen(vendors[d->vendor]));
}

static uint64_t n_devices(const sonde_index *ix)
{
	size_t n;

	index_devices(ix, &n);
	return n;
}

static const query_column devices_columns[] = {
	COLUMN("device", "INTEGER", OF_ROW, get_device, DEVICE_ID, "number of the device, as kernels have it"),
	COLUMN("rank", "INTEGER", OF_ROW, get_device, DEVICE_RANK, "that sees it by this number"),
	COLUMN("name", "TEXT", OF_ROW, get_device, DEVICE_NAME, "as its driver calls it"),
	COLUMN("vendor", "TEXT", OF_ROW, get_device, DEVICE_VENDOR, "NVIDIA, AMD or Intel"),
	COLUMN("memory_bytes", "INTEGER", OF_ROW, get_device, DEVICE_MEMORY, "that it has"),
	COLUMN("n_sms", "INTEGER", OF_ROW, get_device, DEVICE_SMS, "multiprocessors"),
	COLUMN("compute_major", "INTEGER", OF_ROW, get_device, DEVICE_MAJOR, "compute capability 8 of 8.0"),
	COLUMN("compute_minor", "INTEGER", OF_ROW, get_device, DEVICE_MINOR, "and what follows"),
};

const query_table devices_table = {
	.name = "devices",
	.summary = "Devices of the ranks: name, memory, multiprocessors",
	.columns = devices_columns,
	.n_columns = sizeof devices_columns / sizeof devices_columns[0],
	.n_rows = n_devices,
	LIST_SCAN,
};

/* ---- diagnostics ------------------------------------------------------------------------------------------------- */

enum { DIAGNOSTIC_TEXT, DIAGNOSTIC_COUNT, DIAGNOSTIC_LOST, DIAGNOSTIC_FILE, DIAGNOSTIC_BYTE };

static void get_diagnostic(query_cursor *c, uint64_t row, unsigned which, query_cell *ret_cell)
{
	size_t n;
	const index_diagnostic *d = &index_diagnostics(c->ix, &n)[row];

	if (which == DIAGNOSTIC_COUNT)
		cell_int(ret_cell, (int64_t)d->count);
	else if (which == DIAGNOSTIC_LOST)
		cell_int(ret_cell, d->lost != 0);
	else if (which == DIAGNOSTIC_BYTE)
		cell_known(ret_cell, d->first);
	else
		cell_string_of(c, which == DIAGNOSTIC_TEXT ? d->text : d->file, ret_cell);
}

static uint64_t n_diagnostics(const sonde_index *ix)
{
	size_t n;

	index_diagnostics(ix, &n);
	return n;
}

static const query_column diagnostics_columns[] = {
	COLUMN("kind", "TEXT", OF_ROW, get_diagnostic, DIAGNOSTIC_TEXT, "kind of damage"),
	COLUMN("count", "INTEGER", OF_ROW, get_diagnostic, DIAGNOSTIC_COUNT, "number of occurrences"),
	COLUMN("lost", "INTEGER", OF_ROW, get_diagnostic, DIAGNOSTIC_LOST, "1: events are missing, 0: repaired"),
	COLUMN("file", "TEXT", OF_ROW, get_diagnostic, DIAGNOSTIC_FILE, "file of the first occurrence"),
	COLUMN("first_byte", "INTEGER", OF_ROW, get_diagnostic, DIAGNOSTIC_BYTE, "byte of the first occurrence"),
};

const query_table diagnostics_table = {
	.name = "diagnostics",
	.summary = "Losses and repairs",
	.columns = diagnostics_columns,
	.n_columns = sizeof diagnostics_columns / sizeof diagnostics_columns[0],
	.n_rows = n_diagnostics,
	LIST_SCAN,
};
