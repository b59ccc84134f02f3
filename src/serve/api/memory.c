/*
 * Memory over time, device by device: what was allocated in each pixel at most and in the end, the peak, and what the
 * peak was made of.
 *
 * Two passes over the allocations. The first finds curves and peaks; the second follows blocks by address until the
 * peak of their device and sums what is left by the innermost slice that allocated it. Of very many blocks only the
 * largest are looked up; the others are told as one sum.
 */
#include <stdlib.h>
#include <string.h>
#include "serve/blocks.h"
#include "serve/routes.h"

enum { PIXELS_MAX = 4096, DEVICES_MAX = 64, LOOKED_UP = 20000, NAMES_MAX = 100 };

typedef struct device {
	int32_t rank;
	uint32_t number;     /* for trace_device_name() */
	int64_t *max, *last; /* per pixel; -1: nothing happened there */
	int64_t current, peak, peak_ns;
	uint64_t peak_row;
	uint64_t n_allocations, n_frees;
	bool is_total_known; /* the trace says what is allocated; else it is summed up from 0 */
} device;

typedef struct memory {
	const sonde_trace *trace;
	const sonde_index *ix;
	device devices[DEVICES_MAX];
	size_t n, n_pixels;
	int64_t length_ns;
	uint64_t n_left_out; /* allocations of more devices than there is room for */
	blocks blocks;
	table_cursor rows;
} memory;

/* ---- Curves ------------------------------------------------------------------------------------------------------ */

/* NULL: no room. */
static device *device_of(memory *m, const int64_t *row, bool *failed)
{
	int32_t rank = index_rank_of(m->ix, (uint32_t)row[ALLOCATION_TRACK]);
	uint32_t number = trace_device_of(m->trace, row);

	for (size_t i = 0; i < m->n; i++)
		if (m->devices[i].rank == rank && m->devices[i].number == number)
			return &m->devices[i];
	if (m->n == DEVICES_MAX)
		return NULL;
	device *d = &m->devices[m->n];
	*d = (device){ .rank = rank, .number = number, .peak = -1 };
	d->max = malloc(2 * m->n_pixels * sizeof *d->max);
	if (!d->max) {
		*failed = true;
		return NULL;
	}
	m->n++;
	d->last = d->max + m->n_pixels;
	memset(d->max, 0xff, 2 * m->n_pixels * sizeof *d->max);
	return d;
}

static void add_row(memory *m, device *d, const int64_t *row, uint64_t number)
{
	int64_t bytes = row[ALLOCATION_BYTES], total = row[ALLOCATION_TOTAL];
	int64_t at = row[ALLOCATION_TIME] < 0 ? 0 : row[ALLOCATION_TIME];
	size_t pixel = m->length_ns > 0 ? (size_t)((__int128)at * (int64_t)m->n_pixels / m->length_ns) : 0;

	d->n_allocations += bytes >= 0;
	d->n_frees += bytes < 0;
	d->is_total_known |= total >= 0;
	if (total < 0 && __builtin_add_overflow(d->current, bytes, &total))
		total = d->current;
	d->current = total < 0 ? 0 : total;
	pixel = pixel < m->n_pixels ? pixel : m->n_pixels - 1;
	if (d->current > d->max[pixel])
		d->max[pixel] = d->current;
	d->last[pixel] = d->current;
	if (d->current > d->peak) {
		d->peak = d->current;
		d->peak_ns = at;
		d->peak_row = number;
	}
}

static bool read_curves(memory *m)
{
	int64_t row[COLUMNS_MAX];
	bool failed = false;

	table_first(&m->rows, m->ix, SECTION_ALLOCATIONS, 0);
	while (!failed && table_next(&m->rows, row)) {
		device *d = device_of(m, row, &failed);
		if (d)
			add_row(m, d, row, m->rows.row - 1);
		else
			m->n_left_out++;
	}
	return !failed;
}

/* ---- The peak ---------------------------------------------------------------------------------------------------- */

