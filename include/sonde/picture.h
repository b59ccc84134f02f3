/*
 * Writes flame graphs and timelines as self-contained pages to share. Needs libsonde.
 */
#ifndef SONDE_PICTURE_H
#define SONDE_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sonde/analyze.h>
#include <sonde/error.h>
#include <sonde/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set struct_size to sizeof(sonde_picture_options); all other fields may be 0. Strings are borrowed for the call. */
typedef struct sonde_picture_options {
	size_t struct_size;
	const char *name; /* title; NULL: none */
	const char *by;	  /* measure of flame graphs: "time" (NULL), "self", "device" or "memory" */
	int64_t min_ns;	  /* omits shorter slices; bytes for a flame graph by memory */
	int64_t small_ns; /* merges adjacent slices shorter than this; 0: as max_bytes requires */
	uint32_t max_depth;
	bool no_python; /* omits Python functions */
	bool use_steps; /* selects steps first_step..last_step */
	int64_t first_step;
	int64_t last_step;
	uint64_t max_bytes; /* limit of the data in a page; 0: 4 MiB */
	/* Flame graphs only: */
	const char *ranks; /* a list such as "0,2-4"; NULL: all */
	bool use_time;	   /* selects [from_ns, to_ns) since the start of the trace */
	int64_t from_ns;
	int64_t to_ns;
	uint64_t n_warmup; /* number of steps to skip at the start of each rank */
} sonde_picture_options;

/* Writes a flame graph. format: "html", "svg", "json" or "folded" (one line per stack). The trace needs its index:
   sonde_trace_prepare(). options may be NULL. The picture counts and shows what max_bytes omits. */
SONDE_API sonde_status sonde_flame_write(const sonde_trace *trace, const char *format,
					 const sonde_picture_options *options, FILE *out, sonde_error *err);

/* Adds a flame graph of the trace to the page that sonde_result_print() writes for the result as SONDE_HTML. Does
   nothing if the trace has no slices. */
SONDE_API sonde_status sonde_flame_add(sonde_result *result, const sonde_trace *trace,
				       const sonde_picture_options *options, sonde_error *err);

/* Writes a timeline page, with the same rules as sonde_flame_write(). */
SONDE_API sonde_status sonde_timeline_write(const sonde_trace *trace, const sonde_picture_options *options, FILE *out,
					    sonde_error *err);

#ifdef __cplusplus
}
#endif
#endif
