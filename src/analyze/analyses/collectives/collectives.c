/*
 * Collectives across ranks: how long they take once everybody is there, who comes when and waits how long, how fast the
 * data moves.
 *
 * Latency is the shortest duration over the ranks, that of the one that came last: no clock is needed for it. A rank
 * waits from its start until the last one's, on the clock that collective_match.h makes common. Bandwidth is that of
 * NCCL's tests: algorithm bandwidth = bytes / latency; bus bandwidth = that times 2(n-1)/n for an all-reduce, (n-1)/n
 * for others.
 */
#include "analyze/analyses/collectives/collectives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"
#include "base/format_number.h"

static const column event_columns[] = {
	{ "collective_id", "id", CELL_INTEGER, 0, false },
	{ "name", "collective", CELL_STRING, 0, false },
	{ "group", "group", CELL_STRING, 3, false },
	{ "n_ranks", "ranks", CELL_COUNT, 1, false },
	{ "group_size", "of", CELL_COUNT, 5, false },
	{ "bytes", "size", CELL_BYTES, 1, false },
	{ "dtype", "type", CELL_STRING, 5, false },
	{ "start_ns", "start", CELL_NS, 1, false },
	{ "latency_ns", "latency", CELL_NS, 0, false },
	{ "start_skew_ns", "skew", CELL_NS, 0, false },
	{ "end_skew_ns", "end skew", CELL_NS, 4, false },
	{ "mean_wait_ns", "mean wait", CELL_NS, 2, false },
	{ "first_rank", "first", CELL_INTEGER, 3, false },
	{ "last_rank", "last", CELL_INTEGER, 0, false },
	{ "algorithm_gbps", "alg GB/s", CELL_NUMBER, 2, false },
	{ "bus_gbps", "bus GB/s", CELL_NUMBER, 2, false },
	{ "matched_by", "matched by", CELL_STRING, 4, false },
};
static const column member_columns[] = {
	{ "collective_id", "id", CELL_INTEGER, 0, false }, { "rank", "rank", CELL_INTEGER, 0, false },
	{ "start_ns", "start", CELL_NS, 0, false },	   { "dur_ns", "duration", CELL_NS, 0, false },
	{ "wait_ns", "wait", CELL_NS, 0, false },
};
static const column summary_columns[] = {
	{ "name", "collective", CELL_STRING, 0, false },
	{ "group", "group", CELL_STRING, 2, false },
	{ "group_size", "ranks", CELL_COUNT, 3, false },
	{ "dtype", "type", CELL_STRING, 3, false },
	{ "bytes", "size", CELL_BYTES, 0, false },
	{ "count", "count", CELL_COUNT, 0, false },
	{ "latency_ns", "latency", CELL_NS, 0, false },
	{ "latency_mean_ns", "mean", CELL_NS, 0, false },
	{ "latency_std_ns", "std", CELL_NS, 4, false },
	{ "start_skew_mean_ns", "mean skew", CELL_NS, 1, false },
	{ "start_skew_std_ns", "skew std", CELL_NS, 5, false },
	{ "end_skew_mean_ns", "end skew", CELL_NS, 5, false },
	{ "end_skew_std_ns", "end skew std", CELL_NS, 5, false },
	{ "bus_mean_gbps", "bus GB/s", CELL_NUMBER, 1, false },
};
static const column rank_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },	   { "n_collectives", "collectives", CELL_COUNT, 0, false },
	{ "n_matched", "matched", CELL_COUNT, 2, false },  { "wait_ns", "waited", CELL_NS, 0, false },
	{ "mean_wait_ns", "mean", CELL_NS, 1, false },	   { "n_last", "came last", CELL_COUNT, 0, false },
	{ "n_first", "first", CELL_COUNT, 1, false },	   { "last_percent", "last %", CELL_PERCENT, 2, false },
	{ "dur_ns", "in collectives", CELL_NS, 1, false }, { "clock_offset_ns", "clock", CELL_NS, 0, false },
};
#define N_COLUMNS(of) (sizeof(of) / sizeof(of)[0])

/* ---- One collective ---------------------------------------------------------------------------------------------- */

/* Times in ticks. */
typedef struct timing {
	int64_t first, last; /* starts */
	int64_t first_end, last_end;
	double latency_ns;
	uint32_t first_rank, last_rank; /* of ranks */
	double wait;			/* of all members */
} timing;

static double duration_ns(const collectives *c, const collective_member *m)
{
	return (double)rows_at(&c->w->rows, collective_of(c, m)->row).dur_ns;
}

