/*
 * The prompt of `sonde query FILE`: a statement may take several lines and ends with a semicolon.
 *
 * SIGINT is caught: while a statement runs it stops that, at the prompt it throws away what was typed. It is let in
 * only at these two places, so that none is lost in between: where a statement runs, and in ppoll(). A terminal hands
 * over whole lines, so the read behind that does not wait.
 */
#define _GNU_SOURCE
#include "cli/query_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/format_number.h"

static sonde_query *volatile running; /* for the handler; there is one prompt */

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	if (running)
		sonde_query_interrupt(running);
}

typedef struct prompt {
	char *text; /* of the statement so far */
	size_t len, room;
	char *line;
	size_t line_room;
	sigset_t open, closed; /* with SIGINT let in, and kept out */
} prompt;

static bool add_line(prompt *p, size_t len)
{
	if (p->len + len + 1 > p->room) {
		size_t room = (p->len + len + 1) * 2;
		char *grown = realloc(p->text, room);
		if (!grown)
			return false;
		p->text = grown;
		p->room = room;
	}
	memcpy(p->text + p->len, p->line, len);
	p->len += len;
	p->text[p->len] = '\0';
	return true;
}

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\0';
}

static void run(query_run *r, const prompt *p)
{
	const char *text = p->text;
	char time[NUMBER_TEXT], count[NUMBER_TEXT];
	int64_t start_ns = monotonic_ns();

	r->n_rows = 0;
	r->any = false;
	sigprocmask(SIG_SETMASK, &p->open, NULL);
	int code = query_run_text(r, text);
	fflush(r->to->stream);
	sigprocmask(SIG_SETMASK, &p->closed, NULL);
	if (code == EXIT_OK && !r->is_quit && text[strspn(text, " \t\r\n")] != '.')
		fprintf(stderr, "%s row%s, %s\n", format_count(count, r->n_rows), r->n_rows == 1 ? "" : "s",
			format_ns(time, monotonic_ns() - start_ns));
}

/* Reads one line; false at the end of input. *ret_stopped: Ctrl-C instead of a line. */
static bool read_line(prompt *p, size_t *ret_len, bool *ret_stopped)
{
	fputs(p->len ? "  ...> " : "sonde> ", stderr);
	fflush(stderr);
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	*ret_stopped = ppoll(&in, 1, NULL, &p->open) < 0 && errno == EINTR;
	if (*ret_stopped)
		return true;
	ssize_t n = getline(&p->line, &p->line_room, stdin);
	*ret_len = n < 0 ? 0 : (size_t)n;
	return n >= 0;
}

static int read_all(query_run *r, prompt *p)
{
	bool is_stopped;
	size_t len;

	while (!r->is_quit && read_line(p, &len, &is_stopped)) {
		if (is_stopped) {
			fputc('\n', stderr);
			p->len = 0;
			continue;
		}
		if (!add_line(p, len)) {
			say("query: out of memory");
			return EXIT_ENVIRONMENT;
		}
		bool is_dot = p->text[strspn(p->text, " \t")] == '.';
		if (!is_dot && !sonde_query_is_complete(p->text) && !is_blank(p->text))
			continue;
		if (!is_blank(p->text))
			run(r, p);
		p->len = 0;
	}
	if (!r->is_quit)
		fputc('\n', stderr);
	return EXIT_OK;
}

int query_prompt(query_run *r)
{
	struct sigaction old, new = { .sa_handler = on_interrupt };
	prompt p = { 0 };

	fputs("Enter SQL. .tables lists the tables, .help the commands; Ctrl-D quits.\n", stderr);
	running = r->query;
	sigprocmask(SIG_BLOCK, NULL, &p.closed);
	sigaddset(&p.closed, SIGINT);
	sigprocmask(SIG_SETMASK, &p.closed, &p.open);
	sigdelset(&p.open, SIGINT);
	sigaction(SIGINT, &new, &old);
	int code = read_all(r, &p);
	sigaction(SIGINT, &old, NULL);
	sigprocmask(SIG_SETMASK, &p.open, NULL);
	running = NULL;
	free(p.text);
	free(p.line);
	return code;
}
