/* What a reader knows by number: texts, sites, tracks. See chrome.h. */
#define _GNU_SOURCE
#include "import/chrome/scan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/json_read.h"
#include "base/long_text.h"

/* ---- Texts to numbers -------------------------------------------------------------------------------------------- */

static bool dict_grow(dict *d)
{
	size_t n_slots = d->n_slots ? d->n_slots * 2 : 1024;
	uint64_t *slots = calloc(n_slots, sizeof *slots);

	if (!slots)
		return false;
	for (size_t i = 0; i < d->n_slots; i++) {
		size_t at = d->slots[i] >> 32 & (n_slots - 1);
		if (!d->slots[i])
			continue;
		while (slots[at])
			at = (at + 1) & (n_slots - 1);
		slots[at] = d->slots[i];
	}
	free(d->slots);
	d->slots = slots;
	d->n_slots = n_slots;
	return true;
}

/* A text that is not long lies right behind the one before it. */
static const uint8_t *keep_text(dict *d, const uint8_t *text, size_t len)
{
	if (is_long_text(len))
		return (const uint8_t *)long_text_new(text, len);
	if (d->n_room < len + DICT_SLACK) {
		size_t n = d->entries.n ? DICT_ROOM : DICT_SLACK * 32;
		n = n < len + DICT_SLACK ? len + DICT_SLACK : n;
		uint8_t *room = arena_alloc(&d->arena, n);
		if (!room)
			return NULL;
		d->room = room;
		d->n_room = n;
	}
	uint8_t *copy = memcpy(d->room, text, len);
	d->room += len;
	d->n_room -= len;
	return copy;
}

void dict_borrow(dict_entry *e, const char *same)
{
	if (e->borrowed || !is_long_text(e->len))
		return;
	long_text_free((const char *)e->text, e->len);
	e->text = (const uint8_t *)same;
	e->borrowed = true;
}

uint32_t dict_find(dict *d, const uint8_t *text, size_t len, uint32_t key, uint64_t hash, bool *ret_new)
{
	uint64_t high = hash & UINT64_C(0xffffffff00000000);

	*ret_new = false;
	if (d->entries.n * 4 >= d->n_slots * 3 && !dict_grow(d))
		return CHROME_NONE;
	size_t at = hash >> 32 & (d->n_slots - 1);
	for (; d->slots[at]; at = (at + 1) & (d->n_slots - 1)) {
		if ((d->slots[at] & UINT64_C(0xffffffff00000000)) != high)
			continue;
		uint32_t number = (uint32_t)d->slots[at] - 1;
		const dict_entry *e = &d->entries.items[number];
		if (e->len == len && e->key == key && memcmp(e->text, text, len) == 0)
			return number;
	}
	dict_entry *e = len < UINT32_MAX && d->entries.n < CHROME_NONE - 1 ? VEC_ADD(&d->entries) : NULL;
	if (!e)
		return CHROME_NONE;
	const uint8_t *copy = keep_text(d, text, len);
	if (!copy) {
		d->entries.n--;
		return CHROME_NONE;
	}
	*e = (dict_entry){ .text = copy, .len = (uint32_t)len, .key = key, .global = CHROME_NONE };
	d->slots[at] = high | d->entries.n;
	*ret_new = true;
	return (uint32_t)d->entries.n - 1;
}

void dict_done(dict *d)
{
	for (size_t i = 0; i < d->entries.n; i++) {
		const dict_entry *e = &d->entries.items[i];
		if (is_long_text(e->len) && !e->borrowed)
			long_text_free((const char *)e->text, e->len);
	}
	arena_done(&d->arena);
	VEC_DONE(&d->entries);
	free(d->slots);
	*d = (dict){ 0 };
}

uint32_t reader_find(chrome_reader *r, dict *d, const uint8_t *text, size_t len, uint32_t key, bool *ret_new)
{
	uint32_t number = dict_find(d, text, len, key, dict_hash(text_hash_safe(text, len, r->seed), key), ret_new);

	r->failed |= number == CHROME_NONE;
	return number;
}

