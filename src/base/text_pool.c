#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include "base/text_pool.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include "base/bulk.h"

enum { FIRST_SLOTS = 1024, MAPPED_SLOTS = (2 << 20) / sizeof(uint64_t) /* as many as a huge page has */ };
#define HIGH UINT64_C(0xffffffff00000000)

static uint64_t *slots_new(size_t n)
{
	return n < MAPPED_SLOTS ? calloc(n, sizeof(uint64_t)) : bulk_map(n * sizeof(uint64_t), true);
}

static void slots_free(uint64_t *slots, size_t n)
{
	if (n < MAPPED_SLOTS)
		free(slots);
	else
		munmap(slots, n * sizeof *slots);
}

text_pool *text_pool_new(void)
{
	text_pool *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	p->slots = slots_new(FIRST_SLOTS);
	p->n_slots = FIRST_SLOTS;
	if (getrandom(&p->seed, sizeof p->seed, GRND_NONBLOCK) != sizeof p->seed)
		p->seed = (uintptr_t)p->slots * UINT64_C(0x9e3779b97f4a7c15);
	if (p->slots)
		return p;
	text_pool_free(p);
	return NULL;
}

void text_pool_free(text_pool *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_chunks; i++)
		munmap(p->chunks[i], TEXT_CHUNK);
	slots_free(p->slots, p->n_slots);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static inline void pause_a_little(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb");
#endif
}

/* It is held for a few microseconds, less than going to sleep and being woken takes. */
void text_pool_wait(text_pool *p)
{
	enum { TRIES = 500, PAUSES = 16 };

	for (int i = 0; i < TRIES; i++) {
		for (int k = 0; k < PAUSES; k++)
			pause_a_little();
		if (pthread_mutex_trylock(&p->lock) == 0)
			return;
	}
	pthread_mutex_lock(&p->lock); /* who holds it is not running */
}

static bool grow(text_pool *p)
{
	size_t n_slots = p->n_slots * (p->n_slots < MAPPED_SLOTS ? 4 : 2);
	uint64_t *slots = slots_new(n_slots);

	if (!slots)
		return false;
	for (size_t i = 0; i < p->n_slots; i++) {
		size_t at = p->slots[i] >> 32 & (n_slots - 1);
		if (!p->slots[i])
			continue;
		while (slots[at])
			at = (at + 1) & (n_slots - 1);
		slots[at] = p->slots[i];
	}
	slots_free(p->slots, p->n_slots);
	/* For who looks ahead without holding the pool; only to fetch memory early. */
	__atomic_store_n(&p->slots, slots, __ATOMIC_RELAXED);
	__atomic_store_n(&p->n_slots, n_slots, __ATOMIC_RELAXED);
	return true;
}

/* Memory for a text of so many bytes that does not fit into the last chunk. */
static bool add_chunks(text_pool *p, size_t bytes)
{
	size_t n = (bytes + TEXT_CHUNK - 1) / TEXT_CHUNK;
	uint8_t *chunk = n <= TEXT_CHUNKS - p->n_chunks ? bulk_map(n * TEXT_CHUNK, p->n_chunks > 0) : NULL;

	if (!chunk)
		return false;
	for (size_t i = 0; i < n; i++)
		p->chunks[p->n_chunks++] = chunk + i * TEXT_CHUNK;
	p->n_used = 0;
	return true;
}

static uint32_t add(text_pool *p, const uint8_t *text, size_t len)
{
	size_t bytes = (offsetof(pool_text, text) + len + TEXT_SLACK + TEXT_UNIT - 1) & ~(size_t)(TEXT_UNIT - 1);

	if (len > UINT32_MAX - TEXT_CHUNK || p->n_texts >= TEXT_NONE)
		return TEXT_NONE;
	if ((!p->n_chunks || TEXT_CHUNK - p->n_used < bytes) && !add_chunks(p, bytes))
		return TEXT_NONE;
	/* A long text is at the start of its chunks and leaves no room in the last one. */
	size_t n = (bytes + TEXT_CHUNK - 1) / TEXT_CHUNK;
	uint32_t place = (uint32_t)((p->n_chunks - n) * TEXT_PLACES + p->n_used / TEXT_UNIT);
	pool_text *t = text_at(p, place);
	t->len = (uint32_t)len;
	t->id = (uint32_t)p->n_texts++;
	if (len)
		memcpy(t->text, text, len);
	p->n_used = n > 1 ? (size_t)TEXT_CHUNK : p->n_used + bytes - TEXT_SLACK;
	return place;
}

uint32_t text_pool_find_held(text_pool *p, const uint8_t *text, size_t len, uint64_t hash)
{
	if (p->n_texts * 4 >= p->n_slots * 3 && !grow(p))
		return TEXT_NONE;
	size_t at = hash >> 32 & (p->n_slots - 1);
	for (; p->slots[at]; at = (at + 1) & (p->n_slots - 1)) {
		uint32_t place = (uint32_t)p->slots[at] - 1;
		if ((p->slots[at] ^ hash) & HIGH)
			continue;
		const pool_text *t = text_at(p, place);
		if (t->len == len && memcmp(t->text, text, len) == 0)
			return place;
	}
	uint32_t place = add(p, text, len);
	if (place != TEXT_NONE)
		p->slots[at] = (hash & HIGH) | (place + UINT64_C(1));
	return place;
}

uint32_t text_pool_find(text_pool *p, const uint8_t *text, size_t len, uint64_t hash)
{
	text_pool_hold(p);
	uint32_t place = text_pool_find_held(p, text, len, hash);
	text_pool_let_go(p);
	return place;
}
