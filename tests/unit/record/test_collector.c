/*
 * A collector that uses everything a collector may call. What it emits is read back through the public headers: event
 * by event, from the index by SQL, and from exported JSON.
 */
#include <pthread.h>
#include "record/collector.h"
#include "unit/record/recorded.h"
#include <sonde/events.h>
#include <sonde/query.h>

enum { N_MANY = 5000 };

static const uint64_t addresses[] = { 0x1000, 0x2040, 0xffffffffff601000 };

typedef struct emitted {
	int64_t start_ns;
	uint64_t correlation;
} emitted;

/* A driver that says afterwards what its device did. */
static emitted collect_all(void)
{
	static const char *const texts[] = { "copy weights", "gemm", "temperature", "throttled" };
	sonde_stream queue = collector_stream("npu0", "queue 1");
	collector_name copy = collector_intern(COLLECTOR_SLICE, SONDE_MEMORY, texts[0]);
	collector_name gemm = collector_intern(COLLECTOR_SLICE, SONDE_COMPUTE, texts[1]);
	collector_name gauge = collector_intern(COLLECTOR_GAUGE, SONDE_OTHER, texts[2]);
	collector_name throttled = collector_intern(COLLECTOR_EVENT, SONDE_OTHER, texts[3]);
	emitted e = { .start_ns = sonde_now_ns() };

	assert_int_equal(gemm, collector_intern(COLLECTOR_SLICE, SONDE_COMPUTE, "gemm"));
	e.correlation = collector_launch(gemm, queue);
	collector_slice(&(collector_work){ .name = copy,
					   .stream = queue,
					   .start_ns = e.start_ns,
					   .end_ns = e.start_ns + 10,
					   .kind = DEVICE_WORK_COPY_IN,
					   .bytes = 4096 });
	collector_slice(&(collector_work){ .name = gemm,
					   .stream = queue,
					   .start_ns = e.start_ns + 20,
					   .end_ns = e.start_ns + 50,
					   .correlation = e.correlation,
					   .kind = DEVICE_WORK_KERNEL,
					   .grid = { 128, 2, 1 },
					   .block = { 256, 1, 1 },
					   .stack = collector_stack(addresses, 3) });
	collector_gauge(gauge, e.start_ns + 5, 61.5);
	collector_gauge(gauge, 0, 62);
	const sonde_arg args[] = { { .key = "reason", .type = SONDE_ARG_STR_, .value.str = "power" },
				   { .key = "clock", .type = SONDE_ARG_I64_, .value.i64 = 1410 } };
	collector_event(throttled, args, 2);
	return e;
}

static void nothing_happens_while_nothing_is_recorded(void **state)
{
	(void)state;
	assert_false(collector_is_on());
	assert_int_equal(collect_all().correlation, 0);
	assert_int_equal(collector_stack(addresses, 3), 0);
}

typedef struct found {
	size_t n_copies, n_kernels, n_gauges, n_instants, n_launches;
} found;

static const sonde_event_arg *arg_of(const sonde_event *e, const char *key)
{
	for (size_t i = 0; i < e->n_args; i++)
		if (strcmp(e->args[i].key, key) == 0)
			return &e->args[i];
	fail_msg("%s has no %s", e->name, key);
	return NULL;
}

static void check_device(const sonde_event *e, const emitted *from, found *f)
{
	assert_string_equal(e->device, "npu0");
	assert_string_equal(e->stream, "queue 1");
	if (strcmp(e->name, "copy weights") == 0) {
		f->n_copies++;
		assert_string_equal(e->category, "memory");
		assert_int_equal(e->dur_ns, 10);
		assert_int_equal(e->n_args, 2);
		assert_string_equal(arg_of(e, "kind")->string, "copy to the device");
		assert_int_equal(arg_of(e, "bytes")->i64, 4096);
		return;
	}
	f->n_kernels++;
	assert_string_equal(e->name, "gemm");
	assert_int_equal(e->dur_ns, 30);
	assert_int_equal(e->id, from->correlation);
	assert_string_equal(arg_of(e, "kind")->string, "kernel");
	assert_memory_equal(arg_of(e, "grid")->dims, ((int64_t[]){ 128, 2, 1 }), 24);
	assert_memory_equal(arg_of(e, "block")->dims, ((int64_t[]){ 256, 1, 1 }), 24);
	assert_int_equal(arg_of(e, "stack")->n_dims, 3);
	assert_memory_equal(arg_of(e, "stack")->dims, addresses, sizeof addresses);
}

static void check_event(const sonde_event *e, const emitted *from, found *f)
{
	if (e->kind == SONDE_EVENT_DEVICE) {
		check_device(e, from, f);
	} else if (e->kind == SONDE_EVENT_COUNTER) {
		assert_string_equal(e->name, "temperature");
		assert_true(e->value == (f->n_gauges++ ? 62 : 61.5));
	} else if (e->kind == SONDE_EVENT_INSTANT) {
		f->n_instants++;
		assert_string_equal(e->name, "throttled");
		assert_string_equal(arg_of(e, "reason")->string, "power");
		assert_int_equal(arg_of(e, "clock")->i64, 1410);
	} else {
		assert_int_equal(e->kind, SONDE_EVENT_LAUNCH);
		assert_int_equal(e->id, from->correlation);
		f->n_launches++;
	}
}

