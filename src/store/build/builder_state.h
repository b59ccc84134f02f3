/*
 * What the files of the builder share.
 *
 *   builder.c      what callers see: names for things; builder_events.c: events into arrays; builder_copy.c
 *   lanes.c        a track's slices sorted, nested and given to lanes; flow points bound on the way
 *   lane_feed.c    slices that come with their depth
 *   lane_write.c   a lane's slices packed into blocks, with their summaries
 *   args_write.c   templates, texts and records
 *   tracks.c       all tracks, on several threads
 *   finish.c       the rest: numbers for everything, steps
 *   tables.c       instants, counters, allocations, samples; flows.c, launches.c: who launched what
 *   facts.c        what events carried
 *   spill.c        what was packed and does not fit into memory
 *   image.c        the sections behind each other, in memory or in a file; section_out.c
 *
 * Times stay absolute until image.c: only then it is known where the trace begins.
 */
#ifndef SONDE_STORE_BUILD_BUILDER_STATE_H
#define SONDE_STORE_BUILD_BUILDER_STATE_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/vec.h"
#include "store/build/builder.h"
#include "base/bulk.h"
#include "store/index/shared_blocks.h"
#include "store/build/spill.h"

enum {
	NEST_GROUPS = 64,  /* stacks per track that are tried one after the other; beyond, lanes without depth */
	NEST_DEPTH = 1024, /* of one group; what is nested deeper goes to the next */
};

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

typedef struct lane_row {
	int64_t start_ns, dur_ns;
	uint32_t site;
	uint32_t args;	    /* record + 1; 0: none */
	uint64_t up : 56;   /* row of the parent in the lane above */
	uint64_t flags : 8; /* slice_flags */
} lane_row;
_Static_assert(sizeof(lane_row) == 32, "what a lane keeps is small");

/* A packed block. Times in it count from the packer's origin. */
typedef struct lane_block {
	uint8_t *bytes;
	uint32_t len;
	uint16_t n_rows;
	uint16_t n_summaries;
	index_summary summaries[]; /* of every INDEX_GROUP rows */
} lane_block;

/* What the packed blocks of a lane say, behind each other, so that its copies need not look at each of them. */
typedef struct lane_kept {
	bulk summaries; /* index_summary */
	bulk places;	/* block_place */
	uint32_t n_blocks;
} lane_kept;

typedef struct build_lane {
	lane_row *rows; /* not packed yet */
	uint32_t n, capacity;
	lane_block **blocks; /* without the first n_before */
	uint32_t n_blocks, blocks_capacity;
	uint32_t n_before;		   /* blocks of `original`, or those that were spilled */
	const struct build_lane *original; /* of a copy: its first n_before blocks are the first of this lane */
	spill_extents spilled;
	uint64_t spilled_bytes;	    /* of the blocks in `spilled`, without what stands before each of them */
	uint64_t n_slices;	    /* with those in rows */
	uint64_t n_device, n_plain; /* packed slices of a device's work; packed slices that are no annotations */
	int64_t end_ns;		    /* of the last packed slice */
	uint64_t up;		    /* its parent */
	uint32_t group, depth;
	uint64_t first_slice; /* number in the image */
	lane_kept *kept;      /* of one that is copied */
} build_lane;

/* What slices of a site sum up to. */
typedef struct site_sums {
	uint64_t n_slices;
	uint64_t total_ns, child_ns; /* child_ns: of slices right inside; a stranger's may wrap around */
	int64_t min_ns, max_ns;
} site_sums;

/* What packs: one per thread. */
typedef struct packer {
	arena blocks;
	site_sums *sums;	/* by site */
	const uint8_t *classes; /* site_class by site */
	uint32_t n_sites;
	int64_t origin_ns;
	bool pads;	 /* its blocks are read where they lie, and INDEX_PAD bytes behind them */
	bool failed;	 /* out of memory */
	bool strange;	 /* a site that does not exist */
	int64_t *values; /* of a block, SLICE_COLUMNS */
	uint8_t *bytes;	 /* the block, packed */
	spill *spilled;	 /* of the builder */
} packer;

bool packer_init(packer *p);
void packer_done(packer *p);

