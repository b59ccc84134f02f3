/*
 * Tables whose rows lie in packed blocks: instants, samples, allocations, launches, counter_values.
 *
 * A scan of rows in the order of time begins and ends where the filter's range of times does. Marks skip rows by their
 * track and site.
 */
#include "query/columns.h"

#include <string.h>

/* Where a table's rows are, and which columns of theirs say what; -1: none. */
typedef struct event_source {
	index_kind kind;
	int8_t sorted, track, site, args;
	column_key key; /* what `sorted` is */
} event_source;

typedef struct events_cursor {
	query_cursor base;
	const event_source *source;
	int64_t row[COLUMNS_MAX];
	uint64_t counter, row_end; /* of counter_values */
	index_slice host, device;  /* of launches, when looked up */
	uint64_t looked_up;	   /* row + 1 */
	table_cursor table;
} events_cursor;

static events_cursor *events_of(query_cursor *c)
{
	return (events_cursor *)c;
}

/* ---- The scan ---------------------------------------------------------------------------------------------------- */

static bool passes(const events_cursor *c)
{
	const event_source *s = c->source;
	const query_filter *f = &c->base.filter;

	return (s->track < 0 || filter_marked(f, OF_TRACK, (uint64_t)c->row[s->track], c->base.n_tracks)) &&
	       (s->site < 0 || filter_marked(f, OF_SITE, (uint64_t)c->row[s->site], c->base.n_sites));
}

static void set_row(events_cursor *c)
{
	const event_source *s = c->source;

	c->base.at[OF_ROW] = c->table.row - 1;
	if (s->track >= 0)
		c->base.at[OF_TRACK] = (uint64_t)c->row[s->track];
	if (s->site >= 0)
		c->base.at[OF_SITE] = (uint64_t)c->row[s->site];
}

static int end_of_table(events_cursor *c)
{
	if (c->table.damaged)
		query_note_damage(c->base.query);
	return SQLITE_DONE;
}

static int next_event(query_cursor *cursor)
{
	events_cursor *c = events_of(cursor);
	const key_range *r = &cursor->filter.keys[c->source->key];

	while (table_next(&c->table, c->row)) {
		if (c->table.row % 4096 == 0 && query_is_stopped(cursor->query))
			return SQLITE_INTERRUPT;
		if (c->row[c->source->sorted] > r->max)
			break;
		if (c->row[c->source->sorted] >= r->min && passes(c)) {
			set_row(c);
			return SQLITE_OK;
		}
	}
	return end_of_table(c);
}

static int first_event(query_cursor *cursor)
{
	events_cursor *c = events_of(cursor);
	const event_source *s = cursor->table->source;
	int64_t min = cursor->filter.keys[s->key].min;

	c->source = s;
	table_first(&c->table, cursor->ix, s->kind,
		    min == INT64_MIN ? 0 : table_find(cursor->ix, s->kind, (unsigned)s->sorted, min));
	return next_event(cursor);
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

static void get_value(query_cursor *c, uint64_t row, unsigned which, query_cell *ret_cell)
{
	(void)row;
	cell_int(ret_cell, events_of(c)->row[which]);
}

static void get_known(query_cursor *c, uint64_t row, unsigned which, query_cell *ret_cell)
{
	(void)row;
	cell_known(ret_cell, events_of(c)->row[which]);
}

static void get_args(query_cursor *c, uint64_t row, unsigned which, query_cell *ret_cell)
{
	(void)row;
	cell_args(c, (uint64_t)events_of(c)->row[which], ret_cell);
}

#define ARGS_COLUMN(which) COLUMN("args", "TEXT", OF_ROW, get_args, which, "its arguments as a JSON object")
#define TIME_COLUMN(which) KEY_COLUMN("ts", KEY_TS, get_value, which, "ns since the trace's start")

/* ---- instants, samples ------------------------------------------------------------------------------------------- */

static void get_scope(query_cursor *c, uint64_t row, unsigned which, query_cell *ret_cell)
{
	static const struct {
		char letter;
		const char *name;
	} scopes[] = { { 't', "thread" }, { 'p', "process" }, { 'g', "global" }, { 'n', "async" }, { 'O', "object" } };
	int64_t letter = events_of(c)->row[which];

	(void)row;
	cell_null(ret_cell);
	for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++)
		if (scopes[i].letter == letter)
			cell_text(ret_cell, scopes[i].name, strlen(scopes[i].name));
}

