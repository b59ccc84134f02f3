/* Events one by one, as <sonde/events.h> gives them: of recordings made by hand, and of one that is being written. */
#include <sonde/events.h>
#include <sonde/record.h>
#include "unit/record/recorded.h"
#include "unit/import/recording/make_file.h"

enum { A = 40, B, STEP, PHASE, MODULE, MARK, COUNTER, OP, QUEUE, NPU };

static void make_names(maker *m)
{
	make_start(m);
	make_name_of(m, &(name_parts){ .id = A,
				       .kind = NAME_SCOPE,
				       .name = "a",
				       .name_len = 1,
				       .n_args = 2,
				       .args = { { SONDE_ARG_I64_, "i" }, { SONDE_ARG_SHAPE_, "x" } } });
	make_name(m, B, NAME_SCOPE, "b");
	make_name(m, STEP, NAME_STEP, "step");
	make_name(m, PHASE, NAME_PHASE, "phase");
	make_name(m, MODULE, NAME_MODULE, "module");
	make_name(m, MARK, NAME_MARK, "mark");
	make_name(m, COUNTER, NAME_COUNTER, "loss");
	make_name(m, OP, NAME_OP, "op");
	make_name(m, NPU, NAME_DEVICE, "npu0");
	make_name_of(
		m, &(name_parts){ .id = QUEUE, .kind = NAME_STREAM, .category = NPU, .name = "queue", .name_len = 5 });
}

