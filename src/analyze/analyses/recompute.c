/*
 * What of the device's time repeats what was computed before: activation checkpointing throws results of the forward
 * pass away and computes them again for the backward pass.
 *
 * Recomputed is what is launched below the Python function recompute_fn of torch's checkpoint.py or, where checkpoints
 * are reentrant, inside the operator CheckpointFunctionBackward but for the backward pass that it runs itself.
 */
#include "analyze/tables/op_calls.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"

static const column rank_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "n_rows", "kernels", CELL_COUNT, 0, false },
	{ "recomputed_ns", "recomputed", CELL_NS, 0, false },
	{ "device_ns", "of device time", CELL_NS, 0, false },
	{ "percent", "%", CELL_PERCENT, 0, true },
	{ "n_host_rows", "host rows", CELL_COUNT, 2, false },
};
static const column op_columns[] = {
	{ "name", "operator", CELL_STRING, 0, false },	   { "rank", "rank", CELL_INTEGER, 1, false },
	{ "count", "calls", CELL_COUNT, 0, false },	   { "recomputed_ns", "recomputed", CELL_NS, 0, false },
	{ "direct_ns", "of its time", CELL_NS, 0, false }, { "percent", "%", CELL_PERCENT, 0, true },
};
#define N_COLUMNS(of) (sizeof(of) / sizeof(of)[0])

enum { STARTS = 1, BACKWARD = 2 };

static uint8_t *look_at_sites(const rows *r, bool *ret_has_python)
{
	uint8_t *flags = calloc(r->n_sites + 1, 1);

	for (size_t i = 0; flags && i < r->n_sites; i++) {
		const char *name = index_text(r->ix, r->sites[i].name);
		bool is_python = r->sites[i].class == CLASS_PYTHON;
		*ret_has_python |= is_python;
		if ((is_python && strstr(name, "checkpoint.py") && strstr(name, "recompute_fn")) ||
		    strncmp(name, "CheckpointFunctionBackward", 26) == 0)
			flags[i] = STARTS;
		else if (strncmp(name, "autograd::engine::evaluate_function", 35) == 0)
			flags[i] = BACKWARD;
	}
	return flags;
}

/* A bit for each row: it recomputes. */
static uint64_t *mark_rows(const rows *r, const uint8_t *sites)
{
	uint64_t *marks = calloc(r->n / 64 + 1, sizeof *marks);

	for (uint32_t i = 0, end = 0, backward_end = 0; marks && i < r->n; i++) {
		uint8_t flags = sites[rows_at(r, i).site];
		if ((flags & STARTS) && i >= end)
			end = rows_at(r, i).end;
		if ((flags & BACKWARD) && i < end && i >= backward_end)
			backward_end = rows_at(r, i).end;
		if (i < end && i >= backward_end)
			marks[i / 64] |= UINT64_C(1) << i % 64;
	}
	return marks;
}

static bool is_marked(const uint64_t *marks, uint32_t i)
{
	return marks[i / 64] >> i % 64 & 1;
}

/* Rows of the track that recompute, if it is one of the rank. */
static uint64_t count_marks(const rows *r, const uint64_t *marks, size_t track, int32_t rank)
{
	uint32_t i = r->first_of_track[track], end = r->first_of_track[track + 1];
	uint64_t n = 0;

	for (; i < end && track_rank(r, track) == rank; i++)
		n += is_marked(marks, i);
	return n;
}

static bool put_ranks(const work *w, const uint64_t *marks, sonde_result *r, coverage *covered)
{
	table *t = result_table(r, "recompute", "Recomputed", rank_columns, N_COLUMNS(rank_columns));
	bool ok = true;

	for (size_t k = 0; ok && k < w->n_ranks; k++) {
		const work_rank *rank = &w->ranks[k];
		work_spans all = { 0 }, again = { 0 };
		uint64_t n = 0, n_host = 0;
		for (size_t i = 0; i < rank->n; i++) {
			const work_item *item = WORK_AT(w, rank, i);
			bool is_again =
				item->launch != WORK_NONE && is_marked(marks, work_call_at(w, rank, item->launch).row);
			spans_add(&all, item->start, item->start + item->dur);
			if (is_again)
				spans_add(&again, item->start, item->start + item->dur);
			n += is_again;
			cover(covered, item, item->launch != WORK_NONE);
		}
		for (size_t i = 0; i < w->rows.n_tracks; i++)
			n_host += count_marks(&w->rows, marks, i, rank->rank);
		ok = !all.failed && !again.failed;
		int64_t busy = spans_length(&all), recomputed = spans_length(&again);
		if (ok && rank->n) {
			cell *c = table_row(r, t, 0);
			*c++ = cell_integer(rank->rank);
			*c++ = cell_count(n);
			*c++ = work_cell(w, recomputed);
			*c++ = work_cell(w, busy);
			*c++ = percent_of((double)recomputed, (double)busy);
			*c++ = cell_count(n_host);
		}
		spans_done(&all);
		spans_done(&again);
	}
	return ok;
}

