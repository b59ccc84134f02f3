/*
 * Makes the checksums of an index image right after something in it was changed, so that what is behind them is tested:
 * a stranger's file may have right checksums and wrong content. Bears any bytes.
 */
#ifndef TESTS_UNIT_STORE_SEAL_INDEX_H
#define TESTS_UNIT_STORE_SEAL_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include "format/recording/file.h"
#include "format/index/sections.h"

static inline bool seal_is_within(const index_section *s, size_t size)
{
	return s->offset <= size && s->length <= size - s->offset;
}

/* Entries of PAGE_CRCS, which has room for n_crcs. */
static inline void seal_pages(uint8_t *image, size_t size, index_section *sections, uint32_t n, uint32_t *crcs,
			      uint64_t n_crcs)
{
	uint64_t page = 0;

	for (uint32_t i = 0; i < n; i++) {
		index_section *s = &sections[i];
		uint64_t first = page;
		if (s->kind == SECTION_PAGE_CRCS || !seal_is_within(s, size))
			continue;
		for (uint64_t at = 0; at < s->length && page < n_crcs; at += INDEX_PAGE, page++) {
			uint64_t left = s->length - at;
			crcs[page] = crc32c(0, image + s->offset + at, left < INDEX_PAGE ? left : INDEX_PAGE);
		}
		s->crc = crc32c(0, crcs + first, (page - first) * sizeof *crcs);
	}
}

static inline void seal_index(uint8_t *image, size_t size)
{
	index_header *h = (index_header *)image;
	index_section *sections = (index_section *)(h + 1);

	if (size < sizeof *h)
		return;
	if (h->n_sections <= (size - sizeof *h) / sizeof *sections) {
		for (uint32_t i = 0; i < h->n_sections; i++)
			if (sections[i].kind == SECTION_PAGE_CRCS && seal_is_within(&sections[i], size) &&
			    sections[i].offset % 8 == 0)
				seal_pages(image, size, sections, h->n_sections,
					   (uint32_t *)(void *)(image + sections[i].offset),
					   sections[i].length / sizeof(uint32_t));
		h->directory_crc = crc32c(0, sections, h->n_sections * sizeof *sections);
	}
	h->header_crc = crc32c(0, h, offsetof(index_header, header_crc));
}

#endif
