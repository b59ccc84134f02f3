/*
 * From bytes to blocks. A block counts when its header's and its payload's checksums fit. After anything else the
 * search goes on at the next multiple of 8: blocks are aligned, so the next whole one is found.
 *
 * Behind the blocks of a finished recording lies its index (format/index/sections.h), which is not looked into here.
 * Where it is cut off, because whoever added it was killed or the file was, the blocks are still whole, and that is all
 * that counts.
 */
#include "import/recording/recording.h"

#include <inttypes.h>
#include "base/error.h"

/* A file could name a million streams; a real one has one per process. */
enum { MAX_STREAMS = 65536 };

recording_stream *recording_stream_of(recording *t, uint64_t id)
{
	uint32_t index = intern(&t->stream_ids, (const char *)&id, sizeof id);

	if (index < t->streams.n)
		return &t->streams.items[index];
	recording_stream *s = index == INTERN_NONE || index >= MAX_STREAMS ? NULL : VEC_ADD(&t->streams);
	if (s)
		s->id = id;
	return s;
}

/* In pages, so that a file of many streams with one high id each does not take megabytes a stream. */
static trace_site *make_site(recording_stream *s, uint16_t id)
{
	if (!s->site_pages && !(s->site_pages = calloc(256, sizeof *s->site_pages)))
		return NULL;
	trace_site **page = &s->site_pages[id >> 8];
	if (!*page)
		*page = calloc(256, sizeof **page);
	return *page ? &(*page)[id & 255] : NULL;
}

static bool add_names(recording *t, recording_stream *s, const uint8_t *payload, size_t len)
{
	for (size_t at = 0; at < len;) {
		const name_record *r = name_read(payload + at, len - at);
		if (!r)
			return true; /* the checksum was right: a kind of record that this version does not know */
		trace_site *site = make_site(s, r->id);
		if (!site)
			return false;
		site->record = r;
		site->kind = r->kind;
		site->name = intern(&t->strings, r->text, r->name_len);
		if (site->name == INTERN_NONE)
			return false;
		at += r->size;
	}
	return true;
}

static bool add_meta(recording *t, recording_stream *s, const char *text, size_t len)
{
	while (len) {
		size_t key_len = strnlen(text, len);
		if (key_len == len)
			return true;
		size_t value_len = strnlen(text + key_len + 1, len - key_len - 1);
		if (key_len + 1 + value_len == len)
			return true;
		trace_meta *m = VEC_ADD(&s->meta);
		if (!m)
			return false;
		m->key = arena_strdup(&t->arena, text);
		m->value = arena_strdup(&t->arena, text + key_len + 1);
		if (!m->key || !m->value)
			return false;
		text += key_len + value_len + 2;
		len -= key_len + value_len + 2;
	}
	return true;
}

static bool add_pairs(recording_stream *s, const uint8_t *payload, size_t len, bool is_joined)
{
	for (; len >= sizeof(clock_pair); len -= sizeof(clock_pair), payload += sizeof(clock_pair)) {
		clock_pair *pair = VEC_ADD(&s->pairs);
		if (!pair)
			return false;
		memcpy(pair, payload, sizeof *pair);
		if (!s->has_joined_pairs && pair->ticks > s->settled_ticks)
			s->settled_ticks = pair->ticks;
		clock_pair *kept = is_joined ? pair : VEC_ADD(&s->file_pairs);
		if (!kept)
			return false;
		*kept = *pair;
	}
	return true;
}

static bool add_events(recording *t, const recording_stream *s, const block_header *h, const uint8_t *payload)
{
	if (h->length < sizeof(events_head))
		return true;
	recording_block *b = VEC_ADD(&t->blocks);
	if (!b)
		return false;
	*b = (recording_block){
		.stream = (uint32_t)(s - t->streams.items),
		.n_events = h->n_events,
		.joined = t->scanned_file == RECORDING_RING,
		.file = (uint16_t)t->scanned_file,
		.bytes = payload + sizeof(events_head),
		.len = h->length - sizeof(events_head),
	};
	memcpy(&b->head, payload, sizeof b->head);
	return true;
}

/* `size` is that of one: older ones lack the end. */
static bool add_samples(recording *t, const uint8_t *payload, size_t len, size_t size)
{
	for (; len >= size; len -= size, payload += size) {
		process_sample *sample = VEC_ADD(&t->samples);
		if (!sample)
			return false;
		*sample = (process_sample){ 0 };
		memcpy(sample, payload, size);
		sample->time_ns = trace_bounded_ns(sample->time_ns);
	}
	return true;
}

static bool add_process(recording *t, const uint8_t *payload, size_t len)
{
	process_block block;

	if (len < sizeof block)
		return true;
	memcpy(&block, payload, sizeof block);
	recording_process *p = VEC_ADD(&t->processes);
	if (!p)
		return false;
	*p = (recording_process){ .pid = block.pid, .parent_pid = block.parent_pid };
	p->command = arena_strndup(&t->arena, (const char *)payload + sizeof block, len - sizeof block);
	return p->command != NULL;
}

