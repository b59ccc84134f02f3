/*
 * Opens traces in the background, one after the other, and opens those again whose program still runs.
 *
 * A recording that grows is opened again and again, which takes as long as much is new (import/recording/follow.h).
 * The time from one to the next grows with that, from REFRESH_NS on: following costs at most half a core
 * (FOLLOW_SHARE). A request that holds the trace from before keeps it alive until it finishes.
 *
 * A recording may grow faster than half a core reads, and larger than memory:
 *
 *   - While more is unread than one refresh can read (session.pace, found by measuring), the session shows a window:
 *     the newest half as many (trace_window). Each refresh also reads some of the rest, and the session shows
 *     everything as soon as that has caught up.
 *   - Beyond FOLLOW_EVENTS, or when this process has FOLLOW_BYTES of memory, reading the rest ends. Only the window
 *     goes on, at a cost that does not depend on the length of the recording.
 *   - At the end of the run everything is indexed once: by `sonde record` if it is there, which is waited for, else
 *     here. The window stays until then.
 */
#define _GNU_SOURCE
#include "serve/server.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/error.h"
#include "base/proc.h"
#include "import/recording/follow.h"
#include "import/recording/trace.h"

#define REFRESH_NS 700000000 /* from one beginning to the next */
#define LEAST_PAUSE_NS 100000000
#define SCAN_NS 2000000000
#define IDLE_NS 2000000000 /* a file that does not grow is looked at this often: its program may be gone */
#define PACE_NS 250000000  /* of processor time, to read what a refresh reads */
#define PACE_MIN UINT64_C(250000)
#define PACE_MAX UINT64_C(8000000)
#define FOLLOW_EVENTS UINT64_C(150000000)
#define FOLLOW_BYTES (UINT64_C(600) << 20)
enum {
	OPEN_MAX = 8,
	FOLLOW_SHARE = 2,
	NICE = 5, /* programs that are recorded go first */
};

typedef struct opening {
	sonde_server *server;
	session *session;
	opened *before; /* what was open, or NULL */
} opening;

static bool note_progress(void *context, uint64_t done, uint64_t total)
{
	const opening *o = context;

	pthread_mutex_lock(&o->server->lock);
	bool goes_on = !o->server->stopping;
	double progress = total ? (double)done / (double)total : 0;
	/* At most a hundred times. */
	if (progress >= o->session->progress + 0.01) {
		o->session->progress = progress;
		session_changed(o->server, o->session);
	}
	pthread_mutex_unlock(&o->server->lock);
	return goes_on;
}

/* ---- While the program runs -------------------------------------------------------------------------------------- */

/* Its first block says that it is not finished: it may be live. */
static bool is_unfinished(const char *path)
{
	stream_start start;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is_whole = fd >= 0 && pread(fd, &start, sizeof start, 0) == (ssize_t)sizeof start;

	if (fd >= 0)
		close(fd);
	return is_whole && block_header_ok(&start.header) && start.header.kind == BLOCK_STREAM &&
	       start.info.state == STREAM_OPEN;
}

/* The run has ended, and the window stays until everything is indexed. */
static void note_end(const opening *how, opened *shown)
{
	if (!shown->is_live)
		return;
	shown->is_live = false;
	how->session->was_live = true;
	how->session->progress = 0;
	session_changed(how->server, how->session);
}

/* A recording that was live is read on from where it was whole. NULL: it is not live. */
static recording *open_live(const opening *how)
{
	const char *path = how->session->path;
	const opened *shown = how->before && how->before->is_live ? how->before : NULL;
	const recording *before = shown ? trace_recording(shown->trace) : NULL;
	recording_source source = { .path = path, .whole_max = FOLLOW_EVENTS };
	recording *r;

	if (before) /* one that is not followed any more is only read from its window on */
		source.before = how->session->follow && before->whole ? before->whole : before;
	if ((!shown && !is_unfinished(path)) || recording_open(&source, 1, &r, NULL))
		return NULL;
	if (recording_is_live(r))
		return r;
	recording_free(r);
	return NULL;
}

static void stop_following(session *of)
{
	if (!of->follow)
		return;
	recording_follow_free(of->follow);
	of->follow = NULL;
	malloc_trim(0);
}

/* Reads some more of it. False: it is too large to have all of it here. */
static bool follow(session *of, const recording *t, uint64_t *ret_left, sonde_status *ret_status, sonde_error *err)
{
	if (t->is_window || t->diagnostics.n_kept > FOLLOW_EVENTS || proc_anonymous_bytes() > FOLLOW_BYTES)
		return false;
	if (!of->follow)
		of->follow = recording_follow_new();
	*ret_status = of->follow ? recording_follow_read(of->follow, t, of->pace, ret_left, err)
				 : error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	return true;
}

/* Its newest events, in the place of all. */
static sonde_status show_window(const session *of, recording **r, const sonde_open_options *options,
				sonde_index **ret_index, sonde_error *err)
{
	recording *window;
	sonde_status status = recording_window(*r, of->pace / 2, &window, err);

	if (status)
		return status;
	*r = window;
	return recording_build_index_with(window, 1, options->progress, options->context, ret_index, err);
}