/* What is wrong with a string between quotes, as bits. */
static uint8_t string_repairs(chrome_reader *r, const uint8_t *text, size_t len)
{
	char small[1024], *to = len * 3 <= sizeof small ? small : malloc(len * 3);
	unsigned found = 0;

	if (!to) {
		r->failed = true;
		return 0;
	}
	json_unescape((const char *)text, len, to, &found);
	if (to != small)
		free(to);
	return (uint8_t)((found & JSON_BAD_UTF8 ? REPAIR(UTF8) : 0) | (found & JSON_BAD_ESCAPE ? REPAIR(ESCAPE) : 0) |
			 (found & JSON_CONTROL ? REPAIR(CONTROL) : 0) |
			 (found & JSON_BARE_QUOTES ? REPAIR(QUOTES) : 0));
}

uint32_t reader_string(chrome_reader *r, const uint8_t *text, size_t len)
{
	bool is_new;
	uint32_t number = reader_find(r, &r->strings, text, len, 0, &is_new);

	if (is_new)
		r->strings.entries.items[number].repairs = string_repairs(r, text, len);
	return number;
}

uint32_t reader_new_site(chrome_reader *r, uint32_t number, uint32_t *repairs)
{
	dict_entry *e = &r->sites.entries.items[number];

	e->repairs = string_repairs(r, e->text, e->len) | r->strings.entries.items[e->key - 1].repairs;
	*repairs |= e->repairs;
	return number;
}

uint32_t reader_site(chrome_reader *r, const uint8_t *name, size_t len, uint32_t category, uint32_t *repairs)
{
	bool is_new;
	uint32_t number = reader_find(r, &r->sites, name, len, category + 1, &is_new);

	if (is_new)
		return reader_new_site(r, number, repairs);
	*repairs |= number == CHROME_NONE ? 0 : r->sites.entries.items[number].repairs;
	return number;
}

static uint8_t text_repairs(chrome_reader *r, const uint8_t *json, size_t len)
{
	if (json_is_valid((const char *)json, len))
		return 0;
	if (len >= 2 && json[0] == '"') {
		uint8_t repairs = string_repairs(r, json + 1, len - 2);
		if (repairs)
			return repairs;
	}
	return REPAIR(NOT_JSON);
}

/* Several threads may find out at once, and find the same. */
uint32_t reader_text_repairs(chrome_reader *r, uint32_t place)
{
	pool_text *t = text_at(r->texts, place);
	uint8_t note = __atomic_load_n(&t->note, __ATOMIC_RELAXED);

	if (__builtin_expect(!note, 0)) {
		note = (uint8_t)(TEXT_SEEN | text_repairs(r, t->text, t->len));
		__atomic_store_n(&t->note, note, __ATOMIC_RELAXED);
	}
	return note & ~(uint32_t)TEXT_SEEN;
}

int64_t reader_text(chrome_reader *r, const uint8_t *json, size_t len, uint32_t *repairs)
{
	uint32_t place = text_pool_find(r->texts, json, len, text_hash_safe(json, len, r->texts->seed));

	if (place == TEXT_NONE) {
		r->failed = true;
		return 0;
	}
	*repairs |= reader_text_repairs(r, place);
	return (int64_t)text_ref_of(r->texts, place);
}

/* ---- Tracks ------------------------------------------------------------------------------------------------------ */

static uint64_t track_hash(const chrome_reader *r, chrome_token pid, chrome_token tid)
{
	return mix((uint64_t)pid.number ^ 0x9e3779b97f4a7c15u ^ r->seed, (uint64_t)tid.number ^ 0xe7037ed1a0b428dbu);
}

static bool same_token(chrome_token a, chrome_token b)
{
	return a.number == b.number && a.is_text == b.is_text;
}

