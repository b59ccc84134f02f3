/*
 * Goes on with a recording that was read before and has grown since. See recording.h.
 *
 *   1. map_files()    every file of the earlier trace again; one that is another file by now ends it
 *   2. copy_*()       streams, names, clock pairs, blocks: what came from the ring is left out, it is read anew
 *   3. read_info()    the first block of each stream, which is written again in place when the stream ends
 *
 * The scan then begins behind the last whole block. This costs what is new and some 100 bytes for each block that the
 * earlier trace has.
 */
#include "import/recording/recording.h"

enum { SAMPLES_MAX = 20000 }; /* of a window: samples of processes that it keeps */

typedef struct resumption {
	recording *to;
	const recording *from;
	uint16_t *file_of; /* by number of the file in the earlier trace */
} resumption;

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static size_t file_with_path(const recording *t, const char *path)
{
	size_t i = 0;

	while (i < t->files.n && strcmp(t->files.items[i].path, path) != 0)
		i++;
	return i;
}

/* It is the file that was read, and nothing that was read is gone. */
static bool map_file(resumption *r, size_t number)
{
	const recording_file *old = &r->from->files.items[number];
	size_t at = old->path ? file_with_path(r->to, old->path) : SIZE_MAX;

	if (!old->path || (old->bytes && old->bytes_are != BYTES_MAPPED))
		return false;
	recording_file *f = at < r->to->files.n ? &r->to->files.items[at] : recording_map_file(r->to, old->path, NULL);
	if (!f)
		return false;
	r->file_of[number] = (uint16_t)at;
	if (old->bytes && block_padded(old->cut) > f->from)
		f->from = block_padded(old->cut);
	return !old->bytes || (f->inode == old->inode && old->cut <= f->len);
}

static bool map_files(resumption *r)
{
	for (size_t i = 0; i < r->from->files.n; i++)
		if (!map_file(r, i))
			return false;
	return r->to->files.n > 0;
}

/* ---- What they hold ---------------------------------------------------------------------------------------------- */

static bool copy_sites(recording *t, trace_site **to, trace_site *const *from)
{
	for (size_t i = 0; i < 256; i++) {
		if (!from[i])
			continue;
		to[i] = malloc(256 * sizeof *to[i]);
		if (!to[i])
			return false;
		memcpy(to[i], from[i], 256 * sizeof *to[i]);
		for (size_t k = 0; k < 256; k++) {
			const name_record *old = from[i][k].record;
			name_record *copy = old ? arena_alloc(&t->arena, old->size) : NULL;
			to[i][k].record = copy;
			if (old && !copy)
				return false;
			if (old)
				memcpy(copy, old, old->size);
		}
	}
	return true;
}

static bool copy_meta(recording *t, recording_stream *to, const recording_stream *from)
{
	for (size_t i = 0; i < from->meta.n; i++) {
		trace_meta *m = VEC_ADD(&to->meta);
		if (!m)
			return false;
		m->key = arena_strdup(&t->arena, from->meta.items[i].key);
		m->value = arena_strdup(&t->arena, from->meta.items[i].value);
		if (!m->key || !m->value)
			return false;
	}
	return true;
}

static bool copy_stream(const resumption *r, recording_stream *to, const recording_stream *from)
{
	*to = (recording_stream){ .id = from->id,
				  .info = from->info,
				  .has_info = from->has_info,
				  .n_before = from->n_before,
				  .file = from->file < r->from->files.n ? r->file_of[from->file] : 0,
				  .info_at = from->info_at };
	for (size_t i = 0; i < from->file_pairs.n; i++)
		if (from->file_pairs.items[i].ticks > to->settled_ticks)
			to->settled_ticks = from->file_pairs.items[i].ticks;
	if (from->modules) {
		to->modules = arena_strndup(&r->to->arena, from->modules, from->modules_len);
		to->modules_len = from->modules_len;
	}
	if (from->site_pages)
		to->site_pages = calloc(256, sizeof *to->site_pages);
	return !from->site_pages == !to->site_pages && !from->modules == !to->modules &&
	       VEC_COPY(&to->file_pairs, &from->file_pairs) && VEC_COPY(&to->pairs, &from->file_pairs) &&
	       copy_meta(r->to, to, from) && (!from->site_pages || copy_sites(r->to, to->site_pages, from->site_pages));
}

