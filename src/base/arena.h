/*
 * Memory that is given back all at once: many small objects with one life.
 *
 *   arena a = { 0 };
 *   char *s = arena_alloc(&a, 10);     zeroed, 16-byte aligned, NULL when out of memory
 *   arena_done(&a);
 */
#ifndef SONDE_BASE_ARENA_H
#define SONDE_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct arena {
	struct arena_block *blocks; /* newest first */
	size_t n_bytes;		    /* given out */
} arena;

void *arena_alloc(arena *a, size_t bytes);
char *arena_strndup(arena *a, const char *text, size_t len);
char *arena_strdup(arena *a, const char *text);
char *arena_vprintf(arena *a, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* What `from` gave out lives as long as `to` from now on; `from` is empty afterwards. */
void arena_take(arena *to, arena *from);
void arena_done(arena *a);

#endif
