/*
 * See output.h. The temporary file is also known to a signal handler, so that Ctrl-C leaves nothing behind; there is
 * one at a time.
 */
#define _GNU_SOURCE
#include "cli/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static char temporary_path[PATH_MAX];

/* Async-signal-safe: removes the file and dies of the signal as if nobody had caught it. */
static void remove_temporary(int signal_number)
{
	unlink(temporary_path);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void on_death(void (*handler)(int))
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		struct sigaction old, new = { .sa_handler = handler };

		sigaction(signals[i], NULL, &old);
		if (old.sa_handler != SIG_IGN)
			sigaction(signals[i], &new, NULL);
	}
}

static bool set_format(output *to, const options *o, sonde_format format)
{
	static const char *const names[] = { "text", "json", "csv", "markdown", "html" };

	if (to->format != SONDE_TEXT && to->format != format) {
		say_usage(o->command, "--%s and --%s exclude each other", names[to->format], names[format]);
		return false;
	}
	to->format = format;
	return true;
}

bool output_option(output *to, const options *o, int id)
{
	static const char *const colors[] = { "auto", "always", "never", NULL };

	switch (id) {
	case OPTION_JSON:
		return set_format(to, o, SONDE_JSON);
	case OPTION_CSV:
		return set_format(to, o, SONDE_CSV);
	case OPTION_MARKDOWN:
		return set_format(to, o, SONDE_MARKDOWN);
	case OPTION_HTML:
		return set_format(to, o, SONDE_HTML);
	case OPTION_TABLE:
		to->table = o->value;
		return true;
	case OPTION_OUTPUT:
		to->path = strcmp(o->value, "-") == 0 ? NULL : o->value;
		return true;
	case OPTION_COLOR:
		return options_choice(o, colors, &to->color);
	}
	return false;
}

/* ---- The end of the file's name ---------------------------------------------------------------------------------- */

typedef struct file_end {
	const char *text;
	int option; /* that asks for the same; 0: none does */
	sonde_format format;
} file_end;

static const file_end file_ends[] = {
	{ "txt", 0, SONDE_TEXT },
	{ "json", OPTION_JSON, SONDE_JSON },
	{ "csv", OPTION_CSV, SONDE_CSV },
	{ "md", OPTION_MARKDOWN, SONDE_MARKDOWN },
	{ "html", OPTION_HTML, SONDE_HTML },
	{ "markdown", OPTION_MARKDOWN, SONDE_MARKDOWN },
	{ "htm", OPTION_HTML, SONDE_HTML },
	{ "svg", -1, SONDE_TEXT }, /* of pictures only, see picture.c */
	{ "folded", -1, SONDE_TEXT },
};
enum { N_ENDS = sizeof file_ends / sizeof *file_ends, N_ENDS_SAID = 5 };

/* NULL: the name has no end that says what is in the file. */
static const file_end *find_end(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');

	for (size_t i = 0; dot && dot > name && i < N_ENDS; i++)
		if (strcasecmp(dot + 1, file_ends[i].text) == 0)
			return &file_ends[i];
	return NULL;
}

static bool can_write(const command *c, const file_end *end)
{
	const option_def *option = c->options;

	while (option->name && option->id != end->option)
		option++;
	return end->format == SONDE_TEXT ? end->option == 0 : option->name != NULL;
}

int output_choose(output *to, const command *c)
{
	const file_end *end = to->path && to->format == SONDE_TEXT ? find_end(to->path) : NULL;
	char list[64] = "";

	if (!end)
		return EXIT_OK;
	if (can_write(c, end)) {
		to->format = end->format;
		return EXIT_OK;
	}
	for (size_t i = 0, len = 0; i < N_ENDS_SAID; i++)
		if (can_write(c, &file_ends[i]))
			len += (size_t)snprintf(list + len, sizeof list - len, "%s.%s", len ? ", " : "",
						file_ends[i].text);
	return say_usage(c, "cannot write '%s'; supported: %s", to->path, list);
}

/* Is the word among those that commas separate? */
static bool is_listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; p; p = (p = strchr(p, ',')) ? p + 1 : NULL)
		if (strncmp(p, word, len) == 0 && (p[len] == ',' || !p[len]))
			return true;
	return false;
}

int output_only(const command *c, const char *path, const char *ends)
{
	const file_end *end = path ? find_end(path) : NULL;
	char list[64];
	size_t len = 0;

	if (!end || is_listed(ends, end->text))
		return EXIT_OK;
	while (*ends && len < sizeof list) {
		size_t n = strcspn(ends, ",");
		len += (size_t)snprintf(list + len, sizeof list - len, "%s.%.*s", len ? ", " : "", (int)n, ends);
		ends += n + (ends[n] == ',');
	}
	return say_usage(c, "cannot write '%s'; supported: %s", path, list);
}

/* ---- What must not be replaced ----------------------------------------------------------------------------------- */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool ends_in(const char *name, const char *const *ends)
{
	size_t len = strlen(name);

	for (; *ends; ends++)
		if (len > strlen(*ends) && strcasecmp(name + len - strlen(*ends), *ends) == 0)
			return true;
	return false;
}

/* Of the files of a directory: other tools' traces or, where there are none, our own. */
static bool is_taken_from(const char *directory, const char *name)
{
	static const char *const foreign[] = { ".json", ".json.gz", ".json.zst", NULL }, *const own[] = { ".sonde",
													  NULL };
	bool is_taken = ends_in(name, own);
	DIR *dir = is_taken ? opendir(directory) : NULL;
	struct dirent *entry;

	while (dir && is_taken && (entry = readdir(dir)))
		is_taken = !ends_in(entry->d_name, foreign);
	if (dir)
		closedir(dir);
	return is_taken || ends_in(name, foreign);
}

