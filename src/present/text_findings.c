/*
 * Findings as text:
 *
 *   1  high    data loading holds up every step                              1.94 s  16 %
 *      The training thread waits in `loader_next` 10.2 ms per step (median of 190).
 *      Change: load in more than one thread, or prefetch 2 batches.
 *      Evidence: steps 11-200, 4.81 s to 9.20 s, slices 1873, 2001
 *
 * Seconds have one unit for all, as in a table; the title is cut in the middle where it does not fit.
 */
#include "present/present.h"

#include <inttypes.h>
#include <string.h>

#include "base/format_number.h"
#include "base/screen_text.h"

enum { GAP = 2, SEVERITY_WIDTH = 8, MAX_SLICES = 5, MAX_NAMES = 5 };

typedef struct layout {
	const sonde_print_options *options;
	number_unit unit;
	unsigned number_width, lost_width, share_width; /* without the gap before */
	unsigned severity_width;			/* with the gap behind */
} layout;

static const char *lost_text(const layout *l, const sonde_finding *f, char *buffer)
{
	return f->seconds_lost < 0 ? "-" : format_in_unit(buffer, f->seconds_lost * 1e9, l->unit);
}

static const char *share_text(const sonde_finding *f, char *buffer)
{
	char number[NUMBER_TEXT];

	if (f->share < 0)
		return "-";
	snprintf(buffer, NUMBER_TEXT, "%.*s %%", NUMBER_TEXT - 3, format_percent(number, f->share * 100));
	return buffer;
}

static unsigned larger(unsigned a, size_t b)
{
	return a > b ? a : (unsigned)b;
}

static layout measure(const sonde_result *result, const sonde_print_options *options)
{
	layout l = { .options = options, .severity_width = SEVERITY_WIDTH };
	char buffer[NUMBER_TEXT];
	double most = 0;

	for (size_t i = 0; i < result->n_findings; i++)
		if (result->findings[i]->seconds_lost > most)
			most = result->findings[i]->seconds_lost;
	l.unit = number_unit_for(NUMBER_NS, most * 1e9);
	for (size_t i = 0; i < result->n_findings; i++) {
		l.lost_width = larger(l.lost_width, strlen(lost_text(&l, result->findings[i], buffer)));
		l.share_width = larger(l.share_width, strlen(share_text(result->findings[i], buffer)));
		l.severity_width =
			larger(l.severity_width, strlen(sonde_severity_name(result->findings[i]->severity)) + GAP);
	}
	l.number_width = (unsigned)snprintf(buffer, sizeof buffer, "%zu", result->n_findings);
	return l;
}

static void put_style(const layout *l, FILE *out, const char *style)
{
	if (l->options->color)
		fputs(style, out);
}

static const char *severity_style(sonde_severity severity)
{
	return severity >= SONDE_HIGH ? "\033[1;31m" : severity == SONDE_MEDIUM ? "\033[33m" : "\033[2m";
}

static void put_title(const layout *l, FILE *out, size_t number, const sonde_finding *f)
{
	char lost[NUMBER_TEXT], share[NUMBER_TEXT];
	unsigned before = l->number_width + GAP + l->severity_width,
		 behind = GAP + l->lost_width + GAP + l->share_width;
	unsigned room = l->options->width > before + behind + 8 ? l->options->width - before - behind : 8;

	fprintf(out, "%*zu", (int)l->number_width, number);
	screen_pad(out, GAP);
	put_style(l, out, severity_style(f->severity));
	fputs(sonde_severity_name(f->severity), out);
	put_style(l, out, "\033[0m");
	screen_pad(out, l->severity_width - (unsigned)strlen(sonde_severity_name(f->severity)));
	put_style(l, out, "\033[1m");
	unsigned taken = screen_put_cut(out, f->title, room, l->options->utf8);
	put_style(l, out, "\033[0m");
	screen_pad(out, room - taken + GAP);
	fprintf(out, "%*s", (int)l->lost_width, lost_text(l, f, lost));
	screen_pad(out, GAP);
	fprintf(out, "%*s\n", (int)l->share_width, share_text(f, share));
}

/* Two blanks between what is said and what follows would look like a table; one sentence follows the other. */
static void put_sentences(const layout *l, FILE *out, const sonde_finding *f)
{
	unsigned indent = l->number_width + GAP, at = indent;

	if (f->n_evidence == 0)
		return;
	screen_pad(out, indent);
	for (size_t i = 0; i < f->n_evidence; i++)
		at = text_put_words(out, f->evidence[i], at, indent, l->options);
	fputc('\n', out);
}

