/* sonde compare: which run is faster, how sure that is, and what changed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sonde/compare.h>

#include "base/parse_units.h"
#include "cli/analysis.h"
#include "cli/select.h"

enum { BY, FAIL_ABOVE, BASELINE, NAME, KEEP };

/* What has no help here is in the manual: the help fits one screen. */
static const option_def compare_options[] = {
	{ .name = "by",
	  .id = BY,
	  .argument = "WHAT",
	  .help = "show one table: step, phase, layer, name, kernel or tree",
	  .group = "Selection" },
	SELECT_STEPS,
	SELECT_RANKS,
	SELECT_FROM,
	SELECT_TO,
	SELECT_WARMUP_TOO,
	{ .name = "filter", .id = OPTION_FILTER, .argument = "TEXT" },
	{ .name = "top", .id = OPTION_TOP, .argument = "N" },
	{ .name = "compat", .id = OPTION_COMPAT, .argument = "TOOL" },
	{ .name = "fail-above",
	  .id = FAIL_ABOVE,
	  .argument = "P%",
	  .help = "exit with 1 if a run is significantly over P % slower",
	  .group = "Continuous integration" },
	{ .name = "baseline",
	  .id = BASELINE,
	  .argument = "DIR",
	  .help = "compare FILE with the runs stored in DIR, then add it" },
	{ .name = "name", .id = NAME, .argument = "NAME" },
	{ .name = "keep", .id = KEEP, .argument = "N" },
	OUTPUT_ALL("Output"),
	{ .name = NULL },
};

static bool take_by(const options *o, sonde_compare_options *c)
{
	static const char *const choices[] = { "step", "phase", "layer", "name", "kernel", "tree", NULL };
	size_t index;

	c->by = o->value;
	return options_choice(o, choices, &index);
}

static bool take_limit(const options *o, sonde_compare_options *c)
{
	if (parse_share(o->value, &c->fail_above) && c->fail_above > 0)
		return true;
	say_usage(o->command, "--fail-above needs a percentage such as 5%%, not '%s'", o->value);
	return false;
}

static bool take_option(const options *o, int id, sonde_compare_options *c, selection *s, output *to)
{
	uint64_t keep;

	switch (id) {
	case BY:
		return take_by(o, c);
	case FAIL_ABOVE:
		return take_limit(o, c);
	case BASELINE:
		c->baseline = o->value;
		return true;
	case NAME:
		c->baseline_name = o->value;
		return true;
	case KEEP:
		if (!options_number(o, 1, 1000, &keep))
			return false;
		c->baseline_runs = (unsigned)keep;
		return true;
	}
	return selection_takes(id) ? selection_option(s, o, id) : output_option(to, o, id);
}

/* "run" of "dir/run.sonde", without what a name in a baseline cannot hold. */
static void name_of_file(const char *file, char *ret_name, size_t size)
{
	const char *slash = strrchr(file, '/');
	size_t n = 0;

	for (const char *at = slash && slash[1] ? slash + 1 : file; *at && *at != '.' && n + 1 < size; at++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *at))
			ret_name[n++] = *at;
	ret_name[n] = '\0';
}

/* "a/rank0.json" and "b/rank0.json" are a and b. The names are the program's arguments, which have been used. */
static void cut_same_file(const char **names, size_t n)
{
	const char *last = strrchr(names[0], '/');

	for (size_t i = 1; i < n && last; i++) {
		const char *other = strrchr(names[i], '/');
		last = other && strcmp(other, last) == 0 ? last : NULL;
	}
	for (size_t i = 0; n > 1 && last && i < n; i++)
		*strrchr((char *)names[i], '/') = '\0';
}

