/*
 * Records flat out, and also in the handler of a signal.
 *
 *   prog_signals timer MS    a timer sends SIGPROF every 100 us for MS milliseconds
 *   prog_signals step N      N rounds with a SIGTRAP after every instruction (x86-64 only): in the end the handler has
 *                            recorded between any two of them
 *
 * Prints how many rounds were made, how often the handler recorded, and how many events were emitted in all.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <sonde/record.h>

enum { ROUND_EVENTS = 7, HANDLER_EVENTS = 6 };

static unsigned long n_rounds, n_handled, n_fillers;
static volatile sig_atomic_t stepping;

/* The same places in the source for all: names are known after the first time. */
static void handler_events(void)
{
	SONDE_SCOPE("handler");
	SONDE_SCOPE_ARGS("handler args", SONDE_I64("n", (int64_t)n_handled));
	SONDE_MARK("handler mark");
	SONDE_COUNTER("handler counter", n_handled);
	n_handled++;
}

static void round_events(void)
{
	SONDE_SCOPE("round");
	{
		SONDE_SCOPE_ARGS("round args", SONDE_I64("n", (int64_t)n_rounds), SONDE_STR("text", "some text"));
		SONDE_COUNTER("round counter", n_rounds);
	}
	SONDE_SCOPE("round inner");
	n_rounds++;
}

/* ---- A timer ----------------------------------------------------------------------------------------------------- */

static void on_timer(int number)
{
	int saved = errno;

	(void)number;
	handler_events();
	if (errno != saved)
		abort();
}

static void run_with_timer(long ms)
{
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
	struct itimerspec every = { { 0, 100000 }, { 0, 100000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct timespec now;
	timer_t timer;

	sigaction(SIGPROF, &action, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	long end = now.tv_sec * 1000 + now.tv_nsec / 1000000 + ms;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		exit(2);
	timer_settime(timer, 0, &every, NULL);
	do {
		for (int i = 0; i < 1000; i++)
			round_events();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < end);
	timer_settime(timer, 0, &never, NULL);
	timer_delete(timer);
	usleep(1000); /* ThreadSanitizer keeps signals back until a call that may block: before we count */
}

/* ---- Step by step ------------------------------------------------------------------------------------------------ */

#if defined(__x86_64__)
enum { TRAP_FLAG = 0x100 };

/* The handler records at every so many-th instruction only, another number in each round: one that did so at each would
   let nothing else come to an end. */
static void on_trap(int number, siginfo_t *info, void *context)
{
	static unsigned long n_traps;
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	(void)info;
	if (number == SIGTRAP && n_traps++ % (12 + n_rounds % 29) == 0)
		handler_events();
	/* The flag that makes the CPU trap after each instruction, in what was interrupted. */
	*flags = stepping ? *flags | TRAP_FLAG : *flags & ~(greg_t)TRAP_FLAG;
}

/* Up to a few words before the end of the thread's memory, if it has any: what happens there is worth a look. */
static void fill(ptrdiff_t leave)
{
	for (; (int16_t)sonde_room_ > leave; n_fillers++)
		SONDE_MARK("filler");
}

static void *step_once(void *leave)
{
	fill((ptrdiff_t)leave);
	stepping = 1;
	raise(SIGUSR1);
	round_events();
	stepping = 0;
	return NULL;
}

static void run_step_by_step(long n)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	pthread_t thread;

	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (long i = 0; i < n; i++) {
		if (i % 2) { /* a new thread has no memory for events yet */
			pthread_create(&thread, NULL, step_once, NULL);
			pthread_join(thread, NULL);
		} else {
			step_once((void *)(ptrdiff_t)(i / 2 % 120));
		}
	}
}
#else
static void run_step_by_step(long n)
{
	(void)n;
	printf("not on this machine\n");
	exit(77);
}
#endif

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	round_events();
	handler_events();
	if (strcmp(argv[1], "timer") == 0)
		run_with_timer(strtol(argv[2], NULL, 10));
	else
		run_step_by_step(strtol(argv[2], NULL, 10));
	unsigned long n_events = n_rounds * ROUND_EVENTS + n_handled * HANDLER_EVENTS + n_fillers;
	printf("%lu %lu %lu\n", n_rounds, n_handled, n_events);
	return 3;
}