static uint64_t n_instants(const sonde_index *ix)
{
	return index_n_rows(ix, SECTION_INSTANTS);
}

static const event_source instants_source = { SECTION_INSTANTS, INSTANT_TIME, INSTANT_TRACK,
					      INSTANT_SITE,	INSTANT_ARGS, KEY_TS };
static const query_column instants_columns[] = {
	TIME_COLUMN(INSTANT_TIME),
	SITE_COLUMNS,
	TRACK_COLUMNS,
	COLUMN("scope", "TEXT", OF_ROW, get_scope, INSTANT_SCOPE,
	       "scope of the instant: thread, process, global, async or object"),
	ARGS_COLUMN(INSTANT_ARGS),
};

const query_table instants_table = {
	.name = "instants",
	.summary = "Events without a duration: marks",
	.columns = instants_columns,
	.n_columns = sizeof instants_columns / sizeof instants_columns[0],
	.order = { KEY_TS },
	.n_rows = n_instants,
	.cursor_bytes = sizeof(events_cursor),
	.source = &instants_source,
	.first = first_event,
	.next = next_event,
};

static uint64_t n_samples(const sonde_index *ix)
{
	return index_n_rows(ix, SECTION_SAMPLES);
}

static const event_source samples_source = { SECTION_SAMPLES, SAMPLE_TIME, SAMPLE_TRACK,
					     SAMPLE_SITE,     SAMPLE_ARGS, KEY_TS };
static const query_column samples_columns[] = {
	TIME_COLUMN(SAMPLE_TIME),
	SITE_COLUMNS,
	TRACK_COLUMNS,
	ARGS_COLUMN(SAMPLE_ARGS),
};

const query_table samples_table = {
	.name = "samples",
	.summary = "Samples of threads, taken by a sampler",
	.columns = samples_columns,
	.n_columns = sizeof samples_columns / sizeof samples_columns[0],
	.order = { KEY_TS },
	.n_rows = n_samples,
	.cursor_bytes = sizeof(events_cursor),
	.source = &samples_source,
	.first = first_event,
	.next = next_event,
};

/* ---- allocations ------------------------------------------------------------------------------------------------- */

static uint64_t n_allocations(const sonde_index *ix)
{
	return index_n_rows(ix, SECTION_ALLOCATIONS);
}

static const event_source allocations_source = { SECTION_ALLOCATIONS, ALLOCATION_TIME, ALLOCATION_TRACK,
						 ALLOCATION_SITE,     ALLOCATION_ARGS, KEY_TS };
static const query_column allocations_columns[] = {
	TIME_COLUMN(ALLOCATION_TIME),
	COLUMN("bytes", "INTEGER", OF_ROW, get_value, ALLOCATION_BYTES, "allocated; negative: freed"),
	COLUMN("address", "INTEGER", OF_ROW, get_value, ALLOCATION_ADDRESS, "address of the memory"),
	COLUMN("device_type", "INTEGER", OF_ROW, get_known, ALLOCATION_DEVICE_TYPE,
	       "device type as the writer numbers it: 0 CPU, 1 CUDA"),
	COLUMN("device", "INTEGER", OF_ROW, get_known, ALLOCATION_DEVICE, "number of the device"),
	COLUMN("total_bytes", "INTEGER", OF_ROW, get_known, ALLOCATION_TOTAL,
	       "allocated on the device after this event"),
	COLUMN("reserved_bytes", "INTEGER", OF_ROW, get_known, ALLOCATION_RESERVED,
	       "reserved by the allocator after this event"),
	SITE_COLUMNS,
	TRACK_COLUMNS,
	ARGS_COLUMN(ALLOCATION_ARGS),
};

