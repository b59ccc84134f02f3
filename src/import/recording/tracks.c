/* Processes, tracks and sites of a recording, in the numbers of its builder. See recording/feed.h. */
#include <inttypes.h>
#include <stdio.h>
#include "import/recording/feed.h"
#include <sonde/record.h>

/* Process ids of devices, above what Linux gives out; as the Chrome export has them. */
enum { DEVICE_PID = 1 << 23, N_IDS = 65536 };

/* Zeroed where it is new. */
static void *grown(void *items, size_t n_before, size_t n, size_t size)
{
	uint8_t *more = realloc(items, (n + 1) * size);

	if (more)
		memset(more + n_before * size, 0, (n + 1 - n_before) * size);
	return more;
}

/* What the recorder says is about the program that it started. */
static int64_t pid_of(const recording *r, size_t stream)
{
	const stream_block *info = &r->streams.items[stream].info;

	return info->role == ROLE_OBSERVER && r->processes.n ? r->processes.items[0].pid : (int64_t)info->pid;
}

static bool add_streams(feed *f)
{
	size_t before = f->n_streams, n = f->trace->streams.n;
	uint32_t *processes = grown(f->processes, before, n, sizeof *processes);
	f->processes = processes ? processes : f->processes;
	uint32_t *names = grown(f->process_names, before, n, sizeof *names);
	f->process_names = names ? names : f->process_names;
	uint64_t *from = grown(f->named_from, before, n, sizeof *from);
	f->named_from = from ? from : f->named_from;

	if (!processes || !names || !from)
		return false;
	for (size_t i = before; i < n; i++) {
		f->process_names[i] = INDEX_NONE;
		f->processes[i] = feed_process(f, pid_of(f->trace, i));
	}
	f->n_streams = n;
	return true;
}

bool feed_use(feed *f, const recording *trace)
{
	f->trace = trace;
	f->stream = f->queue_stream = NULL;
	free(f->strings);
	f->strings = calloc(trace->strings.n + 1, sizeof *f->strings);
	if (!f->site_of_id)
		f->site_of_id = calloc(N_IDS, sizeof *f->site_of_id);
	return f->strings && f->site_of_id && add_streams(f);
}

void feed_tracks_done(feed *f)
{
	free(f->processes);
	free(f->process_names);
	free(f->named_from);
	free(f->strings);
	free(f->site_of_id);
	intern_done(&f->tids);
	intern_done(&f->meta_keys);
	VEC_DONE(&f->meta_from);
}

/* ---- Strings and sites ------------------------------------------------------------------------------------------- */

uint32_t feed_text(feed *f, const char *text)
{
	return builder_string(f->builder, text, strlen(text));
}

uint32_t feed_string(feed *f, uint32_t string)
{
	if (string >= f->trace->strings.n)
		return feed_text(f, "?");
	if (!f->strings[string])
		f->strings[string] = feed_text(f, recording_text(f->trace, string)) + 1;
	return f->strings[string] - 1;
}

static site_class class_of(const recording *t, const trace_site *site)
{
	static const site_class classes[] = { CLASS_OTHER,     CLASS_COMPUTE, CLASS_MEMORY,
					      CLASS_DATA_LOAD, CLASS_SYNC,    CLASS_COMMUNICATION };
	const char *category = recording_text(t, site->category);

	if (site->kind == NAME_STEP || site->kind == NAME_PHASE)
		return site->kind == NAME_STEP ? CLASS_STEP : CLASS_PHASE;
	for (uint32_t i = 1; i < sizeof classes / sizeof classes[0]; i++)
		if (strcmp(category, trace_category_name(i)) == 0)
			return classes[i];
	return site->kind == NAME_OP ? CLASS_COMPUTE : CLASS_OTHER;
}

uint32_t feed_site_of(feed *f, const trace_site *site)
{
	return builder_site(f->builder, feed_string(f, site->name), feed_string(f, site->category),
			    class_of(f->trace, site), site->kind);
}

/* Not the site of an operation of the same name on the host. */
uint32_t feed_device_site_of(feed *f, const walk_device *d)
{
	static const uint8_t classes[N_DEVICE_WORKS] = {
		[DEVICE_WORK_KERNEL] = CLASS_KERNEL,  [DEVICE_WORK_COPY_IN] = CLASS_COPY,
		[DEVICE_WORK_COPY_OUT] = CLASS_COPY,  [DEVICE_WORK_COPY_WITHIN] = CLASS_COPY,
		[DEVICE_WORK_COPY_PEER] = CLASS_COPY, [DEVICE_WORK_SET] = CLASS_COPY,
		[DEVICE_WORK_SYNC] = CLASS_SYNC,      [DEVICE_WORK_COMMUNICATION] = CLASS_KERNEL,
	};
	uint8_t class = d->kind < N_DEVICE_WORKS ? classes[d->kind] : CLASS_OTHER;

	if (class == CLASS_OTHER) /* its kind is unknown */
		class = class_of(f->trace, d->site) == CLASS_MEMORY ? CLASS_COPY : CLASS_KERNEL;
	return builder_site(f->builder, feed_string(f, d->site->name), feed_string(f, d->site->category), class,
			    NAME_DEVICE);
}

