/*
 * Memory for what is large and filled at once: in huge pages where the kernel has them, which takes a 512th of the page
 * faults.
 */
#ifndef SONDE_BASE_BIG_H
#define SONDE_BASE_BIG_H

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

/* n * size bytes; free() releases them. NULL when there is no memory, or the product is too large. */
static inline void *big_alloc(size_t n, size_t size)
{
	enum { HUGE_PAGE = 2 << 20 };
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || __builtin_add_overflow(bytes, HUGE_PAGE, &bytes))
		return NULL;
	bytes -= HUGE_PAGE;
	if (bytes < HUGE_PAGE / 2)
		return malloc(bytes ? bytes : 1);
	bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *made = aligned_alloc(HUGE_PAGE, bytes);
	if (made)
		madvise(made, bytes, MADV_HUGEPAGE); /* a kernel without them refuses: no harm */
	return made;
}

#endif