/* Without the directories that all of them share. */
static void short_names(char *const *files, size_t n, const char **ret_names)
{
	size_t common = 0;

	for (size_t i = 0; n > 1 && files[0][i]; i++) {
		bool is_same = true;
		for (size_t k = 1; k < n && is_same; k++)
			is_same = files[k][i] == files[0][i];
		if (!is_same)
			break;
		if (files[0][i] == '/')
			common = i + 1;
	}
	for (size_t i = 0; i < n; i++)
		ret_names[i] = files[i][common] ? files[i] + common : files[i];
	cut_same_file(ret_names, n);
}

/* The table for --csv, when there are findings and no table is asked for. */
static const char *table_for(const char *by)
{
	return !by || strcmp(by, "step") == 0 ? "runs"
	       : strcmp(by, "phase") == 0     ? "phases"
	       : strcmp(by, "layer") == 0     ? "layers"
	       : strcmp(by, "name") == 0      ? "names"
	       : strcmp(by, "tree") == 0      ? "tree"
					      : "kernels";
}

static int compare_traces(sonde_trace *const *traces, size_t n, const sonde_compare_options *how, output *to)
{
	sonde_result *result = NULL;
	sonde_error err = { .position = -1 };
	sonde_status status = sonde_compare((const sonde_trace *const *)traces, n, how, &result, &err);

	if (status)
		return say_error(NULL, status, &err);
	if (!to->table && sonde_result_find_table(result, table_for(how->by)))
		to->table = table_for(how->by);
	int code = output_print(to, result);
	if (code == EXIT_OK && sonde_result_value(result, "n_regressions").integer > 0)
		code = EXIT_FINDINGS;
	for (size_t i = 0; code == EXIT_FINDINGS && i < sonde_result_n_findings(result); i++)
		say("compare: %s", sonde_result_finding(result, i)->title);
	sonde_result_free(result);
	return code;
}

static int open_all(const command *self, char **files, size_t n, const output *to, sonde_trace **traces)
{
	for (size_t i = 0; i < n; i++) {
		int code = trace_open(self, &files[i], 1, to, &traces[i]);
		if (code != EXIT_OK)
			return code;
	}
	return EXIT_OK;
}

static int run(const command *self, int argc, char **argv)
{
	options o = options_begin(self, argc, argv);
	selection s = selection_begin();
	sonde_compare_options how = { .struct_size = sizeof how };
	sonde_trace *traces[SONDE_COMPARE_MAX] = { NULL };
	const char *names[SONDE_COMPARE_MAX];
	char name[64];
	output to = { 0 };
	size_t n = 0;

	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND)
			argv[n++] = argv[o.at - 1];
		else if (id < 0 || !take_option(&o, id, &how, &s, &to))
			return options_exit_code(id);
	}
	if (!selection_end(&s, self))
		return EXIT_USAGE;
	if (how.baseline ? n != 1 : n < 2)
		return say_usage(self, how.baseline ? "--baseline needs one FILE" : "needs at least two FILEs");
	if (n > SONDE_COMPARE_MAX)
		return say_usage(self, "accepts at most %d FILEs", SONDE_COMPARE_MAX);
	name_of_file(argv[0], name, sizeof name);
	if (!how.baseline_name && *name)
		how.baseline_name = name;
	how.names = names;
	how.select = &s.options;
	int code = output_choose(&to, self);
	if (code == EXIT_OK)
		code = output_check(&to, argv, n);
	if (code == EXIT_OK)
		code = open_all(self, argv, n, &to, traces);
	short_names(argv, n, names);
	if (code == EXIT_OK)
		code = compare_traces(traces, n, &how, &to);
	for (size_t i = 0; i < n; i++)
		code = trace_close(traces[i], argv[i], code);
	return code;
}

const command compare_command = {
	.name = "compare",
	.group = "analyze",
	.summary = "Compare runs, with confidence intervals",
	.usage = "[options] FILE FILE...",
	.examples = { "sonde compare before.sonde after.sonde",
		      "sonde compare --by kernel cudnn.json.gz tensorrt.json.gz",
		      "sonde compare --baseline perf --fail-above 5% run.sonde" },
	.options = compare_options,
	.run = run,
};
