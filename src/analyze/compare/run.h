/*
 * A run boiled down to what a comparison needs: medians per step and per call of the step itself, what the steps
 * consist of, phases, layers, names on the host and on the device; memory peaks. Some 150 bytes a name, whatever the
 * length of the trace; baselines keep it as JSON.
 *
 *   compare_run_load()      from a trace; it may be freed afterwards
 *   compare_run_done()
 */
#ifndef SONDE_ANALYZE_COMPARE_RUN_H
#define SONDE_ANALYZE_COMPARE_RUN_H

#include <stdio.h>
#include "analyze/math/medians.h"
#include "analyze/tables/rows.h"
#include "base/arena.h"
#include "base/vec.h"
#include <sonde/compare.h>

/* What is measured is the time of the whole call, on the host alone that without the calls inside. */
typedef enum item_kind {
	ITEM_STEP,  /* one: "step" */
	ITEM_ROLE,  /* what a step consists of: "computation", "data loading" ...; per step only */
	ITEM_PHASE, /* forward, backward ... of a recording */
	ITEM_LAYER, /* modules */
	ITEM_HOST,
	ITEM_DEVICE,
	ITEM_KINDS
} item_kind;

/* Per step: the mean of the ranks. n is 0 where it does not happen in more than half of the steps. */
typedef struct compare_item {
	const char *name;
	item_kind kind;
	uint64_t calls;	  /* on all ranks */
	int64_t sum_ns;	  /* of what is measured */
	int64_t total_ns; /* whole calls */
	summary step, call;
	summary whole; /* calls with the calls inside */
} compare_item;

typedef struct compare_peak {
	const char *device;
	uint64_t bytes; /* on the rank that has most */
} compare_peak;

typedef struct compare_run {
	arena arena; /* texts */
	const char *name;
	int64_t total_ns; /* from the first to the last row */
	size_t n_ranks;
	size_t n_steps;	 /* that count */
	size_t n_warmup; /* that do not */
	size_t n_runs;	 /* 1; of a baseline those that were joined */
	bool is_damaged;
	VEC(compare_item) items; /* by kind and name */
	VEC(compare_peak) peaks; /* by device */
} compare_run;

sonde_status compare_run_load(const sonde_trace *trace, const sonde_analyze_options *select, compare_run *ret_run,
			      sonde_error *err);
void compare_run_done(compare_run *run);

/* The item, or NULL. */
const compare_item *compare_run_find(const compare_run *run, item_kind kind, const char *name);
/* By kind and name; for those who fill one in. */
void compare_run_sort(compare_run *run);

/* A new one to fill in; NULL when out of memory. */
compare_item *compare_run_add(compare_run *run, item_kind kind, const char *name);

/* As JSON, and back: compare/json.c. False: the stream failed; the text is no run, or there is no memory. */
bool compare_run_write(const compare_run *run, FILE *out);
bool compare_run_read(compare_run *run, const char *text, size_t len);

/* ---- Parts of compare_run_load() --------------------------------------------------------------------------------- */

#define RUN_NO_SAMPLE UINT32_MAX

/* A step of a rank, by start, and the sample it is part of. */
typedef struct run_step {
	int64_t number, start_ns, end_ns;
	uint32_t track, nth; /* of this number on its track */
	uint32_t sample;
	int32_t rank;
} run_step;

/* The steps of all ranks, and what they are samples of: compare/steps.c. */
typedef struct run_steps {
	run_step *items; /* by rank and start */
	size_t n;
	int64_t *sample_ns; /* by time */
	size_t n_samples;   /* without the warm-up */
	size_t n_warmup;
} run_steps;

/* False when out of memory; run_steps_done() in any case. */
bool run_steps_find(run_steps *s, const rows *r, const sonde_analyze_options *select);
void run_steps_done(run_steps *s);
/* The sample of a time on a rank, or RUN_NO_SAMPLE. *hint: 0 at first; for times near the one before. */
uint32_t run_steps_at(const run_steps *s, int32_t rank, int64_t ns, size_t *hint);

/* What steps consist of: compare/roles.c. The steps are those of all ranks. False when out of memory. */
bool compare_run_roles(compare_run *run, const rows *r, const run_step *steps, size_t n_steps);

/* The peaks of the trace's allocations between two times since its start; compare/memory.c. */
sonde_status compare_run_peaks(compare_run *run, const rows *r, const sonde_analyze_options *select, sonde_error *err);

#endif