void recording_sanitize_info(stream_block *info)
{
	info->start_ns = trace_bounded_ns(info->start_ns);
	info->end_ns = trace_bounded_ns(info->end_ns);
	info->ring_path[sizeof info->ring_path - 1] = 0;
	info->program[sizeof info->program - 1] = 0;
	info->host[sizeof info->host - 1] = 0;
	info->writer[sizeof info->writer - 1] = 0;
}

bool recording_add_block(recording *t, const block_header *h, const uint8_t *payload)
{
	recording_stream *s = recording_stream_of(t, h->stream);

	if (!s)
		return false;
	if (h->kind < BLOCK_KINDS) {
		t->n_blocks_of[h->kind]++;
		t->bytes_of[h->kind] += sizeof *h + block_padded(h->length);
	}
	switch (h->kind) {
	case BLOCK_STREAM:
		if (h->length < sizeof s->info)
			return true;
		memcpy(&s->info, payload, sizeof s->info);
		recording_sanitize_info(&s->info);
		s->has_info = true;
		s->file = t->scanned_file;
		s->info_at = t->scanned_file < t->files.n
				     ? (uint64_t)((const uint8_t *)h - t->files.items[t->scanned_file].bytes)
				     : 0;
		return true;
	case BLOCK_NAMES:
		return add_names(t, s, payload, h->length);
	case BLOCK_CLOCK:
		return add_pairs(s, payload, h->length, t->scanned_file == RECORDING_RING);
	case BLOCK_EVENTS:
		return add_events(t, s, h, payload);
	case BLOCK_META:
		return add_meta(t, s, (const char *)payload, h->length);
	case BLOCK_PROCESS:
		return add_process(t, payload, h->length);
	case BLOCK_SAMPLES:
		return add_samples(t, payload, h->length, sizeof(process_sample));
	case BLOCK_SAMPLES_72:
		return add_samples(t, payload, h->length, 72);
	case BLOCK_MODULES:
		s->modules = (const char *)payload;
		s->modules_len = h->length;
		return true;
	default:
		return true; /* of a later version of the same format: not needed to read the rest */
	}
}

static void note_damage(recording *t, size_t at)
{
	if (t->diagnostics.first_damage < 0)
		t->diagnostics.first_damage = (int64_t)at;
}

/* One file on its way into blocks. */
typedef struct scan {
	recording *trace;
	recording_file file;
	size_t n_blocks;
	size_t first;  /* number of its first block of events */
	size_t budget; /* bytes that may still be summed up in search of blocks inside damaged ones */
	size_t n_read; /* since pages were let go of */
} scan;

static const block_header *header_at(const scan *s, size_t at)
{
	return (const block_header *)(s->file.bytes + at);
}

/* The header at `at` is sound; is all of its block? */
static bool is_whole(const scan *s, size_t at)
{
	const block_header *h = header_at(s, at);

	return h->length <= s->file.len - at - sizeof *h && crc32c(0, h + 1, h->length) == h->payload_crc;
}

/* The first sound block inside the payload of a damaged one, or `to`: a file that was cut off inside a block and then
   added to. The budget keeps it linear, however many headers a stranger put there. */
static size_t find_inside(scan *s, size_t from, size_t to)
{
	for (size_t at = from; at < to && s->file.len - at >= sizeof(block_header); at += BLOCK_ALIGN) {
		const block_header *h = header_at(s, at);
		if (!block_header_ok(h))
			continue;
		if (h->length > s->budget)
			break;
		s->budget -= h->length;
		if (is_whole(s, at))
			return at;
	}
	return to;
}

/* A sound header whose payload is damaged or cut off. Returns where to go on. */
static size_t skip_damaged(scan *s, size_t at)
{
	const block_header *h = header_at(s, at);
	recording_diagnostics *d = &s->trace->diagnostics;
	size_t left = s->file.len - at, size = sizeof *h + block_padded(h->length);
	size_t end = at + (size < left ? size : left), next = find_inside(s, at + sizeof *h, end);

	if (next == s->file.len && sizeof *h + h->length > left) {
		/* The end of a recording that was killed; the ring, if it is there, still has these events. */
		d->truncated_bytes += left;
		s->file.truncated = left;
		s->file.cut = at;
		return next;
	}
	if (h->kind == BLOCK_EVENTS)
		d->n_lost_damaged += h->n_events;
	note_damage(s->trace, at);
	d->n_damaged_blocks++;
	d->skipped_bytes += next - at;
	return next;
}

