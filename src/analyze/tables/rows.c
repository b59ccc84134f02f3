/* See rows.h. Rows are read by rows_pages.c; which of them stay, rows_select.c says. */
#include "analyze/tables/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/tables/rows_pages.h"
#include "analyze/tables/rows_select.h"
#include "analyze/tables/warmup.h"
#include "base/big.h"
#include "base/error.h"
#include "base/parse_units.h"
#include "base/vec.h"

/* ---- Slices whose rows are looked for ---------------------------------------------------------------------------- */

/* Steps, and what launched something: a bit for each slice, how many come before each 64 of them, and their rows. */
typedef struct marks {
	uint64_t *bits;
	uint32_t *before;
	uint32_t *rows; /* ROW_NONE */
	size_t n_slices, n;
} marks;

static void mark(marks *m, uint64_t slice)
{
	if (slice < m->n_slices)
		m->bits[slice / 64] |= UINT64_C(1) << slice % 64;
}

static bool is_marked(const marks *m, uint64_t slice)
{
	return slice < m->n_slices && m->bits[slice / 64] >> slice % 64 & 1;
}

static uint32_t *marked_row(const marks *m, uint64_t slice)
{
	uint64_t below = m->bits[slice / 64] & ((UINT64_C(1) << slice % 64) - 1);

	return &m->rows[m->before[slice / 64] + (uint32_t)__builtin_popcountll(below)];
}

/* The row of a slice that is marked, or ROW_NONE. */
static uint32_t row_of(const marks *m, uint64_t slice)
{
	return is_marked(m, slice) ? *marked_row(m, slice) : ROW_NONE;
}

static bool number_marks(marks *m)
{
	size_t n_words = m->n_slices / 64 + 1;

	m->before = malloc(n_words * sizeof *m->before);
	for (size_t i = 0; m->before && i < n_words; i++) {
		m->before[i] = (uint32_t)m->n;
		m->n += (size_t)__builtin_popcountll(m->bits[i]);
	}
	m->rows = m->before ? malloc((m->n + 1) * sizeof *m->rows) : NULL;
	if (m->rows)
		memset(m->rows, 0xff, (m->n + 1) * sizeof *m->rows);
	return m->rows != NULL;
}

static bool marks_init(marks *m, const rows *r)
{
	table_cursor *c = malloc(sizeof *c);
	int64_t launch[COLUMNS_MAX];
	size_t n_steps;
	const index_step *steps = index_steps(r->ix, &n_steps);

	*m = (marks){ .n_slices = r->n_slices, .bits = calloc(r->n_slices / 64 + 1, sizeof *m->bits) };
	bool ok = m->bits && c;
	for (size_t i = 0; ok && i < n_steps; i++)
		mark(m, steps[i].slice);
	if (ok)
		table_first(c, r->ix, SECTION_LAUNCHES, 0);
	while (ok && table_next(c, launch))
		if (launch[LAUNCH_HOST] > 0)
			mark(m, (uint64_t)launch[LAUNCH_HOST] - 1);
	free(c);
	index_release_pages(r->ix);
	return ok && number_marks(m);
}

static void marks_done(marks *m)
{
	free(m->bits);
	free(m->before);
	free(m->rows);
}

/* ---- Tracks ------------------------------------------------------------------------------------------------------ */

/* Old writers gave a text: "stream 7". */
static int32_t stream_of(const sonde_index *ix, const index_track *track)
{
	int64_t id = track->id;

	if (track->id_text != INDEX_NONE) {
		const char *text = index_text(ix, track->id_text);
		text += strcspn(text, "0123456789");
		id = *text ? strtoll(text, NULL, 10) : -1;
	}
	return id >= 0 && id <= INT32_MAX ? (int32_t)id : -1;
}

static bool load_places(rows *r)
{
	bool has_ranks = index_has_ranks(r->ix);

	r->places = malloc((r->n_tracks + 1) * sizeof *r->places);
	for (size_t i = 0; r->places && i < r->n_tracks; i++) {
		const index_track *track = &r->tracks[i];
		/* A trace that never says has one rank: 0. */
		int32_t rank = has_ranks ? index_rank_of(r->ix, (uint32_t)i) : 0;
		r->places[i] = (rows_place){ INT64_MAX, INT64_MIN, rank,
					     track->kind == TRACK_STREAM ? stream_of(r->ix, track) : -1 };
	}
	return r->places != NULL;
}

