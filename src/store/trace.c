/* Opening a trace: map, scan and join; trace_finish.c puts it in order. See trace.h. */
#define _GNU_SOURCE
#include "store/mapping.h"
#include "store/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include <sonde/record.h>

static const char *const category_names[] = { "other", "compute", "memory", "data-load", "sync", "communication" };

const char *trace_category_name(uint32_t fixed)
{
	return fixed < sizeof category_names / sizeof category_names[0] ? category_names[fixed] : "other";
}

const char *trace_device_name(const sonde_trace *t, uint32_t stream, uint32_t device, char *buffer, size_t size)
{
	if (trace_is_imported(t))
		return trace_index_device_name(t, device, buffer, size);
	const trace_site *site = device >= NAME_FIRST_ID ? trace_site_of(&t->streams.items[stream], device) : NULL;

	if (site)
		return trace_text(t, site->name);
	if (device == SONDE_CPU)
		return "cpu";
	snprintf(buffer, size, device < NAME_FIRST_ID ? "gpu%u" : "device%u",
		 device < NAME_FIRST_ID ? device - 1 : device);
	return buffer;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static sonde_status load(int fd, trace_file *f, sonde_error *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return error_set(err, SONDE_E_IO, -1, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(err, SONDE_E_IO, -1, S_ISDIR(st.st_mode) ? "is a directory" : "is not a file");
	f->len = (size_t)st.st_size;
	f->inode = (uint64_t)st.st_ino;
	if (!f->len)
		return SONDE_OK;
	void *bytes = mapping_new(fd, f->len);
	if (!bytes)
		return error_set(err, SONDE_E_IO, -1, "%s", strerror(errno));
	madvise(bytes, f->len, MADV_SEQUENTIAL);
	f->bytes = bytes;
	f->bytes_are = BYTES_MAPPED;
	return SONDE_OK;
}

bool trace_is_mapped(const sonde_trace *t)
{
	for (size_t i = 0; i < t->files.n; i++)
		if (t->files.items[i].bytes_are == BYTES_MAPPED)
			return true;
	return t->index && index_is_mapped(t->index);
}

bool trace_is_broken(const sonde_trace *t)
{
	for (size_t i = 0; i < t->files.n; i++)
		if (t->files.items[i].bytes_are == BYTES_MAPPED && mapping_is_broken(t->files.items[i].bytes))
			return true;
	return t->index && index_is_broken(t->index);
}

void trace_release_pages(const sonde_trace *t, size_t n, size_t *read)
{
	*read += n;
	if (*read < TRACE_RESIDENT)
		return;
	*read = 0;
	for (size_t i = 0; i < t->files.n; i++)
		if (t->files.items[i].bytes_are == BYTES_MAPPED)
			madvise(t->files.items[i].bytes, t->files.items[i].len, MADV_DONTNEED);
}

/* What was found sound when the file was opened before; where anything was damaged, nothing is taken for granted. */
static size_t sound_before(const trace_source *from, const trace_file *f)
{
	size_t sound = 0;

	if (!from->before || from->before->diagnostics.first_damage >= 0)
		return 0;
	for (size_t i = 0; i < from->before->files.n; i++) {
		const trace_file *old = &from->before->files.items[i];
		bool is_same =
			old->bytes_are == BYTES_MAPPED && old->inode == f->inode && strcmp(old->path, f->path) == 0;
		if (is_same && old->cut <= f->len && old->cut > sound)
			sound = old->cut;
	}
	return sound;
}

/* A program that runs moved events from its ring to its file between our looks at the two: what the file has grown by
   since the first look is there now. What both have is dropped later. */
static sonde_status scan_again(sonde_trace *t, const char *path, sonde_error *err)
{
	const trace_file before = t->files.items[t->files.n - 1];
	trace_file *f = VEC_ADD(&t->files);
	int fd = f ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (!f)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	f->path = before.path;
	if (fd < 0)
		return SONDE_OK; /* removed meanwhile: the first look counts */
	sonde_status status = load(fd, f, err);
	close(fd);
	f->from = before.cut < f->len ? before.cut : f->len;
	t->diagnostics.truncated_bytes -= before.truncated; /* a block that was being written */
	return status ? status : trace_scan(t, t->files.n - 1, err);
}

static sonde_status open_and_load(trace_file *f, sonde_error *err)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_set(err, SONDE_E_IO, -1, "%s", strerror(errno));
	sonde_status status = load(fd, f, err);
	close(fd);
	return status;
}

static sonde_status add_file(sonde_trace *t, const trace_source *from, sonde_error *err)
{
	trace_file *f = VEC_ADD(&t->files);

	if (!f) {
		free(from->bytes);
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	}
	*f = (trace_file){ .bytes = from->bytes, .len = from->len };
	f->path = from->path ? arena_strdup(&t->arena, from->path) : NULL;
	if (!f->path && from->path)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	bool is_copy = from->bytes != NULL;
	sonde_status status = is_copy ? SONDE_OK : open_and_load(f, err);
	if (!status && f->bytes_are == BYTES_MAPPED)
		f->sound = sound_before(from, f);
	size_t first_stream = t->streams.n;
	if (!status)
		status = trace_scan(t, t->files.n - 1, err);
	if (status)
		return error_prefix(err, status, from->path ? from->path : "standard input");
	size_t n_streams = t->streams.n;
	bool live = false;
	for (size_t i = first_stream; i < n_streams; i++) {
		const trace_stream *s = &t->streams.items[i];
		if (!s->has_info || s->info.state != STREAM_OPEN || s->info.role != ROLE_PROGRAM)
			continue;
		if (!trace_join(t, s->id))
			return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
		live |= t->streams.items[i].live;
	}
	return live && !is_copy ? scan_again(t, from->path, err) : SONDE_OK;
}

bool trace_find_parts(const char *path, glob_t *ret_found)
{
	static const char end[] = ".part.*";
	char pattern[8200];
	size_t n = 0;

	for (; *path && n + 2 + sizeof end <= sizeof pattern; path++) {
		if (strchr("*?[\\", *path))
			pattern[n++] = '\\';
		pattern[n++] = *path;
	}
	memcpy(pattern + n, end, sizeof end);
	return !*path && glob(pattern, 0, NULL, ret_found) == 0;
}

/* A `sonde record` that was killed left the recordings of its programs beside its own. */
static sonde_status add_parts(sonde_trace *t, const trace_source *from, sonde_error *err)
{
	glob_t found;
	sonde_status status = SONDE_OK;

	if (!trace_find_parts(from->path, &found))
		return SONDE_OK;
	for (size_t i = 0; i < found.gl_pathc && !status; i++) {
		size_t len = strlen(found.gl_pathv[i]);
		sonde_error part_err;
		if (len >= 5 && strcmp(found.gl_pathv[i] + len - 5, ".ring") == 0)
			continue;
		status = add_file(t, &(trace_source){ .path = found.gl_pathv[i], .before = from->before }, &part_err);
		/* A process that was killed before its first block leaves an empty part, which takes nothing from the
		   rest. */
		if (status == SONDE_E_MEMORY || status == SONDE_E_VERSION)
			error_set(err, status, part_err.position, "%s", part_err.message);
		else
			status = SONDE_OK;
	}
	globfree(&found);
	return status;
}

static bool has_open_observer(const sonde_trace *t)
{
	for (size_t i = 0; i < t->streams.n; i++)
		if (t->streams.items[i].info.role == ROLE_OBSERVER && t->streams.items[i].info.state == STREAM_OPEN)
			return true;
	return false;
}

/* ---- Public ------------------------------------------------------------------------------------------------------ */

static sonde_status complete(sonde_trace *t, sonde_status status, sonde_trace **ret_trace, sonde_error *err)
{
	if (!status)
		status = trace_finish(t, err);
	if (status)
		sonde_trace_free(t);
	else
		*ret_trace = t;
	return status;
}

static sonde_trace *new_trace(void)
{
	sonde_trace *t = calloc(1, sizeof *t);

	if (t)
		t->diagnostics.first_damage = -1;
	return t;
}

sonde_status trace_open_memory(const void *bytes, size_t len, sonde_trace **ret_trace, sonde_error *err)
{
	sonde_trace *t = new_trace();
	trace_file *f = t ? VEC_ADD(&t->files) : NULL;

	if (!f) {
		sonde_trace_free(t);
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	}
	*f = (trace_file){ .bytes = (uint8_t *)bytes, .len = len, .bytes_are = BYTES_BORROWED };
	return complete(t, trace_scan(t, 0, err), ret_trace, err);
}

sonde_status trace_open_recordings(const trace_source *sources, size_t n, sonde_trace **ret_trace, sonde_error *err)
{
	sonde_trace *t = new_trace();
	sonde_status status = t ? SONDE_OK : error_set(err, SONDE_E_MEMORY, -1, "out of memory");

	for (size_t i = 0; i < n; i++) {
		if (status) {
			free(sources[i].bytes);
			continue;
		}
		status = add_file(t, &sources[i], err);
		if (!status && sources[i].path && has_open_observer(t))
			status = add_parts(t, &sources[i], err);
	}
	return t ? complete(t, status, ret_trace, err) : status;
}

void sonde_trace_free(sonde_trace *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->streams.n; i++) {
		trace_stream *s = &t->streams.items[i];
		for (size_t k = 0; s->site_pages && k < 256; k++)
			free(s->site_pages[k]);
		free(s->site_pages);
		free(s->segments);
		VEC_DONE(&s->pairs);
		VEC_DONE(&s->meta);
	}
	index_free(t->index);
	free(t->walked_steps);
	for (size_t i = 0; i < t->owned.n; i++)
		free(t->owned.items[i]);
	for (size_t i = 0; i < t->files.n; i++) {
		if (t->files.items[i].bytes_are == BYTES_MAPPED)
			mapping_free(t->files.items[i].bytes, t->files.items[i].len);
		else if (t->files.items[i].bytes_are == BYTES_OWNED)
			free(t->files.items[i].bytes);
	}
	VEC_DONE(&t->streams);
	VEC_DONE(&t->owned);
	VEC_DONE(&t->files);
	VEC_DONE(&t->blocks);
	VEC_DONE(&t->threads);
	VEC_DONE(&t->processes);
	VEC_DONE(&t->samples);
	intern_done(&t->strings);
	intern_done(&t->stream_ids);
	arena_done(&t->arena);
	free(t);
}
