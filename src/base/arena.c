/* See arena.h. Blocks double from 4 KiB to 1 MiB; a request larger than a block gets its own, behind the newest, which
   still has room. */
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(ALIGN) unsigned char bytes[];
};

static struct arena_block *add_block(arena *a, size_t bytes)
{
	size_t size = a->blocks ? a->blocks->size * 2 : FIRST_BLOCK;

	if (size > LARGEST_BLOCK)
		size = LARGEST_BLOCK;
	bool is_own = size < bytes;
	if (is_own)
		size = bytes;
	struct arena_block *block = calloc(1, sizeof *block + size);
	if (!block)
		return NULL;
	struct arena_block **at = is_own && a->blocks ? &a->blocks->next : &a->blocks;
	block->size = size;
	block->next = *at;
	*at = block;
	return block;
}

void *arena_alloc(arena *a, size_t bytes)
{
	struct arena_block *block = a->blocks;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!block || block->size - block->used < bytes)
		block = add_block(a, bytes);
	if (!block)
		return NULL;
	void *memory = block->bytes + block->used;
	block->used += bytes;
	a->n_bytes += bytes;
	return memory;
}

char *arena_strndup(arena *a, const char *text, size_t len)
{
	char *copy = arena_alloc(a, len + 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

char *arena_strdup(arena *a, const char *text)
{
	return arena_strndup(a, text, strlen(text));
}

char *arena_vprintf(arena *a, const char *format, va_list args)
{
	va_list again;

	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	char *text = len < 0 ? NULL : arena_alloc(a, (size_t)len + 1);
	if (text)
		vsnprintf(text, (size_t)len + 1, format, args);
	return text;
}

void arena_take(arena *to, arena *from)
{
	struct arena_block **end = &to->blocks;

	while (*end)
		end = &(*end)->next;
	*end = from->blocks;
	to->n_bytes += from->n_bytes;
	*from = (arena){ 0 };
}

void arena_done(arena *a)
{
	for (struct arena_block *block = a->blocks, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	*a = (arena){ 0 };
}