/* "Change: ..." */
static void put_labelled(const layout *l, FILE *out, const char *label, const char *text)
{
	unsigned indent = l->number_width + GAP;

	screen_pad(out, indent);
	put_style(l, out, "\033[1m");
	unsigned at = text_put_words(out, label, indent, indent, l->options);
	put_style(l, out, "\033[0m");
	text_put_words(out, text, at, indent, l->options);
	fputc('\n', out);
}

static void put_list(const layout *l, FILE *out, const char *label, const char *const *names, size_t n)
{
	unsigned indent = l->number_width + GAP;
	size_t n_shown = n < MAX_NAMES ? n : MAX_NAMES;
	char more[64];

	screen_pad(out, indent);
	put_style(l, out, "\033[1m");
	unsigned at = text_put_words(out, label, indent, indent, l->options);
	put_style(l, out, "\033[0m");
	for (size_t i = 0; i < n_shown; i++) {
		unsigned room = l->options->width > indent + 1 ? l->options->width - indent - 1 : 1;
		unsigned needed = screen_columns(names[i], l->options->utf8);

		needed = needed > room ? room : needed;
		if (at + 1 + needed + 1 > l->options->width) {
			fputc('\n', out);
			screen_pad(out, at = indent);
		} else {
			screen_pad(out, 1), at++;
		}
		at += screen_put_cut(out, names[i], needed, l->options->utf8);
		if (i + 1 < n_shown || n > n_shown)
			fputc(',', out), at++;
	}
	if (n > n_shown) {
		snprintf(more, sizeof more, "%zu more", n - n_shown);
		text_put_words(out, more, at, indent, l->options);
	}
	fputc('\n', out);
}

char *finding_place(char *ret_text, size_t size, const sonde_finding *f)
{
	char from[NUMBER_TEXT], to[NUMBER_TEXT];
	size_t len = 0;
	const char *comma = "";

#define PUT(...) (len += (size_t)snprintf(ret_text + len, len < size ? size - len : 0, __VA_ARGS__), comma = ", ")
	ret_text[0] = '\0';
	if (f->rank >= 0)
		PUT("rank %" PRId32, f->rank);
	if (f->has_steps && f->first_step == f->last_step)
		PUT("%sstep %" PRId64, comma, f->first_step);
	else if (f->has_steps)
		PUT("%ssteps %" PRId64 "-%" PRId64, comma, f->first_step, f->last_step);
	if (f->has_time && strcmp(format_ns(from, f->from_ns), format_ns(to, f->to_ns)) == 0)
		PUT("%s%s for %s", comma, from, format_ns(to, f->to_ns - f->from_ns)); /* short, and late */
	else if (f->has_time)
		PUT("%s%s to %s", comma, from, to);
	for (size_t i = 0; i < f->n_slices && i < MAX_SLICES && len < size; i++)
		PUT("%s%s%" PRIu64, comma, i ? "" : f->n_slices > 1 ? "slices " : "slice ", f->slices[i]);
	if (f->n_slices > MAX_SLICES && len < size)
		PUT(" and %zu more", f->n_slices - MAX_SLICES);
#undef PUT
	return ret_text;
}

static void put_finding(const layout *l, FILE *out, size_t number, const sonde_finding *f)
{
	char place[FINDING_PLACE];

	put_title(l, out, number, f);
	put_sentences(l, out, f);
	if (f->suggestion)
		put_labelled(l, out, "Change:", f->suggestion);
	if (f->n_affected)
		put_list(l, out, "Affects:", f->affected, f->n_affected);
	if (*finding_place(place, sizeof place, f))
		put_labelled(l, out, "Evidence:", place);
}

void text_findings_print(const sonde_result *result, const sonde_print_options *options, FILE *out)
{
	layout l = measure(result, options);
	size_t n_shown = result->n_findings_shown ? result->n_findings_shown : result->n_findings;

	for (size_t i = 0; i < result->n_findings && i < n_shown; i++)
		put_finding(&l, out, i + 1, result->findings[i]);
	if (n_shown < result->n_findings)
		fprintf(out, "\n%zu more finding%s: --top all\n", result->n_findings - n_shown,
			result->n_findings - n_shown == 1 ? "" : "s");
}
