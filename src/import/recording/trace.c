/* See trace.h. */
#include "import/recording/trace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/error.h"

/* ---- The index --------------------------------------------------------------------------------------------------- */

static sonde_index *make_again(void *context)
{
	sonde_index *ix = NULL;

	return recording_build_index(context, 0, &ix, NULL) ? NULL : ix;
}

/* The blocks hold the same events: an index that cannot be opened is left out, and pages that are found damaged later
   are made from the blocks. */
sonde_index *recording_find_index(recording *r)
{
	const char *path = r->files.n ? r->files.items[0].path : NULL;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	sonde_index *ix = NULL;

	if (fd < 0)
		return NULL;
	if (index_file_has(fd) && index_open_file(path, fd, &ix, NULL)) {
		ix = NULL;
		r->diagnostics.torn_index_bytes = r->index_bytes;
	}
	if (ix)
		index_set_maker(ix, make_again, r, path);
	close(fd);
	return ix;
}

/* ---- What the file says about itself ----------------------------------------------------------------------------- */

static const char *const states[] = { "open", "closed", "recovered" };
static const char *const clocks[] = { "tsc", "monotonic", "cntvct" };
static const char *const policies[] = { "block", "overwrite", "drop" };
static const char *const kinds[] = { "?",    "stream",	"names",   "clock",   "events",
				     "meta", "process", "samples", "modules", "samples" };
_Static_assert(sizeof kinds / sizeof kinds[0] == BLOCK_KINDS, "each has a name");

#define NAME_OF(list, i) ((i) < sizeof(list) / sizeof(list)[0] ? (list)[i] : "?")

/* Half the widest bracket: how far a time stamp may be off, apart from the straight lines between the pairs. */
static int64_t clock_error(const recording_stream *s)
{
	uint64_t widest = 0;

	for (size_t i = 0; i < s->pairs.n; i++)
		widest = s->pairs.items[i].error_ticks > widest ? s->pairs.items[i].error_ticks : widest;
	double ns = (double)widest * s->tick_ns / 2 + 0.5;
	return ns < (double)TRACE_NS_MAX ? (int64_t)ns : TRACE_NS_MAX;
}

static void describe_stream(const recording_stream *s, stream_facts *to)
{
	const stream_block *info = &s->info;

	to->has_info = s->has_info;
	if (!s->has_info)
		return;
	to->is_observer = info->role == ROLE_OBSERVER;
	to->program = info->program;
	to->host = info->host;
	to->writer = info->writer;
	to->state = s->live && info->state == STREAM_OPEN ? "running" : NAME_OF(states, info->state);
	to->clock = NAME_OF(clocks, info->clock);
	to->full = NAME_OF(policies, info->full);
	to->pid = info->pid;
	to->n_lost = info->n_lost_full + info->n_lost_overwritten + info->n_lost_signal + info->n_lost_io;
	to->n_clock_pairs = s->pairs.n;
	to->ring_bytes = info->ring_bytes;
	to->tick_ns = s->tick_ns;
	to->clock_error_ns = s->tick_ns > 0 ? clock_error(s) : 0;
}

static bool describe_streams(const recording *r, recording_facts *f)
{
	for (size_t i = 0; i < r->streams.n; i++) {
		const recording_stream *s = &r->streams.items[i];
		stream_facts *to = VEC_ADD(&f->streams);
		if (!to)
			return false;
		describe_stream(s, to);
		f->n_recovered += s->n_joined;
		f->is_live |= s->live;
		f->has_ticks |= s->tick_ns <= 0 && s->info.role == ROLE_PROGRAM && s->n_kept;
	}
	for (size_t i = 0; i < r->blocks.n; i++)
		f->streams.items[r->blocks.items[i].stream].n_events += r->blocks.items[i].n_events;
	return true;
}

static bool describe_threads(const recording *r, recording_facts *f)
{
	for (size_t i = 0; i < r->threads.n; i++) {
		const trace_thread *thread = &r->threads.items[i];
		const recording_block *blocks = &r->blocks.items[thread->first_block];
		thread_facts *to = VEC_ADD(&f->threads);
		if (!to)
			return false;
		*to = (thread_facts){ .name = thread->name,
				      .tid = thread->tid,
				      .pid = r->streams.items[thread->stream].info.pid };
		for (size_t k = 0; k < thread->n_blocks; k++) {
			to->n_events += blocks[k].n_events;
			to->n_lost = blocks[k].head.n_lost > to->n_lost ? blocks[k].head.n_lost : to->n_lost;
		}
	}
	return true;
}

static bool add_blocks(recording_facts *f, const char *kind, uint64_t n, uint64_t bytes)
{
	block_facts *to = n ? VEC_ADD(&f->blocks) : NULL;

	if (to)
		*to = (block_facts){ kind, n, bytes };
	return to || !n;
}

static bool describe(const recording *r, recording_facts *f)
{
	bool ok = describe_streams(r, f) && describe_threads(r, f);

	for (size_t i = 1; i < BLOCK_KINDS; i++)
		ok = ok && add_blocks(f, kinds[i], r->n_blocks_of[i], r->bytes_of[i]);
	f->event_bytes = r->bytes_of[BLOCK_EVENTS];
	f->n_unclosed = r->diagnostics.n_unclosed_streams;
	f->torn_index_bytes = r->diagnostics.torn_index_bytes;
	f->is_window = r->is_window;
	f->window_ns = r->window_ns;
	f->n_shown = recording_n_shown(r);
	return ok && add_blocks(f, "index", r->index_bytes > 0, r->index_bytes);
}

/* ---- The trace --------------------------------------------------------------------------------------------------- */

static void free_source(void *source)
{
	recording_free(source);
}

static bool source_is_broken(const void *source)
{
	return recording_is_broken(source);
}

recording *trace_recording(const sonde_trace *t)
{
	return t->free_source == free_source ? t->source : NULL;
}

static bool fill(sonde_trace *t, const recording *r)
{
	/* Also of its start and its end, when nothing happened there. */
	t->start_ns = r->start_ns;
	t->end_ns = r->end_ns;
	t->warning = r->warning;
	t->recording = calloc(1, sizeof *t->recording);
	for (size_t i = 0; i < r->files.n; i++)
		if (!trace_add_file(t, r->files.items[i].path, r->files.items[i].len))
			return false;
	return t->recording && describe(r, t->recording);
}

sonde_status recording_trace(recording *r, sonde_index *index, sonde_trace **ret_trace, sonde_error *err)
{
	sonde_trace *t;
	sonde_status status = trace_of_index(index, &t, err);

	if (status) {
		recording_free(r);
		return status;
	}
	t->source = r;
	t->free_source = free_source;
	t->source_is_broken = source_is_broken;
	if (!fill(t, r)) {
		sonde_trace_free(t);
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	}
	*ret_trace = t;
	return SONDE_OK;
}
