/*
 * How much of a device is used: the share of time in which a kernel runs, and an estimate of how much of it those
 * kernels fill, from what the trace says about each: blocks per SM and achieved occupancy.
 *
 * All of it within the steps (step_roles.h), and of kernels alone: copies use no SM. While several kernels run their
 * blocks per SM add up; an SM that has one is busy. Occupancy is the mean over kernel time. Both are estimates of the
 * profiler, from the size of the launch and what a block needs; NVIDIA's traces have them, AMD's do not.
 */
#include "analyze/tables/evidence.h"
#include "analyze/tables/step_roles.h"

#include <stdlib.h>
#include "base/vec.h"

static const column device_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "device", "device", CELL_INTEGER, 0, false },
	{ "span_ns", "time", CELL_NS, 0, false },
	{ "busy_ns", "kernels run", CELL_NS, 0, false },
	{ "utilization_percent", "busy %", CELL_PERCENT, 0, true },
	{ "sm_efficiency_percent", "SMs %", CELL_PERCENT, 0, false },
	{ "occupancy_percent", "occupancy %", CELL_PERCENT, 0, false },
	{ "tensor_core_percent", "tensor cores %", CELL_PERCENT, 0, false },
	{ "n_kernels", "kernels", CELL_COUNT, 1, false },
};
static const column series_columns[] = {
	{ "rank", "rank", CELL_INTEGER, 0, false },
	{ "device", "device", CELL_INTEGER, 0, false },
	{ "start_ns", "start", CELL_NS, 0, false },
	{ "utilization_percent", "busy %", CELL_PERCENT, 0, true },
	{ "sm_efficiency_percent", "SMs %", CELL_PERCENT, 0, false },
};

enum { BLOCKS, OCCUPANCY, N_ARGS, MOST_BUCKETS = 100 };

/* A kernel begins or ends: so many blocks per SM more. */
typedef struct change {
	int64_t ns;
	double blocks;
} change;

typedef struct load {
	const work *w;
	args_column args[N_ARGS];
	bool has_args;
	bool *uses_tensor_cores; /* by site */
	int64_t from_ns, to_ns;	 /* the steps */
	intervals busy;
	VEC(change) changes;
	double weighted, weight;	   /* occupancy */
	int64_t kernel_ns, tensor_core_ns; /* whole kernels, added up */
	size_t n;
} load;

static double arg_of(const load *l, int which, const row *at)
{
	return l->has_args ? args_column_f64(l->w->rows.ix, &l->args[which], at->args, -1) : -1;
}

static bool add_kernel(load *l, const row *at)
{
	double blocks = arg_of(l, BLOCKS, at), occupancy = arg_of(l, OCCUPANCY, at);
	int64_t start = at->start_ns > l->from_ns ? at->start_ns : l->from_ns;
	int64_t end = row_end_ns(at) < l->to_ns ? row_end_ns(at) : l->to_ns;

	l->n++;
	l->kernel_ns = add_bounded(l->kernel_ns, at->dur_ns);
	if (l->uses_tensor_cores[at->site])
		l->tensor_core_ns = add_bounded(l->tensor_core_ns, at->dur_ns);
	if (start >= end)
		return true;
	intervals_add(&l->busy, start, end);
	if (occupancy >= 0) {
		l->weighted += occupancy * (double)(end - start);
		l->weight += (double)(end - start);
	}
	change *begins = blocks > 0 ? VEC_ADD(&l->changes) : NULL, *ends = begins ? VEC_ADD(&l->changes) : NULL;
	if (ends) {
		l->changes.items[l->changes.n - 2] = (change){ start, blocks };
		*ends = (change){ end, -blocks };
	}
	return blocks <= 0 || ends;
}

