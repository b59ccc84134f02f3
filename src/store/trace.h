/*
 * A trace: an index, whatever it was read from, and what is known of its files beside that.
 *
 * Its tracks are numbered as in the index. What a recording says about its own file (streams, clocks, blocks) is no
 * event, so it is not in the index: recording_facts has it for `sonde info`.
 */
#ifndef SONDE_STORE_TRACE_H
#define SONDE_STORE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/vec.h"
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

typedef struct trace_thread {
	uint32_t stream;
	uint32_t number; /* in its process */
	uint32_t tid;
	const char *name; /* "" when it has none */
	size_t first_block, n_blocks;
} trace_thread;

typedef struct trace_file {
	const char *path; /* NULL: standard input */
	size_t len;	  /* bytes; 0: unknown */
} trace_file;

/* What a process wrote into a recording. Texts are NULL where they are unknown. */
typedef struct stream_facts {
	const char *program, *host, *writer;
	const char *state; /* running, open, closed, recovered */
	const char *clock, *full;
	bool has_info, is_observer;
	uint32_t pid;
	uint64_t n_events, n_lost, n_clock_pairs, ring_bytes;
	double tick_ns; /* 0: unknown */
	int64_t clock_error_ns;
} stream_facts;

typedef struct thread_facts {
	const char *name; /* "": none */
	uint32_t tid, pid;
	uint64_t n_events, n_lost;
} thread_facts;

typedef struct block_facts {
	const char *kind;
	uint64_t n, bytes;
} block_facts;

/* The file of a recording, as it is now. */
typedef struct recording_facts {
	VEC(stream_facts) streams;
	VEC(thread_facts) threads;
	VEC(block_facts) blocks;
	uint64_t event_bytes;
	uint64_t n_unclosed;	   /* processes that did not close it: killed or running */
	uint64_t n_recovered;	   /* events that were in rings when it was opened */
	uint64_t torn_index_bytes; /* of an index that is damaged or cut off; nothing is missing without it */
	bool is_live;		   /* a program still writes it */
	bool has_ticks;		   /* too few clock readings: times are ticks */
	bool is_window;		   /* the index has its newest events only */
	int64_t window_ns;	   /* of a window: events from then on are all there */
	uint64_t n_shown;	   /* events of the index */
} recording_facts;

struct sonde_trace {
	arena arena;
	unsigned n_holders; /* beside the first owner; atomic */
	sonde_index *index; /* always there */
	VEC(trace_file) files;
	VEC(trace_thread) threads; /* the tracks */
	int64_t start_ns, end_ns;
	uint64_t n_events;	    /* that are in the index */
	bool is_recorded;	    /* by Sonde: names and categories are the program's own, not PyTorch's */
	const char *warning;	    /* sonde_trace_warning(), or NULL */
	recording_facts *recording; /* NULL: it was read from other files */
	void *source;		    /* what the index may need later, freed by free_source() */
	void (*free_source)(void *source);
	bool (*source_is_broken)(const void *source);
};

/* A trace around the index, which becomes its own, also on failure. */
sonde_status trace_of_index(sonde_index *index, sonde_trace **ret_trace, sonde_error *err);

/* Adds a file to the list of those that it was read from. False when out of memory. */
bool trace_add_file(sonde_trace *t, const char *path, size_t len);

/* The trace for one owner more: sonde_trace_free() releases it when the last one calls it. Any thread. */
sonde_trace *trace_hold(const sonde_trace *t);

/* The value of the first meta entry with this key; NULL: none. */
const char *trace_meta_value(const sonde_trace *t, const char *key);

/* The index has only the newest events of a recording that grows. */
static inline bool trace_is_window(const sonde_trace *t)
{
	return t->recording && t->recording->is_window;
}

/* Its file was cut off while it was open: what was read since then is not to be believed. See mapping.h. */
bool trace_is_broken(const sonde_trace *t);

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/* Allocations of a recording have a site of kind NAME_DEVICE: its name is that of the device, its category what
   happened. */
#define TRACE_ALLOC "alloc"
#define TRACE_FREE "free"
#define TRACE_UNKNOWN_FREE "free of an unknown block"

/* The device of a row of allocations, for trace_device_name(). */
#define TRACE_DEVICE_NAMED 0x80000000u /* the rest is a string */
enum { TRACE_DEVICE_OTHER = 20 };      /* device type of what is no CPU and no GPU; PyTorch: PrivateUse1 */
uint32_t trace_device_of(const sonde_trace *t, const int64_t *allocation);
const char *trace_device_name(const sonde_trace *t, uint32_t device, char *buffer, size_t size);

/* ---- Times and texts --------------------------------------------------------------------------------------------- */

/* From a time of a row to one of the trace. */
static inline int64_t trace_index_ns(const sonde_trace *t, int64_t ns)
{
	return trace_bounded_ns(t->start_ns + trace_bounded_ns(ns));
}

static inline const char *trace_text(const sonde_trace *t, uint32_t string)
{
	return index_text(t->index, string);
}

#endif
