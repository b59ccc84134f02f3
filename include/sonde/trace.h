/*
 * A recording, opened for reading. Needs libsonde.
 *
 * A trace is read-only once open and may be used from several threads at once; each must have finished before
 * sonde_trace_free.
 */
#ifndef SONDE_TRACE_H
#define SONDE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sonde/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sonde_trace sonde_trace;

/*
 * Opens a recording. A file whose program was killed is joined with what its ring still holds; when that program is
 * certainly gone and the file is writable, the joined events are also appended to the file and the ring is removed.
 * Damage is not an error: whatever is whole is read and the rest is counted. The caller frees *ret_trace.
 */
SONDE_API sonde_status sonde_trace_open(const char *path, sonde_trace **ret_trace, sonde_error *err);

/* The same for several files that belong together, on one clock: the processes of one run. */
SONDE_API sonde_status sonde_trace_open_files(const char *const *paths, size_t n_paths, sonde_trace **ret_trace,
					      sonde_error *err);

/* Accepts NULL. */
SONDE_API void sonde_trace_free(sonde_trace *trace);

/* Writes the trace to out in another tool's format: "chrome". Streams; memory does not grow with the trace. */
SONDE_API sonde_status sonde_export(const sonde_trace *trace, const char *format, FILE *out, sonde_error *err);

/* The formats sonde_export knows: name and one sentence each. Returns false when index is past the last. */
SONDE_API bool sonde_export_format(size_t index, const char **ret_name, const char **ret_summary);

#ifdef __cplusplus
}
#endif
#endif
