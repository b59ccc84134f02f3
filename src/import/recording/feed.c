/* Everything a recording holds, into a builder. See recording.h; slices are in recording/slices.c. */
#include "import/recording/build.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include "base/error.h"
#include "base/json_write.h"
#include "store/index/facts.h"
#include "import/recording/feed.h"
#include <sonde/record.h>

/* ---- Events that are no slices ----------------------------------------------------------------------------------- */

static void on_thread(void *context, const trace_thread *thread)
{
	feed *f = context;

	if (f->thread) {
		feed_thread_done(f);
		if (f->thread->stream != thread->stream)
			feed_process_done(f);
	}
	feed_thread(f, thread);
}

static void on_named(void *context, const trace_thread *thread, const char *name, size_t len, bool process)
{
	feed *f = context;

	feed_allocation_done(f);
	if (!process) {
		feed_name_thread(f, f->at.track, name, len);
		f->at.is_named = true;
	} else if (f->named_from[thread->stream] <= feed_order(f)) {
		f->process_names[thread->stream] = builder_string(f->builder, name, len);
		f->named_from[thread->stream] = feed_order(f);
	}
}

static void on_counter(void *context, const trace_site *site, int64_t time_ns, double value)
{
	feed *f = context;

	feed_allocation_done(f);
	builder_value(f->builder, f->process_track, feed_string(f, site->name), INDEX_NONE,
		      feed_string(f, site->category), time_ns, value);
}

static void on_flow(void *context, const trace_site *site, int64_t time_ns, uint64_t id, bool begins)
{
	feed *f = context;
	char text[24];

	feed_allocation_done(f);
	/* A number that looks like that of a text is kept as one. */
	if (id >> 62) {
		snprintf(text, sizeof text, "%" PRIu64, id);
		id = UINT64_C(1) << 62 | feed_text(f, text);
	}
	builder_flow(f->builder, f->at.track, time_ns, feed_site_of(f, site), id, begins ? 's' : 'F', 0);
}

static void on_pause(void *context, int64_t time_ns, bool paused)
{
	feed *f = context;
	uint32_t name = feed_text(f, paused ? "recording paused" : "recording resumed");

	feed_allocation_done(f);
	builder_instant(f->builder, f->process_track, time_ns,
			builder_site(f->builder, name, feed_text(f, "sonde"), CLASS_OTHER, NAME_MARK), 0, 'p');
}

