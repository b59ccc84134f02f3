/*
 * Starting and stopping; fork; the beginning and the end of the process.
 *
 * A recording begins in a constructor when the environment asks for it and ends in a destructor, after everything that
 * uses the library has run its own. A program may also start and stop recordings itself; inside an automatic one its
 * start and stop only mark a stretch of that recording.
 *
 * After fork the child lets go of the parent's ring and file. It gets its own with its first event, so that a child
 * that only execs leaves nothing behind.
 */
#define _GNU_SOURCE
#include "record/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/error.h"
#include "base/proc.h"

enum { ACTIVITIES = SONDE_ACTIVE_CPU_ | SONDE_ACTIVE_MEMORY_ | SONDE_ACTIVE_DEVICE_ | SONDE_ACTIVE_MODULES_ };

struct runtime rt = { .file_fd = -1, .ring_fd = -1 };
uint32_t sonde_active_;

/* ---- The name of the file ---------------------------------------------------------------------------------------- */

/* False when there is no room for all of it. */
static bool expand(const char *pattern, char *out, size_t size)
{
	size_t n = 0;
	const char *p = pattern;

	for (; *p && n + 12 < size; p++) {
		if (p[0] == '%' && (p[1] == 'p' || p[1] == 'n')) {
			n += (size_t)snprintf(out + n, size - n, "%d",
					      p[1] == 'p' ? (int)getpid() : (int)rt.n_sessions);
			p++;
		} else {
			if (p[0] == '%' && p[1] == '%')
				p++;
			out[n++] = *p;
		}
	}
	out[n] = 0;
	return !*p;
}

/* The same, absolute: the program may change its directory while it runs. */
static sonde_status output_path(char *out, size_t size, sonde_error *err)
{
	static char name[4096], directory[4096]; /* under session_lock; a thread's stack may be small */
	bool fits = true;

	if (rt.options.output[0])
		fits = expand(rt.options.output, name, sizeof name);
	else
		snprintf(name, sizeof name, "%s.%d.sonde", program_invocation_short_name, (int)getpid());
	directory[0] = 0;
	if (name[0] != '/' && getcwd(directory, sizeof directory - 1))
		strcat(directory, "/");
	if (!fits || snprintf(out, size, "%s%s", directory, name) >= (int)size)
		return error_set(err, SONDE_E_USAGE, -1, "the path of the output is too long");
	return SONDE_OK;
}

/* ---- Start and stop ---------------------------------------------------------------------------------------------- */

static void describe_stream(void)
{
	ring_header *ring = rt.ring;

	ring->first = ring->last = clock_pair_now();
	stream_block info = {
		.state = STREAM_OPEN,
		.clock = rt.clock,
		.role = ROLE_PROGRAM,
		.pid = (uint32_t)getpid(),
		.pid_start = proc_start_time(getpid()),
		.start_ns = ring->first.ns,
		.start_utc_ns = clock_ns(CLOCK_REALTIME),
		.ring_bytes = (uint64_t)rt.max_chunks * RING_CHUNK_BYTES,
		.full = rt.options.full,
	};
	snprintf(info.ring_path, sizeof info.ring_path, "%s", rt.ring_path);
	snprintf(info.program, sizeof info.program, "%s", program_invocation_short_name);
	gethostname(info.host, sizeof info.host - 1);
	snprintf(info.writer, sizeof info.writer, "%s", SONDE_VERSION);
	info_store(&info);
	if (snprintf(ring->recording, sizeof ring->recording, "%s", rt.path) >= (int)sizeof ring->recording)
		ring->recording[0] = 0;
	rt.stream = (uint64_t)info.pid << 32 ^ (uint64_t)info.start_ns;
}

static void fork_prepare(void);
static void fork_parent(void);
static void fork_child(void);

