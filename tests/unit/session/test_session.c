/* A recording and its report inside the program that is recorded. */
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <sonde/session.h>
#include "unit/record/recorded.h"

static void spin(int64_t ns)
{
	for (int64_t until = sonde_now_ns() + ns; sonde_now_ns() < until;)
		;
}

static void inner(void)
{
	SONDE_SCOPE("inner");
	spin(200000);
}

static void outer(void)
{
	SONDE_SCOPE("outer");
	spin(100000);
	inner();
	inner();
}

static sonde_session *start_session(sonde_config config)
{
	sonde_session *session = NULL;
	sonde_error err = { .message = "" };

	config.struct_size = sizeof config;
	config.output = temp_path("epoch.sonde");
	if (sonde_session_start(&config, &session, &err))
		fail_msg("%s", err.message);
	return session;
}

static sonde_report *stop_session(sonde_session *session)
{
	sonde_report *report = NULL;
	sonde_error err = { .message = "" };

	if (sonde_session_stop(session, &report, &err))
		fail_msg("%s", err.message);
	return report;
}

static const sonde_op_stats *op_of(const sonde_report *report, const char *name)
{
	for (size_t i = 0; i < sonde_report_n_ops(report); i++)
		if (strcmp(sonde_report_op(report, i)->name, name) == 0)
			return sonde_report_op(report, i);
	return NULL;
}

static void a_report_each_epoch(void **state)
{
	(void)state;
	for (int epoch = 0; epoch < 3; epoch++) {
		sonde_session *session = start_session((sonde_config){ .memory = true, .flops = true });
		for (int step = 0; step <= epoch; step++) {
			SONDE_STEP(step);
			outer();
			SONDE_OP("matmul", SONDE_COMPUTE, .flops = 100, .bytes = 10) {
			}
		}
		sonde_report *report = stop_session(session);
		uint64_t n = (uint64_t)epoch + 1;
		const sonde_op_stats *o = op_of(report, "outer"), *i = op_of(report, "inner"),
				     *m = op_of(report, "matmul");
		assert_true(o && i && m);
		assert_int_equal(sonde_report_n_ops(report), 4);
		assert_int_equal(o->calls, n);
		assert_int_equal(i->calls, 2 * n);
		assert_int_equal(m->calls, n);
		assert_true(m->flops == 100.0 * (double)n && m->bytes == 10.0 * (double)n);
		assert_string_equal(m->category, "compute");
		assert_true(o->total_ns >= (int64_t)n * 500000 && i->total_ns >= (int64_t)n * 400000);
		assert_int_equal(o->total_ns, o->self_ns + i->total_ns);
		assert_true(i->min_ns <= i->p50_ns && i->p50_ns <= i->p95_ns && i->p95_ns <= i->p99_ns &&
			    i->p99_ns <= i->max_ns && i->min_ns <= i->avg_ns && i->avg_ns <= i->max_ns);
		assert_true(sonde_report_total_ns(report) >= op_of(report, "step")->total_ns);
		assert_true(o->percent > 0 && o->percent <= 100);
		sonde_report_free(report);
	}
	temp_clear();
}

static void hotspots_come_first(void **state)
{
	const sonde_op_stats *top[10];
	sonde_session *session = start_session((sonde_config){ 0 });

	(void)state;
	outer();
	sonde_report *report = stop_session(session);
	assert_int_equal(sonde_report_hotspots(report, top, 10), 2);
	assert_string_equal(top[0]->name, "inner");
	assert_string_equal(top[1]->name, "outer");
	assert_int_equal(sonde_report_hotspots(report, top, 1), 1);
	assert_ptr_equal(sonde_report_op(report, 0), top[0]);
	assert_null(sonde_report_op(report, 2));
	for (size_t i = 1; i < sonde_report_n_ops(report); i++)
		assert_true(sonde_report_op(report, i - 1)->self_ns >= sonde_report_op(report, i)->self_ns);
	sonde_report_free(report);
	temp_clear();
}

