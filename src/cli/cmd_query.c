/* sonde query: SQL over a trace. */
#include "cli/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/query_run.h"

enum { SQL_FILE, LIMIT, TIMEOUT, MEMORY };

static const option_def query_options[] = {
	{ .name = "file",
	  .id = SQL_FILE,
	  .letter = 'f',
	  .argument = "FILE",
	  .help = "read SQL from FILE; - is standard input" },
	{ .name = "limit", .id = LIMIT, .argument = "N", .help = "print at most N rows per statement (default all)" },
	{ .name = "timeout",
	  .id = TIMEOUT,
	  .argument = "SECONDS",
	  .help = "stop a statement after SECONDS (default none)" },
	{ .name = "memory",
	  .id = MEMORY,
	  .argument = "SIZE",
	  .help = "memory limit of SQL (default: half of the machine's)" },
	{ .name = "json", .id = OPTION_JSON, .help = "print JSON with exact values", .group = "Output" },
	OUTPUT_CSV,
	OUTPUT_FILE,
	OUTPUT_COLOR,
	{ .name = NULL },
};

typedef struct asked {
	const char *sql_file; /* NULL: none */
	const char *sql;      /* on the command line; NULL: none */
	sonde_query_options limits;
} asked;

static bool take_option(const options *o, int id, asked *a, output *to)
{
	uint64_t seconds;

	switch (id) {
	case SQL_FILE:
		a->sql_file = o->value;
		return true;
	case LIMIT:
		return options_number(o, 1, INT64_MAX, &a->limits.n_rows);
	case TIMEOUT:
		if (!options_number(o, 1, 1000000, &seconds))
			return false;
		a->limits.time_ns = (int64_t)seconds * 1000000000;
		return true;
	case MEMORY:
		return options_size(o, 16 << 20, (uint64_t)1 << 50, &a->limits.memory_bytes);
	}
	return output_option(to, o, id);
}

static uint64_t half_of_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : 0;
}

/* The last operand is SQL unless a file has that name. */
static void split_operands(char *const *argv, size_t *n, asked *a)
{
	if (!a->sql_file && *n > 1 && access(argv[*n - 1], F_OK) != 0)
		a->sql = argv[--*n];
}

/* All of a stream; NULL with errno when that fails. The caller frees. */
static char *read_all(FILE *in)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t n = getdelim(&text, &room, '\0', in); /* to the end: SQL has no NUL */

	if (n < 0 && feof(in) && !ferror(in)) {
		free(text);
		return calloc(1, 1);
	}
	if (n >= 0 && strlen(text) == (size_t)n)
		return text;
	errno = n >= 0 ? EILSEQ : errno;
	free(text);
	return NULL;
}

static int read_sql(const char *path, char **ret_sql)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *in = is_stdin ? stdin : fopen(path, "re");

	*ret_sql = in ? read_all(in) : NULL;
	int error = errno;
	if (in && !is_stdin)
		fclose(in);
	if (*ret_sql)
		return EXIT_OK;
	say("%s: %s", is_stdin ? "standard input" : path, error == EILSEQ ? "not SQL text" : strerror(error));
	return EXIT_INPUT;
}

static bool says_nothing(const char *sql)
{
	return sql[strspn(sql, " \t\r\n;")] == '\0';
}

/* From the command line, a file, or standard input; *ret_sql stays NULL when there is to be a prompt. */
static int find_sql(const command *self, const asked *a, bool trace_is_stdin, char **ret_sql)
{
	if (a->sql) {
		*ret_sql = strdup(a->sql);
	} else if (a->sql_file || (!trace_is_stdin && !isatty(STDIN_FILENO))) {
		if (trace_is_stdin && strcmp(a->sql_file, "-") == 0)
			return say_usage(self, "standard input cannot be both the trace and the SQL");
		int code = read_sql(a->sql_file ? a->sql_file : "-", ret_sql);
		if (code != EXIT_OK)
			return code;
	} else if (!trace_is_stdin) {
		return EXIT_OK;
	}
	return *ret_sql && !says_nothing(*ret_sql) ? EXIT_OK : say_usage(self, "no SQL given");
}

static int ask(const asked *a, sonde_trace *trace, const char *file, const char *sql, output *to)
{
	query_run r = { .file = file, .to = to };
	sonde_error err = { .position = -1 };
	sonde_status status = sonde_query_open(trace, &a->limits, &r.query, &err);

	if (status)
		return say_error(file, status, &err);
	int code = output_open(to);
	if (code == EXIT_OK) {
		code = sql ? query_run_text(&r, sql) : query_prompt(&r);
		code = ferror(to->stream) && code == EXIT_OK ? (output_close(to, EXIT_ENVIRONMENT), EXIT_OK)
							     : output_close(to, code);
	}
	sonde_query_free(r.query);
	return code;
}

static int run(const command *self, int argc, char **argv)
{
	options o = options_begin(self, argc, argv);
	asked a = { .limits = { .struct_size = sizeof a.limits, .memory_bytes = half_of_memory() } };
	output to = { 0 };
	size_t n_files = 0;
	sonde_trace *trace = NULL;
	char *sql = NULL;

	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND)
			argv[n_files++] = argv[o.at - 1];
		else if (id < 0 || !take_option(&o, id, &a, &to))
			return options_exit_code(id);
	}
	split_operands(argv, &n_files, &a);
	if (n_files == 0)
		return say_usage(self, "no FILE given");
	int code = output_choose(&to, self);
	if (code == EXIT_OK)
		code = find_sql(self, &a, strcmp(argv[0], "-") == 0, &sql);
	if (code == EXIT_OK)
		code = trace_open(self, argv, n_files, &to, &trace);
	if (code == EXIT_OK)
		code = ask(&a, trace, argv[0], sql, &to);
	free(sql);
	return trace_close(trace, n_files == 1 ? argv[0] : NULL, code);
}

const command query_command = {
	.name = "query",
	.group = "analyze",
	.summary = "Run SQL over a trace",
	.usage = "[options] FILE... [SQL]",
	.examples = { "sonde query run.sonde \"select name, dur from slices limit 9\"",
		      "sonde query trace.json.gz .tables", "sonde query --csv -f report.sql run.sonde > report.csv" },
	.options = query_options,
	.run = run,
};
