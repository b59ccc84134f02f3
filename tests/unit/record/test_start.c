/* Starting, stopping, and the file that comes of it. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/file.h>
#include "unit/record/recorded.h"

static void one_recording_at_a_time(void **state)
{
	sonde_config config = { .struct_size = sizeof config, .output = temp_path("run.sonde") };
	sonde_error err;
	char expected[700];

	(void)state;
	assert_int_equal(sonde_stop(&err), SONDE_E_STATE);
	assert_string_equal(err.message, "no recording is running");
	assert_int_equal(sonde_start(&config, &err), SONDE_OK);
	assert_int_equal(sonde_start(&config, &err), SONDE_E_STATE);
	snprintf(expected, sizeof expected, "a recording is already running, into %s", sonde_output());
	assert_string_equal(err.message, expected);
	SONDE_MARK("a");
	assert_recorded("*a");
	assert_int_equal(sonde_stop(&err), SONDE_E_STATE);
	temp_clear();
}

static void fifty_recordings_hold_their_own_events(void **state)
{
	char expected[64];

	(void)state;
	for (int i = 0; i < 50; i++) {
		record_start((sonde_config){ .memory = true });
		sonde_counter("session", i);
		sonde_alloc(SONDE_CPU, &i, (size_t)i, 0);
		snprintf(expected, sizeof expected, "session=%d alloc0:%d=%d", i, i, i);
		assert_recorded(expected);
	}
	temp_clear();
}

static void what_ends_between_two_recordings_is_in_neither(void **state)
{
	enum { N = 20000 }; /* more than a chunk has room for */
	static sonde_scope scopes[N];

	(void)state;
	record_start((sonde_config){ 0 });
	for (int i = 0; i < N; i++)
		scopes[i] = sonde_begin("deep");
	recorded *r = record_stop();
	assert_int_equal(r->counts.n_open, N);
	record_done(r);
	for (int i = 0; i < N; i++)
		sonde_end(scopes[i]);
	record_start((sonde_config){ 0 });
	SONDE_MARK("a");
	r = record_stop();
	assert_string_equal(r->text, "*a");
	assert_int_equal(r->counts.n_unmatched_ends, 0);
	assert_int_equal(r->trace->streams.items[0].info.n_events, 1);
	record_done(r);
	temp_clear();
}

static void the_name_of_the_file_may_have_pid_and_number(void **state)
{
	char pattern[300], expected[400];

	(void)state;
	snprintf(pattern, sizeof pattern, "%s", temp_path("%p-%n-100%%-%x.sonde"));
	record_start((sonde_config){ .output = pattern });
	unsigned number = 0;
	const char *name = strrchr(sonde_output(), '/') + 1;
	assert_int_equal(sscanf(name, "%*d-%u-", &number), 1);
	snprintf(expected, sizeof expected, "%d-%u-100%%-%%x.sonde", (int)getpid(), number);
	assert_string_equal(name, expected);
	assert_recorded("");
	record_start((sonde_config){ .output = pattern });
	snprintf(expected, sizeof expected, "%d-%u-100%%-%%x.sonde", (int)getpid(), number + 1);
	assert_string_equal(strrchr(sonde_output(), '/') + 1, expected);
	assert_recorded("");
	temp_clear();
}

static void without_a_name_the_program_gives_it(void **state)
{
	char expected[600], before[600];
	sonde_config config = { .struct_size = sizeof config };

	(void)state;
	temp_path("");
	assert_non_null(getcwd(before, sizeof before));
	assert_int_equal(chdir(temp_dir), 0);
	assert_int_equal(sonde_start(&config, NULL), SONDE_OK);
	assert_int_equal(chdir(before), 0); /* the program may change its directory while it runs */
	snprintf(expected, sizeof expected, "%s/%s.%d.sonde", temp_dir, program_invocation_short_name, (int)getpid());
	assert_string_equal(sonde_output(), expected);
	SONDE_MARK("a");
	assert_recorded("*a");
	temp_clear();
}