static void set_handlers(void)
{
	if (rt.handlers_set)
		return;
	rt.handlers_set = true;
	clock_choose();
	pthread_key_create(&rt.key, ring_thread_exit);
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* The user looks for the recording where it was asked for. A child's is named by rule, see docs/recording.md. */
static void say_path(const char *wanted)
{
	if (rt.automatic && !(rt.mode & MODE_IN_CHILD))
		fprintf(stderr, "sonde: %s is an existing recording and is kept; recording into %s\n", wanted, rt.path);
}

/* SONDE_OUTPUT=run.json: once, and not by each child. */
static void say_longer_name(void)
{
	static bool is_said;

	if (rt.options.output_is_longer && !is_said && !(rt.mode & MODE_IN_CHILD))
		fprintf(stderr,
			"sonde: a recording is a .sonde file; recording into %s; sonde export converts it to JSON\n",
			rt.path);
	is_said = true;
}

/* Everything that can fail, under session_lock. */
static sonde_status open_all(sonde_error *err)
{
	static char path[sizeof rt.path];
	bool had_ring = rt.ring != NULL, found_old = false;
	sonde_status status = output_path(path, sizeof path, err);

	if (!status)
		status = output_create(path, &found_old, err);
	if (status)
		return status;
	status = ring_open(rt.path, err);
	if (!status) {
		describe_stream();
		status = output_begin(err);
	}
	if (!status)
		status = writer_start(err);
	if (!status) {
		if (found_old)
			say_path(path);
		say_longer_name();
		return SONDE_OK;
	}
	output_remove();
	if (!had_ring) {
		ring_unlink();
		ring_forget();
	}
	return status;
}

static uint32_t mode_of(const record_options *o)
{
	return MODE_RUNNING | o->active | (o->shapes ? MODE_SHAPES : 0) | (o->stacks ? MODE_STACKS : 0) |
	       (o->flops ? MODE_FLOPS : 0) | (o->full == FULL_DROP ? MODE_DROP : 0);
}

static sonde_status begin(sonde_error *err)
{
	set_handlers();
	rt.n_sessions++;
	sonde_status status = open_all(err);
	if (status)
		return status;
	if (rt.options.stacks)
		backtrace((void *[1]){ NULL }, 1); /* loads what it needs now, not in a signal handler */
	ring_begin_session();
	__atomic_store_n(&rt.ring->stream, rt.stream, __ATOMIC_RELEASE);
	rt.running = true;
	__atomic_store_n(&rt.mode, mode_of(&rt.options), __ATOMIC_RELEASE);
	writer_wake();
	if (!__atomic_load_n(&rt.paused, __ATOMIC_RELAXED)) /* as a child may be from its start */
		__atomic_store_n(&sonde_active_, rt.options.active, __ATOMIC_RELEASE);
	return SONDE_OK;
}

/* A stretch of the recording begins or ends: as of a recording of its own, a pause before it or in it does not last. */
static void set_shared(bool shared)
{
	rt.shared = shared;
	__atomic_store_n(&rt.paused, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&sonde_active_, record_mode_now() & ACTIVITIES, __ATOMIC_RELEASE);
}

static sonde_status start_locked(const record_options *options, bool automatic, sonde_error *err)
{
	if (rt.mode & MODE_IN_CHILD && rt.automatic &&
	    !automatic) { /* the child's part of it begins no later than now */
		sonde_status status = begin(err);
		if (status)
			return status;
	}
	if (rt.running && rt.automatic && !rt.shared && !automatic) {
		set_shared(true);
		return SONDE_OK;
	}
	if (rt.running)
		return error_set(err, SONDE_E_STATE, -1, "a recording is already running, into %s", rt.path);
	rt.options = *options;
	rt.automatic = automatic;
	memory_reset(); /* not in begin: a child counts memory before its recording begins */
	__atomic_store_n(&rt.paused, 0, __ATOMIC_RELAXED);
	return begin(err);
}

static sonde_status start(const record_options *options, bool automatic, sonde_error *err)
{
	uint32_t busy = this_thread.busy;

	this_thread.busy = 1;
	lock_take(&rt.session_lock);
	sonde_status status = start_locked(options, automatic, err);
	lock_release(&rt.session_lock);
	this_thread.busy = busy;
	return status;
}

sonde_status sonde_start(const sonde_config *config, sonde_error *err)
{
	static record_options options; /* too large for the stack of a small thread */

	lock_take(&rt.options_lock);
	sonde_status status = SONDE_OK;
	if (config)
		status = config_from_struct(config, &options, err);
	else
		config_from_environment(&options);
	if (!status)
		status = start(&options, false, err);
	lock_release(&rt.options_lock);
	return status;
}

static void print_report(void);

static sonde_status stop(bool at_exit, sonde_error *err)
{
	sonde_status status = SONDE_OK;

	this_thread.busy = 1;
	lock_take(&rt.session_lock);
	if (!rt.running) {
		status = error_set(err, SONDE_E_STATE, -1, "no recording is running");
	} else if (rt.shared && !at_exit) {
		set_shared(false);
		writer_ask(REQUEST_FLUSH);
	} else if (rt.automatic && !at_exit) {
		status = error_set(err, SONDE_E_STATE, -1,
				   "the recording was started from outside and ends with the program");
	} else {
		__atomic_store_n(&sonde_active_, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&rt.mode, rt.mode & MODE_DROP, __ATOMIC_RELEASE); /* until the writer is done */
		rt.running = rt.shared = false;
		writer_ask(REQUEST_FINISH);
		if (rt.ring->info.io_errno)
			status = error_set(err, SONDE_E_IO, -1, "%s: %s; %llu events were lost", rt.path,
					   strerror(rt.ring->info.io_errno),
					   (unsigned long long)rt.ring->info.n_lost_io);
	}
	lock_release(&rt.session_lock);
	this_thread.busy = 0;
	return status;
}

sonde_status sonde_stop(sonde_error *err)
{
	bool report = rt.options.report && !rt.automatic;
	sonde_status status = stop(false, err);

	if (!status && report)
		print_report();
	return status;
}

/* False when nothing changes, or in a child that has not begun its recording: there is nowhere to say it. A signal
   handler that interrupted us does without the lock, which may be our own. */
static bool set_paused(bool pause)
{
	int saved = errno;
	bool locks = !this_thread.busy;

	if (locks) {
		this_thread.busy = 1;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		lock_take(&rt.session_lock);
	}
	uint32_t mode = record_mode_now();
	bool changes = mode & (MODE_RUNNING | MODE_IN_CHILD) &&
		       __atomic_exchange_n(&rt.paused, pause, __ATOMIC_ACQ_REL) != pause;
	if (changes)
		__atomic_store_n(&sonde_active_, pause ? 0 : mode & ACTIVITIES, __ATOMIC_RELEASE);
	if (locks) {
		lock_release(&rt.session_lock);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		this_thread.busy = 0;
	}
	errno = saved;
	return changes && mode & MODE_RUNNING;
}

void sonde_pause(void)
{
	if (set_paused(true))
		EVENT_PUT(PAUSE, pause, .is_paused = true);
}

void sonde_resume(void)
{
	if (set_paused(false))
		EVENT_PUT(PAUSE, pause, .is_paused = false);
}

const char *sonde_output(void)
{
	return rt.path;
}

/* ---- Fork -------------------------------------------------------------------------------------------------------- */

static void fork_prepare(void)
{
	if (this_thread.busy) /* in a signal handler that interrupted us: the locks may be our own */
		return;
	lock_take(&rt.session_lock);
	lock_take(&rt.names_lock);
	lock_take(&rt.chunks_lock);
}

static void fork_parent(void)
{
	if (this_thread.busy)
		return;
	lock_release(&rt.chunks_lock);
	lock_release(&rt.names_lock);
	lock_release(&rt.session_lock);
}

static void fork_child(void)
{
	rt.options_lock = rt.session_lock = rt.names_lock = rt.chunks_lock = (lock){ 0 };
	output_forget_in_child();
	ring_forget();
	memory_init_child();
	rt.writer_runs = false;
	rt.writer_sleeps = rt.request = rt.n_waiting = 0;
	rt.mode = rt.mode & (MODE_RUNNING | MODE_IN_CHILD) ? MODE_IN_CHILD | (rt.mode & ACTIVITIES) : 0;
	rt.running = rt.shared = rt.accepts = false;
}

/* With the first event of a child. The caller has set `busy`. */
void start_in_child(void)
{
	sonde_error err;

	lock_take(&rt.session_lock);
	if (rt.mode & MODE_IN_CHILD && begin(&err)) {
		fprintf(stderr, "sonde: process %d is not recorded: %s\n", (int)getpid(), err.message);
		__atomic_store_n(&sonde_active_, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&rt.mode, 0, __ATOMIC_RELEASE);
	}
	lock_release(&rt.session_lock);
}

/* ---- The process ------------------------------------------------------------------------------------------------- */

/* Reading is libsonde's work: it is loaded only now, from beside this library or from where the system finds it. */
static void *load_reader(void)
{
	char path[4096];
	Dl_info self;

	if (dladdr((void *)&rt, &self) && self.dli_fname) {
		const char *slash = strrchr(self.dli_fname, '/');
		int len = slash ? (int)(slash - self.dli_fname) : 0;
		if (slash &&
		    snprintf(path, sizeof path, "%.*s/libsonde.so.0", len, self.dli_fname) < (int)sizeof path) {
			void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
			if (library)
				return library;
		}
	}
	return dlopen("libsonde.so.0", RTLD_NOW | RTLD_LOCAL);
}

static void print_report(void)
{
	void *library = load_reader(), *report = NULL;
	sonde_status (*open_report)(const char *, void **, sonde_error *) = NULL;
	void (*print)(const void *, FILE *, unsigned) = NULL;
	void (*release)(void *) = NULL;
	sonde_error err;

	if (library) {
		*(void **)&open_report = dlsym(library, "sonde_report_open");
		*(void **)&print = dlsym(library, "sonde_report_print");
		*(void **)&release = dlsym(library, "sonde_report_free");
	}
	if (!open_report || !print || !release) {
		fprintf(stderr, "sonde: the report needs libsonde, which was not found; run: sonde report %s\n",
			rt.path);
	} else if (open_report(rt.path, &report, &err)) {
		fprintf(stderr, "sonde: %s\n", err.message);
	} else {
		print(report, stderr, rt.options.report);
		release(report);
	}
}

/* Another copy of this library, loaded before: two would write over each other's events. */
static bool is_second_copy(void)
{
	void *first = dlsym(RTLD_DEFAULT, "sonde_start");
	Dl_info theirs, ours;

	return first && dladdr(first, &theirs) && dladdr((void *)&rt, &ours) && theirs.dli_fbase != ours.dli_fbase;
}

/* The sonde command has it: a command that reads recordings must not begin one, least of all in the file that it is to
   read, because SONDE_ENABLED and SONDE_OUTPUT are still set in the shell. */
extern const char sonde_command_ __attribute__((weak));

__attribute__((constructor(200))) static void begin_process(void)
{
	static record_options options;
	static bool begun; /* dlopen while the process ends runs the constructors of what was finished already again */
	sonde_error err;

	if (begun || &sonde_command_ || is_second_copy())
		return;
	begun = true;
	config_from_environment(&options);
	if (options.enabled && start(&options, true, &err))
		fprintf(stderr, "sonde: nothing is recorded: %s\n", err.message);
}

__attribute__((destructor(200))) static void end_process(void)
{
	sonde_error err;

	if (rt.running) {
		bool report = rt.options.report != 0;
		if (stop(true, &err))
			fprintf(stderr, "sonde: %s\n", err.message);
		if (report)
			print_report();
	}
	ring_unlink();
}
