/*
 * Memory bandwidth by direction: the sum over what runs at the same moment, described over the
 * moments of change at which anything runs. At the same moment ends come first, and what takes no time does not count.
 *
 * By HTA's rules starts come first, a duration of 0 is one microsecond, and what adding and subtracting doubles leaves
 * over counts as a bandwidth.
 */
#include "analyze/tables/work.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/math/stats.h"

static const setting_def series_setting = { "bandwidth.series", SETTING_BOOL, "no", "add a table of every change" };

static const column bandwidth_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "name", "direction", CELL_STRING, 0, false },
	DESCRIBE_COLUMNS("_gbps"),
	{ "copies", "copies", CELL_COUNT, 1, false },
	{ "time_ns", "time", CELL_NS, 1, false },
};
static const column series_columns[] = {
	{ "time_ns", "time", CELL_NS, 0, false },
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "name", "direction", CELL_STRING, 0, false },
	{ "gbps", "GB/s", CELL_NUMBER, 0, false },
};

typedef struct change {
	int64_t at;
	double by;
	int32_t label; /* of labels */
	int32_t order; /* at the same moment */
} change;

#define SORT_NAME sort_changes
#define SORT_TYPE change
#define SORT_BEFORE(a, b)                                                                                              \
	((a)->label != (b)->label ? (a)->label < (b)->label                                                            \
	 : (a)->at != (b)->at	  ? (a)->at < (b)->at                                                                  \
				  : (a)->order < (b)->order)
#include "base/sort_template.h"

/* "Memset", or a name's first eleven characters: "Memcpy HtoD". */
typedef struct label {
	char text[16];
	uint64_t n;
	int64_t ticks;
} label;
enum { LABELS = 64 };

typedef struct bandwidth_tables {
	const work *w;
	sonde_result *r;
	table *sums, *series;
	label labels[LABELS];
	int32_t n_labels;
	int32_t *of_site; /* label, or -1: not looked at */
} bandwidth_tables;

static int32_t make_label(bandwidth_tables *b, const char *name)
{
	char text[16] = "";

	if (strncmp(name, "Memset", 6) == 0)
		memcpy(text, "Memset", 7);
	else if (strncmp(name, "Memcpy", 6) == 0)
		memcpy(text, name, strnlen(name, 11));
	else if (b->w->is_hta)
		memcpy(text, "Memcpy Unknown", 15);
	else
		memcpy(text, name, strnlen(name, 15));
	for (int32_t i = 0; i < b->n_labels; i++)
		if (strcmp(b->labels[i].text, text) == 0)
			return i;
	if (b->n_labels == LABELS - 1) /* what a trace has of strange names goes together */
		memcpy(text, "others", 7);
	if (b->n_labels == LABELS)
		return LABELS - 1;
	memcpy(b->labels[b->n_labels].text, text, sizeof text);
	return b->n_labels++;
}

static size_t make_changes(bandwidth_tables *b, const work_rank *rank, change *changes)
{
	bool is_hta = b->w->is_hta;
	const double *bandwidth = rank->bandwidths;
	size_t n = 0;

	for (size_t i = 0; i < rank->n; i++) {
		const work_item *item = WORK_AT(b->w, rank, i);
		if (item->kind != KERNEL_MEMORY)
			continue;
		int32_t *at = &b->of_site[item->site];
		if (*at < 0)
			*at = make_label(b, item_name(b->w, item));
		label *l = &b->labels[*at];
		double gbps = *bandwidth++;
		int64_t dur = item->dur == 0 && is_hta ? b->w->ticks_per_us : item->dur;
		l->n++;
		l->ticks = add_bounded(l->ticks, item->dur);
		if (!is_hta && (!dur || gbps <= 0))
			continue;
		changes[n++] = (change){ item->start, gbps, *at, is_hta ? 0 : 1 };
		changes[n++] = (change){ add_bounded(item->start, dur), -gbps, *at, is_hta ? 1 : 0 };
	}
	return n;
}

