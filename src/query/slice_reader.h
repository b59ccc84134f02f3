/*
 * Slices by their numbers, which are asked for in any order but often near each other: parents, calls that launched
 * kernels, ends of flows. A block that is asked for twice is unpacked whole and kept.
 */
#ifndef SONDE_QUERY_SLICE_READER_H
#define SONDE_QUERY_SLICE_READER_H

#include "store/index/index.h"

typedef struct slice_reader slice_reader;

slice_reader *slice_reader_new(const sonde_index *ix); /* NULL when out of memory */
void slice_reader_free(slice_reader *r);	       /* accepts NULL */
/* False: no such slice, or it cannot be read. */
bool slice_reader_get(slice_reader *r, uint64_t id, index_slice *ret_slice);

#endif
