/*
 * Strings to numbers 0, 1, 2 ... and back. The hash is seeded anew for every table, so that nobody can prepare names
 * that collide.
 */
#ifndef SONDE_BASE_INTERN_H
#define SONDE_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"

typedef struct intern_entry {
	const char *text;
	uint32_t len;
	uint32_t hash;
} intern_entry;

typedef struct intern_table {
	arena arena;
	intern_entry *entries;
	uint32_t *slots; /* number + 1 */
	uint32_t n, n_slots, capacity;
	uint32_t n_borrowed; /* the first ones: of intern_copy() */
	uint64_t seed;
	bool borrows; /* long texts are not copied: whoever gives them keeps them, and they need not end in a zero */
} intern_table;

#define INTERN_NONE UINT32_MAX

/* The number of the text, which is copied when new; INTERN_NONE when out of memory. */
uint32_t intern(intern_table *t, const char *text, size_t len);
static inline const char *intern_text(const intern_table *t, uint32_t number)
{
	return number < t->n ? t->entries[number].text : "?";
}
void intern_done(intern_table *t);
/* Releases the memory of a text that is long and the table's own; nothing may look at it afterwards. For who moves all
   texts to another place, one after the other, so that long ones are never there twice. */
void intern_drop_text(intern_table *t, uint32_t number);
/* The same texts with the same numbers in an empty table, which borrows those texts. False when out of memory. */
bool intern_copy(intern_table *to, const intern_table *from);

/* Sequences of numbers, in a table of their own. */
static inline uint32_t intern_words(intern_table *t, const uint32_t *words, size_t n)
{
	return intern(t, (const char *)words, n * sizeof *words);
}
static inline const uint32_t *intern_words_at(const intern_table *t, uint32_t number, size_t *ret_n)
{
	*ret_n = t->entries[number].len / sizeof(uint32_t);
	return (const uint32_t *)(const void *)t->entries[number].text;
}

#endif
