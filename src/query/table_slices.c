/*
 * slices: everything that has a duration; kernels: those that ran on a device, with the calls that launched them.
 *
 * A scan goes lane by lane and so in the order of slice numbers. The filter's ranges of numbers and times become
 * ranges of rows, found by search; marks skip lanes, and slices by their site. A query that groups or sorts by columns
 * of sites and lanes gets its rows in that order instead: slice_groups.c.
 */
#include "query/table_slices.h"

#include <stdlib.h>
#include "query/columns.h"
#include "base/decimal.h"

enum { RELEASED_AFTER = 4 << 20 }; /* slices, and the pages they were on go back */

static slices_cursor *slices_of(query_cursor *c)
{
	return (slices_cursor *)c;
}

static bool is_of_kernels(const slices_cursor *c)
{
	return c->base.table == &kernels_table;
}

static void set_row(slices_cursor *c)
{
	c->base.at[OF_ROW] = c->slice.id;
	c->base.at[OF_SITE] = c->slice.site;
	c->base.at[OF_LANE] = c->slice.lane;
	c->base.at[OF_TRACK] = c->slice.lane < c->base.n_lanes ? c->base.lanes[c->slice.lane].track : INDEX_NONE;
}

/* What ran on a device, and not what a profiler drew there: annotations, steps, waiting. */
static bool is_device_work(uint8_t class)
{
	return class != CLASS_ANNOTATION && class != CLASS_STEP && class != CLASS_PHASE && class != CLASS_PYTHON &&
	       class != CLASS_SYNC && class != CLASS_OVERHEAD;
}

/* ---- The scan ---------------------------------------------------------------------------------------------------- */