uint32_t feed_site_of_id(feed *f, uint32_t id, const trace_site *site)
{
	if (!id || id >= N_IDS)
		return feed_site_of(f, site);
	if (!f->site_of_id[id])
		f->site_of_id[id] = feed_site_of(f, site) + 1;
	return f->site_of_id[id] - 1;
}

/* ---- Processes and tracks ---------------------------------------------------------------------------------------- */

uint32_t feed_process(feed *f, int64_t pid)
{
	return builder_process(f->builder, f->file, pid, INDEX_NONE);
}

uint32_t feed_process_track(feed *f, uint32_t process)
{
	return builder_track(f->builder, TRACK_PROCESS, process, 0, INDEX_NONE, INDEX_NONE);
}

void feed_name_thread(feed *f, uint32_t track, const char *name, size_t len)
{
	uint32_t string = len ? builder_string(f->builder, name, len) : INDEX_NONE;
	index_track *made = len ? builder_track_of(f->builder, track) : NULL;

	if (made)
		made->name = string;
}

/* A thread id may come back when its thread has ended: then the track is known by a text. */
static uint32_t make_thread_track(feed *f, uint32_t process, const trace_thread *thread)
{
	uint32_t key[2] = { process, thread->tid }, text = INDEX_NONE, before = f->tids.n;
	uint32_t number = intern(&f->tids, (const char *)key, sizeof key);
	char buffer[48];

	f->failed |= number == INTERN_NONE;
	if (number < before) {
		snprintf(buffer, sizeof buffer, "%" PRIu32 " #%" PRIu32, thread->tid, thread->number);
		text = feed_text(f, buffer);
	}
	return builder_track(f->builder, TRACK_THREAD, process, text == INDEX_NONE ? thread->tid : 0, text, INDEX_NONE);
}

uint64_t feed_order(const feed *f)
{
	return ((uint64_t)f->thread->stream << 32 | f->thread->number) + 1;
}

static void enter(feed *f, const trace_thread *thread)
{
	if (f->stream != &f->trace->streams.items[thread->stream])
		memset(f->site_of_id, 0, N_IDS * sizeof *f->site_of_id);
	f->stream = &f->trace->streams.items[thread->stream];
	f->thread = thread;
	f->process_track = feed_process_track(f, f->processes[thread->stream]);
}

void feed_thread(feed *f, const trace_thread *thread)
{
	enter(f, thread);
	f->at.track = make_thread_track(f, f->processes[thread->stream], thread);
	f->at.async_track = INDEX_NONE;
	f->at.is_named = false;
	feed_name_thread(f, f->at.track, thread->name, strlen(thread->name));
}

/* Its name may have become known since. */
void feed_enter(feed *f, const trace_thread *thread)
{
	bool has_async = f->at.async_track != INDEX_NONE;

	enter(f, thread);
	if (!f->at.is_named)
		feed_name_thread(f, f->at.track, thread->name, strlen(thread->name));
	f->at.async_track = INDEX_NONE;
	if (has_async)
		feed_async_track(f, thread);
}

/* Beside the thread, for what need not nest there. */
uint32_t feed_async_track(feed *f, const trace_thread *thread)
{
	if (thread == f->thread && f->at.async_track != INDEX_NONE)
		return f->at.async_track;
	uint32_t track = builder_track(f->builder, TRACK_ASYNC, f->processes[thread->stream], thread->number,
				       INDEX_NONE, feed_text(f, "operation"));
	char name[300];
	int len = snprintf(name, sizeof name, "operations of %s %" PRIu32, *thread->name ? thread->name : "thread",
			   thread->tid);
	feed_name_thread(f, track, name, (size_t)len < sizeof name ? (size_t)len : sizeof name - 1);
	if (thread == f->thread)
		f->at.async_track = track;
	return track;
}

/* The number that people give it: 0 for the first GPU. */
static int32_t device_number(uint32_t device)
{
	return device == SONDE_CPU ? -1 : device < NAME_FIRST_ID ? (int32_t)device - 1 : (int32_t)device;
}

uint32_t feed_queue_track(feed *f, uint32_t queue)
{
	const trace_site *site = recording_site_of(f->stream, queue);
	bool known = site && site->kind == NAME_STREAM;
	uint32_t stream = (uint32_t)(f->stream - f->trace->streams.items), device = known ? site->record->category : 0;
	uint32_t process = feed_process(f, DEVICE_PID + (int64_t)stream * 65536 + device);
	uint32_t track = builder_track(f->builder, TRACK_STREAM, process, queue, INDEX_NONE, INDEX_NONE);
	char buffer[32];

	const char *name = known ? recording_device_name(f->trace, stream, device, buffer, sizeof buffer) : "device";
	uint32_t string = feed_text(f, name);
	index_process *made = builder_process_of(f->builder, process);
	if (made) {
		made->name = string;
		made->device = known ? device_number(device) : 0;
	}
	index_track *lane = builder_track_of(f->builder, track);
	if (lane)
		lane->device = known ? device_number(device) : -1;
	const char *text = known ? recording_text(f->trace, site->name) : "stream";
	feed_name_thread(f, track, text, strlen(text));
	return track;
}
