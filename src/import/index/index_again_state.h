/* What index_again.c and index_again_tables.c share. */
#ifndef SONDE_IMPORT_INDEX_INDEX_AGAIN_STATE_H
#define SONDE_IMPORT_INDEX_INDEX_AGAIN_STATE_H

#include "import/index/index_again.h"

/* A slice of a launch: a call or what it launched. */
typedef struct correlated {
	uint64_t slice, correlation;
} correlated;

struct index_again {
	sonde_index *ix;
	const char *path;
	int32_t *ranks; /* of the processes, sorted, each once */
	size_t n_ranks;

	/* while it is fed */
	builder *builder;
	uint32_t *strings; /* number + 1 in the builder; 0: not asked for yet */
	uint32_t *sites, *tracks, *records, *templates, *texts;
	correlated *correlated; /* slices of launches, by number */
	size_t n_correlated;
	int64_t last_fact[FACT_KINDS]; /* record + 1 in the builder of the last row of each */
	uint64_t n_damaged;
	bool (*progress)(void *context, uint64_t done, uint64_t total);
	void *context;
	uint64_t done, total; /* rows */
	bool stopped;
};

/* Numbers in the builder; INDEX_NONE: there is none. */
uint32_t again_string(index_again *a, uint32_t string);
uint32_t again_site(const index_again *a, int64_t site);
uint32_t again_track(const index_again *a, int64_t track);
/* record + 1, 0: none; as slices and rows have it. */
uint32_t again_record(const index_again *a, int64_t args);

/* So many more rows are done. False: stop. */
bool again_tell(index_again *a, uint64_t rows);

/* Instants, flows, allocations, samples, counters. False: stopped, or out of memory. */
bool again_feed_tables(index_again *a);

#endif
