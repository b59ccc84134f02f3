/* From a slice to the next one, and names that hold a text. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "serve/routes.h"

enum { NAMES_MAX = 200 };

/* ---- The next slice of marked sites ------------------------------------------------------------------------------ */

/* Of those that start at the same time the one with the next number, or the one before. */
static uint64_t find_beside(const sonde_index *ix, const uint8_t *marked, const index_slice *from, bool before)
{
	size_t n_lanes;
	const index_lane *lanes = index_lanes(ix, &n_lanes);
	uint64_t found = INDEX_NO_SLICE;
	index_slice s;

	for (uint32_t i = 0; i < n_lanes; i++) {
		uint64_t id = lanes[i].first_slice + lane_find_start(ix, i, from->start_ns);
		/* Several in one lane may have no length. */
		for (; index_slice_at(ix, id, &s) && s.lane == i && s.start_ns == from->start_ns; id++) {
			bool is_past = before ? id < from->id : id > from->id;
			bool is_nearer = found == INDEX_NO_SLICE || (before ? id > found : id < found);
			if (is_past && is_nearer && marked[s.site])
				found = id;
		}
	}
	return found;
}

static uint64_t find_next(const sonde_index *ix, const uint8_t *marked, const index_slice *from, bool before)
{
	uint64_t found = find_beside(ix, marked, from, before);

	return found == INDEX_NO_SLICE ? index_search_next(ix, marked, from->start_ns, before) : found;
}

/* One byte per site: those that have the same name. NULL when out of memory. */
static uint8_t *mark_name(const sonde_index *ix, uint32_t site)
{
	size_t n;
	const index_site *sites = index_sites(ix, &n);
	uint8_t *marked = calloc(n ? n : 1, 1);

	for (size_t i = 0; marked && i < n; i++)
		marked[i] = sites[i].name == sites[site].name;
	return marked;
}

/* ---- Next -------------------------------------------------------------------------------------------------------- */

static uint64_t find_child(const sonde_index *ix, uint64_t id)
{
	uint64_t first;

	return index_children(ix, id, &first) ? first : INDEX_NO_SLICE;
}

static uint64_t find_in_lane(const sonde_index *ix, const index_slice *s, bool before)
{
	uint64_t id = before ? s->id - 1 : s->id + 1;

	return index_lane_of(ix, id) == s->lane ? id : INDEX_NO_SLICE;
}

void api_next(call *c, reply *out)
{
	static const char *const dirs[] = { "next", "previous", "right", "left", "parent", "child", NULL };
	static const char *const bys[] = { "lane", "name", NULL };
	enum { NEXT, PREVIOUS, RIGHT, LEFT, PARENT, CHILD };
	const sonde_index *ix = c->opened->ix;
	size_t dir = request_choice(c->request, "dir", dirs);
	bool by_name = request_choice(c->request, "by", bys) == 1, before = dir == PREVIOUS || dir == LEFT;
	index_slice s;
	uint64_t found;

	if (call_failed(c, out))
		return;
	if (!index_slice_at(ix, c->number, &s)) {
		reply_error(out, 404, "not-found", "There is no slice %llu.", (unsigned long long)c->number);
		return;
	}
	uint8_t *marked = by_name ? mark_name(ix, s.site) : NULL;
	if (by_name && !marked) {
		reply_out_of_memory(out);
		return;
	}
	if (dir == PARENT)
		found = s.parent;
	else if (dir == CHILD)
		found = find_child(ix, s.id);
	else
		found = marked ? find_next(ix, marked, &s, before) : find_in_lane(ix, &s, before);
	free(marked);
	json_writer *w = reply_json(out);
	json_begin_object(w);
	json_key(w, "slice");
	put_slice(w, ix, found);
	json_end_object(w);
}

/* ---- Search ------------------------------------------------------------------------------------------------------ */

static int by_total(const void *a, const void *b, void *context)
{
	const index_site *sites = context, *x = &sites[*(const uint32_t *)a], *y = &sites[*(const uint32_t *)b];

	return x->total_ns != y->total_ns ? (x->total_ns > y->total_ns ? -1 : 1) : x < y ? -1 : 1;
}