static bool copy_streams(const resumption *r)
{
	for (size_t i = 0; i < r->from->streams.n; i++) {
		const recording_stream *from = &r->from->streams.items[i];
		recording_stream *to = VEC_ADD(&r->to->streams);
		if (!to || intern(&r->to->stream_ids, (const char *)&from->id, sizeof from->id) != i ||
		    !copy_stream(r, to, from))
			return false;
	}
	return true;
}

static bool copy_blocks(const resumption *r)
{
	for (size_t i = 0; i < r->from->blocks.n; i++) {
		const recording_block *from = &r->from->blocks.items[i];
		recording_block *b = from->joined ? NULL : VEC_ADD(&r->to->blocks);
		if (from->joined)
			continue;
		if (!b)
			return false;
		*b = *from;
		b->file = r->file_of[from->file];
		b->bytes = r->to->files.items[b->file].bytes + (from->bytes - r->from->files.items[from->file].bytes);
		b->n_events += b->skip; /* which is found again */
		b->skip = 0;
	}
	return true;
}

static bool copy_processes(const resumption *r)
{
	const recording *from = r->from;
	size_t skipped = from->is_window && from->samples.n > SAMPLES_MAX ? from->samples.n - SAMPLES_MAX : 0;

	for (size_t i = 0; i < from->processes.n; i++) {
		recording_process *p = VEC_ADD(&r->to->processes);
		if (!p)
			return false;
		*p = from->processes.items[i];
		p->command = arena_strdup(&r->to->arena, p->command);
		if (!p->command)
			return false;
	}
	for (size_t i = skipped; i < from->samples.n; i++) {
		process_sample *s = VEC_ADD(&r->to->samples);
		if (!s)
			return false;
		*s = from->samples.items[i];
	}
	return true;
}

static bool copy_strings(const resumption *r)
{
	for (uint32_t i = 0; i < r->from->strings.n; i++) {
		const intern_entry *e = &r->from->strings.entries[i];
		if (intern(&r->to->strings, e->text, e->len) != i)
			return false;
	}
	return true;
}

static void copy_totals(const resumption *r)
{
	const recording_diagnostics *d = &r->from->diagnostics;
	recording *t = r->to;

	t->is_window = r->from->is_window;
	t->window_ns = r->from->window_ns;
	memcpy(t->n_blocks_of, r->from->n_blocks_of, sizeof t->n_blocks_of);
	memcpy(t->bytes_of, r->from->bytes_of, sizeof t->bytes_of);
	t->diagnostics.n_lost_damaged = d->n_lost_damaged;
	t->diagnostics.n_damaged_blocks = d->n_damaged_blocks;
	t->diagnostics.skipped_bytes = d->skipped_bytes;
	t->diagnostics.first_damage = d->first_damage;
}

/* One that is being written just now stays what it was. */
static void read_info(const recording *t, recording_stream *s)
{
	const recording_file *f = &t->files.items[s->file];
	stream_start now;

	if (!s->has_info || !f->bytes || f->len < sizeof now || s->info_at > f->len - sizeof now)
		return;
	memcpy(&now, f->bytes + s->info_at, sizeof now);
	if (!block_header_ok(&now.header) || now.header.stream != s->id || now.header.kind != BLOCK_STREAM ||
	    now.header.length != sizeof now.info || crc32c(0, &now.info, sizeof now.info) != now.header.payload_crc)
		return;
	s->info = now.info;
	recording_sanitize_info(&s->info);
}

bool recording_resume(recording *t, const recording *before, bool *ret_resumed)
{
	resumption r = { .to = t, .from = before };

	*ret_resumed = false;
	r.file_of = calloc(before->files.n + 1, sizeof *r.file_of);
	bool ok = r.file_of;
	if (ok && map_files(&r)) {
		ok = copy_strings(&r) && copy_streams(&r) && copy_blocks(&r) && copy_processes(&r);
		copy_totals(&r);
		for (size_t i = 0; i < t->streams.n; i++)
			read_info(t, &t->streams.items[i]);
		*ret_resumed = true;
	}
	free(r.file_of);
	return ok;
}