static int by_time(const void *a, const void *b)
{
	const change *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* The time that SMs have a block, in [from, to), from the change *at on; *level is what ran before it. */
static double sm_ns(const load *l, int64_t from, int64_t to, size_t *at, double *level)
{
	double sum = 0;

	while (from < to) {
		bool more = *at < l->changes.n && l->changes.items[*at].ns < to;
		int64_t next = more ? l->changes.items[*at].ns : to;
		next = next < from ? from : next;
		sum += (double)(next - from) * (*level < 1e-12 ? 0 : *level < 1 ? *level : 1);
		from = next;
		if (!more)
			break;
		*level += l->changes.items[(*at)++].blocks;
	}
	return sum;
}

/* Buckets of a power of ten, at most 100 of them; the last one may be longer. */
static void add_series(const load *l, const cell *head, sonde_result *r, table *t)
{
	int64_t span = l->to_ns - l->from_ns, size = 1000;
	size_t at = 0, n;
	double level = 0;

	while (span / size > MOST_BUCKETS)
		size *= 10;
	n = span / size ? (size_t)(span / size) : 1;
	for (size_t i = 0; i < n && span > 0; i++) {
		int64_t from = l->from_ns + (int64_t)i * size, to = i + 1 < n ? from + size : l->to_ns;
		double ns = sm_ns(l, from, to, &at, &level);
		cell *c = table_row(r, t, 0);
		c[0] = head[0];
		c[1] = head[1];
		c[2] = cell_ns(from);
		c[3] = cell_percent(100.0 * (double)intervals_overlap_with(&l->busy, from, to) / (double)(to - from));
		if (l->changes.n)
			c[4] = cell_percent(100.0 * ns / (double)(to - from));
	}
}

static cell share(double part, double whole)
{
	return whole > 0 ? cell_percent(100.0 * part / whole) : cell_unknown();
}

static bool add_device(load *l, const rows_rank *rank, int32_t device, sonde_result *r, table *t, table *series)
{
	const rows *all = &l->w->rows;
	size_t at = 0;
	double level = 0;
	bool ok = true;

	for (size_t i = 0; ok && i < rank->n_device; i++) {
		const row *of = ROW_AT(all, rank->device[i]);
		if (all->tracks[of->track].device == device && of->class == CLASS_KERNEL)
			ok = add_kernel(l, of);
	}
	ok = intervals_merge(&l->busy) && ok;
	if (!ok || !l->n)
		return ok;
	if (l->changes.n)
		qsort(l->changes.items, l->changes.n, sizeof l->changes.items[0], by_time);
	double span = (double)(l->to_ns - l->from_ns);
	cell *c = table_row(r, t, 0);
	c[0] = cell_integer(rank->rank);
	c[1] = device >= 0 ? cell_integer(device) : cell_unknown();
	c[2] = cell_ns(l->to_ns - l->from_ns);
	c[3] = cell_ns(intervals_length(&l->busy));
	c[4] = share((double)intervals_length(&l->busy), span);
	if (l->changes.n)
		c[5] = share(sm_ns(l, l->from_ns, l->to_ns, &at, &level), span);
	if (l->weight > 0)
		c[6] = cell_percent(l->weighted / l->weight);
	c[7] = share((double)l->tensor_core_ns, (double)l->kernel_ns);
	c[8] = cell_count(l->n);
	cell head[] = { cell_integer(rank->rank), device >= 0 ? cell_integer(device) : cell_unknown() };
	add_series(l, head, r, series);
	return true;
}

/* A stream of the rank that something ran on. */
static bool is_stream_of(const rows *all, size_t track, int32_t rank)
{
	uint32_t first = all->first_of_track[track];

	return all->tracks[track].kind == TRACK_STREAM && first < all->first_of_track[track + 1] &&
	       track_rank(all, track) == rank;
}

/* The first stream of its device. */
static bool is_device_of(const rows *all, size_t track, int32_t rank)
{
	if (!is_stream_of(all, track, rank))
		return false;
	for (size_t i = 0; i < track; i++)
		if (is_stream_of(all, i, rank) && all->tracks[i].device == all->tracks[track].device)
			return false;
	return true;
}

static bool add_rank(load *l, size_t k, sonde_result *r, table *t, table *series)
{
	const rows *all = &l->w->rows;
	step_roles s;
	bool ok = step_roles_find(&s, l->w, k);

	for (size_t i = 0; ok && i < all->n_tracks; i++) {
		if (!is_device_of(all, i, all->ranks[k].rank))
			continue;
		load one = *l;
		one.from_ns = s.steps[0].start_ns;
		one.to_ns = s.steps[s.n_steps - 1].end_ns;
		ok = add_device(&one, &all->ranks[k], all->tracks[i].device, r, t, series);
		intervals_done(&one.busy);
		VEC_DONE(&one.changes);
	}
	step_roles_done(&s);
	return ok;
}

static bool load_names(load *l)
{
	const rows *all = &l->w->rows;

	l->uses_tensor_cores = traits_mark_kernels(all, TRAIT_TENSOR_CORE);
	l->has_args = l->uses_tensor_cores && !l->w->is_empty && index_n_rows(all->ix, SECTION_ARGS) &&
		      args_columns_read(all->ix, l->args, N_ARGS);
	return l->uses_tensor_cores && (l->has_args || l->w->is_empty || !index_n_rows(all->ix, SECTION_ARGS));
}

static sonde_status add(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err)
{
	table *t = result_table(r, "utilization", "Device utilization", device_columns,
				sizeof device_columns / sizeof device_columns[0]);
	table *series = result_table(r, "utilization_series", "Busy over time", series_columns,
				     sizeof series_columns / sizeof series_columns[0]);
	load l = { .w = w, .args = { { .role = ROLE_BLOCKS_PER_SM }, { .role = ROLE_OCCUPANCY } } };
	bool ok = load_names(&l);

	(void)options;
	for (size_t k = 0; ok && k < w->rows.n_ranks; k++)
		ok = add_rank(&l, k, r, t, series);
	free(l.uses_tensor_cores);
	if (l.has_args)
		args_columns_done(l.args, N_ARGS);
	table_chart(series, CHART_STEPS, "start_ns", "utilization_percent", "device");
	if (series)
		series->n_shown = 0;
	return ok ? SONDE_OK : out_of_memory(err);
}

static const work_analysis utilization_work = { .add = add };

const analysis utilization_analysis = {
	.name = "utilization",
	.summary = "Device utilization: busy time, SMs, occupancy, tensor cores",
	.work = &utilization_work,
};
