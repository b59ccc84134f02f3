/*
 * sonde record: runs a program, samples it from outside, and joins what its runtime wrote into one file.
 *
 * The program's own events are written by libsonde-rt inside it, into FILE.part.PID, one per process; that runtime
 * is told so by its environment. Sonde adds samples of every process and, when the program has ended, however it did,
 * joins the parts. The program's standard streams are not touched and its exit code or signal is passed on.
 */
#define _GNU_SOURCE
#include "cli/analysis.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sonde/recorder.h>

#include "base/clock.h"
#include "base/format_number.h"
#include "cli/progress.h"
#include "cli/record_program.h"
#include "cli/record_survivors.h"

/* What the runtime accepts. */
#define MIN_BUFFER (UINT64_C(256) << 10)
#define MAX_BUFFER (UINT64_C(64) << 30)

typedef enum setting_kind { SWITCH, NUMBER, SIZE, CHOICE, LIST, PATH } setting_kind;

/* Ids of options: the settings of the runtime, then our own. */
enum {
#define SETTING(name, NAME, kind, value, expected, argument, help) SET_##NAME,
#include "base/record_settings.def"
	N_SETTINGS,
	ARGS = N_SETTINGS,
	INTERVAL,
};

static const char *const variables[N_SETTINGS] = {
#define SETTING(name, NAME, kind, value, expected, argument, help) "SONDE_" #NAME,
#include "base/record_settings.def"
};

static const setting_kind kinds[N_SETTINGS] = {
#define SETTING(name, NAME, kind, value, expected, argument, help) kind,
#include "base/record_settings.def"
};

/* The heading of the group that the option begins. */
#define HEADING(kind)                                                                                                  \
	(kind == PATH ? "Output" : kind == LIST ? "Events" : kind == SIZE ? "When events outpace the disk" : NULL)

#define ROW(name_, NAME, kind, argument_, help_)                                                                       \
	{ .name = #name_,                                                                                              \
	  .id = SET_##NAME,                                                                                            \
	  .letter = kind == PATH ? 'o' : 0,                                                                            \
	  .argument = argument_,                                                                                       \
	  .help = help_,                                                                                               \
	  .group = HEADING(kind) },

static const option_def record_options[] = {
/* Our own options stand behind the switches. */
#define ROW_PATH ROW
#define ROW_NUMBER ROW
#define ROW_LIST ROW
#define ROW_SWITCH ROW
#define ROW_SIZE(...)
#define ROW_CHOICE(...)
#define SETTING(name, NAME, kind, value, expected, argument, help) ROW_##kind(name, NAME, kind, argument, help)
#define SETTING_VARIABLE(...)
#include "base/record_settings.def"
	{ .name = "args", .id = ARGS, .help = "store the program's arguments (may hold secrets)" },
	{ .name = "interval",
	  .id = INTERVAL,
	  .argument = "MS",
	  .help = "sample processes every MS milliseconds (default 100)" },
#undef ROW_PATH
#undef ROW_NUMBER
#undef ROW_LIST
#undef ROW_SWITCH
#undef ROW_SIZE
#undef ROW_CHOICE
#define ROW_PATH(...)
#define ROW_NUMBER(...)
#define ROW_LIST(...)
#define ROW_SWITCH(...)
#define ROW_SIZE ROW
#define ROW_CHOICE ROW
#define SETTING(name, NAME, kind, value, expected, argument, help) ROW_##kind(name, NAME, kind, argument, help)
#define SETTING_VARIABLE(...)
#include "base/record_settings.def"
	{ .name = NULL },
};

typedef struct recording {
	char *const *argv; /* of the program */
	int argc;
	bool with_args; /* argv goes into the file */
	const char *path;
	char default_path[PATH_MAX];
	char part_pattern[PATH_MAX]; /* for the runtime */
	uint64_t report;	     /* 0: none */
	uint64_t interval_ms;
	const char *values[N_SETTINGS]; /* for the runtime; NULL: not given */
	char buffer[24];
} recording;

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static bool take_output(const options *o, recording *r)
{
	r->path = o->value;
	if (strcmp(r->path, "-") == 0)
		return say_usage(o->command, "--output needs FILE: a recording cannot go to standard output"), false;
	if (!*r->path)
		return say_usage(o->command, "--output needs FILE"), false;
	return output_only(o->command, r->path, "sonde") == EXIT_OK;
}

static bool take_buffer(const options *o, recording *r)
{
	uint64_t bytes;

	if (!options_size(o, MIN_BUFFER, MAX_BUFFER, &bytes))
		return false;
	snprintf(r->buffer, sizeof r->buffer, "%" PRIu64, bytes);
	r->values[SET_BUFFER] = r->buffer;
	return true;
}