static void memory_has_its_peak_and_its_curve(void **state)
{
	sonde_memory_point points[600];
	sonde_session *session = start_session((sonde_config){ .memory = true });

	(void)state;
	sonde_alloc(SONDE_CPU, (void *)1, 1000, 0);
	sonde_alloc(SONDE_CPU, (void *)2, 500, 0);
	spin(200000);
	sonde_free(SONDE_CPU, (void *)1);
	spin(200000);
	sonde_report *report = stop_session(session);
	assert_int_equal(sonde_report_peak_bytes(report, SONDE_CPU), 1500);
	assert_int_equal(sonde_report_peak_bytes(report, SONDE_GPU(0)), 0);
	assert_int_equal(sonde_report_memory(report, SONDE_GPU(0), points, 600), 0);
	size_t n = sonde_report_memory(report, SONDE_CPU, points, 600), peak = 0;
	assert_in_range(n, 2, 512);
	for (size_t i = 0; i < n; i++) {
		assert_true(points[i].time_ns >= 0 && points[i].time_ns < sonde_report_total_ns(report));
		peak = points[i].peak_bytes > peak ? points[i].peak_bytes : peak;
	}
	assert_int_equal(peak, 1500);
	assert_int_equal(points[n - 1].peak_bytes, 500);
	assert_int_equal(sonde_report_memory(report, SONDE_CPU, points, 3), 3);
	assert_int_equal(points[2].peak_bytes >= 500, 1);
	sonde_report_free(report);
	temp_clear();
}

static void operations_have_their_memory(void **state)
{
	sonde_session *session = start_session((sonde_config){ .memory = true });

	(void)state;
	for (int i = 0; i < 2; i++) {
		SONDE_SCOPE("allocates");
		sonde_alloc(SONDE_CPU, (void *)1, 1000, 0);
		inner();
		sonde_free(SONDE_CPU, (void *)1);
		sonde_alloc(SONDE_CPU, (void *)(uintptr_t)(2 + i), 10, 0);
	}
	sonde_op_record("elsewhere", SONDE_COMPUTE, sonde_now_ns() - 10, 10);
	sonde_report *report = stop_session(session);
	const sonde_op_stats *op = op_of(report, "allocates");
	assert_true(op->memory_known);
	assert_int_equal(op->allocated_bytes, 2020);
	assert_int_equal(op->freed_bytes, 2000);
	assert_int_equal(op->peak_bytes, 1000);
	assert_true(op_of(report, "inner")->memory_known);
	assert_int_equal(op_of(report, "inner")->allocated_bytes, 0);
	assert_false(op_of(report, "elsewhere")->memory_known);
	sonde_report_free(report);
	temp_clear();

	session = start_session((sonde_config){ .activities = "cpu" });
	inner();
	report = stop_session(session);
	assert_false(op_of(report, "inner")->memory_known);
	sonde_report_free(report);
	temp_clear();
}

static void the_table_can_be_printed(void **state)
{
	sonde_session *session = start_session((sonde_config){ 0 });
	char *text = NULL;
	size_t len;

	(void)state;
	outer();
	sonde_report *report = stop_session(session);
	FILE *out = open_memstream(&text, &len);
	sonde_report_print(report, out, 1);
	fclose(out);
	assert_non_null(strstr(text, "outer"));
	assert_non_null(strstr(text, "epoch.sonde"));
	assert_non_null(strstr(text, "1 more name"));
	free(text);
	sonde_report_free(report);
	temp_clear();
}

static void pausing_a_session_leaves_a_gap(void **state)
{
	sonde_session *session = start_session((sonde_config){ 0 });

	(void)state;
	inner();
	sonde_session_pause(session);
	inner();
	sonde_session_resume(session);
	inner();
	sonde_report *report = stop_session(session);
	assert_int_equal(op_of(report, "inner")->calls, 2);
	sonde_report_free(report);
	temp_clear();
}

