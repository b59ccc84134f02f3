/*
 * Memory of its own for a text that is long: it goes back to the system when the text does, whatever was allocated
 * around it.
 *
 *   char *copy = is_long_text(len) ? long_text_new(text, len) : ...
 *   long_text_free(copy, len);
 */
#ifndef SONDE_BASE_LONG_TEXT_H
#define SONDE_BASE_LONG_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { LONG_TEXT = 32 << 10, LONG_TEXT_SLACK = 64 };

static inline bool is_long_text(size_t len)
{
	return len >= LONG_TEXT;
}

/* Returns a copy with LONG_TEXT_SLACK zeros behind it; NULL when there is no memory. */
static inline char *long_text_new(const void *text, size_t len)
{
	if (len > SIZE_MAX / 2)
		return NULL;
	void *made = mmap(NULL, len + LONG_TEXT_SLACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return made == MAP_FAILED ? NULL : memcpy(made, text, len);
}

/* Accepts NULL. */
static inline void long_text_free(const char *text, size_t len)
{
	if (text)
		munmap((void *)(uintptr_t)text, len + LONG_TEXT_SLACK);
}

#endif
