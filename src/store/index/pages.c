/* See index/pages.h. */
#define _GNU_SOURCE
#include "store/index/pages.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "format/recording/file.h"
#include "store/index/image.h"

/* What people call the sections. */
static const char *const section_names[SECTION_KINDS] = {
	[SECTION_COARSE] = "summaries",
	[SECTION_LANES] = "lanes",
	[SECTION_TRACKS] = "tracks",
	[SECTION_PROCESSES] = "processes",
	[SECTION_SITES] = "sums per name",
	[SECTION_STRINGS] = "names",
	[SECTION_STRING_BYTES] = "names",
	[SECTION_META] = "metadata",
	[SECTION_DIAGNOSTICS] = "diagnostics",
	[SECTION_STEPS] = "steps",
	[SECTION_FINE] = "summaries",
	[SECTION_BLOCKS] = "slices",
	[SECTION_SLICES] = "slices",
	[SECTION_INSTANT_BLOCKS] = "instants",
	[SECTION_INSTANTS] = "instants",
	[SECTION_FLOW_BLOCKS] = "flows",
	[SECTION_FLOWS] = "flows",
	[SECTION_LAUNCH_BLOCKS] = "launches",
	[SECTION_LAUNCHES] = "launches",
	[SECTION_ALLOCATION_BLOCKS] = "allocations",
	[SECTION_ALLOCATIONS] = "allocations",
	[SECTION_COUNTERS] = "counters",
	[SECTION_VALUE_BLOCKS] = "counter values",
	[SECTION_VALUES] = "counter values",
	[SECTION_SAMPLE_BLOCKS] = "samples",
	[SECTION_SAMPLES] = "samples",
	[SECTION_MESSAGES] = "collectives",
	[SECTION_COLLECTIVE_BLOCKS] = "collectives",
	[SECTION_COLLECTIVES] = "collectives",
	[SECTION_DEVICES] = "devices",
	[SECTION_ROLES] = "roles of arguments",
	[SECTION_TEMPLATES] = "arguments",
	[SECTION_ARG_TEXTS] = "arguments",
	[SECTION_ARG_TEXT_BYTES] = "arguments",
	[SECTION_ARG_BLOCKS] = "arguments",
	[SECTION_ARGS] = "arguments",
	[SECTION_PAGE_CRCS] = "checksums",
};

const char *index_section_name(index_kind kind)
{
	return (unsigned)kind < SECTION_KINDS ? section_names[kind] : "an unknown section";
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static sonde_status damaged_checksums(const sonde_index *ix, sonde_error *err)
{
	return error_set(err, SONDE_E_FORMAT, (int64_t)ix->sections[SECTION_PAGE_CRCS].offset,
			 "the index's checksums are damaged");
}

static bool allocate(sonde_index *ix, uint64_t n)
{
	index_pages *p = calloc(1, sizeof *p);

	if (!p)
		return false;
	pthread_mutex_init(&p->lock, NULL);
	p->states = calloc(n + 1, sizeof *p->states);
	p->crcs = ix->data[SECTION_PAGE_CRCS];
	p->n = n;
	ix->pages = p;
	return p->states;
}

sonde_status pages_open(sonde_index *ix, const index_section *directory, uint32_t n_sections, sonde_error *err)
{
	uint64_t n = ix->sections[SECTION_PAGE_CRCS].n_rows, page = 0;

	if (!allocate(ix, n))
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	for (uint32_t i = 0; i < n_sections; i++) {
		const index_section *s = &directory[i];
		uint64_t n_pages = s->kind == SECTION_PAGE_CRCS ? 0 : pages_in(s->length);
		if (n_pages > n - page || s->crc != crc32c(0, ix->pages->crcs + page, n_pages * sizeof(uint32_t)))
			return damaged_checksums(ix, err);
		if (s->kind < SECTION_KINDS)
			ix->pages->first[s->kind] = page;
		page += n_pages;
	}
	return page == n ? SONDE_OK : damaged_checksums(ix, err);
}

void pages_free(index_pages *p)
{
	if (!p)
		return;
	index_free(p->made);
	pthread_mutex_destroy(&p->lock);
	free(p->states);
	free(p);
}

void index_set_maker(sonde_index *ix, index_maker *make, void *context, const char *path)
{
	if (!ix->pages)
		return;
	ix->pages->make = make;
	ix->pages->maker_context = context;
	ix->pages->path = path;
}

/* ---- Mending ----------------------------------------------------------------------------------------------------- */

/* A page as it lies in an image. */
typedef struct page_place {
	uint64_t at; /* offset in the image */
	size_t len;
	uint32_t crc; /* as it should be */
} page_place;

static page_place place_of(const sonde_index *ix, index_kind kind, uint64_t page)
{
	const index_section *s = &ix->sections[kind];
	uint64_t from = page * INDEX_PAGE, left = s->length - from;

	return (page_place){
		.at = s->offset + from,
		.len = left < INDEX_PAGE ? left : INDEX_PAGE,
		.crc = ix->pages->crcs[ix->pages->first[kind] + page],
	};
}

static bool is_sound(const uint8_t *image, const page_place *at)
{
	return crc32c(0, image + at->at, at->len) == at->crc;
}

/* Memory pages that hold the bytes can be written; those of a mapped file become copies. */
static bool make_writable(const sonde_index *ix, const uint8_t *bytes, size_t len)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)bytes & ~(page - 1);

	return ix->owner == IMAGE_ALLOCATED ||
	       (ix->owner == IMAGE_MAPPED &&
		mprotect((void *)from, (uintptr_t)bytes + len - from, PROT_READ | PROT_WRITE) == 0);
}