/* From the trace's clock to the index's; what is beyond stays at the end of the range. */
static int64_t absolute_ns(const slices_cursor *c, int64_t ts)
{
	int64_t ns;

	if (__builtin_add_overflow(c->base.start_ns, ts, &ns))
		return ts < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Rows of the lane that the ranges leave: [*first, *end). */
static void rows_in_range(const slices_cursor *c, uint32_t lane, uint64_t *ret_first, uint64_t *ret_end)
{
	const key_range *ids = &c->base.filter.keys[KEY_ID], *ts = &c->base.filter.keys[KEY_TS],
			*end = &c->base.filter.keys[KEY_END];
	const index_lane *l = &c->base.lanes[lane];
	uint64_t first = 0, stop = l->n_slices;

	if (ids->min > 0 && (uint64_t)ids->min > l->first_slice)
		first = smaller((uint64_t)ids->min - l->first_slice, stop);
	if (ids->max < 0 || (uint64_t)ids->max < l->first_slice)
		stop = 0;
	else
		stop = smaller((uint64_t)ids->max - l->first_slice + 1, stop);
	if (ts->min > 0)
		first = larger(first, lane_find_start(c->base.ix, lane, absolute_ns(c, ts->min)));
	if (ts->max < INT64_MAX)
		stop = ts->max < 0 ? 0 : smaller(stop, lane_find_start(c->base.ix, lane, absolute_ns(c, ts->max + 1)));
	if (end->min > 0)
		first = larger(first, lane_find_end(c->base.ix, lane, absolute_ns(c, end->min - 1)));
	if (end->max < INT64_MAX)
		stop = end->max < 0 ? 0 : smaller(stop, lane_find_end(c->base.ix, lane, absolute_ns(c, end->max)));
	*ret_first = first;
	*ret_end = stop;
}

static bool is_lane_wanted(const slices_cursor *c, uint32_t lane)
{
	const query_filter *f = &c->base.filter;
	uint32_t track = c->base.lanes[lane].track;

	return filter_marked(f, OF_LANE, lane, c->base.n_lanes) &&
	       filter_marked(f, OF_TRACK, track, c->base.n_tracks) &&
	       (!is_of_kernels(c) || c->base.tracks[track].kind == TRACK_STREAM);
}

bool slices_enter_lane(slices_cursor *c, uint32_t lane)
{
	uint64_t first;

	if (!is_lane_wanted(c, lane))
		return false;
	rows_in_range(c, lane, &first, &c->row_end);
	lane_first(&c->lane, c->base.ix, lane, first);
	return first < c->row_end;
}

/* Damaged blocks may make a search end early or late. */
static bool is_in_range(const slices_cursor *c, const index_slice *s)
{
	const query_filter *f = &c->base.filter;
	int64_t ts = s->start_ns - c->base.start_ns;

	return range_has(&f->keys[KEY_DUR], s->dur_ns) && range_has(&f->keys[KEY_TS], ts) &&
	       range_has(&f->keys[KEY_END], ts + s->dur_ns) && range_has(&f->keys[KEY_ID], (int64_t)s->id);
}

bool slices_next_in_lane(slices_cursor *c, int *ret_code)
{
	const query_filter *f = &c->base.filter;
	const uint8_t *sites = f->marks[OF_SITE];
	bool only_work = is_of_kernels(c);

	*ret_code = SQLITE_OK;
	while (sites ? lane_next_marked(&c->lane, sites, c->row_end, &c->slice)
		     : c->lane.row < c->row_end && lane_next(&c->lane, &c->slice)) {
		if (++c->n_seen % 1024 == 0 && query_is_stopped(c->base.query)) {
			*ret_code = SQLITE_INTERRUPT;
			return false;
		}
		if (c->n_seen % RELEASED_AFTER == 0)
			index_release_pages(c->base.ix);
		if (is_in_range(c, &c->slice) && (!only_work || is_device_work(c->base.sites[c->slice.site].class)))
			return true;
	}
	if (c->lane.damaged)
		query_note_damage(c->base.query);
	return false;
}

static int next(query_cursor *cursor)
{
	slices_cursor *c = slices_of(cursor);
	int code;

	if (c->groups)
		return slice_groups_next(c);
	while (!slices_next_in_lane(c, &code)) {
		uint32_t lane = c->lane.lane_number + 1;

		if (code)
			return code;
		while (lane < c->base.n_lanes && !slices_enter_lane(c, lane))
			lane++;
		if (lane >= c->base.n_lanes)
			return SQLITE_DONE;
	}
	set_row(c);
	return SQLITE_OK;
}

/* The children of a slice have numbers one after the other. */
static bool enter_children(slices_cursor *c)
{
	key_range *ids = &c->base.filter.keys[KEY_ID];
	int64_t parent = c->base.filter.keys[KEY_PARENT].min;
	uint64_t first, n = parent < 0 ? 0 : index_children(c->base.ix, (uint64_t)parent, &first);

	if (!n)
		return false;
	ids->min = ids->min > (int64_t)first ? ids->min : (int64_t)first;
	ids->max = ids->max < (int64_t)(first + n - 1) ? ids->max : (int64_t)(first + n - 1);
	return ids->min <= ids->max;
}

/* One slice, which is the first and the last. */
static int find_one(slices_cursor *c, int64_t id)
{
	query_cursor *cursor = &c->base;

	lane_first(&c->lane, cursor->ix, (uint32_t)cursor->n_lanes - 1, 0);
	c->row_end = 0;
	if (id < 0 || !cursor_slice(cursor, (uint64_t)id, &c->slice) || !is_lane_wanted(c, c->slice.lane) ||
	    !is_in_range(c, &c->slice) || !filter_marked(&cursor->filter, OF_SITE, c->slice.site, cursor->n_sites) ||
	    (is_of_kernels(c) && !is_device_work(cursor->sites[c->slice.site].class)))
		return SQLITE_DONE;
	set_row(c);
	return SQLITE_OK;
}

static int first(query_cursor *cursor)
{
	slices_cursor *c = slices_of(cursor);
	const query_filter *f = &cursor->filter;

	slice_groups_free(c->groups);
	c->groups = NULL;
	if (f->keys[KEY_PARENT].is_set && !enter_children(c))
		return SQLITE_DONE;
	if (cursor->plan.n_orders) {
		int code = slice_groups_make(c);
		return code ? code : next(cursor);
	}
	const key_range *ids = &f->keys[KEY_ID];
	if (ids->min == ids->max)
		return find_one(c, ids->min);
	/* By its number a slice's lane is found at once. */
	uint64_t at = ids->min > 0 ? (uint64_t)ids->min : 0;
	uint32_t lane = at ? index_lane_of(cursor->ix, at) : 0;
	if (lane >= cursor->n_lanes)
		return SQLITE_DONE;
	lane_first(&c->lane, cursor->ix, lane, 0);
	c->row_end = 0;
	slices_enter_lane(c, lane);
	return next(cursor);
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

enum { SLICE_TS, SLICE_END, SLICE_LENGTH, SLICE_PARENT, SLICE_OPEN, SLICE_REPAIRED, SLICE_ARGS_ID, SLICE_ARGUMENTS };

static void get_slice(query_cursor *cursor, uint64_t id, unsigned which, query_cell *ret_cell)
{
	const index_slice *s = &slices_of(cursor)->slice;
	int64_t ts = s->start_ns - cursor->start_ns;

	(void)id;
	switch (which) {
	case SLICE_TS:
		cell_int(ret_cell, ts);
		break;
	case SLICE_END:
		cell_int(ret_cell, ts + s->dur_ns);
		break;
	case SLICE_LENGTH:
		cell_int(ret_cell, s->dur_ns);
		break;
	case SLICE_PARENT:
		if (s->parent == INDEX_NO_SLICE)
			cell_null(ret_cell);
		else
			cell_int(ret_cell, (int64_t)s->parent);
		break;
	case SLICE_OPEN:
		cell_int(ret_cell, (s->flags & SLICE_IS_OPEN) != 0);
		break;
	case SLICE_REPAIRED:
		cell_int(ret_cell, (s->flags & SLICE_IS_REPAIRED) != 0);
		break;
	case SLICE_ARGS_ID:
		cell_known(ret_cell, s->args ? (int64_t)s->args : -1);
		break;
	default:
		cell_args(cursor, s->args, ret_cell);
	}
}

static void get_lane(query_cursor *c, uint64_t lane, unsigned which, query_cell *ret_cell)
{
	if (lane >= c->n_lanes)
		cell_null(ret_cell);
	else
		cell_int(ret_cell, which ? c->lanes[lane].depth : (int64_t)lane);
}

/* Children of slices that are asked for in the order of their numbers come in that order, too. */
typedef struct children {
	lane_cursor lane;
	index_slice next;
	bool has_next;
	uint32_t of_lane; /* whose children */
	uint64_t last;	  /* slice that was asked for last */
} children;

enum { CHILDREN_NEAR = 64 };

static void seek_children(const slices_cursor *c, children *k)
{
	uint64_t first;
	uint32_t below = index_lane_below(c->base.ix, c->slice.lane);

	k->of_lane = c->slice.lane;
	k->has_next = false;
	if (below == INDEX_NONE)
		return;
	index_children(c->base.ix, c->slice.id, &first); /* without children: where they would be */
	lane_first(&k->lane, c->base.ix, below, first - c->base.lanes[below].first_slice);
	k->has_next = lane_next(&k->lane, &k->next);
}

static int64_t sum_children(slices_cursor *c)
{
	children *k = c->children;
	uint64_t id = c->slice.id;
	int64_t sum = 0;

	if (k->of_lane != c->slice.lane || id <= k->last || (k->has_next && id - k->last > CHILDREN_NEAR))
		seek_children(c, k);
	k->last = id;
	while (k->has_next && k->next.parent <= id) {
		sum += k->next.parent == id ? k->next.dur_ns : 0;
		k->has_next = lane_next(&k->lane, &k->next);
	}
	return sum;
}

static void get_self(query_cursor *cursor, uint64_t id, unsigned which, query_cell *ret_cell)
{
	slices_cursor *c = slices_of(cursor);

	(void)id, (void)which;
	if (!c->children) {
		c->children = calloc(1, sizeof *c->children);
		if (!c->children) {
			cursor->out_of_memory = true;
			return;
		}
		c->children->of_lane = INDEX_NONE;
	}
	cell_int(ret_cell, c->slice.dur_ns - sum_children(c));
}

static uint64_t n_slices(const sonde_index *ix)
{
	return index_n_slices(ix);
}

static void done(query_cursor *cursor)
{
	slices_cursor *c = slices_of(cursor);

	slice_groups_free(c->groups);
	free(c->children);
	free(c->launches);
}

#define SLICE_COLUMNS_                                                                                                 \
	KEY_COLUMN("id", KEY_ID, get_number, 0, "number of the slice"),                                                \
		KEY_COLUMN("ts", KEY_TS, get_slice, SLICE_TS, "start, in ns since the trace's start"),                 \
		KEY_COLUMN("dur", KEY_DUR, get_slice, SLICE_LENGTH, "duration in ns"),                                 \
		KEY_COLUMN("end", KEY_END, get_slice, SLICE_END, "ts + dur"),                                          \
		COLUMN("self", "INTEGER", OF_ROW, get_self, 0, "self time: dur minus inner slices, in ns"),            \
		SITE_COLUMNS, TRACK_COLUMNS,                                                                           \
		COLUMN("lane", "INTEGER", OF_LANE, get_lane, 0, "row of the timeline: a track at one depth"),          \
		COLUMN("depth", "INTEGER", OF_LANE, get_lane, 1, "0: outermost"),                                      \
		KEY_COLUMN("parent", KEY_PARENT, get_slice, SLICE_PARENT, "id of the enclosing slice"),                \
		COLUMN("open", "INTEGER", OF_ROW, get_slice, SLICE_OPEN, "1: still open when the trace ended"),        \
		COLUMN("repaired", "INTEGER", OF_ROW, get_slice, SLICE_REPAIRED,                                       \
		       "1: its end was missing and was set"),                                                          \
		COLUMN("args_id", "INTEGER", OF_ROW, get_slice, SLICE_ARGS_ID,                                         \
		       "id of its arguments, as in collectives and other fact tables")

static const query_column slices_columns[] = {
	SLICE_COLUMNS_,
	COLUMN("args", "TEXT", OF_ROW, get_slice, SLICE_ARGUMENTS, "its arguments as a JSON object"),
};

#define SLICE_TABLE_                                                                                                   \
	.order = { KEY_ID }, .has_unique_ids = true, .is_grouped = true, .n_rows = n_slices,                           \
	.cursor_bytes = sizeof(slices_cursor), .first = first, .next = next, .done = done

const query_table slices_table = {
	.name = "slices",
	.summary = "Events with a duration: scopes, operators, calls, kernels",
	.columns = slices_columns,
	.n_columns = sizeof slices_columns / sizeof slices_columns[0],
	SLICE_TABLE_,
};

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* Launches lie in the order of device slices: they are read along. */
typedef struct launch_reader {
	table_cursor table;
	int64_t row[COLUMNS_MAX];
	bool has_row;
	uint64_t slice; /* that was looked for last; UINT64_MAX: none */
	index_slice host;
	bool has_host;
} launch_reader;

enum { LAUNCHES_NEAR = 64 };

static void seek_launch(slices_cursor *c, launch_reader *r, uint64_t id)
{
	bool is_near = r->has_row && id > r->slice && id - r->slice < LAUNCHES_NEAR;

	if (!is_near) {
		table_first(&r->table, c->base.ix, SECTION_LAUNCHES,
			    table_find(c->base.ix, SECTION_LAUNCHES, LAUNCH_DEVICE, (int64_t)id));
		r->has_row = table_next(&r->table, r->row);
	}
	while (r->has_row && (uint64_t)r->row[LAUNCH_DEVICE] < id)
		r->has_row = table_next(&r->table, r->row);
	r->slice = id;
	uint64_t host = r->has_row && (uint64_t)r->row[LAUNCH_DEVICE] == id ? (uint64_t)r->row[LAUNCH_HOST] : 0;
	r->has_host = host && (r->host.id == host - 1 || cursor_slice(&c->base, host - 1, &r->host));
}

/* NULL when out of memory. */
static const launch_reader *launch_of(slices_cursor *c)
{
	if (!c->launches) {
		c->launches = calloc(1, sizeof *c->launches);
		c->base.out_of_memory |= !c->launches;
		if (!c->launches)
			return NULL;
		c->launches->slice = c->launches->host.id = UINT64_MAX;
	}
	if (c->launches->slice != c->slice.id)
		seek_launch(c, c->launches, c->slice.id);
	return c->launches;
}

enum { LAUNCH_ID, LAUNCH_NUMBER, LAUNCH_TS, LAUNCH_DELAY };

static void get_launch(query_cursor *cursor, uint64_t id, unsigned which, query_cell *ret_cell)
{
	slices_cursor *c = slices_of(cursor);
	const launch_reader *r = launch_of(c);
	bool is_there = r && r->has_row && (uint64_t)r->row[LAUNCH_DEVICE] == id;

	if (!is_there || (which != LAUNCH_ID && !r->has_host))
		cell_null(ret_cell);
	else if (which == LAUNCH_ID)
		cell_int(ret_cell, r->row[LAUNCH_CORRELATION]);
	else if (which == LAUNCH_NUMBER)
		cell_int(ret_cell, (int64_t)r->host.id);
	else if (which == LAUNCH_TS)
		cell_int(ret_cell, r->host.start_ns - cursor->start_ns);
	else
		cell_int(ret_cell, c->slice.start_ns - r->host.start_ns - r->host.dur_ns);
}

/* What an argument of the role says: a number, or text that is none. */
static void get_role(query_cursor *cursor, uint64_t id, unsigned role, query_cell *ret_cell)
{
	uint32_t args = slices_of(cursor)->slice.args;
	const char *key = args ? index_role_key(cursor->ix, (fact_role)role) : NULL, *json;
	args_reader *r = key ? cursor_args(cursor) : NULL;
	char text[64] = "", *end = text;
	size_t len;
	int64_t whole;

	(void)id;
	cell_null(ret_cell);
	if (!r || !args_get(r, args, key, &json, &len))
		return;
	if (decimal_scaled(json, len, 0, &whole) == DECIMAL_EXACT) {
		cell_int(ret_cell, whole);
		return;
	}
	if (len < sizeof text)
		memcpy(text, json, len);
	double number = decimal_f64(text, &end);
	if (end > text && !*end) {
		cell_real(ret_cell, number);
		return;
	}
	cell_text(ret_cell, json, len);
	ret_cell->is_fleeting = true;
}

static const query_column kernels_columns[] = {
	SLICE_COLUMNS_,
	COLUMN("stream", "NUMERIC", OF_TRACK, get_track, TRACK_STREAM_NUMBER, "number of the stream"),
	COLUMN("device", "INTEGER", OF_TRACK, get_track, TRACK_DEVICE, "number of the device"),
	COLUMN("correlation", "INTEGER", OF_ROW, get_launch, LAUNCH_ID, "correlation id of launch and kernel"),
	COLUMN("launch", "INTEGER", OF_ROW, get_launch, LAUNCH_NUMBER, "id of the slice of the call that launched it"),
	COLUMN("launch_ts", "INTEGER", OF_ROW, get_launch, LAUNCH_TS, "start of that call"),
	COLUMN("delay", "INTEGER", OF_ROW, get_launch, LAUNCH_DELAY,
	       "ns from the call's end to the kernel's start; negative if it started earlier"),
	COLUMN("grid", "TEXT", OF_ROW, get_role, ROLE_GRID, "blocks of the launch: [432, 1, 1]"),
	COLUMN("block", "TEXT", OF_ROW, get_role, ROLE_BLOCK, "threads of a block: [256, 1, 1]"),
	COLUMN("registers", "NUMERIC", OF_ROW, get_role, ROLE_REGISTERS, "of a thread"),
	COLUMN("shared_bytes", "NUMERIC", OF_ROW, get_role, ROLE_SHARED_BYTES, "shared memory of a block"),
	COLUMN("blocks_per_sm", "NUMERIC", OF_ROW, get_role, ROLE_BLOCKS_PER_SM, "below 1 a part of the device idles"),
	COLUMN("warps_per_sm", "NUMERIC", OF_ROW, get_role, ROLE_WARPS_PER_SM, "likewise in warps"),
	COLUMN("occupancy_percent", "NUMERIC", OF_ROW, get_role, ROLE_OCCUPANCY, "as the profiler estimates it"),
	COLUMN("bytes", "NUMERIC", OF_ROW, get_role, ROLE_COPY_BYTES, "of a copy"),
	COLUMN("gb_per_s", "NUMERIC", OF_ROW, get_role, ROLE_BANDWIDTH, "of a copy, as the profiler gives it"),
	COLUMN("args", "TEXT", OF_ROW, get_slice, SLICE_ARGUMENTS, "its arguments as a JSON object"),
};

const query_table kernels_table = {
	.name = "kernels",
	.summary = "Slices of device streams: kernels, copies, collectives",
	.columns = kernels_columns,
	.n_columns = sizeof kernels_columns / sizeof kernels_columns[0],
	SLICE_TABLE_,
};