static bool take_setting(const options *o, int id, recording *r)
{
	static const char *const switches[] = { "0", "1", "off", "on", "no", "yes", "false", "true", NULL };
	static const char *const policies[] = { "block", "overwrite", "drop", NULL };
	static const char *const clocks[] = { "tsc", "monotonic", NULL };
	static const char *const activities[] = { "cpu", "memory", "device", NULL };
	size_t index;

	r->values[id] = o->value;
	switch (kinds[id]) {
	case PATH:
		return take_output(o, r);
	case NUMBER:
		return options_number(o, 1, 1000000, &r->report);
	case SIZE:
		return take_buffer(o, r);
	case LIST:
		return options_list(o, activities);
	case CHOICE:
		return options_choice(o, id == SET_CLOCK ? clocks : policies, &index);
	case SWITCH:
		return options_choice(o, switches, &index);
	}
	return false;
}

static bool take_option(const options *o, int id, recording *r)
{
	if (id < N_SETTINGS)
		return take_setting(o, id, r);
	if (id == INTERVAL)
		return options_number(o, 1, 3600000, &r->interval_ms);
	r->with_args = true;
	return true;
}

/* What the runtime in the program is told. The report is ours. */
static void tell_runtime(recording *r, program_variable *ret_variables)
{
	r->values[SET_ENABLED] = "1";
	r->values[SET_OUTPUT] = r->part_pattern;
	r->values[SET_REPORT] = NULL;
	for (int i = 0; i < N_SETTINGS; i++)
		ret_variables[i] = (program_variable){ variables[i], r->values[i] };
	ret_variables[N_SETTINGS] = (program_variable){ NULL, NULL };
}

static int parse(const command *self, int argc, char **argv, recording *r)
{
	options o = options_begin(self, argc, argv);

	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND) {
			r->argv = argv + o.at - 1;
			r->argc = argc - o.at + 1;
			return EXIT_OK;
		}
		if (id < 0 || !take_option(&o, id, r))
			return id == OPTIONS_HELP ? -1 : EXIT_USAGE;
	}
	return say_usage(self, "no program given");
}

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

/* Appends text to a path of len bytes, percent signs doubled: the runtime replaces %p and %n. Returns the new length,
   which is PATH_MAX when there was no room. */
static size_t append_escaped(char *path, size_t len, const char *text)
{
	for (; *text && len < PATH_MAX - 2; text++) {
		path[len++] = *text;
		if (*text == '%')
			path[len++] = '%';
	}
	return *text ? PATH_MAX : len;
}

