/* One slice: what it is, what it was given, where it hangs; one instant. */
#include <stdlib.h>
#include <string.h>
#include "base/json_read.h"
#include "serve/routes.h"

enum { PARENTS_MAX = 1000, LINKS_MAX = 200 };

void put_args(json_writer *w, const sonde_index *ix, uint32_t args)
{
	args_reader *reader = args ? args_reader_new(ix) : NULL;
	args_text text = { 0 };

	json_key(w, "args");
	if (!args) {
		json_begin_object(w);
		json_end_object(w);
	} else if (reader && args_read(reader, args, &text) && text.args && text.args_len && *text.args == '{' &&
		   json_is_valid(text.args, text.args_len)) {
		json_raw(w, text.args, text.args_len);
	} else {
		json_null(w);
	}
	args_reader_free(reader);
}

static void put_parents(json_writer *w, const sonde_index *ix, uint64_t parent)
{
	index_slice s;

	put_list(w, "parents");
	for (int i = 0; i < PARENTS_MAX && index_slice_at(ix, parent, &s); i++, parent = s.parent)
		put_slice(w, ix, parent);
	json_end_array(w);
}

/* What the children take is theirs. */
static int64_t self_ns(const sonde_index *ix, const index_slice *of, uint64_t *ret_n_children)
{
	uint64_t first, n = index_children(ix, of->id, &first);
	uint32_t lane = n ? index_lane_of(ix, first) : INDEX_NONE;
	int64_t self = of->dur_ns;
	size_t n_lanes;
	lane_cursor cursor;
	index_slice s;

	*ret_n_children = n;
	if (lane == INDEX_NONE)
		return self;
	lane_first(&cursor, ix, lane, first - index_lanes(ix, &n_lanes)[lane].first_slice);
	for (uint64_t i = 0; i < n && lane_next(&cursor, &s); i++)
		self -= s.dur_ns;
	return self;
}

/* "track", "thread", "rank". */
static void put_track_of(json_writer *w, const sonde_index *ix, uint32_t track)
{
	size_t n_tracks;
	const index_track *t = &index_tracks(ix, &n_tracks)[track];
	int32_t rank = index_rank_of(ix, track);

	put_u64(w, "track", track);
	put_text(w, "thread", t->name == INDEX_NONE ? NULL : index_text(ix, t->name));
	put_known(w, "rank", rank >= 0, rank);
}

void put_site_of(json_writer *w, const sonde_index *ix, uint32_t site)
{
	size_t n_sites;
	const index_site *s = &index_sites(ix, &n_sites)[site];

	put_text(w, "name", index_text(ix, s->name));
	put_text(w, "category", index_text(ix, s->category));
	put_text(w, "class", class_name(s->class));
	put_u64(w, "site", site);
}

static void put_place(json_writer *w, const sonde_index *ix, const index_slice *s)
{
	size_t n_lanes;
	const index_lane *lane = &index_lanes(ix, &n_lanes)[s->lane];

	put_u64(w, "lane", s->lane);
	put_u64(w, "depth", lane->depth);
	put_track_of(w, ix, lane->track);
}

/* ---- Arrows ------------------------------------------------------------------------------------------------------ */

typedef struct links {
	json_writer *w;
	const sonde_index *ix;
	uint64_t slice;
	size_t n; /* that were found; LINKS_MAX are told */
} links;

static void put_link(links *l, bool is_out, const char *kind, const char *name, uint64_t other)
{
	index_slice s;

	if (!index_slice_at(l->ix, other, &s) || l->n++ >= LINKS_MAX)
		return;
	json_begin_object(l->w);
	put_text(l->w, "dir", is_out ? "out" : "in");
	put_text(l->w, "kind", kind);
	put_text(l->w, "name", name);
	json_key(l->w, "slice");
	put_slice(l->w, l->ix, other);
	json_end_object(l->w);
}

static void put_launches(links *l)
{
	table_cursor *rows = malloc(sizeof *rows);
	int64_t row[COLUMNS_MAX], correlation;
	uint64_t host = index_launch_of(l->ix, l->slice, &correlation);

	if (host != INDEX_NO_SLICE)
		put_link(l, false, "launch", "launch", host);
	if (rows)
		table_first(rows, l->ix, SECTION_LAUNCHES, 0);
	while (rows && table_next_with(rows, LAUNCH_HOST, (int64_t)l->slice + 1, row))
		put_link(l, true, "launch", "launch", (uint64_t)row[LAUNCH_DEVICE]);
	free(rows);
}

