/* sonde bottlenecks: what is slow, why, and what to change. */
#include "cli/analysis.h"

#include "cli/select.h"

enum { EXPLAIN };

static const option_def bottlenecks_options[] = {
	{ .name = "explain",
	  .id = EXPLAIN,
	  .help = "show every rule, its verdict and its numbers",
	  .group = "Selection" },
	SELECT_STEPS,
	SELECT_RANKS,
	SELECT_FROM,
	SELECT_TO,
	SELECT_WARMUP,
	{ .name = "set",
	  .id = OPTION_SET,
	  .argument = "KEY=VALUE",
	  .help = "change a threshold; analyze bottlenecks --list lists them" },
	{ .name = "top",
	  .id = OPTION_TOP,
	  .argument = "N",
	  .help = "show N findings, or all (default 5; JSON and CSV: all)" },
	OUTPUT_ALL("Output"),
	{ .name = NULL },
};

static int run(const command *self, int argc, char **argv)
{
	options o = options_begin(self, argc, argv);
	selection s = selection_begin();
	output to = { 0 };
	size_t n_files = 0;

	s.settings[s.options.n_settings++] = (sonde_setting){ .key = "explain", .value = "no" };
	for (int id; (id = options_next(&o)) != OPTIONS_END;) {
		if (id == OPTIONS_OPERAND)
			argv[n_files++] = argv[o.at - 1];
		else if (id == EXPLAIN)
			s.settings[0].value = "yes";
		else if (id < 0 || !(selection_takes(id) ? selection_option(&s, &o, id) : output_option(&to, &o, id)))
			return options_exit_code(id);
	}
	if (!selection_end(&s, self))
		return EXIT_USAGE;
	return analysis_run(self, self->name, argv, n_files, &s.options, &to);
}

const command bottlenecks_command = {
	.name = "bottlenecks",
	.group = "analyze",
	.summary = "Find bottlenecks, their cause and cost, and what to change",
	.usage = "[options] FILE...",
	.examples = { "sonde bottlenecks trace.json.gz", "sonde bottlenecks --explain --steps 11..200 run.sonde",
		      "sonde bottlenecks --set dataloader.warn=10% rank*.json.gz" },
	.options = bottlenecks_options,
	.run = run,
};
