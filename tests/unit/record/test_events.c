/* What a program says is what the recording holds. */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include "unit/record/recorded.h"

static void function_scope(void)
{
	SONDE_FUNCTION();
	SONDE_MARK("in");
}

static int leave_early(int n)
{
	SONDE_SCOPE("early");
	if (n == 0)
		return 0;
	SONDE_MARK("late");
	return n;
}

static void scopes_end_however_the_block_is_left(void **state)
{
	(void)state;
	record_start((sonde_config){ 0 });
	{
		SONDE_SCOPE("a");
		SONDE_SCOPE("b");
		SONDE_DETAIL("c");
	}
	function_scope();
	leave_early(0);
	leave_early(1);
	for (int i = 0; i < 3; i++) {
		SONDE_SCOPE("loop");
		if (i == 0)
			continue;
		break;
	}
	assert_recorded("+a +b +c -c -b -a +function_scope *in -function_scope +early -early +early *late -early "
			"+loop -loop +loop -loop");
}

static void scopes_can_begin_and_end_by_hand(void **state)
{
	char name[24];

	(void)state;
	record_start((sonde_config){ 0 });
	SONDE_BEGIN("a");
	SONDE_BEGIN("b");
	SONDE_END();
	SONDE_END();
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "layer.%d", i % 2);
		sonde_scope scope = sonde_begin(name);
		memset(name, 'x', sizeof name - 1);
		sonde_end(scope);
	}
	sonde_scope outer = sonde_begin("outer");
	sonde_begin("forgotten");
	sonde_end(outer);
	sonde_end(0);
	sonde_end(sonde_begin(NULL));
	sonde_end(sonde_begin(""));
	assert_recorded(
		"+a +b -b -a +layer.0 -layer.0 +layer.1 -layer.1 +layer.0 -layer.0 +outer +forgotten -forgotten! "
		"-outer + - + -");
}

static void arguments_are_kept_with_their_types(void **state)
{
	const int64_t dims[] = { 32, -1, 1024 };
	int64_t many[40];
	char text[400];

	(void)state;
	memset(text, 't', sizeof text - 1);
	text[399] = 0;
	for (int i = 0; i < 40; i++)
		many[i] = i % 10;
	record_start((sonde_config){ .shapes = true });
	{
		SONDE_SCOPE_ARGS("a", SONDE_I64("i", -7), SONDE_F64("f", 0.5), SONDE_STR("s", "f32"),
				 SONDE_SHAPE("x", dims, 3), SONDE_STR("empty", ""), SONDE_SHAPE("scalar", dims, 0),
				 SONDE_STR("null", NULL));
	}
	{
		SONDE_SCOPE_ARGS("b", SONDE_SHAPE("x", many, 40));
	}
	{
		SONDE_SCOPE_ARGS("c", SONDE_STR("s", text));
	}
	recorded *r = record_stop();
	assert_non_null(strstr(r->text, "+a(i=-7,f=0.5,s=f32,x=32x-1x1024,empty=,scalar=,null=) -a"));
	assert_non_null(strstr(r->text, "+b(x=0x1x2x3x4x5x6x7x8x9x0x1x2x3x4x5x6x7x8x9x0x1x2x3x4x5x6x7x8x9x0x1) -b"));
	const char *kept = strstr(r->text, "+c(s=");
	assert_non_null(kept);
	assert_int_equal(strspn(kept + 5, "t"), 255);
	record_done(r);
}

/* The first pass registers the place, the others need no call up to four. */
static void numbers_are_kept_at_every_pass(void **state)
{
	(void)state;
	record_start((sonde_config){ 0 });
	for (int i = 0; i < 3; i++) {
		SONDE_SCOPE_ARGS("a", SONDE_I64("i", i));
		SONDE_SCOPE_ARGS("b", SONDE_F64("f", i / 2.0), SONDE_I64("i", -i), SONDE_I64("j", 7),
				 SONDE_I64("k", 8));
		SONDE_SCOPE_ARGS("c", SONDE_I64("i", 1), SONDE_I64("j", 2), SONDE_I64("k", 3), SONDE_I64("l", 4),
				 SONDE_I64("m", i));
	}
	assert_recorded("+a(i=0) +b(f=0,i=0,j=7,k=8) +c(i=1,j=2,k=3,l=4,m=0) -c -b -a "
			"+a(i=1) +b(f=0.5,i=-1,j=7,k=8) +c(i=1,j=2,k=3,l=4,m=1) -c -b -a "
			"+a(i=2) +b(f=1,i=-2,j=7,k=8) +c(i=1,j=2,k=3,l=4,m=2) -c -b -a");
}