bool flow_goes_on(const int64_t *a, const int64_t *b)
{
	return a[FLOW_SITE] == b[FLOW_SITE] && a[FLOW_ID] == b[FLOW_ID] && b[FLOW_PHASE] != 's';
}

/* The point's neighbours on its arrow. */
static void put_neighbours(links *l, const int64_t *point, uint64_t at)
{
	size_t n_sites;
	const char *name = index_text(l->ix, index_sites(l->ix, &n_sites)[point[FLOW_SITE]].name);
	table_cursor *rows = malloc(sizeof *rows);
	int64_t other[COLUMNS_MAX];

	if (!rows)
		return;
	table_first(rows, l->ix, SECTION_FLOWS, at ? at - 1 : 0);
	if (at && table_next(rows, other) && flow_goes_on(other, point) && other[FLOW_SLICE])
		put_link(l, false, "flow", name, (uint64_t)other[FLOW_SLICE] - 1);
	table_first(rows, l->ix, SECTION_FLOWS, at + 1);
	if (table_next(rows, other) && flow_goes_on(point, other) && other[FLOW_SLICE])
		put_link(l, true, "flow", name, (uint64_t)other[FLOW_SLICE] - 1);
	free(rows);
}

static void put_links(json_writer *w, const sonde_index *ix, uint64_t slice)
{
	links l = { w, ix, slice, 0 };
	table_cursor *rows = malloc(sizeof *rows);
	int64_t point[COLUMNS_MAX];

	put_list(w, "flows");
	put_launches(&l);
	if (rows)
		table_first(rows, ix, SECTION_FLOWS, 0);
	while (rows && table_next_with(rows, FLOW_SLICE, (int64_t)slice + 1, point))
		put_neighbours(&l, point, rows->row - 1);
	json_end_array(w);
	put_u64(w, "n_flows", l.n);
	free(rows);
}

/* ---- One slice --------------------------------------------------------------------------------------------------- */

void api_slice(call *c, reply *out)
{
	const sonde_index *ix = c->opened->ix;
	uint64_t n_children;
	index_slice s;

	if (!index_slice_at(ix, c->number, &s)) {
		reply_error(out, 404, "not-found", "There is no slice %llu.", (unsigned long long)c->number);
		return;
	}
	int64_t self = self_ns(ix, &s, &n_children);
	json_writer *w = reply_json(out);
	json_begin_object(w);
	put_u64(w, "id", s.id);
	put_site_of(w, ix, s.site);
	put_i64(w, "start_ns", since_start(ix, s.start_ns));
	put_i64(w, "dur_ns", s.dur_ns);
	put_i64(w, "self_ns", self);
	put_place(w, ix, &s);
	put_bool(w, "is_open", s.flags & SLICE_IS_OPEN);
	put_bool(w, "is_repaired", s.flags & SLICE_IS_REPAIRED);
	put_args(w, ix, s.args);
	put_parents(w, ix, s.parent);
	put_u64(w, "n_children", n_children);
	put_links(w, ix, s.id);
	json_end_object(w);
}

/* ---- One instant ------------------------------------------------------------------------------------------------- */

static void put_beside(json_writer *w, const sonde_index *ix, const char *key, uint64_t row, bool before)
{
	uint64_t other = index_instant_beside(ix, row, before);

	json_key(w, key);
	other == UINT64_MAX ? json_null(w) : json_u64(w, other);
}

void api_instant(call *c, reply *out)
{
	const sonde_index *ix = c->opened->ix;
	table_cursor *rows = malloc(sizeof *rows);
	int64_t row[COLUMNS_MAX];

	if (rows)
		table_first(rows, ix, SECTION_INSTANTS, c->number);
	if (!rows) {
		reply_out_of_memory(out);
	} else if (c->number >= rows->n_rows || !table_next(rows, row) || rows->row != c->number + 1) {
		reply_error(out, 404, "not-found", "There is no instant %llu.", (unsigned long long)c->number);
	} else {
		json_writer *w = reply_json(out);
		json_begin_object(w);
		put_u64(w, "id", c->number);
		put_site_of(w, ix, (uint32_t)row[INSTANT_SITE]);
		put_i64(w, "time_ns", row[INSTANT_TIME]);
		put_track_of(w, ix, (uint32_t)row[INSTANT_TRACK]);
		put_args(w, ix, (uint32_t)row[INSTANT_ARGS]);
		put_beside(w, ix, "previous", c->number, true);
		put_beside(w, ix, "next", c->number, false);
		json_end_object(w);
	}
	free(rows);
}
