/*
 * A recording in memory: what the blocks say, sorted out but not unpacked.
 *
 *   trace_scan()     finds the blocks of a file's bytes, sound or not       scan.c
 *   trace_join()     adds what the ring of a killed program still holds     join.c
 *   trace_finish()   threads, names, clock                                  trace_finish.c
 *   trace_walk()     decodes the events, thread by thread                   walk.h
 *
 * Event blocks stay encoded in the mapped file: a trace of 100 million events takes some 100 bytes a block here.
 *
 * A recording that is still being written is opened again and again. trace_source.before names what was read of it, and
 * only what is new is scanned (trace_resume.c). trace_window() makes a trace of its newest events alone, and one that
 * goes on from such a window never holds more: the cost does not grow with the recording (trace_window.c).
 */
#ifndef SONDE_STORE_TRACE_H
#define SONDE_STORE_TRACE_H

#include <glob.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/intern.h"
#include "base/vec.h"
#include "format/recording/file.h"
#include "format/recording/names.h"
#include "store/index/index.h"
#include <sonde/trace.h>

/* A name that events carry. Strings are numbers in trace.strings. */
typedef struct trace_site {
	const name_record *record; /* NULL: the id was never explained */
	uint32_t name, category;
	uint8_t kind; /* name_kind */
} trace_site;

typedef struct trace_meta {
	const char *key, *value;
} trace_meta;

/*
 * Times of a trace, and so their differences, stay far from overflow: 73 years either way. Every time that comes from a
 * file is bounded once, where it is read.
 */
#define TRACE_NS_MAX (INT64_MAX / 4)
static inline int64_t trace_bounded_ns(int64_t ns)
{
	if (__builtin_expect((uint64_t)ns + TRACE_NS_MAX <= 2 * (uint64_t)TRACE_NS_MAX, 1))
		return ns;
	return ns < 0 ? -TRACE_NS_MAX : TRACE_NS_MAX;
}

/* Nanoseconds = ns + (ticks - from) * mul / 2^32. */
typedef struct clock_segment {
	uint64_t from;
	int64_t ns;
	uint64_t mul;
} clock_segment;

typedef struct trace_stream {
	uint64_t id;
	stream_block info;
	bool has_info;
	bool live;	   /* its program still runs */
	uint64_t n_kept;   /* events of the recording */
	uint64_t n_joined; /* of them: from the ring */
	uint64_t n_before; /* of them: older than the window, so their blocks are not here */
	uint32_t file;	   /* where its BLOCK_STREAM is, which is written again in place */
	uint64_t info_at;
	uint32_t ring_missing;
	int unsaved_errno;	 /* why its program is gone and what was joined could not go into the file; 0: it did */
	trace_site **site_pages; /* by the high byte of the id, then by the low one; NULL where there are none */
	VEC(clock_pair) file_pairs; /* as they are in the file */
	VEC(clock_pair) pairs;	    /* those and the ring's, rising */
	uint64_t settled_ticks; /* of the last pair before those of the ring: times of ticks before it stay as they are
				 */
	bool has_joined_pairs;
	clock_segment *segments;
	size_t n_segments;
	double tick_ns; /* length of a tick; 0: unknown */
	VEC(trace_meta) meta;
	const char *modules; /* BLOCK_MODULES, or NULL */
	size_t modules_len;
} trace_stream;

/* A BLOCK_EVENTS that is sound. Its head is copied: sorting blocks must not touch the whole file. */
typedef struct trace_block {
	uint32_t stream; /* index */
	uint32_t n_events;
	uint32_t skip; /* so many of its events are in the block before */
	bool joined;   /* from the ring */
	uint16_t file; /* that it is in, unless it is joined */
	events_head head;
	const uint8_t *bytes; /* behind the head, encoded */
	size_t len;
	uint64_t end_ticks; /* of its last event; 0: not looked at yet */
} trace_block;

typedef struct trace_thread {
	uint32_t stream;
	uint32_t number; /* in its process */
	uint32_t tid;
	const char *name; /* "" when it has none */
	size_t first_block, n_blocks;
} trace_thread;

typedef struct trace_process {
	int32_t pid, parent_pid;
	const char *command;
} trace_process;

/* Counts of what is not as it should be. Emitted = kept + lost. */
typedef struct trace_diagnostics {
	uint64_t n_kept;
	uint64_t n_lost_full, n_lost_overwritten, n_lost_signal, n_lost_io, n_lost_damaged;
	uint64_t n_names_refused;
	uint64_t n_unclosed_streams; /* killed or running */
	uint64_t n_rings_missing; /* killed, and the ring is gone: the last events may be missing, nobody knows how many
				   */
	uint64_t n_damaged_blocks, skipped_bytes;
	int64_t first_damage;	   /* byte offset, -1: none */
	uint64_t truncated_bytes;  /* of a block cut off at the end of the file */
	uint64_t torn_index_bytes; /* of an index that is damaged or cut off; nothing is missing without it */
	uint64_t n_lost_import, n_repaired_import; /* what index_diagnostics() sum up to */
} trace_diagnostics;

