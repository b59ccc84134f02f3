/*
 * Where values end and events begin, in text that may be damaged. See chrome.h.
 *
 * A quote ends a string when what follows fits: a colon behind a key, a comma and another key or a closing brace behind
 * a value of an object, a comma or a bracket elsewhere. Any other quote belongs to the text: somebody forgot to escape
 * it.
 */
#define _GNU_SOURCE /* memmem */
#include "import/chrome/scan.h"

#include <string.h>
#include "base/json_read.h"

enum { PHASE_WITHIN = 2048, PLAIN_KEY_MAX = 64, KEY_MAX = 1024, REPAIRED_STRING_MAX = 4096 };

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static bool begins_event(const uint8_t *from, const uint8_t *at, const uint8_t *end);

/* Is this a short plain string with a colon behind it? `at` is its quote. READ_BAD: it is not. */
static read_status is_key(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *p = at + 1;

	while (p < end && p - at < PLAIN_KEY_MAX && *p >= 0x20 && *p != '"' && *p != '\\' && *p != ',' && *p != ':')
		p++;
	if (p < end && (*p != '"' || p - at < 2))
		return READ_BAD;
	p = p < end ? skip_space(p + 1, end) : end;
	return p == end ? READ_MORE : *p == ':' ? READ_OK : READ_BAD;
}

/* Does the string end here? `at` is behind the quote. READ_BAD: it does not. */
static read_status string_ends(const uint8_t *at, const uint8_t *end, string_place place)
{
	at = skip_space(at, end);
	if (at == end)
		return READ_MORE;
	if (place == STRING_KEY)
		return *at == ':' ? READ_OK : READ_BAD;
	if (place == STRING_NESTED)
		return *at == ',' || *at == ':' || *at == '}' || *at == ']' ? READ_OK : READ_BAD;
	if (*at == '}')
		return READ_OK;
	if (*at == '"') /* a comma is missing if this is a key */
		return is_key(at, end);
	if (*at != ',')
		return READ_BAD;
	at = skip_space(at + 1, end);
	return at == end ? READ_MORE : *at == '"' || *at == '}' ? READ_OK : READ_BAD;
}

read_status chrome_skip_string(const uint8_t **at, const uint8_t *end, string_place place, uint32_t *repairs)
{
	const uint8_t *start = *at, *p = start + 1;

	for (;; p++) {
		while (p < end && *p != '"' && *p != '\\' && *p >= 0x20)
			p++;
		if (p >= end)
			return READ_MORE;
		if (*p == '\\') {
			p++;
			continue;
		}
		if (*p < 0x20) {
			*repairs |= REPAIR(CONTROL);
			continue;
		}
		read_status ends = string_ends(p + 1, end, place);
		if (ends == READ_MORE)
			return READ_MORE;
		if (ends == READ_OK)
			break;
		/* Is it the string's, or did the string's end get lost and is this the next event? */
		const uint8_t *brace = p;
		while (brace[-1] == ' ' || brace[-1] == '\n' || brace[-1] == '\r' || brace[-1] == '\t')
			brace--;
		if ((brace[-1] == '{' && begins_event(start, brace - 1, end)) ||
		    p - start > (place == STRING_KEY ? KEY_MAX : REPAIRED_STRING_MAX))
			return READ_BAD;
		*repairs |= REPAIR(QUOTES);
	}
	*at = p + 1;
	return READ_OK;
}

/* The brackets that are open, the innermost last, as bits. */
typedef struct open_brackets {
	uint8_t is_object[JSON_READ_DEPTH / 8 + 1];
	uint8_t holds_objects[JSON_READ_DEPTH / 8 + 1]; /* a list whose first element is one */
	size_t depth;
} open_brackets;

static void put_bit(uint8_t *bits, size_t at, bool value)
{
	bits[at / 8] &= (uint8_t) ~(1u << at % 8);
	bits[at / 8] |= (uint8_t)(value << at % 8);
}

static bool bit_at(const uint8_t *bits, size_t at)
{
	return bits[at / 8] >> at % 8 & 1;
}

static void open_bracket(open_brackets *o, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *first = skip_space(at + 1, end);

	put_bit(o->is_object, o->depth, *at == '{');
	put_bit(o->holds_objects, o->depth, *at == '[' && first < end && *first == '{');
	o->depth++;
}

/* False: no bracket of this kind is the innermost. */
static bool close_bracket(open_brackets *o, uint8_t c)
{
	o->depth--;
	return bit_at(o->is_object, o->depth) == (c == '}');
}

/* An event where no object can stand, or among numbers and lists: what is around it was cut off. */
static bool is_next_event(const open_brackets *o, const uint8_t *from, const uint8_t *at, const uint8_t *end)
{
	return *at == '{' && o->depth && !bit_at(o->holds_objects, o->depth - 1) && begins_event(from, at, end);
}

