/* Opens a recording: map, scan and join; finish.c puts it in order. See recording.h. */
#define _GNU_SOURCE
#include "base/mapping.h"
#include "import/recording/recording.h"

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

const char *recording_device_name(const recording *t, uint32_t stream, uint32_t device, char *buffer, size_t size)
{
	const trace_site *site = device >= NAME_FIRST_ID ? recording_site_of(&t->streams.items[stream], device) : NULL;

	if (site)
		return recording_text(t, site->name);
	if (device == SONDE_CPU)
		return "cpu";
	snprintf(buffer, size, device < NAME_FIRST_ID ? "gpu%u" : "device%u",
		 device < NAME_FIRST_ID ? device - 1 : device);
	return buffer;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static sonde_status load(int fd, recording_file *f, sonde_error *err)
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

bool recording_is_broken(const recording *r)
{
	for (size_t i = 0; i < r->files.n; i++)
		if (r->files.items[i].bytes_are == BYTES_MAPPED && mapping_is_broken(r->files.items[i].bytes))
			return true;
	return false;
}

bool recording_is_live(const recording *r)
{
	for (size_t i = 0; i < r->streams.n; i++)
		if (r->streams.items[i].live)
			return true;
	return false;
}

void recording_release_pages(const recording *t, size_t n, size_t *read)
{
	*read += n;
	if (*read < RECORDING_RESIDENT)
		return;
	*read = 0;
	for (size_t i = 0; i < t->files.n; i++)
		if (t->files.items[i].bytes_are == BYTES_MAPPED)
			madvise(t->files.items[i].bytes, t->files.items[i].len, MADV_DONTNEED);
}

static sonde_status open_and_load(recording_file *f, sonde_error *err)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_set(err, SONDE_E_IO, -1, "%s", strerror(errno));
	sonde_status status = load(fd, f, err);
	close(fd);
	return status;
}

static recording_file *new_file(recording *t, const char *path, sonde_error *err)
{
	recording_file *f = t->files.n < RECORDING_RING ? VEC_ADD(&t->files) : NULL;

	if (f)
		f->path = path ? arena_strdup(&t->arena, path) : NULL;
	if (f && (f->path || !path))
		return f;
	error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	return NULL;
}

recording_file *recording_map_file(recording *t, const char *path, sonde_error *err)
{
	recording_file *f = new_file(t, path, err);

	return f && !open_and_load(f, err) ? f : NULL;
}

/* A program that runs moved events from its ring to its file between our looks at the two: what the file has grown by
   since the first look is there now. What both have is dropped later. */
static sonde_status scan_again(recording *t, size_t file, sonde_error *err)
{
	const recording_file before = t->files.items[file];
	recording_file *f = new_file(t, before.path, err);

	if (!f)
		return SONDE_E_MEMORY;
	if (open_and_load(f, NULL))
		return SONDE_OK; /* removed meanwhile: the first look counts */
	f->from = block_padded(before.cut) < f->len ? block_padded(before.cut) : f->len;
	t->diagnostics.truncated_bytes -= before.truncated; /* a block that was being written */
	return recording_scan(t, t->files.n - 1, err);
}

static sonde_status join_streams(recording *t, size_t file, bool *ret_live, sonde_error *err)
{
	for (size_t i = 0, n = t->streams.n; i < n; i++) {
		const recording_stream *s = &t->streams.items[i];
		if (s->file != file || !s->has_info || s->info.state != STREAM_OPEN || s->info.role != ROLE_PROGRAM)
			continue;
		if (!recording_join(t, s->id))
			return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
		*ret_live |= t->streams.items[i].live;
	}
	return SONDE_OK;
}

/* Its number when recording_resume() has mapped it, else files.n. */
static size_t find_file(const recording *t, const char *path)
{
	size_t i = 0;

	while (i < t->files.n && (!path || !t->files.items[i].path || strcmp(t->files.items[i].path, path) != 0))
		i++;
	return i;
}

static sonde_status load_source(recording *t, const recording_source *from, sonde_error *err)
{
	recording_file *f = new_file(t, from->path, err);

	if (!f) {
		free(from->bytes);
		return SONDE_E_MEMORY;
	}
	f->bytes = from->bytes;
	f->len = from->len;
	return from->bytes ? SONDE_OK : open_and_load(f, err);
}