/* Makes room for a row, packing those that are there when it is time. False when out of memory. */
bool lane_room(packer *p, build_lane *l);
void lane_flush(packer *p, build_lane *l); /* packs what is left */
void lane_done(build_lane *l);		   /* its rows */
void lane_free(build_lane *l);

/* Adds a slice to a lane; `up` is the parent's row. */
static inline void lane_add(packer *p, build_lane *l, const builder_slice *s, uint64_t up)
{
	if (__builtin_expect(l->n == l->capacity, 0) && !lane_room(p, l))
		return;
	lane_row *row = &l->rows[l->n++];
	row->start_ns = s->start_ns;
	row->dur_ns = s->dur_ns;
	row->site = s->site;
	row->args = s->args;
	row->up = up & ((UINT64_C(1) << 56) - 1);
	row->flags = (uint8_t)s->flags;
	l->n_slices++;
}

/* The blocks of a lane from number n_before on or, where those were spilled, all of them. */
typedef struct block_walk {
	const build_lane *lane;
	uint32_t next; /* in lane->blocks */
	spill_reader reader;
	uint8_t *window; /* what was read of the spilled ones */
	size_t at, n;
	bool failed; /* out of memory, or the file cannot be read */
} block_walk;
block_walk block_walk_of(const build_lane *l, spill *spilled);
/* The next one, and in *ret_behind the one behind it, valid until the next call; NULL at the end. */
const lane_block *block_walk_next(block_walk *w, const lane_block **ret_behind);
void block_walk_done(block_walk *w);

/* Levels of summaries of a lane, finest first. Returns how many levels; the last one is the coarse one. */
unsigned summary_levels(uint64_t n_slices, uint64_t ret_counts[INDEX_LEVELS]);
index_summary summary_join(const index_summary *s, size_t n);

/* ---- Tracks ------------------------------------------------------------------------------------------------------ */

/* A slice by its place, until lanes have numbers. */
typedef struct slice_place {
	uint64_t lane : 24; /* in build_track.lanes */
	uint64_t row : 40;
} slice_place;
_Static_assert(sizeof(slice_place) == 8, "memory per flow and launch");
#define NO_LANE 0xffffffu
#define LANE_ROWS_MAX (UINT64_C(1) << 40)

typedef enum flow_phase { FLOW_START, FLOW_STEP, FLOW_NEXT, FLOW_ENCLOSING, FLOW_PHASES } flow_phase;

typedef struct flow_event {
	int64_t time_ns : 62; /* up to TRACE_NS_MAX */
	uint64_t phase : 2;   /* flow_phase */
	uint64_t id;
	uint32_t site;
	uint32_t arrival;
} flow_event;
_Static_assert(sizeof(flow_event) == 24, "memory per event");

/* Few have arguments. */
typedef struct flow_args {
	uint32_t arrival;
	uint32_t args;
} flow_args;

/* What a flow_event of a track is bound to. */
typedef struct flow_bind {
	slice_place place; /* lane NO_LANE: nothing */
	int64_t from_ns;   /* from the slice's start */
} flow_bind;

/* A slice that something is to be made of when all are numbered: a launch, a step. */
typedef struct slice_mark {
	uint64_t correlation : 56; /* 0: a step */
	uint64_t is_runtime : 1;
	int64_t start_ns;
	slice_place place;
} slice_mark;

typedef struct step_mark {
	int64_t start_ns, dur_ns;
	slice_place place;
	uint32_t site;
} step_mark;

typedef struct build_track {
	index_track info;
	bulk slices;		/* builder_slice */
	bool unsorted;		/* they did not come in their order */
	bulk flows;		/* flow_event */
	bulk binds;		/* flow_bind of each, in builder_finish */
	bulk lanes;		/* lane, in the order of their first slice */
	bulk correlated;	/* slice_mark */
	bulk steps;		/* step_mark */
	struct lane_feed *feed; /* slices come with their depth */
	uint64_t n_overlapping, n_deep;
	int64_t start_ns, end_ns;  /* of its slices, when they are in lanes */
	int64_t first_ns, last_ns; /* of its other events, without a shift; first after last: it has none */
	int64_t shift_ns;	   /* what was, or of a feed will be, added to its times */
	uint32_t number;	   /* in the image */
	uint32_t file;		   /* of its process */
} build_track;

