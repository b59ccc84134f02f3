/* Which ranks several recordings are, if any. */
#ifndef SONDE_IMPORT_RECORDING_RANKS_H
#define SONDE_IMPORT_RECORDING_RANKS_H

#include "import/open.h"

/* Reads what the recordings among the parts say at their beginning into their `head`. */
void recordings_look(opening *o);

/* True when the parts, all of them recordings, are ranks: each says another one, in its content or its name; or they
   come from different machines; or the caller says so. Otherwise they are processes of one run. After
   recordings_look(). */
bool recordings_are_ranks(const opening *o);

/* By content or name; -1: neither says. */
int32_t recording_rank(const trace_part *p, bool is_one);

/* What makes its times nanoseconds since 1970; the same for all recordings of one machine. 0: unknown. */
int64_t recording_shift_ns(const opening *o, const trace_part *p);

#endif
