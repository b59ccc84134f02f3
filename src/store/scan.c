/*
 * From bytes to blocks. A block counts when its header's and its payload's checksums fit. After anything else the
 * search goes on at the next multiple of 8: blocks are aligned, so the next whole one is found.
 */
#include "store/trace.h"

#include <inttypes.h>
#include "base/error.h"

/* A file could name a million streams; a real one has one per process. */
enum { MAX_STREAMS = 65536 };

trace_stream *trace_stream_of(sonde_trace *t, uint64_t id)
{
	uint32_t index = intern(&t->stream_ids, (const char *)&id, sizeof id);

	if (index < t->streams.n)
		return &t->streams.items[index];
	trace_stream *s = index == INTERN_NONE || index >= MAX_STREAMS ? NULL : VEC_ADD(&t->streams);
	if (s)
		s->id = id;
	return s;
}

static bool add_names(sonde_trace *t, trace_stream *s, const uint8_t *payload, size_t len)
{
	for (size_t at = 0; at < len;) {
		const name_record *r = name_read(payload + at, len - at);
		if (!r)
			return true; /* the checksum was right: a kind of record that this version does not know */
		if (r->id >= s->n_sites) {
			size_t n = (size_t)r->id + 1;
			n = n < 64 ? 64 : n * 2;
			trace_site *sites = realloc(s->sites, n * sizeof *sites);
			if (!sites)
				return false;
			memset(sites + s->n_sites, 0, (n - s->n_sites) * sizeof *sites);
			s->sites = sites;
			s->n_sites = n;
		}
		trace_site *site = &s->sites[r->id];
		site->record = r;
		site->kind = r->kind;
		site->name = intern(&t->strings, r->text, r->name_len);
		if (site->name == INTERN_NONE)
			return false;
		at += r->size;
	}
	return true;
}

static bool add_meta(sonde_trace *t, trace_stream *s, const char *text, size_t len)
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

static bool add_pairs(trace_stream *s, const uint8_t *payload, size_t len)
{
	for (; len >= sizeof(clock_pair); len -= sizeof(clock_pair), payload += sizeof(clock_pair)) {
		clock_pair *pair = VEC_ADD(&s->pairs);
		if (!pair)
			return false;
		memcpy(pair, payload, sizeof *pair);
	}
	return true;
}

static bool add_events(sonde_trace *t, const trace_stream *s, const block_header *h, const uint8_t *payload)
{
	if (h->length < sizeof(events_head))
		return true;
	trace_block *b = VEC_ADD(&t->blocks);
	if (!b)
		return false;
	*b = (trace_block){
		.stream = (uint32_t)(s - t->streams.items),
		.n_events = h->n_events,
		.bytes = payload + sizeof(events_head),
		.len = h->length - sizeof(events_head),
	};
	memcpy(&b->head, payload, sizeof b->head);
	return true;
}

static bool add_samples(sonde_trace *t, const uint8_t *payload, size_t len)
{
	for (; len >= sizeof(process_sample); len -= sizeof(process_sample), payload += sizeof(process_sample)) {
		process_sample *sample = VEC_ADD(&t->samples);
		if (!sample)
			return false;
		memcpy(sample, payload, sizeof *sample);
	}
	return true;
}

static bool add_process(sonde_trace *t, const uint8_t *payload, size_t len)
{
	process_block block;

	if (len < sizeof block)
		return true;
	memcpy(&block, payload, sizeof block);
	trace_process *p = VEC_ADD(&t->processes);
	if (!p)
		return false;
	*p = (trace_process){ .pid = block.pid, .parent_pid = block.parent_pid };
	p->command = arena_strndup(&t->arena, (const char *)payload + sizeof block, len - sizeof block);
	return p->command != NULL;
}

