/* What is seen of a process from outside. */
#include <sys/wait.h>
#include <sonde/recorder.h>
#include "unit/import/recording/make_file.h"

static void a_program_and_its_child_are_sampled(void **state)
{
	static char *const command[] = { "test", NULL };
	sonde_recorder *recorder = NULL;
	sonde_sampler *sampler = NULL;
	recording *t = NULL;
	sonde_error err = { .message = "" };
	bool found[2] = { false, false };
	int pipes[2];
	char path[512];

	(void)state;
	snprintf(path, sizeof path, "%s", temp_path("sampled.sonde"));
	assert_int_equal(pipe(pipes), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char end;
		close(pipes[1]);
		if (fork() == 0)
			_exit(read(pipes[0], &end, 1) != 0); /* both live until the other end is closed */
		_exit(read(pipes[0], &end, 1) != 0);
	}
	close(pipes[0]);
	if (sonde_recorder_open(path, 1, command, &recorder, &err) ||
	    sonde_sampler_new(recorder, (int32_t)pid, &sampler, &err))
		fail_msg("%s", err.message);
	for (int i = 0; i < 50; i++) { /* all of /proc is searched for one hundredth of the time */
		usleep(10000);
		sonde_sampler_take(sampler, 0);
	}
	close(pipes[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	sonde_sampler_free(sampler);
	sonde_sampler_free(NULL);
	assert_int_equal(sonde_recorder_close(recorder, 0, NULL, &err), SONDE_OK);
	assert_int_equal(recording_open_path(path, &t, &err), SONDE_OK);
	for (size_t i = 0; i < t->samples.n; i++) {
		found[t->samples.items[i].pid != pid] = true;
		assert_true(t->samples.items[i].n_threads == 1);
		assert_true(t->samples.items[i].rss_bytes > 0);
	}
	assert_true(found[0]);
	assert_true(found[1]);
	recording_free(t);
	temp_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_and_its_child_are_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
