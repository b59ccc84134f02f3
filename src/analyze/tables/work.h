/*
 * What the devices of a trace did and who launched it: the table behind the basic analyses (temporal, idle, kernels,
 * overlap, bandwidth, queue, launches, annotations).
 *
 *   work_load()    by our rules (work.c), or with options->compat "hta" or "hta-noround" by those of HTA 0.6.1
 *                  (compat/hta/work.c), with "tracelens" by those of TraceLens (compat/tracelens/work.c): which rows
 * count, how times are rounded, what belongs together work.ranks[]   WORK_AT(): the items of a rank by start, then in
 * the order of the file work_done()
 *
 * Times are in ticks, so that every sum is one of whole numbers: nanoseconds by our rules, a small fraction of a
 * microsecond by theirs. work_ns() and work_cell() give nanoseconds.
 */
#ifndef SONDE_ANALYZE_TABLES_WORK_H
#define SONDE_ANALYZE_TABLES_WORK_H

#include "analyze/analysis.h"
#include "analyze/math/describe.h"
#include "analyze/names/kernel_kind.h"
#include "analyze/math/packed.h"
#include "analyze/tables/rows.h"

#define WORK_NONE UINT32_MAX
#define WORK_COMPAT "hta hta-noround" /* for analysis.compat */

/* A kernel or copy. By HTA's rules anything that has a stream argument, and durations may be negative. */
typedef struct work_item {
	int64_t start, dur;
	uint32_t row; /* of work.rows */
	uint32_t site;
	uint32_t launch; /* for WORK_CALL(), or WORK_NONE */
	int64_t stream;
	uint8_t kind;	/* kernel_kind */
	bool is_work;	/* a kernel or copy by its category: always, by our rules */
	bool is_queued; /* it leaves the queue of its stream when it starts */
} work_item;

/* A call that launched something. */
typedef struct work_call {
	int64_t start, dur;
	uint32_t row;
} work_call;

typedef struct work_pair {
	uint32_t call, item;
} work_pair;

typedef struct work_annotation {
	int64_t start, dur;
	uint32_t row;
	bool on_device;
} work_annotation;

/* ---- Sets of time: as in intervals.h, but what is empty or negative counts as HTA counts it -----------------------
 */

typedef struct work_span {
	int64_t start, end;
} work_span;

typedef struct work_spans {
	size_t n;
	work_span first, last;
	uint8_t *bytes; /* packed: work_spans.c */
	size_t n_bytes, capacity, last_at;
	int64_t before_last; /* the end of the one before the last */
	bool failed;
	int64_t length; /* of those of a rank */
} work_spans;

/* In the order of starts; a new span begins where it is after the largest end so far. */
void spans_add(work_spans *s, int64_t start, int64_t end);
void spans_done(work_spans *s);
/* for (span_walk w = spans_first(s); spans_next(&w, &one);) */
typedef struct span_walk {
	const work_spans *s;
	size_t i;
	const uint8_t *at;
	int64_t end; /* of the one before */
} span_walk;
span_walk spans_first(const work_spans *s);
static inline bool spans_next(span_walk *w, work_span *ret)
{
	uint64_t gap, length;

	if (w->i == w->s->n)
		return false;
	w->i++;
	w->at = packed_get(packed_get(w->at, &gap), &length);
	ret->start = (int64_t)((uint64_t)w->end + (uint64_t)packed_signed(gap));
	ret->end = w->end = (int64_t)((uint64_t)ret->start + (uint64_t)packed_signed(length));
	return true;
}
int64_t spans_length(const work_spans *s);
int64_t spans_overlap(const work_spans *a, const work_spans *b);

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