static bool grow_tracks(chrome_reader *r)
{
	size_t n_slots = r->n_track_slots ? r->n_track_slots * 2 : 256;
	uint32_t *slots = calloc(n_slots, sizeof *slots);

	if (!slots)
		return false;
	for (size_t i = 0; i < r->tracks.n; i++) {
		size_t at = track_hash(r, r->tracks.items[i].pid, r->tracks.items[i].tid) & (n_slots - 1);
		while (slots[at])
			at = (at + 1) & (n_slots - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(r->track_slots);
	r->track_slots = slots;
	r->n_track_slots = n_slots;
	return true;
}

uint32_t reader_track(chrome_reader *r, chrome_token pid, chrome_token tid)
{
	if (r->tracks.n * 2 >= r->n_track_slots && !grow_tracks(r)) {
		r->failed = true;
		return CHROME_NONE;
	}
	size_t at = track_hash(r, pid, tid) & (r->n_track_slots - 1);
	for (; r->track_slots[at]; at = (at + 1) & (r->n_track_slots - 1)) {
		const chrome_track *t = &r->tracks.items[r->track_slots[at] - 1];
		if (same_token(t->pid, pid) && same_token(t->tid, tid))
			return r->track_slots[at] - 1;
	}
	chrome_track *t = VEC_ADD(&r->tracks);
	if (!t) {
		r->failed = true;
		return CHROME_NONE;
	}
	*t = (chrome_track){ .pid = pid,
			     .tid = tid,
			     .repairs = reader_token_repairs(r, pid) | reader_token_repairs(r, tid),
			     .process = CHROME_NONE,
			     .global = CHROME_NONE };
	r->track_slots[at] = (uint32_t)r->tracks.n;
	return (uint32_t)r->tracks.n - 1;
}

chrome_token reader_token(chrome_reader *r, const uint8_t *text, size_t len)
{
	chrome_token token = { 0 };
	uint64_t value = 0;

	if (chrome_is_int(text, len, &token.number))
		return token;
	bool hex = len > 2 && len <= 17 && text[0] == '0' && text[1] == 'x';
	for (size_t i = 2; hex && i < len; i++) {
		uint8_t c = text[i] | 32;
		hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
		value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (hex && value <= INT64_MAX / 2)
		return (chrome_token){ .number = (int64_t)value };
	return (chrome_token){ .number = reader_string(r, text, len), .is_text = true };
}

/* {"local": "0x1"} or {"global": "0x1"}: what stands for the id in it. False: it is something else. */
static bool scoped_id(const uint8_t *json, size_t len, const uint8_t **ret_text, size_t *ret_len, bool *ret_global)
{
	static const char *const keys[] = { "\"local\"", "\"global\"" };
	const uint8_t *end = json + len - 1, *at = skip_space(json + 1, end);

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(keys[i]);
		if ((size_t)(end - at) <= n || memcmp(at, keys[i], n) != 0)
			continue;
		at = skip_space(at + n, end);
		if (at == end || *at != ':')
			return false;
		at = skip_space(at + 1, end);
		while (end > at && end[-1] <= ' ')
			end--;
		if (end - at >= 2 && *at == '"' && end[-1] == '"')
			at++, end--;
		*ret_text = at;
		*ret_len = (size_t)(end - at);
		*ret_global = i == 1;
		return at < end && !memchr(at, '"', *ret_len) && !memchr(at, '{', *ret_len);
	}
	return false;
}

chrome_token reader_id(chrome_reader *r, const uint8_t *json, size_t len, uint32_t *flags)
{
	bool quoted = len >= 2 && json[0] == '"', is_global = false;

	if (len < 2 || json[0] != '{')
		return reader_token(r, json + quoted, len - 2 * quoted);
	if (scoped_id(json, len, &json, &len, &is_global)) {
		*flags |= is_global ? EVENT_HAS_GLOBAL_ID : 0;
		return reader_token(r, json, len);
	}
	chrome_token token = reader_token(r, json, len);
	if (token.is_text && !r->failed)
		r->strings.entries.items[token.number].repairs = 0; /* its quotes are those of JSON */
	return token;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

bool chrome_reader_init(chrome_reader *r, const import_job *job)
{
	*r = (chrome_reader){ .scalar = job->scalar || !__builtin_cpu_supports("avx2"), .careful = job->careful };
	if (getrandom(&r->seed, sizeof r->seed, GRND_NONBLOCK) != sizeof r->seed)
		r->seed = 0x5a17d3c94be60f21u;
	r->last_end = &r->root;
	r->texts = builder_texts(job->builder);
	return r->texts;
}

void chrome_reader_done(chrome_reader *r)
{
	dict_done(&r->strings);
	dict_done(&r->sites);
	dict_done(&r->shapes);
	VEC_DONE(&r->tracks);
	VEC_DONE(&r->layouts);
	VEC_DONE(&r->templates);
	VEC_DONE(&r->text_gaps);
	free(r->track_slots);
	arena_done(&r->arena);
	*r = (chrome_reader){ 0 };
}