/* How much a refresh reads next time. */
static void adapt_pace(session *of, uint64_t n_read, int64_t took_ns)
{
	double fits = (double)n_read * PACE_NS / (double)(took_ns > 1 ? took_ns : 1);

	if (n_read < of->pace / 2)
		return;
	of->pace = fits > (double)PACE_MAX ? PACE_MAX : fits < (double)PACE_MIN ? PACE_MIN : (uint64_t)fits;
}

static sonde_status index_live(const opening *how, recording **r, const sonde_open_options *options,
			       sonde_index **ret_index, sonde_error *err)
{
	session *of = how->session;
	bool is_whole = how->before && !trace_is_window(how->before->trace);
	int64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t n_left = 0;
	sonde_status status = SONDE_OK;

	of->pace = of->pace ? of->pace : PACE_MAX / 4;
	bool is_followed = follow(of, *r, &n_left, &status, err);
	if (!is_followed)
		stop_following(of);
	if (status)
		return status;
	uint64_t n_read = is_followed ? recording_follow_cost(of->follow) : 0;
	if (is_followed && n_left <= (is_whole ? 2 * of->pace : of->pace)) /* no back and forth */
		return recording_follow_index(of->follow, *r, options->progress, options->context, ret_index, err);
	status = show_window(of, r, options, ret_index, err);
	n_read += recording_n_shown(*r);
	adapt_pace(of, n_read, clock_ns(CLOCK_THREAD_CPUTIME_ID) - start);
	return status;
}

static sonde_status show_live(const opening *how, recording *r, const sonde_open_options *options,
			      sonde_trace **ret_trace, sonde_error *err)
{
	sonde_index *index;
	sonde_status status = index_live(how, &r, options, &index, err);

	if (!status)
		return recording_trace(r, index, ret_trace, err);
	recording_free(r);
	return status;
}

/* ---- Opening ------------------------------------------------------------------------------------------------------
 */

/* At its end a recording that was live is opened as any other. */
static sonde_status open_file(const opening *how, const sonde_open_options *options, sonde_trace **ret_trace,
			      sonde_error *err)
{
	const char *path = how->session->path;
	recording *r = open_live(how);

	if (r)
		return show_live(how, r, options, ret_trace, err);
	if (how->before && how->before->is_live && trace_is_window(how->before->trace)) {
		pthread_mutex_lock(&how->server->lock);
		note_end(how, how->before);
		pthread_mutex_unlock(&how->server->lock);
	}
	return sonde_trace_open_with(&path, 1, options, ret_trace, err);
}

static opened *open_trace(opening *how, sonde_error *err)
{
	sonde_open_options options = { .struct_size = sizeof options, .progress = note_progress, .context = how };
	opened *o = calloc(1, sizeof *o);

	if (!o) {
		error_set(err, SONDE_E_MEMORY, -1, "out of memory");
		return NULL;
	}
	sonde_status status = open_file(how, &options, &o->trace, err);
	if (!status && trace_is_broken(o->trace))
		status = error_set(err, SONDE_E_TRUNCATED, -1, "%s: the file was truncated while it was read",
				   how->session->path);
	o->is_live = !status && o->trace->recording && o->trace->recording->is_live;
	if (!o->is_live)
		stop_following(how->session);
	if (status) {
		sonde_trace_free(o->trace);
		free(o);
		return NULL;
	}
	sonde_trace_facts facts = { .struct_size = sizeof facts };
	sonde_trace_get_facts(o->trace, &facts);
	o->n_events = facts.n_events;
	o->ix = o->trace->index;
	o->is_mapped = index_is_mapped(o->ix) || o->trace->recording;
	o->catches_up = trace_is_window(o->trace) && how->session->follow;
	o->n_users = 1;
	return o;
}

/* The trace that was open, which is released without the lock. */
static opened *put_in_place(session *of, opened *new, const sonde_error *err)
{
	opened *old = of->opened;

	if (!new) {
		/* What was open stays; a closed file may be asked for again. */
		snprintf(of->message, sizeof of->message, "%s", err->message);
		of->state = old ? SESSION_OPEN : SESSION_FAILED;
		if (old)
			old->is_live = false;
		return NULL;
	}
	new->generation = ++of->generation;
	of->damage[0] = 0;
	of->was_live |= old && old->is_live && !new->is_live;
	of->state = SESSION_OPEN;
	of->progress = 1;
	of->opened = new;
	return old;
}

/* Until the next time, so that opening has its share of a core and no more. What requests did meanwhile counts, too:
   then there is less of it for following. */
static int64_t pause_after(int64_t took_ns, int64_t cpu_ns)
{
	int64_t period = FOLLOW_SHARE * cpu_ns > REFRESH_NS ? FOLLOW_SHARE * cpu_ns : REFRESH_NS;

	return period - took_ns > LEAST_PAUSE_NS ? period - took_ns : LEAST_PAUSE_NS;
}

