/* What rules about use over time share: how busy the device is part by part, and counters of the machine. See rule.h.
 */
#define _GNU_SOURCE /* strcasestr */
#include "analyze/bottlenecks/rule.h"

#include <stdlib.h>
#include <string.h>
#include "base/search.h"

/* ---- The device -------------------------------------------------------------------------------------------------- */

static bool add_part(use_parts *to, const evidence_rank *k, int64_t from, int64_t to_ns)
{
	int64_t seen = intervals_overlap_with(&k->span, from, to_ns);

	if (seen <= 0)
		return true;
	use_part *part = VEC_ADD(to);
	if (part)
		*part = (use_part){ from, to_ns, seen, evidence_busy_ns(k, from, to_ns), k->of->rank };
	return part;
}

static int by_use(const void *a, const void *b)
{
	double x = use_of(a), y = use_of(b);

	return (x > y) - (x < y);
}

use_parts rule_device_use(const rule_run *r)
{
	enum { PARTS = 100 };
	const evidence *e = r->e;
	use_parts parts = { 0 };
	bool ok = true;

	for (size_t i = 0; i < e->n_ranks; i++) {
		const evidence_rank *k = &e->ranks[i];
		for (size_t s = 0; ok && s < k->of->n_steps; s++)
			ok = add_part(&parts, k, k->of->steps[s].start_ns,
				      k->of->steps[s].start_ns + k->of->steps[s].dur_ns);
		if (k->of->n_steps || !k->span.n)
			continue;
		int64_t start = intervals_span(&k->span).start, length = intervals_span(&k->span).end - start;
		for (int64_t p = 0; ok && p < PARTS; p++)
			ok = add_part(&parts, k, start + length / PARTS * p, start + length / PARTS * (p + 1));
	}
	r->result->failed = r->result->failed || !ok;
	if (parts.n)
		qsort(parts.items, parts.n, sizeof *parts.items, by_use);
	return parts;
}

double use_percentile(const use_parts *parts, double percent)
{
	double at = percent / 100 * (double)parts->n;
	size_t rank = (size_t)at + (at > (double)(size_t)at);

	return use_of(&parts->items[rank ? rank - 1 : 0]);
}

/* ---- Counters ---------------------------------------------------------------------------------------------------- */

/* How profilers and monitors call them; what is in percent. */
static bool is_counter(const char *name, machine_counter what)
{
	bool is_wait = strcasestr(name, "iowait") || strcasestr(name, "io wait") || strcasestr(name, "io_wait");

	if (what == COUNTER_IO_WAIT)
		return is_wait;
	return !is_wait && strcasestr(name, "cpu") &&
	       (strcasestr(name, "util") || strcasestr(name, "usage") || strcasestr(name, "percent") ||
		strchr(name, '%'));
}

static const evidence_rank *rank_of(const evidence *e, uint32_t track)
{
	bool is_track = track < e->rows.n_tracks;
	const evidence_rank *k = is_track ? evidence_find_rank(e, track_rank(&e->rows, track)) : NULL;

	return k ? k : e->ranks;
}

static bool add_sample(counter_samples *to, const evidence_rank *k, int64_t from, int64_t to_ns, double value)
{
	int64_t seen = intervals_overlap_with(&k->span, from, to_ns);

	if (seen <= 0 || !(value >= 0 && value <= 1))
		return true;
	counter_sample *sample = VEC_ADD(to);
	if (sample)
		*sample =
			(counter_sample){ { from, to_ns, seen, evidence_busy_ns(k, from, to_ns), k->of->rank }, value };
	return sample != NULL;
}

static double value_of(const int64_t *at)
{
	double value;

	memcpy(&value, &at[VALUE_BITS], sizeof value);
	return value;
}

/* Each value stands for the time since the one before it. */
static bool add_counter(const evidence *e, const index_counter *c, table_cursor *cursor, counter_samples *to)
{
	const evidence_rank *k = rank_of(e, c->track);
	int64_t at[COLUMNS_MAX], before = 0;
	bool ok = true;

	table_first(cursor, e->rows.ix, SECTION_VALUES, c->first_value);
	for (uint64_t i = 0; ok && i < c->n_values && table_next(cursor, at); before = at[VALUE_TIME], i++)
		ok = !i || add_sample(to, k, before, at[VALUE_TIME], value_of(at) / 100);
	return ok;
}

/* ---- Our own recordings: the time that the program has had a processor, in it and in the system ------------------ */

static bool is_named(const sonde_index *ix, const index_counter *c, const char *name)
{
	return strcmp(index_text(ix, c->name), name) == 0;
}

/* Both series have a value of each look at the process. Several processors at once are one that is busy. */
static bool add_processor_time(const evidence *e, const index_counter *user, const index_counter *system,
			       table_cursor *cursors, counter_samples *to)
{
	const evidence_rank *k = rank_of(e, user->track);
	uint64_t n = user->n_values < system->n_values ? user->n_values : system->n_values;
	int64_t at[COLUMNS_MAX], other[COLUMNS_MAX], before = 0;
	double so_far = 0;
	bool ok = true;

	table_first(&cursors[0], e->rows.ix, SECTION_VALUES, user->first_value);
	table_first(&cursors[1], e->rows.ix, SECTION_VALUES, system->first_value);
	for (uint64_t i = 0; ok && i < n && table_next(&cursors[0], at) && table_next(&cursors[1], other); i++) {
		double sum = value_of(at) + value_of(other), used = sum - so_far;
		double length = (double)(at[VALUE_TIME] - before);
		if (i && length > 0)
			ok = add_sample(to, k, before, at[VALUE_TIME], used < length ? used / length : 1);
		before = at[VALUE_TIME];
		so_far = sum;
	}
	return ok;
}

