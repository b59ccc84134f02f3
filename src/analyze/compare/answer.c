/*
 * Which of several runs is faster, by how much, and how sure that is.
 *
 * What is compared first is the time per step. Where there are no steps it is a call of the name that takes most of the
 * time and is called often enough, and where there is no such name either it is the whole run, of which nobody can say
 * how much it varies.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "analyze/compare/comparison.h"
#include "base/format_number.h"

enum { ENOUGH_CALLS = 5 };
#define ENOUGH_SHARE 0.25 /* of a run, for its calls to stand for it */
#define TIMES_FROM 1.0	  /* from twice as slow on nobody thinks in percent */

/* What the first line is about. */
typedef struct main_measure {
	const char *per;     /* "step", "call of forward"; NULL: the whole run */
	const char *samples; /* "steps", "calls" */
	summary of[SONDE_COMPARE_MAX];
} main_measure;

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

bool comparison_by_steps(const comparison *c, const compare_item *const *items)
{
	for (size_t i = 0; i < c->n; i++)
		if (items[i] && !items[i]->step.n)
			return false;
	return c->has_steps;
}

summary comparison_summary(const comparison *c, size_t run, const compare_item *item, bool by_steps)
{
	const compare_run *of = &c->runs[run];

	if (by_steps)
		return item->step;
	double n_steps = (double)(of->n_steps * of->n_ranks);
	return c->has_steps ? summary_scaled(item->call, (double)item->calls / n_steps) : item->call;
}

static bool find_steps(const comparison *c, main_measure *m)
{
	for (size_t i = 0; i < c->n; i++) {
		const compare_item *step = compare_run_find(&c->runs[i], ITEM_STEP, "step");
		if (!step)
			return false;
		m->of[i] = step->step;
	}
	m->per = "step";
	m->samples = "steps";
	return true;
}

static bool fills(const compare_run *run, const compare_item *item)
{
	return (double)item->total_ns >= ENOUGH_SHARE * (double)run->total_ns * (double)run->n_ranks;
}

/* The least time that it takes in a run, when all runs call it often and long enough; -1: they do not. */
static int64_t least_total(const comparison *c, const compare_item *of)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < c->n; i++) {
		const compare_item *item = compare_run_find(&c->runs[i], of->kind, of->name);
		if (!item || item->calls < ENOUGH_CALLS || !fills(&c->runs[i], item))
			return -1;
		least = item->total_ns < least ? item->total_ns : least;
	}
	return least;
}

static bool find_name(const comparison *c, main_measure *m)
{
	const compare_item *best = NULL;
	int64_t most = 0;

	for (size_t i = 0; i < c->runs[0].items.n; i++) {
		const compare_item *item = &c->runs[0].items.items[i];
		if (item->kind != ITEM_HOST && item->kind != ITEM_DEVICE)
			continue;
		int64_t total = least_total(c, item);
		if (total > most) {
			most = total;
			best = item;
		}
	}
	for (size_t i = 0; best && i < c->n; i++)
		m->of[i] = compare_run_find(&c->runs[i], best->kind, best->name)->whole;
	m->per = best ? result_format(c->r, "call of %s", best->name) : NULL;
	m->samples = "calls";
	return best != NULL;
}

static main_measure find_measure(const comparison *c)
{
	main_measure m = { .samples = "run" };

	if (!find_steps(c, &m) && !find_name(c, &m))
		for (size_t i = 0; i < c->n; i++)
			m.of[i] = (summary){ .n = 1, .median = (double)c->runs[i].total_ns };
	return m;
}

/* ---- Sentences --------------------------------------------------------------------------------------------------- */

const char *format_from_to(char *ret_text, double from_ns, double to_ns)
{
	number_unit unit = number_unit_for(NUMBER_NS, from_ns > to_ns ? from_ns : to_ns);
	char from[NUMBER_TEXT], to[NUMBER_TEXT];

	format_in_unit(from, from_ns, unit);
	from[strcspn(from, " ")] = '\0';
	snprintf(ret_text, FROM_TO_TEXT, "%s -> %s", from, format_in_unit(to, to_ns, unit));
	return ret_text;
}

static const char *per_text(const comparison *c, const main_measure *m)
{
	return m->per ? result_format(c->r, " per %s", m->per) : "";
}