/* Into the file itself, as far as it is the one that was opened and may be written: the next reader finds it whole. */
static void write_back(const sonde_index *ix, const page_place *at)
{
	const char *path = ix->pages->path;
	int fd = path && ix->owner == IMAGE_MAPPED ? open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
	const uint8_t *bytes = ix->bytes + at->at;
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_dev == ix->device && st.st_ino == ix->inode &&
	    (size_t)st.st_size >= ix->owned_len &&
	    pwrite(fd, bytes, at->len, (off_t)(bytes - (const uint8_t *)ix->owned)) != (ssize_t)at->len) {
		/* It stays as it was and is mended again next time. */
	}
	close(fd);
}

/* The same page of an image that is made anew: the same events give the same bytes. */
static bool mend(const sonde_index *ix, const page_place *at)
{
	index_pages *p = ix->pages;
	uint8_t *to = (uint8_t *)ix->bytes + at->at;

	if (!p->has_tried && p->make)
		p->made = p->make(p->maker_context);
	p->has_tried = true;
	if (!p->made || p->made->len != ix->len || !is_sound(p->made->bytes, at) || !make_writable(ix, to, at->len))
		return false;
	memcpy(to, p->made->bytes + at->at, at->len);
	p->n_mended++;
	write_back(ix, at);
	return true;
}

static void note_damage(index_pages *p, index_kind kind, const page_place *at)
{
	if (!p->n_damaged++) {
		p->damaged_kind = kind;
		p->damaged_at = at->at;
	}
	atomic_store(&p->is_damaged, true);
}

/* A page that is not known to be sound. */
static bool settle(const sonde_index *ix, index_kind kind, uint64_t page)
{
	index_pages *p = ix->pages;
	_Atomic uint8_t *state = &p->states[p->first[kind] + page];
	page_place at = place_of(ix, kind, page);
	bool sound = is_sound(ix->bytes, &at);

	if (!sound) {
		pthread_mutex_lock(&p->lock);
		sound = *state == PAGE_SOUND || (*state == PAGE_UNKNOWN && mend(ix, &at));
		if (!sound && *state == PAGE_UNKNOWN) {
			note_damage(p, kind, &at);
			*state = PAGE_DAMAGED;
		}
		pthread_mutex_unlock(&p->lock);
	}
	/* Release: a thread that finds it sound sees the bytes that mend() wrote. */
	if (sound)
		atomic_store_explicit(state, PAGE_SOUND, memory_order_release);
	return sound;
}

bool pages_verify(const sonde_index *ix, index_kind kind, uint64_t first, uint64_t last)
{
	bool sound = true;

	for (uint64_t i = first; i <= last; i++) {
		uint8_t state =
			atomic_load_explicit(&ix->pages->states[ix->pages->first[kind] + i], memory_order_acquire);
		sound = (state == PAGE_SOUND || (state == PAGE_UNKNOWN && settle(ix, kind, i))) && sound;
	}
	return sound;
}

/* ---- What was found ---------------------------------------------------------------------------------------------- */

bool index_is_damaged(const sonde_index *ix)
{
	return ix->pages && atomic_load(&ix->pages->is_damaged);
}

uint64_t index_n_mended(const sonde_index *ix)
{
	uint64_t n;

	if (!ix->pages)
		return 0;
	pthread_mutex_lock(&ix->pages->lock);
	n = ix->pages->n_mended;
	pthread_mutex_unlock(&ix->pages->lock);
	return n;
}

sonde_status index_damage(const sonde_index *ix, sonde_error *err)
{
	index_pages *p = ix->pages;

	if (!index_is_damaged(ix))
		return SONDE_OK;
	pthread_mutex_lock(&p->lock);
	uint64_t n = p->n_damaged, at = p->damaged_at;
	const char *name = index_section_name(p->damaged_kind);
	pthread_mutex_unlock(&p->lock);
	if (ix->owner == IMAGE_MAPPED)
		at += (uint64_t)(ix->bytes - (const uint8_t *)ix->owned);
	return error_set(err, SONDE_E_FORMAT, (int64_t)at,
			 "some %s cannot be read: wrong checksum (%" PRIu64
			 " damaged page%s of %d bytes); the results lack them",
			 name, n, n == 1 ? "" : "s", INDEX_PAGE);
}

/* An image that this process made has no pages to look at yet. */
static sonde_status verify_made(const sonde_index *ix, sonde_error *err)
{
	sonde_index *again;
	sonde_status status = ix->places ? SONDE_OK : index_open_memory(ix->bytes, ix->len, &again, err);

	if (status || ix->places)
		return status;
	status = index_verify(again, err);
	index_free(again);
	return status;
}

sonde_status index_verify(const sonde_index *ix, sonde_error *err)
{
	if (!ix->pages)
		return verify_made(ix, err);
	for (int kind = 0; kind < SECTION_PAGE_CRCS; kind++)
		image_use(ix, (index_kind)kind, 0, ix->sections[kind].length);
	return index_damage(ix, err);
}
