/*
 * See bulk.h. Up to BULK_MAPPED bytes come from malloc; what is larger is mapped.
 *
 * A mapping doubles: pages that nobody touches take no memory. They are made up to BULK_AHEAD bytes at a time, which
 * takes less than a fault for each. From BULK_HUGE bytes on the system is asked for huge pages.
 */
#define _GNU_SOURCE /* mremap */
#include "store/bulk.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	BULK_MAPPED = 256 << 10,
	BULK_AHEAD = 256 << 10,
	BULK_HUGE = 4 << 20,
	PAGE = 4096,
	HUGE_PAGE = 2 << 20,
};

static size_t round_up(size_t bytes, size_t to)
{
	return (bytes + to - 1) & ~(to - 1);
}

static void *map_new(size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* A mapping that begins where a huge page may. */
static void *map_aligned(size_t bytes)
{
	uint8_t *at = map_new(bytes + HUGE_PAGE);

	if (at == MAP_FAILED)
		return at;
	uint8_t *from = (uint8_t *)round_up((uintptr_t)at, HUGE_PAGE);
	if (from > at)
		munmap(at, (size_t)(from - at));
	munmap(from + bytes, HUGE_PAGE - (size_t)(from - at));
	return from;
}

void *bulk_map(size_t bytes, bool huge)
{
	void *at = map_aligned(bytes);

	if (at != MAP_FAILED && huge)
		madvise(at, bytes, MADV_HUGEPAGE); /* refused: no harm */
	return at == MAP_FAILED ? NULL : at;
}

static void *map_huge(const bulk *b, size_t bytes)
{
	void *at = map_aligned(bytes);

	if (at != MAP_FAILED && b->n_mapped)
		at = mremap(b->bytes, b->n_mapped, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at);
	if (at != MAP_FAILED)
		madvise(at, bytes, MADV_HUGEPAGE); /* refused: no harm */
	return at;
}

/* A mapping of so many bytes, with what was there before. */
static bool map(bulk *b, size_t bytes)
{
	void *at = bytes >= BULK_HUGE ? map_huge(b, bytes)
		   : b->n_mapped      ? mremap(b->bytes, b->n_mapped, bytes, MREMAP_MAYMOVE)
				      : map_new(bytes);

	if (at == MAP_FAILED)
		return false;
	if (!b->n_mapped) {
		if (b->n)
			memcpy(at, b->bytes, b->n);
		free(b->bytes);
	}
	b->bytes = at;
	b->n_mapped = bytes;
	return true;
}

static bool grow_mapping(bulk *b, size_t needed)
{
	size_t ahead = b->n / 8 < BULK_AHEAD ? b->n / 8 : BULK_AHEAD, page = needed < BULK_HUGE ? PAGE : HUGE_PAGE;
	size_t twice = round_up(2 * b->n, page), capacity = round_up(needed + ahead, page);

	if (capacity > b->n_mapped && !map(b, capacity > twice ? capacity : twice))
		return false;
#ifdef MADV_POPULATE_WRITE
	size_t made = round_up(b->n, PAGE);
	if (capacity > made && capacity - made <= 2 * BULK_AHEAD)		/* more may take long to be filled */
		madvise(b->bytes + made, capacity - made, MADV_POPULATE_WRITE); /* an old kernel refuses: no harm */
#endif
	b->capacity = capacity;
	return true;
}

bool bulk_reserve(bulk *b, size_t bytes)
{
	size_t needed = b->n + bytes, capacity = 2 * b->capacity > needed ? 2 * b->capacity : needed;

	if (bytes > SIZE_MAX / 4 || b->n > SIZE_MAX / 4)
		return false;
	if (b->capacity >= needed)
		return true;
	if (b->n_mapped || capacity > BULK_MAPPED)
		return grow_mapping(b, needed);
	void *grown = realloc(b->bytes, capacity);
	if (!grown)
		return false;
	b->bytes = grown;
	b->capacity = capacity;
	return true;
}

void bulk_release(const bulk *b, size_t *released, size_t upto)
{
	size_t end = upto & ~(size_t)(HUGE_PAGE - 1);

	if (!b->n_mapped || end <= *released)
		return;
	madvise(b->bytes + *released, end - *released, MADV_DONTNEED);
	*released = end;
}

void bulk_done(bulk *b)
{
	if (b->n_mapped)
		munmap(b->bytes, b->n_mapped);
	else
		free(b->bytes);
	*b = (bulk){ 0 };
}

bool bulk_copy(bulk *to, const bulk *from)
{
	void *bytes = from->n ? bulk_add(to, from->n) : NULL;

	if (bytes)
		memcpy(bytes, from->bytes, from->n);
	return bytes || !from->n;
}
