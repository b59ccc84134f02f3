/*
 * Reads the arguments of a command by its table of options, one at a time:
 *
 *   options o = options_begin(self, argc, argv);
 *   for (int id; (id = options_next(&o)) != OPTIONS_END;)
 *           switch (id) { case MY_OPTION: use(o.value); ...  case OPTIONS_OPERAND: file(o.value); ... }
 *
 * Understands --name=value, --name value, -o value, -ovalue, -xyz for switches, and --, which ends the options. What it
 * does not understand it explains on stderr, with the nearest name, and returns OPTIONS_FAILED. --help prints the help
 * of the command and returns OPTIONS_HELP. The options_*() below check a value and explain what is wrong with it.
 */
#ifndef SONDE_CLI_OPTIONS_H
#define SONDE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"

enum { OPTIONS_END = -1, OPTIONS_OPERAND = -2, OPTIONS_FAILED = -3, OPTIONS_HELP = -4 };

typedef struct options {
	const command *command;
	int argc;
	char **argv;
	int at;		   /* the argument to look at next */
	const char *value; /* of the option or operand just returned; NULL: none */
	const option_def *option;
	const char *bundle; /* rest of -xyz */
	bool only_operands; /* after -- */
} options;

/* argv[0] is the name of the command. */
options options_begin(const command *c, int argc, char **argv);
int options_next(options *o);

/* The exit code after OPTIONS_HELP or OPTIONS_FAILED. */
int options_exit_code(int id);

/* A whole number from min to max. */
bool options_number(const options *o, uint64_t min, uint64_t max, uint64_t *ret_number);

/* "64M", "1G", "4096": bytes, from min to max. */
bool options_size(const options *o, uint64_t min, uint64_t max, uint64_t *ret_bytes);

/* One of the choices, a list that ends in NULL; gives its index. */
bool options_choice(const options *o, const char *const *choices, size_t *ret_index);

/* A list of choices, separated by commas. */
bool options_list(const options *o, const char *const *choices);

#endif