static bool read_blocks(memory *m)
{
	int64_t row[COLUMNS_MAX];
	bool failed = false, ok = true;

	table_first(&m->rows, m->ix, SECTION_ALLOCATIONS, 0);
	while (ok && table_next(&m->rows, row)) {
		const device *d = device_of(m, row, &failed);
		if (!d || m->rows.row - 1 > d->peak_row)
			continue;
		block b = { .owner = (uint32_t)(d - m->devices),
			    .track = (uint32_t)row[ALLOCATION_TRACK],
			    .address = (uint64_t)row[ALLOCATION_ADDRESS],
			    .time_ns = row[ALLOCATION_TIME],
			    .bytes = row[ALLOCATION_BYTES] };
		if (b.bytes < 0)
			blocks_remove(&m->blocks, b.owner, b.address);
		else
			ok = blocks_add(&m->blocks, &b);
	}
	return ok;
}

/* The innermost slice of the track at the time, or INDEX_NO_SLICE. */
static uint64_t slice_at(const sonde_index *ix, uint32_t track, int64_t ns)
{
	size_t n_tracks;
	const index_track *t = &index_tracks(ix, &n_tracks)[track];
	uint64_t found = INDEX_NO_SLICE;
	size_t n_lanes;
	const index_lane *lanes = index_lanes(ix, &n_lanes);
	index_slice s;

	for (uint32_t lane = t->n_lanes ? t->first_lane : INDEX_NONE; lane != INDEX_NONE;
	     lane = index_lane_below(ix, lane)) {
		uint64_t row = lane_find_end(ix, lane, ns);
		if (row >= lanes[lane].n_slices || !index_slice_at(ix, lanes[lane].first_slice + row, &s) ||
		    s.start_ns > ns)
			break;
		found = s.id;
	}
	return found;
}

typedef struct share {
	uint32_t site; /* INDEX_NONE: outside of all slices */
	uint64_t n_blocks;
	int64_t bytes;
} share;

static int by_bytes(const void *a, const void *b)
{
	const share *x = a, *y = b;

	return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : x->site < y->site ? -1 : x->site > y->site;
}

/* One row per site that allocated, and one for none; *left gets what was not looked up. */
static size_t sum_blocks(const memory *m, uint32_t owner, share *shares, size_t n_sites, int64_t *left)
{
	size_t n = 0, looked_up = 0;

	for (size_t i = 0; i <= n_sites; i++)
		shares[i] = (share){ .site = i < n_sites ? (uint32_t)i : INDEX_NONE };
	for (size_t i = 0; i < m->blocks.n; i++) {
		const block *b = &m->blocks.items[i];
		index_slice s;
		if (b->owner != owner)
			continue;
		if (looked_up++ >= LOOKED_UP) {
			*left += b->bytes;
			continue;
		}
		uint64_t id = slice_at(m->ix, b->track, index_start_ns(m->ix) + b->time_ns);
		share *to = &shares[index_slice_at(m->ix, id, &s) ? s.site : n_sites];
		to->bytes += b->bytes;
		to->n_blocks++;
	}
	for (size_t i = 0; i <= n_sites; i++)
		if (shares[i].n_blocks)
			shares[n++] = shares[i];
	qsort(shares, n, sizeof *shares, by_bytes);
	return n;
}

static void put_composition(json_writer *w, const memory *m, uint32_t owner, share *shares)
{
	size_t n_sites;
	const index_site *sites = index_sites(m->ix, &n_sites);
	int64_t left = 0, told = 0;
	size_t n = sum_blocks(m, owner, shares, n_sites, &left);

	for (size_t i = 0; i < n; i++)
		told += shares[i].bytes;
	if (told + left > m->devices[owner].peak) {
		json_key(w, "composition");
		json_null(w);
		put_text(w, "composition_reason", "The trace does not say which blocks were freed.");
		return;
	}
	put_list(w, "composition");
	for (size_t i = 0; i < n && i < NAMES_MAX; i++) {
		json_begin_object(w);
		put_text(w, "name",
			 shares[i].site == INDEX_NONE ? NULL : index_text(m->ix, sites[shares[i].site].name));
		put_u64(w, "n_blocks", shares[i].n_blocks);
		put_i64(w, "bytes", shares[i].bytes);
		json_end_object(w);
	}
	json_end_array(w);
	/* Allocated before the recording began, or never told. */
	put_i64(w, "unknown_bytes", m->devices[owner].peak - told - left);
	for (size_t i = NAMES_MAX; i < n; i++)
		left += shares[i].bytes;
	put_i64(w, "other_bytes", left);
}