/* "12.3 % faster than A", "3.01 times as slow as A". */
static const char *size_text(const comparison *c, const difference *d, const char *than)
{
	char number[NUMBER_TEXT];

	if (d->change >= TIMES_FROM)
		return result_format(c->r, "%s times as slow as %s", format_number(number, 1 + d->change), than);
	return result_format(c->r, "%s %% %s than %s", format_percent(number, 100 * fabs(d->change)),
			     d->change < 0 ? "faster" : "slower", than);
}

/* ", 95 % sure it is 11.0 to 13.5 %" */
static const char *certainty_text(const comparison *c, const difference *d)
{
	double least = fmin(fabs(d->low), fabs(d->high)), most = fmax(fabs(d->low), fabs(d->high));
	char low[NUMBER_TEXT], high[NUMBER_TEXT];

	if (d->change >= TIMES_FROM)
		return result_format(c->r, ", 95 %% confidence interval %s to %s times", format_number(low, 1 + least),
				     format_number(high, 1 + most));
	return result_format(c->r, ", 95 %% confidence interval %s to %s %%", format_percent(low, 100 * least),
			     format_percent(high, 100 * most));
}

/* "2 steps are too few for a confidence interval, which needs 3" */
static const char *doubt_text(const comparison *c, const main_measure *m, uint64_t n)
{
	int len = (int)strlen(m->samples) - (n == 1);

	if (!m->per || n >= SUMMARY_ENOUGH)
		return "no steps, so no confidence interval";
	return result_format(c->r, "%" PRIu64 " %.*s %s too few for a confidence interval, which needs %d", n, len,
			     m->samples, n == 1 ? "is" : "are", SUMMARY_ENOUGH);
}

static void say_difference(const comparison *c, const main_measure *m, size_t a, size_t b, const difference *d)
{
	char times[FROM_TO_TEXT], share[NUMBER_TEXT];
	const char *per = per_text(c, m);
	uint64_t n = m->of[a].n < m->of[b].n ? m->of[a].n : m->of[b].n;

	format_from_to(times, m->of[a].median, m->of[b].median);
	if (isnan(d->change) || m->of[b].median <= 0)
		result_answer(c->r, "no comparison: %s has no time", m->of[a].median > 0 ? c->labels[b] : c->labels[a]);
	else if (isnan(d->low) && d->change == 0)
		result_answer(c->r, "%s and %s take the same time%s", c->labels[a], c->labels[b], per);
	else if (isnan(d->low))
		result_answer(c->r, "%s is %s%s (%s); %s", c->labels[b], size_text(c, d, c->labels[a]), per, times,
			      doubt_text(c, m, n));
	else if (d->is_certain)
		result_answer(c->r, "%s is %s%s (%s%s)", c->labels[b], size_text(c, d, c->labels[a]), per, times,
			      certainty_text(c, d));
	else
		result_answer(c->r, "no difference above the noise (%" PRIu64 " %s, %s%s, +-%s %%)", n, m->samples,
			      times, per, format_percent(share, 50 * (d->high - d->low)));
}

cell share_cell(double share)
{
	return isnan(share) ? cell_unknown() : cell_percent(100 * share);
}

/* Runs from the fastest to the slowest. */
static void rank_runs(const comparison *c, const main_measure *m, size_t *ret_order)
{
	for (size_t i = 0; i < c->n; i++) {
		size_t at = i;
		for (; at > 0 && m->of[ret_order[at - 1]].median > m->of[i].median; at--)
			ret_order[at] = ret_order[at - 1];
		ret_order[at] = i;
	}
}

/* How many at the front cannot be told from the fastest. */
static size_t count_level(const comparison *c, const main_measure *m, const size_t *order)
{
	size_t n = 1;

	while (n < c->n && !difference_of(&m->of[order[0]], &m->of[order[n]], level_for(c->n - 1)).is_certain)
		n++;
	return n;
}

static const char *list_labels(const comparison *c, const size_t *order, size_t n)
{
	const char *text = c->labels[order[0]];

	for (size_t i = 1; i < n; i++)
		text = result_format(c->r, "%s%s%s", text, i + 1 < n ? ", " : " and ", c->labels[order[i]]);
	return text;
}

