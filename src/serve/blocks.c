/* See blocks.h. Open addressing; removing moves what follows back, so there are no tombstones. */
#include "serve/blocks.h"

#include <stdlib.h>

static size_t slot_of(const blocks *b, uint32_t owner, uint64_t address)
{
	uint64_t h = (address ^ (uint64_t)owner << 56) * 0x9e3779b97f4a7c15u;

	return (size_t)(h >> 24) & (b->n_slots - 1);
}

/* Where it is, or where it would go. */
static size_t find(const blocks *b, uint32_t owner, uint64_t address)
{
	size_t at = slot_of(b, owner, address);

	while (b->items[at].bytes >= 0 && (b->items[at].address != address || b->items[at].owner != owner))
		at = (at + 1) & (b->n_slots - 1);
	return at;
}

static bool grow(blocks *b)
{
	blocks old = *b;

	b->n_slots = old.n_slots ? 2 * old.n_slots : 1024;
	b->items = malloc(b->n_slots * sizeof *b->items);
	if (!b->items) {
		*b = old;
		return false;
	}
	for (size_t i = 0; i < b->n_slots; i++)
		b->items[i].bytes = -1;
	for (size_t i = 0; i < old.n_slots; i++)
		if (old.items[i].bytes >= 0)
			b->items[find(b, old.items[i].owner, old.items[i].address)] = old.items[i];
	free(old.items);
	return true;
}

bool blocks_add(blocks *b, const block *added)
{
	if (2 * b->n >= b->n_slots && !grow(b))
		return false;
	size_t at = find(b, added->owner, added->address);
	b->n += b->items[at].bytes < 0;
	b->items[at] = *added;
	return true;
}

void blocks_remove(blocks *b, uint32_t owner, uint64_t address)
{
	size_t at = b->n_slots ? find(b, owner, address) : 0, mask = b->n_slots - 1;

	if (!b->n_slots || b->items[at].bytes < 0)
		return;
	b->n--;
	for (size_t next = (at + 1) & mask; b->items[next].bytes >= 0; next = (next + 1) & mask) {
		size_t home = slot_of(b, b->items[next].owner, b->items[next].address);
		/* It may move when its home is not behind the hole. */
		if (((next - home) & mask) >= ((next - at) & mask)) {
			b->items[at] = b->items[next];
			at = next;
		}
	}
	b->items[at].bytes = -1;
}

static int by_bytes(const void *a, const void *b)
{
	const block *x = a, *y = b;

	return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : x->address < y->address ? -1 : 1;
}

void blocks_sort(blocks *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_slots; i++)
		if (b->items[i].bytes >= 0)
			b->items[n++] = b->items[i];
	if (n)
		qsort(b->items, n, sizeof *b->items, by_bytes);
}

void blocks_done(blocks *b)
{
	free(b->items);
	*b = (blocks){ 0 };
}