const query_table allocations_table = {
	.name = "allocations",
	.summary = "Allocations and frees of memory",
	.columns = allocations_columns,
	.n_columns = sizeof allocations_columns / sizeof allocations_columns[0],
	.order = { KEY_TS },
	.n_rows = n_allocations,
	.cursor_bytes = sizeof(events_cursor),
	.source = &allocations_source,
	.first = first_event,
	.next = next_event,
};

/* ---- launches ---------------------------------------------------------------------------------------------------- */

enum { LAUNCH_KERNEL_TS, LAUNCH_CALL_TS, LAUNCH_CALL_DUR, LAUNCH_DELAY };

/* Both slices; the times of those that are not there are not known. */
static void look_up(events_cursor *c)
{
	uint64_t host = (uint64_t)c->row[LAUNCH_HOST];

	if (c->looked_up == c->base.at[OF_ROW] + 1)
		return;
	c->looked_up = c->base.at[OF_ROW] + 1;
	if (!cursor_slice(&c->base, (uint64_t)c->row[LAUNCH_DEVICE], &c->device))
		c->device.id = INDEX_NO_SLICE;
	if (!host || !cursor_slice(&c->base, host - 1, &c->host))
		c->host.id = INDEX_NO_SLICE;
}

static void get_times(query_cursor *cursor, uint64_t row, unsigned which, query_cell *ret_cell)
{
	events_cursor *c = events_of(cursor);

	(void)row;
	look_up(c);
	bool has_device = c->device.id != INDEX_NO_SLICE, has_host = c->host.id != INDEX_NO_SLICE;
	cell_null(ret_cell);
	if (which == LAUNCH_KERNEL_TS && has_device)
		cell_int(ret_cell, c->device.start_ns - cursor->start_ns);
	else if (which == LAUNCH_CALL_TS && has_host)
		cell_int(ret_cell, c->host.start_ns - cursor->start_ns);
	else if (which == LAUNCH_CALL_DUR && has_host)
		cell_int(ret_cell, c->host.dur_ns);
	else if (which == LAUNCH_DELAY && has_device && has_host)
		cell_int(ret_cell, c->device.start_ns - c->host.start_ns - c->host.dur_ns);
}

/* Numbers + 1. */
static void get_launch(query_cursor *c, uint64_t row, unsigned which, query_cell *ret_cell)
{
	(void)row;
	cell_known(ret_cell, events_of(c)->row[which] - 1);
}

static uint64_t n_launches(const sonde_index *ix)
{
	return index_n_rows(ix, SECTION_LAUNCHES);
}

static const event_source launches_source = { SECTION_LAUNCHES, LAUNCH_DEVICE, -1, -1, -1, KEY_ID };
static const query_column launches_columns[] = {
	KEY_COLUMN("kernel", KEY_ID, get_value, LAUNCH_DEVICE, "id of the slice on the device"),
	COLUMN("launch", "INTEGER", OF_ROW, get_launch, LAUNCH_HOST, "id of the slice of the call that launched it"),
	COLUMN("correlation", "INTEGER", OF_ROW, get_value, LAUNCH_CORRELATION, "correlation id of both"),
	COLUMN("kernel_ts", "INTEGER", OF_ROW, get_times, LAUNCH_KERNEL_TS, "start of the kernel"),
	COLUMN("launch_ts", "INTEGER", OF_ROW, get_times, LAUNCH_CALL_TS, "start of the call"),
	COLUMN("launch_dur", "INTEGER", OF_ROW, get_times, LAUNCH_CALL_DUR, "duration of the call"),
	COLUMN("delay", "INTEGER", OF_ROW, get_times, LAUNCH_DELAY,
	       "ns from the call's end to the kernel's start; negative if it started earlier"),
};

const query_table launches_table = {
	.name = "launches",
	.summary = "Links from launching calls to kernels",
	.columns = launches_columns,
	.n_columns = sizeof launches_columns / sizeof launches_columns[0],
	.order = { KEY_ID },
	.has_unique_ids = true,
	.n_rows = n_launches,
	.cursor_bytes = sizeof(events_cursor),
	.source = &launches_source,
	.first = first_event,
	.next = next_event,
};