/* The programs are gone, and `sonde record` still works on the file. */
static bool is_being_finished(const recording *t)
{
	bool has_recorder = false;

	for (size_t i = 0; i < t->streams.n; i++) {
		const stream_block *info = &t->streams.items[i].info;
		bool is_gone = proc_is_gone((int32_t)info->pid, info->pid_start);
		if (info->role == ROLE_PROGRAM && !is_gone)
			return false;
		has_recorder |= info->role == ROLE_OBSERVER && info->state == STREAM_OPEN && !is_gone;
	}
	return has_recorder;
}

/* A window of a run that has ended is to be replaced by the whole. False: not yet. The lock is held. */
static bool may_replace(const opening *how)
{
	session *of = how->session;

	if (!how->before || !trace_is_window(how->before->trace))
		return true;
	of->awaits_index = is_being_finished(trace_recording(how->before->trace));
	if (of->awaits_index)
		note_end(how, how->before);
	return !of->awaits_index;
}

/* The lock is held, but for the opening itself. */
static void open_session(sonde_server *s, session *of)
{
	opening how = { s, of, of->opened };
	sonde_error err = { .position = -1 };
	int64_t start = monotonic_ns(), cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	if (!may_replace(&how)) {
		of->opened_at_ns = start;
		of->pause_ns = IDLE_NS;
		return;
	}
	if (!of->opened) {
		of->state = SESSION_OPENING;
		of->progress = 0;
		session_changed(s, of);
	}
	file_state before = file_state_of(of->path);
	opened *used = of->opened; /* it may be given up meanwhile */
	if (used)
		used->n_users++;
	pthread_mutex_unlock(&s->lock);
	opened *new = open_trace(&how, &err);
	if (used)
		session_release(s, used);
	pthread_mutex_lock(&s->lock);
	of->file = before;
	of->is_rewritten = false;
	of->opened_at_ns = monotonic_ns();
	of->read_at_ns = start;
	/* The first time takes as long as there is much; what an update takes is known after the next. */
	of->pause_ns =
		used ? pause_after(of->opened_at_ns - start, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) : REFRESH_NS;
	opened *old = put_in_place(of, new, &err);
	session_changed(s, of);
	if (!old)
		return;
	pthread_mutex_unlock(&s->lock);
	session_release(s, old);
	pthread_mutex_lock(&s->lock);
}

/* ---- What to do next --------------------------------------------------------------------------------------------- */

static bool is_left_alone(const session *of)
{
	file_state file = file_state_of(of->path);

	return !file.changed_ns || clock_ns(CLOCK_REALTIME) - file.changed_ns > IDLE_NS;
}

/* A recording that grows is due as soon as it has; another file when it was left alone for a while. */
static bool is_due(const session *of, int64_t now)
{
	if (of->state == SESSION_WANTED)
		return !of->is_rewritten || is_left_alone(of);
	int64_t since = now - of->opened_at_ns;
	if (!of->opened || since < of->pause_ns)
		return false;
	file_state file = file_state_of(of->path);
	bool has_changed = session_has_changed(of, &file);
	if (of->opened->is_live || of->awaits_index)
		return has_changed || since > IDLE_NS;
	return has_changed && file.changed_ns && clock_ns(CLOCK_REALTIME) - file.changed_ns > IDLE_NS;
}

static session *find_due(sonde_server *s, int64_t now)
{
	for (size_t i = 0; i < s->sessions.n; i++)
		if (is_due(s->sessions.items[i], now))
			return s->sessions.items[i];
	return NULL;
}

/* Of more than OPEN_MAX open traces the one that nobody asked for longest. The lock is held. */
static opened *take_oldest(sonde_server *s)
{
	session *oldest = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->sessions.n; i++) {
		session *one = s->sessions.items[i];
		if (!one->opened)
			continue;
		n++;
		if (!oldest || one->used_ns < oldest->used_ns)
			oldest = one;
	}
	if (n <= OPEN_MAX)
		return NULL;
	opened *o = oldest->opened;
	oldest->opened = NULL;
	oldest->state = SESSION_CLOSED;
	stop_following(oldest);
	session_changed(s, oldest);
	return o;
}

static void wait_some(sonde_server *s)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 200000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&s->changed, &s->lock, &until);
}

static void *run(void *context)
{
	sonde_server *s = context;
	int64_t scanned = monotonic_ns();

	/* Of this thread alone, and of those that it makes. */
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);

	pthread_mutex_lock(&s->lock);
	while (!s->stopping) {
		session *due = find_due(s, monotonic_ns());
		if (due)
			open_session(s, due);
		else
			wait_some(s);
		opened *old = take_oldest(s);
		pthread_mutex_unlock(&s->lock);
		if (old)
			session_release(s, old);
		if (monotonic_ns() - scanned > SCAN_NS) {
			sessions_scan(s);
			scanned = monotonic_ns();
		}
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

sonde_status opener_start(sonde_server *s, sonde_error *err)
{
	if (pthread_create(&s->opener, NULL, run, s) != 0)
		return error_set(err, SONDE_E_MEMORY, -1, "cannot start a thread to open traces");
	s->has_opener = true;
	return SONDE_OK;
}

void opener_stop(sonde_server *s)
{
	if (s->has_opener)
		pthread_join(s->opener, NULL);
	s->has_opener = false;
}