bool output_is_among(const char *path, char *const *files, size_t n_files)
{
	struct stat own, directory, st;
	char above[PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (stat(path, &own) != 0)
		return false;
	snprintf(above, sizeof above, "%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
	bool has_directory = stat(above, &directory) == 0 && is_taken_from(above, slash ? slash + 1 : path);
	for (size_t i = 0; i < n_files; i++)
		if (stat(files[i], &st) == 0 && (is_same(&own, &st) || (has_directory && is_same(&directory, &st))))
			return true;
	return false;
}

static bool is_recording(const char *path)
{
	static const char magic[] = "\x89SND";
	char first[sizeof magic - 1];
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, first, sizeof first) == sizeof first && memcmp(first, magic, sizeof first) == 0;

	if (fd >= 0)
		close(fd);
	return is;
}

int output_check(const output *to, char *const *files, size_t n_files)
{
	struct stat st;

	if (!to->path || stat(to->path, &st) != 0 || !S_ISREG(st.st_mode))
		return EXIT_OK;
	if (output_is_among(to->path, files, n_files)) {
		say("%s: is an input file and cannot be overwritten; use -o FILE", to->path);
		return EXIT_USAGE;
	}
	if (!is_recording(to->path))
		return EXIT_OK;
	say("%s: exists and is a Sonde file; not overwritten", to->path);
	return EXIT_ENVIRONMENT;
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static int open_failed(const char *path)
{
	say("%s: cannot write: %s", path, strerror(errno));
	return EXIT_ENVIRONMENT;
}

static int open_directly(output *to)
{
	int fd = open(to->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	to->stream = fd < 0 ? NULL : fdopen(fd, "w");
	return to->stream ? EXIT_OK : open_failed(to->path);
}

static int open_temporary(output *to)
{
	int len = snprintf(temporary_path, sizeof temporary_path, "%s.XXXXXX", to->final_path);

	if (len >= (int)sizeof temporary_path)
		errno = ENAMETOOLONG;
	int fd = len >= (int)sizeof temporary_path ? -1 : mkostemp(temporary_path, O_CLOEXEC);
	to->stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (to->stream) {
		on_death(remove_temporary);
		return EXIT_OK;
	}
	int code = open_failed(to->path);
	free(to->final_path);
	to->final_path = NULL;
	return code;
}

int output_open(output *to)
{
	struct stat st;
	bool exists = to->path && stat(to->path, &st) == 0;

	to->stream = stdout;
	if (!to->path)
		return EXIT_OK;
	if (exists && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return open_failed(to->path);
	}
	if (exists && !S_ISREG(st.st_mode))
		return open_directly(to);
	/* Through a symbolic link, the file it points at is replaced and not the link. */
	to->final_path = exists ? realpath(to->path, NULL) : strdup(to->path);
	return to->final_path ? open_temporary(to) : open_failed(to->path);
}

static int write_failed(const output *to)
{
	if (errno == EPIPE)
		return EXIT_OK;
	say("%s: cannot write: %s", to->path ? to->path : "standard output", errno ? strerror(errno) : "write error");
	return EXIT_ENVIRONMENT;
}

static bool finish_stream(const output *to)
{
	bool is_whole = fflush(to->stream) == 0 && !ferror(to->stream);

	if (to->stream == stdout)
		clearerr(stdout);
	else if (fclose(to->stream) != 0)
		is_whole = false;
	return is_whole;
}

int output_close(output *to, int code)
{
	errno = 0;
	bool is_whole = finish_stream(to);

	if (!is_whole && code == EXIT_OK)
		code = write_failed(to);
	if (!to->final_path)
		return code;
	if (is_whole && code == EXIT_OK && rename(temporary_path, to->final_path) != 0)
		code = write_failed(to), is_whole = false;
	if (!is_whole || code != EXIT_OK)
		unlink(temporary_path);
	on_death(SIG_DFL);
	free(to->final_path);
	to->final_path = NULL;
	return code;
}

/* ---- The look ---------------------------------------------------------------------------------------------------- */

static unsigned width_of(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	long width = columns ? strtol(columns, NULL, 10) : 0;
	return width > 0 && width <= 10000 ? (unsigned)width : 80;
}

static bool wants_color(const output *to, int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (to->color != 0)
		return to->color == 1;
	return isatty(fd) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

sonde_print_options output_look(const output *to, FILE *stream)
{
	int fd = fileno(stream);

	return (sonde_print_options){
		.struct_size = sizeof(sonde_print_options),
		.width = width_of(fd),
		.color = wants_color(to, fd),
		.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
		.table = to->table,
	};
}

int output_print(output *to, const sonde_result *result)
{
	int code = output_open(to);
	sonde_error err;

	if (code != EXIT_OK)
		return code;
	sonde_print_options look = output_look(to, to->stream);
	sonde_status status = sonde_result_print(result, to->format, &look, to->stream, &err);
	if (status == SONDE_OK)
		return output_close(to, EXIT_OK);
	bool is_done = status == SONDE_E_IO && errno == EPIPE; /* the reader has seen enough */
	if (!is_done)
		say_error(to->path, status, &err);
	output_close(to, EXIT_ENVIRONMENT);
	return is_done ? EXIT_OK : status == SONDE_E_USAGE ? EXIT_USAGE : EXIT_ENVIRONMENT;
}
