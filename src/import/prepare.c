/* A recording gets its index: sonde_trace_prepare of <sonde/trace.h>. */
#include <string.h>
#include "import/recording/recording.h"
#include "store/trace.h"

sonde_status sonde_trace_prepare(sonde_trace *trace, const sonde_open_options *options, sonde_error *err)
{
	sonde_open_options given = { .struct_size = sizeof given };

	if (trace->index)
		return SONDE_OK;
	if (options && options->struct_size)
		memcpy(&given, options, options->struct_size < sizeof given ? options->struct_size : sizeof given);
	return trace_build_index_with(trace, given.n_threads, given.progress, given.context, &trace->index, err);
}
