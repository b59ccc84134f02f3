/*
 * What the files behind index/sections.h share: the opened image, its blocks, its summaries. Everything that a file
 * says is checked either in index/sections.c when it is opened (sections, lanes, tracks, processes, steps, counters) or
 * here, block by block.
 */
#ifndef SONDE_STORE_INDEX_IMAGE_H
#define SONDE_STORE_INDEX_IMAGE_H

#include <sys/types.h>
#include "format/index/columns.h"
#include "format/index/sections.h"
#include "store/index/index.h"
#include "store/index/pages.h"
#include "store/index/shared_blocks.h"

typedef enum image_owner { IMAGE_BORROWED, IMAGE_ALLOCATED, IMAGE_MAPPED } image_owner;

struct sonde_index {
	const uint8_t *bytes; /* of the image */
	size_t len;
	void *owned; /* what to free or unmap */
	size_t owned_len;
	image_owner owner;
	dev_t device; /* of the mapped file */
	ino_t inode;
	index_pages *pages; /* NULL: it was made in this process and needs no check */
	int64_t start_ns, span_ns;
	index_clock clock;
	index_section sections[SECTION_KINDS]; /* zero for those that are not there */
	const void *data[SECTION_KINDS];
	block_place *places;   /* of the blocks of slices; NULL: they are in the section */
	shared_blocks *shared; /* some of them are these */
	void *kept;	       /* copies of what is checked when it is opened: a file may be overwritten afterwards */
	const index_lane *lanes;
	uint64_t n_lanes, n_sites, n_tracks;
};

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static inline uint64_t divided_up(uint64_t n, uint64_t by)
{
	return n / by + (n % by != 0);
}

/* All values of the column are in [0, limit]: told by base and width alone, so false may mean that it must be looked
   at row by row. */
static inline bool column_within(const columns *c, size_t column, uint64_t limit)
{
	unsigned width = c->widths[column];
	int64_t base = columns_base(c, column);

	return base >= 0 && width < 63 && (uint64_t)base + (((uint64_t)1 << width) - 1) <= limit;
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

/* To be called before the bytes [from, from + len) of a section are used, which must lie in it. False when they are
   damaged: their content is arbitrary then, but still within bounds to read. */
static inline bool image_use(const sonde_index *ix, index_kind kind, uint64_t from, uint64_t len)
{
	if (!ix->pages || !len)
		return true;
	uint64_t first = from / INDEX_PAGE, last = (from + len - 1) / INDEX_PAGE;
	const _Atomic uint8_t *states = ix->pages->states + ix->pages->first[kind];
	for (uint64_t i = first; i <= last; i++)
		if (__builtin_expect(atomic_load_explicit(&states[i], memory_order_acquire) != PAGE_SOUND, 0))
			return pages_verify(ix, kind, i, last);
	return true;
}

/* Number i and the one behind it of a section of offsets: where thing i begins and ends. False when they are damaged or
   not within the section of the things. */
static inline bool image_offsets(const sonde_index *ix, index_kind offsets, index_kind things, uint64_t i,
				 uint64_t *ret_from, uint64_t *ret_to)
{
	const uint64_t *at = (const uint64_t *)ix->data[offsets] + i;

	if (i >= ix->sections[offsets].n_rows || !image_use(ix, offsets, i * sizeof *at, 2 * sizeof *at))
		return false;
	*ret_from = at[0];
	*ret_to = at[1];
	return at[0] <= at[1] && at[1] <= ix->sections[things].length;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* Block of a section of blocks; the offsets are in the section before. */
static inline bool image_block(const sonde_index *ix, index_kind kind, uint64_t block, size_t n_columns, columns *ret)
{
	uint64_t from, to;

	if (__builtin_expect(kind == SECTION_SLICES && ix->places, 0))
		return block < ix->sections[kind - 1].n_rows &&
		       columns_open(ret, ix->places[block].bytes, ix->places[block].len, n_columns);
	return image_offsets(ix, kind - 1, kind, block, &from, &to) && from % 8 == 0 &&
	       image_use(ix, kind, from, to - from) &&
	       columns_open(ret, (const uint8_t *)ix->data[kind] + from, to - from, n_columns);
}

/* Block of the lane that holds the row. */
static inline bool lane_block(const sonde_index *ix, const index_lane *lane, uint64_t row, columns *ret)
{
	uint64_t block = row / COLUMNS_ROWS, left = lane->n_slices - block * COLUMNS_ROWS;

	return image_block(ix, SECTION_SLICES, lane->first_block + block, SLICE_COLUMNS, ret) &&
	       ret->n_rows == (left < COLUMNS_ROWS ? left : COLUMNS_ROWS);
}

/* The start of the first row of a block of slices. */
static inline uint64_t block_start(const columns *c)
{
	return (uint64_t)columns_get(c, SLICE_BEFORE_TIME, 0) + (uint64_t)columns_get(c, SLICE_GAP, 0);
}

/* False when one is no site. */
bool block_sites(const sonde_index *ix, const columns *c, size_t first, size_t n, int64_t *ret_sites);

/* ---- Summaries --------------------------------------------------------------------------------------------------- */

/* Levels of a lane, finest first. */
typedef struct lane_levels {
	unsigned n;
	const index_summary *summaries[INDEX_LEVELS + 1];
	uint64_t count[INDEX_LEVELS + 1];
} lane_levels;

void lane_levels_of(const sonde_index *ix, const index_lane *lane, lane_levels *ret);
/* Before summaries [first, behind) of a level are used. */
void lane_levels_use(const sonde_index *ix, const lane_levels *levels, unsigned level, uint64_t first, uint64_t behind);

/* Starts and durations of group `group`, which has the summary; returns how many, 0 when it is damaged. The arrays have
   room for INDEX_GROUP. */
size_t group_times(const sonde_index *ix, const index_lane *lane, uint64_t group, const index_summary *summary,
		   columns *ret_block, int64_t *ret_starts, int64_t *ret_durs);

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* From absolute to the row's: before the trace 0, behind it span + 1. */
static inline uint64_t row_time(const sonde_index *ix, int64_t ns)
{
	if (ns <= ix->start_ns)
		return 0;
	uint64_t t = (uint64_t)ns - (uint64_t)ix->start_ns;
	return t <= (uint64_t)ix->span_ns ? t : (uint64_t)ix->span_ns + 1;
}

/* The lane above, where depth is not 0. */
static inline const index_lane *lane_above(const index_lane *lane)
{
	return lane->depth ? lane - 1 : NULL;
}

#endif
