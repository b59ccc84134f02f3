/*
 * Opening a trace, whatever it is: <sonde/trace.h>.
 *
 *   1. files_expand()   directories become their files
 *   2. look_at()        what each file is, by its first bytes
 *   3. recordings       are read by import/recording/recording.c, all of them together, unless they are ranks:
 * recording/ranks.c an index         is mapped as it lies everything else  goes through its importer into one builder,
 * file after file, and so do indexes and recordings among them; then ranks.c puts the files on one clock and the
 * builder makes the index: import_parts.c
 */
#define _GNU_SOURCE
#include "import/open.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "import/recording/ranks.h"
#include "import/recording/trace.h"

enum { THREADS_MAX = 16 };

const char *part_name(const trace_part *p)
{
	return strcmp(p->path, "-") == 0 ? "standard input" : p->path;
}

const char *part_path(const trace_part *p)
{
	return strcmp(p->path, "-") == 0 ? NULL : p->path;
}

void part_leave_out(opening *o, trace_part *p)
{
	if (!o->n_left_out++)
		o->left_out = strdup(p->path);
	input_close(p->in);
	p->in = NULL;
	p->kind = PART_NOTHING;
}

static sonde_status out_of_memory(sonde_error *err)
{
	return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
}

/* ---- What it is -------------------------------------------------------------------------------------------------- */

static const importer *find_importer(const uint8_t *bytes, size_t len)
{
	static const importer *const importers[] = {
#define IMPORTER(name) &name##_importer,
#include "import/importers.def"
#undef IMPORTER
		NULL,
	};

	for (size_t i = 0; importers[i]; i++)
		if (importers[i]->probe(bytes, len))
			return importers[i];
	return NULL;
}

/* PART_UNKNOWN when it is none of ours. */
static int own_kind(const uint8_t *bytes, size_t len)
{
	uint64_t index = 0;
	uint32_t block = 0;

	memcpy(&index, bytes, len < sizeof index ? len : sizeof index);
	memcpy(&block, bytes, len < sizeof block ? len : sizeof block);
	return index == INDEX_MAGIC ? PART_INDEX : block == FORMAT_MAGIC ? PART_RECORDING : PART_UNKNOWN;
}

/* Reads all there is and closes the input. */
static sonde_status take_into_memory(trace_part *p, sonde_error *err)
{
	size_t capacity = 0;
	sonde_status status = SONDE_OK;

	for (bool last = false; !last && !status;) {
		input_window w;
		status = input_next(p->in, &w, err);
		if (status)
			break;
		if (!p->bytes || capacity - p->len < w.len) {
			capacity = capacity ? capacity * 2 + w.len : w.len + 1;
			uint8_t *grown = realloc(p->bytes, capacity);
			if (!grown)
				status = error_set(err, SONDE_E_MEMORY, -1, "out of memory after %zu bytes", p->len);
			else
				p->bytes = grown;
		}
		if (!status)
			memcpy(p->bytes + p->len, w.bytes, w.len);
		p->len += w.len;
		last = w.last;
		input_release(p->in, &w);
	}
	input_close(p->in);
	p->in = NULL;
	return status;
}

/* By its text, unpacked. */
static sonde_status look_inside(trace_part *p, unsigned n_threads, bool is_file, bool is_one, sonde_error *err)
{
	const uint8_t *bytes;
	size_t len;
	uint64_t damage_at;
	bool stays = is_one || !is_file;
	sonde_status status = input_open(p->path, stays ? n_threads : 1, &p->in, err);

	if (status)
		return status;
	status = input_peek(p->in, &bytes, &len, err);
	if (status)
		return error_prefix(err, status, part_name(p));
	p->kind = own_kind(bytes, len);
	if (p->kind != PART_UNKNOWN || (!is_file && len == 0))
		return take_into_memory(p, err);
	p->importer = find_importer(bytes, len);
	if (p->importer)
		p->kind = PART_FOREIGN;
	else if (input_damage(p->in, &damage_at))
		status = error_set(err, SONDE_E_FORMAT, (int64_t)damage_at, "%s", input_damage(p->in, &damage_at));
	else if (!is_file || input_compression(p->in))
		p->kind = PART_NOTHING;
	if (p->importer && stays)
		return SONDE_OK;
	input_close(p->in);
	p->in = NULL;
	return status ? error_prefix(err, status, part_name(p)) : SONDE_OK;
}

