/*
 * Records in this very process and says what came out of it, as one line of text:
 *
 *   record_start((sonde_config){ .memory = true });
 *   { SONDE_SCOPE("a"); SONDE_MARK("m"); }
 *   assert_recorded("+a *m -a");
 *
 *   +name -name          begin and end; arguments as +name(key=value,...)
 *   *name                a mark; name=1.5 a counter; >name:5 and <name:5 ends of a flow
 *   alloc0:100=100       memory of device 0; free0:100=0; snapshot0:100,100,1
 *   launch k:1, device k:1@5..9
 *   thread               what follows happened on another thread
 */
#ifndef SONDE_TESTS_RECORDED_H
#define SONDE_TESTS_RECORDED_H

#include <sys/wait.h>
#include <sonde/record.h>
#include "import/recording/walk.h"
#include "unit/store/temp_dir.h"

typedef struct recorded {
	recording *trace;
	walk_counts counts;
	char text[65536];
	size_t len;
	const trace_thread *thread;
} recorded;

static inline void record_start(sonde_config config)
{
	sonde_error err = { .message = "" };

	config.struct_size = sizeof config;
	if (!config.output)
		config.output = temp_path("run.sonde");
	if (sonde_start(&config, &err))
		fail_msg("%s", err.message);
}

static inline void rec_note(recorded *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void rec_note(recorded *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	r->len += (size_t)vsnprintf(r->text + r->len, sizeof r->text - r->len, format, args);
	va_end(args);
	if (r->len >= sizeof r->text)
		r->len = sizeof r->text - 1;
}

static inline const char *rec_name(const recorded *r, const trace_site *site)
{
	return recording_text(r->trace, site->name);
}

static inline const char *rec_gap(recorded *r)
{
	return r->len ? " " : "";
}

static inline void rec_thread(void *context, const trace_thread *thread)
{
	recorded *r = context;

	if (r->thread)
		rec_note(r, "%sthread", rec_gap(r));
	r->thread = thread;
}

static inline void rec_arg(void *context, const walk_arg *arg)
{
	recorded *r = context;

	rec_note(r, "%s%.*s=", r->text[r->len - 1] == '(' ? "" : ",", (int)arg->key_len, arg->key);
	if (arg->type == SONDE_ARG_I64_)
		rec_note(r, "%lld", (long long)arg->i64);
	else if (arg->type == SONDE_ARG_F64_)
		rec_note(r, "%g", arg->f64);
	else if (arg->type == SONDE_ARG_STR_)
		rec_note(r, "%.*s", (int)arg->text_len, arg->text);
	else if (arg->n_dims == UINT64_MAX)
		rec_note(r, "?");
	else
		for (uint64_t i = 0; i < arg->n_dims; i++)
			rec_note(r, "%s%lld", i ? "x" : "", (long long)arg->dims[i]);
}

static inline void rec_args(recorded *r, const trace_site *site, const event *e)
{
	size_t before = r->len;

	rec_note(r, "(");
	walk_args(site, e, rec_arg, r);
	if (r->len == before + 1)
		r->text[r->len = before] = 0;
	else
		rec_note(r, ")");
}

static inline void rec_begin(void *context, slice *s, const event *e)
{
	recorded *r = context;

	rec_note(r, "%s+%s", rec_gap(r), rec_name(r, s->site));
	if (s->site->kind == NAME_STEP)
		rec_note(r, "#%lld", (long long)s->number);
	else
		rec_args(r, s->site, e);
}

static inline void rec_end(void *context, slice *s)
{
	recorded *r = context;

	rec_note(r, "%s-%s%s%s", rec_gap(r), rec_name(r, s->site), s->flags & SLICE_OPEN ? "?" : "",
		 s->flags & SLICE_REPAIRED ? "!" : "");
}

static inline void rec_instant(void *context, const trace_site *site, int64_t time_ns, const event *e)
{
	recorded *r = context;

	(void)time_ns;
	rec_note(r, "%s*%s", rec_gap(r), rec_name(r, site));
	rec_args(r, site, e);
}

static inline void rec_counter(void *context, const trace_site *site, int64_t time_ns, double value)
{
	recorded *r = context;

	(void)time_ns;
	rec_note(r, "%s%s=%g", rec_gap(r), rec_name(r, site), value);
}

static inline void rec_flow(void *context, const trace_site *site, int64_t time_ns, uint64_t id, bool begins)
{
	recorded *r = context;

	(void)time_ns;
	rec_note(r, "%s%s%s:%llu", rec_gap(r), begins ? ">" : "<", rec_name(r, site), (unsigned long long)id);
}

static inline void rec_memory(void *context, const walk_memory *m)
{
	recorded *r = context;

	rec_note(r, "%s%s%u:%lld=%lld", rec_gap(r), m->is_free ? "free" : "alloc", m->device, (long long)m->bytes,
		 (long long)m->current_bytes);
}

static inline void rec_snapshot(void *context, const walk_snapshot *s)
{
	recorded *r = context;

	rec_note(r, "%ssnapshot%u:%llu,%llu,%llu", rec_gap(r), s->device, (unsigned long long)s->current_bytes,
		 (unsigned long long)s->peak_bytes, (unsigned long long)s->n_live);
}

static inline void rec_launch(void *context, const trace_site *site, int64_t time_ns, uint32_t stream, uint64_t id)
{
	recorded *r = context;

	(void)time_ns, (void)stream;
	rec_note(r, "%slaunch %s%s", rec_gap(r), rec_name(r, site), id ? "" : " without an id");
}

static inline void rec_device(void *context, const walk_device *d)
{
	recorded *r = context;
	const recording_stream *s = &r->trace->streams.items[r->thread->stream];
	const trace_site *queue = recording_site_of(s, d->stream);
	char buffer[32];

	rec_note(r, "%sdevice %s on %s/%s@%lld..%lld", rec_gap(r), rec_name(r, d->site),
		 queue ? recording_device_name(r->trace, r->thread->stream, queue->record->category, buffer,
					       sizeof buffer)
		       : "?",
		 queue ? rec_name(r, queue) : "?", (long long)d->start_ns, (long long)d->end_ns);
}

static inline void rec_named(void *context, const trace_thread *thread, const char *name, size_t len, bool process)
{
	recorded *r = context;

	(void)thread;
	rec_note(r, "%s%s:%.*s", rec_gap(r), process ? "process" : "name", (int)len, name);
}

static inline void rec_meta(void *context, const char *key, size_t key_len, const char *value, size_t value_len)
{
	recorded *r = context;

	rec_note(r, "%s%.*s:%.*s", rec_gap(r), (int)key_len, key, (int)value_len, value);
}

static inline void rec_op_meta(void *context, const walk_op_meta *m)
{
	recorded *r = context;

	if (m->arg.type == SONDE_ARG_STR_)
		rec_note(r, "%s[%.*s:%.*s]", rec_gap(r), (int)m->arg.key_len, m->arg.key, (int)m->arg.text_len,
			 m->arg.text);
	else if (m->arg.type == SONDE_ARG_I64_)
		rec_note(r, "%s[%.*s=%lld]", rec_gap(r), (int)m->arg.key_len, m->arg.key, (long long)m->arg.i64);
	else
		rec_note(r, "%s[%.*s=%g]", rec_gap(r), (int)m->arg.key_len, m->arg.key, m->arg.f64);
}

static inline recorded *record_read(const char *path)
{
	static recorded r;
	const walk_sink sink = {
		.context = &r,
		.thread = rec_thread,
		.named = rec_named,
		.begin = rec_begin,
		.end = rec_end,
		.instant = rec_instant,
		.counter = rec_counter,
		.flow = rec_flow,
		.memory = rec_memory,
		.snapshot = rec_snapshot,
		.launch = rec_launch,
		.device = rec_device,
		.op_meta = rec_op_meta,
		.meta = rec_meta,
	};
	sonde_error err = { .message = "" };

	r.len = 0;
	r.text[0] = 0;
	r.thread = NULL;
	if (recording_open_path(path, &r.trace, &err) || recording_walk(r.trace, &sink, &r.counts, &err))
		fail_msg("%s", err.message);
	return &r;
}

/* Stops and reads. record_done() comes last. */
static inline recorded *record_stop(void)
{
	sonde_error err = { .message = "" };

	if (sonde_stop(&err))
		fail_msg("%s", err.message);
	return record_read(sonde_output());
}

static inline void record_done(recorded *r)
{
	recording_free(r->trace);
	r->trace = NULL;
}

/* Runs this in a forked child and reads what that recorded, under the name that run.sonde becomes there. */
static inline recorded *record_in_child(void (*run)(void))
{
	char name[64];
	int status = 0;

	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(60);
		run();
		exit(sonde_stop(NULL) ? 1 : 0); /* not _exit: the ring would stay */
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	snprintf(name, sizeof name, "run.%d.sonde", (int)pid);
	return record_read(temp_path(name));
}

/* Stops, and everything in the recording is this. Also: nothing was lost, and the file says so. */
static inline void assert_recorded(const char *expected)
{
	recorded *r = record_stop();
	const recording_diagnostics *d = &r->trace->diagnostics;

	assert_string_equal(r->text, expected);
	assert_int_equal(d->n_lost_full + d->n_lost_overwritten + d->n_lost_signal + d->n_lost_io + d->n_lost_damaged,
			 0);
	assert_int_equal(d->n_kept, r->trace->streams.items[0].info.n_events);
	assert_int_equal(d->n_unclosed_streams + d->skipped_bytes + d->truncated_bytes, 0);
	record_done(r);
}

#endif
