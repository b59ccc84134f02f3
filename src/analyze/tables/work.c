/* See work.h. */
#include "analyze/tables/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/tables/calls.h"
#include "analyze/tables/collective_match.h"
#include "analyze/math/stats.h"
#include "base/big.h"
#include "base/error.h"
#include "base/format_number.h"
#include "base/vec.h"
#include "base/threads.h"

/* ---- Our rules --------------------------------------------------------------------------------------------------- */

work_item work_item_of(const work *w, uint32_t device_row)
{
	row at = rows_at(&w->rows, device_row);

	return (work_item){ .start = at.start_ns,
			    .dur = at.dur_ns,
			    .row = device_row,
			    .site = at.site,
			    .launch = at.launch,
			    .stream = row_stream(&w->rows, &at),
			    .kind = (uint8_t)work_kind(w, at.site),
			    .is_work = true,
			    .is_queued = at.launch != ROW_NONE };
}

static work_rank *rank_of(work *w, int32_t rank)
{
	for (size_t i = 0; i < w->n_ranks; i++)
		if (w->ranks[i].rank == rank)
			return &w->ranks[i];
	return NULL;
}

/* Annotations, from all rows of the sites that are such; most traces have few of them. */
static bool load_annotations(work *w)
{
	const rows *r = &w->rows;
	size_t *capacities = calloc(w->n_ranks + 1, sizeof *capacities);
	bool ok = capacities != NULL;

	site_set sites = { 0 };
	ok = ok && site_set_init(&sites, r);
	for (uint32_t i = 0; ok && i < r->n_sites; i++)
		if (r->sites[i].class == CLASS_ANNOTATION || r->sites[i].class == CLASS_STEP)
			site_set_add(&sites, i);
	for (size_t i = ok ? rows_next(r, &sites, 0) : r->n; ok && i < r->n; i = rows_next(r, &sites, i + 1)) {
		const row *at = ROW_AT(r, i);
		work_rank *rank = at->flags & ROW_ASYNC ? NULL : rank_of(w, row_rank(r, at));
		if (!rank)
			continue;
		work_annotation *a = vec_add((void **)&rank->annotations, &rank->n_annotations,
					     &capacities[rank - w->ranks], sizeof *a);
		ok = a != NULL;
		if (a)
			*a = (work_annotation){ at->start_ns, at->dur_ns, (uint32_t)i, at->flags & ROW_ON_STREAM };
	}
	free(capacities);
	site_set_done(&sites);
	return ok;
}

/* c: NULL where the trace has no arguments. */
static double bandwidth_of(const work *w, const args_column *c, const work_item *item)
{
	return c ? args_column_f64(w->rows.ix, c, rows_at(&w->rows, item->row).args, 0) : 0;
}

static bool fill_bandwidths(work *w, const args_column *c)
{
	for (size_t k = 0; k < w->n_ranks; k++) {
		work_rank *rank = &w->ranks[k];
		rank->bandwidths = malloc((rank->n + 1) * sizeof *rank->bandwidths);
		if (!rank->bandwidths)
			return false;
		for (size_t i = 0, n = 0; i < rank->n; i++)
			if (WORK_AT(w, rank, i)->kind == KERNEL_MEMORY)
				rank->bandwidths[n++] = bandwidth_of(w, c, WORK_AT(w, rank, i));
	}
	return true;
}

static bool load_ours(work *w)
{
	w->ns_per_tick = 1;
	w->ticks_per_us = 1000;
	w->ranks = calloc(w->rows.n_ranks + 1, sizeof *w->ranks);
	for (size_t i = 0; w->ranks && i < w->rows.n_ranks; i++) {
		const rows_rank *from = &w->rows.ranks[i];
		w->ranks[w->n_ranks++] = (work_rank){ .rank = from->rank,
						      .first_start = from->start_ns,
						      .last_start = from->end_ns,
						      .cut_ns = INT64_MAX,
						      .device = from->device,
						      .n = from->n_device };
	}
	return w->ranks != NULL;
}

static bool keep_items(const work *w, work_rank *rank)
{
	work_item *items = big_alloc(rank->n + 1, sizeof *items);

	for (size_t i = 0; items && i < rank->n; i++)
		items[i] = work_item_of(w, rank->device[i]);
	rank->items = items;
	return items != NULL;
}