/* Bytes of an index that begins at `at`, with its footer; all that are left when it is cut off; 0: there is none. */
static size_t index_bytes_at(const scan *s, size_t at, bool *ret_cut_off)
{
	const uint8_t *bytes = s->file.bytes + at;
	size_t left = s->file.len - at;
	uint64_t magic = INDEX_MAGIC;
	index_header h;
	index_footer f;

	*ret_cut_off = true;
	/* The first four bytes are those of a block. */
	if (left <= 4 || memcmp(bytes, &magic, left < sizeof magic ? left : sizeof magic) != 0)
		return 0;
	if (left < sizeof h)
		return left;
	memcpy(&h, bytes, sizeof h);
	if (h.header_crc != crc32c(0, &h, offsetof(index_header, header_crc)) || h.length < sizeof h)
		return 0;
	if (left < sizeof f || h.length > left - sizeof f)
		return left;
	memcpy(&f, bytes + h.length, sizeof f);
	*ret_cut_off = f.magic != INDEX_FOOTER || f.crc != crc32c(0, &f, offsetof(index_footer, crc));
	return (size_t)h.length + (*ret_cut_off ? 0 : sizeof f);
}

/* Takes note of it and returns the bytes to go on behind, or 0. */
static size_t skip_index(scan *s, size_t at)
{
	bool cut_off;
	size_t n = s->n_blocks || s->file.from ? index_bytes_at(s, at, &cut_off) : 0;

	if (!n)
		return 0;
	s->trace->index_bytes += n;
	if (cut_off)
		s->trace->diagnostics.torn_index_bytes += n;
	if (cut_off && n == s->file.len - at)
		s->file.cut = at;
	return n;
}

/* The footer says where the index begins: nothing behind it is a block, whatever lies before it. */
static size_t blocks_end(const recording_file *file)
{
	index_footer f;

	if (file->len < sizeof f)
		return file->len;
	memcpy(&f, file->bytes + file->len - sizeof f, sizeof f);
	return index_footer_fits(&f, file->len) && f.offset >= file->from ? (size_t)f.offset : file->len;
}

static sonde_status refuse(const recording_file *f, sonde_error *err)
{
	const uint32_t *magic = (const uint32_t *)f->bytes;

	if (f->len == 0)
		return error_set(err, SONDE_E_TRUNCATED, 0, "the file is empty");
	if (f->len >= sizeof *magic && *magic == FORMAT_MAGIC)
		return error_set(err, SONDE_E_TRUNCATED, (int64_t)f->len,
				 "the file ends in its first block: it has no events");
	return error_set(err, SONDE_E_FORMAT, 0, "byte 0: not a Sonde recording");
}

static sonde_status scan_block(scan *s, size_t *at, sonde_error *err)
{
	const block_header *h = header_at(s, *at);

	if (h->version > FORMAT_VERSION)
		return error_set(err, SONDE_E_VERSION, (int64_t)*at,
				 "byte %zu: written by a newer Sonde (format %u; this one reads up to %u)", *at,
				 h->version, (unsigned)FORMAT_VERSION);
	if (!is_whole(s, *at)) {
		*at = skip_damaged(s, *at);
		return SONDE_OK;
	}
	if (!recording_add_block(s->trace, h, (const uint8_t *)(h + 1)) || !recording_prune(s->trace, s->first))
		return error_set(err, SONDE_E_MEMORY, (int64_t)*at, "out of memory at byte %zu", *at);
	s->n_blocks++;
	*at += sizeof *h + block_padded(h->length);
	recording_release_pages(s->trace, h->length, &s->n_read);
	return SONDE_OK;
}

/* At something that is no block. Returns where to go on. */
static size_t skip_strange(scan *s, size_t at)
{
	size_t left = s->file.len - at, n = skip_index(s, at);

	if (n)
		return at + n;
	if (left < sizeof(block_header)) {
		s->trace->diagnostics.truncated_bytes += left;
		s->file.truncated = left;
		s->file.cut = at;
		return s->file.len;
	}
	note_damage(s->trace, at);
	s->trace->diagnostics.skipped_bytes += BLOCK_ALIGN;
	return at + BLOCK_ALIGN;
}

sonde_status recording_scan(recording *t, size_t file, sonde_error *err)
{
	scan s = { .trace = t, .file = t->files.items[file], .first = t->blocks.n };
	sonde_status status = SONDE_OK;
	size_t end = blocks_end(&s.file);

	t->scanned_file = (uint32_t)file;
	t->index_bytes += s.file.len - end;
	s.file.len = end;
	s.file.cut = s.budget = s.file.len;
	for (size_t at = s.file.from; at < s.file.len && !status;) {
		if (s.file.len - at >= sizeof(block_header) && block_header_ok(header_at(&s, at)))
			status = scan_block(&s, &at, err);
		else
			at = skip_strange(&s, at);
	}
	t->files.items[file].cut = s.file.cut;
	t->files.items[file].truncated = s.file.truncated;
	return status || s.n_blocks || s.file.from ? status : refuse(&s.file, err);
}
