/* Puts the index behind a finished recording: sonde_recorder_add_index of <sonde/recorder.h>. */
#include "base/error.h"
#include "import/recording/trace.h"
#include <sonde/recorder.h>

sonde_status sonde_recorder_add_index(const char *path, bool (*progress)(void *context, uint64_t done, uint64_t total),
				      void *context, sonde_error *err)
{
	recording *r = NULL;
	sonde_status status = recording_open_path(path, &r, err);
	sonde_index *index = status ? NULL : recording_find_index(r);

	if (!status && !index)
		status = recording_append_index(r, progress, context, err);
	index_free(index);
	recording_free(r);
	return status;
}
