/*
 * The program's own names for its parts: how long each took on the host and on the device, and the kernels inside those
 * on the device: each belongs to the shortest annotation of its queue that it overlaps.
 */
#include "analyze/tables/name_sums.h"

#include <stdlib.h>
#include "base/big.h"

static const column annotation_columns[] = {
	{ "name", "annotation", CELL_STRING, 0, false },
	{ "where", "where", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 0, false },
	NAME_SUM_COLUMNS,
};
static const column kernel_columns[] = {
	{ "name", "annotation", CELL_STRING, 0, false },
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "count", "kernels", CELL_COUNT, 0, false },
	{ "sum_ns", "time", CELL_NS, 0, false },
};

static uint32_t name_of(const work *w, uint32_t at)
{
	return w->rows.sites[rows_at(&w->rows, at).site].name;
}

static bool add_names(const work *w, const work_rank *rank, sonde_result *r, table *t, name_sums *sums)
{
	for (size_t i = 0; i < rank->n_annotations; i++) {
		const work_annotation *a = &rank->annotations[i];
		if (!name_sums_add(sums, name_of(w, a->row), a->on_device, a->dur))
			return false;
	}
	name_sums_sort(sums, w);
	for (size_t i = 0; i < sums->items.n; i++) {
		const name_sum *s = &sums->items.items[i];
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(result_string(r, index_text(w->rows.ix, s->name)));
		c[1] = cell_string(s->kind ? "device" : "host");
		c[2] = cell_integer(rank->rank);
		name_sum_cells(w, s, c + 3);
	}
	name_sums_clear(sums);
	return true;
}

/* ---- Kernels inside ---------------------------------------------------------------------------------------------- */

/* An annotation of a queue. */
typedef struct placed {
	int64_t start, end;
	uint32_t track, index;
} placed;

#define SORT_NAME sort_placed
#define SORT_TYPE placed
#define SORT_BEFORE(a, b) ((a)->track != (b)->track ? (a)->track < (b)->track : (a)->start < (b)->start)
#include "base/sort_template.h"

static uint32_t work_track(const work *w, const work_rank *rank, size_t i)
{
	return rows_at(&w->rows, work_is_ours(w) ? rank->device[i] : rank->items[i].row).track;
}

/* The items track after track; those of one are by start already. Returns NULL when out of memory. */
static uint32_t *order_by_track(const work *w, const work_rank *rank)
{
	size_t *firsts = calloc(w->rows.n_tracks + 1, sizeof *firsts);
	uint32_t *order = firsts ? big_alloc(rank->n + 1, sizeof *order) : NULL;

	for (size_t i = 0; order && i < rank->n; i++)
		firsts[work_track(w, rank, i) + 1]++;
	for (size_t i = 0; order && i < w->rows.n_tracks; i++)
		firsts[i + 1] += firsts[i];
	for (uint32_t i = 0; order && i < rank->n; i++)
		order[firsts[work_track(w, rank, i)]++] = i;
	free(firsts);
	return order;
}

static placed *list_notes(const work *w, const work_rank *rank, size_t *ret_n)
{
	placed *notes = malloc((rank->n_annotations + 1) * sizeof *notes);
	size_t n = 0;

	for (uint32_t i = 0; notes && i < rank->n_annotations; i++) {
		const work_annotation *a = &rank->annotations[i];
		if (a->on_device)
			notes[n++] = (placed){ a->start, a->start + a->dur, rows_at(&w->rows, a->row).track, i };
	}
	*ret_n = n;
	return notes;
}

/* The annotations that a kernel can overlap are among those that have begun and not ended: a list that is short, for
   annotations nest. It is limited all the same. */
enum { OPEN_MAX = 256 };

typedef struct open_list {
	const placed *items[OPEN_MAX];
	size_t n;
} open_list;

static void open_until(open_list *open, const placed *notes, size_t n_notes, size_t *next, uint32_t track,
		       int64_t start, int64_t end)
{
	size_t n = 0;

	for (size_t i = 0; i < open->n; i++)
		if (open->items[i]->track == track && open->items[i]->end > start)
			open->items[n++] = open->items[i];
	open->n = n;
	for (; *next < n_notes; ++*next) {
		const placed *note = &notes[*next];
		if (note->track > track || (note->track == track && note->start >= end))
			return;
		if (note->track == track && note->end > start && open->n < OPEN_MAX)
			open->items[open->n++] = note;
	}
}

static const placed *shortest(const open_list *open, int64_t start, int64_t end)
{
	const placed *best = NULL;

	for (size_t i = 0; i < open->n; i++) {
		const placed *note = open->items[i];
		if (note->start < end && note->end > start &&
		    (!best || note->end - note->start < best->end - best->start))
			best = note;
	}
	return best;
}

static bool add_kernels(const work *w, const work_rank *rank, sonde_result *r, table *t, name_sums *sums)
{
	size_t n_notes, next = 0;
	placed *notes = list_notes(w, rank, &n_notes);
	uint32_t *order = n_notes ? order_by_track(w, rank) : NULL;
	open_list open = { .n = 0 };
	bool ok = notes && (order || !n_notes) && sort_placed(notes, n_notes);

	for (size_t i = 0; ok && n_notes && i < rank->n; i++) {
		const work_item *item = WORK_AT(w, rank, order[i]);
		int64_t end = item->start + item->dur;
		open_until(&open, notes, n_notes, &next, rows_at(&w->rows, item->row).track, item->start, end);
		const placed *note = shortest(&open, item->start, end);
		uint32_t name = note ? name_of(w, rank->annotations[note->index].row) : INDEX_NONE;
		ok = name_sums_add(sums, name, 0, item->dur);
	}
	name_sums_sort(sums, w);
	for (size_t i = 0; ok && i < sums->items.n; i++) {
		const name_sum *s = &sums->items.items[i];
		cell *c = table_row(r, t, 0);
		c[0] = cell_string(result_string(r, index_text(w->rows.ix, s->name)));
		c[1] = cell_integer(rank->rank);
		c[2] = cell_count(s->n);
		c[3] = work_cell_f64(w, (double)s->sum);
	}
	name_sums_clear(sums);
	free(notes);
	free(order);
	return ok;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	name_sums sums;
	bool ok = name_sums_init(&sums, w);

	table *t = result_table(r, "annotations", "Annotations", annotation_columns,
				sizeof annotation_columns / sizeof annotation_columns[0]);
	for (size_t i = 0; ok && i < w->n_ranks; i++)
		ok = add_names(w, &w->ranks[i], r, t, &sums);
	table *kernels = result_table(r, "annotation_kernels", "Kernels by the innermost annotation on the device",
				      kernel_columns, sizeof kernel_columns / sizeof kernel_columns[0]);
	for (size_t i = 0; ok && i < w->n_ranks; i++)
		ok = add_kernels(w, &w->ranks[i], r, kernels, &sums);
	limit_rows(r, t, options, "annotations");
	limit_rows(r, kernels, options, "annotations");
	if (kernels && !kernels->n_rows)
		kernels->n_shown = 0;
	if (ok && t && !t->n_rows) {
		t->n_shown = 0;
		result_note_add(r, "annotations", "no annotations: record_function, NVTX or scopes create them");
	}
	name_sums_done(&sums);
	return ok ? SONDE_OK : out_of_memory(err);
}

const work_analysis annotations_work = { .add = add, .needs_no_device = true, .few_rows = true };

const analysis annotations_analysis = {
	.name = "annotations",
	.summary = "Durations of the program's annotations, on the host and on the device",
	.compat = WORK_COMPAT,
	.work = &annotations_work,
};