/* The order of a track's slices; those that are equal stay as they came. */
static inline bool slice_before(const builder_slice *a, const builder_slice *b)
{
	return a->start_ns < b->start_ns || (a->start_ns == b->start_ns && a->dur_ns > b->dur_ns);
}

static inline build_lane *track_lane(const build_track *t, uint32_t i)
{
	return (build_lane *)t->lanes.bytes + i;
}

static inline size_t track_n_lanes(const build_track *t)
{
	return t->lanes.n / sizeof(build_lane);
}

/* A new lane, or NO_LANE when out of memory. */
uint32_t track_add_lane(build_track *t, uint32_t group, uint32_t depth);
/* Keeps launches and steps in mind. False when out of memory. */
bool track_mark(build_track *t, site_class class, const builder_slice *s, slice_place at);

/* Sorts, nests and packs the track's slices, whose memory goes back as it goes; shift_ns is added to their times.
   `tick` is called now and then with the number of slices done since; false: stop. */
typedef bool lanes_tick(void *context, uint64_t n_slices);
bool lanes_build(build_track *t, packer *p, int64_t shift_ns, lanes_tick *tick, void *context);

/* Slices that come with their depth: lane_feed.c */
void lane_feed_add(build_track *t, packer *p, uint32_t depth, const builder_slice *s);
bool lane_feed_finish(build_track *t, packer *p, int64_t shift_ns);
void lane_feed_free(build_track *t);
bool lane_feed_copy(build_track *to, const build_track *from); /* false when out of memory */

/* ---- Arguments: args_write.c ------------------------------------------------------------------------------------- */

typedef struct args_writer {
	intern_table templates;	       /* encoded */
	text_pool *texts;	       /* NULL: none yet */
	bool borrows_texts;	       /* they are those of the builder that this one is a copy of */
	bulk text_order;	       /* uint32_t: places of texts by their number */
	bulk text_numbers;	       /* uint32_t: number + 1 by their id; 0: none yet */
	VEC(struct args_state) states; /* by template */
	bulk values;		       /* int64_t: the last values of templates' gaps */
	bulk records;		       /* without those that were spilled */
	spill_extents spilled;	       /* records before them */
	uint64_t spilled_bytes;	       /* of those */
	bulk blocks;		       /* uint64_t: offsets of blocks */
	uint32_t n_records;
	bool failed;
} args_writer;

void args_writer_done(args_writer *w);
/* Into an empty one, which borrows the texts. False when out of memory. */
bool args_writer_copy(args_writer *to, const args_writer *from);

/* ---- Tables: blocks of rows -------------------------------------------------------------------------------------- */

typedef enum build_table_kind {
	TABLE_INSTANTS,
	TABLE_FLOWS,
	TABLE_LAUNCHES,
	TABLE_ALLOCATIONS,
	TABLE_VALUES,
	TABLE_SAMPLES,
	TABLE_FACTS, /* the first of FACT_KINDS, filled as they come: facts.c */
	TABLE_KINDS = TABLE_FACTS + FACT_KINDS
} build_table_kind;

typedef struct build_table {
	bulk blocks;  /* packed, behind each other */
	bulk offsets; /* uint64_t of each */
	uint64_t n_rows;
	uint32_t n_columns;
	uint32_t n; /* rows in values */
	int64_t *values;
	uint8_t *bytes;
	bool failed;
} build_table;

bool table_begin(build_table *t, uint32_t n_columns);
void table_add(build_table *t, const int64_t *row);
bool table_end(build_table *t);				   /* false when anything failed */
bool table_copy(build_table *to, const build_table *from); /* into an empty one; false when out of memory */
void table_done(build_table *t);

/* ---- The builder ------------------------------------------------------------------------------------------------- */

typedef struct build_process {
	index_process info;
	uint32_t file;
	uint32_t number; /* in the image */
} build_process;

typedef struct build_file {
	int32_t rank; /* -1: unknown */
	int64_t shift_ns;
} build_file;

typedef struct build_counter {
	index_counter info;
	uint64_t n_values;
} build_counter;