static void on_meta(void *context, const char *key, size_t key_len, const char *value, size_t value_len)
{
	feed *f = context;

	feed_allocation_done(f);
	uint32_t number = intern(&f->meta_keys, key, key_len);
	if (number == INTERN_NONE || (number == f->meta_from.n && !VEC_ADD(&f->meta_from))) {
		f->failed = true;
		return;
	}
	/* Threads come in their order, but not when a recording is followed. */
	if (f->meta_from.items[number] > feed_order(f))
		return;
	f->meta_from.items[number] = feed_order(f);
	builder_meta(f->builder, -1, key, key_len, value, value_len, false);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static const char *device_name(const feed *f, uint32_t device, char *buffer, size_t size)
{
	return recording_device_name(f->trace, f->thread->stream, device, buffer, size);
}

/* Bounded: what is not below 2^63 comes from a stranger. */
static int64_t signed_bytes(uint64_t bytes)
{
	return bytes <= INT64_MAX ? (int64_t)bytes : INT64_MAX;
}

void feed_allocation_done(feed *f)
{
	if (!f->at.has_allocation)
		return;
	arg_set_load(&f->args, f->at.allocation_args);
	f->at.allocation.args = arg_set_finish(&f->args);
	builder_allocation_add(f->builder, &f->at.allocation);
	free(f->at.allocation_args);
	f->at.allocation_args = NULL;
	f->at.has_allocation = false;
}

static void on_memory(void *context, const walk_memory *m)
{
	feed *f = context;
	char buffer[32];
	bool unknown = m->is_free && m->bytes == UINT64_MAX;
	const char *what = unknown ? TRACE_UNKNOWN_FREE : m->is_free ? TRACE_FREE : TRACE_ALLOC;

	feed_allocation_done(f);
	bool is_gpu = m->device != SONDE_CPU && m->device < NAME_FIRST_ID;
	uint32_t device = feed_text(f, device_name(f, m->device, buffer, sizeof buffer));
	f->at.allocation = (builder_allocation){
		.time_ns = m->time_ns,
		.track = f->at.track,
		.site = builder_site(f->builder, device, feed_text(f, what), CLASS_MEMORY, NAME_DEVICE),
		.device_type = m->device == SONDE_CPU ? 0
			       : is_gpu		      ? 1
						      : TRACE_DEVICE_OTHER,
		.device = m->device == SONDE_CPU ? -1
			  : is_gpu		 ? (int32_t)m->device - 1
						 : (int32_t)(m->device & UINT16_MAX),
		.address = m->address,
		.bytes = unknown      ? 0
			 : m->is_free ? -signed_bytes(m->bytes)
				      : signed_bytes(m->bytes),
		.total_bytes = signed_bytes(m->current_bytes),
		.reserved_bytes = -1,
	};
	f->at.has_allocation = true;
	if (m->tensor) {
		arg_set_clear(&f->args);
		arg_key(&f->args, "tensor", 6), arg_u64(&f->args, m->tensor);
		f->at.allocation_args = arg_set_save(&f->args);
	}
}

static void on_snapshot(void *context, const walk_snapshot *s)
{
	feed *f = context;
	char buffer[32];
	uint32_t device = feed_text(f, device_name(f, s->device, buffer, sizeof buffer));

	feed_allocation_done(f);
	arg_set_clear(&f->args);
	arg_key(&f->args, "current_bytes", 13), arg_u64(&f->args, s->current_bytes);
	arg_key(&f->args, "peak_bytes", 10), arg_u64(&f->args, s->peak_bytes);
	arg_key(&f->args, "n_live", 6), arg_u64(&f->args, s->n_live);
	builder_instant(f->builder, f->at.track, s->time_ns,
			builder_site(f->builder, device, feed_text(f, "memory snapshot"), CLASS_MEMORY, NAME_DEVICE),
			arg_set_finish(&f->args), 't');
}

/* ---- What was seen of the processes ------------------------------------------------------------------------------ */

static void put_value(feed *f, uint32_t track, const char *name, const char *series, int64_t time_ns, double value)
{
	builder_value(f->builder, track, feed_text(f, name), series ? feed_text(f, series) : INDEX_NONE,
		      feed_text(f, "process"), time_ns, value);
}

static void put_sample(feed *f, const process_sample *s)
{
	uint32_t track = feed_process_track(f, feed_process(f, s->pid));

	put_value(f, track, "rss bytes", NULL, s->time_ns, (double)s->rss_bytes);
	if (s->peak_rss_bytes)
		put_value(f, track, "peak rss bytes", NULL, s->time_ns, (double)s->peak_rss_bytes);
	put_value(f, track, "cpu time ns", "user", s->time_ns, (double)s->user_ns);
	put_value(f, track, "cpu time ns", "system", s->time_ns, (double)s->system_ns);
	put_value(f, track, "threads", NULL, s->time_ns, s->n_threads);
	put_value(f, track, "page faults", "minor", s->time_ns, (double)s->minor_faults);
	put_value(f, track, "page faults", "major", s->time_ns, (double)s->major_faults);
	if (s->read_bytes == UINT64_MAX)
		return;
	put_value(f, track, "read bytes", NULL, s->time_ns, (double)s->read_bytes);
	put_value(f, track, "written bytes", NULL, s->time_ns, (double)s->write_bytes);
}

static void name_process(feed *f, uint32_t process, uint32_t name)
{
	index_process *p = builder_process_of(f->builder, process);

	if (p && name != INDEX_NONE)
		p->name = name;
}

/* Its command, as long as it has not said who it is. */
static void put_processes(feed *f)
{
	for (size_t i = 0; i < f->trace->processes.n; i++) {
		const recording_process *p = &f->trace->processes.items[i];
		name_process(f, feed_process(f, p->pid), feed_text(f, p->command));
	}
	for (size_t i = 0; i < f->trace->streams.n; i++) {
		const stream_block *info = &f->trace->streams.items[i].info;
		bool program = f->trace->streams.items[i].has_info && *info->program && info->role == ROLE_PROGRAM;
		if (f->process_names[i] != INDEX_NONE)
			name_process(f, f->processes[i], f->process_names[i]);
		else if (program)
			name_process(f, f->processes[i], feed_text(f, info->program));
	}
	for (size_t i = 0; i < f->trace->samples.n; i++)
		put_sample(f, &f->trace->samples.items[i]);
}

/* ---- What it says about itself ----------------------------------------------------------------------------------- */

static void put_meta(feed *f, const recording_stream *s, const char *key, const char *value, size_t len)
{
	char name[300];

	/* The recorder's own stream speaks for all. */
	if (s->info.role == ROLE_OBSERVER)
		snprintf(name, sizeof name, "%s", key);
	else
		snprintf(name, sizeof name, "%s of process %" PRIu32, key, s->info.pid);
	builder_meta(f->builder, -1, name, strlen(name), value, len, false);
}

static void put_number(feed *f, const recording_stream *s, const char *key, int64_t value)
{
	char text[24];

	put_meta(f, s, key, text, (size_t)snprintf(text, sizeof text, "%" PRId64, value));
}

/* The start and the end of a recording are part of its time even where nothing happened. */
static void put_bounds(feed *f, uint32_t process, const stream_block *info)
{
	uint32_t track = feed_process_track(f, process), category = feed_text(f, "sonde");

	builder_instant(f->builder, track, info->start_ns,
			builder_site(f->builder, feed_text(f, "recording starts"), category, CLASS_OTHER, NAME_MARK), 0,
			'p');
	if (info->end_ns)
		builder_instant(
			f->builder, track, info->end_ns,
			builder_site(f->builder, feed_text(f, "recording ends"), category, CLASS_OTHER, NAME_MARK), 0,
			'p');
}

static void put_stream(feed *f, size_t i)
{
	const recording_stream *s = &f->trace->streams.items[i];

	for (size_t k = 0; k < s->meta.n; k++)
		if (strncmp(s->meta.items[k].key, "thread.", 7) != 0) /* those are names of tracks */
			put_meta(f, s, s->meta.items[k].key, s->meta.items[k].value, strlen(s->meta.items[k].value));
	if (s->modules)
		put_meta(f, s, "modules", s->modules, s->modules_len);
	if (!s->has_info)
		return;
	put_meta(f, s, "program", s->info.program, strlen(s->info.program));
	put_meta(f, s, "host", s->info.host, strlen(s->info.host));
	put_meta(f, s, "writer", s->info.writer, strlen(s->info.writer));
	put_number(f, s, "start_utc_ns", s->info.start_utc_ns);
	put_number(f, s, "start_ns", s->info.start_ns);
	put_bounds(f, f->processes[i], &s->info);
}

/* Where each name is in the program's source, as one text. */
static void put_source(json_writer *w, const recording *t, const trace_site *site)
{
	const name_record *r = site->record;

	if (!r->file_len && !r->function_len)
		return;
	json_line(w), json_begin_object(w);
	json_key(w, "name"), json_string(w, recording_text(t, site->name));
	json_key(w, "category"), json_string(w, recording_text(t, site->category));
	json_key(w, "file"), json_stringn(w, r->text + r->name_len, r->file_len);
	json_key(w, "line"), json_u64(w, r->line);
	json_key(w, "function"), json_stringn(w, r->text + r->name_len + r->file_len, r->function_len);
	json_end_object(w);
}

static void put_sources(feed *f, const recording_stream *s)
{
	char *text = NULL, key[64];
	size_t len = 0;
	FILE *out = s->site_pages ? open_memstream(&text, &len) : NULL;

	if (!s->site_pages)
		return;
	f->failed |= !out;
	if (!out)
		return;
	json_writer w = json_to(out);
	json_begin_array(&w);
	for (size_t i = 0; i < 256; i++)
		for (size_t k = 0; s->site_pages[i] && k < 256; k++)
			if (s->site_pages[i][k].record)
				put_source(&w, f->trace, &s->site_pages[i][k]);
	json_end_array(&w);
	f->failed |= fclose(out) != 0;
	snprintf(key, sizeof key, "sources of process %" PRIu32, s->info.pid);
	if (!f->failed && len > 2)
		builder_meta(f->builder, -1, key, strlen(key), text, len, true);
	free(text);
}

/* What is missing or was repaired. */
static void put_diagnostics(feed *f, const walk_counts *counts)
{
	const recording_diagnostics *d = &f->trace->diagnostics;
	const uint64_t n[DIAGNOSTIC_KINDS] = {
		[DIAGNOSTIC_LOST_FULL] = d->n_lost_full,
		[DIAGNOSTIC_LOST_OVERWRITTEN] = d->n_lost_overwritten,
		[DIAGNOSTIC_LOST_SIGNAL] = d->n_lost_signal,
		[DIAGNOSTIC_LOST_IO] = d->n_lost_io,
		[DIAGNOSTIC_LOST_DAMAGED] = d->n_lost_damaged,
		[DIAGNOSTIC_DEEP_SCOPES] = counts->n_too_deep,
		[DIAGNOSTIC_OPEN_SCOPES] = counts->n_open,
		[DIAGNOSTIC_REPAIRED_SCOPES] = counts->n_repaired,
		[DIAGNOSTIC_UNMATCHED_ENDS] = counts->n_unmatched_ends,
		[DIAGNOSTIC_CLAMPED] = counts->n_clamped,
		[DIAGNOSTIC_OUTSIDE] = counts->n_outside,
		[DIAGNOSTIC_UNKNOWN_NAMES] = counts->n_unknown,
		[DIAGNOSTIC_NAMES_REFUSED] = d->n_names_refused,
		[DIAGNOSTIC_DAMAGED_BLOCKS] = d->n_damaged_blocks + counts->n_damaged,
		[DIAGNOSTIC_SKIPPED_BYTES] = d->skipped_bytes,
		[DIAGNOSTIC_TRUNCATED_BYTES] = d->truncated_bytes,
		[DIAGNOSTIC_RINGS_MISSING] = d->n_rings_missing,
	};

	for (diagnostic_kind i = 0; i < DIAGNOSTIC_KINDS; i++)
		if (n[i])
			builder_diagnostic(f->builder, &(builder_problem){ .kind = i,
									   .n = n[i],
									   .file = f->path,
									   .position = i == DIAGNOSTIC_DAMAGED_BLOCKS
											       ? d->first_damage
											       : -1 });
}

/* How many events there were, and who wrote them. */
static void put_facts(feed *f)
{
	const recording_diagnostics *d = &f->trace->diagnostics;
	uint64_t n = d->n_kept + d->n_lost_full + d->n_lost_overwritten + d->n_lost_signal + d->n_lost_io +
		     d->n_lost_damaged;
	char text[24];
	int len = snprintf(text, sizeof text, "%" PRIu64, n);

	builder_meta(f->builder, BUILDER_RANK_OF(f->file), FACT_EVENTS, strlen(FACT_EVENTS), text, (size_t)len, true);
	builder_meta(f->builder, BUILDER_RANK_OF(f->file), FACT_WRITER, strlen(FACT_WRITER), "sonde", 5, false);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
	feed *f = context;

	return !f->failed && (!f->progress || f->progress(f->context, done, total));
}

walk_sink feed_sink(feed *f)
{
	return (walk_sink){
		.context = f,
		.thread = on_thread,
		.named = on_named,
		.begin = feed_begin,
		.end = feed_end,
		.instant = feed_instant,
		.counter = on_counter,
		.flow = on_flow,
		.memory = on_memory,
		.launch = feed_launch,
		.device = feed_device,
		.snapshot = on_snapshot,
		.op_meta = feed_note_op,
		.meta = on_meta,
		.stack = feed_stack,
		.pause = on_pause,
		.progress = on_progress,
	};
}

void feed_rest(feed *f, const walk_counts *counts)
{
	builder_clock(f->builder, INDEX_CLOCK_MONOTONIC);
	put_processes(f);
	for (size_t i = 0; i < f->trace->streams.n; i++) {
		put_stream(f, i);
		put_sources(f, &f->trace->streams.items[i]);
	}
	put_diagnostics(f, counts);
	put_facts(f);
}

sonde_status feed_status(const feed *f, sonde_status status, sonde_error *err)
{
	if (f->failed || f->args.failed || status == SONDE_E_MEMORY)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	return status;
}

void feed_done(feed *f)
{
	feed_slices_done(f);
	feed_tracks_done(f);
	arg_set_done(&f->args);
}

static sonde_status walk_events(feed *f, walk_counts *ret_counts, sonde_error *err)
{
	const walk_sink sink = feed_sink(f);
	sonde_status status = recording_walk(f->trace, &sink, ret_counts, err);

	if (f->thread) {
		feed_thread_done(f);
		feed_process_done(f);
	}
	return status;
}

static sonde_status feed_all(feed *f, const recording *t, sonde_error *err)
{
	walk_counts counts;
	sonde_status status = feed_use(f, t) ? walk_events(f, &counts, err) : SONDE_E_MEMORY;

	if (!status)
		feed_rest(f, &counts);
	status = feed_status(f, status, err);
	feed_done(f);
	return status;
}

sonde_status recording_feed(const recording *t, builder *b, uint32_t file, recording_progress *progress, void *context,
			    sonde_error *err)
{
	const char *path = t->files.n ? t->files.items[0].path : NULL;
	feed f = { .builder = b,
		   .file = file,
		   .path = path ? path : "",
		   .progress = progress,
		   .context = context,
		   .args = { .builder = b },
		   .queue = UINT32_MAX };

	return feed_all(&f, t, err);
}

/* The directory of the recording; "" where there is none. */
static void directory_of(const recording *t, char *ret_dir, size_t size)
{
	const char *path = t->files.n ? t->files.items[0].path : NULL, *slash = path ? strrchr(path, '/') : NULL;

	if (slash && slash > path && (size_t)(slash - path) < size)
		snprintf(ret_dir, size, "%.*s", (int)(slash - path), path);
	else
		snprintf(ret_dir, size, "%s", !path ? "" : slash ? "/" : ".");
}

sonde_status recording_build_index_as(const recording *t, const builder_options *options, sonde_index **ret_index,
				      sonde_error *err)
{
	builder_options given = *options;
	char dir[PATH_MAX];

	directory_of(t, dir, sizeof dir);
	given.spill_dir = dir;
	given.spill_bytes = given.spill_bytes ? given.spill_bytes : BUILDER_SPILL_BYTES;
	builder *b = builder_new(&given);
	if (!b)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	feed f = { .builder = b,
		   .progress = given.progress,
		   .context = given.context,
		   .args = { .builder = b },
		   .queue = UINT32_MAX };
	sonde_status status = feed_all(&f, t, err);
	if (!status)
		status = builder_finish(b, ret_index, err);
	builder_free(b);
	return status;
}

sonde_status recording_build_index_with(const recording *t, unsigned n_threads, recording_progress *progress,
					void *context, sonde_index **ret_index, sonde_error *err)
{
	return recording_build_index_as(
		t, &(builder_options){ .n_threads = n_threads, .progress = progress, .context = context }, ret_index,
		err);
}

sonde_status recording_build_index(const recording *t, unsigned n_threads, sonde_index **ret_index, sonde_error *err)
{
	return recording_build_index_with(t, n_threads, NULL, NULL, ret_index, err);
}
