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

enum { SLOTS = 1 << 17, STEP = 64 << 10, RECENT = 1024 };

static struct {
	uint8_t bytes[RING_NAMES_BYTES];    /* touched page by page, as names come */
	uint32_t slots[SLOTS];		    /* offset / 8 + 1 of a record */
	uint32_t record_of[UINT16_MAX + 1]; /* the same, by id */
	uint64_t recent[RECENT];	    /* address of a name made at run time << 16 | id */
	uint32_t used;
	uint32_t n_ids;
	uint32_t reserved; /* bytes of the ring's area that are backed by memory */
} names;

size_t names_bytes(void)
{
	return __atomic_load_n(&names.used, __ATOMIC_ACQUIRE);
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

/* The id, or 0. *ret_slot is where it is or belongs. */
static uint32_t find(const name_key *k, uint32_t *ret_slot)
{
	uint32_t slot = (uint32_t)hash_key(k) & (SLOTS - 1);

	for (;; slot = (slot + 1) & (SLOTS - 1)) {
		uint32_t at = __atomic_load_n(&names.slots[slot], __ATOMIC_ACQUIRE);
		*ret_slot = slot;
		if (!at)
			return 0;
		const name_record *r = (const name_record *)(names.bytes + (size_t)(at - 1) * 8);
		if (same(r, k))
			return r->id;
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

/* Writes the record and makes it known; under names_lock. Returns its id, or 0. */
static uint32_t add(const name_key *k, uint32_t slot, const sonde_site *site, const sonde_arg *args, size_t n_args)
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

	if (names.n_ids >= UINT16_MAX - NAME_FIRST_ID || sizeof names.bytes - names.used < NAME_RECORD_MAX)
		return 0;
	for (; p.n_args < n_args && p.n_args < NAME_MAX_ARGS; p.n_args++) {
		p.args[p.n_args].type = (uint8_t)args[p.n_args].type;
		p.args[p.n_args].key = args[p.n_args].key;
	}
	uint32_t used = names.used + (uint32_t)name_write(record, &p);
	if (!publish(names.used, used))
		return 0;
	uint32_t at = names.used / 8 + 1;
	names.n_ids++;
	/* Before anyone finds it: the writer's next batch may have an event of that name. */
	__atomic_store_n(&names.used, used, __ATOMIC_RELEASE);
	__atomic_store_n(&names.record_of[p.id], at, __ATOMIC_RELEASE);
	__atomic_store_n(&names.slots[slot], at, __ATOMIC_RELEASE);
	return p.id;
}

static uint32_t intern(name_key *k, const sonde_site *site, const sonde_arg *args, size_t n_args)
{
	uint32_t slot;

	if (k->len > NAME_MAX_BYTES) {
		k->len = NAME_MAX_BYTES;
		while (k->len && ((unsigned char)k->name[k->len] & 0xc0) == 0x80)
			k->len--;
	}
	uint32_t id = find(k, &slot);
	if (id)
		return id;
	if (!this_thread.busy) {
		int saved = errno;
		this_thread.busy = 1;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		lock_take(&rt.names_lock);
		id = find(k, &slot);
		if (!id)
			id = add(k, slot, site, args, n_args);
		lock_release(&rt.names_lock);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		this_thread.busy = 0;
		errno = saved;
	}
	if (!id && ring_now())
		count_lost(&ring_now()->info.n_names_refused, 1);
	return id ? id : NAME_FULL_ID;
}

/* Programs pass the same few strings again and again: the address tells which, and the text is compared. */
uint32_t name_intern(name_kind kind, uint32_t category, const char *name)
{
	uint64_t *recent = &names.recent[(uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> 54];
	uint64_t known = __atomic_load_n(recent, __ATOMIC_ACQUIRE);

	if (known >> 16 == (uint64_t)(uintptr_t)name && name) {
		uint32_t at = __atomic_load_n(&names.record_of[known & UINT16_MAX], __ATOMIC_ACQUIRE);
		const name_record *r = (const name_record *)(names.bytes + (size_t)(at - 1) * 8);
		if (r->kind == kind && r->category == category && strcmp(r->text, name) == 0)
			return r->id;
	}
	name_key k = { .kind = (uint8_t)kind, .category = (uint16_t)category, .name = name ? name : "" };
	k.len = strlen(k.name);
	uint32_t id = intern(&k, NULL, NULL, 0);
	if (id != NAME_FULL_ID && (uintptr_t)name >> 48 == 0)
		__atomic_store_n(recent, (uint64_t)(uintptr_t)name << 16 | id, __ATOMIC_RELEASE);
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
	uint32_t id = intern(&k, site, args, n_args);

	if (id != NAME_FULL_ID)
		__atomic_store_n(&site->id, id, __ATOMIC_RELAXED);
	return id;
}
