/*
 * Rows as HTA 0.6.1 loads them, with its mistakes, so that its numbers come out again. See compat/hta/rows.h.
 *
 *   rows      slices of complete events that have a category other than "Trace"
 *   times     microseconds as doubles, as the file writes them. When any has a fraction: start rounded up, end down
 *             (rounds), so that a duration may become -1. Then from the earliest start of all ranks on
 *   device    stream >= 0 and correlation >= 0, or the name is "Event Sync" or "Context Sync"
 *   partner   of a device row the last host row of its correlation, and the reverse
 *   cut       with two step names or more everything from the last step's start on goes: host rows that start there,
 *             device rows whose correlation no host row has that stays. A device row comes once for each that does
 *
 * Doubles become ticks of 2^-bits microseconds: what HTA adds up in doubles is exact here, and differs by less than
 * what its own rounding does.
 */
#include "analyze/compat/hta/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/search.h"

enum { COLUMN_STREAM, COLUMN_CORRELATION, COLUMN_BANDWIDTH };

#define SORT_NAME sort_rows
#define SORT_TYPE hta_row
#define SORT_BEFORE(a, b) ((a)->order < (b)->order)
#include "base/sort_template.h"

#define SORT_NAME sort_kept
#define SORT_TYPE hta_kept
#define SORT_BEFORE(a, b)                                                                                              \
	((a)->correlation != (b)->correlation ? (a)->correlation < (b)->correlation : (a)->order < (b)->order)
#include "base/sort_template.h"

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static bool is_one_of(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(text, *list) == 0)
			return true;
	return false;
}

static bool is_step(const char *name)
{
	return strncmp(name, "ProfilerStep#", 13) == 0 && name[13] >= '0' && name[13] <= '9';
}

static uint8_t flags_of(const char *name, const char *category)
{
	static const char *const counted[] = { "cudaLaunchKernel",
					       "cudaLaunchKernelExC",
					       "cudaMemcpyAsync",
					       "cudaMemsetAsync",
					       "runFunction - job_prep_and_submit_for_execution",
					       NULL };
	static const char *const launch[] = { "cuLaunchKernel",	     "cuLaunchKernelEx",
					      "hipLaunchKernel",     "hipExtModuleLaunchKernel",
					      "hipMemsetAsync",	     "hipMemcpyAsync",
					      "hipMemcpyWithStream", NULL };
	static const char *const works[] = { "kernel",	   "Kernel", "gpu_memset",	"Memset",
					     "gpu_memcpy", "Memcpy", "mtia_ccp_events", NULL };
	static const char *const syncs[] = { "Event Sync", "Context Sync", NULL };
	bool is_stats = is_one_of(name, counted);

	return (uint8_t)((*category && strcmp(category, "Trace") != 0 ? SITE_ROW : 0) |
			 (is_step(name) ? SITE_STEP : 0) | (is_one_of(name, syncs) ? SITE_SYNC : 0) |
			 (is_stats ? SITE_STATS : 0) | (is_stats || is_one_of(name, launch) ? SITE_LAUNCH : 0) |
			 (is_one_of(category, works) ? SITE_WORK : 0) |
			 (strcmp(category, "gpu_user_annotation") == 0 ? SITE_GPU_NOTE : 0) |
			 (strcmp(category, "user_annotation") == 0 ? SITE_CPU_NOTE : 0));
}

static bool look_at_sites(hta *h)
{
	const rows *r = &h->w->rows;

	h->sites = malloc(r->n_sites + 1);
	h->kinds = malloc(r->n_sites + 1);
	for (size_t i = 0; h->sites && h->kinds && i < r->n_sites; i++) {
		const char *name = index_text(r->ix, r->sites[i].name);
		h->sites[i] = flags_of(name, index_text(r->ix, r->sites[i].category));
		h->kinds[i] = (uint8_t)kernel_kind_hta(name);
	}
	return h->sites && h->kinds;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

int64_t file_base_ns(const sonde_index *ix, int32_t rank)
{
	size_t n;
	const index_meta *metas = index_metas(ix, &n);

	for (size_t i = 0; i < n; i++)
		if ((metas[i].rank == rank || metas[i].rank < 0) &&
		    strcmp(index_text(ix, metas[i].key), "baseTimeNanoseconds") == 0)
			return strtoll(index_text(ix, metas[i].value), NULL, 10);
	return 0;
}

static void fill_args(const hta *h, hta_row *to, uint32_t args)
{
	const sonde_index *ix = h->w->rows.ix;

	to->stream = -1;
	to->correlation = -1;
	if (!args || !h->has_args)
		return;
	double stream = args_column_f64(ix, &h->columns[COLUMN_STREAM], args, -1);
	to->stream = fabs(stream) < 0x1p53 ? (int64_t)stream : -1;
	to->correlation = args_column_int(ix, &h->columns[COLUMN_CORRELATION], args, -1);
	to->bandwidth = args_column_f64(ix, &h->columns[COLUMN_BANDWIDTH], args, 0);
}

static void round_times(hta_row *one)
{
	double end = floor(one->ts + one->dur);

	one->ts = ceil(one->ts);
	one->dur = end - one->ts;
}

static size_t count_rows(const rows *r, int32_t rank)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += row_rank(r, ROW_AT(r, i)) == rank;
	return n;
}