static void put_found(json_writer *w, const sonde_index *ix, const uint32_t *found, size_t n)
{
	size_t n_sites;
	const index_site *sites = index_sites(ix, &n_sites);
	uint64_t n_slices = 0;

	put_list(w, "names");
	for (size_t i = 0; i < n; i++) {
		const index_site *s = &sites[found[i]];
		n_slices += s->n_slices;
		if (i >= NAMES_MAX)
			continue;
		json_begin_object(w);
		put_u64(w, "site", found[i]);
		put_text(w, "name", index_text(ix, s->name));
		put_text(w, "category", index_text(ix, s->category));
		put_u64(w, "n_slices", s->n_slices);
		put_i64(w, "total_ns", s->total_ns);
		json_end_object(w);
	}
	json_end_array(w);
	put_u64(w, "n_names", n);
	put_u64(w, "n_slices", n_slices);
}

/* `after` is the slice that was found last; else the time `from` counts, which is among what is searched. */
static uint64_t find_from(call *c, const uint8_t *marked, bool before)
{
	const sonde_index *ix = c->opened->ix;
	int64_t from = request_number(c->request, "from", -TRACE_NS_MAX, TRACE_NS_MAX, 0);
	uint64_t after = (uint64_t)request_number(c->request, "after", 0, INT64_MAX, INT64_MAX);
	index_slice s;

	if (index_slice_at(ix, after, &s))
		return find_next(ix, marked, &s, before);
	return index_search_next(ix, marked, trace_bounded_ns(index_start_ns(ix) + from) - !before, before);
}

/* Instants come behind slices of the same time. `after_instant` is the one that was found last; else the slice `after`
   or the time `from` counts. */
static uint64_t find_instant(call *c, const uint8_t *marked, bool before)
{
	const sonde_index *ix = c->opened->ix;
	int64_t from = request_number(c->request, "from", -TRACE_NS_MAX, TRACE_NS_MAX, 0);
	uint64_t after = (uint64_t)request_number(c->request, "after", 0, INT64_MAX, INT64_MAX),
		 last = (uint64_t)request_number(c->request, "after_instant", 0, INT64_MAX, INT64_MAX);
	index_slice s;

	if (last < index_n_rows(ix, SECTION_INSTANTS))
		return index_search_instant(ix, marked, before ? last : last + 1, before);
	if (index_slice_at(ix, after, &s))
		from = since_start(ix, s.start_ns);
	return index_search_instant(ix, marked, table_find(ix, SECTION_INSTANTS, INSTANT_TIME, from), before);
}

static void put_instant(json_writer *w, const sonde_index *ix, uint64_t number)
{
	table_cursor *rows = malloc(sizeof *rows);
	int64_t row[COLUMNS_MAX];

	if (rows)
		table_first(rows, ix, SECTION_INSTANTS, number);
	json_key(w, "instant");
	if (rows && number < rows->n_rows && table_next(rows, row)) {
		json_begin_object(w);
		put_u64(w, "id", number);
		put_site_of(w, ix, (uint32_t)row[INSTANT_SITE]);
		put_i64(w, "time_ns", row[INSTANT_TIME]);
		put_u64(w, "track", (uint64_t)row[INSTANT_TRACK]);
		json_end_object(w);
	} else {
		json_null(w);
	}
	free(rows);
}

void api_search(call *c, reply *out)
{
	static const char *const dirs[] = { "next", "previous", NULL };
	const sonde_index *ix = c->opened->ix;
	const char *text = request_text(c->request, "q");
	bool before = request_choice(c->request, "dir", dirs) == 1;
	size_t n_sites, n = 0;
	const index_site *sites = index_sites(ix, &n_sites);
	uint32_t *found = malloc((n_sites + 1) * sizeof *found);
	uint8_t *marked = calloc(n_sites + 1, 1);

	if (!found || !marked) {
		reply_out_of_memory(out);
	} else {
		n = text && *text ? index_search_sites(ix, text, found) : 0;
		for (size_t i = 0; i < n; i++)
			marked[found[i]] = 1;
		uint64_t slice = find_from(c, marked, before);
		qsort_r(found, n, sizeof *found, by_total, (void *)sites);
		json_writer *w = reply_json(out);
		json_begin_object(w);
		put_found(w, ix, found, n);
		json_key(w, "slice");
		put_slice(w, ix, slice);
		put_u64(w, "n_instants", index_count_instants_of(ix, marked));
		put_instant(w, ix, find_instant(c, marked, before));
		json_end_object(w);
		call_failed(c, out);
	}
	free(found);
	free(marked);
}
