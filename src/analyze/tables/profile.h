/*
 * One pass over a trace: time per name, as a list, per thread or as a call tree; steps and phases; memory; counters.
 *
 *   profile_new()    walks the trace; everything is there afterwards and stays as it is
 *   profile_free()
 *
 * Memory grows with the number of names, steps, threads and devices, not with the number of events.
 */
#ifndef SONDE_ANALYZE_TABLES_PROFILE_H
#define SONDE_ANALYZE_TABLES_PROFILE_H

#include "analyze/math/intervals.h"
#include "analyze/math/stats.h"
#include "analyze/tables/step_list.h"
#include "base/vec.h"
#include "store/trace.h"
#include "store/walk.h"
#include <sonde/analyze.h>

enum { PROFILE_PHASES = 8, PROFILE_POINTS = 512, PROFILE_HISTORY = 256, PROFILE_NO_NODE = UINT32_MAX };

typedef enum profile_shape { PROFILE_FLAT, PROFILE_THREADS, PROFILE_TREE } profile_shape;

typedef struct profile_options {
	profile_shape shape;
	bool use_steps; /* only what began in these steps */
	int64_t first_step, last_step;
	size_t n_warmup;	/* what began in so many steps at the start is left out */
	int64_t from_ns, to_ns; /* only what began in [from, to); both 0: everything */
	const char *ranks;	/* only these: "0,2-4"; NULL: all. Borrowed while the profile is made */
} profile_options;

/* There may be millions of them. */
typedef struct profile_node {
	stats stats;
	const char *text;	 /* the name, the trace's; of steps that differ by their numbers without them */
	uint32_t name, category; /* strings */
	uint32_t parent;	 /* node, thread number in the trace, or PROFILE_NO_NODE */
	uint32_t mixed : 1;	 /* of more than one category */
	uint32_t kind : 4;	 /* name_kind */
	uint32_t work : 27;	 /* number + 1 in `works`; 0: none was given */
} profile_node;
_Static_assert(sizeof(profile_node) <= 96, "memory per name");

typedef struct profile_work {
	double flops, bytes;
	slice_memory memory;	/* sums over the calls; the peak is the largest of one call */
	bool is_memory_unknown; /* of at least one call */
} profile_work;

typedef struct profile_step {
	int64_t number, start_ns, dur_ns;
	int64_t phase_ns[PROFILE_PHASES];
	uint8_t flags; /* of the slice */
} profile_step;

typedef struct profile_phase {
	uint32_t name;
	int64_t in_steps_ns; /* of its total */
	stats stats;
} profile_phase;

typedef struct profile_memory {
	const char *device;
	uint32_t id; /* sonde_device */
	uint64_t peak_bytes, current_bytes, n_allocs, n_frees, n_unknown_frees, allocated_bytes;
	int64_t peak_ns, last_ns;
	uint32_t peak_inside;		     /* name of the innermost slice at the peak, or INDEX_NONE */
	int64_t point_ns[PROFILE_POINTS];    /* of the last change in each interval */
	uint64_t point_last[PROFILE_POINTS]; /* bytes after it */
	uint64_t point_peak[PROFILE_POINTS];
	bool point_set[PROFILE_POINTS];
} profile_memory;

typedef struct profile_snapshot {
	const char *device;
	walk_snapshot what;
} profile_snapshot;

typedef struct profile_counter {
	uint32_t name;
	uint64_t n;
	double first, last, min, max;
	int64_t first_ns, last_ns;
} profile_counter;

typedef struct profile_point {
	uint64_t calls;
	int64_t total_ns;
	int64_t first; /* number of its first step, or call */
} profile_point;

/* A module of the model. */
typedef struct profile_layer {
	uint32_t name;
	stats stats;
	int64_t slowest_step;  /* number of the one with the longest call */
	bool is_slowest_known; /* it was in a step */
	uint64_t per_point;    /* steps, or calls where there are none */
	profile_point history[PROFILE_HISTORY];
} profile_layer;

