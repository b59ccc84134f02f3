/*
 * A recording as a trace: its index, and what its file says about itself.
 *
 *   recording_find_index()    maps the index behind the blocks; NULL if there is none or it cannot be opened
 *   recording_append_index()  makes it and puts it there
 *   recording_trace()         the trace
 */
#ifndef SONDE_IMPORT_RECORDING_TRACE_H
#define SONDE_IMPORT_RECORDING_TRACE_H

#include "import/recording/build.h"
#include "store/trace.h"

sonde_index *recording_find_index(recording *r);

/* Only for a recording of one file that is finished and belongs to the user. Otherwise, and after a failure, the file
   is as it was. */
sonde_status recording_append_index(recording *r, recording_progress *progress, void *context, sonde_error *err);

/* Takes the recording and the index, also on failure. */
sonde_status recording_trace(recording *r, sonde_index *index, sonde_trace **ret_trace, sonde_error *err);

/* The recording that a trace was made of; NULL: none. */
recording *trace_recording(const sonde_trace *t);

#endif