/* ---- The answer -------------------------------------------------------------------------------------------------- */

/* A level holds until the next. Before the first it is unknown. */
static void put_curve(json_writer *w, const char *key, const device *d, const int64_t *values, size_t n)
{
	int64_t held = -1;

	put_list(w, key);
	for (size_t i = 0; i < n; i++) {
		int64_t value = values[i] >= 0 ? (values[i] > held ? values[i] : held) : held;
		if (values == d->last && values[i] >= 0)
			value = values[i];
		if (value < 0)
			json_null(w);
		else
			json_i64(w, value);
		if (d->last[i] >= 0)
			held = d->last[i];
	}
	json_end_array(w);
}

static void put_device(json_writer *w, const memory *m, uint32_t number, share *shares)
{
	const device *d = &m->devices[number];
	char name[64];

	json_begin_object(w);
	put_text(w, "name", trace_device_name(m->trace, d->number, name, sizeof name));
	put_known(w, "rank", d->rank >= 0, d->rank);
	put_bool(w, "is_total_known", d->is_total_known);
	put_u64(w, "n_allocations", d->n_allocations);
	put_u64(w, "n_frees", d->n_frees);
	put_i64(w, "peak_bytes", d->peak);
	put_i64(w, "peak_ns", d->peak_ns);
	put_i64(w, "end_bytes", d->current);
	put_curve(w, "max", d, d->max, m->n_pixels);
	put_curve(w, "last", d, d->last, m->n_pixels);
	put_composition(w, m, number, shares);
	json_end_object(w);
}

static void put_memory(reply *out, const memory *m, share *shares)
{
	json_writer *w = reply_json(out);

	json_begin_object(w);
	put_bool(w, "available", true);
	put_u64(w, "px", m->n_pixels);
	put_i64(w, "duration_ns", m->length_ns);
	put_u64(w, "n_left_out", m->n_left_out);
	put_list(w, "devices");
	for (uint32_t i = 0; i < m->n; i++)
		put_device(w, m, i, shares);
	json_end_array(w);
	json_end_object(w);
}

static void put_none(reply *out)
{
	json_writer *w = reply_json(out);

	json_begin_object(w);
	put_bool(w, "available", false);
	put_text(w, "reason", "The trace has no allocations.");
	put_text(w, "command", "torch.profiler.profile(profile_memory=True), or sonde_alloc() and sonde_free() in C");
	json_end_object(w);
}

void api_memory(call *c, reply *out)
{
	memory *m = calloc(1, sizeof *m);
	size_t n_sites;

	index_sites(c->opened->ix, &n_sites);
	share *shares = calloc(n_sites + 1, sizeof *shares);
	size_t n_pixels = (size_t)request_number(c->request, "px", 1, PIXELS_MAX, 1000);
	if (!m || !shares) {
		reply_out_of_memory(out);
	} else if (!call_failed(c, out)) {
		m->trace = c->opened->trace;
		m->ix = c->opened->ix;
		m->n_pixels = n_pixels;
		m->length_ns = since_start(m->ix, index_end_ns(m->ix));
		if (!index_n_rows(m->ix, SECTION_ALLOCATIONS))
			put_none(out);
		else if (read_curves(m) && read_blocks(m)) {
			blocks_sort(&m->blocks);
			put_memory(out, m, shares);
		} else
			reply_out_of_memory(out);
	}
	for (size_t i = 0; m && i < m->n; i++)
		free(m->devices[i].max);
	if (m)
		blocks_done(&m->blocks);
	free(m);
	free(shares);
}
