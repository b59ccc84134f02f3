/* sonde export: a recording for another tool. */
#include "cli/analysis.h"

#include <errno.h>
#include <sonde/export.h>
#include <string.h>

enum { FORMAT, SET, LIST, MAX_SETTINGS = 32 };

static const option_def export_options[] = {
	{ .name = "format",
	  .id = FORMAT,
	  .argument = "NAME",
	  .help = "chrome: for Perfetto and chrome://tracing (default)" },
	{ .name = "output",
	  .id = OPTION_OUTPUT,
	  .letter = 'o',
	  .argument = "TARGET",
	  .help = "write to a file; .gz and .zst are compressed" },
	{ .name = "set", .id = SET, .argument = "KEY=VALUE", .help = "change a setting of the format" },
	{ .name = "list", .id = LIST, .help = "formats, their targets and settings" },
	{ .name = NULL },
};

typedef struct request {
	sonde_export_options options;
	sonde_setting settings[MAX_SETTINGS];
	output to;
	bool lists;
} request;

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static const char *format_name(const void *list, size_t index)
{
	const char *name, *summary;

	(void)list;
	return sonde_export_format(index, &name, &summary) ? name : NULL;
}

static bool take_format(request *r, const options *o)
{
	const char *name;

	r->options.format = o->value;
	for (size_t i = 0; (name = format_name(NULL, i)); i++)
		if (strcmp(name, o->value) == 0)
			return true;
	const char *meant = nearest(o->value, format_name, NULL);
	if (meant)
		say("export: no format '%s'; did you mean '%s'?", o->value, meant);
	else
		say_usage(o->command, "no format '%s'", o->value);
	return false;
}

/* KEY=VALUE is cut in two where it stands. */
static bool take_setting(request *r, const options *o)
{
	char *equals = strchr(o->value, '=');

	if (!equals || equals == o->value || !equals[1]) {
		say_usage(o->command, "--set needs KEY=VALUE, such as args=no, not '%s'", o->value);
		return false;
	}
	if (r->options.n_settings == MAX_SETTINGS) {
		say_usage(o->command, "--set was given more than %d times", MAX_SETTINGS);
		return false;
	}
	*equals = '\0';
	r->settings[r->options.n_settings++] = (sonde_setting){ .key = o->value, .value = equals + 1 };
	return true;
}

static bool take_option(request *r, const options *o, int id)
{
	switch (id) {
	case FORMAT:
		return take_format(r, o);
	case SET:
		return take_setting(r, o);
	case LIST:
		r->lists = true;
		return true;
	}
	return output_option(&r->to, o, id);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

/* "json,pb" is written as .json, .pb */
static void list_ends(const char *ends)
{
	fputs("  names: .", stdout);
	for (; *ends; ends++)
		fputs(*ends == ',' ? ", ." : (char[]){ *ends, '\0' }, stdout);
	putchar('\n');
}

static void list_targets(const sonde_export_about *about)
{
	static const struct {
		unsigned bit;
		const char *words;
	} kinds[] = { { SONDE_TARGET_FILE, "a file, .gz or .zst compressed, or standard output" },
		      { SONDE_TARGET_DIRECTORY, "a directory" },
		      { SONDE_TARGET_URL, "a URL" } };

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (about->targets & kinds[i].bit)
			printf("  target: %s\n", kinds[i].words);
}

static int list_formats(void)
{
	sonde_export_about about = { .struct_size = sizeof about };
	sonde_setting setting;
	const char *summary;

	for (size_t i = 0; sonde_export_describe(i, &about); i++) {
		printf("%s  %s\n", about.name, about.summary);
		list_ends(about.ends);
		list_targets(&about);
		for (size_t k = 0; sonde_export_setting(about.name, k, &setting, &summary); k++)
			printf("  setting: %s=%s  %s\n", setting.key, setting.value, summary);
	}
	return EXIT_OK;
}

/* ---- The export -------------------------------------------------------------------------------------------------- */

/* The end of the file's name must be the format's, if it is one that says what is in a file. */
static int check(request *r, const command *self, sonde_target *ret_kind)
{
	sonde_error err = { .position = -1 };
	sonde_export_about about = { .struct_size = sizeof about };
	const char *format;

	r->options.target = r->to.path;
	r->options.settings = r->settings;
	if (sonde_export_check(&r->options, ret_kind, &format, &err)) {
		say("export: %s", err.message);
		return EXIT_USAGE;
	}
	for (size_t i = 0; sonde_export_describe(i, &about); i++)
		if (strcmp(about.name, format) == 0 && *ret_kind == SONDE_TARGET_FILE)
			return output_only(self, r->to.path, about.ends);
	return EXIT_OK;
}

static int export_failed(const output *to, sonde_status status, int error, const sonde_error *err)
{
	bool is_done = status == SONDE_E_IO && error == EPIPE; /* the reader has seen enough */

	if (status == SONDE_E_IO && error && !is_done)
		say("%s: cannot write: %s", to->path ? to->path : "standard output", strerror(error));
	else if (!is_done)
		say_error(to->path, status, err);
	return is_done ? EXIT_OK : EXIT_ENVIRONMENT;
}

static int export_to_file(const sonde_trace *trace, request *r)
{
	sonde_error err = { .position = -1 };
	int code = output_open(&r->to);

	if (code != EXIT_OK)
		return code;
	errno = 0;
	r->options.out = r->to.stream;
	sonde_status status = sonde_export_to(trace, &r->options, &err);
	int error = errno;
	if (status == SONDE_OK)
		return output_close(&r->to, EXIT_OK);
	code = export_failed(&r->to, status, error, &err);
	output_close(&r->to, EXIT_ENVIRONMENT);
	return code;
}

static int export_elsewhere(const sonde_trace *trace, request *r)
{
	sonde_error err = { .position = -1 };

	errno = 0;
	sonde_status status = sonde_export_to(trace, &r->options, &err);
	return status ? export_failed(&r->to, status, errno, &err) : EXIT_OK;
}

static int run(const command *self, int argc, char **argv)
{
	options o = options_begin(self, argc, argv);
	request r = { .options = { .struct_size = sizeof r.options } };
	size_t n_files = 0;
	sonde_trace *trace = NULL;
	sonde_target kind;

	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND)
			argv[n_files++] = argv[o.at - 1];
		else if (id < 0 || !take_option(&r, &o, id))
			return options_exit_code(id);
	}
	if (r.lists)
		return list_formats();
	int code = check(&r, self, &kind);
	if (code == EXIT_OK)
		code = trace_open(self, argv, n_files, &r.to, &trace);
	if (code == EXIT_OK)
		code = kind == SONDE_TARGET_FILE ? export_to_file(trace, &r) : export_elsewhere(trace, &r);
	return trace_close(trace, n_files == 1 ? argv[0] : NULL, code);
}

const command export_command = {
	.name = "export",
	.group = "share",
	.summary = "Write Chrome trace JSON for Perfetto",
	.usage = "[options] FILE...",
	.examples = { "sonde export -o run.json run.sonde", "sonde export -o run.json.gz run.sonde",
		      "sonde export --set args=no run.sonde > run.json" },
	.options = export_options,
	.run = run,
};
