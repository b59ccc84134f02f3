#include "store/build/section_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/big.h"
#include "base/file.h"
#include "format/recording/file.h"
#include "store/index/pages.h"

static void fail(sections_out *o, int error)
{
	atomic_store(&o->error, error ? error : EIO);
}

static void write_at(sections_out *o, const void *bytes, size_t len, uint64_t at)
{
	if (len && !atomic_load(&o->error) && !file_write_at(o->fd, bytes, len, o->at + at))
		fail(o, errno);
}

/* ---- Before ------------------------------------------------------------------------------------------------------ */

/* Where each section lies, and how many pages all of them have. The last one holds their checksums. */
static uint64_t place_sections(sections_out *o)
{
	uint64_t at = sizeof(index_header) + sizeof o->sections, n_pages = 0;

	for (size_t i = 0; i < SECTION_KINDS; i++) {
		index_section *s = &o->sections[i];
		if (i == SECTION_PAGE_CRCS) {
			s->n_rows = n_pages;
			s->length = n_pages * sizeof(uint32_t);
		} else {
			n_pages += pages_in(s->length);
		}
		s->kind = (uint32_t)i;
		s->offset = at;
		at += (s->length + 7) & ~UINT64_C(7);
	}
	o->len = at + INDEX_PAD;
	return n_pages;
}

/* The image's memory is zero where nothing will be written. */
static bool allocate_image(sections_out *o)
{
	o->bytes = big_alloc(o->len, 1);
	if (!o->bytes)
		return false;
	for (size_t i = 0; i < SECTION_KINDS; i++) {
		uint64_t end = o->sections[i].offset + o->sections[i].length;
		memset(o->bytes + end, 0, -end & 7);
		o->outs[i].bytes = o->bytes + o->sections[i].offset;
	}
	memset(o->bytes + o->len - INDEX_PAD, 0, INDEX_PAD);
	return true;
}

static bool allocate_buffers(sections_out *o)
{
	for (size_t i = 0; i < SECTION_KINDS; i++) {
		uint64_t length = o->sections[i].length, most = SECTION_ROOM + INDEX_PAGE;
		o->outs[i].bytes = malloc(length < most ? length + 1 : most);
		if (!o->outs[i].bytes)
			return false;
	}
	return true;
}

static void write_header(sections_out *o, index_header *h, bool is_final)
{
	h->length = o->len;
	h->n_sections = SECTION_KINDS;
	h->directory_crc = crc32c(0, o->sections, sizeof o->sections) ^ !is_final;
	h->header_crc = crc32c(0, h, offsetof(index_header, header_crc));
	if (o->bytes) {
		memcpy(o->bytes, h, sizeof *h);
		memcpy(o->bytes + sizeof *h, o->sections, sizeof o->sections);
	} else {
		write_at(o, o->sections, sizeof o->sections, sizeof *h);
		write_at(o, h, sizeof *h, 0);
	}
}

bool sections_begin(sections_out *o, const index_header *header)
{
	uint64_t n_pages = place_sections(o), page = 0;
	index_header first = *header;

	o->crcs = malloc((n_pages + 1) * sizeof *o->crcs);
	if (!o->crcs || !(o->fd < 0 ? allocate_image(o) : allocate_buffers(o)))
		return false;
	for (size_t i = 0; i < SECTION_PAGE_CRCS; i++) {
		o->outs[i].crcs = o->crcs + page;
		page += pages_in(o->sections[i].length);
	}
	if (!o->bytes)
		write_header(o, &first, false);
	return true;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

static void sum_page(section_out *s, size_t len)
{
	*s->crcs++ = crc32c(0, s->bytes + (s->summed - s->from), len);
	s->summed += len;
}

/* Whole pages go to the file; the buffer begins with what is left. */
static void flush(sections_out *o, index_kind kind)
{
	section_out *s = &o->outs[kind];
	size_t len = s->summed - s->from;

	write_at(o, s->bytes, len, o->sections[kind].offset + s->from);
	memmove(s->bytes, s->bytes + len, s->n - s->summed);
	s->from = s->summed;
}

uint8_t *section_room(sections_out *o, index_kind kind, size_t len)
{
	section_out *s = &o->outs[kind];

	if (!o->bytes && s->n - s->from + len > SECTION_ROOM)
		flush(o, kind);
	return s->bytes + (s->n - s->from);
}

void section_add(sections_out *o, index_kind kind, size_t len)
{
	section_out *s = &o->outs[kind];

	s->n += len;
	while (s->n - s->summed >= INDEX_PAGE)
		sum_page(s, INDEX_PAGE);
}

void section_put(sections_out *o, index_kind kind, const void *bytes, uint64_t len)
{
	for (const uint8_t *from = bytes; len;) {
		size_t n = len < SECTION_ROOM ? (size_t)len : SECTION_ROOM;
		memcpy(section_room(o, kind, n), from, n);
		section_add(o, kind, n);
		from += n;
		len -= n;
	}
}

void section_sync(sections_out *o, index_kind kind)
{
	section_out *s = &o->outs[kind];

	if (!o->bytes)
		write_at(o, s->bytes, s->n - s->from, o->sections[kind].offset + s->from);
}

const void *section_back(sections_out *o, index_kind kind, uint64_t at, size_t len, void *buffer)
{
	if (o->bytes)
		return o->bytes + o->sections[kind].offset + at;
	errno = 0;
	if (!atomic_load(&o->error) && file_read_at(o->fd, buffer, len, o->at + o->sections[kind].offset + at))
		return buffer;
	if (!atomic_load(&o->error))
		fail(o, errno);
	return memset(buffer, 0, len);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void end_section(sections_out *o, index_kind kind)
{
	section_out *s = &o->outs[kind];
	uint64_t n_pages = pages_in(s->n);

	if (s->n > s->summed)
		sum_page(s, s->n - s->summed);
	section_sync(o, kind);
	o->sections[kind].crc = crc32c(0, s->crcs - n_pages, n_pages * sizeof *s->crcs);
}

bool sections_end(sections_out *o, index_header *header)
{
	static const uint8_t zeros[INDEX_PAD];
	const index_section *crcs = &o->sections[SECTION_PAGE_CRCS];

	for (size_t i = 0; i < SECTION_PAGE_CRCS; i++)
		end_section(o, (index_kind)i);
	if (o->bytes)
		memcpy(o->bytes + crcs->offset, o->crcs, crcs->length);
	else
		write_at(o, o->crcs, crcs->length, crcs->offset);
	if (!o->bytes)
		write_at(o, zeros, sizeof zeros, o->len - INDEX_PAD);
	write_header(o, header, true);
	return !atomic_load(&o->error);
}

void sections_done(sections_out *o)
{
	for (size_t i = 0; i < SECTION_KINDS && !o->bytes; i++)
		free(o->outs[i].bytes);
	free(o->crcs);
}