typedef struct trace_file {
	const char *path;
	uint8_t *bytes;
	size_t len;
	size_t from; /* where the scan begins: blocks before are known */
	uint64_t inode;
	size_t cut; /* where a block or index begins that the end of the file cuts off, or a whole index; len: nowhere
		     */
	size_t truncated; /* bytes of that block */
	enum { BYTES_OWNED, BYTES_MAPPED, BYTES_BORROWED } bytes_are;
} trace_file;

struct sonde_trace {
	arena arena;
	unsigned n_holders; /* beside the first owner; atomic */
	intern_table strings;
	intern_table stream_ids; /* 8 bytes each; its numbers are the indexes of streams */
	VEC(trace_file) files;
	VEC(trace_stream) streams;
	VEC(trace_block) blocks; /* by stream, thread and first word */
	VEC(trace_thread) threads;
	VEC(trace_process) processes;
	VEC(process_sample) samples;
	VEC(block_header *) owned; /* joined blocks */
	trace_diagnostics diagnostics;
	uint64_t n_blocks_of[BLOCK_KINDS], bytes_of[BLOCK_KINDS];
	uint64_t index_bytes;	     /* of the files, behind the blocks */
	trace_site unnamed, refused; /* of an id that nothing explains; of names that found no room */
	trace_site cut_step;	     /* of a step that began before the window */
	int64_t start_ns, end_ns;    /* CLOCK_MONOTONIC, over all streams */
	uint32_t scanned_file;	     /* number of the file whose blocks are being added, or TRACE_RING */
	uint64_t whole_max;	     /* trace_source.whole_max */
	bool is_window;		     /* its blocks are the newest ones only */
	int64_t window_ns;	     /* of a window: events from then on are all here */
	sonde_trace *whole;	     /* of a window: what it was made of, which owns what they share; or NULL */
	sonde_index *index;	     /* the events in their indexed form (index/sections.h), or NULL; the trace's own */
	const char *warning;	     /* sonde_trace_warning(), or NULL */
	void *walked_steps;	     /* analyze/tables/step_list.c keeps what took a walk; one malloc */
};

/* The events are in the index alone: an imported trace. A recording may have an index beside its blocks. */
static inline bool trace_is_imported(const sonde_trace *t)
{
	return t->index && !t->streams.n;
}

/* Adds the blocks of file number `file`. Only a file without a single block is an error. */
sonde_status trace_scan(sonde_trace *t, size_t file, sonde_error *err);
/* Adds one sound block. False when out of memory. */
bool trace_add_block(sonde_trace *t, const block_header *header, const uint8_t *payload);
trace_stream *trace_stream_of(sonde_trace *t, uint64_t id);
/* Texts and times from a stranger: terminated and bounded, once. */
void trace_sanitize_info(stream_block *info);

/* For a stream that was not closed: reads its ring. When the program is gone and the file can be
   written, the file is made whole and the ring removed. False when out of memory. */
bool trace_join(sonde_trace *t, uint64_t stream);
enum { TRACE_RING = UINT16_MAX }; /* files are numbered below */

/* Events that were joined and could not be saved into their files. Add up those of several traces in one that is 0. */
typedef struct trace_unsaved {
	uint64_t n_events;
	size_t n_rings;
	int error;	     /* the first */
	char ring_path[256]; /* and its ring */
} trace_unsaved;
void trace_add_unsaved(const sonde_trace *t, trace_unsaved *u);
/* What it was, why, and what happens to them; path is that of the file. */
void trace_unsaved_text(const trace_unsaved *u, const char *path, char *out, size_t size);

sonde_status trace_finish(sonde_trace *t, sonde_error *err);
void trace_name_threads(sonde_trace *t);			 /* as the streams' meta data says */
trace_site trace_special_site(sonde_trace *t, const char *name); /* its name is INTERN_NONE when out of memory */
bool trace_settle_processes(sonde_trace *t);			 /* one entry each; processes.c */

/* A recording: a file that is mapped or, when there are bytes, what was read of a pipe or unpacked. */
typedef struct trace_source {
	const char *path; /* NULL: standard input */
	uint8_t *bytes;	  /* malloc'ed; trace_open_recordings frees them, whatever happens */
	size_t len;
	const sonde_trace *before; /* what it was when it was opened earlier, or NULL; only of the first source */
	/* A recording of more events may become a window by itself, so that a scan keeps few blocks; 0: no limit. */
	uint64_t whole_max;
} trace_source;

/* Maps one more file. NULL on failure. */
trace_file *trace_map_file(sonde_trace *t, const char *path, sonde_error *err);
/* Takes over what `before` knows, with its files mapped anew, to scan on behind it. *ret_resumed: the files are still
   those that were read. Otherwise nothing was taken. False when out of memory. */