static bool load_rank(hta *h, hta_rank *to, int32_t rank)
{
	const rows *r = &h->w->rows;
	int64_t shift = (int64_t)((uint64_t)index_start_ns(r->ix) - (uint64_t)file_base_ns(r->ix, rank));
	bool has_fraction = false;

	to->rows = malloc((count_rows(r, rank) + 1) * sizeof *to->rows);
	for (size_t i = 0; to->rows && i < r->n; i++) {
		const row *at = ROW_AT(r, i);
		if (row_rank(r, at) != rank || (at->flags & ROW_ASYNC) || !(h->sites[at->site] & SITE_ROW))
			continue;
		int64_t ns = (int64_t)((uint64_t)at->start_ns + (uint64_t)shift);
		hta_row *one = &to->rows[to->n++];
		*one = (hta_row){ .ts = file_us(ns),
				  .dur = file_us(at->dur_ns),
				  .row = (uint32_t)i,
				  .order = at->args,
				  .partner = WORK_NONE,
				  .call = WORK_NONE };
		has_fraction |= ns % 1000 != 0;
		fill_args(h, one, at->args);
		one->on_device = (one->stream >= 0 && one->correlation >= 0) || (h->sites[at->site] & SITE_SYNC);
	}
	for (size_t i = 0; to->rows && has_fraction && h->rounds && i < to->n; i++)
		round_times(&to->rows[i]);
	return to->rows && sort_rows(to->rows, to->n);
}

static void move_to_start(hta *h)
{
	h->first_ts = INFINITY;
	for (size_t k = 0; k < h->w->n_ranks; k++)
		for (size_t i = 0; i < h->ranks[k].n; i++)
			h->first_ts = fmin(h->first_ts, h->ranks[k].rows[i].ts);
	for (size_t k = 0; k < h->w->n_ranks; k++)
		for (size_t i = 0; i < h->ranks[k].n; i++) {
			hta_row *one = &h->ranks[k].rows[i];
			one->ts -= h->first_ts;
			h->last_end = fmax(h->last_end, one->ts + fabs(one->dur));
		}
	/* As fine as leaves room: an hour at 2^-28 us. */
	for (h->bits = 30; h->bits > 0 && ldexp(h->last_end, h->bits) > 0x1p60;)
		h->bits--;
	h->w->ticks_per_us = INT64_C(1) << h->bits;
	h->w->ns_per_tick = ldexp(1000, -h->bits);
}

/* ---- Who belongs to whom ----------------------------------------------------------------------------------------- */

static bool add_kept(hta_kepts *to, const hta_row *all, uint32_t at)
{
	hta_kept *kept = VEC_ADD(to);

	if (kept)
		*kept = (hta_kept){ all[at].correlation, at, WORK_NONE, (uint32_t)to->n };
	return kept != NULL;
}

bool hta_find_partners(hta_rank *rank)
{
	hta_kepts all = { 0 };
	bool ok = true;

	for (uint32_t i = 0; ok && i < rank->n; i++)
		if (rank->rows[i].correlation != -1)
			ok = add_kept(&all, rank->rows, i);
	ok = ok && sort_kept(all.items, all.n);
	for (size_t i = 0, end; ok && i < all.n; i = end) {
		uint32_t last[2] = { WORK_NONE, WORK_NONE }; /* on the host, on the device */
		for (end = i; end < all.n && all.items[end].correlation == all.items[i].correlation; end++)
			last[rank->rows[all.items[end].at].on_device] = all.items[end].at;
		for (size_t k = i; k < end; k++) {
			hta_row *one = &rank->rows[all.items[k].at];
			one->partner = last[!one->on_device];
		}
	}
	VEC_DONE(&all);
	return ok;
}

/* ---- The last step goes ------------------------------------------------------------------------------------------ */

