/*
 * sonde doctor: what can be recorded on this machine, and how to enable the rest.
 *
 * Runs the checks of doctor_checks.c and prints a line for each, or JSON. Recording needs little; when even that is not
 * there the exit code says so.
 */
#include "cli/doctor.h"

#include <langinfo.h>
#include <string.h>

#include "base/format_number.h"
#include "base/json_write.h"
#include "base/screen_text.h"
#include "cli/output.h"

static const option_def doctor_options[] = {
	OUTPUT_JSON,
	OUTPUT_FILE,
	{ .name = NULL },
};

enum {
	COLUMNS = 80,
	TEXT_COLUMN = 20,
};

static const char *const state_names[] = {
	[CHECK_OK] = "ok", [CHECK_LIMITED] = "limited", [CHECK_MISSING] = "missing"
};

/* As a word for the shell. */
static void put_word(FILE *out, const char *text, bool utf8)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%=";

	if (*text && !text[strspn(text, plain)]) {
		screen_put(out, text, utf8);
		return;
	}
	fputc('\'', out);
	for (const char *at = text; *at;) {
		size_t len = strcspn(at, "'");
		screen_putn(out, at, len, utf8);
		at += len;
		if (*at)
			fputs("'\\''", out), at++;
	}
	fputc('\'', out);
}

typedef struct left_out {
	FILE *out;
	json_writer *json; /* NULL: text */
	bool utf8;
} left_out;

/* What saves the events of a ring, if anything does. */
static void print_save(const left_out *l, const sonde_left_ring *ring)
{
	if (ring->can_save) {
		fputs("  save its events and free it: sonde report ", l->out);
		put_word(l->out, ring->recording, l->utf8);
	} else if (!ring->has_events) {
		fputs("  it has no events to save", l->out);
	} else if (*ring->recording) {
		fputs("  its events cannot be saved: the recording does not exist", l->out);
	} else {
		fputs("  save its events and free it: sonde report FILE, with its recording", l->out);
	}
	fputc('\n', l->out);
}

static void print_left(void *context, const sonde_left_ring *ring)
{
	const left_out *l = context;
	char text[NUMBER_TEXT];

	fputc('\n', l->out);
	screen_put(l->out, ring->path, l->utf8);
	fprintf(l->out, "\n  %s of ", format_bytes(text, ring->bytes));
	screen_put(l->out, *ring->program ? ring->program : "a program", l->utf8);
	fprintf(l->out, ", process %d (ended)\n  recording: ", (int)ring->pid);
	screen_put(l->out, *ring->recording ? ring->recording : "unknown", l->utf8);
	fputc('\n', l->out);
	print_save(l, ring);
	fputs(ring->has_events ? "  free it without its events: rm " : "  free it: rm ", l->out);
	put_word(l->out, ring->path, l->utf8);
	fputc('\n', l->out);
}

static void print_left_json(void *context, const sonde_left_ring *ring)
{
	json_writer *w = ((left_out *)context)->json;

	json_line(w), json_begin_object(w);
	json_key(w, "path"), json_string(w, ring->path);
	json_key(w, "bytes"), json_u64(w, ring->bytes);
	json_key(w, "pid"), json_i64(w, ring->pid);
	json_key(w, "program"), json_string(w, *ring->program ? ring->program : NULL);
	json_key(w, "recording"), json_string(w, *ring->recording ? ring->recording : NULL);
	json_key(w, "has_events"), json_bool(w, ring->has_events);
	json_key(w, "can_save"), json_bool(w, ring->can_save);
	json_end_object(w);
}

/* "ok       clock      text; advice", the advice below the text where the two do not fit into a line. */
static void print_text(FILE *out, const finding *findings, size_t n)
{
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	size_t n_counts[3] = { 0 };

	for (size_t i = 0; i < n; i++)
		n_counts[findings[i].state]++;
	fprintf(out, "%s: %zu of %zu checks ok, %zu limited, %zu missing.\n\n",
		doctor_can_record(findings, n) ? "This machine can record" : "Recording will not work here",
		n_counts[CHECK_OK], n, n_counts[CHECK_LIMITED], n_counts[CHECK_MISSING]);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%-8s %-10s ", state_names[findings[i].state], findings[i].name);
		screen_put(out, findings[i].text, utf8);
		if (*findings[i].advice) {
			bool fits = TEXT_COLUMN + strlen(findings[i].text) + 2 + strlen(findings[i].advice) <= COLUMNS;
			fputs(fits ? "; " : ";\n                    ", out);
			screen_put(out, findings[i].advice, utf8);
		}
		fputc('\n', out);
	}
	doctor_left(print_left, &(left_out){ .out = out, .utf8 = utf8 });
}

static void print_json(FILE *out, const finding *findings, size_t n)
{
	json_writer w = json_to(out);

	json_begin_object(&w);
	json_line(&w), json_key(&w, "schema"), json_string(&w, "sonde.doctor/1");
	json_line(&w), json_key(&w, "can_record"), json_bool(&w, doctor_can_record(findings, n));
	json_line(&w), json_key(&w, "checks"), json_begin_array(&w);
	for (size_t i = 0; i < n; i++) {
		json_line(&w), json_begin_object(&w);
		json_key(&w, "name"), json_string(&w, findings[i].name);
		json_key(&w, "state"), json_string(&w, state_names[findings[i].state]);
		json_key(&w, "text"), json_string(&w, findings[i].text);
		json_key(&w, "advice"), json_string(&w, *findings[i].advice ? findings[i].advice : NULL);
		json_end_object(&w);
	}
	json_line(&w), json_end_array(&w);
	json_line(&w), json_key(&w, "left_rings"), json_begin_array(&w);
	doctor_left(print_left_json, &(left_out){ .out = out, .json = &w });
	json_line(&w), json_end_array(&w);
	json_line(&w), json_end_object(&w);
	fputc('\n', out);
}

static int run(const command *self, int argc, char **argv)
{
	options o = options_begin(self, argc, argv);
	finding findings[DOCTOR_MAX_CHECKS];
	output to = { 0 };

	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND)
			return say_usage(self, "unexpected argument '%s'", o.value);
		if (id < 0 || !output_option(&to, &o, id))
			return options_exit_code(id);
	}
	int code = output_choose(&to, self);
	if (code != EXIT_OK)
		return code;
	size_t n = doctor_check(findings);
	code = output_open(&to);
	if (code != EXIT_OK)
		return code;
	(to.format == SONDE_JSON ? print_json : print_text)(to.stream, findings, n);
	code = output_close(&to, EXIT_OK);
	return code == EXIT_OK && !doctor_can_record(findings, n) ? EXIT_ENVIRONMENT : code;
}

const command doctor_command = {
	.name = "doctor",
	.group = "record",
	.summary = "Check what this machine can record",
	.usage = "[options]",
	.examples = { "sonde doctor", "sonde doctor --json", "sonde doctor | grep -v ^ok" },
	.options = doctor_options,
	.run = run,
};