bool trace_resume(sonde_trace *t, const sonde_trace *before, bool *ret_resumed);

/* The newest events, about n of them, and the last block of every thread. Takes `whole` on success, which lives as long
   as the window. Names, clock, totals and time span stay those of the whole recording. */
sonde_status trace_window(sonde_trace *whole, uint64_t n_events, sonde_trace **ret_window, sonde_error *err);
/* While a file is scanned: drops its older blocks, from number `first` on, when there are too many. False when out of
   memory. */
bool trace_prune(sonde_trace *t, size_t first);
uint64_t trace_n_shown(const sonde_trace *t); /* events in its blocks */
uint64_t trace_end_ticks(trace_block *b);     /* of its last event */

/* Recordings that belong together, as one trace; see sonde_trace_open. */
sonde_status trace_open_recordings(const trace_source *sources, size_t n, sonde_trace **ret_trace, sonde_error *err);

/* A recording that lies in memory, which is borrowed. No other file is read, none is changed. */
sonde_status trace_open_memory(const void *bytes, size_t len, sonde_trace **ret_trace, sonde_error *err);

/* The recordings of its programs that `sonde record` keeps beside its own, path.part.*, and their rings. */
bool trace_find_parts(const char *path, glob_t *ret_found);

/* What an event's id stands for, or NULL. */
static inline const trace_site *trace_site_of(const trace_stream *s, uint64_t id)
{
	const trace_site *page = s->site_pages && id <= UINT16_MAX ? s->site_pages[id >> 8] : NULL;

	return page && page[id & 255].record ? &page[id & 255] : NULL;
}

/* Its file was cut off while it was open: what was read since then is not to be believed. See mapping.h. */
bool trace_is_broken(const sonde_trace *t);
bool trace_is_mapped(const sonde_trace *t); /* some of it is read from its file as it is needed */
/* Lets go of mapped pages after every TRACE_RESIDENT bytes read, so that reading a file of any size keeps few of its
   pages in memory. They come back from the page cache when they are touched again. *read is the caller's count. */
enum { TRACE_RESIDENT = 16 << 20 };
void trace_release_pages(const sonde_trace *t, size_t n, size_t *read);

/* The tables of a stream's clock; clock_map.c */
bool clock_map_build(trace_stream *s);
size_t clock_map_find(const trace_stream *s, uint64_t ticks); /* the segment of a tick */
/* *hint is the segment of the last call, 0 at first. */
static inline int64_t clock_map_ns(const trace_stream *s, uint64_t ticks, size_t *hint)
{
	size_t i = *hint;

	if ((i && ticks < s->segments[i].from) || (i + 1 < s->n_segments && ticks >= s->segments[i + 1].from))
		*hint = i = clock_map_find(s, ticks);
	const clock_segment *g = &s->segments[i];
	uint64_t delta = (uint64_t)((__int128)(int64_t)(ticks - g->from) * (__int128)g->mul >> 32);
	return trace_bounded_ns((int64_t)((uint64_t)g->ns + delta));
}

/* ---- Traces of an index: trace_index.c --------------------------------------------------------------------------- */

/* A trace around the index, which becomes its own, also on failure. It has no streams. */
sonde_status trace_of_index(sonde_index *index, sonde_trace **ret_trace, sonde_error *err);

/* Allocations of a recording have a site of kind NAME_DEVICE: its name is that of the device, its category what
   happened. */
#define TRACE_ALLOC "alloc"
#define TRACE_FREE "free"
#define TRACE_UNKNOWN_FREE "free of an unknown block"

/* The device of a row of allocations, for trace_device_name(). */
#define TRACE_DEVICE_NAMED 0x80000000u /* the rest is a string */
enum { TRACE_DEVICE_OTHER = 20 };      /* device type of what is no CPU and no GPU; PyTorch: PrivateUse1 */
uint32_t trace_index_device(const sonde_trace *t, const int64_t *allocation);
const char *trace_index_device_name(const sonde_trace *t, uint32_t device, char *buffer, size_t size);

/* The trace for one owner more: sonde_trace_free() releases it when the last one calls it. Any thread. */
sonde_trace *trace_hold(const sonde_trace *t);

/* From a time of a row to one of the trace. */
static inline int64_t trace_index_ns(const sonde_trace *t, int64_t ns)
{
	return trace_bounded_ns(t->start_ns + trace_bounded_ns(ns));
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

const char *trace_category_name(uint32_t fixed);
/* Of a device that the stream with this number uses. */
const char *trace_device_name(const sonde_trace *t, uint32_t stream, uint32_t device, char *buffer, size_t size);
static inline size_t trace_n_strings(const sonde_trace *t)
{
	return trace_is_imported(t) ? index_n_strings(t->index) : t->strings.n;
}
static inline const char *trace_text(const sonde_trace *t, uint32_t string)
{
	return trace_is_imported(t) ? index_text(t->index, string) : intern_text(&t->strings, string);
}

#endif
