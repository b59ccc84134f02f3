/* What rows a timeline has, and what the numbers of names stand for. */
#include <stdlib.h>
#include "serve/part.h"
#include "serve/routes.h"

enum { SITES_MAX = 5000 };

static const char *const kind_names[TRACK_KINDS] = { "thread", "stream", "async", "process" };

static const char *text_or_null(const sonde_index *ix, uint32_t string)
{
	return string == INDEX_NONE ? NULL : index_text(ix, string);
}

/* Where the id was no number, its text stands for it. */
static void put_id(json_writer *w, const sonde_index *ix, const char *key, uint32_t text, int64_t id)
{
	if (text == INDEX_NONE)
		put_i64(w, key, id);
	else
		put_text(w, key, index_text(ix, text));
}

static void put_processes(json_writer *w, const sonde_index *ix, const trace_part *part)
{
	size_t n;
	const index_process *p = index_processes(ix, &n);

	put_list(w, "processes");
	for (size_t i = 0; i < n; i++) {
		if (!PART_HAS(part, processes, i))
			continue;
		json_begin_object(w);
		put_u64(w, "id", i);
		put_id(w, ix, "pid", p[i].pid_text, p[i].pid);
		put_text(w, "name", text_or_null(ix, p[i].name));
		put_text(w, "labels", text_or_null(ix, p[i].labels));
		put_known(w, "rank", p[i].rank >= 0, p[i].rank);
		put_known(w, "device", p[i].device >= 0, p[i].device);
		put_i64(w, "sort", p[i].sort);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_tracks(json_writer *w, const sonde_index *ix, const trace_part *part)
{
	size_t n;
	const index_track *t = index_tracks(ix, &n);
	uint64_t *n_instants = calloc(n + 1, sizeof *n_instants);

	if (n_instants)
		index_count_instants(ix, n_instants);
	put_list(w, "tracks");
	for (size_t i = 0; i < n; i++) {
		int32_t rank = index_rank_of(ix, (uint32_t)i);
		if (!PART_HAS(part, tracks, i))
			continue;
		json_begin_object(w);
		put_u64(w, "id", i);
		put_text(w, "kind", t[i].kind < TRACK_KINDS ? kind_names[t[i].kind] : NULL);
		put_id(w, ix, "number", t[i].id_text, t[i].id);
		put_text(w, "name", text_or_null(ix, t[i].name));
		put_u64(w, "process", t[i].process);
		put_known(w, "rank", rank >= 0, rank);
		put_known(w, "device", t[i].device >= 0, t[i].device);
		put_i64(w, "sort", t[i].sort);
		put_u64(w, "first_lane", t[i].first_lane);
		put_u64(w, "n_lanes", t[i].n_lanes);
		put_u64(w, "n_slices", t[i].n_slices);
		put_known(w, "n_instants", n_instants, n_instants ? (int64_t)n_instants[i] : 0);
		json_end_object(w);
	}
	json_end_array(w);
	free(n_instants);
}

static void put_lanes(json_writer *w, const sonde_index *ix, const trace_part *part)
{
	size_t n;
	const index_lane *l = index_lanes(ix, &n);

	put_list(w, "lanes");
	for (size_t i = 0; i < n; i++) {
		if (!PART_HAS(part, lanes, i))
			continue;
		json_begin_object(w);
		put_u64(w, "lane", i);
		put_u64(w, "track", l[i].track);
		put_u64(w, "group", l[i].group);
		put_u64(w, "depth", l[i].depth);
		put_u64(w, "first_slice", l[i].first_slice);
		put_u64(w, "n_slices", l[i].n_slices);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_counters(json_writer *w, const sonde_index *ix, const trace_part *part)
{
	size_t n;
	const index_counter *c = index_counters(ix, &n);

	put_list(w, "counters");
	for (size_t i = 0; i < n; i++) {
		if (!PART_HAS(part, counters, i))
			continue;
		json_begin_object(w);
		put_u64(w, "id", i);
		put_text(w, "name", index_text(ix, c[i].name));
		put_text(w, "series", text_or_null(ix, c[i].series));
		put_u64(w, "track", c[i].track);
		put_u64(w, "n_values", c[i].n_values);
		json_end_object(w);
	}
	json_end_array(w);
}

void api_tracks(call *c, reply *out)
{
	const sonde_index *ix = c->opened->ix;
	json_writer *w = reply_json(out);

	json_begin_object(w);
	put_u64(w, "generation", c->opened->generation);
	put_i64(w, "duration_ns", since_start(ix, index_end_ns(ix)));
	w->max_text = c->part ? PART_NAME : 0;
	put_processes(w, ix, c->part);
	put_tracks(w, ix, c->part);
	put_lanes(w, ix, c->part);
	put_counters(w, ix, c->part);
	json_end_object(w);
}

void api_sites(call *c, reply *out)
{
	const sonde_index *ix = c->opened->ix;
	size_t n;
	const index_site *sites = index_sites(ix, &n);
	size_t first = (size_t)request_number(c->request, "from", 0, UINT32_MAX, 0);

	if (call_failed(c, out))
		return;
	json_writer *w = reply_json(out);
	json_begin_object(w);
	put_u64(w, "from", first);
	put_u64(w, "total", n);
	put_list(w, "sites");
	for (size_t i = first; i < n && i - first < SITES_MAX; i++) {
		json_begin_object(w);
		put_text(w, "name", index_text(ix, sites[i].name));
		put_text(w, "category", index_text(ix, sites[i].category));
		put_text(w, "class", class_name(sites[i].class));
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}