static void assert_answer(const sonde_trace *t, const char *sql, const char *expected)
{
	sonde_query *q = NULL;
	sonde_error err = { .message = "" };
	size_t at = 0;
	bool is_row = false;

	if (sonde_query_open(t, NULL, &q, &err) || sonde_query_prepare(q, sql, &at, &err) ||
	    sonde_query_step(q, &is_row, &err))
		fail_msg("%s: %s", sql, err.message);
	if (!is_row)
		fail_msg("%s: no row", sql);
	assert_string_equal(sonde_query_cell(q, 0).text, expected);
	sonde_query_free(q);
}

static void everything_reaches_the_reader_and_the_index(void **state)
{
	sonde_trace *t = NULL;
	sonde_events *events = NULL;
	sonde_error err = { .message = "" };
	found f = { 0 };

	(void)state;
	record_start((sonde_config){ 0 });
	emitted from = collect_all();
	assert_int_equal(sonde_stop(&err), SONDE_OK);
	if (sonde_trace_open(sonde_output(), &t, &err) || sonde_events_open(t, &events, &err))
		fail_msg("%s", err.message);
	for (const sonde_event *e; (e = sonde_events_next(events));)
		check_event(e, &from, &f);
	assert_int_equal(sonde_events_close(events, &err), SONDE_OK);
	assert_int_equal(f.n_copies, 1);
	assert_int_equal(f.n_kernels, 1);
	assert_int_equal(f.n_gauges, 2);
	assert_int_equal(f.n_instants, 1);
	assert_int_equal(f.n_launches, 1);

	assert_answer(t, "SELECT args FROM slices WHERE name = 'gemm' AND dur = 30",
		      "{\"kind\": \"kernel\", \"grid\": [128, 2, 1], \"block\": [256, 1, 1], "
		      "\"stack\": [\"0x1000\", \"0x2040\", \"0xffffffffff601000\"]}");
	assert_answer(t, "SELECT class || ' ' || args FROM slices WHERE name = 'copy weights'",
		      "copy {\"kind\": \"copy to the device\", \"bytes\": 4096}");
	assert_answer(t, "SELECT args FROM instants WHERE name = 'throttled'",
		      "{\"reason\": \"power\", \"clock\": 1410}");
	assert_answer(t, "SELECT CAST(group_concat(value) AS TEXT) FROM counter_values WHERE name = 'temperature'",
		      "61.5,62.0");
	assert_answer(t,
		      "SELECT l.name FROM slices d JOIN launches x ON x.kernel = d.id JOIN slices l ON l.id = x.launch "
		      "WHERE d.name = 'gemm'",
		      "gemm");
	sonde_trace_free(t);
	temp_clear();
}

static void *collect_stacks(void *unused)
{
	sonde_stream queue = collector_stream("npu0", "queue 1");
	collector_name name = collector_intern(COLLECTOR_SLICE, SONDE_COMPUTE, "k");

	(void)unused;
	for (uint64_t i = 0; i < N_MANY; i++) {
		uint64_t stack[] = { i % 50, i % 50 + 1 };
		collector_slice(&(collector_work){ .name = name,
						   .stream = queue,
						   .start_ns = sonde_now_ns(),
						   .end_ns = sonde_now_ns(),
						   .bytes = i % 50 + 1,
						   .stack = collector_stack(stack, 2) });
	}
	return NULL;
}

/* Written once a chunk, found from every slice, whichever thread came first. */
static void stacks_are_written_once_and_found_from_each_thread(void **state)
{
	pthread_t threads[2];
	sonde_trace *t = NULL;
	sonde_events *events = NULL;
	size_t n = 0;

	(void)state;
	record_start((sonde_config){ 0 });
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, collect_stacks, NULL), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(sonde_stop(NULL), SONDE_OK);
	assert_int_equal(sonde_trace_open(sonde_output(), &t, NULL), SONDE_OK);
	sonde_trace_facts facts = { .struct_size = sizeof facts };
	sonde_trace_get_facts(t, &facts);
	assert_in_range(facts.n_events, 2 * N_MANY + 100, 2 * N_MANY + 5000);
	assert_int_equal(sonde_events_open(t, &events, NULL), SONDE_OK);
	for (const sonde_event *e; (e = sonde_events_next(events)); n++) {
		const sonde_event_arg *stack = arg_of(e, "stack");
		assert_int_equal(stack->n_dims, 2);
		assert_int_equal(stack->dims[1], arg_of(e, "bytes")->i64);
	}
	assert_int_equal(n, 2 * N_MANY);
	assert_int_equal(sonde_events_close(events, NULL), SONDE_OK);
	sonde_trace_free(t);
	temp_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_happens_while_nothing_is_recorded),
		cmocka_unit_test(everything_reaches_the_reader_and_the_index),
		cmocka_unit_test(stacks_are_written_once_and_found_from_each_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