/* Of several that come first at once the last rank is named, as TraceLens does. */
static timing time_of(const collectives *c, const collective_event *e)
{
	const collective_member *members = &c->members.items[e->first];
	timing t = { INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, INFINITY, 0, 0, 0 };

	for (uint32_t i = 0; i < e->n; i++) {
		int64_t start = collective_start(c, &members[i]), end = collective_end(c, &members[i]);
		t.first_rank = start <= t.first ? members[i].rank : t.first_rank;
		t.last_rank = start > t.last ? members[i].rank : t.last_rank;
		t.first = start < t.first ? start : t.first;
		t.last = start > t.last ? start : t.last;
		t.first_end = end < t.first_end ? end : t.first_end;
		t.last_end = end > t.last_end ? end : t.last_end;
		t.latency_ns = fmin(t.latency_ns, duration_ns(c, &members[i]));
	}
	for (uint32_t i = 0; i < e->n; i++)
		t.wait += (double)(t.last - collective_start(c, &members[i]));
	return t;
}

const collective_args *event_args(const collectives *c, const collective_event *e)
{
	return &collective_of(c, &c->members.items[e->first])->args;
}

/* TraceLens gives no name where PyTorch does not. */
static cell name_cell(const collectives *c, const collective_event *e, sonde_result *r)
{
	const rows *in = &c->w->rows;
	const char *name = event_args(c, e)->name;

	if (!name && !c->w->is_tracelens)
		name = row_name(in, ROW_AT(in, collective_of(c, &c->members.items[e->first])->row));
	return cell_string(result_string(r, name));
}

/* TraceLens's GB are GiB. */
static double bandwidth(const collectives *c, const collective_event *e, double latency_ns)
{
	int64_t bytes = collective_bytes(event_args(c, e));

	return bytes < 0 || latency_ns <= 0
		       ? NAN
		       : (double)bytes / latency_ns / (c->w->is_tracelens ? 1073741824.0 / 1e9 : 1);
}

static double bus_factor(const collectives *c, const collective_event *e)
{
	const collective_args *a = event_args(c, e);
	double n = a->group_size > 0 ? (double)a->group_size : (double)e->n;

	return (a->kind == COLLECTIVE_ALL_REDUCE ? 2 : 1) * (n - 1) / n;
}

static cell number_or_unknown(double value)
{
	return isnan(value) ? cell_unknown() : cell_number(value);
}

static cell count_or_unknown(int64_t value)
{
	return value < 0 ? cell_unknown() : cell_count((uint64_t)value);
}

static cell bytes_or_unknown(int64_t value)
{
	return value < 0 ? cell_unknown() : cell_bytes((uint64_t)value);
}

static void put_event(const collectives *c, size_t number, const timing *t, sonde_result *r, table *to)
{
	const collective_event *e = &c->events.items[number];
	const collective_args *a = event_args(c, e);
	double speed = bandwidth(c, e, t->latency_ns);
	cell *cells = table_row(r, to, 0);

	*cells++ = cell_integer((int64_t)number);
	*cells++ = name_cell(c, e, r);
	*cells++ = cell_string(result_string(r, a->group));
	*cells++ = cell_count(e->n);
	*cells++ = count_or_unknown(a->group_size);
	*cells++ = bytes_or_unknown(collective_bytes(a));
	*cells++ = cell_string(result_string(r, a->dtype));
	*cells++ = work_cell(c->w, t->first);
	*cells++ = cell_ns(llrint(t->latency_ns));
	*cells++ = work_cell(c->w, t->last - t->first);
	*cells++ = work_cell(c->w, t->last_end - t->first_end);
	*cells++ = work_cell_f64(c->w, t->wait / e->n);
	*cells++ = cell_integer(c->ranks[t->first_rank].rank);
	*cells++ = cell_integer(c->ranks[t->last_rank].rank);
	*cells++ = number_or_unknown(speed);
	*cells++ = number_or_unknown(speed * bus_factor(c, e));
	*cells++ = cell_string(collective_method_name(e->method));
}

