/* See evidence.h. */
#include "analyze/tables/evidence.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/names/profiler_frame.h"
#include "analyze/math/stats.h"
#include "base/error.h"

static sonde_status no_memory(sonde_error *err)
{
	return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Of the steps' durations; -1 when out of memory. */
static int64_t median_of(const rows_step *steps, size_t n)
{
	int64_t *all = malloc((n ? n : 1) * sizeof *all), median = 0;

	if (!all)
		return -1;
	for (size_t i = 0; i < n; i++)
		all[i] = steps[i].dur_ns;
	qsort(all, n, sizeof *all, by_value);
	if (n)
		median = n % 2 ? all[n / 2] : all[n / 2 - 1] / 2 + all[n / 2] / 2;
	free(all);
	return median;
}

static void find_steps(evidence *e)
{
	e->steps = NULL;
	e->n_steps = 0;
	for (size_t i = 0; i < e->rows.n_ranks && !e->n_steps; i++) {
		e->steps = e->rows.ranks[i].steps;
		e->n_steps = e->rows.ranks[i].n_steps;
	}
}

static sonde_status load_rows(evidence *e, const sonde_trace *trace, const sonde_analyze_options *options,
			      sonde_error *err)
{
	rows_options how = rows_options_from(options);
	sonde_status status = rows_load(trace, &how, &e->rows, err);

	if (status)
		return status;
	e->n_warmup = how.n_warmup;
	find_steps(e);
	e->median_step_ns = median_of(e->steps, e->n_steps);
	return e->median_step_ns < 0 ? no_memory(err) : SONDE_OK;
}

/* ---- Names and device time --------------------------------------------------------------------------------------- */

static sonde_status load_traits(evidence *e, sonde_error *err)
{
	const rows *r = &e->rows;

	e->traits = calloc(r->n_sites + 1, sizeof *e->traits);
	if (!e->traits)
		return no_memory(err);
	for (size_t i = 0; i < r->n_sites; i++)
		e->traits[i] = traits_of(index_text(r->ix, r->sites[i].name), index_text(r->ix, r->sites[i].category),
					 (site_class)r->sites[i].class);
	return SONDE_OK;
}

/* What is on devices: how long, and what launched it. */
static sonde_status sum_device(evidence *e, sonde_error *err)
{
	const rows *r = &e->rows;

	for (size_t i = 0; i < r->n_device; i++) {
		const row *at = ROW_AT(r, r->device_rows[i]);
		e->device_ns = add_bounded(e->device_ns, at->dur_ns);
		e->has_comm = e->has_comm || (row_traits(e, at) & TRAIT_COMM_KERNEL);
	}
	e->has_device = r->n_device > 0;
	e->launched = rows_by_launch(r, &e->n_launched);
	return e->launched ? SONDE_OK : no_memory(err);
}

int64_t row_cost_ns(const evidence *e, uint32_t i)
{
	const row *r = evidence_row(e, i);
	int64_t sum = 0;

	if (!e->has_device)
		return r->dur_ns;
	size_t at = rows_launched_from(&e->rows, e->launched, e->n_launched, i);
	for (; at < e->n_launched && rows_launch_of(&e->rows, e->launched[at]) < r->end; at++)
		sum = add_bounded(sum, evidence_row(e, e->launched[at])->dur_ns);
	return sum;
}

/* ---- Sets of time ------------------------------------------------------------------------------------------------ */

/* Where the last work of the device ends. */
static int64_t device_end(const evidence *e, const rows_rank *of)
{
	int64_t end = INT64_MIN;

	for (size_t i = 0; i < of->n_device; i++) {
		int64_t ends = row_end_ns(evidence_row(e, of->device[i]));
		end = ends > end ? ends : end;
	}
	return end;
}

static void add_steps(const evidence *e, evidence_rank *k)
{
	const rows_rank *of = k->of;
	int64_t start = of->steps[0].start_ns, end = start;

	for (size_t i = 0; i < of->n_steps; i++) {
		const rows_step *s = &of->steps[i];
		if (s->start_ns - end > e->median_step_ns / 2) {
			intervals_add(&k->span, start, end);
			start = s->start_ns;
		}
		end = s->start_ns + s->dur_ns > end ? s->start_ns + s->dur_ns : end;
	}
	int64_t last = device_end(e, of); /* what the last step launched belongs to it */
	intervals_add(&k->span, start, last > end ? last : end);
}

/* What is inside another row is in its span, unless that is the profiler's. */
static void add_track(const evidence *e, size_t track, interval *span)
{
	uint32_t next;

	for (uint32_t i = e->rows.first_of_track[track]; i < e->rows.first_of_track[track + 1]; i = next) {
		const row *r = evidence_row(e, i);
		bool is_frame = is_profiler_frame(row_category(&e->rows, r));
		next = is_frame ? i + 1 : r->end;
		if (is_frame)
			continue;
		bool is_first = span->start == span->end;
		span->start = is_first || r->start_ns < span->start ? r->start_ns : span->start;
		span->end = is_first || row_end_ns(r) > span->end ? row_end_ns(r) : span->end;
	}
}

/* Without steps: from the first to the last of what ran, the profiler's own frame apart. */
static void add_everything(const evidence *e)
{
	interval *spans = calloc(e->n_ranks + 1, sizeof *spans);

	for (size_t i = 0; i < e->n_ranks; i++)
		e->ranks[i].span.failed = !spans;
	for (size_t t = 0; spans && t < e->rows.n_tracks; t++) {
		const evidence_rank *k = evidence_find_rank(e, track_rank(&e->rows, t));
		if (k && !k->of->n_steps)
			add_track(e, t, &spans[k - e->ranks]);
	}
	for (size_t i = 0; spans && i < e->n_ranks; i++)
		intervals_add(&e->ranks[i].span, spans[i].start, spans[i].end);
	free(spans);
}

static void sort_device_row(evidence_rank *k, const row *r, uint32_t traits)
{
	intervals *to = r->class == CLASS_COPY ? &k->copies : traits & TRAIT_COMM_KERNEL ? &k->comm : &k->compute;

	intervals_add(to, r->start_ns, row_end_ns(r));
}

/* covered: to where operators of this track are in already; what is inside one need not be added. */
static void sort_host_row(evidence_rank *k, const row *r, uint32_t traits, int64_t *covered)
{
	if (traits & TRAIT_LOADER && (k->main_track == INDEX_NONE || r->track == k->main_track))
		intervals_add(&k->loading, r->start_ns, row_end_ns(r));
	if (traits & TRAIT_COMM_HOST)
		intervals_add(&k->comm_host, r->start_ns, row_end_ns(r));
	if (traits & (TRAIT_OP | TRAIT_RUNTIME) && row_end_ns(r) > *covered) {
		intervals_add(&k->ops, r->start_ns, row_end_ns(r));
		*covered = row_end_ns(r);
	}
}

static bool sort_rows(evidence *e)
{
	const rows *all = &e->rows;
	evidence_rank *k = e->ranks;
	uint32_t track = INDEX_NONE;
	int64_t covered = INT64_MIN;
	site_set sites;

	if (!site_set_init(&sites, all))
		return false;
	for (uint32_t i = 0; i < all->n_sites; i++)
		if (e->traits[i] & (TRAIT_LOADER | TRAIT_COMM_HOST | TRAIT_OP | TRAIT_RUNTIME) ||
		    all->sites[i].class == CLASS_KERNEL || all->sites[i].class == CLASS_COPY)
			site_set_add(&sites, i);
	for (size_t i = rows_next(all, &sites, 0); i < all->n; i = rows_next(all, &sites, i + 1)) {
		const row *r = ROW_AT(all, i);
		if (r->track != track) {
			track = r->track;
			covered = INT64_MIN;
		}
		if (k->of->rank != row_rank(all, r))
			k = evidence_find_rank(e, row_rank(all, r));
		if (!k) { /* every row's rank is in the list */
			k = e->ranks;
			continue;
		}
		if (r->flags & ROW_DEVICE)
			sort_device_row(k, r, row_traits(e, r));
		else if (!(r->flags & ROW_ON_STREAM))
			sort_host_row(k, r, row_traits(e, r), &covered);
	}
	site_set_done(&sites);
	return true;
}

/* a becomes what it has in common with b: mostly all of it. */
static bool clip(intervals *a, const intervals *b)
{
	intervals both = { 0 };

	if (!intervals_merge(a))
		return false;
	if (intervals_overlap(a, b) == intervals_length(a))
		return true;
	bool ok = intervals_intersect(a, b, &both);
	intervals_done(a);
	*a = both;
	return ok;
}

static bool union_of_three(const intervals *a, const intervals *b, const intervals *c, intervals *ret)
{
	intervals two = { 0 };
	bool ok = intervals_union(a, b, &two) && intervals_union(&two, c, ret);

	intervals_done(&two);
	return ok;
}

/* Takes what `by` covers out of *left; returns how much that is, or -1 when out of memory. */
static int64_t take_out(intervals *left, const intervals *by)
{
	intervals rest = { 0 };
	int64_t taken = intervals_overlap(left, by);

	if (!taken)
		return 0;
	bool ok = intervals_subtract(left, by, &rest);

	intervals_done(left);
	*left = rest;
	return ok ? taken : -1;
}

/* Each instant of idleness has one reason: data before communication before operators before everything else. */
bool evidence_other(evidence_rank *k, intervals *ret)
{
	bool ok = intervals_subtract(&k->idle, &k->loading, ret);

	k->idle_loading_ns = intervals_length(&k->idle) - intervals_length(ret);
	k->idle_comm_ns = take_out(ret, &k->comm_host);
	k->idle_ops_ns = take_out(ret, &k->ops);
	k->idle_other_ns = intervals_length(ret);
	return ok && k->idle_comm_ns >= 0 && k->idle_ops_ns >= 0;
}

static bool finish_rank(evidence_rank *k)
{
	intervals busy = { 0 }, other = { 0 };

	if (!clip(&k->compute, &k->span) || !clip(&k->comm, &k->span) || !clip(&k->copies, &k->span) ||
	    !clip(&k->loading, &k->span) || !clip(&k->comm_host, &k->span) || !clip(&k->ops, &k->span))
		return false;
	bool ok = union_of_three(&k->compute, &k->comm, &k->copies, &busy) &&
		  intervals_subtract(&k->span, &busy, &k->idle);
	intervals_done(&busy);
	ok = ok && evidence_other(k, &other);
	intervals_done(&other);
	return ok;
}

static sonde_status load_ranks(evidence *e, sonde_error *err)
{
	e->ranks = calloc(e->rows.n_ranks + 1, sizeof *e->ranks);
	if (!e->ranks)
		return no_memory(err);
	e->n_ranks = e->rows.n_ranks;
	for (size_t i = 0; i < e->n_ranks; i++) {
		evidence_rank *k = &e->ranks[i];
		k->of = &e->rows.ranks[i];
		k->main_track = k->of->n_steps ? k->of->steps[0].track : INDEX_NONE;
		if (k->of->n_steps)
			add_steps(e, k);
	}
	add_everything(e);
	for (size_t i = 0; i < e->n_ranks; i++) {
		evidence_rank *k = &e->ranks[i];
		if (!intervals_merge(&k->span))
			return no_memory(err);
		k->span_ns = intervals_length(&k->span);
		e->span_ns = add_bounded(e->span_ns, k->span_ns);
	}
	if (e->n_ranks && !sort_rows(e))
		return no_memory(err);
	for (size_t i = 0; i < e->n_ranks; i++)
		if (!finish_rank(&e->ranks[i]))
			return no_memory(err);
	return SONDE_OK;
}

/* ---- The device -------------------------------------------------------------------------------------------------- */

static void load_device(evidence *e)
{
	size_t n;
	const index_device *d = index_devices(e->rows.ix, &n);

	if (!n)
		return;
	/* AMD's devices have numbers of their own there, and no tensor cores of that name. */
	if (d->vendor != DEVICE_AMD && d->compute_major > 0 && d->compute_major < 100)
		e->compute_major = d->compute_major;
	e->device_memory = d->memory_bytes > 0 ? d->memory_bytes : 0;
}

sonde_status evidence_load(evidence *e, const sonde_trace *trace, const sonde_analyze_options *options,
			   sonde_error *err)
{
	*e = (evidence){ .options = options };
	sonde_status status = load_rows(e, trace, options, err);
	if (status || !e->rows.ix)
		return status;
	status = load_traits(e, err);
	if (!status)
		status = sum_device(e, err);
	if (!status)
		status = load_ranks(e, err);
	if (!status)
		load_device(e);
	return status;
}

void evidence_done(evidence *e)
{
	for (size_t i = 0; i < e->n_ranks; i++) {
		evidence_rank *k = &e->ranks[i];
		intervals *sets[] = { &k->span, &k->compute, &k->comm,	    &k->copies,
				      &k->idle, &k->loading, &k->comm_host, &k->ops };
		for (size_t j = 0; j < sizeof sets / sizeof *sets; j++)
			intervals_done(sets[j]);
	}
	free(e->ranks);
	free(e->traits);
	free(e->launched);
	rows_done(&e->rows);
	*e = (evidence){ 0 };
}
