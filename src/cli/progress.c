/* See progress.h. */
#include "cli/progress.h"

#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/format_number.h"
#include "base/screen_text.h"

#define SILENT_NS INT64_C(500000000)
#define BETWEEN_NS INT64_C(100000000)
static const char clear_line[] = "\r\33[K";

/* Async-signal-safe: clears the line and dies of the signal as if nobody had caught it. */
static void clear_and_die(int signal_number)
{
	ssize_t n = write(STDERR_FILENO, clear_line, sizeof clear_line - 1);

	(void)n;
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void on_interrupt(void (*from)(int), void (*to)(int))
{
	struct sigaction old, new = { .sa_handler = to };

	sigaction(SIGINT, NULL, &old);
	if (old.sa_handler == from)
		sigaction(SIGINT, &new, NULL);
}

void progress_begin(progress *p, const char *doing, char *const *files, size_t n_files)
{
	const char *slash = n_files == 1 ? strrchr(files[0], '/') : NULL;
	char n[NUMBER_TEXT];

	*p = (progress){ .is_terminal = isatty(STDERR_FILENO), .start_ns = monotonic_ns() };
	p->is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (n_files != 1)
		snprintf(p->what, sizeof p->what, "%s %s files", doing, format_count(n, n_files));
	else if (strcmp(files[0], "-") == 0)
		snprintf(p->what, sizeof p->what, "%s standard input", doing);
	else
		snprintf(p->what, sizeof p->what, "%s %.200s", doing, slash && slash[1] ? slash + 1 : files[0]);
}

/* Whole seconds or minutes: the next moment it is another number. */
static const char *format_left(char *ret_text, double seconds)
{
	if (seconds < 99)
		snprintf(ret_text, NUMBER_TEXT, "%d s", (int)seconds + 1);
	else
		snprintf(ret_text, NUMBER_TEXT, "%.0f min", seconds < 1e7 ? seconds / 60 : 1e7 / 60);
	return ret_text;
}

static unsigned terminal_columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Not at once, and not too often. */
static bool is_due(progress *p)
{
	int64_t now = p->is_terminal ? monotonic_ns() : 0;

	if (!p->is_terminal || now - p->start_ns < SILENT_NS || now - p->shown_ns < BETWEEN_NS)
		return false;
	p->shown_ns = now;
	return true;
}

/* What is done, cut where the terminal is too narrow for both, and how far. */
static void show(progress *p, const char *how_far)
{
	unsigned columns = terminal_columns() - 1, taken = 2 + screen_columns(how_far, true);

	if (!p->is_shown)
		on_interrupt(SIG_DFL, clear_and_die);
	p->is_shown = true;
	fputs(clear_line, stderr);
	if (columns > taken + 12) {
		screen_put_cut(stderr, p->what, columns - taken, p->is_utf8);
		fputs("  ", stderr);
	}
	if (columns > taken)
		fputs(how_far, stderr);
	fflush(stderr);
}

bool progress_update(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
	char done[NUMBER_TEXT], total[NUMBER_TEXT], rate[NUMBER_TEXT], left[NUMBER_TEXT], text[5 * NUMBER_TEXT];
	progress *p = context;

	if (!is_due(p))
		return true;
	double per_second = (double)done_bytes / ((double)(p->shown_ns - p->start_ns) / 1e9);
	format_bytes(done, done_bytes);
	format_bytes(total, total_bytes);
	format_bytes(rate, (uint64_t)per_second);
	if (!total_bytes)
		snprintf(text, sizeof text, "%s  %s/s", done, rate);
	else if (done_bytes >= total_bytes)
		snprintf(text, sizeof text, "%s  making the index", total);
	else if (per_second < 1)
		snprintf(text, sizeof text, "%s of %s", done, total);
	else
		snprintf(text, sizeof text, "%s of %s  %s/s  %s left", done, total, rate,
			 format_left(left, (double)(total_bytes - done_bytes) / per_second));
	show(p, text);
	return true;
}

void progress_end(progress *p)
{
	if (!p->is_shown)
		return;
	fputs(clear_line, stderr);
	fflush(stderr);
	on_interrupt(clear_and_die, SIG_DFL);
	p->is_shown = false;
}
