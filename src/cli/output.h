/*
 * Where a result goes and how it looks: --json, --csv, --markdown, --html, -o FILE, --color WHEN, the same for every
 * command.
 *
 *   output to = { 0 };                        the table of options has OUTPUT_ALL, or OUTPUT_JSON, ...
 *   output_option(&to, &o, id)                for ids that the command does not know itself
 *   output_choose(&to, self)                  after the last option
 *   output_print(&to, result)                 all in one; or
 *   output_open(&to), to.stream, output_close(&to, ok)
 *
 * A file appears whole or not at all: it is written under another name in the same directory, mode 0600, and renamed at
 * the end. Pipes and devices (-o /dev/stdout) are written directly.
 */
#ifndef SONDE_CLI_OUTPUT_H
#define SONDE_CLI_OUTPUT_H

#include <stdio.h>
#include <sonde/analyze.h>

#include "cli/options.h"

enum { OPTION_JSON = 1000, OPTION_CSV, OPTION_MARKDOWN, OPTION_HTML, OPTION_TABLE, OPTION_OUTPUT, OPTION_COLOR };

#define OUTPUT_JSON                                                                                                    \
	{                                                                                                              \
		.name = "json", .id = OPTION_JSON, .help = "print JSON with exact values"                              \
	}
#define OUTPUT_CSV                                                                                                     \
	{                                                                                                              \
		.name = "csv", .id = OPTION_CSV, .help = "print CSV with exact values"                                 \
	}
#define OUTPUT_FILE                                                                                                    \
	{                                                                                                              \
		.name = "output", .id = OPTION_OUTPUT, .letter = 'o', .argument = "FILE",                              \
		.help = "write to FILE instead of standard output"                                                     \
	}
#define OUTPUT_COLOR                                                                                                   \
	{                                                                                                              \
		.name = "color", .id = OPTION_COLOR, .argument = "WHEN",                                               \
		.help = "use color: auto (default), always or never"                                                   \
	}
/* Every form of a result: the help of --json mentions the others, the rest is in the manual. `heading` stands above;
   NULL: none. */
/* clang-format off */
#define OUTPUT_ALL(heading) \
	{ .name = "json", .id = OPTION_JSON, .help = "print JSON; also --csv, --markdown and --html", .group = heading }, \
	{ .name = "output", .id = OPTION_OUTPUT, .letter = 'o', .argument = "FILE", \
	  .help = "write to FILE; .json, .csv, .md, .html select the format" }, \
	{ .name = "csv", .id = OPTION_CSV }, \
	{ .name = "markdown", .id = OPTION_MARKDOWN }, \
	{ .name = "html", .id = OPTION_HTML }, \
	{ .name = "table", .id = OPTION_TABLE, .argument = "KEY" }, \
	{ .name = "color", .id = OPTION_COLOR, .argument = "WHEN" }
/* clang-format on */

typedef struct output {
	sonde_format format;
	const char *path;  /* NULL: stdout */
	const char *table; /* for CSV; NULL: what the result is about */
	size_t color;	   /* 0 auto, 1 always, 2 never */
	FILE *stream;
	char *final_path; /* where the file goes at the end; NULL: stream is what it is */
} output;

/* Takes one of the options above. False, after saying why, when the value is wrong. */
bool output_option(output *to, const options *o, int id);

/* After the last option: the end of the file's name chooses the format (x.csv, x.html) unless an option does. EXIT_OK,
   or says that the command cannot write what the name promises. */
int output_choose(output *to, const command *c);

/* The same for a command that writes files of one kind only, such as "json", or of some: "pb,pb.gz". path may be NULL.
 */
int output_only(const command *c, const char *path, const char *ends);

/* Before files are read: EXIT_OK, or says that the result would take the place of one of them, or of another recording.
   A slip of the finger must not cost anyone their trace. */
int output_check(const output *to, char *const *files, size_t n_files);

/* True when path is one of the files, or one that a directory among them stands for. */
bool output_is_among(const char *path, char *const *files, size_t n_files);

/* Opens to->stream; returns EXIT_OK or says why not. */
int output_open(output *to);

/* Ends what output_open() began: keeps the file if code is EXIT_OK and all is written, else removes it. Returns code,
   or another one after saying what went wrong. */
int output_close(output *to, int code);

/* Width, colour and character set for a stream. */
sonde_print_options output_look(const output *to, FILE *stream);

/* Opens, prints the result, closes; returns the exit code. */
int output_print(output *to, const sonde_result *result);

#endif
