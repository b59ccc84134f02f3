/*
 * Opens recordings and Chrome traces for reading. Needs libsonde.
 *
 * A trace is read-only once open and may be used from several threads at once; each must have finished before
 * sonde_trace_free.
 */
#ifndef SONDE_TRACE_H
#define SONDE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sonde/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sonde_trace sonde_trace;

/*
 * Opens a trace; its content decides the format: a recording, an indexed trace, or Chrome trace JSON, such as
 * torch.profiler writes. Chrome traces may be compressed with gzip or zstd. "-" is standard input. A directory stands
 * for its .json, .json.gz and .json.zst files or, if it has none, its .sonde files.
 *
 * A trace always has an index. A recording that has none yet gets it at the end of its file when it is finished and
 * belongs to the user; otherwise the index is kept in memory.
 *
 * A recording whose program was killed is joined with what its ring still holds; when that program is certainly gone
 * and the file is writable, the joined events are also appended to the file and the ring is removed. Damage is not an
 * error: whatever is whole is read and the rest is counted. The caller frees *ret_trace.
 */
SONDE_API sonde_status sonde_trace_open(const char *path, sonde_trace **ret_trace, sonde_error *err);

/* Opens several files as one trace on one clock: recordings of the processes of one run, or traces of its ranks. The
   rank of a trace comes from its content, else from its file name, else from its place among the files. Recordings are
   ranks if each has a different rank, or if they come from different machines. */
SONDE_API sonde_status sonde_trace_open_files(const char *const *paths, size_t n_paths, sonde_trace **ret_trace,
					      sonde_error *err);

/* Set struct_size to sizeof(sonde_open_options); all other fields may be 0. */
typedef struct sonde_open_options {
	size_t struct_size;
	unsigned n_threads; /* 0: one per processor */
	bool scalar;	    /* without vector instructions, for comparison */
	/* Called repeatedly during an import, by the opening thread: bytes read so far and in total (0: unknown). Both
	   are equal while the index is built. Return false to stop the import: SONDE_E_STATE. */
	bool (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
	void *context;
	bool ranks; /* number recordings by order if neither their content nor their names give a rank */
} sonde_open_options;

/* options may be NULL. */
SONDE_API sonde_status sonde_trace_open_with(const char *const *paths, size_t n_paths,
					     const sonde_open_options *options, sonde_trace **ret_trace,
					     sonde_error *err);

/* Writes the trace in its indexed form, which opens at once, to a file of mode 0600. The file appears when it is
   complete, in place of one that is there; after a failure nothing is left. */
SONDE_API sonde_status sonde_trace_save(const sonde_trace *trace, const char *path, sonde_error *err);

/* Returns SONDE_OK if all parts of the index read so far are intact. Otherwise returns SONDE_E_FORMAT, and *err names
   the damaged part: results so far lack its contents. Pages of the index are verified at first use, so call this after
   the last result. The index of a recording is rebuilt from the recorded events. */
SONDE_API sonde_status sonde_trace_damage(const sonde_trace *trace, sonde_error *err);

/* Set struct_size to sizeof(sonde_trace_facts). */
typedef struct sonde_trace_facts {
	size_t struct_size;
	uint64_t n_events;   /* events in the imported files, valid or not; kept events of a recording */
	uint64_t n_repaired; /* repaired events and other repaired items */
	uint64_t n_lost;     /* lost events */
	uint64_t n_bytes;    /* uncompressed size of the imported files; 0: unknown */
} sonde_trace_facts;
SONDE_API void sonde_trace_get_facts(const sonde_trace *trace, sonde_trace_facts *ret_facts);

/* Lists the ranks of an imported trace and their files. Returns false if index is past the last. The name lives as long
   as the trace. */
SONDE_API bool sonde_trace_rank(const sonde_trace *trace, size_t index, int32_t *ret_rank, const char **ret_file);

/* Returns a warning from opening the trace: events of a killed program that do not fit on the disk and are read from
   its ring, or skipped recordings of a directory with Chrome traces. "" if there is none. Lives as long as the trace.
 */
SONDE_API const char *sonde_trace_warning(const sonde_trace *trace);

/* Accepts NULL. */
SONDE_API void sonde_trace_free(sonde_trace *trace);

/* Writes the trace to out in another tool's format: "chrome". Memory use does not grow with the trace. */
SONDE_API sonde_status sonde_export(const sonde_trace *trace, const char *format, FILE *out, sonde_error *err);

/* Lists the formats of sonde_export: name and one sentence each. Returns false if index is past the last. */
SONDE_API bool sonde_export_format(size_t index, const char **ret_name, const char **ret_summary);

#ifdef __cplusplus
}
#endif
#endif
