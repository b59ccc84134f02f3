/* See query_run.h. */
#include "cli/query_run.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/screen_text.h"
#include "cli/query_print.h"

static const char *table_name(const void *list, size_t index)
{
	const char *name, *summary;

	(void)list;
	return sonde_query_table(index, &name, &summary) ? name : NULL;
}

/* ---- Dot commands ------------------------------------------------------------------------------------------------ */

static void put_tables(FILE *out)
{
	const char *name, *summary;

	for (size_t i = 0; sonde_query_table(i, &name, &summary); i++)
		fprintf(out, "%-14s  %s\n", name, summary);
}

static void put_schema(FILE *out, size_t table)
{
	const char *name, *type, *summary;

	sonde_query_table(table, &name, &summary);
	fprintf(out, "-- %s\ncreate table %s (\n", summary, name);
	for (size_t i = 0; sonde_query_table_column(table, i, &name, &type, &summary); i++) {
		const char *next;
		bool is_last = !sonde_query_table_column(table, i + 1, &next, &next, &next);
		int len = fprintf(out, "  %s%s%s%s", name, *type ? " " : "", type, is_last ? "" : ",");

		fprintf(out, "%*s -- %s\n", len < 26 ? 26 - len : 0, "", summary);
	}
	fputs(");\n", out);
}

static int put_schemas(FILE *out, const char *wanted)
{
	const char *name;

	for (size_t i = 0; (name = table_name(NULL, i)); i++) {
		if (*wanted && strcmp(wanted, name) != 0)
			continue;
		put_schema(out, i);
		if (*wanted)
			return EXIT_OK;
		fputs(table_name(NULL, i + 1) ? "\n" : "", out);
	}
	if (!*wanted)
		return EXIT_OK;
	const char *meant = nearest(wanted, table_name, NULL);
	say(meant ? "query: no table '%s'; did you mean '%s'?" : "query: no table '%s'; .tables lists them", wanted,
	    meant);
	return EXIT_USAGE;
}

static void put_help(FILE *out)
{
	fputs("SQL statements end with a semicolon and may span lines.\n"
	      "\n"
	      "  .tables          list the tables\n"
	      "  .schema [TABLE]  list the columns\n"
	      "  .help            show this text\n"
	      "  .quit            quit, as Ctrl-D does\n"
	      "\n"
	      "Ctrl-C stops the running statement. Times are ns since the start of the trace.\n"
	      "See man sonde-query.\n",
	      out);
}

/* A line without its end, which begins with a dot. */
static int run_dot_command(query_run *r, const char *line, size_t len)
{
	char word[64] = "", argument[64] = "", more;

	while (len && isspace((unsigned char)line[len - 1]))
		len--;
	char text[160];
	snprintf(text, sizeof text, "%.*s", (int)(len < sizeof text ? len : sizeof text - 1), line);
	int n = sscanf(text, "%63s %63s %c", word, argument, &more);
	FILE *out = r->to->stream;
	if (r->any && n < 3)
		fputc('\n', out);
	r->any = true;
	argument[strcspn(argument, ";")] = '\0';
	if (n < 3 && strcmp(word, ".schema") == 0)
		return put_schemas(out, argument);
	if (n == 1 && strcmp(word, ".tables") == 0)
		put_tables(out);
	else if (n == 1 && strcmp(word, ".help") == 0)
		put_help(out);
	else if (n == 1 && (strcmp(word, ".quit") == 0 || strcmp(word, ".exit") == 0))
		r->is_quit = true;
	else {
		say("query: no command '%s'; .help lists them", text);
		return EXIT_USAGE;
	}
	return EXIT_OK;
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static int say_query_error(sonde_status status, sonde_error *err)
{
	static const char no_table[] = "no such table: ";
	const char *meant = NULL;

	if (strncmp(err->message, no_table, sizeof no_table - 1) == 0)
		meant = nearest(err->message + sizeof no_table - 1, table_name, NULL);
	if (meant) {
		say("query: %s; did you mean %s?", err->message, meant);
		return EXIT_USAGE;
	}
	err->position = -1; /* the message has it */
	error_prefix(err, status, "query");
	return say_error(NULL, status, err);
}

static void say_what_is_missing(query_run *r)
{
	if (sonde_query_is_cut(r->query))
		say("query: output truncated at --limit; there are more rows");
	/* cmd_query.c says at the end which part of the index is damaged. */
	if (sonde_query_is_damaged(r->query) && !r->said_damage) {
		say("%s: some parts of the file cannot be read; their rows are missing", r->file);
		r->said_damage = true;
	}
}

/* The reader of a pipe that has seen enough is no error. */
static int stream_failed(const query_run *r, int error)
{
	if (error == EPIPE)
		return EXIT_OK;
	say("%s: cannot write: %s", r->to->path ? r->to->path : "standard output",
	    error ? strerror(error) : "write error");
	return EXIT_ENVIRONMENT;
}

static int run_statement(query_run *r)
{
	sonde_error err = { .position = -1 };
	FILE *out = r->to->stream;

	if (query_has_rows(r->query) && r->any)
		fputs(r->to->format == SONDE_CSV ? "\r\n" : r->to->format == SONDE_TEXT ? "\n" : "", out);
	r->any |= query_has_rows(r->query);
	errno = 0;
	sonde_status status = query_print(r->query, r->to, &r->n_rows, &err);
	if (!status && fflush(out) != 0)
		return stream_failed(r, errno);
	if (ferror(out))
		return stream_failed(r, errno);
	if (status)
		return say_query_error(status, &err);
	say_what_is_missing(r);
	return EXIT_OK;
}

int query_run_text(query_run *r, const char *sql)
{
	sonde_error err = { .position = -1 };
	int code = EXIT_OK;

	for (size_t at = 0; code == EXIT_OK && !r->is_quit && !ferror(r->to->stream);) {
		at += strspn(sql + at, " \t\r\n");
		if (sql[at] == '.') {
			size_t len = strcspn(sql + at, "\n");
			code = run_dot_command(r, sql + at, len);
			at += len;
			continue;
		}
		sonde_status status = sonde_query_prepare(r->query, sql, &at, &err);
		if (status)
			return say_query_error(status, &err);
		if (!sonde_query_is_ready(r->query))
			break;
		code = run_statement(r);
	}
	return code;
}
