/*
 * See bulk.h. Up to BULK_MAPPED bytes come from malloc; what is larger is mapped, in huge pages where the system has
 * them: a 512th of the page faults. A mapping doubles: pages that nobody touches take no memory.
 */
#define _GNU_SOURCE /* mremap */
#include "base/bulk.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	BULK_MAPPED = 1 << 20,
	HUGE_PAGE = 2 << 20,
};

static size_t round_up(size_t bytes, size_t to)
{
	return (bytes + to - 1) & ~(to - 1);
}

static bool is_mapped(const bulk *b)
{
	return b->capacity > BULK_MAPPED;
}

/* A mapping that begins where a huge page may. */
static void *map_aligned(size_t bytes)
{
	uint8_t *at = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			   -1, 0);

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

/* A mapping of so many bytes, with what was there before. */
static bool map(bulk *b, size_t bytes)
{
	void *at = map_aligned(bytes);

	if (at != MAP_FAILED && is_mapped(b))
		at = mremap(b->bytes, b->capacity, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at);
	if (at == MAP_FAILED)
		return false;
	madvise(at, bytes, MADV_HUGEPAGE); /* refused: no harm */
	if (!is_mapped(b)) {
		if (b->n)
			memcpy(at, b->bytes, b->n);
		free(b->bytes);
	}
	b->bytes = at;
	b->capacity = bytes;
	return true;
}

bool bulk_reserve(bulk *b, size_t bytes)
{
	size_t needed = b->n + bytes, capacity = 2 * b->capacity > needed ? 2 * b->capacity : needed;

	if (bytes > SIZE_MAX / 4 || b->n > SIZE_MAX / 4)
		return false;
	if (b->capacity >= needed)
		return true;
	if (capacity > BULK_MAPPED)
		return map(b, round_up(capacity, HUGE_PAGE));
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

	if (!is_mapped(b) || end <= *released)
		return;
	madvise(b->bytes + *released, end - *released, MADV_DONTNEED);
	*released = end;
}

void bulk_done(bulk *b)
{
	if (is_mapped(b))
		munmap(b->bytes, b->capacity);
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