/* At the end of the last page that may be read, and with other bytes behind them. Twice: the second time they are
   known. */
static void texts_of_any_length_are_read_up_to_their_end_only(void **state)
{
	static char expected[65536];
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t at = 0;

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	record_start((sonde_config){ 0 });
	for (size_t i = 0; i < 4 * 42; i++) {
		size_t len = i % 42;
		bool at_end = i / 42 % 2;
		char *text = pages + (at_end ? 4096 - len - 1 : 64);

		memset(pages, '!', 4096);
		for (size_t k = 0; k < len; k++)
			text[k] = (char)('a' + (k + len) % 26);
		text[len] = 0;
		sonde_scope scope = sonde_begin(text);
		{
			SONDE_SCOPE_ARGS("s", SONDE_STR("t", text));
		}
		sonde_end(scope);
		at += (size_t)snprintf(expected + at, sizeof expected - at, "%s+%s +s(t=%s) -s -%s", i ? " " : "", text,
				       text, text);
	}
	munmap(pages, 8192);
	assert_recorded(expected);
}

static void shapes_are_left_out_when_switched_off(void **state)
{
	const int64_t dims[] = { 2, 3 };

	(void)state;
	record_start((sonde_config){ .shapes = SONDE_OFF });
	{
		SONDE_SCOPE_ARGS("a", SONDE_SHAPE("x", dims, 2), SONDE_I64("n", 1));
	}
	SONDE_OP("op", SONDE_COMPUTE, .flops = 8, .shape = dims, .n_dims = 2) {
	}
	assert_recorded("+a(x=?,n=1) -a +op(flops=8) -op");
}

static int n_evaluated;

static int64_t evaluated(void)
{
	return ++n_evaluated;
}

static void arguments_are_not_evaluated_while_nothing_is_recorded(void **state)
{
	(void)state;
	for (int on = 0; on < 2; on++) {
		n_evaluated = 0;
		if (on)
			record_start((sonde_config){ .flops = true });
		{
			SONDE_SCOPE_ARGS("a", SONDE_I64("n", evaluated()));
			SONDE_OP("op", SONDE_COMPUTE, .flops = (double)evaluated()) {
			}
		}
		assert_int_equal(n_evaluated, 2 * on);
	}
	assert_recorded("+a(n=1) +op(flops=2) -op -a");
}

static void steps_and_phases(void **state)
{
	(void)state;
	record_start((sonde_config){ 0 });
	for (int i = 0; i < 2; i++) {
		SONDE_STEP(i);
		SONDE_PHASE("data");
		SONDE_PHASE("forward");
		function_scope();
	}
	sonde_step(-3);
	SONDE_PHASE("data");
	sonde_step(INT64_MAX);
	sonde_step_end();
	assert_recorded("+step#0 +data -data +forward +function_scope *in -function_scope -forward -step "
			"+step#1 +data -data +forward +function_scope *in -function_scope -forward -step "
			"+step#-3 +data -data -step +step#9223372036854775807 -step");
}

static void marks_counters_and_flows(void **state)
{
	(void)state;
	record_start((sonde_config){ 0 });
	SONDE_MARK("saved");
	sonde_instant("checkpoint", SONDE_CUSTOM("storage"));
	SONDE_COUNTER("loss", 1.5);
	SONDE_COUNTER("loss", 2);
	sonde_counter("lr", -1e-3);
	sonde_flow_begin("batch", 1);
	sonde_flow_end("batch", UINT64_MAX);
	assert_recorded("*saved *checkpoint loss=1.5 loss=2 lr=-0.001 >batch:1 <batch:18446744073709551615");
}

