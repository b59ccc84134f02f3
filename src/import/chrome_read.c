/*
 * The careful reader: one event, whatever it looks like. See chrome.h.
 *
 * A quote ends a string when what follows fits: a colon behind a key, a comma and another key or a closing brace behind
 * a value of an object, a comma or a bracket elsewhere. Any other quote belongs to the text: somebody forgot to escape
 * it.
 */
#define _GNU_SOURCE
#include "import/chrome.h"

#include <string.h>
#include "base/decimal.h"
#include "base/json_read.h"
#include "store/trace.h"

enum { PHASE_WITHIN = 2048, PLAIN_KEY_MAX = 64, KEY_MAX = 1024, REPAIRED_STRING_MAX = 4096 };
typedef enum string_place { STRING_KEY, STRING_IN_OBJECT, STRING_NESTED } string_place;

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

/* From the opening quote to behind the closing one. */
static read_status skip_string(const uint8_t **at, const uint8_t *end, string_place place, uint32_t *repairs)
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

static read_status skip_container(const uint8_t **at, const uint8_t *end, uint32_t *repairs)
{
	uint8_t is_object[JSON_READ_DEPTH / 8 + 1] = { 0 };
	size_t depth = 0;
	const uint8_t *p = *at;

	while (p < end) {
		uint8_t c = *p;
		if (c == '"') {
			read_status status = skip_string(&p, end, STRING_NESTED, repairs);
			if (status != READ_OK)
				return *at = p, status;
			continue;
		}
		if (c == '{' || c == '[') {
			if (depth == JSON_READ_DEPTH)
				return *at = p, READ_LONG;
			is_object[depth / 8] &= (uint8_t) ~(1u << depth % 8);
			is_object[depth / 8] |= (uint8_t)((c == '{') << depth % 8);
			depth++;
		} else if (c == '}' || c == ']') {
			depth--;
			if ((is_object[depth / 8] >> depth % 8 & 1) != (c == '}'))
				return *at = p, READ_BAD;
			if (!depth)
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
		return skip_string(at, end, in_object ? STRING_IN_OBJECT : STRING_NESTED, repairs);
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

/* ---- Members ----------------------------------------------------------------------------------------------------- */

/* Key, colon, and where the value begins. */
static read_status read_key(const uint8_t **at, const uint8_t *end, chrome_member *m, uint32_t *repairs)
{
	const uint8_t *p = *at;

	if (*p != '"')
		return READ_BAD;
	read_status status = skip_string(&p, end, STRING_KEY, repairs);
	if (status != READ_OK)
		return status;
	m->key = *at + 1;
	m->key_len = (uint32_t)(p - 1 - m->key);
	*at = skip_space(skip_space(p, end) + 1, end); /* behind the colon, which skip_string saw */
	m->value = *at;
	return *at == end ? READ_MORE : READ_OK;
}

/* What stands between two members. *ret_done: the object ends here. */
static read_status next_member(const uint8_t **at, const uint8_t *end, bool first, bool *ret_done, uint32_t *repairs)
{
	const uint8_t *p = skip_space(*at, end);
	int n_commas = 0;

	for (; p < end && *p == ','; n_commas++)
		p = skip_space(p + 1, end);
	*at = p;
	if (p == end)
		return READ_MORE;
	*ret_done = *p == '}';
	if (n_commas != (first || *ret_done ? 0 : 1))
		*repairs |= REPAIR(COMMA);
	return READ_OK;
}

static read_status read_args(chrome_parts *parts, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *p = *at + 1;
	bool done = false;

	parts->n_args = 0;
	parts->args_whole = false;
	for (size_t n = 0;; n++) {
		chrome_member m;
		read_status status = next_member(&p, end, n == 0, &done, &parts->repairs);
		if (status == READ_OK && done)
			return *at = p + 1, READ_OK;
		if (status == READ_OK)
			status = read_key(&p, end, &m, &parts->repairs);
		if (status == READ_OK)
			status = chrome_skip_value(&p, end, true, &parts->repairs);
		if (status != READ_OK)
			return *at = p, status;
		m.value_len = (uint32_t)(p - m.value);
		if (n < CHROME_ARGS)
			parts->args[parts->n_args++] = m;
		else
			parts->args_whole = true;
	}
}

static const char member_names[MEMBER_KINDS][5] = { "ph",  "name", "cat", "ts", "dur", "pid",
						    "tid", "id",   "s",	  "bp", "args" };

static chrome_member_kind member_kind(const chrome_member *m)
{
	for (unsigned i = 0; i < MEMBER_KINDS; i++)
		if (m->key_len == strlen(member_names[i]) && memcmp(m->key, member_names[i], m->key_len) == 0)
			return (chrome_member_kind)i;
	return MEMBER_KINDS;
}

static void add_member(chrome_parts *parts, const chrome_member *m)
{
	chrome_member_kind kind = member_kind(m);

	if (kind == MEMBER_KINDS) {
		if (parts->n_extra == CHROME_EXTRA || m->key_len > CHROME_EXTRA_KEY)
			parts->repairs |= REPAIR(MEMBERS);
		else
			parts->extra[parts->n_extra++] = *m;
		if (m->key_len == 3 && memcmp(m->key, "id2", 3) == 0 && !parts->known[MEMBER_ID].value)
			parts->known[MEMBER_ID] = *m;
		return;
	}
	if (parts->known[kind].value && (kind != MEMBER_ID || parts->known[kind].key_len == m->key_len))
		parts->repairs |= REPAIR(DUPLICATE);
	parts->known[kind] = *m;
}

static read_status read_parts(chrome_parts *parts, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *p = *at + 1;
	bool done = false;

	parts->start = *at;
	for (bool first = true;; first = false) {
		chrome_member m;
		read_status status = next_member(&p, end, first, &done, &parts->repairs);
		if (status == READ_OK && done)
			break;
		if (status == READ_OK)
			status = read_key(&p, end, &m, &parts->repairs);
		if (status == READ_OK) {
			bool args = m.key_len == 4 && memcmp(m.key, "args", 4) == 0 && *p == '{';
			status = args ? read_args(parts, &p, end) : chrome_skip_value(&p, end, true, &parts->repairs);
		}
		if (status == READ_OK) {
			m.value_len = (uint32_t)(p - m.value);
			add_member(parts, &m);
		}
		if (status != READ_OK)
			return *at = p, status;
	}
	*at = parts->end = p + 1;
	/* Where a few more arguments make one text of them, others are to be taken apart. */
	parts->clean = parts->repairs == 0 && !parts->args_whole;
	return READ_OK;
}

/* ---- From parts to an event -------------------------------------------------------------------------------------- */

/* The text between the quotes of a string, or the whole value. */
static const uint8_t *inner(const chrome_member *m, size_t *ret_len)
{
	bool quoted = m->value_len >= 2 && m->value[0] == '"';

	*ret_len = quoted ? m->value_len - 2 : m->value_len;
	return quoted ? m->value + 1 : m->value;
}

bool chrome_time(const uint8_t *text, size_t len, int64_t *ret_ns, uint32_t *repairs)
{
	decimal_status status = decimal_scaled((const char *)text, len, 3, ret_ns);

	if (status == DECIMAL_BAD)
		return false;
	if (status == DECIMAL_ROUNDED)
		*repairs |= REPAIR(ROUNDED);
	int64_t bounded = trace_bounded_ns(*ret_ns);
	if (bounded != *ret_ns)
		*repairs |= REPAIR(RANGE);
	*ret_ns = bounded;
	return true;
}

static bool read_time(const chrome_member *m, int64_t *ret_ns, uint32_t *repairs)
{
	size_t len;
	const uint8_t *text = m->value ? inner(m, &len) : NULL;

	return text && chrome_time(text, len, ret_ns, repairs);
}

/* Missing: 0. */
static chrome_token read_token(chrome_reader *r, const chrome_member *m)
{
	size_t len;
	const uint8_t *text = m->value ? inner(m, &len) : NULL;

	return text ? reader_token(r, text, len) : (chrome_token){ 0 };
}

/* Values of the arguments and extra members in the order of the text. */
static void put_values(chrome_reader *r, chrome_batch *b, const chrome_parts *p, const chrome_layout *layout,
		       chrome_event *e)
{
	const args_template *shape = &r->templates.items[layout->template].shape;
	size_t first = b->values.n;

	for (uint32_t i = 0; i < layout->n_values; i++)
		if (!VEC_ADD(&b->values)) {
			b->failed = true;
			b->values.n = first;
			return;
		}
	e->values = (uint32_t)first;
	size_t n_args = p->args_whole							     ? 1
			: p->known[MEMBER_ARGS].value && *p->known[MEMBER_ARGS].value == '{' ? p->n_args
											     : 0;
	for (uint32_t i = 0; i < shape->n_gaps; i++) {
		if (i == layout->separator)
			continue;
		const chrome_member *m = i < n_args ? p->args_whole ? &p->known[MEMBER_ARGS] : &p->args[i]
						    : &p->extra[i - n_args - (i > layout->separator)];
		int64_t value;
		if (shape->kinds[i] == ARG_TEXT || !chrome_is_int(m->value, m->value_len, &value))
			value = reader_text(r, m->value, m->value_len, &e->repairs);
		b->values.items[first + layout->order[i]] = value;
	}
	if (layout->correlation >= 0) {
		e->id = b->values.items[first + layout->order[layout->correlation]];
		if (shape->kinds[layout->correlation] == ARG_INT || reader_int(r, e->id, &e->id))
			e->flags |= EVENT_HAS_CORRELATION;
	}
}

/* A member that is to be found among the extra ones. */
static void keep_member(chrome_parts *p, const chrome_member *m)
{
	if (p->n_extra < CHROME_EXTRA) {
		p->extra[p->n_extra++] = *m;
	} else {
		p->repairs |= REPAIR(MEMBERS);
		p->clean = false;
	}
}

/* An id belongs to the arguments of what is not found by it later. */
static void keep_id(chrome_parts *p)
{
	const chrome_member *id = &p->known[MEMBER_ID], *phase = &p->known[MEMBER_PHASE];

	if (id->value && id->key_len == 2 && phase->value && phase->value_len == 3 &&
	    strchr("stf", phase->value[1]) == NULL)
		keep_member(p, id);
}

static void put_event(chrome_reader *r, chrome_batch *b, chrome_parts *p, const uint8_t *base)
{
	chrome_event e = { .at = (uint32_t)(p->start - base) };
	const chrome_member *known = p->known;
	size_t len = 0;

	if (p->known[MEMBER_ARGS].value && *p->known[MEMBER_ARGS].value != '{') {
		/* Not an object: kept as it stands. */
		keep_member(p, &p->known[MEMBER_ARGS]);
		p->known[MEMBER_ARGS].value = NULL;
		p->n_args = 0;
		p->args_whole = false;
		p->clean = false;
	}
	keep_id(p);
	e.repairs = p->repairs;
	e.layout = chrome_layout_of(r, p, p->clean);
	if (e.layout == CHROME_NONE) {
		b->failed = true;
		return;
	}
	const chrome_layout *layout = &r->layouts.items[e.layout];
	e.flags = layout->flags;
	if (read_time(&known[MEMBER_TS], &e.ts_ns, &e.repairs))
		e.flags |= EVENT_HAS_TIME;
	if (read_time(&known[MEMBER_DUR], &e.dur_ns, &e.repairs))
		e.flags |= EVENT_HAS_DURATION;
	if (layout->template != CHROME_NONE)
		put_values(r, b, p, layout, &e);
	if (known[MEMBER_ID].value) {
		uint32_t global = 0;
		chrome_token id = reader_id(r, known[MEMBER_ID].value, known[MEMBER_ID].value_len, &global);
		e.repairs |= reader_token_repairs(r, id);
		e.flags |= (uint8_t)global;
		if (!(e.flags & EVENT_HAS_CORRELATION) || layout->phase != 'X') {
			e.id = id.is_text ? id.number | INT64_C(1) << 62 : id.number;
			e.flags = (uint8_t)((e.flags | EVENT_HAS_ID) & ~EVENT_HAS_CORRELATION);
		}
	}
	e.track = reader_track(r, read_token(r, &known[MEMBER_PID]), read_token(r, &known[MEMBER_TID]));
	e.repairs |= e.track < r->tracks.n ? r->tracks.items[e.track].repairs : 0;
	const uint8_t *category =
		known[MEMBER_CATEGORY].value ? inner(&known[MEMBER_CATEGORY], &len) : (const uint8_t *)"";
	uint32_t category_id = reader_string(r, category, len);
	if (r->failed) {
		b->failed = true;
		return;
	}
	const uint8_t *name = (const uint8_t *)"";
	len = 0;
	if (known[MEMBER_NAME].value) {
		name = inner(&known[MEMBER_NAME], &len);
		e.flags |= EVENT_HAS_NAME;
	}
	e.site = reader_site(r, name, len, category_id, &e.repairs);
	chrome_event *to = VEC_ADD(&b->events);
	if (to)
		*to = e;
	b->failed |= !to || r->failed;
}

read_status chrome_read(chrome_reader *r, chrome_batch *b, const uint8_t **at, const uint8_t *end, const uint8_t *base)
{
	chrome_parts parts;

	memset(parts.known, 0, sizeof parts.known);
	parts.n_args = parts.n_extra = 0;
	parts.args_whole = false;
	parts.repairs = 0;
	read_status status = read_parts(&parts, at, end);
	if (status == READ_OK)
		put_event(r, b, &parts, base);
	return status;
}

/* ---- After damage ------------------------------------------------------------------------------------------------ */

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
	return quote < end && *quote == ':' && member_kind(&m) != MEMBER_KINDS && has_phase(at, end);
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
