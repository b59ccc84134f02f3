/*
 * From a trace to another tool's format. Needs libsonde.
 *
 *   sonde_export_options options = { .struct_size = sizeof options, .target = "run.json.gz" };
 *   sonde_export_to(trace, &options, &err);
 *
 * All functions are safe on different traces from different threads.
 */
#ifndef SONDE_EXPORT_H
#define SONDE_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sonde/error.h>
#include <sonde/setting.h>
#include <sonde/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where an export can go. */
typedef enum sonde_target {
	SONDE_TARGET_FILE = 1, /* or standard output */
	SONDE_TARGET_DIRECTORY = 2,
	SONDE_TARGET_URL = 4,
} sonde_target;

/* Set struct_size to sizeof(sonde_export_options); everything else may stay 0. Strings are borrowed for the call. */
typedef struct sonde_export_options {
	size_t struct_size;
	const char *format; /* NULL: by the end of the target's name, else "chrome" */
	/* A file: its path, which is compressed if it ends in .gz or .zst. NULL or "-": standard output. A directory:
	   the path of one that is there, or any that ends in '/'. A URL: http://HOST[:PORT]/PATH or https://. */
	const char *target;
	FILE *out; /* instead of the file `target`, which still says whether to compress; NULL: none */
	const sonde_setting *settings;
	size_t n_settings;
} sonde_export_options;

/* Writes the trace. Streams; memory does not grow with the trace. A file appears when it is complete, in place of one
   that is there; after a failure nothing is left. */
SONDE_API sonde_status sonde_export_to(const sonde_trace *trace, const sonde_export_options *options, sonde_error *err);

/* Checks the options as sonde_export_to() would, without a trace: SONDE_OK, or what is wrong with them. Stores the kind
   of the target, a sonde_target, and the name of the format; either place may be NULL. */
SONDE_API sonde_status sonde_export_check(const sonde_export_options *options, sonde_target *ret_target,
					  const char **ret_format, sonde_error *err);

/* Set struct_size to sizeof(sonde_export_about). */
typedef struct sonde_export_about {
	size_t struct_size;
	const char *name;
	const char *summary; /* one sentence */
	const char *ends;    /* of the names of its files, separated by commas: "json" */
	unsigned targets;    /* sonde_target bits */
} sonde_export_about;

/* Describes a format. Returns false when index is past the last. */
SONDE_API bool sonde_export_describe(size_t index, sonde_export_about *ret_about);

/* The settings of a format: key, default and one sentence each. Returns false when index is past the last. */
SONDE_API bool sonde_export_setting(const char *format, size_t index, sonde_setting *ret_default,
				    const char **ret_summary);

#ifdef __cplusplus
}
#endif
#endif