/* ---- Slices ------------------------------------------------------------------------------------------------------ */

typedef struct loader {
	rows *r;
	rows_pages *pages;
	const rows_options *options;
	const index_lane *lanes;
	size_t n_lanes;
	marks marked;
	selection chosen;
	bool selects;
	bool *is_wanted;	/* by site; NULL: all are */
	uint32_t *row_of_slice; /* of slices on streams; ROW_NONE */
	size_t *first_of_lane;	/* by lane: where those of it begin there */
	uint32_t track;		/* of the row before */
	int64_t start_ns;
} loader;

static bool is_stream(const rows *r, size_t track)
{
	return r->tracks[track].kind == TRACK_STREAM;
}

static void widen(loader *l, uint32_t track, const index_slice *s)
{
	int64_t start_ns = s->start_ns - l->start_ns;

	place_widen(&l->r->places[track], start_ns, start_ns + (s->dur_ns > 0 ? s->dur_ns : 0));
}

static bool choose(void *context, const index_slice *s, uint32_t track)
{
	loader *l = context;

	if (l->selects) {
		bool is_in = selection_has(&l->chosen, s, track);
		l->r->n_left_out += !is_in;
		return is_in;
	}
	widen(l, track, s); /* the spans are those of all rows */
	return l->is_wanted[s->site] || is_stream(l->r, track) || is_marked(&l->marked, s->id);
}

static uint32_t *place_of_slice(const loader *l, uint32_t lane, uint64_t slice)
{
	return &l->row_of_slice[l->first_of_lane[lane] + (slice - l->lanes[lane].first_slice)];
}

static void put(void *context, const index_slice *s, uint32_t number)
{
	loader *l = context;
	uint32_t track = l->pages->blank.track;

	while (l->track != track)
		l->r->first_of_track[++l->track] = number;
	widen(l, track, s);
	if (is_marked(&l->marked, s->id))
		*marked_row(&l->marked, s->id) = number;
	if (is_stream(l->r, track))
		*place_of_slice(l, s->lane, s->id) = number;
}

static bool *find_wanted(const rows *r, const rows_options *options)
{
	bool *is_wanted = malloc(r->n_sites + 1);

	for (size_t i = 0; is_wanted && i < r->n_sites; i++)
		is_wanted[i] = options->wants(index_text(r->ix, r->sites[i].name), (site_class)r->sites[i].class);
	return is_wanted;
}

static bool find_stream_lanes(loader *l)
{
	size_t n = 0;

	l->first_of_lane = malloc((l->n_lanes + 1) * sizeof *l->first_of_lane);
	for (size_t i = 0; l->first_of_lane && i < l->n_lanes; i++) {
		l->first_of_lane[i] = n;
		n += l->lanes[i].track < l->r->n_tracks && is_stream(l->r, l->lanes[i].track) ? l->lanes[i].n_slices
											      : 0;
	}
	l->row_of_slice = l->first_of_lane ? big_alloc(n + 1, sizeof *l->row_of_slice) : NULL;
	if (l->row_of_slice)
		memset(l->row_of_slice, 0xff, (n + 1) * sizeof *l->row_of_slice);
	return l->row_of_slice != NULL;
}

/* Analyses keep some 8 bytes a slice beside the rows, most of them for kernels. A fifth is for what is not counted. */
static size_t pages_in_memory(const rows *r, const rows_options *o)
{
	enum { PAGE_BYTES = ROWS_PAGE * sizeof(row), LEAST_PAGES = 16 };
	size_t all = (o->memory_bytes ? o->memory_bytes : 1000000000) / 5 * 4, least = all / 12;
	size_t others = 8 * r->n_slices, n_pages = (others + least < all ? all - others : least) / PAGE_BYTES;

	return o->n_cached ? o->n_cached : n_pages > LEAST_PAGES ? n_pages : LEAST_PAGES;
}

static bool load_slices(loader *l)
{
	rows *r = l->r;
	const rows_options *o = l->options;
	bool filters = l->selects || o->wants;
	rows_pages *pages = calloc(1, sizeof *pages);

	r->store = l->pages = pages;
	if (!pages || !pages_init(pages, r, pages_in_memory(r, o)) ||
	    (o->wants && !(l->is_wanted = find_wanted(r, o))) ||
	    (filters && !(pages->left_out = calloc(r->n_slices / 8 + 1, 1))))
		return false;
	pages->context = l;
	pages->choose = choose;
	pages->put = put;
	r->first_of_track[0] = 0;
	bool ok = pages_load(pages);
	while (l->track < r->n_tracks)
		r->first_of_track[++l->track] = (uint32_t)r->n;
	return ok;
}