static void operations_have_their_work_and_shape(void **state)
{
	const int64_t dims[] = { 64, 128 };
	const sonde_op_info info = { .category = SONDE_COMPUTE, .bytes = 3, .shape = dims, .n_dims = 2 };

	(void)state;
	record_start((sonde_config){ .flops = true, .shapes = true });
	SONDE_OP("matmul", SONDE_COMPUTE, .flops = 1e9, .bytes = 4096, .shape = dims, .n_dims = 2, .type = "f32") {
		SONDE_MARK("in");
	}
	for (int i = 0; i < 3; i++)
		SONDE_OP("left", SONDE_SYNC) {
			if (i == 1)
				break;
			continue;
		}
	sonde_op first = sonde_op_begin("fetch", SONDE_DATA_LOAD), second = sonde_op_begin_info("conv", &info);
	sonde_op_metadata(first, "url", "file:///x");
	sonde_op_end(first);
	sonde_op_end(second);
	sonde_op_record("npu", SONDE_COMPUTE, 100, 50);
	sonde_op_end((sonde_op){ 0, 0 });
	assert_recorded(
		"+matmul(flops=1e+09,bytes=4096,type=f32,shape=64x128) *in -matmul +left -left +left -left +left "
		"-left +fetch +conv(bytes=3,shape=64x128) [url:file:///x] -fetch -conv +npu -npu");
}

static int return_from_op(void)
{
	SONDE_OP_SCOPE("returned", SONDE_SYNC);
	return 7;
}

/* SONDE_OP is a loop of its own, see above: there break and continue only leave the operation. */
static void break_and_continue_mean_the_loop_around_an_operation_scope(void **state)
{
	int n = 0;

	(void)state;
	record_start((sonde_config){ .flops = true });
	for (int i = 0; i < 3; i++) {
		SONDE_OP_SCOPE("op", SONDE_COMPUTE, .flops = i + 1);
		SONDE_OP_SCOPE("inner", SONDE_COMPUTE);
		if (i == 0)
			continue;
		n++;
		if (i == 1)
			break;
	}
	assert_int_equal(n, 1);
	assert_int_equal(return_from_op(), 7);
	assert_recorded("+op(flops=1) +inner -inner -op +op(flops=2) +inner -inner -op +returned -returned");
}

static double scale(int n, double x)
{
	SONDE_OP_FUNCTION(SONDE_COMPUTE, .flops = 2.0 * n, .bytes = 16.0 * n);
	if (n == 0)
		return 0;
	for (int i = 0; i < n; i++)
		if (i == 3)
			return x * i;
	return x;
}

static void a_whole_function_is_an_operation_on_every_return_path(void **state)
{
	(void)state;
	scale(1, 2);
	record_start((sonde_config){ .flops = true });
	scale(0, 2);
	scale(9, 2);
	scale(1, 2);
	assert_recorded("+scale -scale +scale(flops=18,bytes=144) -scale +scale(flops=2,bytes=16) -scale");
}

static void instants_have_arguments(void **state)
{
	const int64_t dims[] = { 2, 3 };
	char name[24], text[300];

	(void)state;
	memset(text, 'k', sizeof text - 1);
	text[sizeof text - 1] = 0;
	record_start((sonde_config){ .shapes = true });
	for (int i = 0; i < 2; i++)
		SONDE_MARK_ARGS("saved", SONDE_I64("step", i), SONDE_F64("loss", 0.5));
	SONDE_MARK_ARGS("file", SONDE_STR("path", "a.bin"), SONDE_SHAPE("x", dims, 2));
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof name, "epoch %d", i);
		SONDE_INSTANT_ARGS(name, SONDE_OTHER, SONDE_I64("n", -i), SONDE_F64("f", 1.5), SONDE_STR("s", "t"),
				   SONDE_SHAPE("x", dims, 2), SONDE_STR("null", NULL));
	}
	sonde_instant_args("none", SONDE_SYNC, NULL, 0);
	assert_recorded("*saved(step=0,loss=0.5) *saved(step=1,loss=0.5) *file(path=a.bin,x=2x3) "
			"*epoch 0(n=0,f=1.5,s=t,x=2x3,null=) *epoch 1(n=-1,f=1.5,s=t,x=2x3,null=) *none");

	/* As many and as long as they may be, and more. */
	sonde_arg many[20];
	for (int i = 0; i < 20; i++)
		many[i] = (sonde_arg){ .key = i ? text : NULL, .type = SONDE_ARG_STR_, .value.str = text };
	record_start((sonde_config){ 0 });
	sonde_instant_args("many", SONDE_OTHER, many, 20);
	recorded *r = record_stop();
	assert_int_equal(r->counts.n_instants, 1);
	assert_int_equal(r->len, strlen("*many()") + strlen("=") + 255 + 15 * (strlen(",=") + 127 + 255));
	record_done(r);
}

