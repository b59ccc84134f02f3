/*
 * An allocator that fails on demand, for a test program that includes this once; not with sanitizers, which have their
 * own.
 *
 *   fail_each_allocation("open", try_open, 1)   runs try_open again and again, each time with another allocation
 *                                               failing, from the first on; it must give SONDE_OK or SONDE_E_MEMORY and
 *                                               leave nothing behind
 *   count_allocations(try_open)                 how many there are
 */
#ifndef TESTS_UNIT_FAILING_MALLOC_H
#define TESTS_UNIT_FAILING_MALLOC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sonde/error.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static _Thread_local struct {
	bool armed;
	uint64_t n;	  /* allocations since it was armed */
	uint64_t fail_at; /* this one fails; 0: none */
	int64_t n_live;	  /* blocks made and not given back, while armed */
} allocator;

static bool fails(void)
{
	return allocator.armed && ++allocator.n == allocator.fail_at;
}

static void *made(void *memory)
{
	allocator.n_live += allocator.armed && memory;
	return memory;
}

/* Seen by libc too: strdup, glob and stdio allocate as well. */
#pragma GCC visibility push(default)

void *malloc(size_t size)
{
	return fails() ? NULL : made(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : made(__libc_calloc(n, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : made(__libc_memalign(alignment, size));
}

void *realloc(void *old, size_t size)
{
	if (fails())
		return NULL;
	return old ? __libc_realloc(old, size) : made(__libc_realloc(NULL, size));
}

void free(void *memory)
{
	allocator.n_live -= allocator.armed && memory;
	__libc_free(memory);
}

#pragma GCC visibility pop

static inline uint64_t count_allocations(sonde_status (*run)(sonde_error *err))
{
	sonde_error err = { .message = "" };

	assert_int_equal(run(&err), SONDE_OK); /* what the system allocates once and keeps */
	allocator.n = allocator.fail_at = 0;
	allocator.armed = true;
	run(&err);
	allocator.armed = false;
	return allocator.n;
}

static inline void fail_each_allocation(const char *what, sonde_status (*run)(sonde_error *err), uint64_t first)
{
	uint64_t n_failed = 0;
	sonde_error err = { .message = "" };

	count_allocations(run);
	for (uint64_t n = first;; n++) {
		allocator.n = 0;
		allocator.n_live = 0;
		allocator.fail_at = n;
		allocator.armed = true;
		sonde_status status = run(&err);
		allocator.armed = false;
		if (status && status != SONDE_E_MEMORY)
			fail_msg("%s, allocation %d: %s", what, (int)n, err.message);
		if (allocator.n_live)
			fail_msg("%s, allocation %d: %d blocks leaked", what, (int)n, (int)allocator.n_live);
		n_failed += status == SONDE_E_MEMORY;
		if (allocator.n < n)
			break;
	}
	print_message("%s: %d of %d failures were fatal\n", what, (int)n_failed, (int)allocator.n);
	assert_true(n_failed > 0);
}

#endif
