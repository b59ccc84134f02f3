#include "base/intern.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/long_text.h"

static uint32_t hash_text(uint64_t seed, const char *text, size_t len)
{
	uint64_t h = seed ^ len * UINT64_C(0x9e3779b97f4a7c15), word;

	for (; len >= 8; len -= 8, text += 8) {
		memcpy(&word, text, 8);
		h = (h ^ word) * UINT64_C(0xbf58476d1ce4e5b9);
		h ^= h >> 31;
	}
	word = 0;
	memcpy(&word, text, len);
	h = (h ^ word) * UINT64_C(0x94d049bb133111eb);
	h ^= h >> 29;
	return (uint32_t)(h * (seed | 1) >> 32);
}

static bool rehash(intern_table *t)
{
	uint32_t n_slots = t->n_slots ? t->n_slots * 2 : 256;
	uint32_t *slots = calloc(n_slots, sizeof *slots);
	intern_entry *entries = slots ? realloc(t->entries, n_slots / 2 * sizeof *entries) : NULL;

	if (!entries) {
		free(slots);
		return false;
	}
	if (!t->seed && getrandom(&t->seed, sizeof t->seed, GRND_NONBLOCK) != sizeof t->seed)
		t->seed = (uintptr_t)entries * UINT64_C(0x9e3779b97f4a7c15) | 1;
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t slot = entries[i].hash & (n_slots - 1);
		while (slots[slot])
			slot = (slot + 1) & (n_slots - 1);
		slots[slot] = i + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->entries = entries;
	t->n_slots = n_slots;
	t->capacity = n_slots / 2;
	return true;
}

uint32_t intern(intern_table *t, const char *text, size_t len)
{
	if (len > UINT32_MAX - 1 || (t->n == t->capacity && !rehash(t)))
		return INTERN_NONE;
	uint32_t hash = hash_text(t->seed, text, len);
	uint32_t slot = hash & (t->n_slots - 1);
	for (; t->slots[slot]; slot = (slot + 1) & (t->n_slots - 1)) {
		const intern_entry *e = &t->entries[t->slots[slot] - 1];
		if (e->hash == hash && e->len == len && memcmp(e->text, text, len) == 0)
			return t->slots[slot] - 1;
	}
	const char *copy = !is_long_text(len) ? arena_strndup(&t->arena, text, len)
			   : t->borrows	      ? text
					      : long_text_new(text, len);
	if (!copy)
		return INTERN_NONE;
	t->entries[t->n] = (intern_entry){ copy, (uint32_t)len, hash };
	t->slots[slot] = t->n + 1;
	return t->n++;
}

void intern_drop_text(intern_table *t, uint32_t number)
{
	intern_entry *e = &t->entries[number];

	if (t->borrows || number < t->n_borrowed || !is_long_text(e->len))
		return;
	long_text_free(e->text, e->len);
	e->text = NULL;
}

void intern_done(intern_table *t)
{
	for (uint32_t i = t->n_borrowed; i < t->n; i++)
		intern_drop_text(t, i);
	arena_done(&t->arena);
	free(t->entries);
	free(t->slots);
	*t = (intern_table){ 0 };
}

bool intern_copy(intern_table *to, const intern_table *from)
{
	*to = (intern_table){ .n = from->n,
			      .n_slots = from->n_slots,
			      .capacity = from->capacity,
			      .n_borrowed = from->n,
			      .seed = from->seed,
			      .borrows = from->borrows };
	if (!from->n_slots)
		return true;
	to->entries = malloc(from->capacity * sizeof *to->entries);
	to->slots = malloc(from->n_slots * sizeof *to->slots);
	if (!to->entries || !to->slots) {
		intern_done(to);
		return false;
	}
	memcpy(to->entries, from->entries, from->n * sizeof *to->entries);
	memcpy(to->slots, from->slots, from->n_slots * sizeof *to->slots);
	return true;
}
