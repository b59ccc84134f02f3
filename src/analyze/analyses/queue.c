/*
 * How much is launched and has not begun, stream by stream: one more with each launch, one less when a kernel or copy
 * starts. At the same moment launches come first. The distribution is over the moments of change; `mean_over_time`
 * weighs each length with how long it lasted.
 *
 * A queue that reaches queue.limit blocks the host: CUDA's holds 1024.
 */
#include "analyze/tables/streams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/big.h"
#include "base/vec.h"

static const setting_def limit_setting = { "queue.limit", SETTING_NUMBER, "1024", "queue length that blocks the host" };
static const setting_def series_setting = { "queue.series", SETTING_BOOL, "no",
					    "add a table of every change of every queue" };

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
#include "base/sort_template.h"

typedef struct queue_tables {
	const work *w;
	sonde_result *r;
	table *lengths, *blocked, *series;
	double limit;
	VEC(uint64_t) counts; /* of lengths, from `least` on */
	int64_t least;
} queue_tables;

/* The queue of a stream. Items are in order already. */
typedef struct queue {
	const work *w;
	const work_rank *rank;
	int64_t stream;
	int64_t *launches; /* when something was launched into it, in order */
	size_t n_launches;
	const uint32_t *items;
	size_t n_items;
	bool has_next; /* the start of the next item is known */
	int64_t next_start;
} queue;

typedef struct change {
	int64_t at;
	int by;
} change;

/* Takes the next change away; false: there is none. */
static bool next_change(queue *q, change *ret)
{
	while (q->n_items && !q->has_next) {
		work_item item = work_at(q->w, q->rank, *q->items);
		q->has_next = item.is_queued;
		q->next_start = item.start;
		if (!q->has_next)
			q->items++, q->n_items--;
	}
	if (q->n_launches && (!q->n_items || *q->launches <= q->next_start)) {
		*ret = (change){ *q->launches++, 1 };
		q->n_launches--;
		return true;
	}
	if (!q->n_items)
		return false;
	*ret = (change){ q->next_start, -1 };
	q->items++, q->n_items--;
	q->has_next = false;
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

/* Lengths change by one, so that they lie close together. */
static bool count_length(queue_tables *t, int64_t length)
{
	t->least = t->counts.n ? t->least : length;
	while (length < t->least || length - t->least >= (int64_t)t->counts.n) {
		if (!VEC_ADD(&t->counts))
			return false;
		if (length < t->least) {
			memmove(t->counts.items + 1, t->counts.items, (t->counts.n - 1) * sizeof *t->counts.items);
			t->counts.items[0] = 0;
			t->least--;
		}
	}
	t->counts.items[length - t->least]++;
	return true;
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
		if (!count_length(t, length))
			return false;
		n++;
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
	describe_counts(t->counts.items, t->counts.n, t->least, &d);
	t->counts.n = 0;
	cell *c = table_row(t->r, t->lengths, 0);
	c[0] = cell_integer(of.rank->rank);
	c[1] = cell_integer(of.stream);
	describe_cells(t->w, &d, false, c + 2);
	c[2 + DESCRIBE_CELLS] = last > first ? cell_number(over_time / (double)(last - first)) : cell_unknown();
	if (blocked)
		put_blocked(t, of.rank, of.stream, blocked);
	return true;
}

/* The i-th call that lengthens a queue: the stream, and when, if that is asked for. By our rules every item's launch
   does. */
static bool enqueued_at(const work *w, const work_rank *rank, size_t i, int64_t *ret_stream, int64_t *ret_start)
{
	work_item item = work_at(w, rank, work_is_ours(w) ? i : rank->enqueued[i].item);

	*ret_stream = item.stream;
	if (!ret_start)
		return !work_is_ours(w) || item.launch != WORK_NONE;
	if (!work_is_ours(w))
		*ret_start = rank->calls[rank->enqueued[i].call].start;
	else if (item.launch != WORK_NONE)
		*ret_start = work_call_at(w, rank, item.launch).start;
	return !work_is_ours(w) || item.launch != WORK_NONE;
}

/* The times of launches, stream by stream; firsts: where each begins, and where the last ends. */
static bool sort_launches(const work *w, const work_rank *rank, const streams *s, int64_t *launches, size_t *firsts)
{
	size_t n = work_is_ours(w) ? rank->n : rank->n_enqueued;
	int64_t stream, start;
	bool ok = true;

	for (size_t i = 0; i < n; i++)
		if (enqueued_at(w, rank, i, &stream, NULL))
			firsts[streams_at(s, stream) + 1]++;
	for (size_t i = 0; i < s->n; i++)
		firsts[i + 1] += firsts[i];
	for (size_t i = 0; i < n; i++)
		if (enqueued_at(w, rank, i, &stream, &start))
			launches[firsts[streams_at(s, stream)]++] = start;
	memmove(firsts + 1, firsts, s->n * sizeof *firsts);
	firsts[0] = 0;
	for (size_t i = 0; ok && i < s->n; i++)
		ok = sort_times(launches + firsts[i], firsts[i + 1] - firsts[i]);
	return ok;
}

static bool add_rank(queue_tables *t, const work_rank *rank)
{
	streams s;
	bool ok = streams_find(t->w, rank, &s);
	int64_t *launches = big_alloc((work_is_ours(t->w) ? rank->n_launches : rank->n_enqueued) + 1, sizeof *launches);
	size_t *firsts = calloc(s.n + 1, sizeof *firsts);

	ok = ok && launches && firsts && sort_launches(t->w, rank, &s, launches, firsts);
	for (size_t i = 0; ok && i < s.n; i++)
		ok = add_stream(t, (queue){ .w = t->w,
					    .rank = rank,
					    .stream = s.items[i].stream,
					    .launches = launches + firsts[i],
					    .n_launches = firsts[i + 1] - firsts[i],
					    .items = s.order + s.items[i].first,
					    .n_items = s.items[i].n });
	streams_done(&s);
	free(launches);
	free(firsts);
	VEC_DONE(&t->counts);
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
	work_differs(w, r, "all launching calls count, including graphs and HIP");
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
	.summary = "Queue length of launched work, by stream",
	.compat = WORK_COMPAT,
	.setting = settings,
	.work = &queue_work,
};