/* Who worked when, within what is looked at. */
typedef struct profile_activity {
	int64_t cpu_ns, device_ns, both_ns;
	bool is_known, has_device;
	/* while walking */
	intervals cpu, device;
	uint8_t *works; /* by site: bit 0 on a thread, bit 1 on a device */
	size_t n_sites, n_open;
	bool has_ops, on_device;
} profile_activity;

typedef struct profile_window {
	int64_t from_ns, to_ns;
	int32_t rank;
} profile_window;

typedef struct profile {
	const sonde_trace *trace;
	profile_options options;
	int64_t start_ns, end_ns; /* of what is looked at */
	int64_t span_ns;	  /* between them, without the parts that are left out */
	VEC(profile_node) nodes;
	VEC(profile_work) works; /* of nodes */
	VEC(profile_step) steps;
	VEC(profile_phase) phases;
	stats step_stats;
	VEC(profile_memory *) memory;
	VEC(profile_snapshot) snapshots;
	VEC(profile_counter) counters;
	VEC(profile_layer *) layers;
	profile_activity activity;
	arena arena;
	walk_counts counts;

	/* while walking only */
	struct profile_name *names; /* by name */
	uint32_t epoch;
	uint32_t *slots; /* hash of the tree */
	size_t n_slots;
	VEC(uint64_t) open_steps; /* indexes + 1 of steps, by depth of the stack */
	size_t thread_steps;	  /* index of the thread's first */
	const trace_thread *thread;
	VEC(profile_window) windows;	    /* by rank and time: steps asked for, or else those of the warm-up */
	const profile_window *rank_windows; /* of the thread's rank */
	size_t n_rank_windows;
	step_list known_steps; /* all: a layer need not lie inside of its step's slice */
	const step_time *rank_steps;
	size_t n_rank_steps;
	bool has_window; /* steps that were asked for are there */
	bool skips;	 /* the thread is one of a rank that nobody asked for */
	bool failed;
} profile;

/* What the user asked for, as far as a profile can tell. */
profile_options profile_options_from(const sonde_trace *trace, const sonde_analyze_options *o);

sonde_status profile_new(const sonde_trace *trace, const profile_options *options, profile **ret_profile,
			 sonde_error *err);
void profile_free(profile *p);

/* For profile_new(). */
sonde_status profile_find_windows(profile *p, sonde_error *err);
void profile_enter_rank(profile *p, int32_t rank);
/* What calls said they compute and move; zeros where they said nothing. */
profile_work profile_work_of(const profile *p, const profile_node *node);
/* True when what began at ns, on a thread of the rank, is looked at. */
bool profile_in_window(const profile *p, int64_t ns);
/* How much of the slice is looked at: what begins before the warm-up and ends behind it is not all. */
int64_t profile_within(const profile *p, int64_t start_ns, int64_t dur_ns);
/* The same for memory and counters, whose peaks and ends are what they are: the warm-up counts. */
bool profile_in_window_or_warmup(const profile *p, int64_t ns);
/* A walk_sink's `memory`; context is the profile. */
void profile_add_memory(void *context, const walk_memory *e);
void profile_add_snapshot(void *context, const walk_snapshot *s);

/* profile_layers.c; *number: of the layer + 1, 0 when it is new */
bool profile_is_layer(const profile *p, const trace_site *site);
void profile_add_layer(profile *p, const slice *s, uint32_t *number);

/* profile_activity.c; false when out of memory */
bool profile_activity_prepare(profile *p);
void profile_activity_thread(profile *p, size_t thread);
void profile_activity_begin(profile *p, const slice *s);
void profile_activity_end(profile *p, const slice *s);
bool profile_activity_finish(profile *p);
void profile_activity_done(profile *p);

/* Memory over time as n equal intervals, at most PROFILE_POINTS; returns how many were written. Times count from the
   start. */
size_t profile_timeline(const profile *p, const profile_memory *m, int64_t *ret_ns, uint64_t *ret_peak, size_t n);

#endif