static read_status skip_container(const uint8_t **at, const uint8_t *end, uint32_t *repairs)
{
	open_brackets open = { .depth = 0 };
	const uint8_t *p = *at, *start = p;

	while (p < end) {
		uint8_t c = *p;
		if (c == '"') {
			read_status status = chrome_skip_string(&p, end, STRING_NESTED, repairs);
			if (status != READ_OK)
				return *at = p, status;
			continue;
		}
		if (c == '{' || c == '[') {
			if (open.depth == JSON_READ_DEPTH)
				return *at = p, READ_LONG;
			if (is_next_event(&open, start, p, end))
				return *at = p, READ_BAD;
			open_bracket(&open, p, end);
		} else if (c == '}' || c == ']') {
			if (!close_bracket(&open, c))
				return *at = p, READ_BAD;
			if (!open.depth)
				return *at = p + 1, READ_OK;
		}
		p++;
	}
	return READ_MORE;
}

read_status chrome_skip_value(const uint8_t **at, const uint8_t *end, bool in_object, uint32_t *repairs)
{
	const uint8_t *p = *at;

	if (p == end)
		return READ_MORE;
	if (*p == '"')
		return chrome_skip_string(at, end, in_object ? STRING_IN_OBJECT : STRING_NESTED, repairs);
	if (*p == '{' || *p == '[')
		return skip_container(at, end, repairs);
	while (p<end && * p> ' ' && *p != ',' && *p != '}' && *p != ']' && *p != '"' && *p != '{' && *p != ':' &&
	       p - *at < CHROME_TOKEN_MAX)
		p++;
	if (p == end)
		return READ_MORE;
	read_status status = p == *at || p - *at == CHROME_TOKEN_MAX ? READ_BAD : READ_OK;
	*at = p;
	return status;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static const char member_names[MEMBER_KINDS][5] = { "ph",  "name", "cat", "ts", "dur", "pid",
						    "tid", "id",   "s",	  "bp", "args" };

chrome_member_kind chrome_member_kind_of(const chrome_member *m)
{
	for (unsigned i = 0; i < MEMBER_KINDS; i++)
		if (m->key_len == strlen(member_names[i]) && memcmp(m->key, member_names[i], m->key_len) == 0)
			return (chrome_member_kind)i;
	return MEMBER_KINDS;
}

/* Behind the string that begins at the quote, or the end. */
static const uint8_t *plain_string_end(const uint8_t *quote, const uint8_t *end)
{
	const uint8_t *p = quote + 1;

	while (p < end && *p != '"')
		p += *p == '\\' ? 2 : 1;
	return p < end ? p + 1 : end;
}

/* Has the object that begins at the brace a member "ph"? An object in an event's arguments has none. Where it takes
   long to find out it may have one. */
static bool has_phase(const uint8_t *brace, const uint8_t *end)
{
	const uint8_t *limit = end - brace > PHASE_WITHIN ? brace + PHASE_WITHIN : end;
	int depth = 0;

	for (const uint8_t *p = brace; p < limit;) {
		if (*p == '"') {
			const uint8_t *behind = plain_string_end(p, end);
			if (depth == 1 && behind - p == 4 && p[1] == 'p' && p[2] == 'h') {
				behind = skip_space(behind, end);
				if (behind < end && *behind == ':')
					return true;
			}
			p = behind;
			continue;
		}
		depth += *p == '{' || *p == '[';
		depth -= *p == '}' || *p == ']';
		p++;
		if (!depth)
			return false;
	}
	return limit < end;
}

static bool begins_event(const uint8_t *from, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *before = at, *key;
	chrome_member m;

	while (before > from && (before[-1] == ' ' || before[-1] == '\n' || before[-1] == '\r' || before[-1] == '\t'))
		before--;
	if (before > from && before[-1] != ',' && before[-1] != '[' && before[-1] != '}' && before[-1] != ']')
		return false;
	key = skip_space(at + 1, end);
	if (key == end || *key != '"')
		return false;
	m.key = key + 1;
	const uint8_t *quote = memchr(m.key, '"', (size_t)(end - m.key < 8 ? end - m.key : 8));
	if (!quote)
		return false;
	m.key_len = (uint32_t)(quote - m.key);
	quote = skip_space(quote + 1, end);
	return quote < end && *quote == ':' && chrome_member_kind_of(&m) != MEMBER_KINDS && has_phase(at, end);
}

const uint8_t *chrome_resync(const uint8_t *from, const uint8_t *at, const uint8_t *end)
{
	for (; at < end && (at = memchr(at, '{', (size_t)(end - at))); at++)
		if (begins_event(from, at, end))
			return at;
	return NULL;
}

uint64_t chrome_count_events(const uint8_t *at, const uint8_t *end)
{
	uint64_t n = 0;

	for (; (at = memmem(at, (size_t)(end - at), "\"ph\"", 4)); at += 4)
		n++;
	return n;
}