static void put_members(const collectives *c, size_t number, const timing *t, sonde_result *r, table *to)
{
	const collective_event *e = &c->events.items[number];

	for (uint32_t i = 0; i < e->n; i++) {
		const collective_member *m = &c->members.items[e->first + i];
		cell *cells = table_row(r, to, 0);
		*cells++ = cell_integer((int64_t)number);
		*cells++ = cell_integer(c->ranks[m->rank].rank);
		*cells++ = work_cell(c->w, collective_start(c, m));
		*cells++ = cell_ns((int64_t)duration_ns(c, m));
		*cells++ = work_cell(c->w, t->last - collective_start(c, m));
	}
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

/* A running mean and deviation of a sample. */
typedef struct running {
	double n, mean, squares;
} running;

static void run_add(running *to, double value)
{
	double away = value - to->mean;

	to->n++;
	to->mean += away / to->n;
	to->squares += away * (value - to->mean);
}

static double run_std(const running *of)
{
	return of->n > 1 ? sqrt(of->squares / (of->n - 1)) : NAN;
}

typedef struct summary_row {
	size_t event; /* one of them */
	double latency_ns;
	running latency, start_skew, end_skew, bus; /* latency in ns, skews in ticks */
} summary_row;

typedef struct rank_sum {
	double wait, dur_ns;
	uint64_t n, n_first, n_last;
} rank_sum;

typedef struct sums {
	const collectives *c;
	intern_table keys;
	VEC(summary_row) rows;
	rank_sum *ranks;
	size_t n_events;
	double latency_ns, wait;
} sums;

#define SORT_NAME sort_summary
#define SORT_TYPE summary_row
#define SORT_BEFORE(a, b) ((a)->latency_ns > (b)->latency_ns)
#include "base/sort_template.h"

static bool add_summary(sums *s, size_t number, const timing *t)
{
	const collectives *c = s->c;
	const collective_event *e = &c->events.items[number];
	const collective_args *a = event_args(c, e);
	const rows *in = &c->w->rows;
	uint32_t site = rows_at(in, collective_of(c, &c->members.items[e->first])->row).site;
	/* Texts of arguments are the same where they are equal. */
	const struct {
		const char *name, *group, *dtype;
		int64_t bytes, site;
	} key = { a->name, a->group, a->dtype, collective_bytes(a),
		  a->name || c->w->is_tracelens ? -1 : (int64_t)in->sites[site].name };
	uint32_t at = intern(&s->keys, (const char *)&key, sizeof key);
	double speed = bandwidth(c, e, t->latency_ns);

	if (at == INTERN_NONE || (at == s->rows.n && !VEC_ADD(&s->rows)))
		return false;
	summary_row *to = &s->rows.items[at];
	to->event = number;
	to->latency_ns += t->latency_ns;
	run_add(&to->latency, t->latency_ns);
	run_add(&to->start_skew, (double)(t->last - t->first));
	run_add(&to->end_skew, (double)(t->last_end - t->first_end));
	if (!isnan(speed))
		run_add(&to->bus, speed * bus_factor(c, e));
	return true;
}

static void add_ranks(sums *s, const collective_event *e, const timing *t)
{
	for (uint32_t i = 0; i < e->n; i++) {
		const collective_member *m = &s->c->members.items[e->first + i];
		rank_sum *to = &s->ranks[m->rank];
		to->n++;
		to->wait += (double)(t->last - collective_start(s->c, m));
		to->dur_ns += duration_ns(s->c, m);
	}
	s->ranks[t->first_rank].n_first++;
	s->ranks[t->last_rank].n_last++;
	s->n_events++;
	s->latency_ns += t->latency_ns;
	s->wait += t->wait;
}

static cell ns_cell(const work *w, double ns)
{
	return isnan(ns) ? cell_unknown() : w->is_tracelens ? cell_number(ns) : cell_ns(whole_bounded(rint(ns)));
}

static void put_summary(const sums *s, const sonde_analyze_options *options, sonde_result *r)
{
	table *t = result_table(r, "collective_summary", "Collectives by kind and size", summary_columns,
				N_COLUMNS(summary_columns));
	const work *w = s->c->w;

	for (size_t i = 0; i < s->rows.n; i++) {
		const summary_row *from = &s->rows.items[i];
		const collective_event *e = &s->c->events.items[from->event];
		const collective_args *a = event_args(s->c, e);
		cell *c = table_row(r, t, 0);
		*c++ = name_cell(s->c, e, r);
		*c++ = cell_string(result_string(r, a->group));
		*c++ = count_or_unknown(a->group_size);
		*c++ = cell_string(result_string(r, a->dtype));
		*c++ = bytes_or_unknown(collective_bytes(a));
		*c++ = cell_count((uint64_t)from->latency.n);
		*c++ = ns_cell(w, from->latency_ns);
		*c++ = ns_cell(w, from->latency.mean);
		*c++ = ns_cell(w, run_std(&from->latency));
		*c++ = work_cell_f64(w, from->start_skew.mean);
		*c++ = work_cell_f64(w, run_std(&from->start_skew));
		*c++ = work_cell_f64(w, from->end_skew.mean);
		*c++ = work_cell_f64(w, run_std(&from->end_skew));
		*c++ = from->bus.n > 0 ? cell_number(from->bus.mean) : cell_unknown();
	}
	limit_rows(r, t, options, "collectives");
}

static void put_ranks(const sums *s, sonde_result *r)
{
	table *t = result_table(r, "collective_ranks", "Ranks", rank_columns, N_COLUMNS(rank_columns));

	for (size_t i = 0; i < s->c->n_ranks; i++) {
		const collective_rank *rank = &s->c->ranks[i];
		const rank_sum *from = &s->ranks[i];
		cell *c = table_row(r, t, 0);
		*c++ = cell_integer(rank->rank);
		*c++ = cell_count(rank->n);
		*c++ = cell_count(from->n);
		*c++ = work_cell_f64(s->c->w, from->wait);
		*c++ = from->n ? work_cell_f64(s->c->w, from->wait / (double)from->n) : cell_unknown();
		*c++ = cell_count(from->n_last);
		*c++ = cell_count(from->n_first);
		*c++ = s->n_events ? cell_percent(100.0 * (double)from->n_last / (double)s->n_events) : cell_unknown();
		*c++ = ns_cell(s->c->w, from->dur_ns);
		*c++ = rank->is_aligned ? work_cell(s->c->w, rank->offset) : cell_unknown();
	}
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* What is compared across ranks. An all-to-all of uneven sizes is not over at once either, but about. */
static bool is_compared(const collectives *c, const collective_event *e)
{
	return e->n > 1 && collective_is_common(event_args(c, e));
}

static bool put_events(sums *s, const sonde_analyze_options *options, sonde_result *r)
{
	const collectives *c = s->c;
	table *events =
		result_table(r, "collectives", "Collectives across ranks", event_columns, N_COLUMNS(event_columns));
	table *members = result_table(r, "collective_waits", NULL, member_columns, N_COLUMNS(member_columns));
	bool ok = true;

	for (size_t i = 0; ok && i < c->events.n; i++) {
		if (!is_compared(c, &c->events.items[i]))
			continue;
		timing t = time_of(c, &c->events.items[i]);
		put_event(c, i, &t, r, events);
		put_members(c, i, &t, r, members);
		add_ranks(s, &c->events.items[i], &t);
		ok = add_summary(s, i, &t);
	}
	limit_rows(r, events, options, "collectives");
	if (members)
		members->n_shown = 0; /* one row a rank and collective: for programs */
	return ok && sort_summary(s->rows.items, s->rows.n);
}

static void cover_all(const collectives *c, bool has_compared, sonde_result *r)
{
	coverage covered = { 0 };

	for (size_t k = 0; k < c->n_ranks; k++)
		for (size_t i = 0; i < c->ranks[k].n; i++) {
			covered.n_all++;
			covered.all_ticks += c->ranks[k].items[i].end - c->ranks[k].items[i].start;
		}
	for (size_t i = 0; i < c->events.n; i++) {
		const collective_event *e = &c->events.items[i];
		for (uint32_t k = 0; k < e->n && is_compared(c, e); k++) {
			const collective *one = collective_of(c, &c->members.items[e->first + k]);
			covered.n++;
			covered.ticks += one->end - one->start;
		}
	}
	const char *what = c->on_host ? "calls" : "communication rows";
	if (has_compared)
		work_covers_rows(c->w, r, "collectives, collective_summary, collective_ranks", &covered, what,
				 "on one rank only, or of a kind that does not end on all ranks at once");
	covered.n = covered.n_all;
	covered.ticks = covered.all_ticks;
	work_covers_rows(c->w, r, "collective_ops", &covered, what, "");
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	collectives c;
	sonde_status status = collectives_find(&w->rows, w, &c, err);
	sums s = { .c = &c, .ranks = calloc(w->n_ranks + 1, sizeof *s.ranks) };
	char latency[NUMBER_TEXT], wait[NUMBER_TEXT];
	bool ok = !status && s.ranks && put_events(&s, options, r);

	if (ok) {
		put_summary(&s, options, r);
		if (s.n_events)
			put_ranks(&s, r);
		ok = collectives_put_all_to_all(&c, r) && collectives_put_ops(&c, options, r);
	}
	if (ok && s.n_events) {
		result_answer(r, "%zu collectives: %s of transfer, %s of waiting on %zu ranks", s.n_events,
			      format_ns(latency, whole_bounded(rint(s.latency_ns))),
			      format_ns(wait, whole_bounded(rint(work_ns(w, s.wait)))), c.n_ranks);
		result_note_add(r, "matched", "%s; clocks %s", collective_methods_text(&c, r),
				w->is_tracelens ? "as they are" : "by the common end of collectives");
	} else if (ok && w->n_ranks < 2) {
		result_note_add(r, "note",
				"one rank: open the traces of several ranks together for waits and bandwidth");
	} else if (ok) {
		result_note_add(r, "note", "no collective of several ranks");
	}
	if (ok && c.events.n)
		cover_all(&c, s.n_events > 0, r);
	for (table *t = r->tables; t; t = t->next)
		t->n_shown = t->n_rows ? t->n_shown : 0;
	intern_done(&s.keys);
	VEC_DONE(&s.rows);
	free(s.ranks);
	collectives_done(&c);
	return status ? status : ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis collectives_work = { .add = add, .needs_no_device = true };

const analysis collectives_analysis = {
	.name = "collectives",
	.summary = "Collectives across ranks: latency, skew, waits, bandwidth, all-to-all matrix",
	.compat = "tracelens",
	.work = &collectives_work,
};