bool hta_has_two_steps(const hta *h)
{
	const char *found = NULL;

	for (size_t k = 0; k < h->w->n_ranks; k++)
		for (size_t i = 0; i < h->ranks[k].n; i++) {
			const hta_row *one = &h->ranks[k].rows[i];
			if (!(site_flags(h, one) & SITE_STEP))
				continue;
			const char *name = row_name(&h->w->rows, ROW_AT(&h->w->rows, one->row));
			if (found && strcmp(found, name) != 0)
				return true;
			found = name;
		}
	return false;
}

/* Marks the host rows that stay; device rows are still to be decided. False: there are no host rows, and all stay. */
static bool cut_host(const hta *h, hta_rank *rank)
{
	double last = -INFINITY, first = INFINITY;

	for (size_t i = 0; i < rank->n; i++) {
		const hta_row *one = &rank->rows[i];
		if (one->on_device)
			continue;
		first = fmin(first, one->ts);
		if (site_flags(h, one) & SITE_STEP)
			last = fmax(last, one->ts);
	}
	if (isinf(first))
		return false;
	for (size_t i = 0; i < rank->n; i++)
		rank->rows[i].stays = !rank->rows[i].on_device && rank->rows[i].ts < (isinf(last) ? first : last);
	return true;
}

/* How many host rows of the correlation stay; `hosts` is sorted. */
static size_t count_hosts(const hta_kepts *hosts, int64_t correlation)
{
	size_t at = FIRST_NOT(i, 0, hosts->n, hosts->items[i].correlation < correlation), n = 0;

	for (; at < hosts->n && hosts->items[at].correlation == correlation; at++)
		n++;
	return n;
}

/* All that stay: device rows first, then host rows, each in the order of the file. A file where everything has the same
   correlation would make a million rows a million million: there is a limit to copies. */
bool hta_keep(const hta *h, hta_rank *rank, bool cuts, hta_kepts *ret_kept)
{
	hta_kepts hosts = { 0 };
	bool ok = true;
	size_t limit = 4 * rank->n + 1024;

	cuts = cuts && cut_host(h, rank);
	for (uint32_t i = 0; ok && i < rank->n; i++) {
		rank->rows[i].stays |= !cuts;
		if (cuts && rank->rows[i].stays)
			ok = add_kept(&hosts, rank->rows, i);
	}
	ok = ok && sort_kept(hosts.items, hosts.n);
	for (int on_device = 1; on_device >= 0; on_device--)
		for (uint32_t i = 0; ok && i < rank->n; i++) {
			hta_row *one = &rank->rows[i];
			if (one->on_device != on_device)
				continue;
			size_t n = one->stays;
			if (cuts && on_device && ret_kept->n < limit) {
				n = one->correlation == -1 ? hosts.n != 0 : count_hosts(&hosts, one->correlation);
				one->stays = n > 0;
			}
			for (; ok && n > 0 && ret_kept->n < limit; n--)
				ok = add_kept(ret_kept, rank->rows, i);
		}
	VEC_DONE(&hosts);
	return ok;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

bool hta_sort_kept(hta_kepts *kept)
{
	return sort_kept(kept->items, kept->n);
}

bool hta_load(hta *h)
{
	static const char *const keys[] = { "stream", "correlation" };
	work *w = h->w;
	bool ok;

	for (size_t i = 0; i < 2; i++)
		h->columns[i].key = keys[i];
	h->columns[COLUMN_BANDWIDTH].role = ROLE_BANDWIDTH;
	h->ranks = calloc(w->rows.n_ranks + 1, sizeof *h->ranks);
	ok = h->ranks && look_at_sites(h);
	if (ok && index_n_rows(w->rows.ix, SECTION_ARGS))
		ok = h->has_args = args_columns_read(w->rows.ix, h->columns, 3);
	for (size_t i = 0; ok && i < w->rows.n_ranks; i++) {
		w->ranks[i].rank = w->rows.ranks[i].rank;
		w->n_ranks++;
		ok = load_rank(h, &h->ranks[i], w->rows.ranks[i].rank);
	}
	if (ok)
		move_to_start(h);
	return ok;
}

bool hta_load_again(hta *h, const work *w, work *scratch, const sonde_analyze_options *options)
{
	*scratch = *w;
	*h = (hta){ .w = scratch, .rounds = hta_rounds(options) };
	scratch->n_ranks = 0;
	scratch->ranks = calloc(w->rows.n_ranks + 1, sizeof *scratch->ranks);
	return scratch->ranks && hta_load(h);
}

void hta_done(hta *h)
{
	for (size_t i = 0; h->ranks && i < h->w->rows.n_ranks; i++)
		free(h->ranks[i].rows);
	if (h->has_args)
		args_columns_done(h->columns, 3);
	free(h->ranks);
	free(h->sites);
	free(h->kinds);
}