static int choose_paths(recording *r)
{
	char directory[PATH_MAX] = "";
	size_t len = 0;

	if (!r->path) {
		snprintf(r->default_path, sizeof r->default_path, "%s.sonde", basename(r->argv[0]));
		r->path = r->default_path;
	}
	if (*r->path != '/' && !getcwd(directory, sizeof directory)) {
		say("cannot read the current directory: %s", strerror(errno));
		return EXIT_ENVIRONMENT;
	}
	len = append_escaped(r->part_pattern, len, directory);
	len = append_escaped(r->part_pattern, len, *directory ? "/" : "");
	len = append_escaped(r->part_pattern, len, r->path);
	if (len + sizeof ".part.%p" <= sizeof r->part_pattern) {
		strcpy(r->part_pattern + len, ".part.%p");
		return EXIT_OK;
	}
	say("%s: the path is too long", r->path);
	return EXIT_USAGE;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static int refuse_program(const char *name, int error)
{
	say("%s: %s", name, error == ENOENT ? "no such program" : strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Samples until the program ends; returns its wait status. Often at first, so that a short program is seen as well. */
static int watch(program *p, sonde_recorder *recorder, uint64_t interval_ms)
{
	int64_t interval_ns = (int64_t)interval_ms * 1000000, pause_ns = 1000000, next_ns = monotonic_ns();
	sonde_sampler *s = NULL;

	if (sonde_sampler_new(recorder, p->pid, &s, NULL))
		say("out of memory: processes are not sampled");
	for (bool ended = false; !ended;) {
		int64_t now_ns = monotonic_ns();

		if (now_ns >= next_ns) {
			if (s)
				sonde_sampler_take(s, 0);
			pause_ns = 2 * pause_ns < interval_ns ? 2 * pause_ns : interval_ns;
			next_ns = now_ns + pause_ns;
		}
		ended = program_wait(p, next_ns > now_ns ? next_ns - now_ns : 0);
	}
	if (s)
		sonde_sampler_take(s, program_peak_rss(p)); /* the zombie still knows its CPU time */
	sonde_sampler_free(s);
	return program_reap(p);
}

static void print_report(const recording *r)
{
	sonde_analyze_options what = { .struct_size = sizeof what, .top = r->report };
	sonde_trace *trace = NULL;
	sonde_result *result = NULL;
	sonde_error err = { .position = -1 };
	output to = { 0 };
	sonde_print_options look = output_look(&to, stderr);

	sonde_status status = sonde_trace_open(r->path, &trace, &err);
	if (!status)
		status = sonde_analyze(trace, "report", &what, &result, &err);
	if (!status)
		status = sonde_result_print(result, SONDE_TEXT, &look, stderr, &err);
	if (status)
		say_error(r->path, status, &err);
	sonde_result_free(result);
	sonde_trace_free(trace);
}

/* "9 (SIGKILL)" */
static const char *signal_text(int number, char *buffer, size_t size)
{
	const char *name = NULL;

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
	name = sigabbrev_np(number);
#endif
	if (name)
		snprintf(buffer, size, "%d (SIG%s)", number, name);
	else
		snprintf(buffer, size, "%d", number);
	return buffer;
}

/* What stops the work on the index: these signals wait until somebody looks. */
typedef struct indexing {
	progress progress;
	sigset_t stops;
	bool stopped;
} indexing;

static bool update_indexing(void *context, uint64_t done, uint64_t total)
{
	indexing *x = context;
	sigset_t pending;

	sigpending(&pending);
	for (int number = 1; number < NSIG; number++)
		if (sigismember(&x->stops, number) == 1 && sigismember(&pending, number) == 1)
			x->stopped = true;
	return !x->stopped && progress_update(&x->progress, done, total);
}

/* The program is gone, so Ctrl-C means us: it ends the work on the index, and the recording stays as it is. */
static void add_index(const recording *r, const program *p)
{
	char *const files[] = { (char *)r->path };
	struct timespec now = { 0, 0 };
	sonde_error err = { .position = -1 };
	indexing x = { 0 };
	sigset_t interrupt;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	x.stops = p->awaited;
	sigdelset(&x.stops, SIGCHLD);
	if (!program_ignored_interrupt(p))
		sigaddset(&x.stops, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, NULL);
	signal(SIGINT, SIG_DFL);
	progress_begin(&x.progress, "indexing", files, 1);
	sonde_status status = sonde_recorder_add_index(r->path, update_indexing, &x, &err);
	progress_end(&x.progress);
	sigtimedwait(&interrupt, NULL, &now);
	signal(SIGINT, SIG_IGN);
	sigprocmask(SIG_UNBLOCK, &interrupt, NULL);
	if (x.stopped)
		say("%s: indexing was interrupted; the recording is complete", r->path);
	else if (status)
		say("%s: %s; the recording is complete", r->path, err.message);
}

static void say_killed(const recording *r, int wait_status, uint64_t n_recovered)
{
	char text[64], count[NUMBER_TEXT];

	if (WIFSIGNALED(wait_status))
		say("%s was killed by signal %s; %s event%s recovered", r->argv[0],
		    signal_text(WTERMSIG(wait_status), text, sizeof text), format_count(count, n_recovered),
		    n_recovered == 1 ? " was" : "s were");
}

/* Joins the parts and says where the file went. What goes wrong here does not change how the program ended. */
static void finish(const recording *r, const program *p, sonde_recorder *recorder, int wait_status)
{
	uint64_t n_recovered = 0;
	sonde_error err = { .position = -1 };
	survivors others;

	survivors_find(&others, r->part_pattern);
	if (others.n)
		sonde_recorder_leave_open(recorder);
	sonde_status status = sonde_recorder_close(recorder, wait_status, &n_recovered, &err);
	say_killed(r, wait_status, n_recovered);
	if (status)
		say_error(r->path, status, &err);
	bool is_running = survivors_say(&others, r->path);
	survivors_done(&others);
	if (!status && !is_running)
		add_index(r, p);
	if (r->report)
		print_report(r);
	say("recorded into %s: sonde report %s", r->path, r->path);
}

static int run(const command *self, int argc, char **argv)
{
	recording r = { .interval_ms = 100 };
	sonde_recorder *recorder = NULL;
	sonde_error err = { .position = -1 };
	program p;

	int code = parse(self, argc, argv, &r);
	if (code != EXIT_OK)
		return code < 0 ? EXIT_OK : code;
	int error = program_find(r.argv[0]);
	if (error)
		return refuse_program(r.argv[0], error);
	if ((code = choose_paths(&r)) != EXIT_OK)
		return code;
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN); /* beyond the limit of a file's size we live to say so */
	sonde_status status = sonde_recorder_open(r.path, r.with_args ? r.argc : 1, r.argv, &recorder, &err);
	signal(SIGXFSZ, before);
	if (status) {
		say_error(NULL, err.status, &err); /* the message names it */
		return EXIT_ENVIRONMENT;
	}
	program_variable environment[N_SETTINGS + 1];
	tell_runtime(&r, environment);
	error = program_start(&p, r.argv, environment);
	if (error) {
		sonde_recorder_abandon(recorder);
		return refuse_program(r.argv[0], error);
	}
	int wait_status = watch(&p, recorder, r.interval_ms);
	finish(&r, &p, recorder, wait_status);
	die_like(wait_status);
}

const command record_command = {
	.name = "record",
	.group = "record",
	.summary = "Run a program and record it",
	.usage = "[options] [--] PROG ARGS...",
	.examples = { "sonde record ./train --epochs 3", "sonde record -o run.sonde --report 10 ./train",
		      "sonde record --activities cpu,memory -- python3 train.py" },
	.options = record_options,
	.stops_at_operand = true,
	.run = run,
};
