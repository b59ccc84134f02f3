/* Telling processes apart, and whether they are gone. */
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/proc.h"

/* A child that waits to be killed. */
static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	assert_true(pid > 0);
	return pid;
}

static void a_process_has_one_start_time_for_good(void **state)
{
	uint64_t start = proc_start_time(getpid());

	(void)state;
	assert_true(start > 0);
	assert_int_equal(proc_start_time(getpid()), start);
	assert_true(proc_start_time(1) <= start);
}

static void the_name_of_a_process_does_not_confuse(void **state)
{
	static const char *const names[] = { "a) S 1 2 3", "((((", "))) )", " ", "x y" };
	uint64_t start = proc_start_time(getpid());
	char before[16];

	(void)state;
	prctl(PR_GET_NAME, before);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		prctl(PR_SET_NAME, names[i]);
		assert_int_equal(proc_start_time(getpid()), start);
		assert_false(proc_is_gone(getpid(), start));
	}
	prctl(PR_SET_NAME, before);
}

static void a_running_process_is_not_gone(void **state)
{
	pid_t pid = sleeper();

	(void)state;
	assert_false(proc_is_gone(pid, proc_start_time(pid)));
	assert_false(proc_is_gone(pid, 0));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_process_that_was_waited_for_is_gone(void **state)
{
	pid_t pid = sleeper();
	uint64_t start = proc_start_time(pid);

	(void)state;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(proc_is_gone(pid, start));
	assert_int_equal(proc_start_time(pid), 0);
}

/* It will never write again, whenever its parent gets round to it. */
static void a_zombie_is_gone(void **state)
{
	pid_t pid = sleeper();
	uint64_t start = proc_start_time(pid);
	siginfo_t info;

	(void)state;
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	assert_true(proc_is_gone(pid, start));
	waitpid(pid, NULL, 0);
}

static void another_process_with_the_same_pid_is_not_the_one_meant(void **state)
{
	(void)state;
	assert_true(proc_is_gone(getpid(), proc_start_time(getpid()) + 1));
}

/* A recording from a stranger may claim any pid; 0 and -1 mean groups of processes to kill(). */
static void odd_pids_are_not_certainly_gone_or_harmlessly_so(void **state)
{
	static const int32_t pids[] = { 0, -1, INT32_MIN, INT32_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof pids / sizeof pids[0]; i++) {
		proc_is_gone(pids[i], 1);
		assert_int_equal(proc_start_time(pids[i]), 0);
	}
	assert_true(proc_is_gone(INT32_MAX, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_has_one_start_time_for_good),
		cmocka_unit_test(the_name_of_a_process_does_not_confuse),
		cmocka_unit_test(a_running_process_is_not_gone),
		cmocka_unit_test(a_process_that_was_waited_for_is_gone),
		cmocka_unit_test(a_zombie_is_gone),
		cmocka_unit_test(another_process_with_the_same_pid_is_not_the_one_meant),
		cmocka_unit_test(odd_pids_are_not_certainly_gone_or_harmlessly_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
