/*
 * A recording in its indexed form.
 *
 *   recording_feed()      everything a recording holds, into a builder that may hold other files too
 *   recording_build_index()   the same into an index of its own
 *
 * Scopes keep the nesting that was recorded. Operations lie among them as long as they nest; those that do not, and
 * those that were timed elsewhere, have an asynchronous track beside their thread. What ran on a stream of a device has
 * a track of its own below a process that stands for the device. Launches are slices without duration.
 */
#ifndef SONDE_IMPORT_RECORDING_BUILD_H
#define SONDE_IMPORT_RECORDING_BUILD_H

#include "store/build/builder.h"
#include "import/recording/recording.h"

/* Told how far it is, 0 to `total`; false stops the work with SONDE_E_STATE. */
typedef bool recording_progress(void *context, uint64_t done, uint64_t total);

/* `file` numbers the recording among the files of the trace. progress may be NULL. */
sonde_status recording_feed(const recording *t, builder *b, uint32_t file, recording_progress *progress, void *context,
			    sonde_error *err);

/* n_threads 0: as many as the machine has. The caller frees *ret_index with index_free. What does not fit into
   BUILDER_SPILL_BYTES goes to temporary files, in the recording's directory if possible. A recording always gives the
   same image, byte for byte. */
sonde_status recording_build_index(const recording *t, unsigned n_threads, sonde_index **ret_index, sonde_error *err);
sonde_status recording_build_index_with(const recording *t, unsigned n_threads, recording_progress *progress,
					void *context, sonde_index **ret_index, sonde_error *err);
/* The same with more to say: where the image goes, and when to spill. */
sonde_status recording_build_index_as(const recording *t, const builder_options *options, sonde_index **ret_index,
				      sonde_error *err);

#endif