static void numbers_are_attached_to_operations_as_numbers(void **state)
{
	(void)state;
	sonde_op_metadata_i64((sonde_op){ 0, 0 }, "n", 1);
	record_start((sonde_config){ 0 });
	sonde_op op = sonde_op_begin("fetch", SONDE_DATA_LOAD);
	sonde_op_metadata_i64(op, "rows", INT64_MIN);
	sonde_op_metadata_f64(op, "ratio", 0.25);
	sonde_op_metadata_i64(op, NULL, 1);
	sonde_op_end(op);
	sonde_op_metadata_i64(op, "late", 7);
	assert_recorded("+fetch [rows=-9223372036854775808] [ratio=0.25] -fetch [late=7]");
}

/* One site of this kind has the name, and it is of this category. */
static void assert_site(const recorded *r, const char *name, name_kind kind, const char *category)
{
	size_t n = 0;

	for (uint32_t id = NAME_FIRST_ID; id <= UINT16_MAX; id++) {
		const trace_site *site = recording_site_of(&r->trace->streams.items[0], id);
		if (!site || site->kind != kind || strcmp(rec_name(r, site), name) != 0)
			continue;
		assert_string_equal(recording_text(r->trace, site->category), category);
		n++;
	}
	assert_int_equal(n, 1);
}

static void modules_operations_and_categories_with_names_made_at_run_time(void **state)
{
	char name[32];

	(void)state;
	record_start((sonde_config){ .flops = true, .modules = true });
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof name, "layer.%d", i);
		SONDE_MODULE_NAMED(name);
		snprintf(name, sizeof name, "op.%d", i);
		SONDE_OP_NAMED(name, SONDE_COMPUTE, .flops = 3);
		snprintf(name, sizeof name, "scope.%d", i);
		SONDE_SCOPE_NAMED(name);
		SONDE_SCOPE_CATEGORY("read", SONDE_DATA_LOAD);
	}
	sonde_scope module = sonde_begin_module("by hand"), op = sonde_begin_op("plain", NULL);
	sonde_end(op);
	sonde_end(module);
	sonde_end(sonde_begin_category("send", SONDE_COMMUNICATION));
	recorded *r = record_stop();
	assert_string_equal(r->text, "+layer.0 +op.0(flops=3) +scope.0 +read -read -scope.0 -op.0 -layer.0 "
				     "+layer.1 +op.1(flops=3) +scope.1 +read -read -scope.1 -op.1 -layer.1 "
				     "+by hand +plain -plain -by hand +send -send");
	assert_site(r, "layer.1", NAME_MODULE, "other");
	assert_site(r, "op.1", NAME_OP, "compute");
	assert_site(r, "read", NAME_SCOPE, "data-load");
	assert_site(r, "send", NAME_SCOPE, "communication");
	record_done(r);

	record_start((sonde_config){ .modules = SONDE_OFF });
	sonde_end(sonde_begin_module("off"));
	sonde_end(sonde_begin_op("on", NULL));
	assert_recorded("+on -on");
}

static void work_is_left_out_when_switched_off(void **state)
{
	(void)state;
	record_start((sonde_config){ .flops = SONDE_OFF });
	SONDE_OP("op", SONDE_COMPUTE, .flops = 8, .bytes = 9, .type = "f32") {
	}
	assert_recorded("+op(type=f32) -op");
}

static void *end_op(void *op)
{
	sonde_op_end(*(const sonde_op *)op);
	return NULL;
}