/* Also looks at the kind of each name, so that several threads may ask for items. */
static bool make_spans(const work *w, work_rank *rank)
{
	bool ok = true;

	for (size_t i = 0; i < rank->n; i++) {
		const work_item *item = WORK_AT(w, rank, i);
		rank->n_launches += work_is_ours(w) && item->launch != WORK_NONE;
		spans_add(&rank->spans[KERNEL_KINDS], item->start, item->start + item->dur);
		spans_add(&rank->spans[item->kind], item->start, item->start + item->dur);
	}
	for (size_t k = 0; k <= KERNEL_KINDS; k++) {
		rank->spans[k].length = spans_length(&rank->spans[k]);
		ok = ok && !rank->spans[k].failed;
	}
	return ok;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static bool is_hta_compat(const sonde_analyze_options *options)
{
	return options->compat && strncmp(options->compat, "hta", 3) == 0;
}

bool hta_rounds(const sonde_analyze_options *options)
{
	return strcmp(options->compat, "hta-noround") != 0;
}

static bool is_tracelens_compat(const sonde_analyze_options *options)
{
	return options->compat && strcmp(options->compat, "tracelens") == 0;
}

const setting_def compat_memory_setting = { "compat.memory", SETTING_BYTES, "900MiB",
					    "with --compat: the most memory that the rows may take" };

/* Other tools sort and link all rows at once, and so do their rules here: with the rows themselves at most so many
   bytes a row. */
static sonde_status refuse_many(const work *w, const sonde_analyze_options *options, sonde_error *err)
{
	enum { HTA_ROW_BYTES = 310, TRACELENS_ROW_BYTES = 140 };
	char needed[NUMBER_TEXT], number[NUMBER_TEXT], limit[NUMBER_TEXT];
	double most = setting(options, &compat_memory_setting);
	double bytes = (w->is_hta ? HTA_ROW_BYTES : TRACELENS_ROW_BYTES) * (double)w->rows.n;

	if (work_is_ours(w) || bytes <= most)
		return SONDE_OK;
	return error_set(err, SONDE_E_UNSUPPORTED, -1,
			 "%s rows by the rules of %s would take about %s of memory, more than compat.memory (%s): "
			 "choose steps with --steps or ranks with --ranks, or raise it with --set",
			 format_count(number, w->rows.n), w->is_hta ? "HTA" : "TraceLens",
			 format_bytes(needed, (uint64_t)bytes), format_bytes(limit, (uint64_t)most));
}

static bool is_of_few(const char *name, site_class class)
{
	return class == CLASS_ANNOTATION || class == CLASS_STEP || collectives_look_at(name, class);
}

/* Slices and arguments lie apart, and take about as long: one thread each. */
typedef struct reading {
	const sonde_trace *trace;
	rows_options options;
	rows *rows;
	sonde_error *err;
	sonde_status status;
	args_column bandwidth;
	bool wants_bandwidth, reads_args, has_args;
} reading;

enum { READ_ROWS, READ_ARGS, READINGS };

static void read_part(void *context, size_t part)
{
	reading *r = context;

	if (part == READ_ROWS)
		r->status = rows_load(r->trace, &r->options, r->rows, r->err);
	else if (r->reads_args)
		r->has_args = args_columns_read(r->trace->index, &r->bandwidth, 1);
}

static bool fill(work *w, const sonde_analyze_options *options, const reading *from)
{
	bool ok = from->has_args == from->reads_args && (w->kinds = malloc(w->rows.n_sites + 1)) &&
		  (w->calls = calloc(1, sizeof *w->calls));

	if (!ok)
		return false;
	memset(w->kinds, KERNEL_KINDS, w->rows.n_sites + 1);
	if (w->is_hta)
		ok = work_load_hta(w, hta_rounds(options));
	else if (w->is_tracelens)
		ok = work_load_tracelens(w);
	else
		ok = load_ours(w) && load_annotations(w);
	if (ok && from->wants_bandwidth)
		ok = fill_bandwidths(w, from->has_args ? &from->bandwidth : NULL);
	for (size_t i = 0; ok && i < w->n_ranks; i++) {
		w->is_empty &= !w->ranks[i].n;
		if (work_is_ours(w) && !rows_are_paged(&w->rows))
			ok = keep_items(w, &w->ranks[i]);
		ok = ok && make_spans(w, &w->ranks[i]);
	}
	return ok;
}

sonde_status work_load(const sonde_trace *trace, const sonde_analyze_options *options, work_options what,
		       work *ret_work, sonde_error *err)
{
	work *w = ret_work;
	const sonde_index *ix = trace->index;

	*w = (work){ .is_hta = is_hta_compat(options), .is_tracelens = is_tracelens_compat(options), .is_empty = true };
	reading r = { .trace = trace,
		      .options = rows_options_from(options),
		      .rows = &w->rows,
		      .err = err,
		      .bandwidth = { .role = ROLE_BANDWIDTH, .is_rare = true },
		      .wants_bandwidth = what.bandwidth && !w->is_hta && !w->is_tracelens };
	r.reads_args = ix && r.wants_bandwidth && index_n_rows(ix, SECTION_ARGS);
	if (what.few_rows && !w->is_hta && !w->is_tracelens)
		r.options.wants = is_of_few;
	threads_run(r.reads_args ? threads_available() : 1, READINGS, read_part, &r);
	if (!r.status)
		r.status = refuse_many(w, options, err);
	if (!r.status && w->rows.ix && !fill(w, options, &r))
		r.status = out_of_memory(err);
	if (r.has_args)
		args_columns_done(&r.bandwidth, 1);
	return r.status;
}

void work_done(work *w)
{
	for (size_t i = 0; w->ranks && i < w->n_ranks; i++) {
		work_rank *rank = &w->ranks[i];
		if (rank->enqueued != rank->launches)
			free(rank->enqueued);
		free(rank->items);
		free(rank->bandwidths);
		free(rank->calls);
		free(rank->launches);
		free(rank->annotations);
		for (size_t k = 0; k <= KERNEL_KINDS; k++)
			spans_done(&rank->spans[k]);
	}
	if (w->calls)
		calls_done(w->calls);
	free(w->calls);
	free(w->ranks);
	free(w->kinds);
	free(w->parents);
	free(w->order);
	rows_done(&w->rows);
	*w = (work){ 0 };
}

/* ---- What analyses share ----------------------------------------------------------------------------------------- */

sonde_status out_of_memory(sonde_error *err)
{
	return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
}

void work_hide_empty(const work *w, sonde_result *r)
{
	for (table *t = r->tables; t; t = t->next)
		if (w->is_empty && !t->n_rows)
			t->n_shown = 0;
}

sonde_status work_run(const work_analysis *a, const sonde_trace *trace, const sonde_analyze_options *options,
		      sonde_result *r, sonde_error *err)
{
	work w;
	sonde_status status = work_load(trace, options,
					(work_options){ .bandwidth = a->bandwidth, .few_rows = a->few_rows }, &w, err);

	if (!status && !a->needs_no_device)
		work_explain(&w, r);
	if (!status)
		status = a->add(&w, options, r, err);
	work_hide_empty(&w, r);
	work_done(&w);
	return status;
}

void limit_rows(sonde_result *r, table *t, const sonde_analyze_options *options, const char *what)
{
	enum { DEFAULT_TOP = 20 };
	uint64_t top = options->top ? options->top : DEFAULT_TOP;
	char number[NUMBER_TEXT];

	if (!t || t->n_rows <= top)
		return;
	t->more = result_format(r, "%s more %s: --top all", format_count(number, t->n_rows - top), what);
	t->n_shown = (size_t)top;
	if (options->top)
		t->n_rows = (size_t)top; /* asked for: in JSON and CSV as well */
}

cell work_cell_f64(const work *w, double ticks)
{
	double ns = work_ns(w, ticks);

	if (isnan(ns))
		return cell_unknown();
	return !(w->is_hta || w->is_tracelens) || (ns == rint(ns) && fabs(ns) < 9e15) ? cell_ns(whole_bounded(rint(ns)))
										      : cell_number(ns);
}

cell work_cell(const work *w, int64_t ticks)
{
	return w->is_hta || w->is_tracelens ? work_cell_f64(w, (double)ticks) : cell_ns(ticks);
}

static bool has_streams(const sonde_index *ix)
{
	size_t n;
	const index_track *tracks = index_tracks(ix, &n);

	for (size_t i = 0; i < n; i++)
		if (tracks[i].kind == TRACK_STREAM && tracks[i].n_slices)
			return true;
	return false;
}

void work_explain(const work *w, sonde_result *r)
{
	if (!w->is_empty)
		return;
	if (!w->rows.ix)
		result_note_add(r, "note", "no device rows: this recording has no index; sonde import creates one");
	else if (w->rows.n_left_out && has_streams(w->rows.ix))
		result_note_add(r, "note", "no device rows in the selected steps, ranks or time range");
	else
		result_note_add(r, "note",
				"no device rows: the trace covers the CPU only, or the device profiler was off");
}

void work_differs(const work *w, sonde_result *r, const char *how)
{
	if (!w->is_hta && !w->is_empty)
		result_note_add(r, "differs", "from HTA: %s", how);
}

static const column coverage_columns[] = {
	{ "table", "table", CELL_STRING, 0, false },
	{ "n_rows", "rows", CELL_COUNT, 0, false },
	{ "n_all_rows", "of", CELL_COUNT, 0, false },
	{ "time_ns", "time", CELL_NS, 0, false },
	{ "all_time_ns", "of", CELL_NS, 0, false },
	{ "percent", "%", CELL_PERCENT, 0, false },
	{ "not_in_it", "not covered", CELL_STRING, 0, false },
};

static table *coverage_table(sonde_result *r)
{
	for (table *t = r->tables; t; t = t->next)
		if (strcmp(t->key, "coverage") == 0)
			return t;
	return result_table(r, "coverage", NULL, coverage_columns,
			    sizeof coverage_columns / sizeof coverage_columns[0]);
}

void work_covers(const work *w, sonde_result *r, const char *table_key, const coverage *c, const char *why)
{
	work_covers_rows(w, r, table_key, c, "device rows", why);
}

void work_covers_rows(const work *w, sonde_result *r, const char *table_key, const coverage *c, const char *rows_name,
		      const char *why)
{
	char n[NUMBER_TEXT], all[NUMBER_TEXT], time[NUMBER_TEXT], all_time[NUMBER_TEXT];
	double part = work_ns(w, (double)c->ticks), whole = work_ns(w, (double)c->all_ticks);
	table *t = coverage_table(r);
	cell *to = table_row(r, t, 0);

	to[0] = cell_string(table_key);
	to[1] = cell_count(c->n);
	to[2] = cell_count(c->n_all);
	to[3] = work_cell_f64(w, (double)c->ticks);
	to[4] = work_cell_f64(w, (double)c->all_ticks);
	to[5] = whole > 0 ? cell_percent(100 * part / whole) : cell_unknown();
	to[6] = c->n < c->n_all ? cell_string(why) : cell_unknown();
	if (t)
		t->n_shown = 0;
	if (c->n == c->n_all && c->n)
		result_note_add(r, "covers", "%s: all %s %s, %s", table_key, format_count(all, c->n_all), rows_name,
				format_ns(all_time, whole_bounded(rint(whole))));
	else if (c->n_all)
		result_note_add(r, "covers", "%s: %s of %s %s, %s of %s (%.1f %%); the rest: %s", table_key,
				format_count(n, c->n), format_count(all, c->n_all), rows_name,
				format_ns(time, whole_bounded(rint(part))),
				format_ns(all_time, whole_bounded(rint(whole))), whole > 0 ? 100 * part / whole : 0,
				why);
}

void describe_cells(const work *w, const description *d, bool are_times, cell *to)
{
	const double values[] = { d->mean, d->std, d->min, d->q25, d->q50, d->q75, d->max };

	*to++ = cell_count(d->n);
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++, to++) {
		if (!d->n || isnan(values[i]))
			*to = cell_unknown();
		else
			*to = are_times ? work_cell_f64(w, values[i]) : cell_number(values[i]);
	}
}