/* Of recordings of ours: how much of one processor the program used, at most all of it. */
static counter_samples processor_time(const rule_run *r)
{
	const evidence *e = r->e;
	size_t n;
	const index_counter *counters = index_counters(e->rows.ix, &n);
	table_cursor *cursors = n ? malloc(2 * sizeof *cursors) : NULL;
	counter_samples samples = { 0 };
	bool ok = !n || cursors;

	for (size_t i = 0; ok && e->n_ranks && i + 1 < n; i++)
		if (is_named(e->rows.ix, &counters[i], "cpu time ns user") &&
		    is_named(e->rows.ix, &counters[i + 1], "cpu time ns system") &&
		    counters[i].track == counters[i + 1].track)
			ok = add_processor_time(e, &counters[i], &counters[i + 1], cursors, &samples);
	free(cursors);
	r->result->failed = r->result->failed || !ok;
	return samples;
}

counter_samples rule_counter(const rule_run *r, machine_counter what)
{
	const evidence *e = r->e;
	size_t n;
	const index_counter *counters = index_counters(e->rows.ix, &n);
	table_cursor *cursor = n ? malloc(sizeof *cursor) : NULL;
	counter_samples samples = { 0 };
	bool ok = !n || cursor;

	for (size_t i = 0; ok && e->n_ranks && i < n; i++)
		if (is_counter(index_text(e->rows.ix, counters[i].name), what))
			ok = add_counter(e, &counters[i], cursor, &samples);
	free(cursor);
	r->result->failed = r->result->failed || !ok;
	return samples;
}

void rule_starved(rule_run *r, const starved_rule *what)
{
	enum { BUSY, USE, SAMPLES };
	counter_samples samples = rule_counter(r, what->counter);
	bool is_own = !samples.n && what->own_state;
	size_t n = 0;
	int64_t lost = 0;
	use_part worst = { 0 };

	if (is_own)
		samples = processor_time(r);
	for (size_t i = 0; i < samples.n; i++) {
		const use_part *at = &samples.items[i].time;
		if (samples.items[i].value <= rule_setting(r, BUSY) || use_of(at) >= rule_setting(r, USE))
			continue;
		n++;
		lost = add_bounded(lost, at->seen_ns - at->busy_ns);
		worst = at->seen_ns - at->busy_ns > worst.seen_ns - worst.busy_ns ? *at : worst;
	}
	if (samples.n)
		rule_saw(r, "%zu of %zu samples, the device idle for %s", n, samples.n, say_each(r, lost));
	else
		rule_no_data(r, "no system counters");
	if ((double)n > rule_setting(r, SAMPLES) * (double)samples.n) {
		sonde_finding *f = rule_found(r, lost, "%s", what->title);
		finding_evidence(
			r->result, f,
			"In %zu of %zu samples %s more than %.0f %% of the time while the device is used less than "
			"%.0f %%.",
			n, samples.n, is_own ? what->own_state : what->state, 100 * rule_setting(r, BUSY),
			100 * rule_setting(r, USE));
		finding_suggest(r->result, f, "%s", what->suggestion);
		f->confidence = 0.8;
		rule_link_time(r, f, worst.rank, worst.from_ns, worst.to_ns);
	}
	VEC_DONE(&samples);
}

/* ---- Links ------------------------------------------------------------------------------------------------------- */

void rule_link_time(rule_run *r, sonde_finding *f, int32_t rank, int64_t from_ns, int64_t to_ns)
{
	const evidence_rank *k = evidence_find_rank(r->e, rank);
	size_t n = k ? k->of->n_device : 0;

	finding_time(f, from_ns, to_ns);
	if (!n)
		return;
	/* the first work of the device behind it, or else the last */
	size_t at = FIRST_NOT(i, 0, n - 1, evidence_row(r->e, k->of->device[i])->start_ns < to_ns);
	finding_slice(r->result, f, evidence_row(r->e, k->of->device[at])->slice);
}

void idle_worst_find(idle_worst *worst, const evidence_rank *k, const intervals *set)
{
	interval idle;

	for (interval_walk at = intervals_first(&k->idle); intervals_next(&at, &idle);) {
		int64_t ns = idle.end - idle.start;
		if (ns > worst->ns && set)
			ns = intervals_overlap_with(set, idle.start, idle.end);
		if (ns > worst->ns)
			*worst = (idle_worst){ k, idle, ns };
	}
}

void rule_link_worst(rule_run *r, sonde_finding *f, const idle_worst *worst)
{
	if (worst->k)
		rule_link_time(r, f, worst->k->of->rank, worst->idle.start, worst->idle.end);
}

void rule_link_idle(rule_run *r, sonde_finding *f)
{
	idle_worst worst = { 0 };

	for (size_t i = 0; i < r->e->n_ranks; i++)
		idle_worst_find(&worst, &r->e->ranks[i], NULL);
	rule_link_worst(r, f, &worst);
}

void rule_link_place(rule_run *r, sonde_finding *f, uint32_t track, int64_t ns)
{
	uint32_t i = track < r->e->rows.n_tracks ? row_at(r->e, track, ns) : ROW_NONE;

	if (i == ROW_NONE) {
		finding_time(f, ns, ns + 1);
		return;
	}
	const row *at = evidence_row(r->e, i);
	finding_slice(r->result, f, at->slice);
	finding_affects(r->result, f, row_name(&r->e->rows, at));
	finding_time(f, at->start_ns, row_end_ns(at));
}