static void an_operation_may_end_on_another_thread(void **state)
{
	pthread_t thread;

	(void)state;
	record_start((sonde_config){ 0 });
	sonde_op op = sonde_op_begin("send", SONDE_COMMUNICATION);
	assert_int_equal(pthread_create(&thread, NULL, end_op, &op), 0);
	pthread_join(thread, NULL);
	recorded *r = record_stop();
	assert_string_equal(r->text, "+send thread -send");
	assert_int_equal(r->counts.n_open + r->counts.n_unmatched_ends, 0);
	record_done(r);
}

static void categories_are_the_same_by_the_same_name(void **state)
{
	sonde_category storage = SONDE_CUSTOM("storage"), other = SONDE_CUSTOM("network");

	(void)state;
	assert_true(storage >= SONDE_CATEGORY_FIRST_CUSTOM_);
	assert_int_not_equal(storage, other);
	assert_int_equal(storage, sonde_category_register("storage"));
	record_start((sonde_config){ 0 });
	sonde_op_end(sonde_op_begin("write", storage));
	sonde_op_end(sonde_op_begin("send", SONDE_COMMUNICATION));
	recorded *r = record_stop();
	const recording_stream *s = &r->trace->streams.items[0];
	const char *found[2] = { NULL, NULL };
	for (uint32_t id = NAME_FIRST_ID; id <= UINT16_MAX; id++) {
		const trace_site *site = recording_site_of(s, id);
		if (site && site->kind == NAME_OP && strcmp(rec_name(r, site), "write") == 0)
			found[0] = recording_text(r->trace, site->category);
		if (site && site->kind == NAME_OP && strcmp(rec_name(r, site), "send") == 0 &&
		    site->record->category == SONDE_COMMUNICATION)
			found[1] = recording_text(r->trace, site->category);
	}
	assert_string_equal(found[0], "storage");
	assert_string_equal(found[1], "communication");
	record_done(r);
}

static void devices_streams_launches_and_slices(void **state)
{
	sonde_stream queue = sonde_stream_register("npu0", "queue 1");

	(void)state;
	assert_int_equal(queue, sonde_stream_register("npu0", "queue 1"));
	assert_int_not_equal(queue, sonde_stream_register("npu1", "queue 1"));
	assert_int_equal(sonde_device_register("npu0"), sonde_device_register("npu0"));
	assert_true(sonde_device_register("npu0") >= SONDE_DEVICE_FIRST_CUSTOM_);
	assert_int_equal(sonde_launch("conv", queue), 0); /* nothing is recorded yet */
	record_start((sonde_config){ 0 });
	uint64_t id = sonde_launch("conv", queue);
	assert_true(id > 0);
	assert_true(sonde_launch("conv", queue) > id);
	sonde_stream_slice(queue, id, "conv", 100, 200);
	assert_recorded("launch conv launch conv device conv on npu0/queue 1@100..200");
}

static void threads_and_processes_have_names_and_the_run_has_facts(void **state)
{
	static char text[5000];

	(void)state;
	memset(text, 'v', sizeof text - 1);
	record_start((sonde_config){ 0 });
	sonde_thread_name("loader");
	sonde_process_name("rank 3");
	sonde_metadata("model", "resnet50");
	sonde_metadata("empty", "");
	sonde_metadata(NULL, "x");
	sonde_metadata("x", NULL);
	sonde_thread_name(NULL);
	sonde_process_name(NULL);
	sonde_metadata("long", text);
	recorded *r = record_stop();
	assert_non_null(strstr(r->text, "name:loader process:rank 3 model:resnet50 empty: long:vvv"));
	assert_int_equal(r->trace->diagnostics.n_kept, 5);
	assert_in_range(strspn(strstr(r->text, "long:") + 5, "v"), 1000, 4999);
	record_done(r);
}

static void modules_are_left_out_when_switched_off(void **state)
{
	(void)state;
	for (int on = 0; on < 2; on++) {
		record_start((sonde_config){ .modules = on ? SONDE_ON : SONDE_OFF });
		{
			SONDE_MODULE("encoder");
			SONDE_SCOPE("a");
		}
		assert_recorded(on ? "+encoder +a -a -encoder" : "+a -a");
	}
}