static void say_ranking(const comparison *c, const main_measure *m, const size_t *order)
{
	size_t n_level = count_level(c, m, order), best = order[0];
	double fastest = m->of[best].median;
	char time[NUMBER_TEXT], share[NUMBER_TEXT], low[NUMBER_TEXT], high[NUMBER_TEXT];
	size_t next = order[n_level < c->n ? n_level : c->n - 1];
	/* How much of the next one's time the fastest saves. */
	difference d = difference_of(&m->of[next], &m->of[best], level_for(c->n - 1));

	format_ns(time, (int64_t)fastest);
	if (n_level == c->n && isnan(d.low)) {
		result_answer(c->r, "%s is the fastest of %zu%s (%s); too few samples for a confidence interval",
			      c->labels[best], c->n, per_text(c, m), time);
		result_note_add(c->r, "advice", "repeat the runs with steps");
	} else if (n_level == c->n) {
		result_answer(c->r, "no difference between %zu runs above the noise (%s%s, +-%s %%)", c->n, time,
			      per_text(c, m), format_percent(share, 50 * (d.high - d.low)));
		result_note_add(c->r, "advice", "time does not decide between these runs");
	} else if (n_level == 1) {
		result_answer(c->r,
			      "%s is the fastest of %zu: %s%s, %s %% less than %s, the next (95 %% confidence interval "
			      "%s to %s %%)",
			      c->labels[best], c->n, time, per_text(c, m), format_percent(share, -100 * d.change),
			      c->labels[next], format_percent(low, -100 * d.high), format_percent(high, -100 * d.low));
		result_note_add(c->r, "advice", "use %s (%s): significantly faster than each of the others",
				c->labels[best], c->runs[best].name);
	} else {
		const char *level = list_labels(c, order, n_level);
		result_answer(c->r,
			      "%s are the fastest of %zu and equal within the noise: %s%s, %s %% less than %s, the "
			      "next (95 %% confidence interval %s to %s %%)",
			      level, c->n, time, per_text(c, m), format_percent(share, -100 * d.change),
			      c->labels[next], format_percent(low, -100 * d.high), format_percent(high, -100 * d.low));
		result_note_add(c->r, "advice",
				"use any of %s: significantly faster than the others, and equal within the noise",
				level);
	}
}

/* ---- Regressions ------------------------------------------------------------------------------------------------- */

void comparison_check(comparison *c, size_t run, const difference *d, const char *what, double n_samples)
{
	double limit = c->options->fail_above;
	char share[NUMBER_TEXT], allowed[NUMBER_TEXT], low[NUMBER_TEXT], high[NUMBER_TEXT];

	if (limit <= 0 || !d->is_certain || !(d->change > limit))
		return;
	c->n_regressions++;
	sonde_finding *f = result_finding(c->r, "regression", d->change > 4 * limit ? SONDE_HIGH : SONDE_MEDIUM,
					  "%s is %s %% slower in %s", what, format_percent(share, 100 * d->change),
					  c->labels[run]);
	f->confidence = 0.95;
	f->seconds_lost = d->ns * n_samples / 1e9;
	f->share = d->change / (1 + d->change);
	finding_evidence(c->r, f, "95 %% confidence interval %s to %s %%; the limit is %s %%.",
			 format_percent(low, 100 * d->low), format_percent(high, 100 * d->high),
			 format_percent(allowed, 100 * limit));
	finding_affects(c->r, f, what);
}

/* ---- The runs ---------------------------------------------------------------------------------------------------- */

enum {
	RUN_LABEL,
	RUN_NAME,
	RUN_TOTAL,
	RUN_STEPS,
	RUN_WARMUP,
	RUN_MEDIAN,
	RUN_NOISE,
	RUN_SPEEDUP,
	RUN_CHANGE,
	RUN_LOW,
	RUN_HIGH,
	RUN_MEMORY,
	RUN_PLACE,
	RUN_RANKS,
	N_RUN_COLUMNS
};

