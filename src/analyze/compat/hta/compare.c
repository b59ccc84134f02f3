/*
 * The trace diff of Holistic Trace Analysis 0.6.1: how often each name runs and how long in the first step of two
 * traces, on the CPU, the GPU, and both together.
 *
 * HTA's own rules: microseconds, starts rounded up and ends rounded down where the file's times have fractions; a row
 * is on the GPU when it has a stream, whatever it is; a row with a stream above 0 belongs to the step in which it was
 * launched, any other to the one in which it starts. One rank of each trace: the first.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/compare/comparison.h"
#include "analyze/math/stats.h"
#include "base/error.h"
#include "base/intern.h"

enum { CONTROL, TEST, N_SIDES };
enum { ON_CPU, ON_GPU, ON_ALL, N_DEVICES };
static const char *const device_keys[] = { "cpu", "gpu", "all" };

typedef struct diff_name {
	uint64_t counts[N_DEVICES][N_SIDES];
	int64_t total_us[N_DEVICES][N_SIDES];
} diff_name;

typedef struct trace_diff {
	intern_table texts;
	VEC(diff_name) names; /* by number in texts */
	int64_t steps[N_SIDES];
} trace_diff;

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static int64_t floor_us(int64_t ns)
{
	return ns / 1000 - (ns % 1000 < 0);
}

static int64_t ceil_us(int64_t ns)
{
	return -floor_us(-ns);
}

static bool has_fractions(const rows *r, int64_t origin_ns)
{
	for (size_t i = 0; i < r->n; i++)
		if ((origin_ns + rows_at(r, i).start_ns) % 1000)
			return true;
	return false;
}

static int64_t duration_us(const row *at, int64_t origin_ns, bool rounds)
{
	int64_t start = origin_ns + at->start_ns;

	return rounds ? floor_us(start + at->dur_ns) - ceil_us(start) : at->dur_ns / 1000;
}

/* What its arguments say, else that of its queue; -1: none. */
static int64_t stream_of(const rows *r, const args_column *streams, const row *at)
{
	int64_t stream = args_column_int(r->ix, streams, at->args, -1);

	return stream >= 0 && stream <= INT32_MAX ? stream : row_stream(r, at);
}

/* The first step of the rank; NULL: it has none, and everything counts. */
static const rows_step *first_step(const rows *r, int32_t rank)
{
	const rows_step *first = NULL;

	for (size_t i = 0; i < r->n_steps; i++)
		if (r->steps[i].rank == rank && (!first || r->steps[i].number < first->number))
			first = &r->steps[i];
	return first;
}

static bool starts_in(const rows_step *step, const row *at)
{
	return at->start_ns >= step->start_ns && at->start_ns < step->start_ns + step->dur_ns;
}

static bool is_in_step(const rows *r, const rows_step *step, const row *at, int64_t stream)
{
	if (!step)
		return true;
	if (stream <= 0)
		return starts_in(step, at);
	return at->launch != ROW_NONE && starts_in(step, ROW_AT(r, at->launch));
}

static bool add_row(trace_diff *d, int side, const char *name, bool on_gpu, int64_t us)
{
	uint32_t number = intern(&d->texts, name, strlen(name));

	if (number == INTERN_NONE)
		return false;
	while (d->names.n <= number)
		if (!VEC_ADD(&d->names))
			return false;
	diff_name *n = &d->names.items[number];
	const int devices[] = { on_gpu ? ON_GPU : ON_CPU, ON_ALL };
	for (int i = 0; i < 2; i++) {
		n->counts[devices[i]][side]++;
		n->total_us[devices[i]][side] = add_bounded(n->total_us[devices[i]][side], us);
	}
	return true;
}

