/* Several files as one trace: which rank each is, and one clock for all. */
#ifndef SONDE_IMPORT_RANKS_H
#define SONDE_IMPORT_RANKS_H

#include "store/build/builder.h"

typedef struct ranked_file {
	const char *path;
	uint32_t number;    /* of the builder */
	uint32_t part;	    /* of the trace, on one clock: an index that holds several ranks is one part */
	int32_t rank;	    /* -1: neither its content nor its name says */
	bool stays_without; /* it needs no rank: others of its part have one */
	uint64_t n_events, n_bytes;
} ranked_file;

/* Gives every file its rank: its own or, where that is unknown, the first free one in the order of the files. When two
   have the same, all are numbered in their order, and a diagnostic says so. A file alone may stay without. */
void ranks_settle(builder *b, ranked_file *files, size_t n);

/* When the times of the parts lie apart by more than CLOCKS_APART_NS, their clocks have nothing to do with each other:
   all are made to start together, and a diagnostic says so. After ranks_settle. */
#define CLOCKS_APART_NS INT64_C(3600000000000)
void clocks_settle(builder *b, const ranked_file *files, size_t n);

#endif