typedef struct build_instant {
	int64_t time_ns;
	uint32_t track, site, args;
	uint32_t scope;
} build_instant;

typedef struct build_value {
	int64_t time_ns;
	double value;
	uint32_t counter;
	uint32_t reserved;
} build_value;

typedef struct build_step {
	int64_t start_ns, number;
	uint32_t track;
	uint32_t reserved;
} build_step;

struct builder {
	builder_options options;
	sonde_status status; /* of the first failure */
	const char *why;
	intern_table strings;
	intern_table site_keys, process_keys, track_keys, counter_keys, meta_keys, diagnostic_keys;
	VEC(index_site) sites;
	VEC(site_sums) sums;  /* of slices that were packed at once */
	VEC(uint8_t) classes; /* of sites */
	VEC(build_process) processes;
	bulk tracks; /* build_track */
	VEC(build_file) files;
	VEC(build_counter) counters;
	VEC(index_meta) metas;
	VEC(index_device) devices;
	VEC(index_diagnostic) diagnostics;
	VEC(build_step) step_numbers;
	bulk instants, samples; /* build_instant */
	bulk allocations;	/* builder_allocation */
	bulk values;		/* build_value */
	bulk flow_args;		/* flow_args, in the order of their arrival */
	uint32_t n_flows;
	index_clock clock;
	args_writer args;
	intern_table device_keys;	/* rank, id */
	index_role roles[ROLE_KINDS];	/* by role; of those that are known */
	intern_table messages;		/* index_message */
	uint32_t last_fact[FACT_KINDS]; /* record + 1 */
	packer packer;			/* of this thread */
	shared_blocks *shared;		/* what the packer packs is for copies, too; NULL: it is not */
	spill spilled;
	index_process no_process; /* to write to where there is none */
	index_track no_track;

	/* in builder_finish */
	unsigned n_threads;
	packer *packers; /* of the threads */
	size_t n_packers;
	bulk steps;		       /* index_step */
	build_process **process_order; /* by their numbers in the image */
	build_track **track_order;
	build_lane **lane_order;
	build_table tables[TABLE_KINDS];
	bool finished, has_time;
	int64_t start_ns, end_ns;
	uint64_t n_slices;
	size_t n_lanes;
	uint64_t n_without_launch;
};

static inline build_track *builder_tracks(const builder *b, size_t *ret_n)
{
	if (ret_n)
		*ret_n = b->tracks.n / sizeof(build_track);
	return (build_track *)b->tracks.bytes;
}

/* The first failure stays. */
void builder_fail(builder *b, sonde_status status, const char *why);
/* The memory, after a failure if there is none. */
void *builder_or_fail(builder *b, void *memory);
/* The number of the key; true when it is new and stands for item number n, which the caller adds. */
bool builder_is_new(builder *b, intern_table *keys, const void *key, size_t len, size_t n, uint32_t *ret_number);
/* The track, or NULL, which is a failure: its number came from a call that failed. */
build_track *builder_track_at(builder *b, uint32_t track);
/* What to add to times of the track. */
int64_t builder_shift_of(const builder *b, uint32_t track);

/* builder_finish in parts. False: failed, see builder.status. */
bool tracks_build(builder *b);
bool tables_sort(builder *b);			      /* instants, samples, allocations, values: shifted and by time */
bool counters_name(builder *b);			      /* and gives them their rows */
bool tables_build(builder *b);			      /* packs them */
bool flows_prepare(build_track *t, int64_t shift_ns); /* of a track: in the order of time, bound to nothing */
bool flows_build(builder *b, build_table *t);
bool launches_build(builder *b, build_table *t); /* counts builder.n_without_launch */
/* The image, opened. It is in memory, in the options' target or, where blocks were spilled, in a temporary file. */
sonde_status image_build(builder *b, sonde_index **ret_index, sonde_error *err);

/* Packed blocks and records go to the temporary file when they take too much memory: builder_spill.c */
void builder_spill(builder *b);
static inline void builder_spill_if_due(builder *b)
{
	if (__builtin_expect(
		    b->options.spill_bytes && b->packer.blocks.n_bytes + b->args.records.n > b->options.spill_bytes, 0))
		builder_spill(b);
}

#endif
