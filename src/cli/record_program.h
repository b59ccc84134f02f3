/*
 * Runs the program that is recorded.
 *
 *   program_find()     before anything is created: is there such a program?
 *   program_start()    fork and exec, with the signals and the mask that sonde was started with
 *   program_wait()     sleeps until it ends or the time is up, passing SIGTERM and SIGHUP on
 *   program_peak_rss() and program_reap(): its memory, its wait status
 *   die_like()         ends sonde as the program ended
 *
 * Nothing ties the two together but being parent and child: no pipe stays open, no signal follows the death of sonde.
 * The terminal sends SIGINT and SIGQUIT to both; sonde ignores them and lets the program decide.
 */
#ifndef SONDE_CLI_RECORD_PROGRAM_H
#define SONDE_CLI_RECORD_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROGRAM_N_SIGNALS = 7 };

typedef struct program {
	pid_t pid;
	sigset_t old_mask;
	sigset_t
		awaited; /* SIGCHLD, SIGTERM, SIGHUP: blocked and waited for, so that there is no handler and no race */
	struct sigaction old_actions[PROGRAM_N_SIGNALS];
} program;

typedef struct program_variable {
	const char *name, *value; /* value NULL: left as it is */
} program_variable;

/* 0 or an errno: ENOENT, EACCES. Looks where execvp would. */
int program_find(const char *name);

/* Returns 0 once the program runs, or the errno of what failed. variables end with a NULL name. */
int program_start(program *p, char *const *argv, const program_variable *variables);

/* True when the program has ended; it remains a zombie, whose /proc entry still tells its times. */
bool program_wait(program *p, int64_t timeout_ns);

/* Of the zombie and of all that it waited for, 0: unknown. */
uint64_t program_peak_rss(const program *p);

int program_reap(program *p);

/* Whoever started sonde had SIGINT ignored, as for a job in the background. */
bool program_ignored_interrupt(const program *p);

/* Exits with the program's code or dies of its signal, without a core file of our own. */
_Noreturn void die_like(int wait_status);

#endif
