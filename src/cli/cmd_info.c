/* sonde info: what a file contains, and what is missing from it. */
#include "cli/analysis.h"

static const option_def info_options[] = {
	OUTPUT_ALL(NULL),
	{ .name = NULL },
};

const command info_command = {
	.name = "info",
	.group = "look",
	.summary = "Show the contents of a file, and lost or repaired events",
	.usage = "[options] FILE...",
	.examples = { "sonde info run.sonde", "sonde info --json run.sonde", "sonde info -o info.txt run.sonde" },
	.options = info_options,
	.run = analysis_run_plain,
};
