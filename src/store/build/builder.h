/*
 * Makes an index (index/sections.h) out of what an importer finds, in any order.
 *
 *   builder_new()
 *   builder_string(), _site(), _process(), _track() ...   numbers for what events refer to; the same input gives the
 *                                                         same number
 *   builder_slices(), _instant(), _flow() ...             events
 *   builder_finish()                                      sorts, nests, packs; the index is ready
 *   builder_free()
 *
 * Slices are kept as 32 bytes each until builder_finish() turns track after track into lanes: sorted by start, longer
 * ones first, then in the order in which they came. A slice that overlaps the one around it without lying inside goes
 * to the next group of lanes of its track; nothing is dropped. builder_lane_slice() is the way for those who know the
 * nesting: the slices of a track come as they end, with their depth, and are packed at once.
 *
 * Nothing here may be called from two threads at once; builder_finish() uses threads of its own. When memory runs out
 * the calls are harmless and builder_finish() says so.
 */
#ifndef SONDE_STORE_BUILD_BUILDER_H
#define SONDE_STORE_BUILD_BUILDER_H

#include "format/index/sections.h"
#include "store/index/args.h"
#include "store/index/index.h"
#include "base/text_pool.h"

typedef struct builder builder;

typedef struct builder_options {
	unsigned n_threads; /* for builder_finish; 0: as many as the machine has */
	/* Called now and then from builder_finish, done of total; false stops it with SONDE_E_STATE. May be NULL. */
	bool (*progress)(void *context, uint64_t done, uint64_t total);
	void *context;
	/* For who makes indexes of copies: times in packed blocks count from origin_ns, which is where the trace will
	   begin, so that the blocks are used as they lie. */
	bool is_copied;
	int64_t origin_ns;
	/* Blocks of builder_lane_slice() and arguments that take more memory than spill_bytes go to a temporary file,
	   and the image too: an index of any size is made in little memory. spill_dir is where that file should be
	   (NULL: no preference); 0 bytes: everything stays in memory. Not with is_copied. */
	const char *spill_dir;
	size_t spill_bytes;
	const struct builder_target *target; /* where the image goes; NULL: memory or the temporary file */
} builder_options;
enum { BUILDER_SPILL_BYTES = 64 << 20 };

/* The image is written at `at`, a multiple of 8, of a file that can be read and written. */
typedef struct builder_target {
	int fd;
	uint64_t at;
} builder_target;

builder *builder_new(const builder_options *options); /* options may be NULL; NULL when out of memory */
void builder_free(builder *b);			      /* accepts NULL */
/* Of one that is_copied: the same again, to be fed some more and finished; the original goes on and outlives it. NULL
   when out of memory. */
builder *builder_copy(builder *b);

/* ---- What events refer to ---------------------------------------------------------------------------------------- */

uint32_t builder_string(builder *b, const char *text, size_t len);
/* Lives as long as the builder is fed. A long one (base/long_text.h) has LONG_TEXT_SLACK. NULL: there is no such
 * string. */
const char *builder_text(const builder *b, uint32_t string, size_t *ret_len);

/* A name in a category. A recording may use both for things of different kinds, which are then different sites. `class`
   counts where the site is new. */
uint32_t builder_site(builder *b, uint32_t name, uint32_t category, site_class class, uint8_t kind);

/* A process, by the number of the file it is in (files of different ranks reuse pids) and its pid or, where that is
   text, by the string pid_text (else INDEX_NONE). Its rank is filled in when it is known, see builder_process_of. */
uint32_t builder_process(builder *b, uint32_t file, int64_t pid, uint32_t pid_text);
/* A track, by kind and id or id_text or, of TRACK_ASYNC, category; 0 and INDEX_NONE for what does not apply. */
uint32_t builder_track(builder *b, track_kind kind, uint32_t process, int64_t id, uint32_t id_text, uint32_t category);
/* To fill in name, labels, sort, device, rank. Valid until the next builder_process or builder_track. A track whose
   slices are mostly of CLASS_KERNEL or CLASS_COPY becomes a TRACK_STREAM by itself. */
index_process *builder_process_of(builder *b, uint32_t process);
index_track *builder_track_of(builder *b, uint32_t track);

/* What is known of a file only at its end: its rank, and what to add to all its times, of events before and after.
   Shifts of one file add up. */
void builder_file_rank(builder *b, uint32_t file, int32_t rank);
void builder_file_shift(builder *b, uint32_t file, int64_t ns);
/* From the first start to the last end of the file's events so far, shifted. Looks at all of them. False: it has none.
 */
bool builder_file_span(const builder *b, uint32_t file, int64_t *ret_start_ns, int64_t *ret_end_ns);

/* ---- Events; times are absolute ---------------------------------------------------------------------------------- */