static void put_arg(char *text, size_t size, const sonde_event_arg *arg)
{
	size_t n = (size_t)snprintf(text, size, " %s=", arg->key);

	if (arg->type == SONDE_EVENT_I64)
		snprintf(text + n, size - n, "%lld", (long long)arg->i64);
	else if (arg->type == SONDE_EVENT_F64)
		snprintf(text + n, size - n, "%g", arg->f64);
	else if (arg->type == SONDE_EVENT_STRING)
		snprintf(text + n, size - n, "'%s'", arg->string);
	else if (!arg->is_recorded)
		snprintf(text + n, size - n, "?");
	for (size_t i = 0; arg->type == SONDE_EVENT_SHAPE && i < arg->n_dims; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%lld", i ? "x" : "", (long long)arg->dims[i]);
}

/* One line an event; fields that are 0 or "" are left out. */
static const char *text_of(const sonde_event *e)
{
	static const char *const kinds[] = { "",      "scope",	 "phase",   "step",   "module",
					     "op",    "instant", "counter", "flow+",  "flow-",
					     "alloc", "free",	 "launch",  "device", "metadata" };
	static char text[4096];
	size_t n = (size_t)snprintf(text, sizeof text, "%s %s@%lld", kinds[e->kind], e->name, (long long)e->time_ns);

#define PUT(condition, ...)                                                                                            \
	do                                                                                                             \
		if (condition)                                                                                         \
			n += (size_t)snprintf(text + n, sizeof text - n, __VA_ARGS__);                                 \
	while (0)
	PUT(e->dur_ns, "+%lld", (long long)e->dur_ns);
	PUT(e->depth, " depth %u", e->depth);
	PUT(e->is_open, " open");
	PUT(e->is_repaired, " repaired");
	PUT(e->is_asynchronous, " async");
	PUT(*e->thread, " on %s", e->thread);
	PUT(e->number, " number %lld", (long long)e->number);
	PUT(e->id, " id %llu", (unsigned long long)e->id);
	PUT(e->value != 0, " value %g", e->value);
	PUT(e->bytes, " bytes %lld", (long long)e->bytes);
	PUT(*e->device, " of %s", e->device);
	PUT(*e->stream, "/%s", e->stream);
#undef PUT
	for (size_t i = 0; i < e->n_args; i++)
		put_arg(text + strlen(text), sizeof text - strlen(text), &e->args[i]);
	return text;
}

static void assert_events(const sonde_trace *t, const char *const *expected)
{
	sonde_events *events = NULL;
	sonde_error err = { .message = "" };
	const sonde_event *e;

	assert_int_equal(sonde_events_open(t, &events, &err), SONDE_OK);
	for (; (e = sonde_events_next(events)); expected++) {
		if (!*expected)
			fail_msg("one more: %s", text_of(e));
		assert_string_equal(text_of(e), *expected);
		assert_int_equal(e->pid, 77);
	}
	assert_null(*expected);
	assert_null(sonde_events_next(events));
	assert_int_equal(sonde_events_close(events, &err), SONDE_OK);
}

static void every_kind_of_event_is_given(void **state)
{
	maker m = { 0 };

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 10, STEP, 1, { 7 } }, { 11, PHASE }, { 12, A, 4, { (uint64_t)-3, 2, 64, 128 } }, { 13, B },
		    { 14, END | B }, { 15, END | A }, { 16, END | STEP }, { 17, MODULE },
		    { 18, A, 2, { 1, UINT64_MAX } }, { 19, END | MODULE });
	MAKE_EVENTS(&m, 1, { 20, MARK }, { 21, EVENT_INSTANT, 5, { MARK, SONDE_ARG_STR_, 1, make_text("k"), 0 } },
		    { 22, COUNTER, 1, { make_double(-0.5) } }, { 23, EVENT_FLOW_BEGIN, 2, { MARK, 5 } },
		    { 24, EVENT_FLOW_END, 2, { MARK, 5 } }, { 25, EVENT_ALLOC, 5, { 2, 4096, 100, 0, 150 } },
		    { 26, EVENT_FREE, 4, { NPU, 4096, UINT64_MAX, 0 } }, { 27, EVENT_LAUNCH, 3, { OP, QUEUE, 9 } },
		    { 28, EVENT_STREAM_SLICE, 5, { QUEUE, 9, OP, 15, 25 } }, { 29, EVENT_OP_RECORD, 3, { OP, 5, 3 } });
	MAKE_EVENTS(&m, 1, { 30, EVENT_META, 4, { 5, make_text("model"), 6, make_text("resnet") } },
		    { 31, EVENT_THREAD_NAME, 2, { 4, make_text("main") } }, { 32, B });
	sonde_trace *t = make_trace(&m);
	assert_events(t, (const char *const[]){
				 "scope b@13+1 depth 3", "scope a@12+3 depth 2 i=-3 x=64x128",
				 "phase phase@11+5 depth 1", "step step@10+6 number 7",
				 "scope a@18+1 depth 1 repaired i=1 x=?", "module module@17+2", "instant mark@20",
				 "instant mark@21 k=''", "counter loss@22 value -0.5", "flow+ mark@23 id 5",
				 "flow- mark@24 id 5", "alloc @25 id 4096 value 150 bytes 100 of gpu1",
				 "free @26 id 4096 bytes -1 of npu0", "launch op@27 id 9 of npu0/queue",
				 "device op@15+10 id 9 of npu0/queue", "op op@5+3 async",
				 "metadata model@30 model='resnet'", "scope b@32+968 open on main", NULL });
	sonde_trace_free(t);
	make_done(&m);
}

static void operations_that_end_elsewhere_come_after_the_threads(void **state)
{
	maker m = { 0 };

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 10, EVENT_OP_BEGIN, 6, { 1, OP, make_double(8), 0, 0, 0 } },
		    { 11, EVENT_OP_BEGIN, 4, { 2, OP } }, { 12, EVENT_OP_END, 1, { 2 } });
	MAKE_EVENTS(&m, 2, { 15, EVENT_OP_VALUE, 5, { 1, SONDE_ARG_I64_, 4, 4, make_text("rows") } },
		    { 20, EVENT_OP_END, 1, { 1 } });
	sonde_trace *t = make_trace(&m);
	assert_events(t, (const char *const[]){ "op op@11+1 depth 1 async id 2", "metadata rows@15 id 1 rows=4",
						"op op@10+10 async id 1 flops=8", NULL });
	sonde_trace_free(t);
	make_done(&m);
}

