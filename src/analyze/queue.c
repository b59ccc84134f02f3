/*
 * How much is launched and has not begun, stream by stream: one more with each launch, one less when a kernel or copy
 * starts. At the same moment launches come first. The distribution is over the moments of change; `mean_over_time`
 * weighs each length with how long it lasted.
 *
 * A queue that reaches queue.limit blocks the host: CUDA's holds 1024.
 */
#include "analyze/work.h"

#include <math.h>
#include <stdlib.h>

static const setting_def limit_setting = { "queue.limit", SETTING_NUMBER, "1024",
					   "the length at which the host is blocked" };
static const setting_def series_setting = { "queue.series", SETTING_BOOL, "no",
					    "every change of every queue as a table" };

static const column queue_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "stream", "stream", CELL_INTEGER, 0, false },
	DESCRIBE_COLUMNS(""),
	{ "mean_over_time", "mean over time", CELL_NUMBER, 3, false },
};
static const column blocked_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },	  { "stream", "stream", CELL_INTEGER, 0, false },
	{ "at_least", "length", CELL_INTEGER, 0, false }, { "blocked_ns", "time", CELL_NS, 0, false },
	{ "percent", "%", CELL_PERCENT, 0, true },
};
static const column series_columns[] = {
	{ "time_ns", "time", CELL_NS, 0, false },
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "stream", "stream", CELL_INTEGER, 0, false },
	{ "length", "length", CELL_INTEGER, 0, false },
};

typedef struct change {
	int64_t at;
	int64_t stream;
	int by;
} change;

#define SORT_NAME sort_changes
#define SORT_TYPE change
#define SORT_BEFORE(a, b) ((a)->stream != (b)->stream ? (a)->stream < (b)->stream : (a)->at < (b)->at)
#include "store/sort_template.h"

typedef struct queue_tables {
	const work *w;
	sonde_result *r;
	table *lengths, *blocked, *series;
	double limit;
	double *values;
} queue_tables;

static change *make_changes(const work_rank *rank, size_t *ret_n)
{
	change *changes = malloc((rank->n_enqueued + rank->n + 1) * sizeof *changes);
	size_t n = 0;

	for (size_t i = 0; changes && i < rank->n_enqueued; i++)
		changes[n++] = (change){ rank->calls[rank->enqueued[i].call].start,
					 rank->items[rank->enqueued[i].item].stream, 1 };
	for (size_t i = 0; changes && i < rank->n; i++)
		if (rank->items[i].is_queued)
			changes[n++] = (change){ rank->items[i].start, rank->items[i].stream, -1 };
	*ret_n = n;
	return changes;
}

/* HTA keeps the last stream of a rank alone. */
static cell *blocked_row(queue_tables *q, const work_rank *rank)
{
	table *t = q->blocked;
	cell *last = t && t->n_rows ? &t->cells[(t->n_rows - 1) * t->n_columns] : NULL;

	return q->w->is_hta && last && last->integer == rank->rank ? last : table_row(q->r, t, 0);
}

static void put_blocked(queue_tables *q, const work_rank *rank, int64_t stream, int64_t ticks)
{
	int64_t span = rank->last_start - rank->first_start;
	cell *c = blocked_row(q, rank);

	c[0] = cell_integer(rank->rank);
	c[1] = cell_integer(stream);
	c[2] = cell_integer(llrint(q->limit));
	c[3] = work_cell(q->w, ticks);
	c[4] = span > 0 ? cell_percent(100.0 * (double)ticks / (double)span) : cell_unknown();
}

static bool add_stream(queue_tables *q, const work_rank *rank, const change *changes, size_t n)
{
	int64_t length = 0, blocked = 0;
	double over_time = 0;
	description d;

	for (size_t i = 0; i < n; i++) {
		int64_t lasts = i + 1 < n ? changes[i + 1].at - changes[i].at : 0;
		length += changes[i].by;
		q->values[i] = (double)length;
		over_time += (double)length * (double)lasts;
		if ((double)length >= q->limit)
			blocked += lasts;
		if (q->series) {
			cell *c = table_row(q->r, q->series, 0);
			c[0] = work_cell(q->w, changes[i].at);
			c[1] = cell_integer(rank->rank);
			c[2] = cell_integer(changes->stream);
			c[3] = cell_integer(length);
		}
	}
	if (!describe(q->values, n, &d))
		return false;
	cell *c = table_row(q->r, q->lengths, 0);
	int64_t span = changes[n - 1].at - changes[0].at;
	c[0] = cell_integer(rank->rank);
	c[1] = cell_integer(changes->stream);
	describe_cells(q->w, &d, false, c + 2);
	c[2 + DESCRIBE_CELLS] = span > 0 ? cell_number(over_time / (double)span) : cell_unknown();
	if (blocked)
		put_blocked(q, rank, changes->stream, blocked);
	return true;
}

static bool add_rank(queue_tables *q, const work_rank *rank)
{
	size_t n;
	change *changes = make_changes(rank, &n);
	bool ok = changes && (q->values = malloc((n + 1) * sizeof *q->values)) && sort_changes(changes, n);

	for (size_t i = 0, end; ok && i < n; i = end) {
		for (end = i; end < n && changes[end].stream == changes[i].stream;)
			end++;
		ok = add_stream(q, rank, changes + i, end - i);
	}
	free(changes);
	free(q->values);
	q->values = NULL;
	return ok;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	queue_tables q = { .w = w, .r = r, .limit = setting(options, &limit_setting) };
	bool ok = true;

	q.lengths = result_table(r, "queue", "Queue length of streams", queue_columns,
				 sizeof queue_columns / sizeof queue_columns[0]);
	q.blocked = result_table(r, "queue_blocked", "Time with a full queue", blocked_columns,
				 sizeof blocked_columns / sizeof blocked_columns[0]);
	if (setting(options, &series_setting) != 0)
		q.series = result_table(r, "queue_series", "Queue lengths over time", series_columns,
					sizeof series_columns / sizeof series_columns[0]);
	for (size_t i = 0; ok && i < w->n_ranks; i++)
		ok = add_rank(&q, &w->ranks[i]);
	if (q.blocked && !q.blocked->n_rows)
		q.blocked->n_shown = 0;
	if (q.series) {
		table_chart(q.series, CHART_STEPS, "time_ns", "length", "stream");
		limit_rows(r, q.series, options, "changes");
	}
	work_differs(w, r, "every call that launched something counts, graphs' and HIP's too");
	return ok ? SONDE_OK : out_of_memory(err);
}

const work_analysis queue_work = { .add = add };

static sonde_status run(const sonde_trace *trace, const sonde_analyze_options *options, sonde_result *r,
			sonde_error *err)
{
	return work_run(&queue_work, trace, options, r, err);
}

static const setting_def *settings(size_t index)
{
	static const setting_def *const all[] = { &limit_setting, &series_setting };

	return index < 2 ? all[index] : NULL;
}

const analysis queue_analysis = {
	.name = "queue",
	.summary = "How much is launched and waits, stream by stream",
	.compat = WORK_COMPAT,
	.setting = settings,
	.run = run,
};