static void any_analysis_of_the_session_by_name(void **state)
{
	(void)state;
	sonde_session *session = start_session((sonde_config){ 0 });
	for (int i = 0; i < 5; i++) {
		SONDE_STEP(i);
		outer();
	}
	sonde_report *report = stop_session(session);
	const char *name, *summary;
	sonde_error err = { .message = "" };
	for (size_t i = 0; sonde_analysis(i, &name, &summary); i++) {
		sonde_result *result = NULL;
		if (sonde_report_analyze(report, name, NULL, &result, &err))
			fail_msg("%s: %s", name, err.message);
		sonde_result_free(result);
	}
	sonde_analyze_options one = { .struct_size = sizeof one, .use_steps = true, .first_step = 3, .last_step = 3 };
	sonde_result *result = NULL;
	assert_int_equal(sonde_report_analyze(report, "steps", &one, &result, &err), SONDE_OK);
	assert_int_equal(sonde_table_n_rows(sonde_result_find_table(result, "steps")), 1);
	sonde_result_free(result);
	assert_int_equal(sonde_report_analyze(report, "nonsense", NULL, &result, &err), SONDE_E_USAGE);
	sonde_report_free(report);
}

static void one_session_at_a_time(void **state)
{
	sonde_session *session = start_session((sonde_config){ 0 }), *second = NULL;
	sonde_config config = { .struct_size = sizeof config, .output = temp_path("second.sonde") };
	sonde_error err;

	(void)state;
	assert_int_equal(sonde_session_start(&config, &second, &err), SONDE_E_STATE);
	assert_null(second);
	config.struct_size = 0;
	second = (sonde_session *)&config;
	assert_int_equal(sonde_session_start(&config, &second, &err), SONDE_E_USAGE);
	assert_null(second);
	sonde_report *report = (sonde_report *)&config;
	assert_int_equal(sonde_session_stop(second, &report, &err), SONDE_E_STATE); /* by one who did not look */
	assert_string_equal(err.message, "there is no session to stop");
	assert_null(report);
	assert_int_equal(sonde_session_stop(session, NULL, &err), SONDE_OK); /* nobody wants the report */
	temp_clear();
}

static void the_report_of_any_recording(void **state)
{
	sonde_report *report = NULL;
	sonde_error err;

	(void)state;
	assert_int_equal(sonde_session_stop(start_session((sonde_config){ 0 }), NULL, NULL), SONDE_OK);
	assert_int_equal(sonde_report_open(temp_path("epoch.sonde"), &report, &err), SONDE_OK);
	assert_int_equal(sonde_report_n_ops(report), 0);
	assert_null(sonde_report_op(report, 0));
	sonde_report_print(report, stdout, 0);
	sonde_report_free(report);
	assert_int_equal(sonde_report_open(temp_path("missing.sonde"), &report, &err), SONDE_E_IO);
	sonde_report_free(NULL);
	temp_clear();
}

/* ---- Inside a recording that was started from outside ------------------------------------------------------------ */

/* What the program does when it is run that way; see main(). Returns the exit code. */
/* A child whose first act is a session: a stretch of its part of the recording. */
static int run_child_of_nested(const sonde_config *config)
{
	char path[600];
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		sonde_session *session;
		if (sonde_session_start(config, &session, NULL))
			exit(1);
		inner();
		if (sonde_session_stop(session, NULL, NULL))
			exit(2);
		SONDE_MARK("child");
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return fprintf(stderr, "the child's status is %#x\n", (unsigned)status), 12;
	const char *own = getenv("SONDE_OUTPUT");
	snprintf(path, sizeof path, "%.*s.%d.sonde", (int)(strlen(own) - strlen(".sonde")), own, (int)pid);
	recorded *r = record_read(path);
	bool is_right = strcmp(r->text, "+inner -inner *child") == 0;
	if (!is_right)
		fprintf(stderr, "the child recorded %s\n", r->text);
	record_done(r);
	return is_right ? 0 : 13;
}