static sonde_status look_at(trace_part *p, unsigned n_threads, bool is_one, sonde_error *err)
{
	uint8_t first[8];
	struct stat st;
	bool is_file = strcmp(p->path, "-") != 0 && stat(p->path, &st) == 0 && S_ISREG(st.st_mode);
	int fd = is_file ? open(p->path, O_RDONLY | O_CLOEXEC) : -1;

	p->file_bytes = is_file ? (uint64_t)st.st_size : 0;
	ssize_t n = fd >= 0 ? pread(fd, first, sizeof first, 0) : -1;
	if (fd >= 0)
		close(fd);
	p->kind = n > 0 ? own_kind(first, (size_t)n) : PART_UNKNOWN;
	return p->kind == PART_UNKNOWN ? look_inside(p, n_threads, is_file, is_one, err) : SONDE_OK;
}

/* ---- Recordings -------------------------------------------------------------------------------------------------- */

/* Behind the blocks, where it belongs to a recording that will not grow; in memory otherwise. */
static sonde_status make_index(recording *r, const sonde_open_options *o, sonde_index **ret_index, sonde_error *err)
{
	sonde_error why;

	if (recording_append_index(r, o->progress, o->context, &why) == SONDE_OK &&
	    (*ret_index = recording_find_index(r)))
		return SONDE_OK;
	return recording_build_index_with(r, o->n_threads, o->progress, o->context, ret_index, err);
}

static sonde_status open_recordings(const opening *o, sonde_trace **ret_trace, sonde_error *err)
{
	size_t n = o->files.n;
	recording_source *sources = calloc(n ? n : 1, sizeof *sources);
	recording *r;

	if (!sources)
		return out_of_memory(err);
	for (size_t i = 0; i < n; i++) {
		trace_part *p = &o->parts[i];
		sources[i] = (recording_source){ .path = part_path(p), .bytes = p->bytes, .len = p->len };
		p->bytes = NULL;
	}
	sonde_status status = recording_open(sources, n, &r, err);
	free(sources);
	if (status)
		return status;
	sonde_index *index = n == 1 ? recording_find_index(r) : NULL;
	if (!index)
		status = make_index(r, &o->options, &index, err);
	if (!status)
		return recording_trace(r, index, ret_trace, err);
	recording_free(r);
	return status;
}

/* ---- The index --------------------------------------------------------------------------------------------------- */

sonde_status part_open_index(trace_part *p, sonde_index **ret_index, sonde_error *err)
{
	uint8_t *bytes = p->bytes;
	int fd = bytes ? -1 : open(p->path, O_RDONLY | O_CLOEXEC);
	sonde_status status;

	p->bytes = NULL;
	if (bytes) {
		status = index_adopt(bytes, p->len, ret_index, err);
		return status ? error_prefix(err, status, part_name(p)) : SONDE_OK;
	}
	if (fd < 0) {
		error_set(err, SONDE_E_IO, -1, "%s", strerror(errno));
		return error_prefix(err, SONDE_E_IO, p->path);
	}
	status = index_open_file(p->path, fd, ret_index, err);
	close(fd);
	return status;
}

static bool add_files(sonde_trace *t, const opening *o)
{
	for (size_t i = 0; i < o->files.n; i++) {
		const trace_part *p = &o->parts[i];
		if (p->kind != PART_NOTHING && !trace_add_file(t, part_path(p), (size_t)p->file_bytes))
			return false;
	}
	return true;
}

/* Takes the index. */
static sonde_status make_trace(const opening *o, sonde_index *index, sonde_trace **ret_trace, sonde_error *err)
{
	sonde_trace *t;
	sonde_status status = trace_of_index(index, &t, err);

	if (status)
		return status;
	if (!add_files(t, o)) {
		sonde_trace_free(t);
		return out_of_memory(err);
	}
	*ret_trace = t;
	return SONDE_OK;
}

/* ---- Public ------------------------------------------------------------------------------------------------------ */

static sonde_status refuse(const trace_part *p, sonde_error *err)
{
	return error_set(err, SONDE_E_FORMAT, 0, "%s: unrecognized format: expected a .sonde file or Chrome trace JSON",
			 part_name(p));
}

static size_t count(const opening *o, int kind)
{
	size_t n = 0;

	for (size_t i = 0; i < o->files.n; i++)
		n += (int)o->parts[i].kind == kind;
	return n;
}

static const trace_part *first_of(const opening *o, int kind)
{
	for (size_t i = 0; i < o->files.n; i++)
		if ((int)o->parts[i].kind == kind)
			return &o->parts[i];
	return NULL;
}

/* What a directory holds beside traces. */
static void leave_out_others(opening *o)
{
	size_t n = 0, n_traces = o->files.n - count(o, PART_NOTHING) - count(o, PART_UNKNOWN);

	for (size_t i = 0; i < o->files.n; i++) {
		trace_part p = o->parts[i];
		if (n_traces && p.is_found && (p.kind == PART_NOTHING || p.kind == PART_UNKNOWN)) {
			part_leave_out(o, &p);
			free(o->files.items[i]);
			o->parts[i] = (trace_part){ 0 };
			continue;
		}
		o->files.items[n] = o->files.items[i];
		o->parts[i] = (trace_part){ 0 };
		o->parts[n++] = p;
	}
	o->files.n = n;
}

