/*
 * What the commands of `sonde` share: how they are described, how they end, and how they speak.
 *
 *   commands.def        the list of commands
 *   cmd_<name>.c        one command: its options as data, its help, what it does
 *   options.h           reads arguments by that data; help.c prints it
 *   output.h            where results go: --json, --csv, -o FILE, --color
 *
 * Results go to stdout, everything said to a person to stderr, one line each: "sonde: FILE: message".
 */
#ifndef SONDE_CLI_CLI_H
#define SONDE_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <sonde/error.h>

enum {
	EXIT_OK = 0,
	EXIT_FINDINGS = 1, /* above a threshold that the user set */
	EXIT_USAGE = 2,
	EXIT_INPUT = 3,
	EXIT_ENVIRONMENT = 4,
	EXIT_CANNOT_RUN = 126, /* as shells do */
	EXIT_NOT_FOUND = 127,
};

typedef struct option_def {
	const char *name;     /* "top"; NULL ends the list */
	int id;		      /* what options_next() returns: an enum of the command, or OPTION_* of output.h */
	char letter;	      /* 'o', or 0 */
	const char *argument; /* "N"; NULL: a switch */
	const char *help;     /* NULL: only in the manual; --help fits one screen */
	const char *group;    /* set on the first option of a group: its heading */
} option_def;

typedef struct command {
	const char *name;
	const char *group;   /* in the list of commands: "record", "look", "analyse", "share" */
	const char *summary; /* one sentence without a full stop */
	const char *usage;   /* what follows the name */
	const char *examples[3];
	const option_def *options;
	bool stops_at_operand; /* what follows the first operand is not ours */
	int (*run)(const struct command *self, int argc, char **argv);
} command;

#define COMMAND(name) extern const command name##_command;
#define ALIAS(alias, name)
#include "cli/commands.def"
#undef COMMAND
#undef ALIAS

/* To stdout. */
void help_print_command(const command *c);
void help_print_options(const command *c); /* all of them, one on a line */

/* Writes "sonde: " and the message to stderr, safe for a terminal, as one line. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* say() for a failed call on a file (NULL: none); returns the exit code for its status. An SONDE_E_IO is bad input. */
int say_error(const char *file, sonde_status status, const sonde_error *err);

/* say() for wrong usage: adds "sonde COMMAND --help shows how". Returns EXIT_USAGE. */
int say_usage(const command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The candidate nearest to word by edit distance, or NULL when none is near. `next` returns one after another. */
const char *nearest(const char *word, const char *(*next)(const void *list, size_t index), const void *list);

#endif
