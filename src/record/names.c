/*
 * Names to ids, for the life of the process. A record is written once, to the table here and to the ring, and never
 * changes; the hash table is read without a lock. A name registered again (a library that was unloaded and loaded) gets
 * its old id.
 */
#define _GNU_SOURCE
#include "record/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include "base/sanitizer.h"
#include "record/text.h"

enum {
	SLOTS = 1 << 17,
	STEP = 64 << 10,
	RECENT = 1024,
	NONE_BYTES = 64, /* as much as is read of a record to tell that it is not the one */
	NONE_AT = RING_NAMES_BYTES - NONE_BYTES,
};

static struct {
	uint8_t bytes[RING_NAMES_BYTES]; /* touched page by page, as names come; from NONE_AT on always 0 */
	uint32_t slots[SLOTS];		 /* offset / 8 + 1 of a record */
	uint32_t recent[RECENT];	 /* by address of a name made at run time: NONE_AT - offset of its record */
	uint32_t used;
	uint32_t n_ids;
	uint32_t reserved; /* bytes of the ring's area that are backed by memory */
} names;

size_t names_bytes(void)
{
	size_t used = __atomic_load_n(&names.used, __ATOMIC_ACQUIRE);

	sanitizer_acquire(&names.used);
	return used;
}

const uint8_t *names_at(size_t offset)
{
	return names.bytes + offset;
}

/* What tells two names apart. */
typedef struct name_key {
	const char *name, *file;
	size_t len;
	uint32_t line;
	uint16_t category;
	uint8_t kind;
} name_key;