static sonde_status open_parts(opening *o, sonde_trace **ret_trace, sonde_error *err)
{
	leave_out_others(o);
	size_t n = o->files.n, n_unknown = count(o, PART_UNKNOWN);
	size_t n_recordings = count(o, PART_RECORDING) + n_unknown;
	sonde_index *index;

	if (count(o, PART_NOTHING))
		return refuse(first_of(o, PART_NOTHING), err);
	if (n > 1)
		recordings_look(o);
	if (n_recordings == n && (n == 1 || n_unknown || !recordings_are_ranks(o))) {
		sonde_status status = open_recordings(o, ret_trace, err);
		return status == SONDE_E_FORMAT && n == n_unknown ? refuse(&o->parts[0], err) : status;
	}
	if (n_unknown)
		return refuse(first_of(o, PART_UNKNOWN), err);
	bool is_index = n == 1 && o->parts[0].kind == PART_INDEX;
	sonde_status status = is_index ? part_open_index(&o->parts[0], &index, err) : parts_import(o, &index, err);
	return status ? status : make_trace(o, index, ret_trace, err);
}

static unsigned count_cpus(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

static void take_options(sonde_open_options *to, const sonde_open_options *given)
{
	if (given && given->struct_size)
		memcpy(to, given, given->struct_size < sizeof *to ? given->struct_size : sizeof *to);
	if (!to->n_threads)
		to->n_threads = count_cpus();
	else if (to->n_threads > THREADS_MAX)
		to->n_threads = THREADS_MAX;
}

/* By its ending it is another tool's, and nobody named it. */
static bool is_found(const char *file, const char *const *paths, size_t n_paths)
{
	size_t len = strlen(file);

	for (size_t i = 0; i < n_paths; i++)
		if (strcmp(file, paths[i]) == 0)
			return false;
	return len < 6 || strcasecmp(file + len - 6, ".sonde") != 0;
}

/* Says which recordings of a directory are not part of the trace. Without memory it says nothing. */
static void warn_of_left_out(sonde_trace *t, const char *path)
{
	file_list files = { 0 };
	char *text = NULL;
	int len = -1;

	if (t->warning)
		return;
	files_left_out(path, &files, NULL);
	const char *name = files.n ? strrchr(files.items[0], '/') + 1 : "", *why = "the directory has Chrome traces";
	if (files.n == 1)
		len = asprintf(&text, "%s: skipped %s because %s; name the file to open it", path, name, why);
	else if (files.n > 1)
		len = asprintf(&text, "%s: skipped %zu .sonde files (%s ...) because %s; name them to open them", path,
			       files.n, name, why);
	if (len >= 0) {
		t->warning = arena_strdup(&t->arena, text);
		free(text);
	}
	files_done(&files);
}

sonde_status sonde_trace_open_with(const char *const *paths, size_t n_paths, const sonde_open_options *options,
				   sonde_trace **ret_trace, sonde_error *err)
{
	opening o = { 0 };
	sonde_status status = files_expand(paths, n_paths, &o.files, err);

	if (status)
		return status;
	take_options(&o.options, options);
	o.parts = calloc(o.files.n ? o.files.n : 1, sizeof *o.parts);
	if (!o.parts)
		status = out_of_memory(err);
	for (size_t i = 0; i < o.files.n && !status; i++) {
		o.parts[i].path = o.files.items[i];
		o.parts[i].is_found = is_found(o.files.items[i], paths, n_paths);
		status = look_at(&o.parts[i], o.options.n_threads, o.files.n == 1, err);
	}
	if (!status)
		status = open_parts(&o, ret_trace, err);
	for (size_t i = 0; i < n_paths && !status; i++)
		warn_of_left_out(*ret_trace, paths[i]);
	for (size_t i = 0; o.parts && i < o.files.n; i++) {
		input_close(o.parts[i].in);
		index_again_free(o.parts[i].again);
		free(o.parts[i].bytes);
	}
	free(o.parts);
	free(o.left_out);
	files_done(&o.files);
	return status;
}

sonde_status sonde_trace_open_files(const char *const *paths, size_t n_paths, sonde_trace **ret_trace, sonde_error *err)
{
	return sonde_trace_open_with(paths, n_paths, NULL, ret_trace, err);
}

sonde_status sonde_trace_open(const char *path, sonde_trace **ret_trace, sonde_error *err)
{
	return sonde_trace_open_with(&path, 1, NULL, ret_trace, err);
}
