/*
 * Pictures of a trace as files to send: flame graphs and timelines, each a page that holds all of its data and asks for
 * nothing else. Needs libsonde.
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

/* Set struct_size to sizeof(sonde_picture_options); everything else may stay 0. Strings are borrowed for the call. */
typedef struct sonde_picture_options {
	size_t struct_size;
	const char *name; /* of the trace, as a title; NULL: none */
	const char *by;	  /* of flame graphs: "time" (NULL), "self", "device" or "memory" */
	int64_t min_ns;	  /* what is shorter is left out; bytes of a flame graph by memory */
	int64_t small_ns; /* what is shorter is shown as one with its neighbours; 0: as much as max_bytes needs */
	uint32_t max_depth;
	bool no_python; /* without Python's functions */
	bool use_steps; /* only what lies in steps first_step..last_step */
	int64_t first_step;
	int64_t last_step;
	uint64_t max_bytes; /* of data in a page; 0: 4 MiB */
	/* Of flame graphs: */
	const char *ranks; /* a list such as "0,2-4"; NULL: all */
	bool use_time;	   /* only what lies in [from_ns, to_ns) since the start of the trace */
	int64_t from_ns;
	int64_t to_ns;
	uint64_t n_warmup; /* so many steps at the start of each rank are left out */
} sonde_picture_options;

/* format: "html", "svg", "json" or "folded" (one line a stack). The trace needs its index: sonde_trace_prepare().
   options may be NULL. What a budget leaves out is counted, and the picture says so. */
SONDE_API sonde_status sonde_flame_write(const sonde_trace *trace, const char *format,
					 const sonde_picture_options *options, FILE *out, sonde_error *err);

/* Puts a flame graph of the trace into the page that sonde_result_print() makes of the result as SONDE_HTML. A trace
   without slices has none. */
SONDE_API sonde_status sonde_flame_add(sonde_result *result, const sonde_trace *trace,
				       const sonde_picture_options *options, sonde_error *err);

/* The same for a timeline: a page. */
SONDE_API sonde_status sonde_timeline_write(const sonde_trace *trace, const sonde_picture_options *options, FILE *out,
					    sonde_error *err);

#ifdef __cplusplus
}
#endif
#endif
