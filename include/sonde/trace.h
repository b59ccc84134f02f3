/*
 * A recording or another tool's trace, opened for reading. Needs libsonde.
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
 * Opens a trace, told by its content: a recording, a trace in its indexed form, or another tool's: Chrome trace JSON,
 * such as torch.profiler writes. Other tools' files may be compressed with gzip or zstd. "-" is standard input. A
 * directory stands for the .json, .json.gz and .json.zst files in it or, when it has none, its .sonde files.
 *
 * A trace always has an index. A recording that has none yet gets it at the end of its file when it is finished and
 * belongs to the user; otherwise the index is kept in memory.
 *
 * A recording whose program was killed is joined with what its ring still holds; when that program is certainly gone
 * and the file is writable, the joined events are also appended to the file and the ring is removed. Damage is not an
 * error: whatever is whole is read and the rest is counted. The caller frees *ret_trace.
 */
SONDE_API sonde_status sonde_trace_open(const char *path, sonde_trace **ret_trace, sonde_error *err);

/* The same for several files that belong together, on one clock: recordings of the processes of one run, or traces of
   its ranks. A trace's rank is what its content says, else its file's name, else its place among the files. Recordings
   are ranks when each says another one, or when they come from different machines. */
SONDE_API sonde_status sonde_trace_open_files(const char *const *paths, size_t n_paths, sonde_trace **ret_trace,
					      sonde_error *err);

/* Set struct_size to sizeof(sonde_open_options); everything else may stay 0. */
typedef struct sonde_open_options {
	size_t struct_size;
	unsigned n_threads; /* 0: as many as the machine has */
	bool scalar;	    /* without vector instructions, as on an old machine: to compare */
	/* Called now and then while files are imported, by the thread that opens: bytes of the files read, and of all,
	   0 when nobody knows. Both are the same while the index is made. False stops the import: SONDE_E_STATE. */
	bool (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
	void *context;
	bool ranks; /* several recordings are ranks even where neither their content nor their names say so: by order */
} sonde_open_options;

/* options may be NULL. */
SONDE_API sonde_status sonde_trace_open_with(const char *const *paths, size_t n_paths,
					     const sonde_open_options *options, sonde_trace **ret_trace,
					     sonde_error *err);

/* Writes the trace in its indexed form, which opens at once, to a file of mode 0600. The file appears when it is
   complete, in place of one that is there; after a failure nothing is left. */
SONDE_API sonde_status sonde_trace_save(const sonde_trace *trace, const char *path, sonde_error *err);

/* SONDE_OK while everything that was read of the trace's index is as it was written. Otherwise SONDE_E_FORMAT, and *err
   says which part is damaged: answers given so far lack what it held. Pages of the index are verified when they are
   first used, so ask after the last answer. The index of a recording mends itself from the recorded events. */
SONDE_API sonde_status sonde_trace_damage(const sonde_trace *trace, sonde_error *err);

/* Set struct_size to sizeof(sonde_trace_facts). */
typedef struct sonde_trace_facts {
	size_t struct_size;
	uint64_t n_events;   /* in the files it was imported from, sound or not; kept ones of a recording */
	uint64_t n_repaired; /* events and other things that were not as they should be, and are there */
	uint64_t n_lost;     /* events that are not */
	uint64_t n_bytes;    /* of the files it was imported from, unpacked; 0: unknown */
} sonde_trace_facts;
SONDE_API void sonde_trace_get_facts(const sonde_trace *trace, sonde_trace_facts *ret_facts);

/* The ranks of an imported trace and the files they came from. Returns false when index is past the last. The name
   lives as long as the trace. */
SONDE_API bool sonde_trace_rank(const sonde_trace *trace, size_t index, int32_t *ret_rank, const char **ret_file);

/* What opening the trace could not do, as a sentence: events of a killed program that are read from its ring and do not
   fit on the disk, or the recordings of a directory that has other tools' traces. "" when there is nothing. Lives as
   long as the trace. */
SONDE_API const char *sonde_trace_warning(const sonde_trace *trace);

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
