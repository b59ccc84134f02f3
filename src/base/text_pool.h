/*
 * Texts of arguments, each once, found by their hash. A trace has up to millions of them, most of them short: a text
 * lies right behind what is known of it, so that finding one touches two lines of the cache. It stays where it is.
 *
 *   text_pool *p = text_pool_new();
 *   uint32_t place = text_pool_find(p, text, len, text_hash(text, len, p->seed));   TEXT_NONE when out of memory
 *   text_at(p, place)
 *   text_pool_free(p);
 *
 * Several threads may look up texts. Who looks up many holds the pool meanwhile: text_pool_hold(),
 * text_pool_find_held() for each, text_pool_let_go().
 */
#ifndef SONDE_BASE_TEXT_POOL_H
#define SONDE_BASE_TEXT_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include "base/text_hash.h"

#define TEXT_NONE UINT32_MAX

enum {
	TEXT_UNIT = 8,		/* a place counts these */
	TEXT_CHUNK = 2 << 20,	/* bytes of texts in one piece of memory */
	TEXT_CHUNKS = 16 << 10, /* at most */
	TEXT_SLACK = 32,	/* more bytes may be read behind a text, of a neighbour that may be changing */
	TEXT_PLACES = TEXT_CHUNK / TEXT_UNIT,
};

typedef struct pool_text {
	uint32_t len;
	uint32_t id;  /* 0, 1 ... as they came */
	uint8_t note; /* the user's; 0 at first */
	uint8_t text[];
} pool_text;

typedef struct text_pool {
	uint8_t *chunks[TEXT_CHUNKS]; /* a long text takes several that lie behind each other */
	size_t n_chunks, n_used;      /* bytes of the last chunk */
	uint64_t *slots;	      /* high half of the hash, place + 1 */
	size_t n_slots, n_texts;
	uint64_t seed;
	pthread_mutex_t lock;
} text_pool;

/* A text by its id, in the high half, and its place: who keeps something for each id need not look at the text. */
typedef uint64_t text_ref;

text_pool *text_pool_new(void);	   /* NULL when out of memory */
void text_pool_free(text_pool *p); /* accepts NULL */
/* Where the text is, which is copied when new. */
uint32_t text_pool_find(text_pool *p, const uint8_t *text, size_t len, uint64_t hash);
uint32_t text_pool_find_held(text_pool *p, const uint8_t *text, size_t len, uint64_t hash);

void text_pool_wait(text_pool *p);

static inline void text_pool_hold(text_pool *p)
{
	if (__builtin_expect(pthread_mutex_trylock(&p->lock) != 0, 0))
		text_pool_wait(p);
}

static inline void text_pool_let_go(text_pool *p)
{
	pthread_mutex_unlock(&p->lock);
}

/* Where the search for a text begins, of a pool that is held. */
static inline const uint64_t *text_pool_slot(const text_pool *p, uint64_t hash)
{
	return &p->slots[hash >> 32 & (p->n_slots - 1)];
}

/* Lets memory be fetched that text_pool_find() will want; holding the pool is not needed. */
static inline void text_pool_look_ahead(const text_pool *p, uint64_t hash)
{
	const uint64_t *slots = __atomic_load_n(&p->slots, __ATOMIC_RELAXED);

	__builtin_prefetch(&slots[hash >> 32 & (__atomic_load_n(&p->n_slots, __ATOMIC_RELAXED) - 1)]);
}

static inline pool_text *text_at(const text_pool *p, uint32_t place)
{
	return (pool_text *)(p->chunks[place / TEXT_PLACES] + (size_t)(place % TEXT_PLACES) * TEXT_UNIT);
}

static inline text_ref text_ref_of(const text_pool *p, uint32_t place)
{
	return (text_ref)text_at(p, place)->id << 32 | place;
}

#endif
