/*
 * The pages of an index's sections (format/index/sections.h), each verified when it is first used.
 *
 *   pages_open()        verifies the checksums themselves; the pages are unknown until they are used
 *   pages_verify()      the slow half of image_use() in index/image.h
 *   index_set_maker()   the owner can make the image anew: a damaged page is replaced by the same page of that
 *
 * A page that stays damaged is counted, and index_damage() says so. Any number of threads may use pages at once.
 */
#ifndef SONDE_STORE_INDEX_PAGES_H
#define SONDE_STORE_INDEX_PAGES_H

#include <pthread.h>
#include <stdatomic.h>
#include "store/index/index.h"

typedef enum page_state { PAGE_UNKNOWN, PAGE_SOUND, PAGE_DAMAGED } page_state;

typedef struct index_pages {
	const uint32_t *crcs;
	_Atomic uint8_t *states; /* page_state, by page */
	uint64_t n;
	uint64_t first[SECTION_KINDS]; /* page of each section */
	atomic_bool is_damaged;
	pthread_mutex_t lock; /* of all below */
	uint64_t n_damaged, n_mended;
	index_kind damaged_kind; /* where the first damaged page is */
	uint64_t damaged_at;	 /* its offset in the image */
	index_maker *make;
	void *maker_context;
	const char *path; /* where mended pages are written back, or NULL */
	sonde_index *made;
	bool has_tried;
} index_pages;

static inline uint64_t pages_in(uint64_t bytes)
{
	return bytes / INDEX_PAGE + (bytes % INDEX_PAGE != 0);
}

/* The sections of the directory are in ix already. */
sonde_status pages_open(sonde_index *ix, const index_section *directory, uint32_t n_sections, sonde_error *err);
void pages_free(index_pages *p); /* accepts NULL */

/* Pages [first, last] of a section. False when one is damaged. */
bool pages_verify(const sonde_index *ix, index_kind kind, uint64_t first, uint64_t last);

#endif
