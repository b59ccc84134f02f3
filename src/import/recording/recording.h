/*
 * A recording in memory: what the blocks say, sorted out but not unpacked.
 *
 *   recording_scan()     finds the blocks of a file's bytes, sound or not       scan.c
 *   recording_join()     adds what the ring of a killed program still holds     join.c
 *   recording_finish()   threads, names, clock                                  finish.c
 *   recording_walk()     decodes the events, thread by thread                   walk.h
 *
 * Event blocks stay encoded in the mapped file: a recording of 100 million events takes some 100 bytes a block here.
 *
 * A recording that is still being written is opened again and again. recording_source.before names what was read of it,
 * and only new blocks are scanned (resume.c). recording_window() makes a recording of the newest events alone, and one
 * that resumes from such a window never holds more: the cost does not grow with the file (window.c).
 */
#ifndef SONDE_IMPORT_RECORDING_RECORDING_H
#define SONDE_IMPORT_RECORDING_RECORDING_H

#include <glob.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/intern.h"
#include "base/vec.h"
#include "format/recording/file.h"
#include "format/recording/names.h"
#include "store/walk.h"
#include <sonde/trace.h>

typedef struct recording recording;

/* Nanoseconds = ns + (ticks - from) * mul / 2^32. */
typedef struct clock_segment {
	uint64_t from;
	int64_t ns;
	uint64_t mul;
} clock_segment;

typedef struct recording_stream {
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
} recording_stream;

/* A BLOCK_EVENTS that is sound. Its head is copied: sorting blocks must not touch the whole file. */
typedef struct recording_block {
	uint32_t stream; /* index */
	uint32_t n_events;
	uint32_t skip; /* so many of its events are in the block before */
	bool joined;   /* from the ring */
	uint16_t file; /* that it is in, unless it is joined */
	events_head head;
	const uint8_t *bytes; /* behind the head, encoded */
	size_t len;
	uint64_t end_ticks; /* of its last event; 0: not looked at yet */
} recording_block;

typedef struct recording_process {
	int32_t pid, parent_pid;
	const char *command;
} recording_process;

/* Counts of what is not as it should be. Emitted = kept + lost. */
typedef struct recording_diagnostics {
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
} recording_diagnostics;

typedef struct recording_file {
	const char *path;
	uint8_t *bytes;
	size_t len;
	size_t from; /* where the scan begins: blocks before are known */
	uint64_t inode;
	size_t cut; /* where a block or index begins that the end of the file cuts off, or a whole index; len: nowhere
		     */
	size_t truncated; /* bytes of that block */
	enum { BYTES_OWNED, BYTES_MAPPED, BYTES_BORROWED } bytes_are;
} recording_file;

struct recording {
	arena arena;
	intern_table strings;
	intern_table stream_ids; /* 8 bytes each; its numbers are the indexes of streams */
	VEC(recording_file) files;
	VEC(recording_stream) streams;
	VEC(recording_block) blocks; /* by stream, thread and first word */
	VEC(trace_thread) threads;
	VEC(recording_process) processes;
	VEC(process_sample) samples;
	VEC(block_header *) owned; /* joined blocks */
	recording_diagnostics diagnostics;
	uint64_t n_blocks_of[BLOCK_KINDS], bytes_of[BLOCK_KINDS];
	uint64_t index_bytes;	     /* of the files, behind the blocks */
	trace_site unnamed, refused; /* of an id that nothing explains; of names that found no room */
	trace_site cut_step;	     /* of a step that began before the window */
	int64_t start_ns, end_ns;    /* CLOCK_MONOTONIC, over all streams */
	uint32_t scanned_file;	     /* number of the file whose blocks are being added, or RECORDING_RING */
	uint64_t whole_max;	     /* recording_source.whole_max */
	bool is_window;		     /* its blocks are the newest ones only */
	int64_t window_ns;	     /* of a window: events from then on are all here */
	recording *whole;	     /* of a window: what it was made of, which owns what they share; or NULL */
	const char *warning;	     /* sonde_trace_warning(), or NULL */
};

/* Adds the blocks of file number `file`. Only a file without a single block is an error. */
sonde_status recording_scan(recording *t, size_t file, sonde_error *err);
/* Adds one sound block. False when out of memory. */
bool recording_add_block(recording *t, const block_header *header, const uint8_t *payload);
recording_stream *recording_stream_of(recording *t, uint64_t id);
/* Texts and times from a stranger: terminated and bounded, once. */
void recording_sanitize_info(stream_block *info);

/* For a stream that was not closed: reads its ring. When the program is gone and the file can be
   written, the file is made whole and the ring removed. False when out of memory. */
bool recording_join(recording *t, uint64_t stream);
enum { RECORDING_RING = UINT16_MAX }; /* files are numbered below */

