/*
 * Arrows and instants of a timeline's page; web/src/file/links.ts reads them.
 *
 *   arrow: 0 for a launch, else its site + 1; the box it starts at since that of the arrow before; from there to the
 * box it ends at; the latter two signed instant, track after track: time since the one before; site * 2, + 1: its
 * arguments are there; how many it stands for
 */
#include <stdlib.h>
#include "picture/timeline.h"

enum { INSTANTS_MAX = 20000, PIXELS = 4000 };

/* ---- Arrows ------------------------------------------------------------------------------------------------------ */

typedef struct arrow_writer {
	timeline *t;
	uint64_t budget;
	uint64_t last; /* box where the arrow before starts */
} arrow_writer;

static int compare_kept(const void *a, const void *b)
{
	uint64_t x = ((const kept_slice *)a)->slice, y = ((const kept_slice *)b)->slice;

	return x < y ? -1 : x > y;
}

static const kept_slice *find_kept(const timeline *t, uint64_t slice)
{
	kept_slice key = { .slice = slice };

	return t->kept.n ? bsearch(&key, t->kept.items, t->kept.n, sizeof key, compare_kept) : NULL;
}

static void add_arrow(arrow_writer *a, uint64_t kind, uint64_t from, uint64_t to)
{
	timeline *t = a->t;
	const kept_slice *start = find_kept(t, from), *end = find_kept(t, to);

	if (!start || !end)
		return;
	t->n_arrows++;
	if (t->arrows.n * 4 / 3 >= a->budget)
		return;
	t->failed |= !picture_number(&t->arrows, kind) ||
		     !picture_signed(&t->arrows, (int64_t)(start->box - a->last)) ||
		     !picture_signed(&t->arrows, (int64_t)(end->box - start->box));
	a->last = start->box;
	t->n_arrows_kept++;
}

static void add_launches(arrow_writer *a, table_cursor *rows)
{
	int64_t row[COLUMNS_MAX];

	table_first(rows, a->t->ix, SECTION_LAUNCHES, 0);
	while (table_next(rows, row))
		if (row[LAUNCH_HOST])
			add_arrow(a, 0, (uint64_t)row[LAUNCH_HOST] - 1, (uint64_t)row[LAUNCH_DEVICE]);
}

/* Kineto writes an arrow for each launch, too: once is enough. */
static bool is_launch(const sonde_index *ix, uint64_t from, uint64_t to)
{
	int64_t correlation;

	return index_launch_of(ix, to, &correlation) == from;
}

static void add_flows(arrow_writer *a, table_cursor *rows)
{
	int64_t before[COLUMNS_MAX], row[COLUMNS_MAX];
	const sonde_index *ix = a->t->ix;

	table_first(rows, ix, SECTION_FLOWS, 0);
	if (!table_next(rows, before))
		return;
	for (; table_next(rows, row); memcpy(before, row, sizeof before)) {
		uint64_t from = (uint64_t)before[FLOW_SLICE] - 1, to = (uint64_t)row[FLOW_SLICE] - 1;
		if (flow_goes_on(before, row) && before[FLOW_SLICE] && row[FLOW_SLICE] && !is_launch(ix, from, to))
			add_arrow(a, (uint64_t)timeline_site(a->t, (uint32_t)row[FLOW_SITE]) + 1, from, to);
	}
}

void timeline_arrows(timeline *t, uint64_t budget)
{
	arrow_writer a = { .t = t, .budget = budget };
	table_cursor *rows = malloc(sizeof *rows);

	t->failed |= !rows;
	if (!t->failed && t->kept.n) {
		qsort(t->kept.items, t->kept.n, sizeof *t->kept.items, compare_kept);
		add_launches(&a, rows);
		add_flows(&a, rows);
	}
	free(rows);
}

/* ---- Instants ---------------------------------------------------------------------------------------------------- */

static void add_instant(timeline *t, const range_instant *one, table_cursor *rows, int64_t *last_ns)
{
	int64_t row[COLUMNS_MAX];

	table_first(rows, t->ix, SECTION_INSTANTS, one->row);
	if (!table_next(rows, row))
		return;
	bool has_args = picture_args_put(&t->args, (uint32_t)row[INSTANT_ARGS]);
	t->failed |= !picture_number(&t->instants, (uint64_t)(row[INSTANT_TIME] - *last_ns)) ||
		     !picture_number(&t->instants, 2 * (uint64_t)timeline_site(t, one->site) + has_args) ||
		     !picture_number(&t->instants, one->n);
	*last_ns = row[INSTANT_TIME];
	t->per_track.items[one->track]++;
	t->n_instants_kept++;
}

static bool want_instants(timeline *t, range_instant **ret, size_t *ret_n)
{
	size_t n_tracks, n_sites;
	int64_t from = t->o->use_steps ? t->from_ns : index_start_ns(t->ix),
		to = t->o->use_steps ? t->to_ns : index_end_ns(t->ix);
	bool few = index_n_rows(t->ix, SECTION_INSTANTS) <= INSTANTS_MAX, is_exact;

	index_tracks(t->ix, &n_tracks);
	index_sites(t->ix, &n_sites);
	uint8_t *tracks = malloc(n_tracks + 1), *hidden = calloc(n_sites + 1, 1);
	uint64_t width = to > from ? (uint64_t)to - (uint64_t)from : 1;
	instants_wanted wanted = { .from_ns = from,
				   .to_ns = to > from ? to : from + 1,
				   .n_pixels = !few		    ? PIXELS
					       : width < UINT32_MAX ? (uint32_t)width
								    : UINT32_MAX,
				   .tracks = tracks,
				   .hidden_sites = hidden };
	bool ok = tracks && hidden;
	if (ok) {
		memcpy(tracks, t->m->part.tracks, n_tracks);
		for (size_t i = 0; i < n_sites; i++)
			hidden[i] = t->o->no_python && t->sites[i].class == CLASS_PYTHON;
		ok = index_instants(t->ix, &wanted, ret, ret_n, &is_exact);
	}
	for (size_t i = 0; ok && i < n_tracks; i++)
		ok = VEC_ADD(&t->per_track);
	free(tracks);
	free(hidden);
	return ok;
}

void timeline_instants(timeline *t, uint64_t budget)
{
	range_instant *all = NULL;
	size_t n = 0;
	int64_t last_ns = 0;
	table_cursor *rows = malloc(sizeof *rows);

	t->failed |= !rows || !want_instants(t, &all, &n);
	for (size_t i = 0; i < n && !t->failed; i++) {
		last_ns = i && all[i].track == all[i - 1].track ? last_ns : 0;
		t->n_instants += all[i].n;
		if (t->instants.n * 4 / 3 < budget)
			add_instant(t, &all[i], rows, &last_ns);
	}
	free(all);
	free(rows);
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

void timeline_write_links(timeline *t, json_writer *w)
{
	json_key(w, "arrows");
	json_begin_object(w);
	put_u64(w, "n", t->n_arrows_kept);
	t->failed |= !picture_base64(w, "bytes", &t->arrows);
	json_end_object(w);
	json_key(w, "instants");
	json_begin_object(w);
	put_list(w, "tracks");
	for (size_t i = 0; i < t->per_track.n; i++) {
		if (!t->per_track.items[i])
			continue;
		json_begin_object(w);
		put_u64(w, "track", i);
		put_u64(w, "n", t->per_track.items[i]);
		json_end_object(w);
	}
	json_end_array(w);
	t->failed |= !picture_base64(w, "bytes", &t->instants);
	json_end_object(w);
}
