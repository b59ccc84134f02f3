/* See options.h. */
#include "cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format_number.h"
#include "base/parse_units.h"

options options_begin(const command *c, int argc, char **argv)
{
	return (options){ .command = c, .argc = argc, .argv = argv, .at = 1 };
}

int options_exit_code(int id)
{
	return id == OPTIONS_HELP ? EXIT_OK : EXIT_USAGE;
}

static const char *option_name(const void *list, size_t index)
{
	return ((const option_def *)list)[index].name;
}

static int refuse_name(const options *o, const char *name)
{
	const char *meant = nearest(name, option_name, o->command->options);

	if (meant)
		say("%s: no option '--%s'; did you mean '--%s'?", o->command->name, name, meant);
	else
		say_usage(o->command, "no option '--%s'", name);
	return OPTIONS_FAILED;
}

/* Gives the option its value, from the same argument (inline_value) or the next one. */
static int take_value(options *o, const option_def *option, const char *inline_value)
{
	o->option = option;
	o->value = inline_value;
	if (!option->argument && inline_value) {
		say_usage(o->command, "--%s takes no value", option->name);
		return OPTIONS_FAILED;
	}
	if (option->argument && !inline_value) {
		if (o->at >= o->argc) {
			say_usage(o->command, "--%s needs %s", option->name, option->argument);
			return OPTIONS_FAILED;
		}
		o->value = o->argv[o->at++];
	}
	return option->id;
}

static int next_long(options *o, const char *text)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : strlen(text);
	char name[64];

	if (len >= sizeof name)
		len = sizeof name - 1;
	memcpy(name, text, len);
	name[len] = '\0';
	if (strcmp(name, "help") == 0)
		return OPTIONS_HELP;
	for (const option_def *option = o->command->options; option->name; option++)
		if (strcmp(option->name, name) == 0)
			return take_value(o, option, equals ? equals + 1 : NULL);
	return refuse_name(o, name);
}

static int next_letter(options *o)
{
	char letter = *o->bundle++;
	const char *rest = *o->bundle ? o->bundle : NULL;

	o->bundle = rest;
	if (letter == 'h')
		return OPTIONS_HELP;
	for (const option_def *option = o->command->options; option->name; option++) {
		if (option->letter != letter)
			continue;
		if (option->argument)
			o->bundle = NULL;
		return take_value(o, option, option->argument ? rest : NULL);
	}
	say_usage(o->command, "no option '-%c'", letter);
	return OPTIONS_FAILED;
}

static int next_operand(options *o)
{
	o->value = o->argv[o->at++];
	o->option = NULL;
	if (o->command->stops_at_operand)
		o->only_operands = true;
	return OPTIONS_OPERAND;
}

static int next(options *o)
{
	if (o->bundle)
		return next_letter(o);
	if (o->at >= o->argc)
		return OPTIONS_END;
	const char *text = o->argv[o->at];
	if (o->only_operands || text[0] != '-' || text[1] == '\0')
		return next_operand(o);
	o->at++;
	if (strcmp(text, "--") == 0) {
		o->only_operands = true;
		return next(o);
	}
	if (text[1] == '-')
		return next_long(o, text + 2);
	o->bundle = text + 1;
	return next_letter(o);
}

int options_next(options *o)
{
	int id = next(o);

	if (id == OPTIONS_HELP)
		help_print_command(o->command);
	return id;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static bool parse_number(const char *text, uint64_t *ret_number, const char **ret_rest)
{
	char *rest;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret_number = strtoull(text, &rest, 10);
	*ret_rest = rest;
	return errno == 0;
}

bool options_number(const options *o, uint64_t min, uint64_t max, uint64_t *ret_number)
{
	const char *rest;

	if (parse_number(o->value, ret_number, &rest) && !*rest && *ret_number >= min && *ret_number <= max)
		return true;
	say_usage(o->command, "--%s needs a number from %llu to %llu, not '%s'", o->option->name,
		  (unsigned long long)min, (unsigned long long)max, o->value);
	return false;
}

bool options_size(const options *o, uint64_t min, uint64_t max, uint64_t *ret_bytes)
{
	char from[NUMBER_TEXT], to[NUMBER_TEXT];

	if (parse_bytes(o->value, ret_bytes) && *ret_bytes >= min && *ret_bytes <= max)
		return true;
	say_usage(o->command, "--%s needs a size from %s to %s, such as 64M, not '%s'", o->option->name,
		  format_bytes(from, min), format_bytes(to, max), o->value);
	return false;
}

static const char *choice_at(const void *list, size_t index)
{
	return ((const char *const *)list)[index];
}

static void say_choices(const options *o, const char *word, const char *const *choices)
{
	char list[512] = "";

	for (size_t i = 0, len = 0; choices[i] && len < sizeof list; i++)
		len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", i ? ", " : "", choices[i]);
	say_usage(o->command, "--%s does not accept '%s'; choose %s", o->option->name, word, list);
}

static bool find_choice(const options *o, const char *word, const char *const *choices, size_t *ret_index)
{
	for (size_t i = 0; choices[i]; i++) {
		if (strcmp(choices[i], word) == 0) {
			*ret_index = i;
			return true;
		}
	}
	const char *meant = nearest(word, choice_at, choices);
	if (meant)
		say("%s: --%s does not accept '%s'; did you mean '%s'?", o->command->name, o->option->name, word,
		    meant);
	else
		say_choices(o, word, choices);
	return false;
}

bool options_choice(const options *o, const char *const *choices, size_t *ret_index)
{
	return find_choice(o, o->value, choices, ret_index);
}

bool options_list(const options *o, const char *const *choices)
{
	for (const char *at = o->value;; at++) {
		size_t len = strcspn(at, ","), index;
		char word[64];

		snprintf(word, sizeof word, "%.*s", (int)len, at);
		if (!find_choice(o, word, choices, &index))
			return false;
		at += len;
		if (!*at)
			return true;
	}
}