typedef struct builder_slice {
	int64_t start_ns;
	int64_t dur_ns; /* >= 0 */
	uint32_t site;
	uint32_t args;		   /* record + 1; 0: none */
	uint64_t correlation : 56; /* + 1 of a launch and what it launched; 0: none */
	uint64_t flags : 8;	   /* slice_flags without SLICE_HAS_ARGS */
} builder_slice;
_Static_assert(sizeof(builder_slice) == 32, "memory per event");

void builder_slices(builder *b, uint32_t track, const builder_slice *slices, size_t n);
void builder_slice_add(builder *b, uint32_t track, const builder_slice *slice); /* one of them */

/* A slice of a track all of whose slices come this way, in the order of their ends; depth 0 is outermost. A slice's
   children, which have come before it, are those of depth + 1 since the slice before it at its own depth or above. */
void builder_lane_slice(builder *b, uint32_t track, uint32_t depth, const builder_slice *slice);

void builder_instant(builder *b, uint32_t track, int64_t time_ns, uint32_t site, uint32_t args, char scope);
void builder_sample(builder *b, uint32_t track, int64_t time_ns, uint32_t site, uint32_t args);

/* A point of an arrow; points of the same file, site and id, in the order of time, are one arrow: a new one begins at
   every 's'. phase as in FLOW_PHASE. id: see FLOW_ID. Bound at the end: to the innermost slice of the track that holds
   time_ns; an 'f' to the next slice that starts at or after it; to none when there is none. */
void builder_flow(builder *b, uint32_t track, int64_t time_ns, uint32_t site, uint64_t id, char phase, uint32_t args);

typedef struct builder_allocation {
	int64_t time_ns;
	uint32_t track, site, args; /* args: record + 1 */
	int32_t device_type, device;
	uint64_t address;
	int64_t bytes;
	int64_t total_bytes, reserved_bytes; /* -1: unknown */
} builder_allocation;
void builder_allocation_add(builder *b, const builder_allocation *a);

/* A value of the counter of this name and series (string or INDEX_NONE) on this track. */
void builder_value(builder *b, uint32_t track, uint32_t name, uint32_t series, uint32_t category, int64_t time_ns,
		   double value);

/* ---- Arguments: see args.h --------------------------------------------------------------------------------------- */

uint32_t builder_template(builder *b, const args_template *t);
uint32_t builder_arg_text(builder *b, const char *json, size_t len);
/* For who has many: where it keeps them, NULL when out of memory, and the number of one that is there. */
text_pool *builder_texts(builder *b); /* any thread may look up texts there */
uint32_t builder_arg_text_at(builder *b, text_ref text);
/* Returns record + 1. values: int64 of an ARG_INT, number of an ARG_TEXT. */
uint32_t builder_args(builder *b, uint32_t template, const int64_t *values);
/* The same with text_refs of builder_texts() instead of numbers. */
uint32_t builder_args_at(builder *b, uint32_t template, const int64_t *values);

/* ---- Facts: what events carried, see format/index/sections.h ------------------------------------------------------
 */

typedef enum builder_fact_kind { FACT_COLLECTIVE, FACT_KINDS } builder_fact_kind;

/* The number of a message; strings are the builder's. */
uint32_t builder_message(builder *b, const index_message *m);
/* A row of facts: the columns of its table. The first one is the record + 1 of arguments, which grows from call to
   call; a record has one row of a kind at most. */
void builder_fact(builder *b, builder_fact_kind kind, const int64_t *row);

/* The argument of this key says this. The first key of a role stays. */
void builder_role(builder *b, fact_role role, const char *key);

/* ---- The rest ---------------------------------------------------------------------------------------------------- */

/* json: the value is JSON text. rank -1: of all; BUILDER_RANK_OF(file): of the rank that the file will have. The last
   value of a key and rank stays. */
#define BUILDER_RANK_OF(file) (-2 - (int32_t)(file))
void builder_meta(builder *b, int32_t rank, const char *key, size_t key_len, const char *value, size_t len, bool json);
/* A device; its rank as of builder_meta(). The last one of a rank and id stays. */
void builder_device(builder *b, const index_device *d);
/* Adds n to the count of this kind; the first call's file and position stay. */
typedef struct builder_problem {
	diagnostic_kind kind;
	uint64_t n;
	const char *text; /* instead of the kind's own; may be NULL */
	const char *file; /* where first; may be NULL */
	int64_t position; /* in it, -1: unknown */
} builder_problem;
void builder_diagnostic(builder *b, const builder_problem *problem);
void builder_clock(builder *b, index_clock clock);

/* Steps are found by it: slices of CLASS_STEP, their number from the name's last digits ("ProfilerStep#12") or, of our
   own recordings, from builder_step(). */
void builder_step(builder *b, uint32_t track, int64_t start_ns, int64_t number);

/* Afterwards only builder_free may be called. The caller frees *ret_index with index_free. */
sonde_status builder_finish(builder *b, sonde_index **ret_index, sonde_error *err);

#endif