/* `values` has room for n. */
static bool add_label(bandwidth_tables *b, const work_rank *rank, const change *changes, size_t n, const label *l,
		      double *values)
{
	double now = 0;
	size_t n_values = 0, n_running = 0;
	description d;

	for (size_t i = 0; i < n; i++) {
		now += changes[i].by;
		n_running += changes[i].order ? 1 : -1; /* by our rules */
		if (!b->w->is_hta && !n_running)
			now = 0; /* nothing of what rounding leaves over */
		if (now > 0)
			values[n_values++] = now;
		if (b->series) {
			cell *c = table_row(b->r, b->series, 0);
			c[0] = work_cell(b->w, changes[i].at);
			c[1] = cell_integer(rank->rank);
			c[2] = cell_string(result_string(b->r, l->text));
			c[3] = cell_number(now);
		}
	}
	if (!describe(values, n_values, &d))
		return false;
	if (b->w->is_hta && !n_values)
		return true;
	cell *c = table_row(b->r, b->sums, 0);
	c[0] = cell_integer(rank->rank);
	c[1] = cell_string(result_string(b->r, l->text));
	describe_cells(b->w, &d, false, c + 2);
	c[2 + DESCRIBE_CELLS] = cell_count(l->n);
	c[3 + DESCRIBE_CELLS] = work_cell(b->w, l->ticks);
	return true;
}

static bool add_rank(bandwidth_tables *b, const work_rank *rank)
{
	change *changes = malloc((2 * rank->n + 1) * sizeof *changes);
	double *values = malloc((2 * rank->n + 1) * sizeof *values);
	bool ok = changes && values;
	size_t n = 0, at = 0;

	for (int32_t i = 0; i < b->n_labels; i++)
		b->labels[i].n = 0, b->labels[i].ticks = 0;
	if (ok)
		n = make_changes(b, rank, changes);
	ok = ok && sort_changes(changes, n);
	for (int32_t i = 0; ok && i < b->n_labels; i++) {
		size_t first = at;
		while (at < n && changes[at].label == i)
			at++;
		if (b->labels[i].n)
			ok = add_label(b, rank, changes + first, at - first, &b->labels[i], values);
	}
	free(changes);
	free(values);
	return ok;
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	bandwidth_tables b = { .w = w, .r = r };
	bool ok = (b.of_site = malloc((w->rows.n_sites + 1) * sizeof *b.of_site)) != NULL;

	b.sums = result_table(r, "bandwidth", "Memory bandwidth, GB/s", bandwidth_columns,
			      sizeof bandwidth_columns / sizeof bandwidth_columns[0]);
	if (setting(options, &series_setting) != 0)
		b.series = result_table(r, "bandwidth_series", "Memory bandwidth over time", series_columns,
					sizeof series_columns / sizeof series_columns[0]);
	for (size_t i = 0; ok && i < w->rows.n_sites; i++)
		b.of_site[i] = -1;
	for (size_t i = 0; ok && i < w->n_ranks; i++)
		ok = add_rank(&b, &w->ranks[i]);
	if (b.series) {
		table_chart(b.series, CHART_STEPS, "time_ns", "gbps", "name");
		limit_rows(r, b.series, options, "changes");
	}
	if (ok && !w->is_empty && b.sums && !b.sums->n_rows) {
		b.sums->n_shown = 0;
		result_note_add(r, "bandwidth", "no copies or memsets on the device");
	}
	work_differs(w, r, "rows without duration and rounding residues do not count");
	free(b.of_site);
	return ok ? SONDE_OK : out_of_memory(err);
}

const work_analysis bandwidth_work = { .add = add, .bandwidth = true, .few_rows = true };

static const setting_def *settings(size_t index)
{
	return index == 0 ? &series_setting : NULL;
}

const analysis bandwidth_analysis = {
	.name = "bandwidth",
	.summary = "Memory bandwidth by direction",
	.compat = WORK_COMPAT,
	.setting = settings,
	.work = &bandwidth_work,
};