typedef struct work_rank {
	int32_t rank;
	int64_t first_start, last_start; /* of all rows, on the host as well; by our rules the end of the last */
	int64_t cut_ns;			 /* steps that start there or later do not count; INT64_MAX: all do */
	const uint32_t *device;		 /* by our rules: the items' rows */
	work_item *items;		 /* NULL: they are made of their rows as they are asked for, as those are */
	size_t n;
	double *bandwidths; /* of its items of KERNEL_MEMORY, in order; GB/s, 0: unknown. With work_options.bandwidth */
	/* By the rules of others. By ours each item has its launch, which also lengthens the queue. */
	work_call *calls;
	size_t n_calls;
	work_pair *launches; /* who launched what */
	size_t n_launches;   /* by our rules too */
	work_pair *enqueued; /* calls that lengthen the queue of the item's stream */
	size_t n_enqueued;
	work_annotation *annotations;
	size_t n_annotations;
	work_spans spans[KERNEL_KINDS + 1]; /* of the items of each kind, and of all: spans[KERNEL_KINDS] */
} work_rank;

typedef struct work {
	rows rows;
	work_rank *ranks;
	size_t n_ranks;
	double ns_per_tick;
	int64_t ticks_per_us;
	bool is_hta;
	bool is_tracelens;
	bool is_empty;	   /* nothing on a device */
	uint32_t *parents; /* by row, by TraceLens's rules; NULL: row.parent */
	uint32_t *order;   /* host rows in pre-order, by the same; NULL: as all rows lie */
	size_t n_order;
	uint8_t *kinds;	     /* kernel_kind of sites, by our rules; KERNEL_KINDS: not looked at yet */
	struct calls *calls; /* calls.h: calls_of() */
} work;

typedef struct work_options {
	bool bandwidth; /* read the arguments that tell it */
	bool few_rows;	/* of the host: what launched, annotations, steps, collectives. By our rules */
} work_options;

/* work_done() afterwards, also on failure. */
sonde_status work_load(const sonde_trace *trace, const sonde_analyze_options *options, work_options what,
		       work *ret_work, sonde_error *err);
void work_done(work *w);
bool work_load_hta(work *w, bool rounds);	/* for work_load(); w->rows are there. False when out of memory */
bool work_load_tracelens(work *w);		/* the same */
extern const setting_def compat_memory_setting; /* of all analyses that know such rules */
bool hta_rounds(const sonde_analyze_options *options); /* with HTA's rules: times to microseconds */

static inline double work_ns(const work *w, double ticks)
{
	return ticks * w->ns_per_tick;
}
/* Nanoseconds; a fraction only where the other tool has one. */
cell work_cell(const work *w, int64_t ticks);
cell work_cell_f64(const work *w, double ticks); /* of a mean; NAN: unknown */

/* ---- Times as the file has them, for the rules of other tools: compat/hta/rows.c
 * ------------------------------------------
 */

/* What the importer added to the times of a rank's file. */
int64_t file_base_ns(const sonde_index *ix, int32_t rank);
/* The double that is nearest to the file's number. */
static inline double file_us(int64_t ns)
{
	return (double)((long double)ns / 1000.0L);
}

/* For `stragglers`, by HTA's rules: compat/hta/stragglers.c */
sonde_status hta_stragglers(const work *w, sonde_result *r, sonde_error *err);

/* An analysis over work. Its tables are there, and empty, when nothing is on a device. */
typedef struct work_analysis {
	sonde_status (*add)(const work *w, const sonde_analyze_options *options, sonde_result *r, sonde_error *err);
	bool bandwidth;
	bool few_rows; /* as in work_options */
	bool needs_no_device;
} work_analysis;
sonde_status work_run(const work_analysis *a, const sonde_trace *trace, const sonde_analyze_options *options,
		      sonde_result *r, sonde_error *err);
extern const work_analysis temporal_work, idle_work, kernels_work, overlap_work, bandwidth_work, queue_work,
	launches_work, annotations_work, steps_work, stragglers_work, op_delays_work, sequences_work,
	critical_path_work;

/* Says why there is nothing to analyse, when no device row is there. */
void work_hide_empty(const work *w, sonde_result *r); /* tables without rows, for people */
void work_explain(const work *w, sonde_result *r);
/* One sentence about where our rules are not HTA's. */
void work_differs(const work *w, sonde_result *r, const char *how);

static inline cell percent_of(double part, double whole)
{
	return whole > 0 ? cell_percent(100 * part / whole) : cell_unknown();
}

