/* sonde analyze: any analysis by its name. */
#include "cli/analysis.h"

#include <stdio.h>
#include <string.h>

#include "cli/select.h"

enum { LIST };

static const option_def analyze_options[] = {
	{ .name = "list", .id = LIST, .help = "list the analyses, or the settings of NAME", .group = "Selection" },
	SELECT_STEPS,
	SELECT_RANKS,
	SELECT_FROM,
	SELECT_COMPAT,
	SELECT_SET,
	SELECT_TOP,
	SELECT_FILTER,
	SELECT_TO,
	SELECT_OTHERS,
	SELECT_WARMUP_TOO,
	OUTPUT_ALL("Output"),
	{ .name = NULL },
};

static const char *analysis_name(const void *list, size_t index)
{
	const char *name, *summary;

	(void)list;
	return sonde_analysis(index, &name, &summary) ? name : NULL;
}

static bool check_name(const char *wanted)
{
	const char *name;

	for (size_t i = 0; (name = analysis_name(NULL, i)); i++)
		if (strcmp(name, wanted) == 0)
			return true;
	const char *meant = nearest(wanted, analysis_name, NULL);
	if (meant)
		say("analyze: no analysis '%s'; did you mean '%s'?", wanted, meant);
	else
		say("analyze: no analysis '%s'; sonde analyze --list lists them", wanted);
	return false;
}

static int list_analyses(void)
{
	const char *name, *summary;
	size_t width = 0;

	for (size_t i = 0; sonde_analysis(i, &name, &summary); i++)
		width = strlen(name) > width ? strlen(name) : width;
	for (size_t i = 0; sonde_analysis(i, &name, &summary); i++)
		printf("%-*s  %s\n", (int)width, name, summary);
	return EXIT_OK;
}

static int list_settings(const char *name)
{
	sonde_setting setting;
	const char *summary;
	size_t key = 0, value = 0, i;

	for (i = 0; sonde_analysis_setting(name, i, &setting, &summary); i++) {
		key = strlen(setting.key) > key ? strlen(setting.key) : key;
		value = strlen(setting.value) > value ? strlen(setting.value) : value;
	}
	if (i == 0)
		printf("%s has no settings\n", name);
	for (i = 0; sonde_analysis_setting(name, i, &setting, &summary); i++)
		printf("%-*s  %*s  %s\n", (int)key, setting.key, (int)value, setting.value, summary);
	return EXIT_OK;
}

/* The first operand is the name, the others are files. */
static int run(const command *self, int argc, char **argv)
{
	options o = options_begin(self, argc, argv);
	selection s = selection_begin();
	output to = { 0 };
	bool lists = false;
	size_t n = 0;

	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND)
			argv[n++] = argv[o.at - 1];
		else if (id == LIST)
			lists = true;
		else if (id < 0 || !(selection_takes(id) ? selection_option(&s, &o, id) : output_option(&to, &o, id)))
			return options_exit_code(id);
	}
	if (lists && n == 0)
		return list_analyses();
	if (n == 0)
		return say_usage(self, "no NAME given; sonde analyze --list lists them");
	if (!check_name(argv[0]) || !selection_end(&s, self))
		return EXIT_USAGE;
	return lists ? list_settings(argv[0]) : analysis_run(self, argv[0], argv + 1, n - 1, &s.options, &to);
}

const command analyze_command = {
	.name = "analyze",
	.group = "analyze",
	.summary = "Run an analysis by name",
	.usage = "NAME [options] FILE...",
	.examples = { "sonde analyze --list", "sonde analyze report --steps 11..200 run.sonde",
		      "sonde analyze report --html -o report.html trace.json.gz" },
	.options = analyze_options,
	.run = run,
};
