/*
 * A trace that is indexed already, among the files of another one: everything in it goes into a builder again.
 *
 *   index_again_open()     which ranks it has
 *   index_again_feed()     processes, tracks, events, arguments
 *   index_again_meta()     meta entries, when the ranks are settled
 *   index_again_free()
 *
 * An index may hold several ranks, which use the same process ids: each is a file of its own to the builder.
 */
#ifndef SONDE_IMPORT_INDEX_INDEX_AGAIN_H
#define SONDE_IMPORT_INDEX_INDEX_AGAIN_H

#include "store/build/builder.h"

typedef struct index_again index_again;

/* Takes the index, also when it fails: NULL when out of memory. */
index_again *index_again_open(sonde_index *ix, const char *path);
void index_again_free(index_again *a); /* accepts NULL */

/* Its ranks, -1 for what has none, in growing order. */
const int32_t *index_again_ranks(const index_again *a, size_t *ret_n);

/* Rank number i of the list becomes file first_file + i. Damaged parts are left out and counted. */
sonde_status index_again_feed(index_again *a, builder *b, uint32_t first_file,
			      bool (*progress)(void *context, uint64_t done, uint64_t total), void *context,
			      sonde_error *err);

/* ranks: what each of the list became. */
void index_again_meta(const index_again *a, builder *b, const int32_t *ranks);

#endif
