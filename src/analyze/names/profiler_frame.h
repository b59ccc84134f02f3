/* The row that torch.profiler puts around all of its profile: no time of the program. */
#ifndef SONDE_ANALYZE_NAMES_PROFILER_FRAME_H
#define SONDE_ANALYZE_NAMES_PROFILER_FRAME_H

#include <stdbool.h>
#include <string.h>

static inline bool is_profiler_frame(const char *category)
{
	return strcmp(category, "Trace") == 0;
}

#endif
