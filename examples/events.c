/*
 * Event by event: walks a recording without SQL, also one that is being written.
 *
 *   ./example_events              records a small run by itself and reads it before it ends
 *   ./example_events run.sonde    what any recording holds: a line for each event
 */
#include <stdio.h>
#include <sonde/events.h>
#include <sonde/record.h>
#include <sonde/trace.h>

enum { N_STEPS = 3 };

static void print_arg(const sonde_event_arg *arg)
{
	if (arg->type == SONDE_EVENT_I64)
		printf("  %s=%lld", arg->key, (long long)arg->i64);
	else if (arg->type == SONDE_EVENT_F64)
		printf("  %s=%g", arg->key, arg->f64);
	else if (arg->type == SONDE_EVENT_STRING)
		printf("  %s=%s", arg->key, arg->string);
	for (size_t i = 0; arg->type == SONDE_EVENT_SHAPE && i < arg->n_dims; i++)
		printf("%s%lld", i ? "x" : "  shape ", (long long)arg->dims[i]);
}

/* Slices have a duration and a depth, counters a value, everything may have arguments. */
static void print_event(const sonde_event *e)
{
	printf("%10.3f us  thread %d  %*s%s", (double)e->time_ns / 1e3, e->tid, 2 * (int)e->depth, "", e->name);
	if (e->dur_ns)
		printf("  %.3f us%s", (double)e->dur_ns / 1e3, e->is_open ? " so far" : "");
	if (e->kind == SONDE_EVENT_COUNTER)
		printf(" = %g", e->value);
	for (size_t i = 0; i < e->n_args; i++)
		print_arg(&e->args[i]);
	printf("\n");
}

static int read_events(const char *path)
{
	sonde_trace *trace;
	sonde_events *events;
	const sonde_event *e;
	sonde_error err;
	size_t n = 0;

	if (sonde_trace_open(path, &trace, &err))
		return fprintf(stderr, "%s: %s\n", path, err.message), 1;
	if (sonde_events_open(trace, &events, &err)) {
		sonde_trace_free(trace);
		return fprintf(stderr, "%s: %s\n", path, err.message), 1;
	}
	for (; (e = sonde_events_next(events)); n++)
		print_event(e);
	sonde_trace_free(trace); /* the iterator keeps what it needs */
	if (sonde_events_close(events, &err))
		return fprintf(stderr, "%s: %s\n", path, err.message), 1;
	printf("%zu events\n", n);
	return 0;
}

/* What every step did, read while the recording runs. */
static int record_and_read(void)
{
	sonde_config config = { .struct_size = sizeof config, .output = "events.sonde", .shapes = true };
	volatile double sum = 0;
	sonde_error err;

	remove(config.output); /* a recording that exists is never replaced: this one would get another name */
	if (sonde_start(&config, &err))
		return fprintf(stderr, "%s\n", err.message), 1;
	for (int step = 0; step < N_STEPS; step++) {
		SONDE_STEP(step);
		SONDE_SCOPE_ARGS("work", SONDE_I64("rows", 1000 * (step + 1)));
		for (int i = 0; i < 1000 * (step + 1); i++)
			sum = sum + i;
		SONDE_COUNTER("sum", sum);
	}
	int code = read_events(sonde_output());
	if (sonde_stop(&err))
		return fprintf(stderr, "%s\n", err.message), 1;
	return code;
}

int main(int argc, char **argv)
{
	return argc > 1 ? read_events(argv[1]) : record_and_read();
}