typedef struct op_again {
	uint32_t name, rank;
	uint32_t first_item; /* of op_calls */
	uint64_t n_calls, n; /* n: of them again */
	int64_t again, direct;
} op_again;

#define SORT_NAME sort_again
#define SORT_TYPE op_again
#define SORT_BEFORE(a, b) ((a)->again != (b)->again ? (a)->again > (b)->again : (a)->first_item < (b)->first_item)
#include "base/sort_template.h"

typedef struct again_sums {
	const work *w;
	const uint64_t *marks;
	intern_table keys;
	VEC(op_again) items;
} again_sums;

static bool add_call(void *context, const op_call *one)
{
	again_sums *to = context;
	const rows *in = &to->w->rows;
	uint32_t key[] = { in->sites[rows_at(in, one->row).site].name, one->rank };
	uint32_t at = intern(&to->keys, (const char *)key, sizeof key);

	if (at == INTERN_NONE || (at == to->items.n && !VEC_ADD(&to->items)))
		return false;
	op_again *s = &to->items.items[at];
	if (!s->n_calls++ || one->first_item < s->first_item)
		s->first_item = one->first_item;
	s->name = key[0];
	s->rank = key[1];
	s->direct = add_bounded(s->direct, one->direct);
	s->n += is_marked(to->marks, one->row);
	s->again = add_bounded(s->again, is_marked(to->marks, one->row) ? one->direct : 0);
	return true;
}

static bool put_ops(const work *w, const uint64_t *marks, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "recomputed_ops", "Recomputed operators", op_columns, N_COLUMNS(op_columns));
	again_sums sums = { .w = w, .marks = marks };
	op_calls o;
	bool ok = op_calls_load(&o, w, add_call, &sums) && sort_again(sums.items.items, sums.items.n);

	op_calls_done(&o);
	for (size_t i = 0; ok && i < sums.items.n && sums.items.items[i].n; i++) {
		const op_again *s = &sums.items.items[i];
		cell *c = table_row(r, t, 0);
		*c++ = cell_string(result_string(r, index_text(w->rows.ix, s->name)));
		*c++ = cell_integer(w->ranks[s->rank].rank);
		*c++ = cell_count(s->n);
		*c++ = work_cell(w, s->again);
		*c++ = work_cell(w, s->direct);
		*c++ = percent_of((double)s->again, (double)s->direct);
	}
	limit_rows(r, t, options, "operators");
	if (t && !t->n_rows)
		t->n_shown = 0;
	intern_done(&sums.keys);
	VEC_DONE(&sums.items);
	return ok;
}

static void say_why_none(const work *w, const uint64_t *marks, bool has_python, sonde_result *r)
{
	for (size_t i = 0; i < w->rows.n / 64 + 1; i++)
		if (marks[i])
			return;
	if (!w->is_empty)
		result_note_add(r, "note", "%s",
				has_python
					? "no recomputation: the trace has no activation checkpoints"
					: "no Python rows, so only reentrant checkpoints are visible; there are none");
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	coverage covered = { 0 };
	bool has_python = false;
	uint8_t *sites = look_at_sites(&w->rows, &has_python);
	uint64_t *marks = sites ? mark_rows(&w->rows, sites) : NULL;
	bool ok = marks && put_ranks(w, marks, r, &covered) && put_ops(w, marks, options, r);

	if (ok) {
		say_why_none(w, marks, has_python, r);
		work_covers(w, r, "recompute", &covered, "without a launch in the trace");
	}
	free(sites);
	free(marks);
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis recompute_work = { .add = add };

const analysis recompute_analysis = {
	.name = "recompute",
	.summary = "Device time of recomputation for activation checkpointing",
	.compat = "tracelens",
	.work = &recompute_work,
};
