/* What the files behind recording.h share: a recording on its way into a builder. */
#ifndef SONDE_IMPORT_RECORDING_FEED_H
#define SONDE_IMPORT_RECORDING_FEED_H

#include "base/intern.h"
#include "base/vec.h"
#include "import/arg_set.h"
#include "import/recording/build.h"
#include "import/recording/walk.h"

/* An operation of sonde_op_begin, from its begin to its end, which may come from another thread. */
typedef struct feed_op {
	struct feed_op *next, *before; /* in the list of those that are open */
	struct feed_op *copy;	       /* in the feed that was copied last */
	saved_args *args;
	size_t first_held; /* slices that are held since it began */
	bool on_stack;
} feed_op;

/* A slice that is open on the thread. */
typedef struct feed_slice {
	feed_op *op;	  /* NULL: a scope */
	uint32_t args;	  /* record + 1 */
	bool is_late;	  /* its arguments wait until its end: a call stack may follow */
	saved_args *late; /* these */
} feed_slice;

/* A slice that has ended inside an operation that is open: how deep it lies is known when that has ended. */
typedef struct feed_held {
	builder_slice slice;
	uint32_t depth;
	int32_t shift; /* of the depths from here on */
} feed_held;

/* sonde_op_metadata. */
typedef struct feed_note {
	uint64_t serial;
	walk_arg arg; /* its texts are in note_texts */
	int64_t time_ns;
	uint32_t next; /* + 1 */
	bool taken;
} feed_note;

/* Where the feed stands in a thread. */
typedef struct feed_place {
	uint32_t track, async_track; /* async_track INDEX_NONE: not needed yet */
	bool is_named;		     /* by an event, which counts more than what the recording says of it */
	VEC(feed_slice) stack;
	VEC(feed_held) held;
	int32_t next_shift; /* of the next one that is held */
	size_t n_ops;	    /* on the stack */

	/* the last allocation: its call stack may follow */
	bool has_allocation;
	builder_allocation allocation;
	saved_args *allocation_args;
} feed_place;

typedef struct feed {
	const recording *trace;
	builder *builder;
	uint32_t file;
	const char *path; /* that diagnostics name; NULL: the index is the recording's own */
	recording_progress *progress;
	void *context;
	arg_set args;
	bool failed;

	/* what events refer to; recording/tracks.c */
	uint32_t *processes;	 /* of the builder, by stream */
	uint32_t *process_names; /* strings, by stream: what the program called itself; INDEX_NONE */
	uint32_t *strings;	 /* of the builder + 1, by string of the trace */
	uint32_t *site_of_id;	 /* of the stream, by id, + 1 */
	intern_table tids;	 /* keys are process and tid */
	uint64_t *named_from;	 /* by stream: the order of the thread that named its process last */
	size_t n_streams;
	intern_table meta_keys;	 /* what the program's events say about the whole */
	VEC(uint64_t) meta_from; /* by number in meta_keys: the order of the thread that said it last */
	const trace_thread *thread;
	const recording_stream *stream;
	uint32_t process_track;
	feed_place at;			      /* in the thread */
	const recording_stream *queue_stream; /* of the last device slice, and where it went */
	uint32_t queue, queue_track;

	/* slices; recording/slices.c */
	feed_op *ops;
	intern_table serials;	   /* of operations with notes */
	VEC(uint32_t) first_notes; /* by number in serials: note + 1 */
	VEC(feed_note) notes;
	arena note_texts;
} feed;

/* ---- recording.c ------------------------------------------------------------------------------------------------- */

/* What takes the events of a walk. */
walk_sink feed_sink(feed *f);
/* What the recording says besides its events, after them. */
void feed_rest(feed *f, const walk_counts *counts);
sonde_status feed_status(const feed *f, sonde_status status, sonde_error *err); /* of all that was fed */
void feed_done(feed *f);

/* ---- recording/tracks.c ------------------------------------------------------------------------------------------ */

/* From now on the events are those of this trace: the same recording, which may have grown. False when out of memory.
 */
bool feed_use(feed *f, const recording *trace);
void feed_tracks_done(feed *f);
void feed_thread(feed *f, const trace_thread *thread); /* a new one, which gets its track */
void feed_enter(feed *f, const trace_thread *thread);  /* one that has it; f->at is where it stands there */
uint64_t feed_order(const feed *f);		       /* of the thread among all, from 1 on */
uint32_t feed_text(feed *f, const char *text);
uint32_t feed_process(feed *f, int64_t pid);
uint32_t feed_process_track(feed *f, uint32_t process);
uint32_t feed_async_track(feed *f, const trace_thread *thread);
uint32_t feed_queue_track(feed *f, uint32_t queue);
void feed_name_thread(feed *f, uint32_t track, const char *name, size_t len);
/* The site of a slice, an instant, a flow ... */
uint32_t feed_site_of(feed *f, const trace_site *site);
uint32_t feed_device_site_of(feed *f, const walk_device *d);
/* The same for an id of the current stream, fast. */
uint32_t feed_site_of_id(feed *f, uint32_t id, const trace_site *site);
uint32_t feed_string(feed *f, uint32_t string);

/* ---- recording/slices.c ------------------------------------------------------------------------------------------ */

void feed_instant(void *context, const trace_site *site, int64_t time_ns, const event *e);
void feed_begin(void *context, slice *s, const event *e);
void feed_end(void *context, slice *s);
void feed_launch(void *context, const trace_site *site, int64_t time_ns, uint32_t queue, uint64_t id);
void feed_device(void *context, const walk_device *d);
void feed_note_op(void *context, const walk_op_meta *m);
void feed_stack(void *context, const uint64_t *addresses, size_t n);
/* Everything on the stack of the thread has ended. */
void feed_thread_done(feed *f);
/* Nothing more comes from the process. */
void feed_process_done(feed *f);
void feed_slices_done(feed *f);
void feed_allocation_done(feed *f);

/* ---- recording/copy.c -------------------------------------------------------------------------------------------- */

/* The feed as it is, but for the place where it stands, to go on into a copy of the builder. It has no notes on
   operations. False when out of memory; feed_done() in any case. */
bool feed_copy(feed *to, const feed *from, builder *b);
/* Of a thread of the feed that was copied last. */
bool feed_place_copy(feed_place *to, const feed_place *from);
bool feed_slices_copy(slice_list *to, const slice_list *from);
void feed_place_done(feed_place *p);

#endif