/* ---- counter_values ---------------------------------------------------------------------------------------------- */

static const event_source values_source = { SECTION_VALUES, VALUE_TIME, -1, -1, -1, KEY_TS };

/* The next counter that has values and is not filtered out; its rows lie together. */
static bool enter_counter(events_cursor *c)
{
	const query_filter *f = &c->base.filter;
	const key_range *wanted = &f->keys[KEY_PARENT];
	size_t n;
	const index_counter *counters = index_counters(c->base.ix, &n);

	for (; c->counter < n; c->counter++) {
		const index_counter *k = &counters[c->counter];

		if (!k->n_values || !range_has(wanted, (int64_t)c->counter) ||
		    !filter_marked(f, OF_TRACK, k->track, c->base.n_tracks))
			continue;
		table_first(&c->table, c->base.ix, SECTION_VALUES, k->first_value);
		c->row_end = k->first_value + k->n_values;
		c->base.at[OF_TRACK] = k->track;
		return true;
	}
	return false;
}

static int next_value(query_cursor *cursor)
{
	events_cursor *c = events_of(cursor);
	const key_range *ts = &cursor->filter.keys[KEY_TS];

	for (;; c->counter++) {
		if (!c->row_end && !enter_counter(c))
			return SQLITE_DONE;
		while (c->table.row < c->row_end && table_next(&c->table, c->row) && c->row[VALUE_TIME] <= ts->max) {
			if (c->table.row % 4096 == 0 && query_is_stopped(cursor->query))
				return SQLITE_INTERRUPT;
			if (c->row[VALUE_TIME] < ts->min)
				continue;
			set_row(c);
			return SQLITE_OK;
		}
		end_of_table(c);
		c->row_end = 0;
	}
}

static int first_value(query_cursor *cursor)
{
	events_cursor *c = events_of(cursor);
	const key_range *wanted = &cursor->filter.keys[KEY_PARENT];

	c->source = &values_source;
	c->counter = wanted->min > 0 ? (uint64_t)wanted->min : 0;
	c->row_end = 0;
	return next_value(cursor);
}

enum { VALUE_COUNTER, VALUE_NAME, VALUE_SERIES, VALUE_NUMBER };

static void get_counter_value(query_cursor *cursor, uint64_t row, unsigned which, query_cell *ret_cell)
{
	const events_cursor *c = events_of(cursor);
	size_t n;
	const index_counter *counters = index_counters(cursor->ix, &n);
	double value;

	(void)row;
	if (which == VALUE_COUNTER) {
		cell_int(ret_cell, (int64_t)c->counter);
	} else if (which == VALUE_NUMBER) {
		memcpy(&value, &c->row[VALUE_BITS], sizeof value);
		cell_real(ret_cell, value);
	} else if (c->counter < n) {
		const index_counter *k = &counters[c->counter];
		cell_string_of(cursor, which == VALUE_NAME ? k->name : k->series, ret_cell);
	}
}

static uint64_t n_values(const sonde_index *ix)
{
	return index_n_rows(ix, SECTION_VALUES);
}

static const query_column counter_values_columns[] = {
	KEY_COLUMN("counter", KEY_PARENT, get_counter_value, VALUE_COUNTER, "counters.id"),
	TIME_COLUMN(VALUE_TIME),
	COLUMN("value", "REAL", OF_ROW, get_counter_value, VALUE_NUMBER, "value from ts on"),
	COLUMN("name", "TEXT", OF_ROW, get_counter_value, VALUE_NAME, "name of the counter"),
	COLUMN("series", "TEXT", OF_ROW, get_counter_value, VALUE_SERIES, "series of a counter with several"),
	TRACK_COLUMNS,
};

const query_table counter_values_table = {
	.name = "counter_values",
	.summary = "Values of counters over time",
	.columns = counter_values_columns,
	.n_columns = sizeof counter_values_columns / sizeof counter_values_columns[0],
	.order = { KEY_PARENT, KEY_TS },
	.n_rows = n_values,
	.cursor_bytes = sizeof(events_cursor),
	.source = &values_source,
	.first = first_value,
	.next = next_value,
};