bool rows_are_paged(const rows *r)
{
	return r->store && r->n > r->store->n_slots * ROWS_PAGE;
}

/* ---- Links ------------------------------------------------------------------------------------------------------- */

static void link_launch(const loader *l, const int64_t *launch)
{
	rows *r = l->r;
	uint64_t device = (uint64_t)launch[LAUNCH_DEVICE];
	uint32_t lane = index_lane_of(r->ix, device);
	uint32_t track = lane == INDEX_NONE ? INDEX_NONE : l->lanes[lane].track;
	uint32_t host = launch[LAUNCH_HOST] > 0 ? row_of(&l->marked, (uint64_t)launch[LAUNCH_HOST] - 1) : ROW_NONE;

	if (track >= r->n_tracks || !is_stream(r, track))
		return;
	uint32_t at = *place_of_slice(l, lane, device);
	if (at == ROW_NONE)
		return;
	*rows_launch(r, track, at) = host;
	if (r->pages[at / ROWS_PAGE])
		r->pages[at / ROWS_PAGE][at % ROWS_PAGE].launch = host;
}

static bool load_launches(const loader *l)
{
	rows *r = l->r;
	table_cursor *c = malloc(sizeof *c);
	int64_t launch[COLUMNS_MAX];
	uint32_t n = 0;

	r->first_launch = malloc((r->n_tracks + 1) * sizeof *r->first_launch);
	for (size_t t = 0; r->first_launch && t < r->n_tracks; t++) {
		r->first_launch[t] = n;
		n += is_stream(r, t) ? r->first_of_track[t + 1] - r->first_of_track[t] : 0;
	}
	r->launches = big_alloc((size_t)n + 1, sizeof *r->launches);
	bool ok = c && r->first_launch && r->launches;
	if (ok) {
		memset(r->launches, 0xff, n * sizeof *r->launches);
		table_first(c, r->ix, SECTION_LAUNCHES, 0);
	}
	while (ok && table_next(c, launch))
		link_launch(l, launch);
	r->damaged |= ok && c->damaged;
	free(c);
	index_release_pages(r->ix);
	return ok;
}