static bool add_rows(trace_diff *d, int side, const rows *r, const args_column *streams)
{
	int32_t rank = r->n_ranks ? r->ranks[0].rank : 0;
	int64_t origin = index_start_ns(r->ix);
	bool rounds = has_fractions(r, origin);
	const rows_step *step = first_step(r, rank);

	d->steps[side] = step ? step->number : -1;
	for (size_t i = 0; i < r->n; i++) {
		const row *at = ROW_AT(r, i);
		const char *category = row_category(r, at);
		int64_t stream = stream_of(r, streams, at);
		if (row_rank(r, at) != rank || !*category || strcmp(category, "Trace") == 0 ||
		    !is_in_step(r, step, at, stream))
			continue;
		if (!add_row(d, side, row_name(r, at), stream >= 0, duration_us(at, origin, rounds)))
			return false;
	}
	return true;
}

static sonde_status add_trace(trace_diff *d, int side, const sonde_trace *trace, const sonde_analyze_options *select,
			      sonde_error *err)
{
	rows_options how = { .ranks = select->ranks };
	args_column streams = { .key = "stream" };
	rows r;
	sonde_status status = rows_load(trace, &how, &r, err);

	if (!status && (!args_columns_read(trace->index, &streams, 1) || !add_rows(d, side, &r, &streams)))
		status = error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	args_columns_done(&streams, 1);
	rows_done(&r);
	return status;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static const column diff_columns[] = {
	{ "name", "name", CELL_STRING, 0, false },
	{ "control_counts", "control calls", CELL_COUNT, 2, false },
	{ "control_total_ns", "control", CELL_NS, 0, false },
	{ "test_counts", "test calls", CELL_COUNT, 2, false },
	{ "test_total_ns", "test", CELL_NS, 0, false },
	{ "diff_counts", "calls +-", CELL_INTEGER, 1, false },
	{ "diff_ns", "difference", CELL_NS, 0, false },
	{ "counts_change", "", CELL_STRING, 0, false },
};

typedef enum category { ADDED, DELETED, INCREASED, DECREASED, UNCHANGED, N_CATEGORIES } category;

static category category_of(const uint64_t *counts)
{
	return !counts[CONTROL]			? ADDED
	       : !counts[TEST]			? DELETED
	       : counts[TEST] > counts[CONTROL] ? INCREASED
	       : counts[TEST] < counts[CONTROL] ? DECREASED
						: UNCHANGED;
}

static cell cell_us(int64_t us)
{
	return cell_ns(us > INT64_MAX / 1000 ? INT64_MAX : us < INT64_MIN / 1000 ? INT64_MIN : 1000 * us);
}

/* By bytes, as pandas sorts them. */
static int by_text(const void *a, const void *b, void *texts)
{
	return strcmp(intern_text(texts, *(const uint32_t *)a), intern_text(texts, *(const uint32_t *)b));
}

static void put_name(sonde_result *r, table *t, const trace_diff *d, uint32_t number, int device)
{
	const diff_name *n = &d->names.items[number];
	const uint64_t *counts = n->counts[device];
	const int64_t *us = n->total_us[device];
	cell *c = table_row(r, t, 0);

	c[0] = cell_string(result_string(r, intern_text(&d->texts, number)));
	c[1] = cell_count(counts[CONTROL]);
	c[2] = cell_us(us[CONTROL]);
	c[3] = cell_count(counts[TEST]);
	c[4] = cell_us(us[TEST]);
	c[5] = cell_integer((int64_t)counts[TEST] - (int64_t)counts[CONTROL]);
	c[6] = cell_us(us[TEST] - us[CONTROL]);
	c[7] = cell_string(counts[TEST] > counts[CONTROL] ? "+" : counts[TEST] < counts[CONTROL] ? "-" : "=");
}

static const column sum_columns[] = {
	{ "device", "device", CELL_STRING, 0, false },
	{ "added", "added", CELL_COUNT, 0, false },
	{ "deleted", "deleted", CELL_COUNT, 0, false },
	{ "increased", "increased", CELL_COUNT, 0, false },
	{ "decreased", "decreased", CELL_COUNT, 0, false },
	{ "unchanged", "unchanged", CELL_COUNT, 0, false },
	{ "control_total_ns", "control", CELL_NS, 0, false },
	{ "test_total_ns", "test", CELL_NS, 0, false },
	{ "control_counts", "control calls", CELL_COUNT, 3, false },
	{ "test_counts", "test calls", CELL_COUNT, 3, false },
};
enum { N_DIFF_COLUMNS = sizeof diff_columns / sizeof diff_columns[0] };
enum { N_SUM_COLUMNS = sizeof sum_columns / sizeof sum_columns[0] };

static void put_sum(sonde_result *r, table *t, const trace_diff *d, int device)
{
	uint64_t counts[N_CATEGORIES] = { 0 }, calls[N_SIDES] = { 0 };
	int64_t us[N_SIDES] = { 0 };
	cell *c = table_row(r, t, 0);

	for (size_t i = 0; i < d->names.n; i++) {
		const diff_name *n = &d->names.items[i];
		for (int side = 0; side < N_SIDES; side++) {
			calls[side] += n->counts[device][side];
			us[side] = add_bounded(us[side], n->total_us[device][side]);
		}
		if (n->counts[device][CONTROL] || n->counts[device][TEST])
			counts[category_of(n->counts[device])]++;
	}
	c[0] = cell_string(device_keys[device]);
	for (int i = 0; i < N_CATEGORIES; i++)
		c[1 + i] = cell_count(counts[i]);
	c[6] = cell_us(us[CONTROL]);
	c[7] = cell_us(us[TEST]);
	c[8] = cell_count(calls[CONTROL]);
	c[9] = cell_count(calls[TEST]);
}

static sonde_status add_tables(sonde_result *r, const trace_diff *d, const sonde_analyze_options *o, sonde_error *err)
{
	uint32_t *order = malloc((d->names.n + 1) * sizeof *order);

	if (!order)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	for (uint32_t i = 0; i < d->names.n; i++)
		order[i] = i;
	if (d->names.n)
		qsort_r(order, d->names.n, sizeof *order, by_text, (void *)&d->texts);
	table *sums = result_table(r, "categories", NULL, sum_columns, N_SUM_COLUMNS);
	for (int device = 0; device < N_DEVICES; device++)
		put_sum(r, sums, d, device);
	for (int device = 0; device < N_DEVICES; device++) {
		table *t = result_table(r, device_keys[device], device_keys[device], diff_columns, N_DIFF_COLUMNS);
		for (size_t i = 0; i < d->names.n; i++) {
			const uint64_t *counts = d->names.items[order[i]].counts[device];
			if (counts[CONTROL] || counts[TEST])
				put_name(r, t, d, order[i], device);
		}
		if (!t)
			continue;
		size_t top = o->top ? (size_t)o->top : 10;
		if (device == ON_ALL) /* for programs: it is the other two */
			t->n_shown = 0;
		else if (t->n_rows > top) {
			t->more = result_format(r, "%zu more names: --top all", t->n_rows - top);
			t->n_shown = top;
		}
	}
	free(order);
	return SONDE_OK;
}

sonde_status compare_as_hta(const sonde_trace *control, const sonde_trace *test, const sonde_analyze_options *select,
			    sonde_result *r, sonde_error *err)
{
	trace_diff d = { 0 };
	sonde_status status = add_trace(&d, CONTROL, control, select, err);

	if (!status)
		status = add_trace(&d, TEST, test, select, err);
	if (!status)
		status = add_tables(r, &d, select, err);
	if (!status && (d.steps[CONTROL] < 0 || d.steps[TEST] < 0))
		result_answer(r, "HTA's trace diff; without steps it covers the whole traces");
	else if (!status)
		result_answer(r,
			      "HTA's trace diff: step %" PRId64 " of the first against step %" PRId64 " of the second",
			      d.steps[CONTROL], d.steps[TEST]);
	intern_done(&d.texts);
	VEC_DONE(&d.names);
	return status;
}