static uint64_t hash_key(const name_key *k)
{
	uint64_t h = (uint64_t)k->kind << 48 ^ (uint64_t)k->category << 32 ^ k->line ^ k->len << 20;
	const char *s = k->name;
	uint64_t word;
	size_t n = k->len;

	for (; n >= 8; n -= 8, s += 8) {
		memcpy(&word, s, 8);
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	word = 0;
	for (size_t i = 0; i < n; i++)
		word = word << 8 | (unsigned char)s[i];
	h = (h ^ word) * UINT64_C(0xbf58476d1ce4e5b9);
	return h ^ h >> 32;
}

static bool same(const name_record *r, const name_key *k)
{
	if (r->name_len != k->len || r->kind != k->kind || r->category != k->category || r->line != k->line ||
	    memcmp(r->text, k->name, k->len) != 0)
		return false;
	size_t file_len = k->file ? strlen(k->file) : 0;
	return file_len >= r->file_len && (r->file_len || !file_len) &&
	       (!file_len || memcmp(r->text + r->name_len, k->file, r->file_len) == 0);
}

/* NULL when there is none. *ret_slot is where it is or belongs. */
static const name_record *find(const name_key *k, uint32_t *ret_slot)
{
	uint32_t slot = (uint32_t)hash_key(k) & (SLOTS - 1);

	for (;; slot = (slot + 1) & (SLOTS - 1)) {
		uint32_t at = __atomic_load_n(&names.slots[slot], __ATOMIC_ACQUIRE);
		*ret_slot = slot;
		if (!at)
			return NULL;
		sanitizer_acquire(&names.used);
		const name_record *r = (const name_record *)(names.bytes + (size_t)(at - 1) * 8);
		if (same(r, k))
			return r;
	}
}

/* Copies bytes from..to into the ring, where they survive the program. False when there is no room. */
static bool publish(uint32_t from, uint32_t to)
{
	if (!rt.ring)
		return true;
	char *area = (char *)rt.ring + RING_HEADER_BYTES;
	while (names.reserved < to) {
		if (!ring_reserve(RING_HEADER_BYTES + names.reserved, STEP))
			return false;
		names.reserved += STEP;
	}
	memcpy(area + from, names.bytes + from, to - from);
	__atomic_store_n(&rt.ring->names_bytes, to, __ATOMIC_RELEASE);
	return true;
}

void names_attach(void)
{
	names.reserved = STEP;
	publish(0, names.used);
}

/* Writes the record and makes it known; under names_lock. NULL when there is no room. */
static const name_record *add(const name_key *k, uint32_t slot, const sonde_site *site, const sonde_arg *args,
			      size_t n_args)
{
	name_record *record = (name_record *)(names.bytes + names.used);
	name_parts p = {
		.id = (uint16_t)(NAME_FIRST_ID + names.n_ids),
		.kind = k->kind,
		.category = k->category,
		.line = k->line,
		.name = k->name,
		.name_len = k->len,
		.file = k->file,
		.function = site ? site->function : NULL,
	};

	if (names.n_ids >= UINT16_MAX - NAME_FIRST_ID || NONE_AT - names.used < NAME_RECORD_MAX)
		return NULL;
	for (; p.n_args < n_args && p.n_args < NAME_MAX_ARGS; p.n_args++) {
		p.args[p.n_args].type = (uint8_t)args[p.n_args].type;
		p.args[p.n_args].key = args[p.n_args].key;
	}
	uint32_t used = names.used + (uint32_t)name_write(record, &p);
	if (!publish(names.used, used))
		return NULL;
	uint32_t at = names.used / 8 + 1;
	names.n_ids++;
	/* Before anyone finds it: the writer's next batch may have an event of that name. */
	sanitizer_release(&names.used);
	__atomic_store_n(&names.used, used, __ATOMIC_RELEASE);
	__atomic_store_n(&names.slots[slot], at, __ATOMIC_RELEASE);
	return record;
}

/* NULL, and counted, when there is no room. */
static const name_record *intern(name_key *k, const sonde_site *site, const sonde_arg *args, size_t n_args)
{
	uint32_t slot;

	if (k->len > NAME_MAX_BYTES) {
		k->len = NAME_MAX_BYTES;
		while (k->len && ((unsigned char)k->name[k->len] & 0xc0) == 0x80)
			k->len--;
	}
	const name_record *r = find(k, &slot);
	if (r)
		return r;
	if (!this_thread.busy) {
		int saved = errno;
		this_thread.busy = 1;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		lock_take(&rt.names_lock);
		r = find(k, &slot);
		if (!r)
			r = add(k, slot, site, args, n_args);
		lock_release(&rt.names_lock);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		this_thread.busy = 0;
		errno = saved;
	}
	if (!r && ring_now())
		count_lost(&ring_now()->info.n_names_refused, 1);
	return r;
}

/* ---- Names made at run time -------------------------------------------------------------------------------------- */

/* A record without a place in the source and without arguments, in two comparisons. */
static inline bool is_made_at_run_time(const name_record *r, uint32_t kind_and_category, size_t len)
{
	uint32_t head;
	uint64_t rest;

	memcpy(&head, &r->kind, sizeof head);
	memcpy(&rest, &r->line, sizeof rest);
	return head == kind_and_category && rest == (uint64_t)len << 48;
}
_Static_assert(offsetof(name_record, kind) == 4 && offsetof(name_record, category) == 6 &&
		       offsetof(name_record, line) == 8 && offsetof(name_record, name_len) == 14 &&
		       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "is_made_at_run_time takes two words for these");

/* Programs pass the same few strings again and again: the address tells which one it may be. */
static inline uint32_t *recent_of(const char *name)
{
	return &names.recent[(uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

static const name_record *recent_record(const char *name)
{
	/* 0, none: not the first record, which another thread may be writing. */
	return (const name_record *)(names.bytes + NONE_AT - __atomic_load_n(recent_of(name), __ATOMIC_ACQUIRE));
}

/* Not in recent, or no short text. */
static __attribute__((noinline)) uint32_t intern_slowly(uint32_t kind_and_category, const char *name)
{
	name_key k = { .kind = (uint8_t)kind_and_category,
		       .category = (uint16_t)(kind_and_category >> 16),
		       .name = name ? name : "" };
	k.len = strlen(k.name);
	const name_record *r = recent_record(k.name);

	sanitizer_acquire(&names.used);
	if (k.len - 1 < NAME_MAX_BYTES && is_made_at_run_time(r, kind_and_category, k.len) &&
	    memcmp(r->text, k.name, k.len) == 0)
		return r->id;
	r = intern(&k, NULL, NULL, 0);
	if (!r)
		return NAME_FULL_ID;
	__atomic_store_n(recent_of(k.name), (uint32_t)(names.bytes + NONE_AT - (const uint8_t *)r), __ATOMIC_RELEASE);
	return r->id;
}

static inline uint32_t intern_text(uint32_t kind_and_category, const char *name)
{
#ifdef __SSE2__
	short_text t;

	if (name && short_text_read(&t, name)) {
		const name_record *r = recent_record(name);
		/* The table has room behind its last record. */
		if (t.len && is_made_at_run_time(r, kind_and_category, t.len) && short_text_is(&t, r->text))
			return r->id;
	}
#endif
	return intern_slowly(kind_and_category, name);
}

uint32_t name_intern(name_kind kind, uint32_t category, const char *name)
{
	return intern_text((uint32_t)kind | category << 16, name);
}

sonde_scope sonde_begin(const char *name)
{
	if (!sonde_on_(SONDE_ACTIVE_CPU_))
		return 0;
	uint32_t id = intern_text(NAME_SCOPE | SONDE_OTHER << 16, name);
	sonde_event_(id);
	return id;
}

uint32_t sonde_site_register_(sonde_site *site, sonde_category category, const sonde_arg *args, size_t n_args)
{
	name_key k = {
		.kind = (uint8_t)site->kind,
		.category = (uint16_t)category,
		.line = site->line,
		.name = site->name,
		.len = strlen(site->name),
		.file = site->file,
	};
	const name_record *r = intern(&k, site, args, n_args);

	if (!r)
		return NAME_FULL_ID;
	__atomic_store_n(&site->id, r->id, __ATOMIC_RELAXED);
	return r->id;
}
