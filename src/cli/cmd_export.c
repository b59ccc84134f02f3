/* sonde export: a recording for another tool. */
#include "cli/analysis.h"

#include <errno.h>
#include <string.h>

enum { FORMAT };

static const option_def export_options[] = {
	{ .name = "format",
	  .id = FORMAT,
	  .argument = "NAME",
	  .help = "chrome: for Perfetto and chrome://tracing (default)" },
	OUTPUT_FILE,
	{ .name = NULL },
};

static const char *format_name(const void *list, size_t index)
{
	const char *name, *summary;

	(void)list;
	return sonde_export_format(index, &name, &summary) ? name : NULL;
}

static bool check_format(const options *o)
{
	const char *name;

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

static int export_to(const sonde_trace *trace, const char *format, output *to)
{
	sonde_error err = { .position = -1 };
	int code = output_open(to);

	if (code != EXIT_OK)
		return code;
	errno = 0;
	sonde_status status = sonde_export(trace, format, to->stream, &err);
	int error = errno;
	if (status == SONDE_OK)
		return output_close(to, EXIT_OK);
	bool is_done = status == SONDE_E_IO && error == EPIPE; /* the reader has seen enough */
	if (status == SONDE_E_IO && error && !is_done)
		say("%s: cannot write: %s", to->path ? to->path : "standard output", strerror(error));
	else if (!is_done)
		say_error(to->path, status, &err);
	output_close(to, EXIT_ENVIRONMENT);
	return is_done ? EXIT_OK : EXIT_ENVIRONMENT;
}

static int run(const command *self, int argc, char **argv)
{
	options o = options_begin(self, argc, argv);
	const char *format = "chrome";
	output to = { 0 };
	size_t n_files = 0;
	sonde_trace *trace = NULL;

	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND)
			argv[n_files++] = argv[o.at - 1];
		else if (id < 0 || !(id == FORMAT ? check_format(&o) : output_option(&to, &o, id)))
			return options_exit_code(id);
		else if (id == FORMAT)
			format = o.value;
	}
	int code = output_only(self, to.path, "json");
	if (code == EXIT_OK)
		code = trace_open(self, argv, n_files, &to, &trace);
	if (code == EXIT_OK)
		code = export_to(trace, format, &to);
	return trace_close(trace, n_files == 1 ? argv[0] : NULL, code);
}

const command export_command = {
	.name = "export",
	.group = "share",
	.summary = "Write a trace in another tool's format",
	.usage = "[options] FILE...",
	.examples = { "sonde export -o run.json run.sonde", "sonde export run.sonde | gzip > run.json.gz",
		      "sonde export --format chrome run.sonde > run.json" },
	.options = export_options,
	.run = run,
};
