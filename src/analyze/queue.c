/*
 * How much is launched and has not begun, stream by stream: one more with each launch, one less when a kernel or copy
 * starts. At the same moment launches come first. The distribution is over the moments of change; `mean_over_time`
 * weighs each length with how long it lasted.
 *
 * A queue that reaches queue.limit blocks the host: CUDA's holds 1024.
 */
#include "analyze/streams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/big.h"

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

#define SORT_NAME sort_times
#define SORT_TYPE int64_t
#define SORT_BEFORE(a, b) (*(a) < *(b))
#include "store/sort_template.h"

typedef struct queue_tables {
	const work *w;
	sonde_result *r;
	table *lengths, *blocked, *series;
	double limit;
	double *values;
} queue_tables;

/* The queue of a stream. Items are in order already. */
typedef struct queue {
	const work_rank *rank;
	int64_t stream;
	int64_t *launches; /* when something was launched into it, in order */
	size_t n_launches;
	const uint32_t *items;
	size_t n_items;
} queue;

typedef struct change {
	int64_t at;
	int by;
} change;

/* Takes the next change away; false: there is none. */
static bool next_change(queue *q, change *ret)
{
	const work_item *items = q->rank->items;

	while (q->n_items && !items[*q->items].is_queued)
		q->items++, q->n_items--;
	if (q->n_launches && (!q->n_items || *q->launches <= items[*q->items].start)) {
		*ret = (change){ *q->launches++, 1 };
		q->n_launches--;
		return true;
	}
	if (!q->n_items)
		return false;
	*ret = (change){ items[*q->items++].start, -1 };
	q->n_items--;
	return true;
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

static bool add_stream(queue_tables *t, queue of)
{
	int64_t length = 0, blocked = 0, first = 0, last = 0;
	double over_time = 0;
	size_t n = 0;
	description d;

	for (change next; next_change(&of, &next); last = next.at) {
		int64_t lasted = n ? next.at - last : 0;
		first = n ? first : next.at;
		over_time += (double)length * (double)lasted;
		if ((double)length >= t->limit)
			blocked += lasted;
		length += next.by;
		t->values[n++] = (double)length;
		if (t->series) {
			cell *c = table_row(t->r, t->series, 0);
			c[0] = work_cell(t->w, next.at);
			c[1] = cell_integer(of.rank->rank);
			c[2] = cell_integer(of.stream);
			c[3] = cell_integer(length);
		}
	}
	if (!n)
		return true;
	if (!describe(t->values, n, &d))
		return false;
	cell *c = table_row(t->r, t->lengths, 0);
	c[0] = cell_integer(of.rank->rank);
	c[1] = cell_integer(of.stream);
	describe_cells(t->w, &d, false, c + 2);
	c[2 + DESCRIBE_CELLS] = last > first ? cell_number(over_time / (double)(last - first)) : cell_unknown();
	if (blocked)
		put_blocked(t, of.rank, of.stream, blocked);
	return true;
}

/* The times of launches, stream by stream; firsts: where each begins, and where the last ends. */
static bool sort_launches(const work_rank *rank, const streams *s, int64_t *launches, size_t *firsts)
{
	bool ok = true;

	for (size_t i = 0; i < rank->n_enqueued; i++)
		firsts[streams_at(s, rank->items[rank->enqueued[i].item].stream) + 1]++;
	for (size_t i = 0; i < s->n; i++)
		firsts[i + 1] += firsts[i];
	for (size_t i = rank->n_enqueued; i-- > 0;) {
		size_t stream = streams_at(s, rank->items[rank->enqueued[i].item].stream);
		launches[--firsts[stream + 1]] = rank->calls[rank->enqueued[i].call].start;
	}
	memmove(firsts, firsts + 1, s->n * sizeof *firsts);
	firsts[s->n] = rank->n_enqueued;
	for (size_t i = 0; ok && i < s->n; i++)
		ok = sort_times(launches + firsts[i], firsts[i + 1] - firsts[i]);
	return ok;
}

static bool add_rank(queue_tables *t, const work_rank *rank)
{
	streams s;
	bool ok = streams_find(rank, &s);
	int64_t *launches = big_alloc(rank->n_enqueued + 1, sizeof *launches);
	size_t *firsts = calloc(s.n + 1, sizeof *firsts);

	t->values = big_alloc(rank->n_enqueued + rank->n + 1, sizeof *t->values);
	ok = ok && launches && firsts && t->values && sort_launches(rank, &s, launches, firsts);
	for (size_t i = 0; ok && i < s.n; i++)
		ok = add_stream(t, (queue){ rank, s.items[i].stream, launches + firsts[i], firsts[i + 1] - firsts[i],
					    s.order + s.items[i].first, s.items[i].n });
	streams_done(&s);
	free(launches);
	free(firsts);
	free(t->values);
	t->values = NULL;
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

const work_analysis queue_work = { .add = add, .few_rows = true };

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
	.work = &queue_work,
};