/* In the middle: what is open then, and what was not taken, is freed as well. */
static void an_iterator_may_be_closed_at_any_event_and_outlives_its_trace(void **state)
{
	maker m = { 0 };

	(void)state;
	make_names(&m);
	for (int i = 0; i < 20; i++)
		MAKE_EVENTS(&m, 1, { 100u + (unsigned)i * 10, A, 2, { 1, 0 } }, { 101u + (unsigned)i * 10, MARK });
	for (int n = 0; n < 25; n++) {
		sonde_trace *t = make_trace(&m);
		sonde_events *events = NULL;
		assert_int_equal(sonde_events_open(t, &events, NULL), SONDE_OK);
		sonde_trace_free(t);
		for (int i = 0; i < n; i++)
			assert_non_null(sonde_events_next(events));
		assert_int_equal(sonde_events_close(events, NULL), SONDE_OK);
	}
	assert_int_equal(sonde_events_close(NULL, NULL), SONDE_OK);
	make_done(&m);
}

static void a_trace_of_another_tool_is_refused(void **state)
{
	const char *path = temp_path("trace.json");
	FILE *f = fopen(path, "w");
	sonde_events *events = (sonde_events *)8;
	sonde_trace *t = NULL;
	sonde_error err = { .message = "" };

	(void)state;
	assert_non_null(f);
	fputs("[{\"ph\": \"X\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 2}]", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(sonde_trace_open(path, &t, &err), SONDE_OK);
	assert_int_equal(sonde_events_open(t, &events, &err), SONDE_E_UNSUPPORTED);
	assert_null(events);
	assert_non_null(strstr(err.message, "<sonde/query.h>"));
	sonde_trace_free(t);
	temp_clear();
}

static size_t count(const char *path, sonde_event_kind kind, const char *name)
{
	sonde_trace *t = NULL;
	sonde_events *events = NULL;
	sonde_error err = { .message = "" };
	size_t n = 0;

	if (sonde_trace_open(path, &t, &err) || sonde_events_open(t, &events, &err))
		fail_msg("%s", err.message);
	for (const sonde_event *e; (e = sonde_events_next(events));)
		n += e->kind == kind && strcmp(e->name, name) == 0;
	assert_int_equal(sonde_events_close(events, &err), SONDE_OK);
	sonde_trace_free(t);
	return n;
}

static void a_running_recording_is_read_by_its_own_program(void **state)
{
	char path[4096];

	(void)state;
	record_start((sonde_config){ 0 });
	snprintf(path, sizeof path, "%s", sonde_output());
	for (int i = 0; i < 100; i++)
		SONDE_MARK_ARGS("early", SONDE_I64("i", i));
	sonde_scope open = sonde_begin("open");
	assert_int_equal(count(path, SONDE_EVENT_INSTANT, "early"), 100);
	assert_int_equal(count(path, SONDE_EVENT_SCOPE, "open"), 1);
	for (int i = 0; i < 50000; i++)
		SONDE_MARK("late");
	sonde_end(open);
	assert_int_equal(count(path, SONDE_EVENT_INSTANT, "late"), 50000);
	assert_int_equal(sonde_stop(NULL), SONDE_OK);
	assert_int_equal(count(path, SONDE_EVENT_INSTANT, "early"), 100);
	assert_int_equal(count(path, SONDE_EVENT_INSTANT, "late"), 50000);
	temp_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_event_is_given),
		cmocka_unit_test(operations_that_end_elsewhere_come_after_the_threads),
		cmocka_unit_test(an_iterator_may_be_closed_at_any_event_and_outlives_its_trace),
		cmocka_unit_test(a_trace_of_another_tool_is_refused),
		cmocka_unit_test(a_running_recording_is_read_by_its_own_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
