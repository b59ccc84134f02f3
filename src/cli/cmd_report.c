/* sonde report: where the time went, name by name. */
#include "cli/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TREE, SORT, TOP, THREADS, STEPS, FILTER };

static const option_def report_options[] = {
	{ .name = "tree", .id = TREE, .help = "names as a tree of who called whom", .group = "What to show" },
	{ .name = "threads", .id = THREADS, .help = "one table per thread" },
	{ .name = "steps", .id = STEPS, .argument = "A..B", .help = "only steps A to B; also A, A.. and ..B" },
	{ .name = "filter",
	  .id = FILTER,
	  .argument = "TEXT",
	  .help = "only names with TEXT; ^TEXT begins, TEXT$ ends" },
	{ .name = "top", .id = TOP, .argument = "N", .help = "N rows, or all (20 for people, all in --json, --csv)" },
	{ .name = "sort",
	  .id = SORT,
	  .argument = "COL",
	  .help = "by total (default), self, calls, avg, p95, max, name ..." },
	{ .name = "json", .id = OPTION_JSON, .help = "JSON with exact values, for programs", .group = "Output" },
	OUTPUT_CSV,
	OUTPUT_FILE,
	OUTPUT_COLOR,
	{ .name = NULL },
};

static bool parse_top(const options *o, uint64_t *ret_top)
{
	if (strcmp(o->value, "all") == 0) {
		*ret_top = UINT64_MAX;
		return true;
	}
	return options_number(o, 1, 1000000000, ret_top);
}

/* A number at *text, which moves on; false and `missing` when there is none. */
static bool parse_step(const char **text, int64_t missing, int64_t *ret_step)
{
	char *rest;

	errno = 0;
	*ret_step = strtoll(*text, &rest, 10);
	bool is_number = rest != *text && errno == 0 && **text != ' ';
	if (!is_number)
		*ret_step = missing;
	else
		*text = rest;
	return is_number;
}

static bool parse_steps(const options *o, sonde_analyze_options *a)
{
	const char *at = o->value;
	bool has_first = parse_step(&at, INT64_MIN, &a->first_step);

	a->last_step = a->first_step;
	a->use_steps = true;
	if (strncmp(at, "..", 2) == 0) {
		at += 2;
		bool has_last = parse_step(&at, INT64_MAX, &a->last_step);
		has_first = has_first || has_last;
	}
	if (has_first && !*at && a->first_step <= a->last_step)
		return true;
	say_usage(o->command, "--steps needs A..B, A, A.. or ..B with A not after B, not '%s'", o->value);
	return false;
}

static bool take_option(const options *o, int id, sonde_analyze_options *a, output *to)
{
	switch (id) {
	case TREE:
		a->tree = true;
		return true;
	case THREADS:
		a->threads = true;
		return true;
	case SORT:
		a->sort = o->value;
		return true;
	case FILTER:
		a->filter = o->value;
		return true;
	case TOP:
		return parse_top(o, &a->top);
	case STEPS:
		return parse_steps(o, a);
	}
	return output_option(to, o, id);
}

static int run(const command *self, int argc, char **argv)
{
	options o = options_begin(self, argc, argv);
	sonde_analyze_options a = { .struct_size = sizeof a };
	output to = { 0 };
	size_t n_files = 0;

	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND)
			argv[n_files++] = argv[o.at - 1];
		else if (id < 0 || !take_option(&o, id, &a, &to))
			return options_exit_code(id);
	}
	return analysis_run(self, argv, n_files, &a, &to);
}

const command report_command = {
	.name = "report",
	.group = "analyse",
	.summary = "Show where the time went, name by name",
	.usage = "[options] FILE...",
	.examples = { "sonde report run.sonde", "sonde report --tree --steps 11..200 run.sonde",
		      "sonde report --csv -o run.csv run.sonde" },
	.options = report_options,
	.run = run,
};
