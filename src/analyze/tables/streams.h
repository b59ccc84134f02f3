/* The items of a rank, stream by stream. */
#ifndef SONDE_ANALYZE_TABLES_STREAMS_H
#define SONDE_ANALYZE_TABLES_STREAMS_H

#include "analyze/tables/work.h"

typedef struct stream_items {
	int64_t stream;
	size_t first, n; /* of streams.order */
} stream_items;

typedef struct streams {
	stream_items *items; /* by number of the stream */
	size_t n;
	uint32_t *order; /* items of the rank: those of a stream by start, then in the order of the file */
	uint32_t *found; /* by the low bits of a stream: where it was last found */
} streams;

/* streams_done() afterwards, also when it says false: out of memory. */
bool streams_find(const work *w, const work_rank *rank, streams *ret);
void streams_done(streams *s);
/* Where the stream of an item is in s->items. */
size_t streams_at(const streams *s, int64_t stream);

#endif