static const column run_columns[] = {
	[RUN_LABEL] = { "run", "run", CELL_STRING, 0, false },
	[RUN_NAME] = { "name", "name", CELL_STRING, 0, false },
	[RUN_TOTAL] = { "total_ns", "total", CELL_NS, 2, false },
	[RUN_STEPS] = { "steps", "steps", CELL_COUNT, 1, false },
	[RUN_WARMUP] = { "warmup_steps", "warm-up", CELL_COUNT, 4, false },
	[RUN_MEDIAN] = { "median_ns", "median", CELL_NS, 0, false },
	[RUN_NOISE] = { "noise_percent", "noise %", CELL_PERCENT, 2, false },
	[RUN_SPEEDUP] = { "speedup", "speedup", CELL_NUMBER, 1, false },
	[RUN_CHANGE] = { "change_percent", "change %", CELL_PERCENT, 0, false },
	[RUN_LOW] = { "low_percent", "from %", CELL_PERCENT, 1, false },
	[RUN_HIGH] = { "high_percent", "to %", CELL_PERCENT, 1, false },
	[RUN_MEMORY] = { "peak_bytes", "memory", CELL_BYTES, 3, false },
	[RUN_PLACE] = { "place", "place", CELL_COUNT, 5, false },
	[RUN_RANKS] = { "ranks", "ranks", CELL_COUNT, 6, false },
};

static cell peak_of(const compare_run *run)
{
	uint64_t most = 0;

	for (size_t i = 0; i < run->peaks.n; i++)
		most = run->peaks.items[i].bytes > most ? run->peaks.items[i].bytes : most;
	return run->peaks.n ? cell_bytes(most) : cell_unknown();
}

#define MUCH_NOISE 0.2

/* The deviation of the samples, by their median's; -1: not known. */
static double noise_of(const summary *s)
{
	return s->n > 1 && s->median > 0 ? 1.4826 * s->mad / s->median : -1;
}

static void add_runs(comparison *c, const main_measure *m, const size_t *order)
{
	table *t = result_table(c->r, "runs", NULL, run_columns, N_RUN_COLUMNS);

	for (size_t i = 0; i < c->n; i++) {
		const compare_run *run = &c->runs[i];
		const summary *s = &m->of[i];
		cell *to = table_row(c->r, t, 0);
		size_t place = 0;
		while (order[place] != i)
			place++;
		to[RUN_LABEL] = cell_string(c->heads[i]);
		to[RUN_NAME] = cell_string(result_string(c->r, run->name));
		to[RUN_TOTAL] = run->n_runs == 1 ? cell_ns(run->total_ns) : cell_unknown();
		to[RUN_STEPS] = cell_count(run->n_steps);
		to[RUN_WARMUP] = cell_count(run->n_warmup);
		to[RUN_MEDIAN] = cell_ns((int64_t)llround(s->median));
		if (noise_of(s) >= 0)
			to[RUN_NOISE] = cell_percent(100 * noise_of(s));
		to[RUN_MEMORY] = peak_of(run);
		to[RUN_PLACE] = cell_count(place + 1);
		to[RUN_RANKS] = cell_count(run->n_ranks);
		if (!i || s->median <= 0)
			continue;
		difference d = difference_of(&m->of[0], s, level_for(c->n - 1));
		to[RUN_SPEEDUP] = cell_number(m->of[0].median / s->median);
		to[RUN_CHANGE] = share_cell(d.change);
		to[RUN_LOW] = share_cell(d.low);
		to[RUN_HIGH] = share_cell(d.high);
	}
}

/* Memory of one device may grow while another's shrinks. */
static void add_memory(comparison *c)
{
	static const column fields[] = { { "device", "peak memory on", CELL_STRING, 0, false },
					 { "run", "run", CELL_STRING, 0, false },
					 { "peak_bytes", "peak", CELL_BYTES, 0, false },
					 { "change_percent", "change %", CELL_PERCENT, 0, false } };
	bool any = false;

	for (size_t i = 0; i < c->n; i++)
		any |= c->runs[i].peaks.n != 0;
	table *t = any ? result_table(c->r, "memory", NULL, fields, 4) : NULL;
	for (size_t i = 0; t && i < c->n; i++) {
		for (size_t k = 0; k < c->runs[i].peaks.n; k++) {
			const compare_peak *p = &c->runs[i].peaks.items[k], *first = NULL;
			for (size_t j = 0; j < c->runs[0].peaks.n; j++)
				if (strcmp(c->runs[0].peaks.items[j].device, p->device) == 0)
					first = &c->runs[0].peaks.items[j];
			cell *to = table_row(c->r, t, 0);
			to[0] = cell_string(result_string(c->r, p->device));
			to[1] = cell_string(c->heads[i]);
			to[2] = cell_bytes(p->bytes);
			if (i && first && first->bytes)
				to[3] = cell_percent(100 * ((double)p->bytes / (double)first->bytes - 1));
		}
	}
}