static int compare_steps(const void *a, const void *b)
{
	const rows_step *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* The row is the slice's number until the rows are known. Copies of steps on a device's queue say when the device
   worked on a step, not when the step was. */
static bool load_steps(rows *r)
{
	size_t n;
	const index_step *steps = index_steps(r->ix, &n);
	int64_t span_ns = index_end_ns(r->ix) - index_start_ns(r->ix);

	r->steps = malloc((n + 1) * sizeof *r->steps);
	for (size_t i = 0; r->steps && i < n; i++) {
		const index_step *s = &steps[i];
		if (s->slice >= r->n_slices || s->track >= r->n_tracks || is_stream(r, s->track) || s->start_ns < 0 ||
		    s->dur_ns < 0 || s->start_ns > span_ns || s->dur_ns > span_ns - s->start_ns)
			continue;
		r->steps[r->n_steps++] = (rows_step){ s->number,	  s->start_ns, s->dur_ns,
						      (uint32_t)s->slice, s->track,    track_rank(r, s->track) };
	}
	if (r->n_steps)
		qsort(r->steps, r->n_steps, sizeof *r->steps, compare_steps);
	return r->steps != NULL;
}

static void link_steps(loader *l)
{
	rows *r = l->r;
	size_t n = 0;

	for (size_t i = 0; i < r->n_steps; i++) {
		uint32_t at = row_of(&l->marked, r->steps[i].row);
		if (at == ROW_NONE)
			continue;
		const row *of = ROW_AT(r, at);
		r->steps[n++] =
			(rows_step){ r->steps[i].number, of->start_ns, of->dur_ns, at, of->track, row_rank(r, of) };
	}
	r->n_steps = n;
	if (n)
		qsort(r->steps, n, sizeof *r->steps, compare_steps);
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

/* The rank, made when it is new; kept sorted. NULL when out of memory. */
static rows_rank *find_rank(rows *r, size_t *capacity, int32_t rank)
{
	size_t at = 0;

	while (at < r->n_ranks && r->ranks[at].rank < rank)
		at++;
	if (at < r->n_ranks && r->ranks[at].rank == rank)
		return &r->ranks[at];
	if (!vec_add((void **)&r->ranks, &r->n_ranks, capacity, sizeof *r->ranks))
		return NULL;
	memmove(&r->ranks[at + 1], &r->ranks[at], (r->n_ranks - 1 - at) * sizeof *r->ranks);
	r->ranks[at] = (rows_rank){ .rank = rank, .start_ns = INT64_MAX, .end_ns = INT64_MIN };
	return &r->ranks[at];
}

static bool find_ranks(rows *r)
{
	size_t capacity = 0;

	for (size_t t = 0; t < r->n_tracks; t++) {
		const rows_place *of = &r->places[t];
		if (of->start_ns == INT64_MAX)
			continue;
		rows_rank *rank = find_rank(r, &capacity, of->rank);
		if (!rank)
			return false;
		rank->start_ns = of->start_ns < rank->start_ns ? of->start_ns : rank->start_ns;
		rank->end_ns = of->end_ns > rank->end_ns ? of->end_ns : rank->end_ns;
	}
	return true;
}

/* Device rows are merged by start, then in the order of the file. */
typedef struct device_run {
	uint32_t at, end; /* rows, the next and behind the last */
	int64_t start_ns; /* of the next */
	uint32_t args;
} device_run;

/* Goes on to the next device row; false: there is none. */
static bool run_next(const rows *r, device_run *run)
{
	for (; run->at < run->end; run->at++) {
		const row *at = ROW_AT(r, run->at);
		if (!(at->flags & ROW_DEVICE))
			continue;
		run->start_ns = at->start_ns;
		run->args = at->args;
		return true;
	}
	return false;
}

/* Of several that are the same, that of the first run, whose rows come first. */
static bool is_before(const device_run *a, const device_run *b)
{
	return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->args < b->args;
}

typedef VEC(device_run) device_runs;

/* The rows of the rank's streams, cut where one comes before the one before it. */
static bool find_runs(const rows *r, int32_t rank, device_runs *runs)
{
	for (size_t t = 0; t < r->n_tracks; t++) {
		device_run at = { .at = r->first_of_track[t], .end = r->first_of_track[t + 1] }, last;
		if (!is_stream(r, t) || track_rank(r, t) != rank)
			continue;
		for (bool is_first = true; run_next(r, &at); is_first = false, at.at++) {
			if (is_first || is_before(&at, &last)) {
				device_run *run = VEC_ADD(runs);
				if (!run)
					return false;
				*run = at;
			}
			runs->items[runs->n - 1].end = at.at + 1;
			last = at;
		}
	}
	return true;
}

static void sink_run(device_runs *heap, size_t at)
{
	for (;;) {
		size_t first = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->n; child++)
			if (is_before(&heap->items[child], &heap->items[first]) ||
			    (!is_before(&heap->items[first], &heap->items[child]) &&
			     heap->items[child].at < heap->items[first].at))
				first = child;
		if (first == at)
			return;
		device_run moved = heap->items[at];
		heap->items[at] = heap->items[first];
		heap->items[first] = moved;
		at = first;
	}
}

static bool list_rank(rows *r, rows_rank *rank)
{
	device_runs runs = { 0 };
	bool ok = find_runs(r, rank->rank, &runs);

	for (size_t i = runs.n; ok && i-- > 0;)
		sink_run(&runs, i);
	while (ok && runs.n) {
		r->device_rows[r->n_device++] = runs.items[0].at++;
		rank->n_device++;
		if (!run_next(r, &runs.items[0]))
			runs.items[0] = runs.items[--runs.n];
		sink_run(&runs, 0);
	}
	VEC_DONE(&runs);
	return ok;
}

static bool list_device(rows *r)
{
	size_t n = 0;

	for (size_t t = 0; t < r->n_tracks; t++)
		n += is_stream(r, t) ? r->first_of_track[t + 1] - r->first_of_track[t] : 0;
	r->device_rows = big_alloc(n + 1, sizeof *r->device_rows);
	bool ok = r->device_rows != NULL;
	for (size_t i = 0; ok && i < r->n_ranks; i++)
		ok = list_rank(r, &r->ranks[i]);
	return ok;
}

/* A device row and what launched it. */
typedef struct launched_row {
	uint32_t launch, row;
} launched_row;

#define SORT_NAME sort_launched
#define SORT_TYPE launched_row
#define SORT_BEFORE(a, b) ((a)->launch < (b)->launch)
#include "base/sort_template.h"

uint32_t *rows_by_launch(const rows *r, size_t *ret_n)
{
	launched_row *pairs = big_alloc(r->n_device + 1, sizeof *pairs);
	uint32_t *sorted = NULL;
	size_t n = 0;

	for (size_t i = 0; pairs && i < r->n_device; i++) {
		uint32_t launch = rows_launch_of(r, r->device_rows[i]);
		if (launch != ROW_NONE)
			pairs[n++] = (launched_row){ launch, r->device_rows[i] };
	}
	if (pairs && sort_launched(pairs, n))
		sorted = big_alloc(n + 1, sizeof *sorted);
	for (size_t i = 0; sorted && i < n; i++)
		sorted[i] = pairs[i].row;
	free(pairs);
	*ret_n = sorted ? n : 0;
	return sorted;
}

/* Both lists are sorted by rank. */
static void divide(rows *r)
{
	size_t device = 0, step = 0;

	for (size_t i = 0; i < r->n_ranks; i++) {
		rows_rank *rank = &r->ranks[i];
		rank->device = r->device_rows + device;
		device += rank->n_device;
		while (step < r->n_steps && r->steps[step].rank < rank->rank)
			step++;
		rank->steps = r->steps + step;
		while (step < r->n_steps && r->steps[step].rank == rank->rank)
			step++;
		rank->n_steps = (size_t)(r->steps + step - rank->steps);
	}
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

rows_options rows_options_from(const sonde_analyze_options *from)
{
	return (rows_options){ .use_steps = from->use_steps,
			       .first_step = from->first_step,
			       .last_step = from->last_step,
			       .n_warmup = warmup_given(from),
			       .ranks = from->ranks,
			       .use_time = from->use_time,
			       .from_ns = from->from_ns,
			       .to_ns = from->to_ns,
			       .memory_bytes = from->memory_bytes };
}

static bool load(loader *l)
{
	rows *r = l->r;

	r->first_of_track = malloc((r->n_tracks + 1) * sizeof *r->first_of_track);
	return r->first_of_track && load_places(r) && load_steps(r) && marks_init(&l->marked, r) &&
	       (!l->selects || selection_init(&l->chosen, r, l->options)) && find_stream_lanes(l) && load_slices(l) &&
	       load_launches(l);
}

static void loader_done(loader *l)
{
	marks_done(&l->marked);
	selection_done(&l->chosen);
	free(l->is_wanted);
	free(l->row_of_slice);
	free(l->first_of_lane);
}

sonde_status rows_load(const sonde_trace *trace, const rows_options *options, rows *ret_rows, sonde_error *err)
{
	rows *r = ret_rows;
	rows_options how = options ? *options : (rows_options){ 0 };
	loader l = { .r = r, .options = &how, .selects = how.use_steps || how.n_warmup || how.ranks || how.use_time };

	if (l.selects)
		how.wants = NULL;
	*r = (rows){ .trace = trace, .ix = trace->index };
	if (how.ranks && !number_list_is_valid(how.ranks))
		return error_set(err, SONDE_E_USAGE, -1, "invalid ranks \"%s\": expected a list such as 0,2-4",
				 how.ranks);
	if (!r->ix)
		return SONDE_OK;
	r->sites = index_sites(r->ix, &r->n_sites);
	r->tracks = index_tracks(r->ix, &r->n_tracks);
	l.lanes = index_lanes(r->ix, &l.n_lanes);
	l.start_ns = index_start_ns(r->ix);
	uint64_t n = index_n_slices(r->ix);
	if (n >= ROW_NONE)
		return error_set(err, SONDE_E_UNSUPPORTED, -1, "%" PRIu64 " slices exceed the limit of the analyses",
				 n);
	r->n_slices = (size_t)n;
	bool ok = load(&l);
	if (ok)
		link_steps(&l);
	loader_done(&l);
	if (!ok || !find_ranks(r) || !list_device(r))
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	divide(r);
	return SONDE_OK;
}

void rows_done(rows *r)
{
	pages_done(r->store);
	free(r->pages);
	free(r->page_sites);
	free(r->first_of_track);
	free(r->launches);
	free(r->first_launch);
	free(r->places);
	free(r->ranks);
	free(r->steps);
	free(r->device_rows);
	*r = (rows){ 0 };
}
