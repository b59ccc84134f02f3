/* Messages to a person, on stderr. File names and messages may hold bytes from a stranger, so all goes through
   screen_put(). */
#include "cli/cli.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/format_number.h"
#include "base/screen_text.h"

static void put_line(const char *text)
{
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;

	flockfile(stderr);
	fputs("sonde: ", stderr);
	screen_put(stderr, text, utf8);
	fputc('\n', stderr);
	funlockfile(stderr);
}

void say(const char *format, ...)
{
	char text[8192];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	put_line(text);
}

static int exit_code_for(sonde_status status)
{
	switch (status) {
	case SONDE_OK:
		return EXIT_OK;
	case SONDE_E_USAGE:
		return EXIT_USAGE;
	case SONDE_E_FORMAT:
	case SONDE_E_TRUNCATED:
	case SONDE_E_VERSION:
	case SONDE_E_IO:
		return EXIT_INPUT;
	case SONDE_E_MEMORY:
	case SONDE_E_STATE:
	case SONDE_E_UNSUPPORTED:
		break;
	}
	return EXIT_ENVIRONMENT;
}

int say_error(const char *file, sonde_status status, const sonde_error *err)
{
	char where[NUMBER_TEXT + 16] = "", number[NUMBER_TEXT];
	bool is_named = !file || strncmp(err->message, file, strlen(file)) == 0;

	if (err->position > 0)
		snprintf(where, sizeof where, "byte %s: ", format_count(number, (uint64_t)err->position));
	if (is_named) { /* the message begins with the name of a file, behind which the place belongs */
		const char *end = strstr(err->message + (file ? strlen(file) : 0), ": ");
		int len = end ? (int)(end - err->message) + 2 : 0;
		say("%.*s%s%s", len, err->message, where, err->message + len);
	} else {
		say("%s: %s%s", file, where, err->message);
	}
	return exit_code_for(status);
}

int say_usage(const command *c, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	say("%s: %s; see sonde %s --help", c->name, text, c->name);
	return EXIT_USAGE;
}
