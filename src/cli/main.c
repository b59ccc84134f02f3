/* sonde COMMAND ...: finds the command and runs it. */
#include "cli/cli.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Tells the runtime, which comes with libsonde, that this program is not to be recorded. */
extern const char sonde_command_;
__attribute__((visibility("default"))) const char sonde_command_ = 1;

static const command *const commands[] = {
#define COMMAND(name) &name##_command,
#define ALIAS(alias, name)
#include "cli/commands.def"
#undef COMMAND
#undef ALIAS
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const struct {
	const char *name;
	const command *command;
} aliases[] = {
#define COMMAND(name)
#define ALIAS(alias, name) { alias, &name##_command },
#include "cli/commands.def"
#undef COMMAND
#undef ALIAS
};
enum { N_ALIASES = sizeof aliases / sizeof *aliases };

/* By name or alias; NULL if there is none. */
static const command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	for (size_t i = 0; i < N_ALIASES; i++)
		if (strcmp(aliases[i].name, name) == 0)
			return aliases[i].command;
	return NULL;
}

static void print_commands(void)
{
	const char *group = "";

	puts("Sonde profiles programs that train or serve models.\n\n"
	     "usage: sonde COMMAND [options] ...\n");
	for (size_t i = 0; i < N_COMMANDS; i++) {
		bool is_new = strcmp(commands[i]->group, group) != 0;

		group = commands[i]->group;
		printf("%-8s %-11s  %s\n", is_new ? group : "", commands[i]->name, commands[i]->summary);
	}
	puts("\nsonde help COMMAND shows its options; sonde --version prints the version.");
}

static const char *command_name(const void *list, size_t index)
{
	(void)list;
	if (index < N_COMMANDS)
		return commands[index]->name;
	index -= N_COMMANDS;
	return index < N_ALIASES ? aliases[index].name : index == N_ALIASES ? "help" : NULL;
}

static int refuse_command(const char *name)
{
	const char *meant = nearest(name, command_name, NULL);

	if (meant)
		say("no command '%s'; did you mean '%s'?", name, meant);
	else if (access(name, F_OK) == 0)
		say("no command '%s'; to report on that file: sonde report %s", name, name);
	else
		say("no command '%s'; sonde help lists the commands", name);
	return EXIT_USAGE;
}

static int help(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "help") == 0) {
		print_commands();
		return EXIT_OK;
	}
	bool only_options = argc > 2 && strcmp(argv[1], "--options") == 0; /* for completion */
	const char *name = argv[only_options ? 2 : 1];
	const command *c = find_command(name);
	if (!c)
		return refuse_command(name);
	if (only_options)
		help_print_options(c);
	else
		help_print_command(c);
	return EXIT_OK;
}

/* Output may be lost only now, when the buffer goes to a full disk. A reader that has gone away is no error. */
static int flushed(int code)
{
	if ((fflush(stdout) == 0 && !ferror(stdout)) || code != EXIT_OK || errno == EPIPE)
		return code;
	say("standard output: %s", strerror(errno));
	return EXIT_ENVIRONMENT;
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		print_commands();
		return flushed(EXIT_OK);
	}
	const char *name = argv[1];
	if (strcmp(name, "--version") == 0) {
		puts("sonde " SONDE_VERSION);
		return flushed(EXIT_OK);
	}
	if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return flushed(help(argc - 1, argv + 1));
	const command *c = find_command(name);
	return c ? flushed(c->run(c, argc - 1, argv + 1)) : refuse_command(name);
}
