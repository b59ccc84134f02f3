/* What walk.c, walk_special.c and walk_parts.c share: a walk on its way. */
#ifndef SONDE_IMPORT_RECORDING_WALK_STATE_H
#define SONDE_IMPORT_RECORDING_WALK_STATE_H

#include "import/recording/walk.h"

typedef struct walk {
	const recording *trace;
	const recording_stream *stream;
	const walk_sink *sink;
	walk_counts counts;
	event_reader reader;
	slice_list stack;
	walk_apart apart;
	VEC(uint32_t) lone_ends; /* ids of ends without a begin, when notes_lone_ends is set */
	bool notes_lone_ends;
	/* Before a window begins: the sink that waits for it, or NULL, and what was counted before the thread. */
	const walk_sink *waiting;
	walk_counts counts_before;
	size_t n_pending_before, n_ends_before;
	uint32_t *n_open; /* slices on the stack by id; NULL until a deep one is looked for */
	const trace_thread *thread;
	size_t hint;
	size_t n_read;		  /* bytes since pages were let go of */
	uint64_t n_done, n_total; /* bytes of events */
	int64_t now_ns;
	int64_t from_ns, to_ns; /* times before and behind are far outside of the recording: far_times.h */
	bool failed, stopped;
} walk;

const trace_site *walk_find_site(const walk *w, uint64_t id);
const trace_site *walk_site(walk *w, uint64_t id); /* the same, and an unknown one is counted */
void walk_special(walk *w, const event *e, uint32_t id);
void walk_enter(walk *w, const trace_thread *thread);
/* The events of a block from this word of the thread on. */
void walk_block(walk *w, const recording_block *b, uint64_t from_word);
bool walk_goes_on(walk *w); /* false: the sink has enough */
void walk_close(walk *w);   /* ends what is open on the thread */
/* After all threads of a process. What has no partner stays, unless none can come any more. */
void walk_finish_pending(walk *w, bool closes);
sonde_status walk_status(const walk *w, sonde_error *err);

#endif