static void pausing_leaves_out_what_happens_meanwhile(void **state)
{
	(void)state;
	record_start((sonde_config){ .memory = true });
	SONDE_MARK("before");
	sonde_pause();
	sonde_pause();
	SONDE_MARK("not seen");
	{
		SONDE_SCOPE("not seen");
		sonde_counter("not seen", 1);
		SONDE_OP("not seen", SONDE_COMPUTE) {
		}
	}
	sonde_alloc(SONDE_CPU, (void *)8, 100, 0); /* still counted */
	sonde_resume();
	sonde_resume();
	sonde_alloc(SONDE_CPU, (void *)16, 50, 0);
	SONDE_MARK("after");
	assert_int_equal(sonde_memory_now(SONDE_CPU).current_bytes, 150);
	assert_recorded("*before alloc0:50=150 *after");
	sonde_pause(); /* no recording: nothing happens */
	sonde_resume();
}

static void activities_choose_what_is_recorded(void **state)
{
	static const struct {
		const char *activities, *expected;
	} cases[] = {
		{ "cpu", "+a -a" },
		{ "memory", "alloc0:10=10" },
		{ "device", "launch k" },
		{ "cpu,memory,device", "+a -a alloc0:10=10 launch k" },
		{ "CPU,device", "+a -a launch k" },
		{ NULL, "+a -a alloc0:10=10 launch k" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		record_start((sonde_config){ .activities = cases[i].activities });
		{
			SONDE_SCOPE("a");
		}
		sonde_alloc(SONDE_CPU, (void *)8, 10, 0);
		sonde_launch("k", 5);
		assert_recorded(cases[i].expected);
	}
}

static void nothing_is_recorded_before_and_after(void **state)
{
	(void)state;
	SONDE_MARK("before");
	sonde_counter("before", 1);
	assert_int_equal(sonde_begin("before"), 0);
	assert_int_equal(sonde_op_begin("before", SONDE_COMPUTE).serial, 0);
	record_start((sonde_config){ 0 });
	SONDE_MARK("a");
	assert_recorded("*a");
	SONDE_MARK("after");
	record_start((sonde_config){ 0 });
	SONDE_MARK("b");
	assert_recorded("*b");
}

/* A scope that is open when the recording stops has its end in neither file. */
static void a_scope_around_the_start_or_the_stop_is_no_harm(void **state)
{
	(void)state;
	{
		SONDE_SCOPE("around");
		record_start((sonde_config){ 0 });
		SONDE_MARK("a");
	}
	sonde_scope open = sonde_begin("open");
	recorded *r = record_stop();
	assert_string_equal(r->text, "*a +open -open?");
	record_done(r);
	sonde_end(open);
	record_start((sonde_config){ 0 });
	SONDE_MARK("b");
	assert_recorded("*b");
}

enum { N_THREADS = 2, N_CALLS = 100000 };

static void *call_shared(void *unused)
{
	(void)unused;
	for (int i = 0; i < N_CALLS; i++) {
		SONDE_SCOPE("shared");
		sonde_end(sonde_begin("by name"));
	}
	return NULL;
}

static void two_threads_with_the_same_names_count_exactly(void **state)
{
	pthread_t threads[N_THREADS];

	(void)state;
	record_start((sonde_config){ 0 });
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call_shared, NULL), 0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(sonde_stop(NULL), SONDE_OK);
	recording *t = NULL;
	walk_counts counts;
	const walk_sink silent = { 0 };
	assert_int_equal(recording_open_path(sonde_output(), &t, NULL), SONDE_OK);
	assert_int_equal(recording_walk(t, &silent, &counts, NULL), SONDE_OK);
	assert_int_equal(t->threads.n, N_THREADS);
	assert_int_equal(counts.n_slices, 2 * N_THREADS * N_CALLS);
	assert_int_equal(counts.n_open + counts.n_repaired + counts.n_unmatched_ends + counts.n_clamped, 0);
	assert_int_equal(t->diagnostics.n_kept, 4 * N_THREADS * N_CALLS);
	recording_free(t);
}

