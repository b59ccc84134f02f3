/* --help, from the same tables that the commands work by. Every page fits 24 lines of 80 columns. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

enum { TERM_WIDTH = 20 };

/* "-o, --output FILE" */
static void put_option(const option_def *option)
{
	char term[64];

	snprintf(term, sizeof term, "%s%c%s--%s%s%s", option->letter ? "-" : "", option->letter ? option->letter : ' ',
		 option->letter ? ", " : "", option->name, option->argument ? " " : "",
		 option->argument ? option->argument : "");
	printf("  %-*s %s\n", TERM_WIDTH, term + (option->letter ? 0 : 1), option->help);
}

void help_print_command(const command *c)
{
	printf("%s.\n\nusage: sonde %s %s\n\n", c->summary, c->name, c->usage);
	for (size_t i = 0; i < sizeof c->examples / sizeof *c->examples; i++)
		printf("  %s\n", c->examples[i]);
	for (const option_def *option = c->options; option->name; option++) {
		if (option->group || option == c->options)
			printf("\n%s\n", option->group ? option->group : "Options");
		if (option->help)
			put_option(option);
	}
	printf("\nSee man sonde-%s.\n", c->name);
}

void help_print_options(const command *c)
{
	for (const option_def *option = c->options; option->name; option++)
		printf("--%s\n", option->name);
	puts("--help");
}