bool trace_add_block(sonde_trace *t, const block_header *h, const uint8_t *payload)
{
	trace_stream *s = trace_stream_of(t, h->stream);

	if (!s)
		return false;
	if (h->kind <= BLOCK_MODULES) {
		t->n_blocks_of[h->kind]++;
		t->bytes_of[h->kind] += sizeof *h + block_padded(h->length);
	}
	switch (h->kind) {
	case BLOCK_STREAM:
		if (h->length < sizeof s->info)
			return true;
		memcpy(&s->info, payload, sizeof s->info);
		/* Texts from a stranger: terminated here, once. */
		s->info.ring_path[sizeof s->info.ring_path - 1] = 0;
		s->info.program[sizeof s->info.program - 1] = 0;
		s->info.host[sizeof s->info.host - 1] = 0;
		s->info.writer[sizeof s->info.writer - 1] = 0;
		s->has_info = true;
		return true;
	case BLOCK_NAMES:
		return add_names(t, s, payload, h->length);
	case BLOCK_CLOCK:
		return add_pairs(s, payload, h->length);
	case BLOCK_EVENTS:
		return add_events(t, s, h, payload);
	case BLOCK_META:
		return add_meta(t, s, (const char *)payload, h->length);
	case BLOCK_PROCESS:
		return add_process(t, payload, h->length);
	case BLOCK_SAMPLES:
		return add_samples(t, payload, h->length);
	case BLOCK_MODULES:
		s->modules = (const char *)payload;
		s->modules_len = h->length;
		return true;
	default:
		return true; /* of a later version of the same format: not needed to read the rest */
	}
}

static void note_damage(sonde_trace *t, size_t at)
{
	if (t->diagnostics.first_damage < 0)
		t->diagnostics.first_damage = (int64_t)at;
}

/* A sound header whose payload is damaged or cut off. Returns how far to go on. */
static size_t skip_damaged(sonde_trace *t, const block_header *h, size_t at, size_t left)
{
	size_t size = sizeof *h + block_padded(h->length);

	if (h->kind == BLOCK_EVENTS && sizeof *h + h->length <= left)
		t->diagnostics.n_lost_damaged += h->n_events;
	if (sizeof *h + h->length > left) {
		/* The end of a recording that was killed; the ring, if it is there, still has these events. */
		t->diagnostics.truncated_bytes += left;
		return left;
	}
	note_damage(t, at);
	t->diagnostics.n_damaged_blocks++;
	t->diagnostics.skipped_bytes += size < left ? size : left;
	return size;
}

static sonde_status refuse(const trace_file *f, sonde_error *err)
{
	const uint32_t *magic = (const uint32_t *)f->bytes;

	if (f->len == 0)
		return error_set(err, SONDE_E_TRUNCATED, 0, "the file is empty");
	if (f->len >= sizeof *magic && *magic == FORMAT_MAGIC)
		return error_set(err, SONDE_E_TRUNCATED, (int64_t)f->len,
				 "the file ends at byte %zu, inside its first block: nothing was recorded", f->len);
	return error_set(err, SONDE_E_FORMAT, 0, "byte 0: not a Sonde recording");
}

sonde_status trace_scan(sonde_trace *t, size_t file, sonde_error *err)
{
	const trace_file f = t->files.items[file];
	size_t n_blocks = 0, read = 0;

	for (size_t at = 0; at < f.len;) {
		const block_header *h = (const block_header *)(f.bytes + at);
		if (f.len - at < sizeof *h) {
			t->diagnostics.truncated_bytes += f.len - at;
			break;
		}
		if (!block_header_ok(h)) {
			if (n_blocks || h->magic == FORMAT_MAGIC)
				note_damage(t, at);
			t->diagnostics.skipped_bytes += BLOCK_ALIGN;
			at += BLOCK_ALIGN;
			continue;
		}
		if (h->version > FORMAT_VERSION)
			return error_set(err, SONDE_E_VERSION, (int64_t)at,
					 "byte %zu: written by a newer Sonde (format %u; this one reads up to %u)", at,
					 h->version, (unsigned)FORMAT_VERSION);
		const uint8_t *payload = (const uint8_t *)(h + 1);
		if (h->length > f.len - at - sizeof *h || crc32c(0, payload, h->length) != h->payload_crc) {
			at += skip_damaged(t, h, at, f.len - at);
			continue;
		}
		if (!trace_add_block(t, h, payload))
			return error_set(err, SONDE_E_MEMORY, (int64_t)at, "out of memory at byte %zu", at);
		n_blocks++;
		at += sizeof *h + block_padded(h->length);
		trace_release_pages(t, h->length, &read);
	}
	return n_blocks ? SONDE_OK : refuse(&f, err);
}