static void call_everything(void)
{
	const int64_t dims[] = { 1 };
	sonde_memory_block block;
	sonde_memory_point point;

	SONDE_SCOPE_ARGS("a", SONDE_SHAPE("x", dims, 1), SONDE_STR("s", "text"));
	SONDE_STEP(1);
	SONDE_PHASE("p");
	SONDE_COUNTER("c", 1);
	SONDE_OP("op", SONDE_COMPUTE, .flops = 1) {
	}
	sonde_end(sonde_begin("run time"));
	sonde_op op = sonde_op_begin("op", SONDE_COMPUTE);
	sonde_op_metadata(op, "k", "v");
	sonde_op_end(op);
	sonde_op_record("r", SONDE_COMPUTE, 1, 2);
	sonde_instant("i", SONDE_CUSTOM("custom"));
	sonde_flow_begin("f", 1);
	sonde_flow_end("f", 1);
	sonde_alloc(SONDE_CPU, &op, 1, 1);
	sonde_memory_now(SONDE_CPU);
	sonde_memory_snapshot(SONDE_CPU, &block, 1);
	sonde_memory_timeline(SONDE_CPU, &point, 1);
	sonde_free(SONDE_CPU, &op);
	sonde_launch("k", sonde_stream_register("d", "q"));
	sonde_stream_slice(1, 1, "k", 1, 2);
	sonde_thread_name("t");
	sonde_process_name("p");
	sonde_metadata("k", "v");
	sonde_step(1);
	sonde_step_end();
	sonde_now_ns();
}

static void errno_is_never_touched(void **state)
{
	(void)state;
	for (int stacks = 0; stacks < 2; stacks++) {
		record_start((sonde_config){ .memory = true, .shapes = true, .flops = true, .stacks = stacks });
		for (int i = 0; i < 3000; i++) { /* more than a chunk */
			errno = 4711;
			call_everything();
			assert_int_equal(errno, 4711);
		}
		record_done(record_stop());
	}
	errno = 4711;
	call_everything();
	assert_int_equal(errno, 4711);
}

static void the_clock_is_monotonic_time(void **state)
{
	(void)state;
	int64_t before = sonde_now_ns();
	record_start((sonde_config){ 0 });
	for (int i = 0; i < 100; i++)
		SONDE_MARK("m");
	recorded *r = record_stop();
	int64_t after = sonde_now_ns();
	assert_true(r->trace->start_ns >= before && r->trace->end_ns <= after && r->trace->end_ns > r->trace->start_ns);
	assert_int_equal(r->counts.n_clamped, 0);
	record_done(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scopes_end_however_the_block_is_left),
		cmocka_unit_test(scopes_can_begin_and_end_by_hand),
		cmocka_unit_test(arguments_are_kept_with_their_types),
		cmocka_unit_test(numbers_are_kept_at_every_pass),
		cmocka_unit_test(texts_of_any_length_are_read_up_to_their_end_only),
		cmocka_unit_test(shapes_are_left_out_when_switched_off),
		cmocka_unit_test(arguments_are_not_evaluated_while_nothing_is_recorded),
		cmocka_unit_test(steps_and_phases),
		cmocka_unit_test(marks_counters_and_flows),
		cmocka_unit_test(operations_have_their_work_and_shape),
		cmocka_unit_test(break_and_continue_mean_the_loop_around_an_operation_scope),
		cmocka_unit_test(a_whole_function_is_an_operation_on_every_return_path),
		cmocka_unit_test(instants_have_arguments),
		cmocka_unit_test(numbers_are_attached_to_operations_as_numbers),
		cmocka_unit_test(modules_operations_and_categories_with_names_made_at_run_time),
		cmocka_unit_test(work_is_left_out_when_switched_off),
		cmocka_unit_test(an_operation_may_end_on_another_thread),
		cmocka_unit_test(categories_are_the_same_by_the_same_name),
		cmocka_unit_test(devices_streams_launches_and_slices),
		cmocka_unit_test(threads_and_processes_have_names_and_the_run_has_facts),
		cmocka_unit_test(modules_are_left_out_when_switched_off),
		cmocka_unit_test(pausing_leaves_out_what_happens_meanwhile),
		cmocka_unit_test(activities_choose_what_is_recorded),
		cmocka_unit_test(nothing_is_recorded_before_and_after),
		cmocka_unit_test(a_scope_around_the_start_or_the_stop_is_no_harm),
		cmocka_unit_test(two_threads_with_the_same_names_count_exactly),
		cmocka_unit_test(errno_is_never_touched),
		cmocka_unit_test(the_clock_is_monotonic_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