static int run_nested(void)
{
	sonde_config config = { .struct_size = sizeof config, .output = "not used" };
	sonde_error err;

	SONDE_MARK("before");
	inner();
	for (uint64_t i = 1; i <= 2; i++) {
		sonde_session *session, *second;
		sonde_report *report;
		if (sonde_session_start(&config, &session, &err))
			return fprintf(stderr, "start: %s\n", err.message), 1;
		if (sonde_session_start(&config, &second, &err) != SONDE_E_STATE)
			return fprintf(stderr, "a second session began\n"), 2;
		for (uint64_t k = 0; k < i; k++)
			inner();
		sonde_session_pause(session); /* ends with the session */
		if (sonde_session_stop(session, &report, &err))
			return fprintf(stderr, "stop: %s\n", err.message), 3;
		const sonde_op_stats *op = op_of(report, "inner");
		if (!op || op->calls != i || sonde_report_n_ops(report) != 1)
			return fprintf(stderr, "%d calls\n", op ? (int)op->calls : -1), 4;
		if (sonde_report_total_ns(report) < op->total_ns)
			return 5;
		sonde_result *result; /* of this stretch alone */
		if (sonde_report_analyze(report, "report", NULL, &result, &err))
			return fprintf(stderr, "analyze: %s\n", err.message), 8;
		sonde_value calls = sonde_table_cell(sonde_result_find_table(result, "names"), 0, 2);
		if ((uint64_t)calls.integer != i)
			return fprintf(stderr, "%d analysed\n", (int)calls.integer), 9;
		sonde_result_free(result);
		sonde_report_free(report);
	}
	if (sonde_stop(&err) != SONDE_E_STATE)
		return 6;
	SONDE_MARK("after");
	sonde_pause();
	SONDE_MARK("paused");
	sonde_session *session; /* records, as it would alone */
	if (sonde_session_start(&config, &session, &err))
		return fprintf(stderr, "start: %s\n", err.message), 10;
	inner();
	if (sonde_session_stop(session, NULL, &err))
		return fprintf(stderr, "stop: %s\n", err.message), 11;
	int failed = run_child_of_nested(&config);
	if (failed)
		return failed;
	return access("not used", F_OK) == 0 ? 7 : 0;
}

static void a_session_is_a_stretch_of_an_automatic_recording(void **state)
{
	const char *path = temp_path("automatic.sonde");
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0) {
		setenv("SONDE_ENABLED", "1", 1);
		setenv("SONDE_OUTPUT", path, 1);
		execl("/proc/self/exe", "test", "nested", (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	recorded *r = record_read(path);
	assert_string_equal(r->text,
			    "*before +inner -inner +inner -inner +inner -inner +inner -inner *after +inner -inner");
	assert_int_equal(r->trace->streams.items[0].info.state, STREAM_CLOSED);
	record_done(r);
	temp_clear();
}

enum { SESSIONS = 200 };
static const char *numbered_path;
static int n_of_another;

static void *run_sessions(void *name)
{
	sonde_config config = { .struct_size = sizeof config, .output = numbered_path };

	for (int i = 0; i < SESSIONS; i++) {
		sonde_session *session = NULL;
		sonde_report *report = NULL;
		while (sonde_session_start(&config, &session, NULL) == SONDE_E_STATE)
			sched_yield(); /* the other one's runs */
		sonde_end(sonde_begin(name));
		if (sonde_session_stop(session, &report, NULL) || sonde_report_n_ops(report) != 1 ||
		    !op_of(report, name))
			__atomic_fetch_add(&n_of_another, 1, __ATOMIC_RELAXED);
		sonde_report_free(report);
	}
	return NULL;
}

static void threads_that_take_turns_get_their_own_reports(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	pthread_t threads[3];

	(void)state;
	numbered_path = temp_path("%n.sonde");
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_sessions, (void *)names[i]), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(n_of_another, 0);
	temp_clear();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_each_epoch),
		cmocka_unit_test(hotspots_come_first),
		cmocka_unit_test(memory_has_its_peak_and_its_curve),
		cmocka_unit_test(operations_have_their_memory),
		cmocka_unit_test(the_table_can_be_printed),
		cmocka_unit_test(pausing_a_session_leaves_a_gap),
		cmocka_unit_test(any_analysis_of_the_session_by_name),
		cmocka_unit_test(one_session_at_a_time),
		cmocka_unit_test(the_report_of_any_recording),
		cmocka_unit_test(threads_that_take_turns_get_their_own_reports),
		cmocka_unit_test(a_session_is_a_stretch_of_an_automatic_recording),
	};

	if (argc == 2 && strcmp(argv[1], "nested") == 0)
		return run_nested();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
