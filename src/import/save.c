/* Writing a trace in its indexed form: sonde_trace_save of <sonde/trace.h>. */
#include <errno.h>
#include <string.h>
#include "base/error.h"
#include "base/new_file.h"
#include "store/trace.h"

static sonde_status write_index(const sonde_index *index, const char *path, sonde_error *err)
{
	new_file f;

	if (!new_file_open(&f, path))
		return error_set(err, SONDE_E_IO, -1, "cannot write: %s", strerror(errno));
	sonde_status status = index_write(index, f.fd, err);
	if (status)
		new_file_abandon(&f);
	else if (!new_file_commit(&f))
		status = error_set(err, SONDE_E_IO, -1, "cannot write: %s", strerror(errno));
	return status;
}

sonde_status sonde_trace_save(const sonde_trace *trace, const char *path, sonde_error *err)
{
	const char *from = trace->files.n ? trace->files.items[0].path : NULL;
	sonde_status status = write_index(trace->index, path, err);

	if (!status)
		return SONDE_OK;
	/* The trace itself is damaged, or the new file cannot be written. */
	return error_prefix(err, status, status == SONDE_E_FORMAT && from ? from : path);
}