static void the_file_is_private(void **state)
{
	struct stat st;

	(void)state;
	mode_t before = umask(0);
	record_start((sonde_config){ 0 });
	umask(before);
	assert_int_equal(stat(sonde_output(), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_recorded("");
	temp_clear();
}

static void a_recording_that_exists_is_never_replaced(void **state)
{
	char pid[32], expected[3][600];

	(void)state;
	snprintf(pid, sizeof pid, "run.%d.sonde", (int)getpid());
	for (int i = 0; i < 3; i++) {
		record_start((sonde_config){ 0 });
		snprintf(expected[i], sizeof expected[i], "%s", sonde_output());
		sonde_counter("session", i);
		assert_int_equal(sonde_stop(NULL), SONDE_OK);
	}
	assert_string_equal(expected[0], temp_path("run.sonde"));
	assert_string_equal(expected[1], temp_path(pid));
	char *dash = strrchr(expected[2], '-'); /* run.PID-N.sonde, N the number of the recording in the process */
	assert_non_null(dash);
	assert_int_equal(strncmp(expected[2], expected[1], (size_t)(dash - expected[2])), 0);
	for (int i = 0; i < 3; i++) {
		recording *t = NULL;
		assert_int_equal(recording_open_path(expected[i], &t, NULL), SONDE_OK);
		assert_int_equal(t->diagnostics.n_kept, 1);
		recording_free(t);
	}
	temp_clear();
}

static void an_empty_file_is_used(void **state)
{
	(void)state;
	temp_write(temp_path("run.sonde"), "", 0); /* made by mktemp, say */
	record_start((sonde_config){ 0 });
	assert_string_equal(sonde_output(), temp_path("run.sonde"));
	SONDE_MARK("a");
	assert_recorded("*a");
	temp_clear();
}

/* The other process holds the lock: it is between making the file and its first block. */
static void an_empty_file_that_is_being_begun_is_left_alone(void **state)
{
	const char *path = temp_path("run.sonde");

	(void)state;
	temp_write(path, "", 0);
	int fd = open(path, O_RDWR);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	record_start((sonde_config){ 0 });
	assert_string_not_equal(sonde_output(), path);
	SONDE_MARK("a");
	assert_recorded("*a");
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(st.st_nlink, 1);
	close(fd);
	temp_clear();
}

static void anything_else_is_left_alone(void **state)
{
	sonde_config config = { .struct_size = sizeof config };
	char path[512], expected[700];
	sonde_error err;
	size_t len;

	(void)state;
	snprintf(path, sizeof path, "%s", temp_path("thesis.tex"));
	config.output = path;
	temp_write(path, "my thesis", 9);
	assert_int_equal(sonde_start(&config, &err), SONDE_E_IO);
	snprintf(expected, sizeof expected, "%s exists and is not a recording; not overwritten", path);
	assert_string_equal(err.message, expected);
	char *text = (char *)temp_read(path, &len);
	assert_string_equal(text, "my thesis");
	free(text);

	unlink(path);
	assert_int_equal(symlink(temp_path("elsewhere"), path), 0);
	assert_int_equal(sonde_start(&config, &err), SONDE_E_IO);
	assert_false(temp_exists(temp_path("elsewhere")));

	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(sonde_start(&config, &err), SONDE_E_IO);

	config.output = "/nowhere/at/all.sonde";
	assert_int_equal(sonde_start(&config, &err), SONDE_E_IO);
	assert_string_equal(err.message, "cannot write /nowhere/at/all.sonde: No such file or directory");
	assert_int_equal(sonde_stop(&err), SONDE_E_STATE);

	record_start((sonde_config){ 0 }); /* and then it works */
	SONDE_MARK("a");
	assert_recorded("*a");
	temp_clear();
}

static void a_recording_can_be_read_while_it_runs(void **state)
{
	(void)state;
	record_start((sonde_config){ 0 });
	SONDE_MARK("a");
	recorded *r = record_read(sonde_output());
	assert_string_equal(r->text, "*a");
	assert_true(r->trace->streams.items[0].live);
	record_done(r);
	SONDE_MARK("b");
	usleep(600000); /* by now the writer has flushed it */
	r = record_read(sonde_output());
	assert_string_equal(r->text, "*a *b");
	record_done(r);
	assert_recorded("*a *b");
	temp_clear();
}

static void what_is_known_of_the_process_is_in_the_file(void **state)
{
	(void)state;
	record_start((sonde_config){ .buffer = 1 << 20, .full = "drop" });
	SONDE_MARK("a");
	recorded *r = record_stop();
	const stream_block *info = &r->trace->streams.items[0].info;
	char host[64] = "";
	gethostname(host, sizeof host - 1);
	assert_int_equal(info->state, STREAM_CLOSED);
	assert_int_equal(info->pid, getpid());
	assert_string_equal(info->program, program_invocation_short_name);
	assert_string_equal(info->host, host);
	assert_string_equal(info->writer, SONDE_VERSION);
	assert_string_equal(info->ring_path, ""); /* nothing to look for */
	assert_int_equal(info->n_events, 1);
	assert_int_equal(info->full, FULL_DROP);
	assert_int_equal(info->io_errno, 0);
	assert_true(info->end_ns > info->start_ns);
	record_done(r);
	temp_clear();
}

static void pause_at_once(void)
{
	sonde_pause();
	SONDE_MARK("paused");
	sonde_resume();
	SONDE_MARK("resumed");
}

static void resume_at_once(void)
{
	SONDE_MARK("still paused");
	sonde_resume();
	SONDE_MARK("resumed");
}

static sonde_scope left_in_child;

static void leave_a_scope_of_the_parent(void)
{
	sonde_end(left_in_child);
	SONDE_MARK("still paused");
}

static void a_child_pauses_and_resumes_from_its_first_moment(void **state)
{
	recorded *r;

	(void)state;
	record_start((sonde_config){ 0 });
	r = record_in_child(pause_at_once);
	assert_string_equal(r->text, "*resumed");
	record_done(r);
	left_in_child = sonde_begin("a");
	sonde_pause();
	r = record_in_child(resume_at_once);
	assert_string_equal(r->text, "*resumed");
	record_done(r);
	r = record_in_child(leave_a_scope_of_the_parent);
	assert_string_equal(r->text, "");
	record_done(r);
	sonde_resume();
	sonde_end(left_in_child);
	assert_recorded("+a -a");
	temp_clear();
}

static int stop_pausing;

static void *pause_and_resume(void *unused)
{
	while (!__atomic_load_n(&stop_pausing, __ATOMIC_RELAXED)) {
		sonde_pause();
		sonde_resume();
	}
	return unused;
}

static void pausing_threads_leave_it_as_the_last_one_says(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		bool stop_first = i % 2;
		pthread_t threads[2];
		__atomic_store_n(&stop_pausing, 0, __ATOMIC_RELAXED);
		record_start((sonde_config){ 0 });
		for (int k = 0; k < 2; k++)
			assert_int_equal(pthread_create(&threads[k], NULL, pause_and_resume, NULL), 0);
		usleep(200);
		if (stop_first)
			assert_int_equal(sonde_stop(NULL), SONDE_OK);
		__atomic_store_n(&stop_pausing, 1, __ATOMIC_RELAXED);
		for (int k = 0; k < 2; k++)
			pthread_join(threads[k], NULL);
		assert_int_equal(sonde_active_ != 0, !stop_first);
		if (!stop_first)
			assert_int_equal(sonde_stop(NULL), SONDE_OK);
	}
	temp_clear();
}

static int stop_starting;

static void *start_in_vain(void *unused)
{
	sonde_config config = { .struct_size = 0 };

	while (!__atomic_load_n(&stop_starting, __ATOMIC_RELAXED))
		sonde_start(&config, NULL);
	return unused;
}

static void a_child_starts_though_another_thread_was_starting_at_the_fork(void **state)
{
	sonde_config config = { .struct_size = 0 };
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, start_in_vain, NULL), 0);
	for (int i = 0; i < 20; i++) {
		int status = 0;
		usleep(1000);
		pid_t pid = fork();
		if (pid == 0) {
			alarm(10);
			_exit(sonde_start(&config, NULL) == SONDE_E_USAGE ? 0 : 1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	__atomic_store_n(&stop_starting, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_recording_at_a_time),
		cmocka_unit_test(fifty_recordings_hold_their_own_events),
		cmocka_unit_test(what_ends_between_two_recordings_is_in_neither),
		cmocka_unit_test(the_name_of_the_file_may_have_pid_and_number),
		cmocka_unit_test(without_a_name_the_program_gives_it),
		cmocka_unit_test(the_file_is_private),
		cmocka_unit_test(a_recording_that_exists_is_never_replaced),
		cmocka_unit_test(an_empty_file_is_used),
		cmocka_unit_test(an_empty_file_that_is_being_begun_is_left_alone),
		cmocka_unit_test(anything_else_is_left_alone),
		cmocka_unit_test(a_recording_can_be_read_while_it_runs),
		cmocka_unit_test(what_is_known_of_the_process_is_in_the_file),
		cmocka_unit_test(a_child_pauses_and_resumes_from_its_first_moment),
		cmocka_unit_test(pausing_threads_leave_it_as_the_last_one_says),
		cmocka_unit_test(a_child_starts_though_another_thread_was_starting_at_the_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