/* Events that were joined and could not be saved into their files. Add up those of several traces in one that is 0. */
typedef struct recording_unsaved {
	uint64_t n_events;
	size_t n_rings;
	int error;	     /* the first */
	char ring_path[256]; /* and its ring */
} recording_unsaved;
void recording_add_unsaved(const recording *t, recording_unsaved *u);
/* What it was, why, and what happens to them; path is that of the file. */
void recording_unsaved_text(const recording_unsaved *u, const char *path, char *out, size_t size);

sonde_status recording_finish(recording *t, sonde_error *err);
void recording_name_threads(recording *t);			   /* as the streams' meta data says */
trace_site recording_special_site(recording *t, const char *name); /* its name is INTERN_NONE when out of memory */
bool recording_settle_processes(recording *t);			   /* one entry each; processes.c */

/* A recording: a file that is mapped or, when there are bytes, what was read of a pipe or unpacked. */
typedef struct recording_source {
	const char *path; /* NULL: standard input */
	uint8_t *bytes;	  /* malloc'ed; recording_open frees them, whatever happens */
	size_t len;
	const recording *before; /* what it was when it was opened earlier, or NULL; only of the first source */
	/* A recording of more events may become a window by itself, so that a scan keeps few blocks; 0: no limit. */
	uint64_t whole_max;
} recording_source;

/* Maps one more file. NULL on failure. */
recording_file *recording_map_file(recording *t, const char *path, sonde_error *err);
/* Takes over what `before` knows, with its files mapped anew, to scan on behind it. *ret_resumed: the files are still
   those that were read. Otherwise nothing was taken. False when out of memory. */
bool recording_resume(recording *t, const recording *before, bool *ret_resumed);

/* The newest events, about n of them, and the last block of every thread. Takes `whole` on success, which lives as long
   as the window. Names, clock, totals and time span stay those of the whole recording. */
sonde_status recording_window(recording *whole, uint64_t n_events, recording **ret_window, sonde_error *err);
/* While a file is scanned: drops its older blocks, from number `first` on, when there are too many. False when out of
   memory. */
bool recording_prune(recording *t, size_t first);
uint64_t recording_n_shown(const recording *t);	  /* events in its blocks */
uint64_t recording_end_ticks(recording_block *b); /* of its last event */

/* Recordings that belong together, as one trace; see sonde_trace_open. */
sonde_status recording_open(const recording_source *sources, size_t n, recording **ret_trace, sonde_error *err);

/* One file and its parts. */
static inline sonde_status recording_open_path(const char *path, recording **ret_recording, sonde_error *err)
{
	return recording_open(&(recording_source){ .path = path }, 1, ret_recording, err);
}

/* A recording that lies in memory, which is borrowed. No other file is read, none is changed. */
sonde_status recording_open_memory(const void *bytes, size_t len, recording **ret_trace, sonde_error *err);

/* The recordings of its programs that `sonde record` keeps beside its own, path.part.*, and their rings. */
bool recording_find_parts(const char *path, glob_t *ret_found);

/* What an event's id stands for, or NULL. */
static inline const trace_site *recording_site_of(const recording_stream *s, uint64_t id)
{
	const trace_site *page = s->site_pages && id <= UINT16_MAX ? s->site_pages[id >> 8] : NULL;

	return page && page[id & 255].record ? &page[id & 255] : NULL;
}

/* Accepts NULL. */
void recording_free(recording *t);

/* Its file was cut off while it was open: what was read since then is not to be believed. See mapping.h. */
bool recording_is_broken(const recording *t);
bool recording_is_live(const recording *t); /* its program still runs */
/* Lets go of mapped pages after every RECORDING_RESIDENT bytes read, so that reading a file of any size keeps few of
   its pages in memory. They come back from the page cache when they are touched again. *read is the caller's count. */
enum { RECORDING_RESIDENT = 16 << 20 };
void recording_release_pages(const recording *t, size_t n, size_t *read);

/* The tables of a stream's clock; clock_map.c */
bool clock_map_build(recording_stream *s);
size_t clock_map_find(const recording_stream *s, uint64_t ticks); /* the segment of a tick */
/* *hint is the segment of the last call, 0 at first. */
static inline int64_t clock_map_ns(const recording_stream *s, uint64_t ticks, size_t *hint)
{
	size_t i = *hint;

	if ((i && ticks < s->segments[i].from) || (i + 1 < s->n_segments && ticks >= s->segments[i + 1].from))
		*hint = i = clock_map_find(s, ticks);
	const clock_segment *g = &s->segments[i];
	uint64_t delta = (uint64_t)((__int128)(int64_t)(ticks - g->from) * (__int128)g->mul >> 32);
	return trace_bounded_ns((int64_t)((uint64_t)g->ns + delta));
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

const char *trace_category_name(uint32_t fixed);
/* Of a device that the stream with this number uses. */
const char *recording_device_name(const recording *t, uint32_t stream, uint32_t device, char *buffer, size_t size);
static inline const char *recording_text(const recording *t, uint32_t string)
{
	return intern_text(&t->strings, string);
}

#endif