/* How much of the devices' rows and of their time, durations added up, a table holds. */
typedef struct coverage {
	size_t n, n_all;
	__int128 ticks, all_ticks;
} coverage;
static inline void cover(coverage *c, const work_item *item, bool is_in)
{
	c->n_all++;
	c->all_ticks += item->dur;
	c->n += is_in;
	c->ticks += is_in ? item->dur : 0;
}
/* Says so: a row of the table `coverage`, which people get as a note. `why`: what the rest is; static. */
void work_covers(const work *w, sonde_result *r, const char *table_key, const coverage *c, const char *why);
/* The same of something else than device rows: "communication rows". */
void work_covers_rows(const work *w, sonde_result *r, const char *table_key, const coverage *c, const char *rows_name,
		      const char *why);

/* By our rules, whatever w->is_hta; each name is looked at once. */
static inline kernel_kind work_kind(const work *w, uint32_t site)
{
	if (w->kinds[site] == KERNEL_KINDS)
		w->kinds[site] = (uint8_t)kernel_kind_of(index_text(w->rows.ix, w->rows.sites[site].name),
							 (site_class)w->rows.sites[site].class);
	return (kernel_kind)w->kinds[site];
}

/* Copies, which live as long as the block they are in. */
#define WORK_AT(w, rank, i) ((const work_item *)(work_item[1]){ work_at(w, rank, i) })
#define WORK_CALL(w, rank, launch) ((const work_call *)(work_call[1]){ work_call_at(w, rank, launch) })
work_item work_item_of(const work *w, uint32_t device_row);
static inline work_item work_at(const work *w, const work_rank *rank, size_t i)
{
	return rank->items ? rank->items[i] : work_item_of(w, rank->device[i]);
}
static inline work_call work_call_at(const work *w, const work_rank *rank, uint32_t launch)
{
	if (rank->calls)
		return rank->calls[launch];
	row at = rows_at(&w->rows, launch);
	return (work_call){ at.start_ns, at.dur_ns, launch };
}

static inline bool work_is_ours(const work *w)
{
	return !w->is_hta && !w->is_tracelens;
}

static inline const char *item_name(const work *w, const work_item *i)
{
	return index_text(w->rows.ix, w->rows.sites[i->site].name);
}

/* ---- Numbers
 * -------------------------------------------------------------------------------------------------------*/

/* The cells of count, mean, std, min, 25 %, 50 %, 75 %, max; times in ticks, or plain numbers. */
enum { DESCRIBE_CELLS = 8 };
void describe_cells(const work *w, const description *d, bool are_times, cell *to);
#define DESCRIBE_TIME_COLUMNS(prefix)                                                                                  \
	{ prefix "count", "count", CELL_COUNT, 0, false }, { prefix "mean_ns", "mean", CELL_NS, 0, false },            \
		{ prefix "std_ns", "std", CELL_NS, 2, false }, { prefix "min_ns", "min", CELL_NS, 2, false },          \
		{ prefix "p25_ns", "25%", CELL_NS, 4, false }, { prefix "p50_ns", "50%", CELL_NS, 1, false },          \
		{ prefix "p75_ns", "75%", CELL_NS, 4, false },                                                         \
	{                                                                                                              \
		prefix "max_ns", "max", CELL_NS, 1, false                                                              \
	}
#define DESCRIBE_COLUMNS(unit)                                                                                         \
	{ "count", "count", CELL_COUNT, 0, false }, { "mean" unit, "mean", CELL_NUMBER, 0, false },                    \
		{ "std" unit, "std", CELL_NUMBER, 2, false }, { "min" unit, "min", CELL_NUMBER, 2, false },            \
		{ "p25" unit, "25%", CELL_NUMBER, 4, false }, { "p50" unit, "50%", CELL_NUMBER, 1, false },            \
		{ "p75" unit, "75%", CELL_NUMBER, 4, false },                                                          \
	{                                                                                                              \
		"max" unit, "max", CELL_NUMBER, 1, false                                                               \
	}

/* Rows for people: options->top, or 20; then in JSON as well. `what`: "kernels". */
void limit_rows(sonde_result *r, table *t, const sonde_analyze_options *options, const char *what);

sonde_status out_of_memory(sonde_error *err);

#endif
