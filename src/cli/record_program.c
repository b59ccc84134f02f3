/* See record_program.h. */
#define _GNU_SOURCE
#include "cli/record_program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? EISDIR : EACCES;
	return access(path, X_OK) == 0 ? 0 : errno;
}

int program_find(const char *name)
{
	const char *path = getenv("PATH");
	int worst = ENOENT;

	if (strchr(name, '/'))
		return check_executable(name);
	for (const char *at = path ? path : "/bin:/usr/bin"; *name;) {
		size_t len = strcspn(at, ":");
		char candidate[PATH_MAX];

		int n = snprintf(candidate, sizeof candidate, "%.*s%s%s", (int)len, at, len ? "/" : "", name);
		int error = n < (int)sizeof candidate ? check_executable(candidate) : ENOENT;
		if (error == 0)
			return 0;
		if (error == EACCES)
			worst = EACCES;
		at += len;
		if (!*at++)
			break;
	}
	return worst;
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

/* Ignored while the program runs: what the terminal sends to both, writing to a stderr that is gone, and beyond the
   limit of a file's size. */
static const int ignored[] = { SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ };
static const int awaited[] = { SIGCHLD, SIGTERM, SIGHUP };
enum { N_IGNORED = sizeof ignored / sizeof ignored[0], N_AWAITED = sizeof awaited / sizeof awaited[0] };
_Static_assert(N_IGNORED + N_AWAITED == PROGRAM_N_SIGNALS, "program has room for all");

static void take_signals(program *p)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, normal = { .sa_handler = SIG_DFL };

	sigemptyset(&p->awaited);
	for (size_t i = 0; i < N_AWAITED; i++)
		sigaddset(&p->awaited, awaited[i]);
	sigprocmask(SIG_BLOCK, &p->awaited, &p->old_mask);
	for (size_t i = 0; i < N_IGNORED; i++)
		sigaction(ignored[i], &ignore, &p->old_actions[i]);
	for (size_t i = 0; i < N_AWAITED; i++)
		sigaction(awaited[i], &normal, &p->old_actions[N_IGNORED + i]);
}

static void restore_signals(const program *p)
{
	for (size_t i = 0; i < N_IGNORED; i++)
		sigaction(ignored[i], &p->old_actions[i], NULL);
	for (size_t i = 0; i < N_AWAITED; i++)
		sigaction(awaited[i], &p->old_actions[N_IGNORED + i], NULL);
	sigprocmask(SIG_SETMASK, &p->old_mask, NULL);
}

/* In the child. Returns only if exec fails; the errno goes through the pipe, which exec would have closed. */
static _Noreturn void become_program(const program *p, char *const *argv, const program_variable *variables, int fd)
{
	int error = 0;

	for (; variables->name && !error; variables++)
		if (variables->value && setenv(variables->name, variables->value, 1) != 0)
			error = errno;
	if (!error) {
		restore_signals(p);
		execvp(argv[0], argv);
		error = errno;
	}
	while (write(fd, &error, sizeof error) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* What the child says about its exec: nothing when it worked. */
static int read_exec_error(int fd)
{
	int error = 0;
	ssize_t n;

	do
		n = read(fd, &error, sizeof error);
	while (n < 0 && errno == EINTR);
	return n == sizeof error ? error : 0;
}

int program_start(program *p, char *const *argv, const program_variable *variables)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return errno;
	take_signals(p);
	p->pid = fork();
	if (p->pid == 0)
		become_program(p, argv, variables, fds[1]);
	int error = p->pid < 0 ? errno : 0;
	close(fds[1]);
	if (!error)
		error = read_exec_error(fds[0]);
	close(fds[0]);
	if (error) {
		if (p->pid > 0)
			program_reap(p);
		restore_signals(p);
	}
	return error;
}

/* ---- Ending ------------------------------------------------------------------------------------------------------ */

static bool has_ended(const program *p)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == p->pid;
}

bool program_wait(program *p, int64_t timeout_ns)
{
	struct timespec timeout = { timeout_ns / 1000000000, timeout_ns % 1000000000 };

	if (has_ended(p))
		return true;
	int number = sigtimedwait(&p->awaited, NULL, &timeout);
	if (number == SIGTERM || number == SIGHUP)
		kill(p->pid, number);
	return has_ended(p);
}

/* Until exec the child had our memory, and the kernel counts that as its own. */
uint64_t program_peak_rss(const program *p)
{
	struct rusage of_child = { 0 }, own = { 0 };
	siginfo_t info;

	if (syscall(SYS_waitid, P_PID, p->pid, &info, WEXITED | WNOWAIT, &of_child) != 0 ||
	    getrusage(RUSAGE_SELF, &own) != 0 || of_child.ru_maxrss <= own.ru_maxrss)
		return 0;
	return (uint64_t)of_child.ru_maxrss << 10;
}

int program_reap(program *p)
{
	int status = 0;

	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

bool program_ignored_interrupt(const program *p)
{
	return p->old_actions[0].sa_handler == SIG_IGN;
}

_Noreturn void die_like(int wait_status)
{
	struct rlimit no_core = { 0, 0 };
	sigset_t one;

	if (WIFEXITED(wait_status))
		exit(WEXITSTATUS(wait_status));
	fflush(NULL);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(wait_status), SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, WTERMSIG(wait_status));
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(WTERMSIG(wait_status));
	exit(128 + WTERMSIG(wait_status));
}