static sonde_status add_file(recording *t, const recording_source *from, sonde_error *err)
{
	bool is_copy = from->bytes != NULL, is_live = false;
	size_t file = is_copy ? t->files.n : find_file(t, from->path);
	sonde_status status = file < t->files.n ? SONDE_OK : load_source(t, from, err);

	if (status == SONDE_E_MEMORY)
		return status;
	if (!status)
		status = recording_scan(t, file, err);
	if (status)
		return error_prefix(err, status, from->path ? from->path : "standard input");
	status = join_streams(t, file, &is_live, err);
	return !status && is_live && !is_copy ? scan_again(t, file, err) : status;
}

bool recording_find_parts(const char *path, glob_t *ret_found)
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
static sonde_status add_parts(recording *t, const recording_source *from, sonde_error *err)
{
	glob_t found;
	sonde_status status = SONDE_OK;

	if (!recording_find_parts(from->path, &found))
		return SONDE_OK;
	for (size_t i = 0; i < found.gl_pathc && !status; i++) {
		size_t len = strlen(found.gl_pathv[i]);
		sonde_error part_err;
		if (len >= 5 && strcmp(found.gl_pathv[i] + len - 5, ".ring") == 0)
			continue;
		status = add_file(t, &(recording_source){ .path = found.gl_pathv[i] }, &part_err);
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

static bool has_open_observer(const recording *t)
{
	for (size_t i = 0; i < t->streams.n; i++)
		if (t->streams.items[i].info.role == ROLE_OBSERVER && t->streams.items[i].info.state == STREAM_OPEN)
			return true;
	return false;
}

/* ---- Public ------------------------------------------------------------------------------------------------------ */

static sonde_status complete(recording *t, sonde_status status, recording **ret_trace, sonde_error *err)
{
	recording_unsaved unsaved = { 0 };
	char text[8192];

	if (!status)
		status = recording_finish(t, err);
	if (!status)
		recording_add_unsaved(t, &unsaved);
	if (unsaved.n_events) {
		recording_unsaved_text(&unsaved, t->files.items[0].path, text, sizeof text);
		t->warning = arena_strdup(&t->arena, text);
	}
	if (status)
		recording_free(t);
	else
		*ret_trace = t;
	return status;
}

static recording *new_trace(void)
{
	recording *t = calloc(1, sizeof *t);

	if (t)
		t->diagnostics.first_damage = -1;
	return t;
}

sonde_status recording_open_memory(const void *bytes, size_t len, recording **ret_trace, sonde_error *err)
{
	recording *t = new_trace();
	recording_file *f = t ? VEC_ADD(&t->files) : NULL;

	if (!f) {
		recording_free(t);
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	}
	*f = (recording_file){ .bytes = (uint8_t *)bytes, .len = len, .bytes_are = BYTES_BORROWED };
	return complete(t, recording_scan(t, 0, err), ret_trace, err);
}

/* The trace from before when its files have only grown, otherwise an empty one. NULL when out of memory. */
static recording *begin_trace(const recording_source *first)
{
	bool is_resumed = false;
	recording *t = new_trace();

	if (t && first->before && !recording_resume(t, first->before, &is_resumed)) {
		recording_free(t);
		return NULL;
	}
	if (t && first->before && !is_resumed) {
		recording_free(t);
		t = new_trace();
	}
	if (t)
		t->whole_max = first->whole_max;
	return t;
}

sonde_status recording_open(const recording_source *sources, size_t n, recording **ret_trace, sonde_error *err)
{
	recording *t = n ? begin_trace(&sources[0]) : new_trace();
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

/* What it does not share with the trace that it was made of. */
static void free_window(recording *w)
{
	VEC_DONE(&w->streams);
	VEC_DONE(&w->blocks);
	VEC_DONE(&w->threads);
	recording_free(w->whole);
	free(w);
}

void recording_free(recording *t)
{
	if (!t)
		return;
	if (t->whole) {
		free_window(t);
		return;
	}
	for (size_t i = 0; i < t->streams.n; i++) {
		recording_stream *s = &t->streams.items[i];
		for (size_t k = 0; s->site_pages && k < 256; k++)
			free(s->site_pages[k]);
		free(s->site_pages);
		free(s->segments);
		VEC_DONE(&s->pairs);
		VEC_DONE(&s->file_pairs);
		VEC_DONE(&s->meta);
	}
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
