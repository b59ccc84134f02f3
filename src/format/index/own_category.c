/* See own_category.h. */
#include "format/index/own_category.h"

#include <stdio.h>
#include <string.h>
#include "format/recording/names.h"

static const char *const kinds[] = { "scope", "phase",	"step",	    "mark",   "counter",
				     "op",    "module", "category", "device", "stream" };
_Static_assert(sizeof kinds / sizeof kinds[0] == NAME_KINDS, "each has a word");

static const char *const classes[] = {
	"other",  "compute", "memory", "data-load",  "sync",  "communication", "runtime",
	"kernel", "copy",    "python", "annotation", "phase", "step",	       "overhead"
};
_Static_assert(sizeof classes / sizeof classes[0] == CLASS_KINDS, "each has a word");

static const char prefix[] = ",sonde.";

size_t own_category_write(char buffer[OWN_CATEGORY_MAX], uint8_t class, uint8_t kind)
{
	return (size_t)snprintf(buffer, OWN_CATEGORY_MAX, "%s%s.%s", prefix, kinds[kind < NAME_KINDS ? kind : 0],
				classes[class < CLASS_KINDS ? class : 0]);
}

/* The number of the word of this length, n if there is none. */
static uint8_t find(const char *const *words, uint8_t n, const char *text, size_t len)
{
	uint8_t i = 0;

	while (i < n && (strlen(words[i]) != len || memcmp(words[i], text, len) != 0))
		i++;
	return i;
}

size_t own_category_read(const char *category, size_t len, uint8_t *ret_class, uint8_t *ret_kind)
{
	const char *end = category + len, *at = end;

	while (at > category && *at != ',')
		at--;
	if ((size_t)(end - at) < sizeof prefix || memcmp(at, prefix, sizeof prefix - 1) != 0)
		return len;
	const char *kind = at + sizeof prefix - 1, *dot = memchr(kind, '.', (size_t)(end - kind));
	if (!dot)
		return len;
	uint8_t k = find(kinds, NAME_KINDS, kind, (size_t)(dot - kind));
	uint8_t c = find(classes, CLASS_KINDS, dot + 1, (size_t)(end - dot - 1));
	if (k == NAME_KINDS || c == CLASS_KINDS)
		return len;
	*ret_kind = k;
	*ret_class = c;
	return (size_t)(at - category);
}