static const char *const warmup_rule =
	"skipped leading steps 10 % above the median of the later half; --warmup none keeps them";

static void note_samples(const comparison *c, const main_measure *m)
{
	const char *counts = "", *warmups = "";
	size_t n_warmup = 0;

	for (size_t i = 0; i < c->n; i++) {
		const char *comma = i ? ", " : "";
		counts = result_format(c->r, "%s%s%s %" PRIu64, counts, comma, c->heads[i], m->of[i].n);
		warmups = result_format(c->r, "%s%s%s %zu", warmups, comma, c->heads[i], c->runs[i].n_warmup);
		n_warmup += c->runs[i].n_warmup;
	}
	if (c->has_steps)
		result_note_add(c->r, "samples", "steps: %s", counts);
	else if (m->per)
		result_note_add(c->r, "samples", "no steps in all runs: calls are the samples (%s)", counts);
	else
		result_note_add(c->r, "samples",
				"no steps, and no name that all runs call often and that takes a quarter of each");
	bool is_auto = !c->select->warmup || strcmp(c->select->warmup, "auto") == 0;
	if (n_warmup)
		result_note_add(c->r, "warm-up", "skipped: %s (%s)", warmups,
				is_auto ? warmup_rule : "as --warmup says");
	if (c->runs[0].n_runs > 2)
		result_note_add(c->r, "noise", "the intervals include variation between runs: %zu runs",
				c->runs[0].n_runs);
	else
		result_note_add(c->r, "noise", "the intervals include variation within a run, not between runs%s",
				c->options->baseline ? ", which needs three" : "; --baseline adds it");
	for (size_t i = 0; i < c->n; i++)
		if (noise_of(&m->of[i]) > MUCH_NOISE)
			result_note_add(
				c->r, "noise",
				"%s varies by %.0f %%: one run is not conclusive; check for other load on the machine",
				c->labels[i], 100 * noise_of(&m->of[i]));
	for (size_t i = 0; i < c->n; i++)
		if (c->runs[i].is_damaged)
			result_note_add(c->r, "damaged", "parts of %s could not be read", c->labels[i]);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static void add_values(const comparison *c, const main_measure *m, const size_t *order)
{
	difference d = difference_of(&m->of[0], &m->of[c->n - 1], level_for(1));

	result_add(c->r, "per", cell_string(m->per ? m->per : "run"));
	result_add(c->r, "change_percent", c->n == 2 ? share_cell(d.change) : cell_unknown());
	result_add(c->r, "low_percent", c->n == 2 ? share_cell(d.low) : cell_unknown());
	result_add(c->r, "high_percent", c->n == 2 ? share_cell(d.high) : cell_unknown());
	result_add(c->r, "is_certain", c->n == 2 ? cell_bool(d.is_certain) : cell_unknown());
	result_add(c->r, "best", cell_count(order[0]));
}

sonde_status comparison_present(comparison *c, sonde_error *err)
{
	size_t order[SONDE_COMPARE_MAX];

	c->has_steps = true;
	for (size_t i = 0; i < c->n; i++)
		c->has_steps = c->has_steps && c->runs[i].n_steps;
	main_measure m = find_measure(c);
	rank_runs(c, &m, order);
	difference d = difference_of(&m.of[0], &m.of[1], level_for(1));
	if (c->n == 2)
		say_difference(c, &m, 0, 1, &d);
	else
		say_ranking(c, &m, order);
	add_values(c, &m, order);
	for (size_t i = 1; i < c->n; i++) {
		d = difference_of(&m.of[0], &m.of[i], level_for(c->n - 1));
		comparison_check(c, i, &d, m.per ? m.per : "run", (double)m.of[i].n);
	}
	add_runs(c, &m, order);
	sonde_status status = comparison_add_tables(c, err);
	add_memory(c);
	note_samples(c, &m);
	result_rank_findings(c->r);
	result_add(c->r, "n_regressions", cell_count(c->n_regressions));
	return status;
}
